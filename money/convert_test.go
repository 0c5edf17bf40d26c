package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

func rate(base, quote money.Currency, value string) money.Rate {
	return money.Rate{Source: "ECB", ID: "2026-11-27", AsOf: time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC),
		Base: base, Quote: quote, Value: money.MustParseRational(value)}
}

func TestConvertLosesNothingInEitherDirection(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		from, to := currency(t, all), currency(t, all)
		used := rate(all["USD"], all["EUR"], "1")
		used.Base, used.Quote, used.Value = from, to, rationals().Draw(t, "value")
		mode := rapid.SampledFrom(roundings).Draw(t, "mode")
		a := amounts(t, from, "a")
		converted, err := a.Convert(used, mode)
		if from == to || used.Value.Sign() <= 0 {
			if !errors.Is(err, money.ErrRate) {
				t.Fatalf("%s at %s is %v, %v", a, used.Value, converted, err)
			}
			return
		}
		exact := new(big.Rat).Mul(value(t, a), ratio(t, used.Value))
		agreesExactly(t, money.Rounded{Amount: converted.To, Residual: converted.Residual}, err, exact, to, mode)

		b := amounts(t, to, "b")
		back, err := b.Convert(used, mode)
		exact = new(big.Rat).Quo(value(t, b), ratio(t, used.Value))
		agreesExactly(t, money.Rounded{Amount: back.To, Residual: back.Residual}, err, exact, from, mode)
		if err == nil && (back.From != b || !reflect.DeepEqual(back.Rate, used) || back.Rounding != mode) {
			t.Fatalf("the evidence is %v", back)
		}
	})
}

func TestConversionsToTheLastDigit(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	tests := []struct {
		from        string
		rate        money.Rate
		mode        money.Rounding
		to, residue string
	}{
		{"100.00 USD", rate(all["USD"], all["EUR"], "0.92345"), money.HalfEven, "92.34 EUR", "0.005"},
		{"100.00 USD", rate(all["USD"], all["EUR"], "0.92345"), money.HalfUp, "92.35 EUR", "-0.005"},
		{"-100.00 USD", rate(all["USD"], all["EUR"], "0.92345"), money.HalfUp, "-92.35 EUR", "0.005"},
		{"100.00 USD", rate(all["EUR"], all["USD"], "1.0842"), money.HalfEven, "92.23 EUR", "2117/542100"},
		{"1 JPY", rate(all["JPY"], all["KWD"], "0.0021"), money.HalfEven, "0.002 KWD", "0.0001"},
		{"1.000 KWD", rate(all["JPY"], all["KWD"], "0.0021"), money.Down, "476 JPY", "4/21"},
		{"0.000000000000000001 ETH", rate(all["ETH"], all["USD"], "3512.07"), money.Up, "0.01 USD", "-0.00999999999999648793"},
		{"12345678901234567890.00 USD", rate(all["USD"], all["JPY"], "149.995"), money.Floor, "1851790106790679010660 JPY", "0.55"},
		{"10 ACME", rate(all["ACME"], all["USD"], "19.995"), money.HalfEven, "199.95 USD", "0"},
	}
	for _, test := range tests {
		got, err := parse(t, test.from).Convert(test.rate, test.mode)
		if err != nil || got.To.String() != test.to || got.Residual.String() != test.residue {
			t.Errorf("%s at %s %s is %v and %v, %v, want %s and %s", test.from, test.rate.Value, test.mode, got.To, got.Residual, err, test.to, test.residue)
		}
	}
}

func TestRatesWithoutIdentityAreRefused(t *testing.T) {
	t.Parallel()
	usd, eur := currencies(t)["USD"], currencies(t)["EUR"]
	a := parse(t, "1 USD")
	for name, spoil := range map[string]func(*money.Rate){
		"source": func(r *money.Rate) { r.Source = "" }, "id": func(r *money.Rate) { r.ID = "" }, "time": func(r *money.Rate) { r.AsOf = time.Time{} },
		"base": func(r *money.Rate) { r.Base = money.Currency{} }, "quote": func(r *money.Rate) { r.Quote = money.Currency{} },
		"same": func(r *money.Rate) { r.Quote = r.Base }, "zero": func(r *money.Rate) { r.Value = money.Rational{} },
		"negative": func(r *money.Rate) { r.Value = r.Value.Neg() },
	} {
		spoilt := rate(usd, eur, "0.92")
		spoil(&spoilt)
		var refused *money.RateError
		if got, err := a.Convert(spoilt, money.HalfEven); !errors.As(err, &refused) || !reflect.DeepEqual(got, money.Conversion{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := parse(t, "1 JPY").Convert(rate(usd, eur, "0.92"), money.HalfEven); !errors.Is(err, money.ErrMismatch) {
		t.Errorf("an amount in neither currency: %v", err)
	}
	if _, err := (money.Amount{}).Convert(rate(usd, eur, "0.92"), money.HalfEven); !errors.Is(err, money.ErrMismatch) {
		t.Errorf("the empty sum: %v", err)
	}
}

func TestConversionIsEvidenceInJSON(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	converted, err := parse(t, "100.00 USD").Convert(rate(all["EUR"], all["USD"], "1.0842"), money.HalfEven)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(converted)
	want := `{"from":"100.00 USD","to":"92.23 EUR","rate":{"source":"ECB","id":"2026-11-27","asOf":"2026-11-27T15:00:00Z",` +
		`"base":"EUR","quote":"USD","value":"1.0842"},"rounding":"half-even","residual":"2117/542100"}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
	var read money.Conversion
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, converted) {
		t.Errorf("read %v, %v", read, err)
	}
	again, err := read.From.Convert(read.Rate, read.Rounding)
	if err != nil || !reflect.DeepEqual(again, converted) {
		t.Errorf("computed again, it is %v, %v", again, err)
	}
}

func TestCurrencyTextNeverLosesTheCode(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[money.Currency]money.Currency{currencies(t)["USD"]: currencies(t)["ETH"]})
	if err != nil || string(text) != `{"USD":"ETH"}` {
		t.Errorf("got %s, %v", text, err)
	}
	if _, err := json.Marshal(money.Currency{}); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("no currency: %v", err)
	}
	var c money.Currency
	if err := json.Unmarshal([]byte(`"HRK"`), &c); err != nil || c.Scale() != 2 {
		t.Errorf("a withdrawn currency: %s, %v", c, err)
	}
	for _, text := range []string{`"ETH"`, `"usd"`, `""`} {
		if err := json.Unmarshal([]byte(text), &c); !errors.Is(err, money.ErrUnknownCurrency) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := c.UnmarshalText(make([]byte, 1<<20)); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("a megabyte: %v", err)
	}
}
