package money

import (
	"cmp"
	"math/bits"

	"github.com/shopspring/decimal"
)

// Each operation has a case for amounts that fit an int64, which costs nanoseconds and no allocation, and falls back to
// the decimal for all others, whose result exact checks against the 38-digit bound.

// Add returns a + b. Errors are [*MismatchError] and [*RangeError].
func (a Amount) Add(b Amount) (Amount, error) {
	c, err := common("add", a, b)
	if err != nil {
		return Amount{}, err
	}
	if !a.isWide() && !b.isWide() {
		sum := a.units + b.units
		if overflowed := (a.units^sum)&(b.units^sum) < 0; !overflowed {
			return Amount{units: sum, currency: c}, nil
		}
	}
	return exact("add", a.decimal().Add(b.decimal()), c)
}

// Sub returns a - b. Errors are [*MismatchError] and [*RangeError].
func (a Amount) Sub(b Amount) (Amount, error) {
	c, err := common("subtract", a, b)
	if err != nil {
		return Amount{}, err
	}
	if !a.isWide() && !b.isWide() {
		difference := a.units - b.units
		if overflowed := (a.units^b.units)&(a.units^difference) < 0; !overflowed {
			return Amount{units: difference, currency: c}, nil
		}
	}
	return exact("subtract", a.decimal().Sub(b.decimal()), c)
}

// MulInt returns a * n. The error is a [*RangeError].
func (a Amount) MulInt(n int64) (Amount, error) {
	if !a.isWide() && negatable(a.units) && negatable(n) {
		high, low := bits.Mul64(uint64(abs(a.units)), uint64(abs(n)))
		if high == 0 && int64(low) >= 0 {
			units := int64(low)
			if (a.units < 0) != (n < 0) {
				units = -units
			}
			return Amount{units: units, currency: a.currency}, nil
		}
	}
	return exact("multiply", a.decimal().Mul(decimal.NewFromInt(n)), a.currency)
}

// Neg returns -a. It cannot fail: the range is symmetric.
func (a Amount) Neg() Amount {
	if !a.isWide() && negatable(a.units) {
		return Amount{units: -a.units, currency: a.currency}
	}
	negated, _ := exact("negate", a.decimal().Neg(), a.currency)
	return negated
}

// Abs returns the amount without its sign.
func (a Amount) Abs() Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b. The error is a [*MismatchError].
func (a Amount) Cmp(b Amount) (int, error) {
	if _, err := common("compare", a, b); err != nil {
		return 0, err
	}
	if !a.isWide() && !b.isWide() {
		return cmp.Compare(a.units, b.units), nil
	}
	return a.decimal().Cmp(b.decimal()), nil
}

// Equal reports whether currency and value are the same. Zero in two currencies is not equal.
func (a Amount) Equal(b Amount) bool {
	if a.currency != b.currency {
		return false
	}
	order, _ := a.Cmp(b)
	return order == 0
}

// Rescale returns the same value in another scale of the same code and kind, for amounts stored before the table
// changed. Errors are [*MismatchError], [*InexactError] and [*RangeError].
func (a Amount) Rescale(to Currency) (Amount, error) {
	if a.currency.code != to.code || a.currency.kind != to.kind {
		return Amount{}, &MismatchError{Op: "rescale", A: a.currency, B: to}
	}
	return Parse(a.Text(), to)
}

// common returns the currency of a result. An empty sum takes the currency of the other operand.
func common(op string, a, b Amount) (Currency, error) {
	switch {
	case a.currency == b.currency, b.currency == Currency{}:
		return a.currency, nil
	case a.currency == Currency{}:
		return b.currency, nil
	}
	return Currency{}, &MismatchError{Op: op, A: a.currency, B: b.currency}
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
