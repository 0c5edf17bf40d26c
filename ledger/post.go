package ledger

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/dynafin/dynafin/txn"
)

// Post returns the part that posts a transaction (AP10, AP12): its header, its postings, and every balance that it
// touches, each once. It needs no read. The Commit fails, and changes nothing, with the first of these for each balance:
//
//	[DuplicateError]    the identifier is in use; Same: this transaction is posted, all is well. It settles the Commit.
//	[RefusedError]      the identifier was refused for good. It settles the Commit.
//	[NotFoundError]     the account, or the asset in it, is not open
//	[StatusError]       the account is frozen or closed
//	[ScaleError]        another number of decimal places
//	[PeriodClosedError] the month of the effective time is closed
//	[VersionError]      an expected version is not the stored one
//	[InsufficientError] less is available than needed
//	[LimitError]        digits of a balance, open months, lanes
//	[CapError]          the month is full
//	[RolledError]       another bucket is current by now: build the part again, as [Ledger.Commit] does
//
// What needs no stored record is checked here and reported by the Commit before anything is sent: [InvalidError],
// [UnbalancedError], [LimitError], [ScaleError].
//
// Beside an idempotency part, put that one first: a repeat then gets its stored result.
//
// Cost: 2 write units for the header, for each posting, and for each account and asset; see the package documentation.
func (l *Ledger) Post(tx Transaction) txn.Part {
	p, err := l.plan(&tx, origin{})
	return l.part("AP10.post", p, err)
}

// Refuse returns the part that refuses a transaction for good: the refusal takes the place of its header, so neither a
// later attempt nor a copy that is still under way can post it. Whoever tries gets a [RefusedError] with the reason, which
// people will read. If the transaction is posted, the Commit fails with a [DuplicateError]; if it was refused before, with a
// RefusedError.
//
// Cost: 2 write units.
func (l *Ledger) Refuse(tx Transaction, reason string) txn.Part {
	const label = "AP10.refuse"
	write, err := l.refuse(&tx, reason)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

func (l *Ledger) refuse(tx *Transaction, reason string) (txn.Write, error) {
	if err := l.unusable(); err != nil {
		return txn.Write{}, err
	}
	if err := checkReason("transaction", tx.ID, reason); err != nil {
		return txn.Write{}, err
	}
	if err := tx.check(); err != nil {
		return txn.Write{}, err
	}
	t, err := l.times(tx)
	if err != nil {
		return txn.Write{}, err
	}
	return l.headerWrite(tx, origin{}, headerRefused, reason, t, nil, newValues(headerTexts, 0))
}

func checkReason(what, id, reason string) error {
	switch {
	case reason == "" || !utf8.ValidString(reason):
		return &InvalidError{What: what, ID: id, Field: "reason", Reason: "is empty or not valid UTF-8"}
	case len(reason) > maxReasonBytes:
		return &LimitError{What: what, ID: id, Limit: "bytes of a reason", Max: maxReasonBytes}
	}
	return nil
}

// rolls is how often an attempt can be refused for the bucket, and be right to try again. A refusal means that others have filled a
// bucket or begun one since this Ledger last heard of it, and for each balance a month has two such moments for each bucket. There
// is room for a pair of balances.
func (l *Ledger) rolls() int { return 4 * l.buckets() }

// Commit builds parts and commits them, and does both again while the only obstacle is a bucket that has changed
// ([RolledError]). Each attempt makes the next one right, unless others fill another bucket meanwhile; so it is seldom more than two,
// and it ends before the buckets of a month do. build is called for every attempt and makes the same parts each time, one
// of them by this Ledger.
//
// Cost: that of each attempt, also of the refused ones. Errors: those of [txn.Committer.Commit] and of the parts; [ErrRolled] if the
// buckets change faster than it repeats, which takes more writers at once than a bucket has room for.
func (l *Ledger) Commit(ctx context.Context, committer *txn.Committer, build func() []txn.Part) (_ txn.Receipt, err error) {
	ctx, op := l.watch.Begin(ctx, "AP10.commit")
	defer op.End(&err)
	if err := l.unusable(); err != nil {
		return txn.Receipt{}, err
	}
	for attempt := 0; ; attempt++ {
		receipt, err := committer.Commit(ctx, build()...)
		if attempt == l.rolls() || !onlyRolled(err) {
			return receipt, err
		}
	}
}

// onlyRolled says whether buckets are the only reason of a cancellation.
func onlyRolled(err error) bool {
	var canceled *txn.CanceledError
	if !errors.As(err, &canceled) || len(canceled.Reasons) == 0 {
		return false
	}
	for _, reason := range canceled.Reasons {
		if !errors.Is(reason.Err, ErrRolled) && !errors.Is(reason.Err, txn.ErrContention) {
			return false
		}
	}
	return true
}

// Repeated says whether an error only tells that this very thing was done before: the caller's work is done.
func Repeated(err error) bool {
	var duplicate *DuplicateError
	return errors.As(err, &duplicate) && duplicate.Same
}
