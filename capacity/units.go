package capacity

import (
	"math"
	"strconv"
)

// Units is an amount of read or write units, held exactly as a count of half units. Add and compare with the ordinary
// operators; multiply by a plain count. The zero value is no units.
type Units int64

// Whole returns n whole units.
func Whole(n int) Units { return 2 * Units(n) }

// FromWire converts the CapacityUnits of a DynamoDB answer, which are multiples of a half. Anything else rounds up to
// the next half, so that a cost is never understated; no number or a negative one is zero.
func FromWire(units float64) Units {
	if !(units > 0) {
		return 0
	}
	return Units(math.Ceil(math.Min(units*2, math.MaxInt64/2)))
}

// Float64 returns the units as the DynamoDB API writes them. It is exact.
func (u Units) Float64() float64 { return float64(u) / 2 }

// String returns the units in decimal, for example "15" or "1.5".
func (u Units) String() string {
	sign := ""
	whole, half := int64(u)/2, int64(u)%2
	if u < 0 {
		sign, whole, half = "-", -whole, -half
	}
	text := sign + strconv.FormatInt(whole, 10)
	if half != 0 {
		text += ".5"
	}
	return text
}
