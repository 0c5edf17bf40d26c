package value

// Key bytes of numbers, which are also how numbers are stored:
//
//	zero      80
//	positive  C1  exponent+129  pair+1 ...  00
//	negative  3E  then the complement of all that follows C1 in the positive number
//
// A pair is two decimal digits, 0..99; an odd last digit is padded with a zero. Since a pair byte is 1..100, the closing
// 00 (FF) makes a number sort right against every longer one that begins with the same digits.
const (
	keyZero     = 0x80
	keyPositive = 0xC1
	keyNegative = 0x3E

	numberKeyMax = 2 + MaxDigits/2 + 1
)

// AppendKey appends the key bytes of an S, N or B value; other types append nothing. Byte order is DynamoDB's order. Key
// bytes are self-delimiting, so the concatenated keys of two attributes sort as the pair does.
//
// In S and B a zero byte is written as 00 FF, and 00 01 closes the value.
func AppendKey(dst []byte, v Value) []byte {
	switch v.kind {
	case N:
		return append(dst, v.data...)
	case S, B:
		dst = AppendKeyPrefix(dst, v)
		return append(dst, 0x00, 0x01)
	default:
		return dst
	}
}

// AppendKeyPrefix appends what the key bytes of every S or B that begins with v begin with: the keys of all values with
// the prefix v are those that start with these bytes. Other types append nothing.
func AppendKeyPrefix(dst []byte, v Value) []byte {
	if v.kind != S && v.kind != B {
		return dst
	}
	for i := 0; i < len(v.data); i++ {
		dst = append(dst, v.data[i])
		if v.data[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return dst
}

func (d *decimal) appendKey(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, keyZero)
	}
	flip := byte(0)
	head := byte(keyPositive)
	if d.neg {
		flip, head = 0xFF, keyNegative
	}
	dst = append(dst, head, byte(d.exp-minExp)^flip)
	for i := 0; i < d.n; i += 2 {
		pair := d.digits[i] * 10
		if i+1 < d.n {
			pair += d.digits[i+1]
		}
		dst = append(dst, (pair+1)^flip)
	}
	return append(dst, flip)
}

// decodeNumberKey reads key bytes that appendKey wrote.
func decodeNumberKey(key string) decimal {
	var d decimal
	if len(key) < 2 {
		return d
	}
	flip := byte(0)
	if key[0] == keyNegative {
		d.neg, flip = true, 0xFF
	}
	d.exp = int(key[1]^flip) + minExp
	for _, b := range []byte(key[2 : len(key)-1]) {
		pair := (b ^ flip) - 1
		d.digits[d.n], d.digits[d.n+1] = pair/10, pair%10
		d.n += 2
	}
	if d.digits[d.n-1] == 0 {
		d.n--
	}
	return d
}
