package money

import (
	"math/big"
	"time"
)

// Rate is an exchange rate, or a price, with its identity: two numbers that look alike are two rates if they come from
// two sources or two moments, and a conversion can be proved only with the one that was used.
type Rate struct {
	// Source says who quoted the rate, for example "ECB".
	Source string `json:"source"`
	// ID is the name of this quote at its source.
	ID string `json:"id"`
	// AsOf is the moment for which it was quoted.
	AsOf time.Time `json:"asOf"`
	// Base is the currency of which one unit is priced, Quote the currency of the price: 1 Base = Value Quote.
	Base  Currency `json:"base"`
	Quote Currency `json:"quote"`
	// Value is exact and positive.
	Value Rational `json:"value"`
}

// Conversion is the evidence of a conversion: everything that it takes to compute it again.
type Conversion struct {
	// From is what was converted.
	From Amount `json:"from"`
	// To is what it became.
	To Amount `json:"to"`
	// Rate is the rate that was used.
	Rate Rate `json:"rate"`
	// Rounding is how To was rounded, to the scale of its currency.
	Rounding Rounding `json:"rounding"`
	// Residual is what rounding took away: the exact result less To, in major units of To's currency.
	Residual Rational `json:"residual"`
}

// Convert converts from the rate's base to its quote by multiplying, and from its quote to its base by dividing, so that
// nobody needs a rounded inverse rate. It rounds once, to the scale of the target. Through a third currency, multiply
// the rates first ([Rational.Mul]) and convert once.
//
// Errors are [*RateError], [*MismatchError] for an amount in neither of the rate's currencies, [*RoundingError],
// [*RangeError], and for [NoRounding] [*InexactError].
func (a Amount) Convert(rate Rate, mode Rounding) (Conversion, error) {
	if err := rate.check(); err != nil {
		return Conversion{}, err
	}
	if err := mode.check(); err != nil {
		return Conversion{}, err
	}
	num, den, target := rate.Value.value().Num(), rate.Value.value().Denom(), rate.Quote
	switch a.currency {
	case rate.Base:
	case rate.Quote:
		num, den, target = den, num, rate.Base
	default:
		return Conversion{}, &MismatchError{Op: "convert", A: a.currency, B: rate.Base}
	}
	// From minor units of one scale to minor units of the other.
	num = new(big.Int).Mul(num, tenTo(target.Scale()).big())
	den = new(big.Int).Mul(den, tenTo(a.currency.Scale()).big())
	rounded, err := round("convert", num.Mul(num, a.units.big()), den, target, mode)
	if err != nil {
		return Conversion{}, err
	}
	return Conversion{From: a, To: rounded.Amount, Rate: rate, Rounding: mode, Residual: rounded.Residual}, nil
}

// check says why the rate cannot be used.
func (r Rate) check() error {
	fail := func(reason string) error { return &RateError{Source: r.Source, ID: r.ID, Reason: reason} }
	switch {
	case r.Source == "" || r.ID == "":
		return fail("a rate has a source and an identity there")
	case r.AsOf.IsZero():
		return fail("a rate has a time as of which it holds")
	case r.Base == Currency{} || r.Quote == Currency{}:
		return fail("a rate has two currencies")
	case r.Base == r.Quote:
		return fail("the two currencies are the same")
	case r.Value.Sign() <= 0:
		return fail("the value is not positive")
	}
	return nil
}
