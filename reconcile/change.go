package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// change is an update of a record on condition that it still has the version that was read. The version only rises, so a
// change can be applied once only, whatever happens to its answer.
type change struct {
	r       *Reconciler
	label   string
	key     keys.Key
	version int64
	sets    []string
	removes []string
	names   map[string]string
	values  txn.Item
	until   time.Time // the lease that it writes
	explain func(stored *decoder) error
	err     error
}

func (r *Reconciler) change(label string, key keys.Key, version int64) *change {
	c := &change{r: r, label: label, key: key, version: version, names: map[string]string{}, values: txn.Item{}}
	c.set(attrVersion, number(version+1))
	return c
}

func (c *change) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *change) name(attr string) string {
	c.names["#"+attr] = attr
	return "#" + attr
}

func (c *change) value(v types.AttributeValue) string {
	placeholder := fmt.Sprint(":v", len(c.values))
	c.values[placeholder] = v
	return placeholder
}

func (c *change) set(attr string, v types.AttributeValue) {
	c.sets = append(c.sets, c.name(attr)+" = "+c.value(v))
}

// setIn sets one field of a map.
func (c *change) setIn(attr, field string, v types.AttributeValue) {
	c.sets = append(c.sets, c.name(attr)+"."+c.name(field)+" = "+c.value(v))
}

// push appends to a list.
func (c *change) push(attr string, v types.AttributeValue) {
	name := c.name(attr)
	c.sets = append(c.sets, name+" = list_append("+name+", "+c.value(&types.AttributeValueMemberL{Value: []types.AttributeValue{v}})+")")
}

func (c *change) time(attr string, at time.Time) {
	written, err := keys.Time(at)
	if err != nil {
		c.fail(invalidKey(err))
		return
	}
	c.set(attr, text(written))
}

func (c *change) remove(attrs ...string) {
	for _, attr := range attrs {
		c.removes = append(c.removes, c.name(attr))
	}
}

func (c *change) part() txn.Part {
	if c.err == nil {
		c.err = c.r.err
	}
	if c.err != nil {
		return txn.BadPart(c.label, c.err)
	}
	update := "SET " + strings.Join(c.sets, ", ")
	if len(c.removes) > 0 {
		update += " REMOVE " + strings.Join(slices.Compact(c.removes), ", ")
	}
	condition := c.name(attrFormat) + " = " + c.value(&types.AttributeValueMemberN{Value: recordFormat}) +
		" AND " + c.name(attrVersion) + " = " + c.value(number(c.version))
	key, explain := c.key, c.explain
	return txn.NewPart(c.label, txn.Write{
		Action: txn.ActionUpdate, Table: c.r.config.Table, Key: c.r.config.Table.Key(key.PK, key.SK),
		Update: update, Condition: condition, Names: c.names, Values: c.values, Fence: true,
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{Batch: key.PK, Break: key.SK}
			}
			stored := c.r.decode(key, old)
			if err := explain(stored); *stored.err == nil {
				return err
			}
			return *stored.err
		},
	})
}
