package projection

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// LabelCutover is the label of the transaction that moves the alias.
const LabelCutover = "AP13.cutover"

// Alias says which namespace of a projection readers use.
type Alias struct {
	// Namespace is the one to read. It is 1 before the first cutover.
	Namespace int
	// Previous is the one before it, zero if there was none.
	Previous int
	// Version rises with every move, from zero.
	Version int64
	// MovedAt is when it was moved, By who did it; zero and empty if it never was.
	MovedAt time.Time
	By      string
}

// Alias reads which namespace to read, with a strong read. Keep it for as long as readers may lag behind a cutover. Errors:
// ErrInvalid, ErrRead, ErrCorrupt.
//
// Cost: 1 read unit.
func (p *Projection) Alias(ctx context.Context) (_ Alias, err error) {
	ctx, op := p.watch.Begin(ctx, "AP07.alias")
	defer op.End(&err)
	key, err := p.aliasKey()
	if err != nil {
		return Alias{}, err
	}
	item, err := p.get(ctx, key)
	if err != nil {
		return Alias{}, err
	}
	return decodeAlias(key, item)
}

func (p *Projection) aliasKey() (keys.Key, error) {
	if p.err != nil {
		return keys.Key{}, p.err
	}
	return keys.Alias(p.config.Name)
}

func decodeAlias(key keys.Key, item txn.Item) (Alias, error) {
	if len(item) == 0 {
		return Alias{Namespace: 1}, nil
	}
	d := &decoder{key: key, item: item}
	d.format()
	a := Alias{Namespace: int(d.number(attrNamespace)), Previous: int(d.number(attrPrevious)), Version: d.number(attrVersion),
		MovedAt: d.time(attrUpdatedAt), By: d.text(attrBy)}
	if a.Namespace < 1 || a.Namespace > MaxNamespace || a.Version < 1 {
		d.fail(attrNamespace)
	}
	return a, d.err
}

// Cutover moves readers to this namespace, whose build must be Proved, on condition that the alias is as it was read. The
// namespace before it stays as it is; go on delivering to it for as long as a rollback is wanted. A repeat of a cutover that
// was applied is a success. Errors: ErrInvalid, ErrState, ErrRead, ErrCorrupt, and those of [txn.Committer.Commit].
//
// Cost: 4 write units, 2 for the alias and 2 for a check of the build.
func (ns *Namespace) Cutover(ctx context.Context, from Alias, by string) (_ Alias, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.cutover")
	defer op.End(&err)
	proved, err := ns.provedWrite(by)
	if err != nil {
		return Alias{}, err
	}
	return ns.repoint(ctx, from, by, proved)
}

// CutoverPart returns the part that moves readers to this namespace, to be committed beside other writes: an operator's audit record, for
// example. Conditions, errors and cost are those of [Namespace.Cutover], but for a repeat, which is cancelled.
func (ns *Namespace) CutoverPart(from Alias, by string) txn.Part {
	proved, err := ns.provedWrite(by)
	if err != nil {
		return txn.BadPart(LabelCutover, err)
	}
	return ns.repointPart(from, by, proved)
}

// provedWrite is the check that the build of the namespace is proved.
func (ns *Namespace) provedWrite(by string) (txn.Write, error) {
	key, err := ns.buildKey(by)
	table := ns.p.config.Table
	return txn.Write{
		Action: txn.ActionCheck, Table: table, Key: table.Key(key.PK, key.SK),
		Condition: "#v = :v AND #state = :proved", Names: map[string]string{"#v": attrFormat, "#state": attrState},
		Values:  map[string]types.AttributeValue{":v": number(recordFormat), ":proved": text(string(Proved))},
		Explain: func(txn.Item) error { return ns.state("its build is not " + string(Proved)) },
	}, err
}

// Rollback moves readers back to the namespace that was read before from, on condition that the alias still is from. Then
// the alias has the other one as its Previous. Errors: as for [Namespace.Cutover].
//
// Cost: 2 write units.
func (p *Projection) Rollback(ctx context.Context, from Alias, by string) (_ Alias, err error) {
	ctx, op := p.watch.Begin(ctx, "AP13.rollback")
	defer op.End(&err)
	ns, err := p.before(from, by)
	if err != nil {
		return Alias{}, err
	}
	return ns.repoint(ctx, from, by)
}

// RollbackPart returns the part that moves readers back, to be committed beside other writes. Conditions, errors and cost are those of
// [Projection.Rollback], but for a repeat, which is cancelled.
func (p *Projection) RollbackPart(from Alias, by string) txn.Part {
	ns, err := p.before(from, by)
	if err != nil {
		return txn.BadPart(LabelCutover, err)
	}
	return ns.repointPart(from, by)
}

// before is the namespace that was read before an alias.
func (p *Projection) before(from Alias, by string) (*Namespace, error) {
	ns := p.Namespace(max(from.Previous, 1))
	if from.Previous == 0 && ns.err == nil {
		return nil, ns.state("the alias has no namespace to go back to")
	}
	_, err := ns.buildKey(by)
	return ns, err
}

func (ns *Namespace) repointPart(from Alias, by string, checks ...txn.Write) txn.Part {
	w, _, err := ns.repointWrite(from, by, nil)
	if err != nil {
		return txn.BadPart(LabelCutover, err)
	}
	return part(LabelCutover, append([]txn.Write{w}, checks...)...)
}

// repoint moves the alias to this namespace.
func (ns *Namespace) repoint(ctx context.Context, from Alias, by string, checks ...txn.Write) (Alias, error) {
	var stored Alias
	w, to, err := ns.repointWrite(from, by, &stored)
	if err != nil {
		return Alias{}, err
	}
	_, err = ns.p.commit(ctx, part(LabelCutover, append([]txn.Write{w}, checks...)...))
	if err != nil && stored.Namespace == to.Namespace && stored.Previous == to.Previous && stored.Version == to.Version && stored.By == by {
		return stored, nil // an earlier call did it
	}
	if err != nil {
		return Alias{}, err
	}
	return to, nil
}

// repointWrite is the write that moves the alias to this namespace. A refusal leaves the alias that it met in met, unless that is nil.
func (ns *Namespace) repointWrite(from Alias, by string, met *Alias) (txn.Write, Alias, error) {
	key, err := ns.p.aliasKey()
	if err != nil {
		return txn.Write{}, Alias{}, err
	}
	at := ns.p.config.Now()
	now, err := ns.p.now()
	if err != nil {
		return txn.Write{}, Alias{}, err
	}
	switch {
	case from.Namespace == ns.number:
		return txn.Write{}, Alias{}, ns.state("readers are there")
	case from.Version == 0 && (from.Namespace != 1 || from.Previous != 0):
		return txn.Write{}, Alias{}, ns.state("no alias was read like that")
	}
	to := Alias{Namespace: ns.number, Previous: from.Namespace, Version: from.Version + 1, MovedAt: at.UTC(), By: by}
	c := newChange()
	c.set(attrFormat, number(recordFormat))
	c.set(attrNamespace, number(int64(to.Namespace)))
	c.set(attrPrevious, number(int64(to.Previous)))
	c.set(attrVersion, number(to.Version))
	c.set(attrUpdatedAt, text(now))
	c.set(attrBy, text(by))
	w := c.write(ns.p.config.Table, key)
	if from.Version == 0 {
		w.Names["#pk"] = ns.p.config.Table.PK
		w.Condition = "attribute_not_exists(#pk)"
	} else {
		w.Condition = "#v = :v AND #version = :was AND #namespace = :from"
		w.Values[":was"], w.Values[":from"] = number(from.Version), number(int64(from.Namespace))
		if from.Previous != 0 { // where a rollback leads to is stored; nobody makes it up
			w.Names["#previous"], w.Values[":previousWas"] = attrPrevious, number(int64(from.Previous))
			w.Condition += " AND #previous = :previousWas"
		}
	}
	w.Fence, w.Settles = true, true
	w.Explain = func(old txn.Item) error {
		found, err := decodeAlias(key, old)
		if err != nil {
			return err
		}
		if met != nil {
			*met = found
		}
		return ns.state("the alias is at namespace " + strconv.Itoa(found.Namespace) + ", version " + strconv.FormatInt(found.Version, 10) +
			", not as it was read")
	}
	return w, to, nil
}
