package value

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An item's memory is its packed bytes and one string header, so this bounds it by what DynamoDB would charge. A set of one
// empty string, which DynamoDB charges nothing for, is the only value that the bound does not cover.
func TestPackedItemTakesAtMostThreeTimesItsSize(t *testing.T) {
	t.Parallel()
	const count = 3 // bytes of the item's own count
	smallest := []Value{
		Null(), Bool(true), Bool(false), Int(0), Int(1), Int(-1), Int(12), String(""), String("x"), List(), Map(), List(Null()), List(Int(1)),
		Map(Attr{"a", Int(1)}), SetOf(Int(0)), SetOf(Int(7)), SetOf(String("x")), String(strings.Repeat("x", 130)),
	}
	rapid.Check(t, func(t *rapid.T) {
		attrs := make([]Attr, rapid.IntRange(0, 300).Draw(t, "attributes"))
		for i := range attrs {
			attrs[i] = Attr{rapid.StringMatching(`[a-z]{1,2}`).Draw(t, "name"), rapid.SampledFrom(smallest).Draw(t, "value")}
		}
		item := NewItem(attrs...)
		if got, size := len(item.data), item.Size(); got > 3*size+count {
			t.Fatalf("an item of size %d takes %d bytes", size, got)
		}
	})
}
