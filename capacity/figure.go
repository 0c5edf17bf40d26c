package capacity

import (
	"math/big"
	"strings"
)

// maxFigure bounds a figure in bytes. Real ones have a dozen digits.
const maxFigure = 40

// Figure is an exact number of a plan: a rate, a share, units a second, money. The zero value is 0. Figures are values;
// nothing changes one.
type Figure struct{ rat *big.Rat }

func newFigure(rat *big.Rat) Figure { return Figure{rat: rat} }

func figureOf(n int64) Figure { return Figure{rat: new(big.Rat).SetInt64(n)} }

// figure makes whole units of the halves that are counted.
func (u Units) figure() Figure { return Figure{rat: big.NewRat(int64(u), 2)} }

// Rat returns a copy of the number.
func (f Figure) Rat() *big.Rat {
	if f.rat == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Set(f.rat)
}

// Cmp compares two figures exactly: -1, 0 or +1.
func (f Figure) Cmp(other Figure) int { return f.Rat().Cmp(other.Rat()) }

// Fixed returns the figure with a number of decimal places, halves rounded away from zero.
func (f Figure) Fixed(places int) string { return f.Rat().FloatString(max(places, 0)) }

// String returns the figure with at most two decimal places, halves rounded away from zero and without zeros at the
// end, for example "769.23" or "10240".
func (f Figure) String() string { return trim(f.Fixed(2)) }

// MarshalText writes what String does.
func (f Figure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

func trim(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func (f Figure) times(other Figure) Figure { return newFigure(f.Rat().Mul(f.Rat(), other.Rat())) }

func (f Figure) plus(other Figure) Figure { return newFigure(f.Rat().Add(f.Rat(), other.Rat())) }

func (f Figure) minus(other Figure) Figure { return newFigure(f.Rat().Sub(f.Rat(), other.Rat())) }

// over divides by a figure that is not zero.
func (f Figure) over(other Figure) Figure { return newFigure(f.Rat().Quo(f.Rat(), other.Rat())) }

// up rounds a figure that is not negative up to the next whole number.
func (f Figure) up() *big.Int {
	whole, rest := new(big.Int).QuoRem(f.Rat().Num(), f.Rat().Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}

// parseFigure accepts digits with at most one decimal point between them, no sign and no exponent: big.Rat alone would also
// take fractions and exponents, and expand those. What is wrong comes back as text, "" if nothing is.
func parseFigure(text string) (f Figure, wrong string) {
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || fraction == "" && point || strings.Trim(whole+fraction, "0123456789") != "" {
		return Figure{}, "is not a plain decimal"
	}
	if len(text) > maxFigure {
		return Figure{}, "is too long"
	}
	rat, ok := new(big.Rat).SetString(text)
	if !ok {
		return Figure{}, "is not a plain decimal"
	}
	return newFigure(rat), ""
}

// sizeUnits are the units that a size may be given in, the longer ones first.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

// parseSize reads a size such as "0.45KiB" or "300B" and returns its bytes, exactly: 0.45 KiB are 460.8 bytes, and a hundred
// of them 46,080.
func parseSize(text string) (bytes Figure, wrong string) {
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(text, unit.suffix); ok {
			f, wrong := parseFigure(strings.TrimSuffix(number, " "))
			return f.times(figureOf(unit.bytes)), wrong
		}
	}
	return Figure{}, "has no unit: say B, KiB, MiB or GiB"
}
