package value_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
	"pgregory.net/rapid"
)

func nines(n int) string { return strings.Repeat("9", n) }

// Each case: the text of a request, and the text that comes back.
func TestNumberHasOneSpelling(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0e1000": "0", "0.000": "0", "+5": "5", "0042": "42", "-0042": "-42",
		"1.200": "1.2", "100": "100", "1E2": "100", "1e+2": "100", ".5": "0.5", "5.": "5", "12.5e1": "125",
		"1e-3": "0.001", "-17.4E1": "-174", "0001.23": "1.23", "120e-1": "12",
		"1E125":                  "1" + strings.Repeat("0", 125),
		"1E-130":                 "0." + strings.Repeat("0", 129) + "1",
		nines(38):                nines(38),
		nines(38) + "00":         nines(38) + "00",
		"0.000" + nines(38):      "0.000" + nines(38),
		"1e00":                   "1",
		"-9." + nines(37) + "e1": "-99." + nines(36),
	} {
		got, err := value.ParseNumber(in)
		if err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

// Each case: the text of a request, and a part of the refusal.
func TestNumberRefusals(t *testing.T) {
	t.Parallel()
	const notNumeric, overflow, underflow, digits = "cannot be converted to a numeric value", "Number overflow", "Number underflow", "more than 38 significant digits"
	for in, want := range map[string]string{
		"": notNumeric, " 1": notNumeric, "1 ": notNumeric, "1_0": notNumeric, "NaN": notNumeric, "Infinity": notNumeric,
		"1e": notNumeric, "e5": notNumeric, ".": notNumeric, "-": notNumeric, "1.2.3": notNumeric, "0x10": notNumeric, "1e1.5": notNumeric, "--1": notNumeric, "1e5e5": notNumeric, "١": notNumeric,
		"1E126": overflow, "11E125": overflow, "-1E126": overflow, "1e99999999999999999999": overflow,
		"1E-131": underflow, "0.9E-130": underflow, "1e-99999999999999999999": underflow,
		nines(39): digits, "1" + strings.Repeat("0", 38) + "1": digits, "1." + strings.Repeat("0", 37) + "1": digits,
	} {
		_, err := value.ParseNumber(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNumber(%q) error = %v, want %q", in, err, want)
		}
	}
}

func TestCanonicalNumbersAreFixedPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := value.ParseNumber(numberText().Draw(t, "text"))
		if err != nil {
			return
		}
		again, err := value.ParseNumber(text)
		if err != nil || again != text {
			t.Fatalf("ParseNumber(%q) = %q, %v", text, again, err)
		}
	})
}

func rat(t *rapid.T, v value.Value) *big.Rat {
	r, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		t.Fatalf("no rational: %q", v.Text())
	}
	return r
}

func TestSumsAreExactOrRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := number().Draw(t, "a"), number().Draw(t, "b")
		for _, op := range []struct {
			name  string
			do    func(a, b value.Value) (value.Value, error)
			exact func(z, a, b *big.Rat) *big.Rat
		}{
			{"Add", value.Add, func(z, a, b *big.Rat) *big.Rat { return z.Add(a, b) }},
			{"Sub", value.Sub, func(z, a, b *big.Rat) *big.Rat { return z.Sub(a, b) }},
		} {
			want := op.exact(new(big.Rat), rat(t, a), rat(t, b))
			got, err := op.do(a, b)
			if err != nil {
				if text := want.FloatString(170); representable(text) {
					t.Fatalf("%s(%s, %s) refused, but the result is %s", op.name, a.Text(), b.Text(), text)
				}
				continue
			}
			if rat(t, got).Cmp(want) != 0 {
				t.Fatalf("%s(%s, %s) = %s, want %s", op.name, a.Text(), b.Text(), got.Text(), want.FloatString(140))
			}
		}
	})
}

// representable says whether the exact decimal text is within the limits of an N.
func representable(text string) bool {
	_, err := value.Number(text)
	return err == nil
}

func TestKeyBytesSortAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := number().Draw(t, "a"), number().Draw(t, "b")
		want := rat(t, a).Cmp(rat(t, b))
		if got := bytes.Compare(value.AppendKey(nil, a), value.AppendKey(nil, b)); got != want {
			t.Fatalf("key order of %s and %s = %d, want %d", a.Text(), b.Text(), got, want)
		}
		if got, ok := value.Compare(a, b); !ok || got != want {
			t.Fatalf("Compare(%s, %s) = %d, %t, want %d", a.Text(), b.Text(), got, ok, want)
		}
		if (a == b) != (want == 0) {
			t.Fatalf("%s == %s is %t", a.Text(), b.Text(), a == b)
		}
	})
}

func TestKeyBytesOfPairsSortAsPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]*rapid.Generator[value.Value]{number(), binary(), rapid.Map(text(), value.String)}).Draw(t, "type")
		a1, a2, b1, b2 := part.Draw(t, "a1"), part.Draw(t, "a2"), part.Draw(t, "b1"), part.Draw(t, "b2")
		if rapid.Bool().Draw(t, "same first") {
			b1 = a1
		}
		want, _ := value.Compare(a1, b1)
		if want == 0 {
			want, _ = value.Compare(a2, b2)
		}
		a := value.AppendKey(value.AppendKey(nil, a1), a2)
		b := value.AppendKey(value.AppendKey(nil, b1), b2)
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("order of pairs = %d, want %d", got, want)
		}
	})
}

func TestKeyPrefixFindsExactlyTheValuesWithThePrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prefix, v := value.String(text().Draw(t, "prefix")), value.String(text().Draw(t, "value"))
		got := bytes.HasPrefix(value.AppendKey(nil, v), value.AppendKeyPrefix(nil, prefix))
		if want := value.BeginsWith(v, prefix); got != want {
			t.Fatalf("%q begins with %q: keys say %t, want %t", v.Text(), prefix.Text(), got, want)
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-1.5", "1E125", "1e-130", "0042", "9e999999999", "1.200", ".", "NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Number(text)
		if err != nil {
			return
		}
		if v == value.Int(0) { // big.Rat refuses the exponents that a zero may have
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		if got, _ := new(big.Rat).SetString(v.Text()); !ok || got.Cmp(exact) != 0 {
			t.Errorf("Number(%q) = %s", text, v.Text())
		}
	})
}
