package engine

import (
	"strconv"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// writer appends JSON. Items are stored packed and written straight into the answer, without a tree of maps between.
type writer struct {
	buf []byte
}

func newWriter() *writer { return &writer{buf: make([]byte, 0, 512)} }

func (w *writer) bytes() []byte { return w.buf }

// comma separates what comes from what went before.
func (w *writer) comma() {
	if n := len(w.buf); n > 0 {
		switch w.buf[n-1] {
		case '{', '[', ':':
		default:
			w.buf = append(w.buf, ',')
		}
	}
}

func (w *writer) key(name string) {
	w.comma()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// open starts an object, as an element of a list or behind a key.
func (w *writer) open() {
	w.comma()
	w.buf = append(w.buf, '{')
}

func (w *writer) close() { w.buf = append(w.buf, '}') }

func (w *writer) openList(name string) {
	w.key(name)
	w.buf = append(w.buf, '[')
}

func (w *writer) closeList() { w.buf = append(w.buf, ']') }

func (w *writer) text(name, text string) {
	w.key(name)
	w.buf = value.AppendJSONString(w.buf, text)
}

// userKey is a key that is not this package's own word and may need escaping.
func (w *writer) userKey(name string) {
	w.comma()
	w.buf = value.AppendJSONString(w.buf, name)
	w.buf = append(w.buf, ':')
}

func (w *writer) number(name string, n int) {
	w.key(name)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// integer appends a number to an open list.
func (w *writer) integer(n int) {
	w.comma()
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

func (w *writer) units(name string, u capacity.Units) {
	w.key(name)
	w.buf = append(w.buf, u.String()...)
}

func (w *writer) item(name string, it value.Item) {
	w.key(name)
	w.buf = it.AppendJSON(w.buf)
}

// element appends an item to an open list.
func (w *writer) element(it value.Item) {
	w.comma()
	w.buf = it.AppendJSON(w.buf)
}

func (w *writer) raw(name string, json []byte) {
	w.key(name)
	w.buf = append(w.buf, json...)
}

func (w *writer) boolean(name string, b bool) {
	w.key(name)
	w.buf = strconv.AppendBool(w.buf, b)
}
