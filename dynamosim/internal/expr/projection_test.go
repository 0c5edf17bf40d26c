package expr_test

import (
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Each line: a projection of the stored item, => and what it leaves.
func TestProjections(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		n => {"n":{"N":"1"}}
		s, n => {"n":{"N":"1"},"s":{"S":"hello"}}
		absent => {}
		n, absent.x, s[0], l.x => {"n":{"N":"1"}}
		#status => {"status":{"S":"OPEN"}}
		#dot => {"a.b":{"S":"dotted"}}
		m.x => {"m":{"M":{"x":{"N":"1"}}}}
		m.y.k, m.x => {"m":{"M":{"x":{"N":"1"},"y":{"M":{"k":{"S":"v"}}}}}}
		m.y.nope => {}
		l[1], l[0] => {"l":{"L":[{"N":"1"},{"S":"x"}]}}
		l[2][0], l[7] => {"l":{"L":[{"L":[{"S":"deep"}]}]}}
		l[2][3] => {}
		_none => {}
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		projection, err := expr.ParseProjection(src, expr.NewSubs(names, value.Item{}))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := string(projection.Apply(item(t, stored)).AppendJSON(nil)); got != want {
			t.Errorf("%s leaves %s, want %s", src, got, want)
		}
	}
}

// Each line: a projection, => and why it is refused.
func TestProjectionRefusals(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		!!! => Syntax error; token: "!", near: "!!"
		a b => Syntax error; token: "b", near: "a b"
		a, => Syntax error; token: "<EOF>", near: ","
		a.[0] => Syntax error; token: "[", near: ".[0"
		(a) => Syntax error; token: "(", near: "(a"
		a, :one => Syntax error; token: ":one", near: ", :one"
		a.b, a => Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]
		#n, n => Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [n], path two: [n]
		a.b, a[0] => Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]
		#x => An expression attribute name used in the document path is not defined; attribute name: #x
		#x, Size => Attribute name is a reserved keyword; reserved keyword: Size
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		_, err := expr.ParseProjection(src, expr.NewSubs(names, value.Item{}))
		if err == nil || err.Error() != "Invalid ProjectionExpression: "+want {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

func FuzzProjection(f *testing.F) {
	for _, seed := range []string{"n, s", "m.y.k, l[2][0], #dot", "a.b, a", "l[0], l[1], l[99999999999]", "#n.#s[1]", "((a))"} {
		f.Add(seed)
	}
	it := item(f, stored)
	f.Fuzz(func(t *testing.T, src string) {
		projection, err := expr.ParseProjection(src, expr.NewSubs(names, value.Item{}))
		if err != nil {
			return
		}
		part := projection.Apply(it)
		if part.Size() > it.Size() {
			t.Errorf("%q makes %d bytes of %d", src, part.Size(), it.Size())
		}
		for name := range part.All() {
			if !it.Has(name) {
				t.Errorf("%q invents %q", src, name)
			}
		}
	})
}
