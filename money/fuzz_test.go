package money_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/money"
)

// plain is the grammar of Parse, written a second time.
var plain = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// FuzzParse compares Parse with exact fractions: a plain decimal of at most 64 bytes is an amount of just that value, or
// an error of the kind that its fraction and its size deserve; everything else is a syntax error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"19.99", "-0.05", "0", "-0", "007", "1e3", "1e1000000000", "NaN", " 1", "1_0", "1,000", "+1", "", ".", "5.", ".5",
		"9223372036854775807", "9223372036854775808", "0.000000000000000001", strings.Repeat("9", 38), strings.Repeat("9", 39), strings.Repeat("0", 65), "١"} {
		f.Add(text, uint8(2))
		f.Add(text, uint8(18))
	}
	f.Fuzz(func(t *testing.T, text string, scale uint8) {
		c := define(t, "FUZZ", int(scale%(money.MaxScale+1)), money.KindSecurity)
		a, err := money.Parse(text, c)
		if want := wanted(text, c); want != nil || err != nil {
			if err == nil || want == nil || kindOf(t, err) != want {
				t.Fatalf("Parse(%q, scale %d) = %v, %v, want %v", text, c.Scale(), a, err, want)
			}
			return
		}
		value, _ := new(big.Rat).SetString(text)
		got, _ := new(big.Rat).SetString(a.Text())
		if value.Cmp(got) != 0 {
			t.Fatalf("Parse(%q, scale %d) = %s", text, c.Scale(), a)
		}
		again, err := money.Parse(a.Text(), c)
		if err != nil || !again.Equal(a) || again.Text() != a.Text() {
			t.Fatalf("%q reads as %s, and that as %v, %v", text, a, again, err)
		}
	})
}

// wanted is the kind of error that a text deserves, or nil.
func wanted(text string, c money.Currency) error {
	if len(text) > 64 || !plain.MatchString(text) {
		return money.ErrSyntax
	}
	value, _ := new(big.Rat).SetString(text)
	minor := value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale())), nil)))
	switch {
	case !minor.IsInt():
		return money.ErrInexact
	case minor.Num().CmpAbs(bound) >= 0:
		return money.ErrRange
	}
	return nil
}

// FuzzJSON checks that whatever decodes encodes to a text that decodes to the same, and that every error has a kind.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`"19.99 USD"`, `"-5 JPY"`, `"1.10 HRK"`, `19.99`, `null`, `"1e3 USD"`, `"\u0031 USD"`, `"1  USD"`, `""`, `"`, `{"a":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a money.Amount
		if err := a.UnmarshalJSON(data); err != nil {
			kindOf(t, err)
			return
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatalf("%s decoded from %q does not encode: %v", a, data, err)
		}
		var again money.Amount
		if err := json.Unmarshal(text, &again); err != nil || !again.Equal(a) {
			t.Fatalf("%q decoded to %s, encoded to %s, decoded to %s, %v", data, a, text, again, err)
		}
		encoded, err := a.Encode()
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		if stored, err := (money.Registry{}).Decode(trim(encoded)); err != nil || !stored.Equal(a) {
			t.Fatalf("%s came back from the store as %v, %v", a, stored, err)
		}
	})
}

// FuzzDecode checks that a stored map, however damaged, is an amount that stores again as the same or an error of a kind.
func FuzzDecode(f *testing.F) {
	f.Add("19.99", "USD", "2")
	f.Add("1.1", "ISK", "2")
	f.Add("1E2", "USD", "2")
	f.Add("1", "ETH", "18")
	f.Add("1", "USD", "+2")
	f.Fuzz(func(t *testing.T, amount, code, scale string) {
		r := registry(t)
		a, err := r.Decode(m(n(amount), s(code), n(scale)))
		if err != nil {
			kindOf(t, err)
			return
		}
		encoded, err := a.Encode()
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		if again, err := r.Decode(trim(encoded)); err != nil || !again.Equal(a) {
			t.Fatalf("%s came back as %v, %v", a, again, err)
		}
	})
}
