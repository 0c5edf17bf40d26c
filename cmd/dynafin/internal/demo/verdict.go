package demo

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// invariant is something that must hold in the end, and whether it does.
type invariant struct {
	Name   string `json:"name"`
	Says   string `json:"says"`
	Held   bool   `json:"held"`
	Counts string `json:"counts"`
}

// stored is what is in the tables in the end.
type stored struct {
	completed, rejected, names, events, published, parked, receipts int
	reports                                                         []ledger.Report
	sums                                                            ledger.TrialBalance
	applied, behind                                                 int64
	gaps                                                            int
}

// rows reads a whole table of the simulator.
func (w *world) rows(ctx context.Context, table string) iter.Seq2[txn.Item, error] {
	return func(yield func(txn.Item, error) bool) {
		scan, err := export.NewScan(w.plain, export.ScanConfig{Table: table, Segments: 1, UnitsPerSecond: 1_000_000, Now: w.Now,
			Sleep: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			yield(nil, err)
			return
		}
		for r, err := range scan.Records(ctx) {
			if !yield(r.New, err) || err != nil {
				return
			}
		}
	}
}

// look counts what is stored, without the network that was bad.
func (w *world) look(ctx context.Context) (s stored, err error) {
	for row, err := range w.rows(ctx, w.deploy.Requests.Table) {
		if err != nil {
			return s, err
		}
		if r, ok, err := w.requests.Decode(row); err != nil {
			return s, err
		} else if ok && r.State == idempotency.Completed {
			if s.completed++; r.Result.Kind == idempotency.Rejected {
				s.rejected++
			}
		}
	}
	for row, err := range w.rows(ctx, "Orders") {
		if err != nil {
			return s, err
		}
		if err := w.countOrders(&s, row); err != nil {
			return s, err
		}
	}
	for row, err := range w.rows(ctx, "Portfolio") {
		if err != nil {
			return s, err
		}
		if _, ok, err := w.received.Decode(row); err != nil {
			return s, err
		} else if ok {
			s.receipts++
		}
	}
	return s, w.prove(ctx, &s)
}

func (w *world) countOrders(s *stored, row txn.Item) error {
	if _, ok, err := w.names.Decode(row); err != nil {
		return err
	} else if ok {
		s.names++
	}
	r, ok, err := w.events.Decode(row)
	if err != nil || !ok {
		return err
	}
	s.events++
	switch r.State {
	case outbox.Completed:
		s.published++
	case outbox.Parked:
		s.parked++
	}
	return nil
}

// prove recomputes every balance, and adds up the books and the projection.
func (w *world) prove(ctx context.Context, s *stored) (err error) {
	if s.reports, err = w.books.VerifyAll(w.rows(ctx, w.deploy.Ledger.Table), nil); err != nil {
		return err
	}
	if s.sums, err = w.books.TrialBalance(ctx, w.plain, tenant, w.deploy.Ledger.Accounts...); err != nil {
		return err
	}
	totals, err := w.positions.Totals(ctx)
	if err != nil {
		return err
	}
	s.applied = totals.Events
	for g, err := range w.positions.Gaps(ctx) {
		if err != nil {
			return err
		}
		s.gaps++
		s.behind += g.Parked
	}
	return nil
}

// judge holds what is stored against what clients and the bus saw.
func judge(d *day, s stored, orders int, messages []outbox.Message, delivered, duplicates int) []invariant {
	distinct := map[string]bool{}
	for _, m := range messages {
		distinct[m.Event.ID] = true
	}
	accepted, unproved := len(d.accepted), 0
	postings := int64(0)
	for _, r := range s.reports {
		if postings += r.Postings; r.Err() != nil {
			unproved++
		}
	}
	entries := int(postings) / 2
	return []invariant{
		{"no order is lost", "every order that a client sent has an answer: placed or not covered",
			d.gaveUp == 0 && accepted+d.rejected == orders && s.completed == orders && s.rejected == d.rejected,
			fmt.Sprintf("%d orders, %d placed, %d not covered", orders, accepted, d.rejected)},
		{"an order counts once", "each placed order has one name, one entry and one event, however often it was sent",
			s.names == accepted && s.events == accepted && entries == accepted+customers,
			fmt.Sprintf("%d names, %d entries, %d events", s.names, entries-customers, s.events)},
		{"repeats get the first answer", "byte for byte; the same key with another order is refused",
			d.wrongReplies == 0 && d.refusedMismatch == d.differing,
			fmt.Sprintf("%d sent again; %d with another body: refused", d.repeats, d.refusedMismatch)},
		{"no event is lost", "each is acknowledged by the bus, or parked with a reason for somebody to decide",
			s.published+s.parked == s.events && len(distinct) == s.published,
			fmt.Sprintf("%d published in %d messages, %d parked", s.published, len(messages), s.parked)},
		{"an event takes effect once", "however often it is delivered",
			s.receipts == len(distinct) && delivered-duplicates == s.receipts,
			fmt.Sprintf("%d deliveries, %d receipts", delivered, s.receipts)},
		{"the books balance", "every balance follows from its postings, and debits equal credits",
			unproved == 0 && s.sums.Balanced(), fmt.Sprintf("%d balances proved, sum %s", len(s.reports)-unproved, sums(s.sums))},
		{"the view misses nothing silently", "what is not applied waits at a gap that names the missing version",
			s.applied+s.behind == int64(s.receipts), fmt.Sprintf("%d applied, %d behind %d gaps", s.applied, s.behind, s.gaps)},
	}
}

func sums(tb ledger.TrialBalance) (text string) {
	for _, s := range tb.Sums {
		text += s.String()
	}
	return text
}
