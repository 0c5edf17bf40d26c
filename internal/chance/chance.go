// Package chance keeps a property honest about what it has seen. A property over random histories proves nothing about
// what no history had, so its test names what must have happened and counts it:
//
//	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
//		...
//		seen["duplicate"]++
//	}, "duplicate", "mismatch")
//
// Only tests import this package.
package chance

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// rounds is how often Check runs the property at most. What one history in fifty has is missing from a hundred of them
// now and then, and from two thousand never.
const rounds = 20

// Seen counts what happened over all histories. Histories run one after the other; goroutines within one must not share it.
type Seen map[string]int

// Names are the names of values that a property draws from, to be wanted each.
func Names[T fmt.Stringer](values []T) (names []string) {
	for _, value := range values {
		names = append(names, value.String())
	}
	return names
}

// Check checks a property, and then that each of the wanted things happened in at least one history. It runs more
// histories before it says that one never did.
func Check(t rapid.TB, property func(rt *rapid.T, seen Seen), wanted ...string) {
	t.Helper()
	seen := Seen{}
	missing := slices.Clone(wanted)
	for round := 0; round == 0 || round < rounds && len(missing) > 0; round++ {
		rapid.Check(t, func(rt *rapid.T) { property(rt, seen) })
		missing = slices.DeleteFunc(missing, func(what string) bool { return seen[what] > 0 })
	}
	if len(missing) > 0 {
		t.Errorf("no history had: %s", strings.Join(missing, "; "))
	}
}
