package export

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item as the AWS SDK has it.
type Item = map[string]types.AttributeValue

// Record is one item of a full export or of a Scan, or what became of one item in the window of an incremental export.
type Record struct {
	// New is the item: as it was at the export's time, or at the end of the window. Nil if it was deleted in the window.
	New Item
	// Old is the item as it was at the beginning of an incremental export's window; nil if it was not there then, and always
	// in an export that has only new images.
	Old Item
	// Keys are the key attributes, in an incremental export only.
	Keys Item
	// WrittenAt is when the item was last written, by DynamoDB's own clock; in an incremental export only.
	WrittenAt time.Time
	// At is where the record was read.
	At Position
}

// Deleted says that the item was deleted in the window of an incremental export.
func (r Record) Deleted() bool { return r.New == nil }

// record reads one line of the data.
func (d *decoder) record(line []byte, m *Manifest) (Record, bool) {
	d.begin(line)
	if len(line) == 0 {
		return Record{}, d.fail(blankLine)
	}
	var r Record
	var has [4]bool // Item, Keys, OldImage and NewImage or Metadata, by their place below
	if !d.open('{') {
		return Record{}, false
	}
	metadata := false
	for first := true; d.next('}', first); first = false {
		name, ok := d.name()
		if !ok {
			return Record{}, false
		}
		target, place := (*Item)(nil), 0
		switch {
		case m.Type == Full && name == "Item":
			target, place = &r.New, 0
		case m.Type == Incremental && name == "Keys":
			target, place = &r.Keys, 1
		case m.Type == Incremental && name == "OldImage" && m.View == NewAndOldImages:
			target, place = &r.Old, 2
		case m.Type == Incremental && name == "NewImage":
			target, place = &r.New, 3
		case m.Type == Incremental && name == "Metadata" && !metadata:
			if metadata = true; !d.metadata(&r) {
				return Record{}, false
			}
			continue
		case name == "Metadata" && metadata:
			return Record{}, d.fail(repeated)
		default:
			return Record{}, d.fail(wrongMember)
		}
		if has[place] {
			return Record{}, d.fail(repeated)
		}
		has[place] = true
		before := d.pos
		if *target, ok = d.item(); !ok {
			return Record{}, false
		}
		if d.emptySince(before) {
			return Record{}, d.fail(emptyItem)
		}
	}
	complete := has[0]
	if m.Type == Incremental { // only a deletion has no image, and only where old ones are not asked for
		complete = metadata && has[1] && (has[2] || has[3] || m.View == NewImage)
	}
	if d.reason == "" && !complete {
		return Record{}, d.fail(lacksMember)
	}
	return r, d.end()
}

// emptySince says whether an object that began behind a position has nothing in it: there is a name in every other one.
func (d *decoder) emptySince(position int) bool {
	for _, c := range d.src[position:d.pos] {
		if c == '"' {
			return false
		}
	}
	return true
}

// metadata reads the time of the last write: a number as DynamoDB's own JSON has it, as some documents print it.
// Other members may come one day; nothing here needs them.
func (d *decoder) metadata(r *Record) bool {
	if !d.open('{') {
		return false
	}
	found := false
	for first := true; d.next('}', first); first = false {
		name, ok := d.name()
		if !ok {
			return false
		}
		if name != "WriteTimestampMicros" {
			if !d.skip(0) {
				return false
			}
			continue
		}
		if found {
			return d.fail(repeated)
		}
		if found = true; !d.micros(r) {
			return false
		}
	}
	return d.reason == "" && (found || d.fail(lacksMember))
}

func (d *decoder) micros(r *Record) bool {
	wrapped := d.peek() == '{'
	if wrapped {
		d.pos++
		t, ok := d.str()
		if !ok || string(d.bytes(t)) != "N" {
			return d.fail(badTimestamp)
		}
		if !d.colon() {
			return false
		}
	}
	var t token
	if d.peek() == '"' {
		var ok bool
		if t, ok = d.str(); !ok {
			return false
		}
	} else {
		t = d.integer()
	}
	text := d.bytes(t)
	micros, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || micros < 0 || text[0] == '+' {
		return d.fail(badTimestamp)
	}
	if wrapped {
		if d.peek() != '}' {
			return d.fail(badTimestamp)
		}
		d.pos++
	}
	r.WrittenAt = time.UnixMicro(micros).UTC()
	return true
}

// skip reads any JSON value and drops it.
func (d *decoder) skip(depth int) bool {
	if depth > 2*MaxDepth {
		return d.fail(tooDeep)
	}
	switch c := d.peek(); c {
	case '{', '[':
		d.pos++
		closing := c + 2 // '}' and ']' are two after their openings
		for first := true; d.next(closing, first); first = false {
			if c == '{' {
				if _, ok := d.str(); !ok || !d.colon() {
					return false
				}
			}
			if !d.skip(depth + 1) {
				return false
			}
		}
		return d.reason == ""
	case '"':
		_, ok := d.str()
		return ok
	default:
		return d.skipScalar()
	}
}

// skipScalar reads true, false, null or a number. It does not look closely at a number, because nobody will.
func (d *decoder) skipScalar() bool {
	if d.literal("true") || d.literal("false") || d.literal("null") {
		return true
	}
	start := d.pos
	for d.pos < len(d.src) {
		c := d.src[d.pos]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		d.pos++
	}
	if d.pos == start {
		return d.fail(notJSON)
	}
	return true
}
