package fanout

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Kinds of key values, as they are written in cursors and orders.
const (
	kindText   = 'S'
	kindNumber = 'N'
	kindBinary = 'B'
)

// keyValue takes a key value apart. ok is false for what can be no key.
func keyValue(value types.AttributeValue) (kind byte, content string, ok bool) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if v != nil {
			return kindText, v.Value, true
		}
	case *types.AttributeValueMemberN:
		if v != nil {
			return kindNumber, v.Value, true
		}
	case *types.AttributeValueMemberB:
		if v != nil {
			return kindBinary, string(v.Value), true
		}
	}
	return 0, "", false
}

// makeKey undoes keyValue.
func makeKey(kind byte, content string) (types.AttributeValue, bool) {
	switch kind {
	case kindText:
		return &types.AttributeValueMemberS{Value: content}, true
	case kindNumber:
		return &types.AttributeValueMemberN{Value: content}, true
	case kindBinary:
		return &types.AttributeValueMemberB{Value: []byte(content)}, true
	}
	return nil, false
}

// appendKey appends a key value, so that no two lists of values give the same bytes.
func appendKey(to []byte, value types.AttributeValue) ([]byte, bool) {
	kind, content, ok := keyValue(value)
	if !ok {
		return to, false
	}
	return appendText(append(to, kind), content), true
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// sortBytes returns bytes that compare as DynamoDB sorts the values of a sort key.
func sortBytes(value types.AttributeValue) ([]byte, bool) {
	kind, content, ok := keyValue(value)
	if ok && kind == kindNumber {
		return numberBytes(content)
	}
	return []byte(content), ok
}

// maxExponent is beyond the exponents of any number that DynamoDB stores, however it is written.
const maxExponent = 1 << 10

// numberBytes returns bytes that compare as the decimal numbers they are made from: sign, exponent, digits. What is below
// zero is inverted and ends with a byte above all digits, so that the longer number is the smaller one.
func numberBytes(text string) ([]byte, bool) {
	unsigned := strings.TrimLeft(text, "+-")
	negative := strings.HasPrefix(text, "-")
	mantissa, exponentText, scientific := strings.Cut(strings.ToLower(unsigned), "e")
	exponent := 0
	if scientific {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || max(exponent, -exponent) > maxExponent {
			return nil, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(text)-len(unsigned) > 1 || len(digits) > maxExponent || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	// The number is 0.digits times ten to the exponent.
	exponent += len(whole)
	significant := strings.TrimLeft(digits, "0")
	exponent -= len(digits) - len(significant)
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return []byte{1}, true
	}
	coded := binary.BigEndian.AppendUint16([]byte{2}, uint16(exponent+4*maxExponent))
	coded = append(coded, significant...)
	if !negative {
		return coded, true
	}
	for i := range coded {
		coded[i] = ^coded[i]
	}
	coded[0] = 0
	return append(coded, 0xff), true
}
