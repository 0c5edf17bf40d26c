package export

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

var full = &Manifest{Type: Full}

func decodeItem(line string) (Item, string) {
	d := newDecoder(true)
	r, ok := d.record([]byte(line), full)
	if !ok {
		return nil, d.reason
	}
	return r.New, ""
}

func TestAValueOfEachTypeIsReadExactly(t *testing.T) {
	t.Parallel()
	item, reason := decodeItem(` { "Item" : {"s":{"S":"a\u00e9\ud83d\ude00\n\"\\\/\b\f\r\t"},"n":{"N":"-12345678901234567890123456789012345678"},"e":{"N":"1E-130"},` +
		`"b":{"B":"AP8="},"t":{"BOOL":true},"f":{"BOOL":false},"z":{"NULL":true},"ss":{"SS":["x","y"]},"ns":{"NS":["1","2.50"]},"bs":{"BS":["","AA=="]},` +
		`"l":{"L":[{"S":""},{"L":[]},{"M":{}}]},"m":{"M":{"deep":{"M":{"n":{"N":"0.1"}}}}}}}` + "\r")
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	n := func(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
	m := func(m map[string]types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: m}
	}
	want := Item{
		"s": s("aé😀\n\"\\/\b\f\r\t"), "n": n("-12345678901234567890123456789012345678"), "e": n("1E-130"),
		"b": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "t": &types.AttributeValueMemberBOOL{Value: true},
		"f": &types.AttributeValueMemberBOOL{}, "z": &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"x", "y"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1", "2.50"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{}, {0}}},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{s(""), &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			m(Item{})}},
		"m": m(Item{"deep": m(Item{"n": n("0.1")})}),
	}
	if reason != "" || !reflect.DeepEqual(item, want) {
		t.Errorf("%v %s", item, reason)
	}
}

func TestAMalformedLineIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return `{"Item":{"a":` + strings.Repeat(`{"L":[`, levels-1) + `{"S":"x"}` + strings.Repeat(`]}`, levels-1) + `}}`
	}
	if _, reason := decodeItem(nested(MaxDepth)); reason != "" {
		t.Errorf("%d levels: %s", MaxDepth, reason)
	}
	for line, want := range map[string]string{
		"":                                   blankLine,
		"null":                               notObject,
		"{}":                                 lacksMember,
		`{"Item":[]}`:                        notObject,
		`{"Item":{}}`:                        emptyItem,
		`{"Item":{"":{"S":""}}}`:             emptyName,
		`{"Item":{"a":{"S":"x"}},"Keys":{}}`: wrongMember,
		`{"Item":{"a":{"S":"x"}},"Item":{"b":1}}`:                     repeated,
		`{"Item":{"a":{"S":"x"},"a":{"S":"x"}}}`:                      repeated,
		`{"Item":{"a":{"S":"x"},"\u0061":{"N":"1"}}}`:                 repeated,
		`{"Item":{"a":{"M":{"b":{"S":""},"b":{"S":""}}}}}`:            repeated,
		`{"Item":{"a":{"S":"x","N":"1"}}}`:                            notOneMember,
		`{"Item":{"a":{}}}`:                                           notOneMember,
		`{"Item":{"a":{"X":"x"}}}`:                                    unknownType,
		`{"Item":{"a":{"S":1}}}`:                                      notString,
		`{"Item":{"a":{"N":1}}}`:                                      notString,
		`{"Item":{"a":{"N":"one"}}}`:                                  badNumber,
		`{"Item":{"a":{"N":""}}}`:                                     badNumber,
		`{"Item":{"a":{"B":"AA"}}}`:                                   badBase64,
		`{"Item":{"a":{"B":"A\nA=="}}}`:                               badBase64,
		`{"Item":{"a":{"BOOL":"true"}}}`:                              notBool,
		`{"Item":{"a":{"NULL":false}}}`:                               badNull,
		`{"Item":{"a":{"SS":[]}}}`:                                    emptySet,
		`{"Item":{"a":{"SS":["x","x"]}}}`:                             badSet,
		`{"Item":{"a":{"NS":["x"]}}}`:                                 badNumber,
		`{"Item":{"a":{"BS":["x"]}}}`:                                 badBase64,
		`{"Item":{"a":{"L":{}}}}`:                                     notArray,
		`{"Item":{"a":{"L":[{"S":"x"},]}}}`:                           notJSON,
		`{"Item":{"a":{"S":"x"},}}`:                                   notJSON,
		`{"Item":{"a":{"S":"x"}}`:                                     notJSON,
		`{"Item":{"a":{"S":"x"}}}}`:                                   trailing,
		`{"Item":{"a":{"S":"\ud800"}}}`:                               notJSON,
		`{"Item":{"a":{"S":"\udc00\ud800"}}}`:                         notJSON,
		`{"Item":{"a":{"S":"\u12g4"}}}`:                               notJSON,
		`{"Item":{"a":{"S":"\x"}}}`:                                   notJSON,
		"{\"Item\":{\"a\":{\"S\":\"\xff\"}}}":                         notUTF8,
		"{\"Item\":{\"a\":{\"S\":\"\\n\xff\"}}}":                      notUTF8,
		"{\"Item\":{\"a\":{\"S\":\"\x01\"}}}":                         notJSON,
		nested(MaxDepth + 1):                                          tooDeep,
		`{"Item":` + strings.Repeat(`{"a":{"M":`, 100_000):            tooDeep,
		`{"Item":{"a":{"S":"x"}}} ` + strings.Repeat(" ", 1000) + `x`: trailing,
	} {
		for _, build := range []bool{true, false} {
			d := newDecoder(build)
			if r, ok := d.record([]byte(line), full); ok || d.reason != want || r.New != nil && d.reason == "" {
				t.Errorf("%.80s, build %t: %q, not %q", line, build, d.reason, want)
			}
		}
	}
}

func TestLinesOfAnIncrementalExport(t *testing.T) {
	t.Parallel()
	const meta, keys, image = `"Metadata":{"WriteTimestampMicros":{"N":"1768386096366933"}}`, `"Keys":{"PK":{"S":"a"}}`, `{"PK":{"S":"a"},"v":{"N":"1"}}`
	for _, c := range []struct {
		line          string
		view          View
		reason        string
		old, new      bool
		anotherMillis int64
	}{
		{`{` + meta + `,` + keys + `,"NewImage":` + image + `}`, NewAndOldImages, "", false, true, 0},
		{`{` + meta + `,` + keys + `,"OldImage":` + image + `,"NewImage":` + image + `}`, NewAndOldImages, "", true, true, 0},
		{`{` + keys + `,"OldImage":` + image + `,` + meta + `}`, NewAndOldImages, "", true, false, 0},
		{`{` + meta + `,` + keys + `}`, NewImage, "", false, false, 0},
		{`{"Metadata":{"later":[1,{"a":null}],"WriteTimestampMicros":1000},` + keys + `,"NewImage":` + image + `}`, NewImage, "", false, true, 1},
		{`{"Metadata":{"WriteTimestampMicros":"2000","x":"y"},` + keys + `,"NewImage":` + image + `}`, NewImage, "", false, true, 2},
		{`{` + meta + `,` + keys + `}`, NewAndOldImages, lacksMember, false, false, 0},
		{`{` + meta + `,` + keys + `,"OldImage":` + image + `}`, NewImage, wrongMember, false, false, 0},
		{`{` + keys + `,"NewImage":` + image + `}`, NewImage, lacksMember, false, false, 0},
		{`{` + meta + `,"NewImage":` + image + `}`, NewImage, lacksMember, false, false, 0},
		{`{` + meta + `,` + meta + `,` + keys + `}`, NewImage, repeated, false, false, 0},
		{`{` + meta + `,` + keys + `,` + keys + `}`, NewImage, repeated, false, false, 0},
		{`{"Metadata":{},` + keys + `}`, NewImage, lacksMember, false, false, 0},
		{`{"Metadata":{"WriteTimestampMicros":-1},` + keys + `}`, NewImage, badTimestamp, false, false, 0},
		{`{"Metadata":{"WriteTimestampMicros":{"S":"1"}},` + keys + `}`, NewImage, badTimestamp, false, false, 0},
		{`{"Metadata":{"WriteTimestampMicros":{"N":"99999999999999999999"}},` + keys + `}`, NewImage, badTimestamp, false, false, 0},
		{`{"Item":` + image + `}`, NewImage, wrongMember, false, false, 0},
	} {
		d := newDecoder(true)
		r, ok := d.record([]byte(c.line), &Manifest{Type: Incremental, View: c.view})
		if ok != (c.reason == "") || d.reason != c.reason {
			t.Errorf("%s: %q, not %q", c.line, d.reason, c.reason)
			continue
		}
		millis := int64(1768386096366)
		if c.anotherMillis > 0 {
			millis = c.anotherMillis
		}
		if ok && (r.Keys == nil || (r.Old != nil) != c.old || r.Deleted() == c.new || r.WrittenAt.UnixMilli() != millis) {
			t.Errorf("%s: %+v", c.line, r)
		}
	}
}

// reference reads an item with encoding/json, slowly.
func reference(line []byte) (Item, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	value, err := strictValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errUnlike
	}
	record, ok := value.(map[string]any)
	if !ok || len(record) != 1 {
		return nil, errUnlike
	}
	attributes, ok := record["Item"].(map[string]any)
	if !ok || len(attributes) == 0 {
		return nil, errUnlike
	}
	return refMap(attributes, 1)
}

var errUnlike = errors.New("is not an item")

// strictValue reads a value and refuses a name that comes twice.
func strictValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		m := map[string]any{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			if _, twice := m[name.(string)]; twice {
				return nil, errUnlike
			}
			if m[name.(string)], err = strictValue(d); err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return m, err
	case json.Delim('['):
		l := []any{}
		for d.More() {
			value, err := strictValue(d)
			if err != nil {
				return nil, err
			}
			l = append(l, value)
		}
		_, err = d.Token()
		return l, err
	}
	return token, nil
}

func refMap(m map[string]any, level int) (Item, error) {
	item := Item{}
	for name, value := range m {
		decoded, err := refValue(value, level)
		if err != nil || name == "" {
			return nil, errUnlike
		}
		item[name] = decoded
	}
	return item, nil
}

func refValue(value any, level int) (types.AttributeValue, error) {
	typed, ok := value.(map[string]any)
	if !ok || len(typed) != 1 || level > MaxDepth {
		return nil, errUnlike
	}
	for kind, value := range typed {
		switch value := value.(type) {
		case string:
			return refText(kind, value)
		case bool:
			switch {
			case kind == "BOOL":
				return &types.AttributeValueMemberBOOL{Value: value}, nil
			case kind == "NULL" && value:
				return &types.AttributeValueMemberNULL{Value: true}, nil
			}
		case map[string]any:
			if kind == "M" {
				m, err := refMap(value, level+1)
				return &types.AttributeValueMemberM{Value: m}, err
			}
		case []any:
			return refList(kind, value, level)
		}
	}
	return nil, errUnlike
}

func refText(kind, text string) (types.AttributeValue, error) {
	switch kind {
	case "S":
		return &types.AttributeValueMemberS{Value: text}, nil
	case "N":
		if capacity.IsNumber(text) {
			return &types.AttributeValueMemberN{Value: text}, nil
		}
	case "B":
		decoded, err := base64.StdEncoding.Strict().DecodeString(text)
		if err == nil && !strings.ContainsAny(text, "\r\n") {
			return &types.AttributeValueMemberB{Value: decoded}, nil
		}
	}
	return nil, errUnlike
}

func refList(kind string, values []any, level int) (types.AttributeValue, error) {
	if kind == "L" {
		list := []types.AttributeValue{}
		for _, value := range values {
			decoded, err := refValue(value, level+1)
			if err != nil {
				return nil, err
			}
			list = append(list, decoded)
		}
		return &types.AttributeValueMemberL{Value: list}, nil
	}
	var texts []string
	var blobs [][]byte
	for _, value := range values {
		text, ok := value.(string)
		if !ok || slices.Contains(texts, text) {
			return nil, errUnlike
		}
		texts = append(texts, text)
		if kind == "SS" {
			continue
		}
		decoded, err := refText(strings.TrimSuffix(kind, "S"), text)
		if err != nil {
			return nil, err
		}
		if b, ok := decoded.(*types.AttributeValueMemberB); ok {
			blobs = append(blobs, b.Value)
		}
	}
	switch {
	case len(texts) == 0:
	case kind == "SS":
		return &types.AttributeValueMemberSS{Value: texts}, nil
	case kind == "NS":
		return &types.AttributeValueMemberNS{Value: texts}, nil
	case kind == "BS":
		return &types.AttributeValueMemberBS{Value: blobs}, nil
	}
	return nil, errUnlike
}

// The decoder accepts what encoding/json and the rules above it accept, and gives the same; what json would repair, it refuses.
func FuzzDecodeAgainstEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{"Item":{"PK":{"S":"a"},"n":{"N":"1.50"},"b":{"B":"AP8="},"t":{"BOOL":true},"z":{"NULL":true}}}`,
		`{"Item":{"ss":{"SS":["x","y"]},"ns":{"NS":["1","2e5"]},"bs":{"BS":["","AA=="]},"l":{"L":[{"S":"\ud83d\ude00"}]},"m":{"M":{"a":{"N":"-0"}}}}}`,
		`{"Item":{"a":{"S":"x"},"a":{"S":"y"}}}`, `{"Item":{"a":{"S":"\ud800"}}}`, `{"Item":{"a":{"L":[{"L":[{"M":{}}]}]}}}`,
		"{\"Item\":{\"a\":{\"S\":\"\xff\"}}}", ` { "Item" : { "a" : { "N" : "1" } } } `, `{"Item":{}}`, `{"Item":{"a":{"NULL":false}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		d := newDecoder(true)
		r, ok := d.record(line, full)
		if _, checked := newDecoder(false).record(line, full); checked != ok {
			t.Fatalf("%q: built %t, checked %t", line, ok, checked)
		}
		want, err := reference(line)
		repaired := !utf8.Valid(line) || bytes.Contains(bytes.ToLower(line), []byte(`\ud`))
		switch {
		case ok && err != nil:
			t.Fatalf("%q is accepted", line)
		case !ok && err == nil && !repaired:
			t.Fatalf("%q is refused: %s", line, d.reason)
		case !ok:
			return
		case !reflect.DeepEqual(r.New, want):
			t.Fatalf("%q is %v", line, r.New)
		}
		again, reason := appendRecord(nil, r, WriteConfig{Type: Full})
		if reason != "" {
			t.Fatalf("%q is not written again: it %s", line, reason)
		}
		if back, ok := newDecoder(true).record(again, full); !ok || !reflect.DeepEqual(back.New, r.New) {
			t.Fatalf("%q is written as %q", line, again)
		}
	})
}
