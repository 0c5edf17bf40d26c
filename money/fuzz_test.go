package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
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

// FuzzAllocate divides any amount by any weights under any rule: the parts hold M4, on both ways through the code, or
// there is an error of a kind.
func FuzzAllocate(f *testing.F) {
	for _, units := range []string{"10000", "-10000", "5", "0", "9223372036854775808", strings.Repeat("9", 38)} {
		f.Add(units, int64(1), int64(1), int64(1), uint8(0))
		f.Add(units, int64(0), int64(3), int64(7), uint8(1))
		f.Add(units, int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), uint8(2))
		f.Add(units, int64(-1), int64(0), int64(0), uint8(3))
	}
	rules := []money.ResidualPolicy{money.LargestRemainder(), money.ToFirst(), money.ToLast(), money.ToAccount("rounding"), money.ToPart(1), {}}
	f.Fuzz(func(t *testing.T, units string, x, y, z int64, rule uint8) {
		a, err := money.ParseMinor(units, define(t, "FUZZ", 2, money.KindSecurity))
		if err != nil {
			return
		}
		to, weights := rules[int(rule)%len(rules)], []int64{x, y, z}
		got, err := a.Allocate(to, weights...)
		by, byErr := a.AllocateBy(to, rationalsOf(weights...)...)
		if err != nil {
			if kindOf(t, err) != money.ErrAllocation || byErr == nil || byErr.Error() != err.Error() {
				t.Fatalf("%s by %v: %v, by rationals %v", a, weights, err, byErr)
			}
			return
		}
		holdsM4(t, a, to, weights, got)
		if byErr != nil || !reflect.DeepEqual(by, got) {
			t.Fatalf("%s by %v is %v, by rationals %v, %v", a, weights, got, by, byErr)
		}
	})
}

// FuzzParseRational checks that what is read is the number that the text says, and that it writes a text which reads as
// the same.
func FuzzParseRational(f *testing.F) {
	for _, text := range []string{"1.0842", "-1/3", "0", "1/0", "1/050", "5.", "1e3", "1e1000000000", "NaN", "1.5/3", "1/2/3", strings.Repeat("9", 400), "1/" + strings.Repeat("0", 500) + "7"} {
		f.Add(text)
	}
	grammar := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+|/[0-9]+)?$`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := money.ParseRational(text)
		if err != nil {
			if kind := kindOf(t, err); (kind == money.ErrSyntax) == (grammar.MatchString(text) && len(text) <= 640) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		numerator, denominator, isFraction := strings.Cut(text, "/")
		want, ok := new(big.Rat).SetString(numerator)
		if isFraction { // read apart: SetString would take the denominator 010 for an octal number
			den, _ := new(big.Int).SetString(denominator, 10)
			want.Quo(want, new(big.Rat).SetInt(den))
		}
		if !ok || ratio(t, r).Cmp(want) != 0 {
			t.Fatalf("%q reads as %s", text, r)
		}
		if again, err := money.ParseRational(r.String()); err != nil || !again.Equal(r) || again.String() != r.String() {
			t.Fatalf("%q reads as %s, and that as %s, %v", text, r, again, err)
		}
	})
}
