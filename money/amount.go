package money

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// MaxDigits is the number of digits that DynamoDB's Number keeps exactly. An amount has at most that many, counted in
// minor units: every amount of scale 18 below 10^20 and every amount of scale 2 below 10^36.
const MaxDigits = 38

// Amount is an exact amount of one currency. Its value is a whole number of minor units at the currency's scale, so
// 1.10 USD is never 1.1, and no operation rounds. Amounts are immutable and safe for concurrent use.
//
// The zero Amount is the empty sum: zero in no currency. Added to an amount it gives that amount, and comparing with it
// gives the sign, so that a loop can start from it. It cannot be stored or transmitted. A zero that has a currency comes
// from [Zero].
//
// Amounts are not comparable with == and cannot be map keys: use [Amount.Equal] or [Amount.Cmp]. Equal amounts are deeply
// equal too, so reflect.DeepEqual works on records that hold them.
type Amount struct {
	_ [0]func() // forbids ==, which would compare the pointer inside wide

	// The minor units: in units if they fit an int64, else in wide, a decimal with the currency's scale, and units is 0.
	units    int64
	wide     decimal.Decimal
	currency Currency
}

// Zero returns zero in a currency, such as 0.00 USD.
func Zero(c Currency) Amount { return Amount{currency: c} }

// FromMinor returns an amount of minor units: 1999 is 19.99 USD, 1999 JPY or 0.000000000000001999 of scale 18.
// The error, for no currency, is an [*UnknownCurrencyError].
func FromMinor(units int64, c Currency) (Amount, error) {
	if c == (Currency{}) {
		return Amount{}, &UnknownCurrencyError{}
	}
	return Amount{units: units, currency: c}, nil
}

// ParseMinor reads minor units of any size, as [Amount.MinorUnits] writes them: a minus sign and digits.
// Errors are [*SyntaxError], [*RangeError] and, for no currency, [*UnknownCurrencyError].
func ParseMinor(text string, c Currency) (Amount, error) {
	if point := strings.IndexByte(text, '.'); point >= 0 {
		return Amount{}, &SyntaxError{Offset: point, Reason: "minor units have no point"}
	}
	return scan(text, c, 0)
}

// Currency returns the currency.
func (a Amount) Currency() Currency { return a.currency }

// MinorUnits returns the minor units in decimal digits: "1999" for 19.99 USD. [ParseMinor] reads them back.
func (a Amount) MinorUnits() string {
	var buf [maxTextBytes]byte
	return string(a.appendUnits(buf[:0]))
}

// MinorInt64 returns the minor units as an integer. The error, if they do not fit, is a [*RangeError].
func (a Amount) MinorInt64() (int64, error) {
	if a.isWide() {
		return 0, &RangeError{Op: "minor units", Currency: a.currency, Limit: "a 64-bit integer"}
	}
	return a.units, nil
}

// Sign returns -1, 0 or 1.
func (a Amount) Sign() int {
	switch {
	case a.isWide():
		return a.wide.Sign()
	case a.units < 0:
		return -1
	case a.units > 0:
		return 1
	}
	return 0
}

// IsZero reports whether the value is zero, in whatever currency.
func (a Amount) IsZero() bool { return a.Sign() == 0 }

func (a Amount) isWide() bool { return a.wide.Sign() != 0 }

// decimal returns the value with the currency's scale as its exponent.
func (a Amount) decimal() decimal.Decimal {
	if a.isWide() {
		return a.wide
	}
	return decimal.New(a.units, -int32(a.currency.scale))
}

// appendUnits appends the minor units in digits.
func (a Amount) appendUnits(b []byte) []byte {
	if a.isWide() {
		return a.wide.Coefficient().Append(b, 10)
	}
	return strconv.AppendInt(b, a.units, 10)
}

// exact gives the result of an operation its one representation, or refuses it. The exponent of d is minus the scale.
func exact(op string, d decimal.Decimal, c Currency) (Amount, error) {
	digits := d.NumDigits()
	if digits > MaxDigits {
		return Amount{}, rangeError(op, c)
	}
	if digits <= mostSmallDigits { // only then is the coefficient worth a copy
		if units := d.Coefficient(); units.IsInt64() {
			return Amount{units: units.Int64(), currency: c}, nil
		}
	}
	return Amount{wide: d, currency: c}, nil
}

func rangeError(op string, c Currency) error {
	return &RangeError{Op: op, Currency: c, Limit: strconv.Itoa(MaxDigits) + " digits of minor units"}
}

// fromDigits builds an amount of at most [MaxDigits] digits that may exceed an int64.
func fromDigits(negative bool, digits []byte, c Currency) Amount {
	units, _ := new(big.Int).SetString(string(digits), 10)
	if negative {
		units.Neg(units)
	}
	if units.IsInt64() {
		return Amount{units: units.Int64(), currency: c}
	}
	return Amount{wide: decimal.NewFromBigInt(units, -int32(c.scale)), currency: c}
}

// negatable reports whether -units fits an int64.
func negatable(units int64) bool { return units != math.MinInt64 }
