package ledger

import (
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// explain says why a change was refused, from the record that the write met, and remembers the bucket that it shows.
func (l *Ledger) explain(c *change, old txn.Item) error {
	if old == nil {
		return &NotFoundError{What: "asset", Tenant: c.ref.tenant, ID: c.ref.account, Asset: c.ref.code}
	}
	b, err := decodeAuthority(c.ref, old)
	if err != nil {
		return err
	}
	l.learn(b, c)
	return l.judge(c, b)
}

// learn remembers where the postings of a month go, if that is not the bucket that everybody assumes, or that was assumed here.
func (l *Ledger) learn(b Balance, c *change) {
	if now := b.month(c.month); c.postings > 0 && (now.Bucket > 0 || now.Room < c.slots || c.hinted) {
		l.hints.learn(hintKey{c.ref, c.month}, hint{bucket: now.Bucket, room: now.Room}, c)
	}
}

// judge holds a change against a balance: the rules of the write's condition, in the order in which the errors of this
// package are listed. It returns nil if the balance would take the change.
func (l *Ledger) judge(c *change, b Balance) error {
	place := c.ref.place()
	switch {
	case b.Status != StatusOpen && !c.anytime:
		return &StatusError{Place: place, Status: b.Status}
	case b.Currency.Scale() != c.currency.Scale():
		return &ScaleError{Place: place, Scale: c.currency.Scale(), Stored: b.Currency.Scale()}
	case c.takes != "" && c.takes != b.Side:
		return &SideError{Place: place, Side: b.Side}
	case c.postings > 0 && b.ClosedThrough >= c.month:
		return &PeriodClosedError{Place: place, Month: c.month, ClosedThrough: b.ClosedThrough}
	case c.expect > 0 && c.expect != b.Version:
		return &VersionError{What: "balance", ID: "of " + place.String(), Expected: c.expect, Stored: b.Version}
	}
	moved, err := c.moved()
	if err != nil {
		return &LimitError{What: "account", ID: c.ref.account, Limit: "digits of an amount", Max: MaxDigits}
	}
	if own := b.Side.own(moved); own.Sign() < 0 && !b.NoMinimum {
		if enough, err := b.Available.Cmp(own.Neg()); err != nil || enough < 0 {
			return &InsufficientError{Place: place, Available: b.Available, Need: own.Neg()}
		}
	}
	if err := c.judgeLimits(b); err != nil {
		return err
	}
	if c.postings == 0 {
		return nil
	}
	now := b.month(c.month)
	switch {
	case c.slots > b.Slots, now.Room < c.slots && now.Bucket+1 >= l.buckets():
		return &CapError{Place: place, Month: c.month, Buckets: l.buckets(), Slots: b.Slots}
	case c.rolls && now.Bucket == c.bucket-1 && now.Room < c.slots, !c.rolls && now.Bucket == c.bucket && now.Room >= c.slots:
		return nil
	case now.Room < c.slots:
		return &RolledError{Place: place, Month: c.month, Bucket: now.Bucket + 1}
	default:
		return &RolledError{Place: place, Month: c.month, Bucket: now.Bucket}
	}
}

// judgeLimits holds a change against the limits that a balance itself has.
func (c *change) judgeLimits(b Balance) error {
	limit := func(name string, most int) error {
		return &LimitError{What: "account", ID: c.ref.account, Limit: name, Max: most}
	}
	signedReserved := b.Side.own(b.Reserved.Neg())
	if over(b.Signed, c.posted) || over(signedReserved, c.reserved) {
		return limit("digits of a balance", MaxDigits)
	}
	if c.postings == 0 {
		return nil
	}
	if len(b.Open) >= MaxOpenMonths && b.month(c.month).Count == 0 {
		return limit("open months with postings", MaxOpenMonths)
	}
	if c.lane > 0 && c.lane >= b.Lanes {
		return limit("lanes", b.Lanes)
	}
	return nil
}

// over says whether an addend that is bounded at all would take a sum past MaxDigits.
func over(sum, addend money.Amount) bool {
	if _, err := addend.MinorInt64(); err == nil {
		return false
	}
	total, err := sum.Add(addend)
	return err != nil || tooLong(total) && total.Sign() == addend.Sign()
}
