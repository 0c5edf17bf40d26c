package idempotency_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/idempotency"
)

// node is a JSON document that can be spelt in many ways.
type node struct {
	text     *string // a string, else
	word     string  // a number or a literal, else
	elements []node  // an array, or
	keys     []string
	object   bool
}

func drawNode(t *rapid.T, depth int) node {
	kinds := 3
	if depth > 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		text := rapid.String().Draw(t, "text")
		return node{text: &text}
	case 1:
		return node{word: rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")}
	case 2:
		return node{word: fmt.Sprintf("%d%s", rapid.Int64().Draw(t, "number"),
			rapid.SampledFrom([]string{"", "e-3", "e7", "e-20"}).Draw(t, "exponent"))}
	}
	n := node{object: rapid.Bool().Draw(t, "object")}
	if n.object {
		n.keys = rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).Draw(t, "keys")
		for range n.keys {
			n.elements = append(n.elements, drawNode(t, depth-1))
		}
		return n
	}
	for range rapid.IntRange(0, 4).Draw(t, "length") {
		n.elements = append(n.elements, drawNode(t, depth-1))
	}
	return n
}

// spell writes the document with white space, escapes, key order and number forms of its own.
func spell(t *rapid.T, out *strings.Builder, n node) {
	space := func() { out.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n"}).Draw(t, "space")) }
	space()
	defer space()
	switch {
	case n.text != nil:
		spellText(t, out, *n.text)
	case n.word != "":
		out.WriteString(spellNumber(t, n.word))
	default:
		brackets := "[]"
		order := make([]int, len(n.elements))
		for i := range order {
			order[i] = i
		}
		if n.object {
			brackets = "{}"
			order = rapid.Permutation(order).Draw(t, "order")
		}
		out.WriteByte(brackets[0])
		space()
		for at, i := range order {
			if at > 0 {
				out.WriteByte(',')
			}
			if n.object {
				space()
				spellText(t, out, n.keys[i])
				space()
				out.WriteByte(':')
			}
			spell(t, out, n.elements[i])
		}
		out.WriteByte(brackets[1])
	}
}

func spellText(t *rapid.T, out *strings.Builder, text string) {
	if rapid.Bool().Draw(t, "plain") {
		plain, _ := json.Marshal(text)
		out.Write(plain)
		return
	}
	out.WriteByte('"')
	for _, r := range text {
		if r > 0xffff {
			fmt.Fprintf(out, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		} else {
			fmt.Fprintf(out, `\u%04x`, r)
		}
	}
	out.WriteByte('"')
}

// spellNumber writes the same value in another form; literals stay.
func spellNumber(t *rapid.T, word string) string {
	mantissa, exponent, _ := strings.Cut(word, "e")
	if strings.ContainsAny(word, "ul") || rapid.Bool().Draw(t, "same number") {
		return word
	}
	e, _ := strconv.Atoi("0" + strings.TrimPrefix(exponent, "-"))
	if strings.HasPrefix(exponent, "-") {
		e = -e
	}
	zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
	sign := rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e")
	return mantissa + "." + strings.Repeat("0", zeros) + "0" + sign + strconv.Itoa(e)
}

func drawSpelling(t *rapid.T, n node) []byte {
	var out strings.Builder
	spell(t, &out, n)
	return []byte(out.String())
}

func TestPropertySpellingNeverChangesTheFingerprint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		document := drawNode(t, 3)
		one, two := drawSpelling(t, document), drawSpelling(t, document)
		a, errA := request(idempotency.JSON(one)).Fingerprint()
		b, errB := request(idempotency.JSON(two)).Fingerprint()
		if errA != nil || errB != nil || a != b {
			t.Fatalf("%s gives %v, %v\n%s gives %v, %v", one, a, errA, two, b, errB)
		}
	})
}

// scalars returns every scalar of the document.
func scalars(n *node) []*node {
	if n.text != nil || n.word != "" {
		return []*node{n}
	}
	var all []*node
	for i := range n.elements {
		all = append(all, scalars(&n.elements[i])...)
	}
	return all
}

func TestPropertyChangingAnyScalarChangesTheFingerprint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		document := drawNode(t, 3)
		before := drawSpelling(t, document)
		all := scalars(&document)
		if len(all) == 0 {
			return
		}
		changed := rapid.SampledFrom(all).Draw(t, "scalar")
		switch {
		case changed.text != nil:
			other := *changed.text + rapid.SampledFrom([]string{" ", "\x00", "a", "é"}).Draw(t, "suffix")
			changed.text = &other
		case strings.ContainsAny(changed.word, "ul"):
			changed.word = "0"
		default:
			changed.word = rapid.SampledFrom([]string{"true", "null", "123456789012345678901234567890"}).Draw(t, "other")
		}
		after := drawSpelling(t, document)
		if fingerprintOf(t, before) == fingerprintOf(t, after) {
			t.Fatalf("%s and %s have one fingerprint", before, after)
		}
	})
}

func TestPropertyNeighbouringIntegersStayDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1<<53, 1<<63).Draw(t, "n")
		if fingerprintOf(t, strconv.AppendUint(nil, n, 10)) == fingerprintOf(t, strconv.AppendUint(nil, n+1, 10)) {
			t.Fatalf("%d and its successor have one fingerprint", n)
		}
	})
}

func fingerprintOf(t *rapid.T, document []byte) idempotency.Fingerprint {
	f, err := request(idempotency.JSON(document)).Fingerprint()
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return f
}

// TestPropertyFieldSplitsNeverCollide cuts one text into names and values at two sets of places.
func TestPropertyFieldSplitsNeverCollide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab]{4,12}`).Draw(t, "text")
		draw := func(label string) (parts []string) {
			rest := text
			for rest != "" {
				n := rapid.IntRange(1, len(rest)).Draw(t, label)
				parts, rest = append(parts, rest[:n]), rest[n:]
			}
			return parts
		}
		build := func(parts []string) idempotency.Request {
			r := request(idempotency.NewFields())
			r.Tenant = parts[0]
			for i, value := range parts[1:] {
				r.Command.String(fmt.Sprintf("f%02d", i), value)
			}
			return r
		}
		one, two := draw("one"), draw("two")
		a, errA := build(one).Fingerprint()
		b, errB := build(two).Fingerprint()
		same := strings.Join(one, "|") == strings.Join(two, "|")
		if errA != nil || errB != nil || (a == b) != same {
			t.Fatalf("%q and %q: equal %v (%v, %v)", one, two, a == b, errA, errB)
		}
	})
}

func TestPropertyCanonicalJSONIsAFixedPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		document := drawSpelling(t, drawNode(t, 3))
		once, err := idempotency.CanonicalJSON(document)
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		if twice, err := idempotency.CanonicalJSON(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s gives %s and then %s, %v", document, once, twice, err)
		}
	})
}
