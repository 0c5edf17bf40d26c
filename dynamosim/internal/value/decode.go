package value

// MaxDepth is how many levels of lists and maps a value may nest.
const MaxDepth = 32

// DecodeItem reads the wire JSON of an item, {"name":{"S":"text"},...}. The error is an *Error.
func DecodeItem(src []byte) (Item, error) { return Item{}, nil }

// DecodeValue reads the wire JSON of a value, {"S":"text"}. The error is an *Error.
func DecodeValue(src []byte) (Value, error) { return Value{}, nil }

// UnmarshalJSON implements json.Unmarshaler; null leaves the item as it is.
func (it *Item) UnmarshalJSON(src []byte) error { return nil }

// UnmarshalJSON implements json.Unmarshaler; null leaves the value as it is.
func (v *Value) UnmarshalJSON(src []byte) error { return nil }
