package money

import "fmt"

// Rounding says what becomes of a fraction that cannot be kept. There is no default anywhere: every operation that can
// round takes a Rounding, and the zero Rounding refuses to.
type Rounding uint8

// The roundings. Half-up, half-down, up and down go by the distance from zero, so that a refund is rounded as the sale
// was; ceiling and floor go by the number line.
const (
	// NoRounding makes a result that would need rounding an [*InexactError].
	NoRounding Rounding = iota
	// HalfEven rounds to the nearest, and from the middle to the even neighbour: 0.125 to 0.12, 0.135 to 0.14. Over many
	// amounts its errors cancel out.
	HalfEven
	// HalfUp rounds to the nearest, and from the middle away from zero: 0.125 to 0.13, -0.125 to -0.13.
	HalfUp
	// HalfDown rounds to the nearest, and from the middle toward zero: 0.125 to 0.12, -0.125 to -0.12.
	HalfDown
	// Up rounds away from zero: 0.121 to 0.13, -0.121 to -0.13.
	Up
	// Down rounds toward zero: 0.129 to 0.12, -0.129 to -0.12.
	Down
	// Ceiling rounds toward the larger: 0.121 to 0.13, -0.129 to -0.12.
	Ceiling
	// Floor rounds toward the smaller: 0.129 to 0.12, -0.121 to -0.13.
	Floor
)

// roundingNames are a public format.
var roundingNames = [...]string{NoRounding: "none", HalfEven: "half-even", HalfUp: "half-up", HalfDown: "half-down",
	Up: "up", Down: "down", Ceiling: "ceiling", Floor: "floor"}

// String returns the name, such as "half-even"; that of [NoRounding] is "none".
func (m Rounding) String() string {
	if int(m) < len(roundingNames) {
		return roundingNames[m]
	}
	return fmt.Sprintf("rounding %d", uint8(m))
}

// MarshalText implements [encoding.TextMarshaler] with the name. The error, for a value that is none of the constants,
// is a [*RoundingError].
func (m Rounding) MarshalText() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return []byte(m.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. The error is a [*RoundingError].
func (m *Rounding) UnmarshalText(text []byte) error {
	for i, name := range roundingNames {
		if string(text) == name {
			*m = Rounding(i)
			return nil
		}
	}
	return &RoundingError{Reason: "no rounding has this name"}
}

func (m Rounding) check() error {
	if int(m) >= len(roundingNames) {
		return &RoundingError{Reason: m.String() + " is not a rounding"}
	}
	return nil
}

// away reports whether a quotient that was cut off, and is not exact, goes one step away from zero. Odd tells of the
// quotient, half compares what was cut off with one half.
func (m Rounding) away(negative, odd bool, half int) bool {
	switch m {
	case HalfEven:
		return half > 0 || half == 0 && odd
	case HalfUp:
		return half >= 0
	case HalfDown:
		return half > 0
	case Up:
		return true
	case Ceiling:
		return !negative
	case Floor:
		return negative
	}
	return false
}

// Round rounds to a number of decimal places: 2 to cents, 0 to whole units, -3 to thousands. The currency, and with it
// the scale that is shown, stays. An amount without that many places is returned as it is. What rounding took away is
// a less the result.
//
// Errors are [*RoundingError] for places so coarse that no amount reaches them, [*RangeError], and for [NoRounding]
// [*InexactError].
func (a Amount) Round(places int, mode Rounding) (Amount, error) {
	if err := mode.check(); err != nil {
		return Amount{}, err
	}
	scale := a.currency.Scale()
	switch {
	case places >= scale:
		return a, nil
	case places < scale-MaxDigits:
		return Amount{}, &RoundingError{Reason: fmt.Sprintf("no amount in %s reaches %d places before the point", a.currency, -places)}
	}
	return a.toMultiple(tenTo(scale-places), mode)
}

// RoundTo rounds to a multiple of a step, such as the smallest coin: 0.05 CHF, or a tick or a lot size.
//
// Errors are [*MismatchError], [*RoundingError] for a step that is not positive, [*RangeError], and for [NoRounding]
// [*InexactError].
func (a Amount) RoundTo(step Amount, mode Rounding) (Amount, error) {
	if err := mode.check(); err != nil {
		return Amount{}, err
	}
	if a.currency != step.currency {
		return Amount{}, &MismatchError{Op: "round", A: a.currency, B: step.currency}
	}
	if step.Sign() <= 0 {
		return Amount{}, &RoundingError{Reason: "the step is not positive"}
	}
	return a.toMultiple(step.units.abs(), mode)
}

func (a Amount) toMultiple(step uint128, mode Rounding) (Amount, error) {
	whole := a.units.abs()
	quotient, rest := whole.quoRem(step)
	if rest == (uint128{}) {
		return a, nil
	}
	if mode == NoRounding {
		return Amount{}, &InexactError{Op: "round", Currency: a.currency}
	}
	negative := a.Sign() < 0
	rounded := whole.minus(rest)
	if mode.away(negative, quotient.lo&1 == 1, rest.cmp(step.minus(rest))) {
		rounded = rounded.plus(step)
	}
	if !rounded.less(bound) {
		return Amount{}, rangeError("round", a.currency)
	}
	return Amount{units: rounded.signed(negative), currency: a.currency}, nil
}
