package invariant

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
)

// row is one line of a schedule: a request and what became of it, or something a worker or the driver did.
type row struct {
	at      time.Duration
	worker  string
	request *dynamosim.Pending // nil for a remark
	text    string             // a remark, or the fate
	result  string
}

// schedule is what happened in one history, in order.
type schedule struct {
	rows []row
	keys tableKeys
}

// tableKeys are the names of the key attributes of the tables where they are others than PK and SK.
type tableKeys map[string][]string

// requests counts the rows that are requests.
func (s *schedule) requests() (n int) {
	for i := range s.rows {
		if s.rows[i].request != nil {
			n++
		}
	}
	return n
}

// String returns the schedule as a table for people.
func (s *schedule) String() string {
	cells := make([][5]string, 0, len(s.rows)+1)
	cells = append(cells, [5]string{"time", "worker", "request", "fate", "result"})
	widths := [5]int{}
	for _, r := range s.rows {
		cell := [5]string{r.at.String(), r.worker, "", r.text, r.result}
		if strings.HasPrefix(r.result, "cancelled") {
			cell[4] = brief.Replace(r.result)
		}
		if r.request != nil {
			cell[2] = describe(r.request, s.keys)
			if r.request.Attempt > 1 {
				cell[2] += fmt.Sprintf(" (attempt %d)", r.request.Attempt)
			}
		} else {
			cell[2], cell[3] = "- "+r.text, ""
		}
		cells = append(cells, cell)
	}
	for _, cell := range cells {
		for i, text := range cell {
			widths[i] = max(widths[i], len(text))
		}
	}
	var b strings.Builder
	for _, cell := range cells {
		line := ""
		for i, text := range cell {
			line += text + strings.Repeat(" ", widths[i]-len(text)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// hash identifies the history: two histories with one hash had the same events in the same order.
func (s *schedule) hash() [sha256.Size]byte { return sha256.Sum256([]byte(s.String())) }

const labelBytesMax = 80

// brief shortens what the service says in a cancellation.
var brief = strings.NewReplacer("ConditionalCheckFailed", "condition", "TransactionConflict", "conflict", "ThrottlingError", "throttled", "None", "-")

// describe names what a request is about: the operation, and the item keys as far as they can be told from it.
func describe(p *dynamosim.Pending, keys tableKeys) string {
	var body struct {
		Key, Item, ExpressionAttributeValues map[string]json.RawMessage
		TableName, IndexName                 string
		TransactItems                        []map[string]struct {
			TableName string
			Key, Item map[string]json.RawMessage
		}
		RequestItems map[string]json.RawMessage
	}
	if json.Unmarshal(p.Body, &body) != nil {
		return p.Operation
	}
	label := p.Operation
	switch {
	case body.TransactItems != nil:
		var actions []string
		for _, action := range body.TransactItems {
			for _, kind := range slices.Sorted(maps.Keys(action)) {
				about := action[kind]
				key := keys.of(about.TableName, about.Key, about.Item)
				if keys[about.TableName] == nil {
					key, _, _ = strings.Cut(key, "/")
				}
				actions = append(actions, kind+" "+key)
			}
		}
		label = "Transact" + strings.TrimSuffix(strings.TrimPrefix(p.Operation, "Transact"), "Items") + " [" + strings.Join(actions, ", ") + "]"
	case body.Key != nil || body.Item != nil:
		label += " " + keys.of(body.TableName, body.Key, body.Item)
	case body.ExpressionAttributeValues != nil:
		var values []string
		for _, name := range slices.Sorted(maps.Keys(body.ExpressionAttributeValues)) {
			values = append(values, scalar(body.ExpressionAttributeValues[name]))
		}
		label += " " + strings.Join(append([]string{body.TableName}, values...), " ")
	case body.RequestItems != nil:
		label += " " + strings.Join(slices.Sorted(maps.Keys(body.RequestItems)), " ")
	}
	if len(label) > labelBytesMax {
		label = strings.ToValidUTF8(label[:labelBytesMax], "") + "..."
	}
	return label
}

// of shows an item key, with its table where the key attributes have names of their own: elsewhere the key says enough.
// The key attributes of a put are not marked as such.
func (k tableKeys) of(table string, key, item map[string]json.RawMessage) string {
	if names := k[table]; names != nil {
		var parts []string
		for _, name := range names {
			if value, ok := key[name]; ok {
				parts = append(parts, scalar(value))
			} else {
				parts = append(parts, scalar(item[name]))
			}
		}
		return table + " " + strings.Join(parts, "/")
	}
	if key == nil {
		key = map[string]json.RawMessage{}
		for name, value := range item {
			if strings.EqualFold(name, "PK") || strings.EqualFold(name, "SK") {
				key[name] = value
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(key)) {
		parts = append(parts, scalar(key[name]))
	}
	return strings.Join(parts, "/")
}

// scalar shows an attribute value of the wire, {"S":"x"}, without its type.
func scalar(raw json.RawMessage) string {
	var text map[string]string
	if json.Unmarshal(raw, &text) != nil || len(text) != 1 {
		return "?"
	}
	for _, value := range text {
		return value
	}
	return ""
}
