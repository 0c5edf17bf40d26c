package value

// Append returns the elements of one list and then those of another; ok is false for values that are not two lists.
func Append(head, tail Value) (list Value, ok bool) {
	if head.kind != L || tail.kind != L {
		return Value{}, false
	}
	first, second := newCursor(head.data), newCursor(tail.data)
	count := countOf(head.data) + countOf(tail.data)
	return Value{L, pack(count, []byte(first.rest+second.rest))}, true
}

// Depth returns how many levels the value has: 1 for a scalar, a set or an empty document.
func (v Value) Depth() int {
	inner := 0
	switch v.kind {
	case L:
		for c := newCursor(v.data); c.more(); {
			inner = max(inner, c.entry().Depth())
		}
	case M:
		for c := newCursor(v.data); c.more(); {
			c.text()
			inner = max(inner, c.entry().Depth())
		}
	}
	return 1 + inner
}
