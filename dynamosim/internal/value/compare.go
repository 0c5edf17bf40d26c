package value

import "strings"

// Equal reports DynamoDB's equality: type and content, set order ignored, numbers by value. It is the same as a == b.
func Equal(a, b Value) bool { return a == b }

// Compare orders two S (by UTF-8 bytes), two N (by value) or two B (by unsigned bytes): -1, 0 or +1. Values of other or
// of two different types have no order; ok is false.
func Compare(a, b Value) (order int, ok bool) {
	if a.kind != b.kind || !a.kind.Ordered() {
		return 0, false
	}
	return strings.Compare(a.data, b.data), true
}

// Ordered reports whether values of the type have an order, and so may be keys: S, N and B.
func (k Kind) Ordered() bool { return k == S || k == N || k == B }
