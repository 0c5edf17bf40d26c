package money

import (
	"strconv"
	"strings"
)

// MaxDigits is the number of digits that DynamoDB's Number keeps exactly. An amount has at most that many, counted in
// minor units: every amount of scale 18 below 10^20 and every amount of scale 2 below 10^36.
const MaxDigits = 38

// Amount is an exact amount of one currency. Its value is a whole number of minor units at the currency's scale, so
// 1.10 USD is never 1.1, and no operation rounds unless it is told how. Amounts are immutable and safe for concurrent use.
//
// The zero Amount is the empty sum: zero in no currency. Added to an amount it gives that amount, and comparing with it
// gives the sign, so that a loop can start from it. It cannot be stored or transmitted. A zero that has a currency comes
// from [Zero].
//
// Amounts are comparable: a == b, like [Amount.Equal], holds if currency and value are the same, and they can be map keys.
type Amount struct {
	units    int128 // minor units, of a magnitude below 10^MaxDigits
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
	return Amount{units: fromInt64(units), currency: c}, nil
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
	return string(a.units.append(buf[:0]))
}

// MinorInt64 returns the minor units as an integer. The error, if they do not fit, is a [*RangeError].
func (a Amount) MinorInt64() (int64, error) {
	if !a.units.isInt64() {
		return 0, &RangeError{Op: "minor units", Currency: a.currency, Limit: "a 64-bit integer"}
	}
	return int64(a.units.lo), nil
}

// Sign returns -1, 0 or 1.
func (a Amount) Sign() int { return a.units.sign() }

// IsZero reports whether the value is zero, in whatever currency.
func (a Amount) IsZero() bool { return a.units == int128{} }

func rangeError(op string, c Currency) error {
	return &RangeError{Op: op, Currency: c, Limit: strconv.Itoa(MaxDigits) + " digits of minor units"}
}
