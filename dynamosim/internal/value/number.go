package value

import "strconv"

// Number returns the N value of a decimal text such as "0042", "+5", "1.200" or "1E2". The error is a validation
// *Error with the service's text: no number, out of range, or more than 38 significant digits.
func Number(text string) (Value, error) {
	if text == "" {
		return Value{}, invalid(msgNumberEmpty)
	}
	d, err := parseDecimal(text)
	if err != nil {
		return Value{}, err
	}
	var buf [numberKeyMax]byte
	return Value{N, string(d.appendKey(buf[:0]))}, nil
}

// Int returns an N value.
func Int(n int64) Value {
	v, _ := Number(strconv.FormatInt(n, 10)) // at most 19 digits: always a number
	return v
}

// ParseNumber returns the canonical text of a decimal text: no exponent, no leading or trailing zeros, no plus sign.
func ParseNumber(text string) (string, error) {
	v, err := Number(text)
	return v.Text(), err
}

// Add returns a + b of two N values. Sums are exact: one that needs more than 38 digits, or is out of range, is a
// validation *Error. Values of other types are one too.
func Add(a, b Value) (Value, error) { return sum(a, b, false) }

// Sub returns a - b of two N values, with the rules of Add.
func Sub(a, b Value) (Value, error) { return sum(a, b, true) }

func sum(a, b Value, negate bool) (Value, error) {
	if a.kind != N || b.kind != N {
		return Value{}, invalid(msgNumberEmpty)
	}
	x, y := decodeNumberKey(a.data), decodeNumberKey(b.data)
	if negate {
		y.neg = !y.neg
	}
	total, ok := x.add(&y)
	if !ok {
		return Value{}, invalid(msgNumberOverflow)
	}
	var buf [numberKeyMax]byte
	return Value{N, string(total.appendKey(buf[:0]))}, nil
}

// appendNumber appends the canonical text of a number's key bytes.
func appendNumber(dst []byte, key string) []byte {
	d := decodeNumberKey(key)
	return d.appendText(dst)
}
