package reconcile

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// MaxChanges is how many changes a break may have.
const MaxChanges = 100

// Change is what somebody did to a break.
type Change struct {
	// At is when, by the clock of the process.
	At time.Time
	// By is who did it.
	By string
	// What is "assign", "escalate", "resolve" or "reopen".
	What string
	// Note says why, and Reference names the evidence.
	Note, Reference string
}

// Evidence is why a break is closed. All fields are required.
type Evidence struct {
	// By is who closes it.
	By string
	// Note says what was found.
	Note string
	// Reference names the proof: the transaction that corrected the books, the ticket, the counterparty's letter.
	Reference string
}

// The changes of a break, as they are stored.
const (
	changeAssign   = "assign"
	changeEscalate = "escalate"
	changeResolve  = "resolve"
	changeReopen   = "reopen"
)

// Assign returns the part that gives a break, as it was read, another owner and due time.
//
// All four parts fail with a [StateError] if the break has moved since it was read, and change nothing then. Each may commit
// together with what it is about: Resolve with the posting that corrects the books.
//
// Cost: 2 write units for each KiB begun, and for its entry in the index 1, or 2 if it moves.
func (r *Reconciler) Assign(b Break, to Assignment, by, note string) txn.Part {
	return r.move(b, changeAssign, b.Status, to, Evidence{By: by, Note: note})
}

// Escalate returns the part that moves a break, as it was read, to somebody else's list of [StatusEscalated]. An escalated one
// may be escalated again.
//
// Cost: 2 write units for each KiB begun of the break, and 2 of the due index: its entry moves.
func (r *Reconciler) Escalate(b Break, to Assignment, by, note string) txn.Part {
	return r.move(b, changeEscalate, StatusEscalated, to, Evidence{By: by, Note: note})
}

// Resolve returns the part that closes a break, as it was read, with evidence, and takes it out of the due queue.
//
// Cost: 2 write units for each KiB begun of the break, and 1 of the due index.
func (r *Reconciler) Resolve(b Break, evidence Evidence) txn.Part {
	if reason := required(evidence.Reference); reason != "" {
		return txn.BadPart("AP15."+changeResolve, &InvalidError{Field: "Evidence.Reference", Reason: reason})
	}
	return r.move(b, changeResolve, StatusResolved, Assignment{b.Owner, b.Due}, evidence)
}

// Reopen returns the part that opens a resolved break again. Its evidence stays in [Break.Changes].
//
// Cost: 2 write units for each KiB begun of the break, and 1 of the due index.
func (r *Reconciler) Reopen(b Break, to Assignment, by, note string) txn.Part {
	return r.move(b, changeReopen, StatusOpen, to, Evidence{By: by, Note: note})
}

// move is the change of a break to a state, by somebody and for a reason.
func (r *Reconciler) move(b Break, what string, state Status, to Assignment, why Evidence) txn.Part {
	key, err := keys.Break(b.Tenant, b.Batch, b.ID)
	c := r.change("AP15."+what, key, b.Version)
	if err != nil {
		c.fail(invalidKey(err))
	}
	// The version says all of a break that was read. The rest is for one that somebody made up: what is closed is not opened by the
	// way, and what waits is listed where it is looked for.
	c.Require(attrState, text(string(b.Status)))
	c.Require(attrShard, number(int64(b.Placement.Shard)))
	for _, field := range []struct{ name, text string }{{"by", why.By}, {"note", why.Note}, {"Assignment.Owner", to.Owner}} {
		if reason := required(field.text); reason != "" {
			c.fail(&InvalidError{Field: field.name, Reason: reason})
		}
	}
	if (b.Status == StatusResolved) != (what == changeReopen) {
		c.fail(&StateError{Batch: b.Batch, Break: b.ID, State: string(b.Status), Version: b.Version, Read: b.Version})
	}
	if len(b.Changes) >= MaxChanges {
		c.fail(&InvalidError{Field: "Break.Changes", Reason: "are as many as a break may have"})
	}
	c.Set(attrState, text(string(state)))
	c.Set(attrOwner, text(to.Owner))
	c.time(attrDue, to.Due)
	if state == StatusResolved {
		c.Remove(r.config.IndexPK, r.config.IndexSK)
	} else {
		listed, err := keys.BreakDue{Tenant: b.Tenant, Status: string(state), Shard: b.Placement.Shard, Due: to.Due, Batch: b.Batch, Break: b.ID}.Key()
		if err != nil {
			c.fail(invalidKey(err))
		}
		c.Set(r.config.IndexPK, text(listed.PK))
		c.Set(r.config.IndexSK, text(listed.SK))
	}
	c.push(attrChanges, r.changeItem(c, what, why))
	c.explain = func(stored *decoder) error {
		return &StateError{Batch: b.Batch, Break: b.ID, State: stored.text(attrState), Version: stored.number(attrVersion), Read: b.Version}
	}
	return c.part()
}

func (r *Reconciler) changeItem(c *change, what string, why Evidence) types.AttributeValue {
	at, err := keys.Time(r.config.Now())
	if err != nil {
		c.fail(invalidKey(err))
	}
	m := txn.Item{fieldAt: text(at), fieldBy: text(why.By), fieldWhat: text(what), fieldNote: text(why.Note)}
	if why.Reference != "" {
		m[fieldReference] = text(why.Reference)
	}
	return &types.AttributeValueMemberM{Value: m}
}

func (d *decoder) changes() (list []Change) {
	for _, value := range d.list(attrChanges) {
		m, ok := value.(*types.AttributeValueMemberM)
		if !ok {
			d.bad(attrChanges)
			return nil
		}
		in := *d
		in.path, in.item = attrChanges+".", m.Value
		list = append(list, Change{At: in.time(fieldAt), By: in.text(fieldBy), What: in.text(fieldWhat), Note: in.text(fieldNote), Reference: in.optional(fieldReference)})
	}
	return list
}
