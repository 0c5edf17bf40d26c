package value

// Number returns the N value of a decimal text such as "0042", "+5", "1.200" or "1E2".
func Number(text string) (Value, error) { return Value{}, nil }

// Int returns an N value.
func Int(n int64) Value { return Value{} }

// ParseNumber returns the canonical text of a decimal text: no exponent, no leading or trailing zeros, no plus sign.
func ParseNumber(text string) (string, error) { return "", nil }

// Add returns a + b of two N values, exactly, or an error if the result is out of range.
func Add(a, b Value) (Value, error) { return Value{}, nil }

// Sub returns a - b of two N values, exactly, or an error if the result is out of range.
func Sub(a, b Value) (Value, error) { return Value{}, nil }
