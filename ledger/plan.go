package ledger

import (
	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// plan is what one transaction writes: its header, its postings, and one change for each balance that it touches. Plans
// of several transactions can share the writes of their balances, see merge.
type plan struct {
	tx       *Transaction
	header   txn.Write
	postings []txn.Write
	changes  []*change
	extra    []txn.Write // a reservation or links
	values   *values     // of everything that the plan writes
}

// How many values of each kind there are room for: those of a header, of a posting with its line in the header, and of a change.
const (
	headerTexts                  = 7
	postingTexts, postingNumbers = 12, 5
	changeTexts, changeNumbers   = 3, 8
)

// plan checks a transaction and works out its writes. The bucket is the one that was last seen, or the first.
func (l *Ledger) plan(tx *Transaction, from origin) (*plan, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	if err := tx.check(); err != nil {
		return nil, err
	}
	t, err := l.times(tx)
	if err != nil {
		return nil, err
	}
	n := len(tx.Postings)
	p := &plan{
		tx: tx, postings: make([]txn.Write, n), changes: make([]*change, 0, n),
		values: newValues(headerTexts+n*(postingTexts+changeTexts), n*(postingNumbers+changeNumbers)),
	}
	month := Month(t.effective[:len("2006-01")])
	var space [8]*change
	of := space[:0] // the change of each line
	for i := range tx.Postings {
		c, err := l.changeOf(p, &tx.Postings[i], month)
		if err != nil {
			return nil, err
		}
		of = append(of, c)
		item, err := l.postingItem(tx, i, placed(c, tx.Postings[i].Lane), t, p.values)
		if err != nil {
			return nil, err
		}
		p.postings[i] = l.postingWrite(item)
		c.slots += l.slots(capacity.ItemSize(item) + markBytes)
	}
	if err := l.rollBuckets(p, of); err != nil {
		return nil, err
	}
	buckets := make([]int, len(of))
	for i, c := range of {
		d, _ := l.PostingDigest(p.postings[i].Item)
		x, y := d.halves()
		c.x, c.y = c.x.add(x), c.y.add(y)
		buckets[i] = c.bucket
	}
	if p.header, err = l.headerWrite(tx, from, headerPosted, "", t, buckets, p.values); err != nil {
		return nil, err
	}
	return p, p.expect()
}

func placed(c *change, lane int) Placed {
	return Placed{Tenant: c.ref.tenant, Account: c.ref.account, Stripe: c.ref.stripe, Lane: lane, Month: c.month, Bucket: c.bucket}
}

// times returns the effective time and the time of recording as text.
func (l *Ledger) times(tx *Transaction) (t times, err error) {
	if t.effective, err = keys.Time(tx.EffectiveAt); err != nil {
		return t, invalidKey("transaction", tx.ID, err)
	}
	t.recorded, err = l.timestamp()
	return t, err
}

// timestamp returns the time of the ledger's clock as text.
func (l *Ledger) timestamp() (string, error) {
	at, err := keys.Time(l.config.Now())
	if err != nil {
		return "", &InvalidError{What: "config", Field: "Now", Reason: "is outside the years 1 to 9999", Err: err}
	}
	return at, nil
}

// changeOf adds a line to the change of its balance.
func (l *Ledger) changeOf(p *plan, line *Posting, month Month) (*change, error) {
	r := refOf(p.tx.Tenant, line.Account, line.Amount.Currency(), line.Stripe)
	for _, c := range p.changes {
		if c.ref != r {
			continue
		}
		sum, err := c.posted.Add(line.Amount)
		if err != nil || tooLong(sum) {
			return nil, &LimitError{What: "transaction", ID: p.tx.ID, Limit: "digits of an amount", Max: MaxDigits}
		}
		c.posted, c.postings, c.lane = sum, c.postings+1, max(c.lane, line.Lane)
		return c, nil
	}
	c := &change{ref: r, currency: line.Amount.Currency(), posted: line.Amount, postings: 1, month: month, lane: line.Lane}
	if c.hint, c.hinted = l.hints.get(hintKey{r, month}); c.hinted {
		c.bucket = c.hint.bucket
	}
	p.changes = append(p.changes, c)
	return c, nil
}

// rollBuckets moves the lines of a balance whose bucket is known to have too little room to the next one.
func (l *Ledger) rollBuckets(p *plan, of []*change) error {
	rolled := false
	for _, c := range p.changes {
		if c.hinted && c.hint.room < c.slots && c.bucket+1 < l.buckets() {
			c.bucket, c.rolls, rolled = c.bucket+1, true, true
		}
	}
	if !rolled {
		return nil
	}
	for i, c := range of {
		if !c.rolls {
			continue
		}
		partition, err := placed(c, p.tx.Postings[i].Lane).partition()
		if err != nil {
			return invalidKey("transaction", p.tx.ID, err)
		}
		p.postings[i].Item[l.config.Table.PK] = text(partition)
	}
	return nil
}

// postingWrite creates a posting. It needs no condition: its key has the transaction's identifier, which the header
// makes unique, so nothing can be there.
func (l *Ledger) postingWrite(item txn.Item) txn.Write {
	return txn.Write{Action: txn.ActionPut, Table: l.config.Table, Item: item}
}

// expect hands the versions that the caller named to the changes of their balances.
func (p *plan) expect() error {
next:
	for _, e := range p.tx.Expect {
		r := refOf(p.tx.Tenant, e.Account, e.Currency, e.Stripe)
		for _, c := range p.changes {
			if c.ref != r {
				continue
			}
			if e.Version < 1 {
				return p.tx.invalid("Expect", "has a version that no balance has")
			}
			c.expect = e.Version
			continue next
		}
		return p.tx.invalid("Expect", "names a balance that the transaction does not post to")
	}
	return nil
}

// change returns the plan's change of one balance.
func (p *plan) change(r ref) *change {
	for _, c := range p.changes {
		if c.ref == r {
			return c
		}
	}
	return nil
}

// writes returns everything that the transaction writes, the header first: it decides before anything else does.
func (l *Ledger) writes(p *plan) ([]txn.Write, error) {
	all := make([]txn.Write, 0, 1+len(p.extra)+len(p.changes)+len(p.postings))
	all = append(append(all, p.header), p.extra...)
	for _, c := range p.changes {
		w, err := l.write(c, p.values)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	all = append(all, p.postings...)
	if len(all) > txn.MaxItems {
		return nil, &LimitError{What: "transaction", ID: p.tx.ID, Limit: "writes, its header and balances included", Max: txn.MaxItems}
	}
	return all, nil
}

// part is the plan as a Part of a transaction.
func (l *Ledger) part(label string, p *plan, err error) txn.Part {
	if err != nil {
		return txn.BadPart(label, err)
	}
	writes, err := l.writes(p)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}
