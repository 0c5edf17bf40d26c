package projection

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// change collects an update expression. Every attribute has one placeholder, because some names are reserved words.
type change struct {
	sets, removes []string
	names         map[string]string
	values        map[string]types.AttributeValue
}

func newChange() *change {
	return &change{names: map[string]string{}, values: map[string]types.AttributeValue{}}
}

func (c *change) name(attr string) string {
	c.names["#"+attr] = attr
	return "#" + attr
}

func (c *change) set(attr string, value types.AttributeValue) {
	c.sets = append(c.sets, c.name(attr)+" = :"+attr)
	c.values[":"+attr] = value
}

// setFirst sets an attribute that is not there yet.
func (c *change) setFirst(attr string, value types.AttributeValue) {
	c.sets = append(c.sets, c.name(attr)+" = if_not_exists("+c.name(attr)+", :"+attr+")")
	c.values[":"+attr] = value
}

func (c *change) add(attr string, n int64) {
	c.sets = append(c.sets, c.name(attr)+" = if_not_exists("+c.name(attr)+", :zero) + :"+attr)
	c.values[":zero"], c.values[":"+attr] = number(0), number(n)
}

func (c *change) remove(attr string) { c.removes = append(c.removes, c.name(attr)) }

func (c *change) expression() string {
	update := "SET " + strings.Join(c.sets, ", ")
	if len(c.removes) > 0 {
		update += " REMOVE " + strings.Join(c.removes, ", ")
	}
	return update
}

// write returns the update of an item, on no condition.
func (c *change) write(table txn.Table, key keys.Key) txn.Write {
	return txn.Write{Action: txn.ActionUpdate, Table: table, Key: table.Key(key.PK, key.SK), Update: c.expression(),
		Names: maps.Clone(c.names), Values: maps.Clone(c.values)}
}

// move returns the write that takes a checkpoint on from where it was found; blind, from where it must be if nothing of
// the source is parked. Version and number of parked events never come back together: each move raises the version, or at
// one version the number. So the condition is a fence, and whoever moves a checkpoint moves it alone.
func (ns *Namespace) move(p place, from checkpoint, blind bool, c *change) txn.Write {
	absent := !from.exists && from.version == ns.p.config.First-1 // as far as is known
	if absent {
		c.set(attrMapVersion, number(int64(p.MapVersion)))
		c.set(attrHashVersion, number(int64(p.HashVersion)))
		c.set(attrShard, number(int64(p.Shard)))
	}
	c.setFirst(attrFormat, number(recordFormat))
	at := ""
	if absent {
		c.names["#pk"] = ns.p.config.Table.PK
		at = "attribute_not_exists(#pk)"
	}
	if from.exists || blind {
		is := c.name(attrFormat) + " = :" + attrFormat + " AND " + c.name(attrVersion) + " = :was AND "
		c.values[":was"] = number(from.version)
		if from.parked == 0 {
			is += "attribute_not_exists(" + c.name(attrParked) + ")"
		} else {
			is += c.name(attrParked) + " = :parkedWas"
			c.values[":parkedWas"] = number(from.parked)
		}
		if at == "" {
			at = is
		} else {
			at += " OR (" + is + ")"
		}
	}
	w := c.write(ns.p.config.Table, p.key)
	w.Condition, w.Fence, w.Settles = at, true, true
	w.Explain = func(old txn.Item) error {
		found, err := ns.decodeCheckpoint(p.key, old)
		if err != nil {
			return err
		}
		return &movedError{found}
	}
	return w
}

// onward is the change of a checkpoint that applies an event, and what becomes of the checkpoint.
func (ns *Namespace) onward(from checkpoint, e Event, unparks bool, now string) (*change, checkpoint, error) {
	occurred, err := keys.Time(e.OccurredAt)
	if err != nil {
		return nil, from, err
	}
	c, to := newChange(), from
	to.exists, to.version, to.events = true, e.Version, from.events+1
	c.set(attrVersion, number(e.Version))
	c.set(attrOccurredAt, text(occurred))
	c.set(attrUpdatedAt, text(now))
	c.add(attrEvents, 1)
	if e.Control != 0 {
		c.add(attrControl, e.Control)
	}
	if unparks {
		to.parked--
		if to.parked == 0 {
			to.highest = 0
			c.remove(attrParked)
			c.remove(attrHighest)
		} else {
			c.set(attrParked, number(to.parked))
		}
	}
	return c, to, nil
}

// gapWrite brings the gap record of a source in line with its checkpoint, which the same transaction moves.
func (ns *Namespace) gapWrite(p place, to checkpoint, now string) txn.Write {
	table := ns.p.config.Table
	if to.parked == 0 {
		return txn.Write{Action: txn.ActionDelete, Table: table, Key: table.Key(p.gap.PK, p.gap.SK)}
	}
	c := newChange()
	c.set(attrFormat, number(recordFormat))
	c.set(attrMissing, number(to.version+1))
	c.set(attrParked, number(to.parked))
	c.set(attrHighest, number(to.highest))
	c.setFirst(attrSince, text(now))
	c.set(attrUpdatedAt, text(now))
	return c.write(table, p.gap)
}

// part names writes for errors and costs.
func part(label string, writes ...txn.Write) txn.Part {
	return txn.NewPart(label, slices.Clip(writes)...)
}
