package ready

import (
	"context"
	"encoding/hex"
	"iter"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// mapped makes a row of each record that has one.
func mapped[T any](records iter.Seq2[T, error], row func(T) (r reconcile.Row, ok bool)) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for record, err := range records {
			if err != nil {
				yield(reconcile.Row{}, err)
				return
			}
			if r, ok := row(record); ok && !yield(r, nil) {
				return
			}
		}
	}
}

// Authorities are the balances of a ledger as they are kept: the sum of each, with count and digest of its postings.
func Authorities(balances iter.Seq2[ledger.Balance, error]) reconcile.Rows {
	return mapped(balances, func(b ledger.Balance) (reconcile.Row, bool) { return totalRow(b.Place(), b.Totals()), true })
}

// Postings are the same balances as their postings add up to, each recomputed by [ledger.Ledger.Verify] when it is ranged over.
// A balance that is posted to while it is read, so that nothing certain can be said, is a row of the time now: with a grace,
// it is expected and not a break.
//
// Cost: that of Verify for each balance. The error is Verify's.
func Postings(ctx context.Context, book *ledger.Ledger, client ledger.Client, balances iter.Seq2[ledger.Balance, error], now func() time.Time) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for b, err := range balances {
			if err != nil {
				yield(reconcile.Row{}, err)
				return
			}
			report, err := book.Verify(ctx, client, ledger.Verification{Tenant: b.Tenant, Account: b.Account, Asset: b.Currency, Stripe: b.Stripe})
			if err != nil {
				yield(reconcile.Row{}, err)
				return
			}
			row := totalRow(b.Place(), report.Recomputed)
			if len(report.Moved) > 0 {
				row.At = now()
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func totalRow(place ledger.Place, t ledger.Totals) reconcile.Row {
	id := txn.JoinKey(place.Tenant, place.Account, place.Asset, strconv.Itoa(place.Stripe))
	return reconcile.Row{ID: id, Key: id, Amount: t.Sum, Value: strconv.FormatInt(t.Count, 10) + ":" + hex.EncodeToString(t.Digest[:])}
}

// Lines are the postings of a ledger one by one, effective when they count. The key says what the other side calls a
// posting; nil stands for its transaction's Source, which names the payment or statement that it came from.
func Lines(lines iter.Seq2[ledger.Line, error], key func(ledger.Line) string) reconcile.Rows {
	if key == nil {
		key = func(l ledger.Line) string { return l.Source }
	}
	return mapped(lines, func(l ledger.Line) (reconcile.Row, bool) {
		return reconcile.Row{ID: txn.JoinKey(l.Transaction, strconv.Itoa(l.Line)), Key: key(l), Amount: l.Amount, At: l.EffectiveAt}, true
	})
}

// Completed are the events of an outbox that count as published, each with the broker's answer.
func Completed(records iter.Seq2[outbox.Record, error]) reconcile.Rows {
	return mapped(records, func(r outbox.Record) (reconcile.Row, bool) {
		return reconcile.Row{ID: r.Event.ID, Key: r.Event.ID, Value: r.Ack, At: r.CompletedAt}, r.State == outbox.Completed
	})
}

// Receipt is what a broker says that it took.
type Receipt struct {
	// EventID is the event's, Ack what the broker answered to the publisher.
	EventID, Ack string
	// At is when it took it.
	At time.Time
}

// Receipts are what a broker says that it took. Published twice, an event has two: its second is unexpected, once its grace is
// over.
func Receipts(receipts iter.Seq2[Receipt, error]) reconcile.Rows {
	return mapped(receipts, func(r Receipt) (reconcile.Row, bool) {
		return reconcile.Row{ID: txn.JoinKey(r.EventID, r.Ack), Key: r.EventID, Value: r.Ack, At: r.At}, true
	})
}

// Source is what a source of a projection says about itself.
type Source struct {
	// Name is the source's name, Version its latest version.
	Name    string
	Version int64
	// At is when it reached that version.
	At time.Time
}

// Sources are the latest versions of a projection's sources.
func Sources(sources iter.Seq2[Source, error]) reconcile.Rows {
	return mapped(sources, func(s Source) (reconcile.Row, bool) { return versionRow(s.Name, s.Version, s.At), true })
}

// Checkpoints are the versions that a projection has reached, of [projection.Namespace.Checkpoints].
func Checkpoints(checkpoints iter.Seq2[projection.Checkpoint, error]) reconcile.Rows {
	return mapped(checkpoints, func(c projection.Checkpoint) (reconcile.Row, bool) {
		return versionRow(c.Source, c.Version, c.OccurredAt), true
	})
}

func versionRow(source string, version int64, at time.Time) reconcile.Row {
	return reconcile.Row{ID: source, Key: source, Value: strconv.FormatInt(version, 10), At: at}
}

// Names are names in use with their owners; [sentinel.Names.Decode] reads them out of the items of a table export.
func Names(names iter.Seq2[sentinel.Held, error]) reconcile.Rows {
	return mapped(names, func(h sentinel.Held) (reconcile.Row, bool) { return nameRow(h.Tenant, h.Kind, h.Name, h.Owner), true })
}

// Owner is what an owner's own record says about its name.
type Owner struct {
	Tenant, Kind, Name string
	// Owner is the owner's ID.
	Owner string
}

// Owners are owners with the names that their own records have.
func Owners(owners iter.Seq2[Owner, error]) reconcile.Rows {
	return mapped(owners, func(o Owner) (reconcile.Row, bool) { return nameRow(o.Tenant, o.Kind, o.Name, o.Owner), true })
}

func nameRow(tenant, kind, name, owner string) reconcile.Row {
	key := txn.JoinKey(tenant, kind, name)
	return reconcile.Row{ID: txn.JoinKey(tenant, kind, name, owner), Key: key, Value: owner}
}
