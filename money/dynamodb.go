package money

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attribute names of a stored amount. They are a public format.
const (
	attrAmount   = "a" // N, major units
	attrCurrency = "c" // S, code
	attrScale    = "s" // N, decimal places at the time of writing
)

// Encode returns the stored form, a map of a (the value, a Number in major units), c (the code) and s (the scale). The
// scale travels with the value, because DynamoDB trims zeros and because tables of scales change.
// The error, for an amount without a currency, is an [*UnknownCurrencyError].
func (a Amount) Encode() (*types.AttributeValueMemberM, error) {
	if a.currency.code == "" {
		return nil, &UnknownCurrencyError{}
	}
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		attrAmount:   a.Number(),
		attrCurrency: &types.AttributeValueMemberS{Value: a.currency.code},
		attrScale:    &types.AttributeValueMemberN{Value: strconv.Itoa(a.currency.Scale())},
	}}, nil
}

// Decode reads the stored form with its own scale, whatever the tables say today: an amount stored at another scale is
// returned as it was stored, and mixing it with today's is a [*MismatchError] until it is rescaled. Withdrawn currencies
// are read; the kind comes from the registry.
//
// Errors are [*EncodingError] for a wrong shape, and those of [Registry.Parse].
func (r Registry) Decode(av types.AttributeValue) (Amount, error) {
	m, ok := av.(*types.AttributeValueMemberM)
	if !ok || m == nil {
		return Amount{}, malformed("an amount is a map of a, c and s")
	}
	number, isNumber := m.Value[attrAmount].(*types.AttributeValueMemberN)
	code, isString := m.Value[attrCurrency].(*types.AttributeValueMemberS)
	places, isScale := m.Value[attrScale].(*types.AttributeValueMemberN)
	if !isNumber || !isString || !isScale || len(m.Value) != 3 {
		return Amount{}, malformed("an amount has exactly a (N), c (S) and s (N)")
	}
	if number == nil || code == nil || places == nil {
		return Amount{}, malformed("a, c or s is nil")
	}
	c, _, known := r.find(code.Value)
	if !known {
		return Amount{}, &UnknownCurrencyError{Code: code.Value}
	}
	scale, err := strconv.ParseUint(places.Value, 10, 8)
	if err != nil || scale > MaxScale {
		return Amount{}, malformed("s is not a whole number from 0 to 18")
	}
	c.scale = uint8(scale)
	return Parse(number.Value, c)
}

// Number returns the value alone as a Number in major units, for attributes that expressions add to and compare. The
// record must then hold currency and scale elsewhere, once; [FromNumber] needs them.
func (a Amount) Number() *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: a.Text()}
}

// FromNumber reads what [Amount.Number] wrote. Errors are [*EncodingError] and those of [Parse].
func FromNumber(av types.AttributeValue, c Currency) (Amount, error) {
	n, ok := av.(*types.AttributeValueMemberN)
	if !ok || n == nil {
		return Amount{}, malformed("the value is not a Number")
	}
	return Parse(n.Value, c)
}

// MarshalDynamoDBAttributeValue makes an Amount field work with the SDK's attributevalue package. See [Amount.Encode].
func (a Amount) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	m, err := a.Encode()
	if err != nil {
		return nil, err // not m: a nil pointer in an interface is not nil
	}
	return m, nil
}

// UnmarshalDynamoDBAttributeValue makes an Amount field work with the SDK's attributevalue package, for currencies of
// ISO 4217. Amounts in registered currencies are read with [Registry.Decode].
func (a *Amount) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	decoded, err := Registry{}.Decode(av)
	if err != nil {
		return err
	}
	*a = decoded
	return nil
}

func malformed(reason string) error { return &EncodingError{Form: "DynamoDB", Reason: reason} }
