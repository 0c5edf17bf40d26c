package idempotency

import "strconv"

const (
	// NumberDigitsMax is the largest number of digits of a number in a command, leading and trailing zeros included.
	// DynamoDB and package money allow 38.
	NumberDigitsMax = 1000
	// NumberExponentMax bounds the power of ten of a number in a command, once its coefficient has no trailing zeros.
	NumberExponentMax = 1000
)

// number is a number as it is spelt: the parts of the JSON grammar.
type number struct {
	negative        bool
	whole, fraction []byte
	exponent        int
}

// exponentDigitsMax keeps a written exponent within an int before anything is computed from it.
const exponentDigitsMax = 6

// scanNumber reads one number in the grammar of JSON from the start of text and returns its length. It takes time
// linear in that length: no digit is ever expanded.
func scanNumber(text []byte) (n number, length int, reason Reason) {
	pos := 0
	next := func(c byte) bool {
		if pos < len(text) && text[pos] == c {
			pos++
			return true
		}
		return false
	}
	digits := func() []byte {
		start := pos
		for pos < len(text) && '0' <= text[pos] && text[pos] <= '9' {
			pos++
		}
		return text[start:pos]
	}
	n.negative = next('-')
	n.whole = digits()
	if len(n.whole) == 0 || n.whole[0] == '0' && len(n.whole) > 1 {
		return n, pos, ReasonSyntax
	}
	if next('.') {
		if n.fraction = digits(); len(n.fraction) == 0 {
			return n, pos, ReasonSyntax
		}
	}
	if next('e') || next('E') {
		minus := next('-')
		if !minus {
			next('+')
		}
		written := digits()
		if len(written) == 0 {
			return n, pos, ReasonSyntax
		}
		for len(written) > 0 && written[0] == '0' {
			written = written[1:]
		}
		if len(written) > exponentDigitsMax {
			return n, pos, ReasonNumber
		}
		for _, digit := range written {
			n.exponent = n.exponent*10 + int(digit-'0')
		}
		if minus {
			n.exponent = -n.exponent
		}
	}
	if len(n.whole)+len(n.fraction) > NumberDigitsMax {
		return n, pos, ReasonNumber
	}
	return n, pos, ""
}

// appendNumber appends the one spelling of the number's value: "0", or the coefficient without leading and trailing
// zeros, followed by "e" and the power of ten unless that is zero. 100 is 1e2, and 0.50 is 5e-1.
func appendNumber(dst []byte, n number) ([]byte, Reason) {
	start := len(dst)
	if n.negative {
		dst = append(dst, '-')
	}
	coefficient := len(dst)
	for _, part := range [][]byte{n.whole, n.fraction} {
		for _, digit := range part {
			if digit != '0' || len(dst) > coefficient {
				dst = append(dst, digit)
			}
		}
	}
	if len(dst) == coefficient {
		return append(dst[:start], '0'), ""
	}
	exponent := n.exponent - len(n.fraction)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
		exponent++
	}
	switch {
	case exponent > NumberExponentMax || exponent < -NumberExponentMax:
		return dst, ReasonNumber
	case exponent == 0:
		return dst, ""
	}
	return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10), ""
}

// canonicalDecimal returns the one spelling of the decimal's value.
func canonicalDecimal(text string) ([]byte, Reason) {
	n, length, reason := scanNumber([]byte(text))
	if reason == "" && length != len(text) {
		reason = ReasonSyntax
	}
	if reason != "" {
		return nil, reason
	}
	return appendNumber(nil, n)
}
