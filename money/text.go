package money

import "encoding/json"

// Text returns the value in major units with all decimal places of the currency: "19.99", "-0.05", "1.10", "1999".
// [Parse] reads it back.
func (a Amount) Text() string {
	var buf [maxTextBytes]byte
	return string(a.appendText(buf[:0]))
}

// String returns the value and the code: "19.99 USD". [Registry.Parse] reads it back. The zero Amount is "0".
func (a Amount) String() string {
	var buf [maxFullTextBytes]byte
	return string(a.appendFull(buf[:0]))
}

func (a Amount) appendFull(b []byte) []byte {
	b = a.appendText(b)
	if a.currency.code == "" {
		return b
	}
	b = append(b, ' ')
	return append(b, a.currency.code...)
}

func (a Amount) appendText(b []byte) []byte {
	begin := len(b)
	b = a.units.append(b)
	if b[begin] == '-' {
		begin++
	}
	scale := a.currency.Scale()
	if scale == 0 {
		return b
	}
	// At least one digit stands before the point, and scale digits behind it.
	const zeros = "0000000000000000000" // MaxScale + 1
	if missing := scale + 1 - (len(b) - begin); missing > 0 {
		b = append(b, zeros[:missing]...)
		copy(b[begin+missing:], b[begin:])
		copy(b[begin:], zeros[:missing])
	}
	point := len(b) - scale
	b = append(b, '.')
	copy(b[point+1:], b[point:])
	b[point] = '.'
	return b
}

// MarshalText implements [encoding.TextMarshaler] with the form of [Amount.String]. An amount without a currency is an
// [*UnknownCurrencyError].
func (a Amount) MarshalText() ([]byte, error) {
	if a.currency.code == "" {
		return nil, &UnknownCurrencyError{}
	}
	return a.appendFull(nil), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler] for currencies of ISO 4217; for others, use [Registry.Parse].
func (a *Amount) UnmarshalText(text []byte) error {
	if len(text) > maxFullTextBytes {
		text = text[:maxFullTextBytes+1] // Parse refuses it; do not copy a megabyte first
	}
	parsed, err := Registry{}.Parse(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// MarshalJSON implements [json.Marshaler]: a string, "19.99 USD", so that no reader's float comes near it.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.currency.code == "" {
		return nil, &UnknownCurrencyError{}
	}
	// Neither digits nor codes hold a character that JSON escapes.
	b := make([]byte, 0, maxTextBytes)
	b = append(b, '"')
	b = a.appendFull(b)
	return append(b, '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler] for currencies of ISO 4217; for others, decode a string and use
// [Registry.Parse]. Anything but a string is an [*EncodingError]: a number, because it may have passed through a float,
// and null, because a missing amount is not zero. A field that may be absent is a *Amount.
func (a *Amount) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return &EncodingError{Form: "JSON", Reason: `an amount is a string such as "19.99 USD", never a number or null`}
	}
	const longest = 6*maxFullTextBytes + 2 // every byte may be written as \u00XX
	if len(data) > longest {
		return &SyntaxError{Offset: maxFullTextBytes, Reason: "the text is too long for an amount"}
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return &EncodingError{Form: "JSON", Reason: "the string is malformed"}
	}
	parsed, err := Registry{}.Parse(text)
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
