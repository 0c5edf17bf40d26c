package keys

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Sizes that DynamoDB allows for the value of a key attribute, of a table or of an index.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

const (
	separator     = "#"
	partitionPart = "partition key"
	sortPart      = "sort key"
)

// Key is the value of a partition key and of a sort key.
type Key struct{ PK, SK string }

// Attributes returns the key under the attribute names of a table or an index.
func (k Key) Attributes(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		pk: &types.AttributeValueMemberS{Value: k.PK},
		sk: &types.AttributeValueMemberS{Value: k.SK},
	}
}

// route is one line of the grammar. Splitting by # is unambiguous because no encoded component holds one; a segment
// in braces is a component.
type route struct {
	name   string
	pk, sk []string
}

// routes are all routes by their names. It is complete when the package's variables are, and does not change.
var routes = map[string]route{}

func newRoute(name, pk, sk string) route {
	r := route{name: name, pk: strings.Split(pk, separator), sk: strings.Split(sk, separator)}
	routes[name] = r
	return r
}

func componentName(segment string) (string, bool) {
	name, found := strings.CutPrefix(segment, "{")
	return strings.TrimSuffix(name, "}"), found
}

// key writes a key of the route from all of its components, in the order of the grammar.
func (r route) key(components ...component) (Key, error) {
	pk, rest, err := r.fill(partitionPart, components)
	if err != nil {
		return Key{}, err
	}
	sk, _, err := r.fill(sortPart, rest)
	if err != nil {
		return Key{}, err
	}
	return Key{PK: pk, SK: sk}, nil
}

// partition writes the partition key alone.
func (r route) partition(components ...component) (string, error) {
	pk, _, err := r.fill(partitionPart, components)
	return pk, err
}

// part returns the segments of one half of the key and its limit in bytes.
func (r route) part(name string) ([]string, int) {
	if name == partitionPart {
		return r.pk, MaxPartitionKeyBytes
	}
	return r.sk, MaxSortKeyBytes
}

func (r route) fill(part string, components []component) (string, []component, error) {
	segments, limit := r.part(part)
	size := 0
	for _, segment := range segments {
		size += len(segment)
	}
	for _, c := range components {
		size += len(c.text)
	}
	var b strings.Builder
	b.Grow(min(size+len(segments), limit+1)) // enough, and most often little more, in one allocation
	for i, segment := range segments {
		if i > 0 {
			b.WriteString(separator)
		}
		name, found := componentName(segment)
		if !found {
			b.WriteString(segment)
			continue
		}
		c := components[0]
		components = components[1:]
		if c.reason != "" {
			return "", nil, &Error{Route: r.name, Component: name, Reason: c.reason}
		}
		b.WriteString(c.text)
	}
	if b.Len() > limit {
		return "", nil, &Error{Route: r.name, Component: part, Reason: TooLong}
	}
	return b.String(), components, nil
}

// reader hands out the components of a key in the order of the grammar. After the first error it hands out zeros.
type reader struct {
	route         string
	names, values []string
	err           error
}

func (r route) read(k Key) *reader {
	d := &reader{route: r.name}
	d.match(r, partitionPart, k.PK)
	d.match(r, sortPart, k.SK)
	return d
}

func (d *reader) match(r route, part, value string) {
	segments, limit := r.part(part)
	if len(value) > limit {
		d.fail(part, TooLong)
		return
	}
	got := strings.Split(value, separator)
	if len(got) != len(segments) {
		d.fail(part, Malformed)
		return
	}
	for i, segment := range segments {
		if name, found := componentName(segment); found {
			d.names = append(d.names, name)
			d.values = append(d.values, got[i])
		} else if got[i] != segment {
			d.fail(part, Malformed)
			return
		}
	}
}

func (d *reader) fail(component string, reason Reason) {
	if d.err == nil {
		d.err = &Error{Route: d.route, Component: component, Reason: reason}
	}
}

// next takes the next raw component and decodes it.
func next[T any](d *reader, decode func(string) (T, Reason)) T {
	var zero T
	if d.err != nil {
		return zero
	}
	name, value := d.names[0], d.values[0]
	d.names, d.values = d.names[1:], d.values[1:]
	decoded, reason := decode(value)
	if reason != "" {
		d.fail(name, reason)
		return zero
	}
	return decoded
}

func (d *reader) text() string       { return next(d, parseText) }
func (d *reader) instant() time.Time { return next(d, parseInstant) }

func (d *reader) number(width int) int {
	return next(d, func(s string) (int, Reason) { return parseNumber(s, width) })
}

func (d *reader) calendar(layout string) string {
	return next(d, func(s string) (string, Reason) { c := calendar(s, layout); return c.text, c.reason })
}

func (d *reader) word() string {
	return next(d, func(s string) (string, Reason) { c := word(s); return c.text, c.reason })
}
