package reconcile

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/update"
	"github.com/dynafin/dynafin/txn"
)

// change is an update of a record on condition that it still has the version that was read. The version only rises, so a
// change can be applied once only, whatever happens to its answer.
type change struct {
	update.Expression
	r       *Reconciler
	label   string
	key     keys.Key
	until   time.Time // the lease that it writes
	explain func(stored *decoder) error
	err     error
}

func (r *Reconciler) change(label string, key keys.Key, version int64) *change {
	c := &change{r: r, label: label, key: key}
	c.Require(attrFormat, &types.AttributeValueMemberN{Value: recordFormat})
	c.Require(attrVersion, number(version))
	c.Set(attrVersion, number(version+1))
	return c
}

func (c *change) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// setIn sets one field of a map.
func (c *change) setIn(attr, field string, v types.AttributeValue) {
	c.Assign(c.Name(attr) + "." + c.Name(field) + " = " + c.Value(v))
}

// push appends to a list.
func (c *change) push(attr string, v types.AttributeValue) {
	name := c.Name(attr)
	c.Assign(name + " = list_append(" + name + ", " + c.Value(&types.AttributeValueMemberL{Value: []types.AttributeValue{v}}) + ")")
}

func (c *change) time(attr string, at time.Time) {
	written, err := keys.Time(at)
	if err != nil {
		c.fail(invalidKey(err))
		return
	}
	c.Set(attr, text(written))
}

func (c *change) part() txn.Part {
	if c.err == nil {
		c.err = c.r.err
	}
	if c.err != nil {
		return txn.BadPart(c.label, c.err)
	}
	key, explain := c.key, c.explain
	return txn.NewPart(c.label, txn.Write{
		Action: txn.ActionUpdate, Table: c.r.config.Table, Key: c.r.config.Table.Key(key.PK, key.SK),
		Update: c.Update(), Condition: c.Condition(), Names: c.Names(), Values: c.Values(), Fence: true,
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
