package value

import "encoding/binary"

// appendLength writes a count or a length.
func appendLength(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

// lengthBytes is how many bytes appendLength would write.
func lengthBytes(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

func appendEntry(dst []byte, v Value) []byte {
	dst = append(dst, byte(v.kind))
	dst = appendLength(dst, len(v.data))
	return append(dst, v.data...)
}

func appendText(dst []byte, text string) []byte {
	dst = appendLength(dst, len(text))
	return append(dst, text...)
}

func appendAttr(dst []byte, a Attr) []byte { return appendEntry(appendText(dst, a.Name), a.Value) }

// countOf reads the count that leads a packed map, list or set.
func countOf(data string) int {
	if data == "" {
		return 0
	}
	c := cursor{rest: data}
	return c.length()
}

// cursor reads packed data front to back. Packed data is only ever written by this package, so a cursor trusts it.
type cursor struct {
	rest string
}

// newCursor stands behind the count, before the first element.
func newCursor(data string) cursor {
	c := cursor{rest: data}
	if data != "" {
		c.length()
	}
	return c
}

func (c *cursor) more() bool { return c.rest != "" }

func (c *cursor) length() int {
	n, shift := 0, 0
	for i := 0; ; i++ {
		b := c.rest[i]
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			c.rest = c.rest[i+1:]
			return n
		}
		shift += 7
	}
}

func (c *cursor) take(n int) string {
	head := c.rest[:n]
	c.rest = c.rest[n:]
	return head
}

func (c *cursor) text() string { return c.take(c.length()) }

func (c *cursor) entry() Value {
	kind := Kind(c.rest[0])
	c.rest = c.rest[1:]
	return Value{kind, c.text()}
}

func (c *cursor) skipEntry() {
	c.rest = c.rest[1:]
	n := c.length()
	c.rest = c.rest[n:]
}
