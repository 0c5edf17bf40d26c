package money

import "math/big"

// Rounded is an amount and what rounding took away from the exact value, so that nothing is lost unseen: Amount and
// Residual always add up to the exact value.
type Rounded struct {
	// Amount is the rounded value.
	Amount Amount
	// Residual is the exact value less Amount, in major units: smaller than one minor unit, of either sign. See
	// [Rational.In] for how to post it.
	Residual Rational
}

// MulRound multiplies by a rate, a percentage or any other exact number and rounds once, to the scale of the currency.
//
// Errors are [*RoundingError], [*RangeError], and for [NoRounding] [*InexactError].
func (a Amount) MulRound(factor Rational, mode Rounding) (Rounded, error) {
	if a.currency == (Currency{}) {
		return Rounded{}, mode.check() // the empty sum stays empty, whatever the factor
	}
	return round("multiply", new(big.Rat).Mul(a.Rational().value(), factor.value()), a.currency, mode)
}

// Round makes an amount of a calculated number, in major units: 2.675 in USD is 2.68 half-even. It is the one place
// where a calculation with rationals rounds.
//
// Errors are [*UnknownCurrencyError] for no currency, [*RoundingError], [*RangeError], and for [NoRounding]
// [*InexactError].
func (r Rational) Round(c Currency, mode Rounding) (Rounded, error) {
	if c == (Currency{}) {
		return Rounded{}, &UnknownCurrencyError{}
	}
	return round("round", r.value(), c, mode)
}

// In makes an amount of a number that is exact in the currency, as [Rational.Round] does with [NoRounding]. A residual
// is posted with it: define a currency for the fractions of another, with places to spare, and a residual of 0.005 EUR
// becomes an amount that can be added up, and rounded to EUR when there is enough of it.
//
// Errors are [*UnknownCurrencyError], [*InexactError] and [*RangeError].
func (r Rational) In(c Currency) (Amount, error) {
	rounded, err := r.Round(c, NoRounding)
	return rounded.Amount, err
}

// round is where every rational becomes an amount.
func round(op string, exact *big.Rat, c Currency, mode Rounding) (Rounded, error) {
	if err := mode.check(); err != nil {
		return Rounded{}, err
	}
	scale := tenTo(c.Scale()).big()
	minor := new(big.Int).Mul(exact.Num(), scale)
	quotient, rest := minor.QuoRem(minor, exact.Denom(), new(big.Int))
	inexact := rest.Sign() != 0
	if inexact {
		if mode == NoRounding {
			places, _ := decimalPlaces(exact.Denom())
			return Rounded{}, &InexactError{Op: op, Currency: c, Places: places}
		}
		half := rest.Lsh(rest, 1).CmpAbs(exact.Denom())
		if mode.away(exact.Sign() < 0, quotient.Bit(0) == 1, half) {
			quotient.Add(quotient, big.NewInt(int64(exact.Sign())))
		}
	}
	units, ok := fromBig(quotient)
	if !ok {
		return Rounded{}, rangeError(op, c)
	}
	rounded := Rounded{Amount: Amount{units: units, currency: c}}
	if !inexact {
		return rounded, nil
	}
	residual, err := bounded(op, new(big.Rat).Sub(exact, rounded.Amount.Rational().value()))
	if err != nil {
		return Rounded{}, err
	}
	rounded.Residual = residual
	return rounded, nil
}
