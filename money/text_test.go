package money_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/money"
)

func TestJSONIsAStringWithTheCurrency(t *testing.T) {
	t.Parallel()
	type record struct {
		Price money.Amount            `json:"price"`
		Limit *money.Amount           `json:"limit"`
		ByKey map[string]money.Amount `json:"byKey"`
	}
	in := record{Price: parse(t, "1.10 USD"), ByKey: map[string]money.Amount{"fee": parse(t, "-3 JPY")}}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"price":"1.10 USD","limit":null,"byKey":{"fee":"-3 JPY"}}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	var out record
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if !out.Price.Equal(in.Price) || out.Limit != nil || !out.ByKey["fee"].Equal(in.ByKey["fee"]) {
		t.Errorf("got %+v", out)
	}
}

func TestJSONRefusesWhatIsNotAString(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`19.99`:                             money.ErrEncoding,
		`1999`:                              money.ErrEncoding,
		`1e3`:                               money.ErrEncoding,
		`null`:                              money.ErrEncoding,
		`true`:                              money.ErrEncoding,
		`{"amount":"1","currency":"USD"}`:   money.ErrEncoding,
		`["1 USD"]`:                         money.ErrEncoding,
		`""`:                                money.ErrSyntax,
		`"19.99"`:                           money.ErrSyntax,
		`"19.99USD"`:                        money.ErrSyntax,
		`"1e3 USD"`:                         money.ErrSyntax,
		`"19.99 XYZ"`:                       money.ErrUnknownCurrency,
		`"19.999 USD"`:                      money.ErrInexact,
		`"\ud800 USD"`:                      money.ErrSyntax,
		`"` + strings.Repeat("1", 1<<20):    money.ErrSyntax, // not valid JSON either, but refused unread
		`"` + strings.Repeat("9", 40) + `"`: money.ErrSyntax,
	} {
		before := parse(t, "7 EUR")
		after := before
		err := after.UnmarshalJSON([]byte(text))
		if !errors.Is(err, want) {
			t.Errorf("%.30s: %v, want %v", text, err, want)
		}
		if !after.Equal(before) {
			t.Errorf("%.30s: a failed decode changed the amount to %s", text, after)
		}
	}
}

func TestJSONEscapesAreRead(t *testing.T) {
	t.Parallel()
	var a money.Amount
	if err := json.Unmarshal([]byte(`"\u0031\u0039.99\u0020USD"`), &a); err != nil || a.String() != "19.99 USD" {
		t.Errorf("got %v, %v", a, err)
	}
}

func TestAmountWithoutCurrencyIsNotTransmitted(t *testing.T) {
	t.Parallel()
	if text, err := json.Marshal(money.Amount{}); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("JSON %s, %v", text, err)
	}
	if text, err := (money.Amount{}).MarshalText(); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("text %s, %v", text, err)
	}
}

func TestTextAndJSONRoundTrip(t *testing.T) {
	t.Parallel()
	all := currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		c := all[rapid.SampledFrom([]string{"USD", "JPY", "KWD", "CLF"}).Draw(t, "currency")]
		a := amounts(t, c, "amount")
		var fromText, fromJSON money.Amount
		text, err := a.MarshalText()
		if err != nil || string(text) != a.String() || fromText.UnmarshalText(text) != nil || !fromText.Equal(a) {
			t.Fatalf("%s as text: %s, %v, %s", a, text, err, fromText)
		}
		data, err := json.Marshal(a)
		if err != nil || json.Unmarshal(data, &fromJSON) != nil || !fromJSON.Equal(a) {
			t.Fatalf("%s as JSON: %s, %v, %s", a, data, err, fromJSON)
		}
	})
}

func TestUnmarshalTextIsBounded(t *testing.T) {
	t.Parallel()
	var a money.Amount
	if err := a.UnmarshalText([]byte(strings.Repeat("9", 1<<20))); !errors.Is(err, money.ErrSyntax) {
		t.Errorf("got %v, %v", a, err)
	}
}

func TestMustParsePanicsOnAWrongConstant(t *testing.T) {
	t.Parallel()
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, money.ErrInexact) {
			t.Errorf("recovered %v", err)
		}
	}()
	money.MustParse("0.001 USD")
}
