package value

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FromSDK returns the item that an SDK client would send, checked as DecodeItem checks it.
func FromSDK(item map[string]types.AttributeValue) (Item, error) {
	v, err := fromSDK(&types.AttributeValueMemberM{Value: item})
	return v.Entries(), err
}

func fromSDK(av types.AttributeValue) (Value, error) {
	switch av := av.(type) {
	case *types.AttributeValueMemberS:
		return String(av.Value), nil
	case *types.AttributeValueMemberN:
		return Number(av.Value)
	case *types.AttributeValueMemberB:
		return Binary(av.Value), nil
	case *types.AttributeValueMemberBOOL:
		return Bool(av.Value), nil
	case *types.AttributeValueMemberNULL:
		return Null(), nil
	case *types.AttributeValueMemberSS:
		return StringSet(av.Value...)
	case *types.AttributeValueMemberNS:
		return NumberSet(av.Value...)
	case *types.AttributeValueMemberBS:
		return BinarySet(av.Value...)
	case *types.AttributeValueMemberL:
		elems := make([]Value, len(av.Value))
		for i, e := range av.Value {
			var err error
			if elems[i], err = fromSDK(e); err != nil {
				return Value{}, err
			}
		}
		return List(elems...), nil
	case *types.AttributeValueMemberM:
		entries := make([]Attr, 0, len(av.Value))
		for name, e := range av.Value {
			v, err := fromSDK(e)
			if err != nil {
				return Value{}, err
			}
			entries = append(entries, Attr{name, v})
		}
		return Map(entries...), nil
	default:
		return Value{}, fmt.Errorf("value: no attribute value: %T", av)
	}
}

// ToSDK returns the item as an SDK client would receive it.
func ToSDK(item Item) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, item.Len())
	for name, v := range item.All() {
		out[name] = toSDK(v)
	}
	return out
}

func toSDK(v Value) types.AttributeValue {
	switch v.kind {
	case S:
		return &types.AttributeValueMemberS{Value: v.data}
	case N:
		return &types.AttributeValueMemberN{Value: v.Text()}
	case B:
		return &types.AttributeValueMemberB{Value: []byte(v.data)}
	case BOOL:
		return &types.AttributeValueMemberBOOL{Value: v.IsTrue()}
	case SS:
		return &types.AttributeValueMemberSS{Value: v.rawElems()}
	case NS:
		texts := make([]string, 0, v.Len())
		for _, e := range v.Elems() {
			texts = append(texts, e.Text())
		}
		return &types.AttributeValueMemberNS{Value: texts}
	case BS:
		raw := make([][]byte, 0, v.Len())
		for _, e := range v.Elems() {
			raw = append(raw, []byte(e.data))
		}
		return &types.AttributeValueMemberBS{Value: raw}
	case L:
		elems := make([]types.AttributeValue, 0, v.Len())
		for _, e := range v.Elems() {
			elems = append(elems, toSDK(e))
		}
		return &types.AttributeValueMemberL{Value: elems}
	case M:
		return &types.AttributeValueMemberM{Value: ToSDK(v.Entries())}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}
