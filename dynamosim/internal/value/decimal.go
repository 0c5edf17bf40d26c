package value

// The limits of an N.
const (
	// MaxDigits is how many significant digits a number may have.
	MaxDigits = 38
	// maxExp and minExp bound the exponent of 0.d1d2... x 10^exp, which is one more than that of d1.d2... x 10^e.
	maxExp = 126
	minExp = -129
)

// decimal is the number 0.d1d2...dn x 10^exp, d1 and dn not zero; n is 0 for zero. It lives on the stack only: a
// stored number is its key bytes.
type decimal struct {
	neg    bool
	exp    int
	n      int
	digits [MaxDigits]byte
}

// parseDecimal reads [sign] digits [. digits] [e [sign] digits], with at least one digit before the exponent.
func parseDecimal(text string) (decimal, *Error) {
	var d decimal
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		d.neg = text[i] == '-'
		i++
	}
	seenDigit, seenPoint, tooLong := false, false, false
	zeros := 0 // zeros since the last other digit: they count once another digit follows
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.' && !seenPoint:
			seenPoint = true
			continue
		case c == '0':
			seenDigit = true
			if d.n == 0 {
				if seenPoint {
					d.exp--
				}
				continue
			}
			zeros++
		case c >= '1' && c <= '9':
			seenDigit = true
			if d.n+zeros >= MaxDigits {
				tooLong = true
			} else {
				d.n += zeros // the array is zero there
				d.digits[d.n] = c - '0'
				d.n++
			}
			zeros = 0
		default:
			goto exponent
		}
		if !seenPoint {
			d.exp++
		}
	}
exponent:
	if !seenDigit {
		return decimal{}, invalid(msgNumberText(text))
	}
	if i < len(text) {
		e, ok := parseExponent(text[i:])
		if !ok {
			return decimal{}, invalid(msgNumberText(text))
		}
		d.exp += e
	}
	switch {
	case d.n == 0:
		return decimal{}, nil
	case d.exp > maxExp:
		return decimal{}, invalid(msgNumberOverflow)
	case d.exp < minExp:
		return decimal{}, invalid(msgNumberTiny)
	case tooLong:
		return decimal{}, invalid(msgNumberDigits)
	}
	return d, nil
}

// parseExponent reads "e-12". Exponents beyond any number are cut to one that is still out of range.
func parseExponent(text string) (int, bool) {
	const beyond = 1 << 27 // more than the length of any request can make up for, and ten times it is an int
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	neg := false
	if text != "" && (text[0] == '+' || text[0] == '-') {
		neg = text[0] == '-'
		text = text[1:]
	}
	if text == "" {
		return 0, false
	}
	e := 0
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		e = min(e*10+int(text[i]-'0'), beyond)
	}
	if neg {
		e = -e
	}
	return e, true
}

// appendText writes the number without an exponent, as DynamoDB returns it.
func (d *decimal) appendText(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	if d.exp <= 0 {
		dst = append(dst, '0', '.')
		for range -d.exp {
			dst = append(dst, '0')
		}
	}
	for i := range d.n {
		if i == d.exp && i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, '0'+d.digits[i])
	}
	for range d.exp - d.n {
		dst = append(dst, '0')
	}
	return dst
}

// add returns a + b, or false if the exact sum has too many digits or is out of range: sums are never rounded.
func (a *decimal) add(b *decimal) (decimal, bool) {
	if a.n == 0 {
		return *b, true
	}
	if b.n == 0 {
		return *a, true
	}
	if a.less(b) {
		a, b = b, a
	}
	// Place both numbers on one line of digits; line[0] is for a carry.
	var line [maxExp - minExp + MaxDigits + 2]int8
	for i := range a.n {
		line[1+i] = int8(a.digits[i])
	}
	shift := 1 + a.exp - b.exp
	sign := int8(1)
	if a.neg != b.neg {
		sign = -1
	}
	for i := range b.n {
		line[shift+i] += sign * int8(b.digits[i])
	}
	last := max(a.n, shift-1+b.n)
	for i := last; i > 0; i-- {
		switch {
		case line[i] > 9:
			line[i] -= 10
			line[i-1]++
		case line[i] < 0:
			line[i] += 10
			line[i-1]--
		}
	}
	return fromLine(line[:last+1], a.exp+1, a.neg)
}

// fromLine takes digits that start at the given exponent, with zeros at both ends.
func fromLine(line []int8, exp int, neg bool) (decimal, bool) {
	for len(line) > 0 && line[0] == 0 {
		line = line[1:]
		exp--
	}
	for len(line) > 0 && line[len(line)-1] == 0 {
		line = line[:len(line)-1]
	}
	if len(line) == 0 {
		return decimal{}, true
	}
	if len(line) > MaxDigits || exp > maxExp || exp < minExp {
		return decimal{}, false
	}
	d := decimal{neg: neg, exp: exp, n: len(line)}
	for i, digit := range line {
		d.digits[i] = byte(digit)
	}
	return d, true
}

// less compares magnitudes.
func (a *decimal) less(b *decimal) bool {
	if a.exp != b.exp {
		return a.exp < b.exp
	}
	return string(a.digits[:]) < string(b.digits[:])
}
