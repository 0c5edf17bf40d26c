package capacity

// NumberSize returns the size in bytes of a number given as decimal text, in any notation DynamoDB accepts: a sign,
// leading and trailing zeros and an exponent do not change it. Text that is no number counts its own bytes, as it
// will be refused anyway.
//
// Digits are stored in pairs on each side of the decimal point, without the zeros at either end; 1 byte is for the
// exponent and 1 for a minus. It does not allocate.
func NumberSize(text string) int {
	m, ok := scanNumber(text)
	if !ok {
		return len(text)
	}
	if m.last < 0 {
		return 1
	}
	significant := m.last - m.first + 1
	integer := min(max(m.point-m.first+m.exponent, 0), significant)
	size := 1 + pairs(integer) + pairs(significant-integer)
	if m.negative {
		size++
	}
	return size
}

// IsNumber reports whether a text is a decimal number as DynamoDB reads them: digits with at most one point, an optional
// sign and an optional exponent. Whether the number is in DynamoDB's range is not looked at.
func IsNumber(text string) bool {
	_, ok := scanNumber(text)
	return ok
}

func pairs(digits int) int { return (digits + 1) / 2 }

// mantissa locates the significant digits of a number among all digits of its text.
type mantissa struct {
	negative    bool
	point       int // digits before the decimal point
	first, last int // first and last digit other than 0; last is -1 for zero
	exponent    int
}

func scanNumber(text string) (mantissa, bool) {
	m := mantissa{first: -1, last: -1, point: -1}
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		m.negative = text[i] == '-'
		i++
	}
	digits := 0
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && m.point < 0 {
			m.point = digits
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		if c != '0' {
			m.last = digits
			if m.first < 0 {
				m.first = digits
			}
		}
		digits++
	}
	if m.point < 0 {
		m.point = digits
	}
	if i < len(text) {
		exponent, ok := scanExponent(text[i:])
		if !ok {
			return mantissa{}, false
		}
		m.exponent = exponent
	}
	return m, digits > 0
}

// scanExponent stops counting far beyond DynamoDB's range, so that hostile exponents cannot overflow.
func scanExponent(text string) (int, bool) {
	const bound = 1_000_000
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	sign := 1
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	exponent := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		exponent = min(exponent*10+int(c-'0'), bound)
	}
	return sign * exponent, text != ""
}
