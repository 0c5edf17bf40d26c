package money

import "math/bits"

const (
	// maxTextBytes leaves room for a sign, 38 digits, a point and some zero padding.
	maxTextBytes     = 64
	maxFullTextBytes = maxTextBytes + 1 + MaxCodeBytes
)

// Parse reads a plain decimal in major units: an optional minus sign, digits, and at most one point between digits, as
// in -1234.50. Zeros that pad it on either side change nothing; any other digit finer than the scale is an
// [*InexactError], and more than 38 digits of minor units are a [*RangeError].
//
// Everything else is a [*SyntaxError]: an exponent (1e3 too, since a parser that expands 1e3 also has to judge
// 1e1000000000), NaN, Inf, a plus sign, spaces, underscores, commas, digits of other scripts, a bare point, an empty
// text, and a text of more than 64 bytes, which is refused unread.
func Parse(text string, c Currency) (Amount, error) { return scan(text, c, c.Scale()) }

// MustParse reads a constant such as "19.99 USD", in a currency of ISO 4217, and panics if it is not one. It is for
// constants in programs and tests, not for input.
func MustParse(text string) Amount {
	a, err := Registry{}.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

// scan reads a plain decimal of at most the given decimal places in one pass and without arithmetic on anything larger
// than its digits. Places is the scale for major units, 0 for minor units.
func scan(text string, c Currency, places int) (Amount, error) {
	if c == (Currency{}) {
		return Amount{}, &UnknownCurrencyError{}
	}
	if len(text) > maxTextBytes {
		return Amount{}, &SyntaxError{Offset: maxTextBytes, Reason: "the text is longer than 64 bytes"}
	}
	var (
		number   coefficient
		start    = 0  // where the digits begin
		point    = -1 // where the point is
		fraction = 0  // digits read after the point
		needed   = 0  // of these, up to the last that is not zero
	)
	negative := text != "" && text[0] == '-'
	if negative {
		start = 1
	}
	for i := start; i < len(text); i++ {
		switch ch := text[i]; {
		case '0' <= ch && ch <= '9':
			if point >= 0 {
				fraction++
				if ch != '0' {
					needed = fraction
				}
			}
			if fraction <= places {
				number.push(ch)
			}
		case ch == '.' && point < 0 && i > start && i < len(text)-1:
			point = i
		default:
			return Amount{}, &SyntaxError{Offset: i, Reason: complaint(ch)}
		}
	}
	switch {
	case len(text) == start:
		return Amount{}, &SyntaxError{Offset: start, Reason: "there are no digits"}
	case needed > places:
		return Amount{}, &InexactError{Op: "parse", Currency: c, Places: needed}
	}
	for ; fraction < places; fraction++ {
		number.push('0')
	}
	if number.overflow {
		return Amount{}, rangeError("parse", c)
	}
	return Amount{units: number.value().signed(negative), currency: c}, nil
}

func complaint(ch byte) string {
	switch ch {
	case 'e', 'E':
		return "exponents are not accepted; write the digits out"
	case '.':
		return "a point stands only once, and between digits"
	}
	return "only a leading minus sign, digits 0 to 9 and a point are accepted"
}

// coefficient collects digits without leading zeros in two halves of 19, each of which fits 64 bits.
type coefficient struct {
	n          int
	head, tail uint64
	overflow   bool
}

func (k *coefficient) push(digit byte) {
	value := uint64(digit - '0')
	switch {
	case k.n == 0 && value == 0:
		return
	case k.n < digits19:
		k.head = k.head*10 + value
	case k.n < MaxDigits:
		k.tail = k.tail*10 + value
	default:
		k.overflow = true
		return
	}
	k.n++
}

func (k *coefficient) value() uint128 {
	if k.n <= digits19 {
		return uint128{lo: k.head}
	}
	hi, lo := bits.Mul64(k.head, tenTo64(k.n-digits19))
	return uint128{hi, lo}.plus(uint128{lo: k.tail})
}
