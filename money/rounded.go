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
	f := factor.value()
	return round("multiply", new(big.Int).Mul(a.units.big(), f.Num()), f.Denom(), a.currency, mode)
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
	value := r.value()
	return round("round", new(big.Int).Mul(value.Num(), tenTo(c.Scale()).big()), value.Denom(), c, mode)
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

// round is where every rational becomes an amount: num/den minor units, of which den is positive. It keeps neither.
func round(op string, num, den *big.Int, c Currency, mode Rounding) (Rounded, error) {
	if err := mode.check(); err != nil {
		return Rounded{}, err
	}
	quotient, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	inexact := rest.Sign() != 0
	if inexact && mode != NoRounding {
		half := new(big.Int).Lsh(rest, 1).CmpAbs(den)
		if mode.away(num.Sign() < 0, quotient.Bit(0) == 1, half) {
			away := big.NewInt(int64(num.Sign()))
			quotient.Add(quotient, away)
			rest.Sub(rest, away.Mul(away, den))
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
	lost := new(big.Rat).SetFrac(rest, new(big.Int).Mul(den, tenTo(c.Scale()).big()))
	if mode == NoRounding {
		places, _ := decimalPlaces(lost.Denom())
		return Rounded{}, &InexactError{Op: op, Currency: c, Places: places}
	}
	residual, err := bounded(op, lost)
	if err != nil {
		return Rounded{}, err
	}
	rounded.Residual = residual
	return rounded, nil
}
