package money

import (
	"bytes"
	"math/big"
	"strings"
)

// MaxRationalBits bounds the numerator and the denominator of a [Rational]: about 308 digits each.
const MaxRationalBits = 1024

const (
	maxRationalBytes  = 640 // two numbers of MaxRationalBits, a sign and a slash, and some zero padding
	maxDecimalsShown  = 100 // finer fractions are written with a slash
	hundred           = 100
	rationalLimitText = "1024 bits of numerator and denominator"
)

// Rational is an exact number that is no amount: a rate, a percentage, a weight, a day count, or what rounding took
// away. Unlike a decimal it also holds 1/3, so that a calculation can stay exact until the one place where it rounds,
// which is [Rational.Round] or [Amount.MulRound].
//
// Rationals are immutable and safe for concurrent use. The zero Rational is 0. They are not comparable with ==: use
// [Rational.Equal] or [Rational.Cmp].
type Rational struct {
	_ [0]func() // forbids ==, which would compare addresses

	rat *big.Rat // never written to; nil is zero
}

// NewRational returns num/den: NewRational(25, 10_000) is 25 basis points, NewRational(91, 360) a day count.
// The error, for a zero denominator, is a [*DivisionError].
func NewRational(num, den int64) (Rational, error) {
	if den == 0 {
		return Rational{}, &DivisionError{Op: "new rational"}
	}
	return rational(big.NewRat(num, den)), nil
}

// ParseRational reads a plain decimal such as "1.0842" or "-5", or a fraction of two integers such as "1/3", and nothing
// else: the rules are those of [Parse], without a scale. Of a text of more than 640 bytes nothing is read.
//
// Errors are [*SyntaxError], [*DivisionError] for a zero denominator, and [*RangeError].
func ParseRational(text string) (Rational, error) {
	if len(text) > maxRationalBytes {
		return Rational{}, &SyntaxError{Offset: maxRationalBytes, Reason: "the text is longer than 640 bytes"}
	}
	numerator, denominator, isFraction := strings.Cut(text, "/")
	num, places, err := decimalDigits(numerator, 0, !isFraction)
	if err != nil {
		return Rational{}, err
	}
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	if isFraction {
		offset := len(numerator) + 1
		if denominator != "" && denominator[0] == '-' {
			return Rational{}, &SyntaxError{Offset: offset, Reason: "a denominator has no sign"}
		}
		if den, _, err = decimalDigits(denominator, offset, false); err != nil {
			return Rational{}, err
		}
		if den.Sign() == 0 {
			return Rational{}, &DivisionError{Op: "parse rational"}
		}
	}
	return bounded("parse rational", new(big.Rat).SetFrac(num, den))
}

// MustParseRational reads a constant and panics if it is not one. It is for constants in programs and tests, not for
// input.
func MustParseRational(text string) Rational {
	r, err := ParseRational(text)
	if err != nil {
		panic(err)
	}
	return r
}

// ParsePercent reads a percentage without its sign: "8.25" is 0.0825. Errors are those of [ParseRational].
func ParsePercent(text string) (Rational, error) {
	r, err := ParseRational(text)
	if err != nil {
		return Rational{}, err
	}
	return bounded("parse percent", new(big.Rat).Quo(r.value(), big.NewRat(hundred, 1)))
}

// decimalDigits reads an optional minus sign, digits and, if allowed, one point between digits, and returns the number
// without its point and the digits behind it.
func decimalDigits(text string, offset int, pointAllowed bool) (digits *big.Int, places int, err error) {
	start := 0
	if text != "" && text[0] == '-' {
		start = 1
	}
	point := -1
	for i := start; i < len(text); i++ {
		switch ch := text[i]; {
		case '0' <= ch && ch <= '9':
		case ch == '.' && pointAllowed && point < 0 && i > start && i < len(text)-1:
			point = i
		default:
			return nil, 0, &SyntaxError{Offset: offset + i, Reason: complaint(ch)}
		}
	}
	if len(text) == start {
		return nil, 0, &SyntaxError{Offset: offset + start, Reason: "there are no digits"}
	}
	if point >= 0 {
		places = len(text) - point - 1
		text = text[:point] + text[point+1:]
	}
	digits, _ = new(big.Int).SetString(text, 10)
	return digits, places, nil
}

// Rational returns the value in major units, as an exact number to calculate with.
func (a Amount) Rational() Rational {
	return rational(new(big.Rat).SetFrac(a.units.big(), tenTo(a.currency.Scale()).big()))
}

// Add returns r + s. The error is a [*RangeError].
func (r Rational) Add(s Rational) (Rational, error) {
	return bounded("add", new(big.Rat).Add(r.value(), s.value()))
}

// Sub returns r - s. The error is a [*RangeError].
func (r Rational) Sub(s Rational) (Rational, error) {
	return bounded("subtract", new(big.Rat).Sub(r.value(), s.value()))
}

// Mul returns r * s. The error is a [*RangeError].
func (r Rational) Mul(s Rational) (Rational, error) {
	return bounded("multiply", new(big.Rat).Mul(r.value(), s.value()))
}

// Quo returns r / s, exactly. Errors are [*DivisionError] and [*RangeError].
func (r Rational) Quo(s Rational) (Rational, error) {
	if s.IsZero() {
		return Rational{}, &DivisionError{Op: "divide"}
	}
	return bounded("divide", new(big.Rat).Quo(r.value(), s.value()))
}

// Neg returns -r.
func (r Rational) Neg() Rational { return rational(new(big.Rat).Neg(r.value())) }

// Cmp returns -1, 0 or 1 as r is less than, equal to or greater than s.
func (r Rational) Cmp(s Rational) int { return r.value().Cmp(s.value()) }

// Equal reports whether r and s are the same number.
func (r Rational) Equal(s Rational) bool { return r.Cmp(s) == 0 }

// Sign returns -1, 0 or 1.
func (r Rational) Sign() int { return r.value().Sign() }

// IsZero reports whether r is 0.
func (r Rational) IsZero() bool { return r.rat == nil }

// String returns a plain decimal if the value has one of at most 100 places, "0.0825", and else a fraction in lowest
// terms, "1/3". [ParseRational] reads both back.
func (r Rational) String() string {
	value := r.value()
	places, finite := decimalPlaces(value.Denom())
	if !finite || places > maxDecimalsShown {
		return value.String() // a fraction: a whole number has no places
	}
	scaled := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled.Mul(scaled, value.Num()).Quo(scaled, value.Denom())
	digits := new(big.Int).Abs(scaled).Append(nil, 10)
	if missing := places + 1 - len(digits); missing > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, missing), digits...)
	}
	text := string(digits[:len(digits)-places])
	if places > 0 {
		text += "." + string(digits[len(digits)-places:])
	}
	if scaled.Sign() < 0 {
		return "-" + text
	}
	return text
}

// MarshalText implements [encoding.TextMarshaler] with the form of [Rational.String]. In JSON it is a string.
func (r Rational) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. Errors are those of [ParseRational].
func (r *Rational) UnmarshalText(text []byte) error {
	if len(text) > maxRationalBytes {
		text = text[:maxRationalBytes+1] // ParseRational refuses it; do not copy a megabyte first
	}
	parsed, err := ParseRational(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// value returns the number to read from, never to write to.
func (r Rational) value() *big.Rat {
	if r.rat == nil {
		return new(big.Rat)
	}
	return r.rat
}

// rational takes over a number that is known to be within the bound.
func rational(value *big.Rat) Rational {
	if value.Sign() == 0 {
		return Rational{}
	}
	return Rational{rat: value}
}

func bounded(op string, value *big.Rat) (Rational, error) {
	if max(value.Num().BitLen(), value.Denom().BitLen()) > MaxRationalBits {
		return Rational{}, &RangeError{Op: op, Limit: rationalLimitText}
	}
	return rational(value), nil
}

// decimalPlaces returns how many decimal places a fraction in lowest terms needs, if it ends at all.
func decimalPlaces(denominator *big.Int) (places int, finite bool) {
	twos := int(denominator.TrailingZeroBits())
	rest := new(big.Int).Rsh(denominator, uint(twos))
	fives, one, five, remainder := 0, big.NewInt(1), big.NewInt(5), new(big.Int)
	for ; rest.Cmp(one) > 0; fives++ {
		if rest.QuoRem(rest, five, remainder); remainder.Sign() != 0 {
			return 0, false
		}
	}
	return max(twos, fives), true
}
