package export

import (
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// MaxDepth is how many levels a value may have: a scalar attribute is level 1, an element of a list attribute level 2.
const MaxDepth = 32

// decoder reads the lines of one file. A line that is built shares one copy of its text, and names that come again and
// again are kept once; so an item is little more work for the collector than it has values. One that is only checked
// allocates nothing.
type decoder struct {
	scanner
	build bool
	text  string // the line, if it is built
	names map[string]string
	seen  []map[string]bool // names of the objects around, if the line is only checked
	size  int               // attributes of the last item

	// Texts and numbers of one item stand side by side, as many as the item before had.
	texts                []types.AttributeValueMemberS
	numbers              []types.AttributeValueMemberN
	textSize, numberSize int
}

const (
	maxNames   = 4096 // kept of a file
	maxKept    = 255  // bytes of a name that is kept
	sizeOfLots = 64   // attributes for which room is made at once
)

func newDecoder(build bool) *decoder { return &decoder{build: build, names: map[string]string{}} }

// begin takes up a line.
func (d *decoder) begin(line []byte) {
	d.src, d.pos, d.reason = line, 0, ""
	if d.build {
		d.text = string(line)
	}
}

// end says whether nothing follows.
func (d *decoder) end() bool {
	if d.peek(); d.pos < len(d.src) {
		return d.fail(trailing)
	}
	return d.reason == ""
}

// string returns a token as text, if the line is built.
func (d *decoder) string(t token) string {
	switch {
	case !d.build:
		return ""
	case t.escaped:
		return string(d.scratch[:t.end])
	default:
		return d.text[t.start:t.end]
	}
}

// name reads a member's name and its colon.
func (d *decoder) name() (string, bool) {
	t, ok := d.str()
	if !ok {
		return "", false
	}
	text := d.bytes(t)
	name, known := d.names[string(text)]
	if !known {
		name = string(text)
		if len(d.names) < maxNames && len(name) <= maxKept {
			d.names[name] = name
		}
	}
	return name, d.colon()
}

// item reads {"name":{value},...}.
func (d *decoder) item() (map[string]types.AttributeValue, bool) {
	if !d.build {
		_, ok := d.object(1, 0)
		return nil, ok
	}
	d.texts = make([]types.AttributeValueMemberS, 0, min(d.textSize, sizeOfLots))
	d.numbers = make([]types.AttributeValueMemberN, 0, min(d.numberSize, sizeOfLots))
	d.textSize, d.numberSize = 0, 0
	item, ok := d.object(1, min(d.size, sizeOfLots))
	d.size = len(item)
	return item, ok
}

func (d *decoder) newText(text string) *types.AttributeValueMemberS {
	if d.textSize++; len(d.texts) == cap(d.texts) {
		return &types.AttributeValueMemberS{Value: text}
	}
	d.texts = append(d.texts, types.AttributeValueMemberS{Value: text})
	return &d.texts[len(d.texts)-1]
}

func (d *decoder) newNumber(text string) *types.AttributeValueMemberN {
	if d.numberSize++; len(d.numbers) == cap(d.numbers) {
		return &types.AttributeValueMemberN{Value: text}
	}
	d.numbers = append(d.numbers, types.AttributeValueMemberN{Value: text})
	return &d.numbers[len(d.numbers)-1]
}

// object reads a map whose values are at a level.
func (d *decoder) object(level, size int) (map[string]types.AttributeValue, bool) {
	if !d.open('{') {
		return nil, false
	}
	var m map[string]types.AttributeValue
	var seen map[string]bool
	if d.build {
		m = make(map[string]types.AttributeValue, size)
	} else {
		seen = d.seenAt(level)
	}
	n := 0
	for first := true; d.next('}', first); first = false {
		name, ok := d.name()
		if !ok {
			return nil, false
		}
		if name == "" {
			return nil, d.fail(emptyName)
		}
		value, ok := d.value(level)
		if !ok {
			return nil, false
		}
		n++
		if d.build {
			m[name] = value
		} else {
			seen[name] = true
		}
		if len(m)+len(seen) < n {
			return nil, d.fail(repeated)
		}
	}
	return m, d.reason == ""
}

// seenAt returns an empty set for the names of an object.
func (d *decoder) seenAt(level int) map[string]bool {
	for len(d.seen) <= level {
		d.seen = append(d.seen, map[string]bool{})
	}
	clear(d.seen[level])
	return d.seen[level]
}

// value reads {"S":"text"}: exactly one member of a known type.
func (d *decoder) value(level int) (types.AttributeValue, bool) {
	if level > MaxDepth {
		return nil, d.fail(tooDeep)
	}
	if !d.open('{') {
		return nil, false
	}
	t, ok := token{}, d.peek() == '"'
	if !ok {
		return nil, d.fail(notOneMember)
	}
	if t, ok = d.str(); !ok {
		return nil, false
	}
	kind := kindOf(d.bytes(t))
	if !d.colon() {
		return nil, false
	}
	value, ok := d.payload(kind, level)
	if !ok {
		return nil, false
	}
	if d.peek() != '}' {
		return nil, d.fail(notOneMember)
	}
	d.pos++
	return value, true
}

type kind byte

const (
	kindUnknown kind = iota
	kindS
	kindN
	kindB
	kindBool
	kindNull
	kindL
	kindM
	kindSS
	kindNS
	kindBS
)

func kindOf(name []byte) kind {
	switch string(name) {
	case "S":
		return kindS
	case "N":
		return kindN
	case "B":
		return kindB
	case "BOOL":
		return kindBool
	case "NULL":
		return kindNull
	case "L":
		return kindL
	case "M":
		return kindM
	case "SS":
		return kindSS
	case "NS":
		return kindNS
	case "BS":
		return kindBS
	}
	return kindUnknown
}

// payload reads what follows the colon of a type.
func (d *decoder) payload(kind kind, level int) (types.AttributeValue, bool) {
	switch kind {
	case kindS, kindN, kindB:
		return d.scalar(kind)
	case kindBool:
		isTrue, ok := d.boolean()
		if !ok || !d.build {
			return nil, ok
		}
		return &types.AttributeValueMemberBOOL{Value: isTrue}, true
	case kindNull:
		isTrue, ok := d.boolean()
		if ok && !isTrue {
			return nil, d.fail(badNull)
		}
		if !ok || !d.build {
			return nil, ok
		}
		return &types.AttributeValueMemberNULL{Value: true}, true
	case kindM:
		m, ok := d.object(level+1, 0)
		if !ok || !d.build {
			return nil, ok
		}
		return &types.AttributeValueMemberM{Value: m}, true
	case kindL:
		return d.list(level)
	case kindSS, kindNS, kindBS:
		return d.set(kind)
	}
	return nil, d.fail(unknownType)
}

func (d *decoder) scalar(kind kind) (types.AttributeValue, bool) {
	t, ok := d.str()
	if !ok {
		return nil, false
	}
	switch kind {
	case kindN:
		if !isNumber(d.bytes(t)) {
			return nil, d.fail(badNumber)
		}
		if d.build {
			return d.newNumber(d.string(t)), true
		}
	case kindB:
		bytes, ok := d.binary(t)
		if !ok {
			return nil, false
		}
		if d.build {
			return &types.AttributeValueMemberB{Value: bytes}, true
		}
	default:
		if d.build {
			return d.newText(d.string(t)), true
		}
	}
	return nil, true
}

// isNumber looks at a number that is almost always short and plain before it asks the rule.
func isNumber(text []byte) bool {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 0 && len(digits) <= 38 {
		whole := true
		for _, c := range digits {
			whole = whole && c >= '0' && c <= '9'
		}
		if whole {
			return true
		}
	}
	return capacity.IsNumber(string(text))
}

var base64Strict = base64.StdEncoding.Strict()

// binary decodes standard, padded base64 without line breaks.
func (d *decoder) binary(t token) ([]byte, bool) {
	text := d.bytes(t)
	for _, c := range text {
		if c == '\n' || c == '\r' { // the decoder would skip them
			return nil, d.fail(badBase64)
		}
	}
	bytes := make([]byte, base64Strict.DecodedLen(len(text)))
	n, err := base64Strict.Decode(bytes, text)
	if err != nil {
		return nil, d.fail(badBase64)
	}
	return bytes[:n], true
}

// list reads [{value},...].
func (d *decoder) list(level int) (types.AttributeValue, bool) {
	if !d.open('[') {
		return nil, false
	}
	var all []types.AttributeValue
	if d.build {
		all = []types.AttributeValue{} // an empty list is one, too
	}
	for first := true; d.next(']', first); first = false {
		value, ok := d.value(level + 1)
		if !ok {
			return nil, false
		}
		if d.build {
			all = append(all, value)
		}
	}
	if d.reason != "" || !d.build {
		return nil, d.reason == ""
	}
	return &types.AttributeValueMemberL{Value: all}, true
}

// set reads ["element",...]. Elements are compared as they are written; DynamoDB writes a number in one way.
func (d *decoder) set(kind kind) (types.AttributeValue, bool) {
	if !d.open('[') {
		return nil, false
	}
	var texts []string
	var blobs [][]byte
	known := map[string]bool{}
	for first := true; d.next(']', first); first = false {
		t, ok := d.str()
		if !ok {
			return nil, false
		}
		text := string(d.bytes(t))
		if known[text] {
			return nil, d.fail(badSet)
		}
		known[text] = true
		switch kind {
		case kindNS:
			if !isNumber(d.bytes(t)) {
				return nil, d.fail(badNumber)
			}
		case kindBS:
			bytes, ok := d.binary(t)
			if !ok {
				return nil, false
			}
			blobs = append(blobs, bytes)
		}
		texts = append(texts, text)
	}
	switch {
	case d.reason != "":
		return nil, false
	case len(texts) == 0:
		return nil, d.fail(emptySet)
	case !d.build:
		return nil, true
	case kind == kindSS:
		return &types.AttributeValueMemberSS{Value: texts}, true
	case kind == kindNS:
		return &types.AttributeValueMemberNS{Value: texts}, true
	}
	return &types.AttributeValueMemberBS{Value: blobs}, true
}
