package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/txn"
)

// The comparisons of a night, one batch for each and each tenant (AP14).
const (
	batchStreet    = "street"    // what trades moved, against the statement of bank and custodian
	batchBooks     = "books"     // balances, against their postings
	batchBroker    = "broker"    // events that were published, against the broker's log
	batchPortfolio = "portfolio" // orders, against how far the view of their trades is
	batchNames     = "names"     // client order IDs, against the orders that have them
)

var businessDate = marketCloses.Format(time.DateOnly)

// reconciled is what came out of a night. Found are the breaks; those that were planted must all be found, and nothing else.
type reconciled struct {
	Batches  int `json:"batches"`
	Compared int `json:"rows_compared"` // on both sides
	Planted  int `json:"planted"`
	Found    int `json:"found"`
	Missed   int `json:"missed"` // planted, and not found
	False    int `json:"false"`  // found, and not planted
	Resolved int `json:"resolved"`
	Open     int `json:"open"` // not explained

	// ByBatch is the same for each comparison.
	ByBatch map[string]batchCount `json:"by_batch"`
}

type batchCount struct {
	Compared int `json:"rows_compared"`
	Planted  int `json:"planted"`
	Found    int `json:"found"`
	Resolved int `json:"resolved"`
}

// night is what finance operations do while nothing is traded: export, compare, rebuild, and close every break with evidence.
type night struct {
	*firm
	desk     *reconcile.Reconciler
	seeds    *seeds
	x        *exported
	reported map[string]fill // what the venue stands by, when it is asked
	restored []string        // balances of which a posting was put back
	view     map[account][]position
}

func (f *firm) newDesk() *reconcile.Reconciler {
	return reconcile.New(f.service.client, reconcile.Config{
		Table: reconTable, Currencies: f.service.books.market.registry, Now: f.clock.now, Txn: f.pace,
	})
}

// atNight runs the night, unless it was done before: a date has one.
func (f *firm) atNight(ctx context.Context) error {
	f.clock.reach(nightBegins)
	n := &night{firm: f, desk: f.newDesk(), seeds: newSeeds(), view: map[account][]position{}}
	tenants := tenantsOf(f.accounts)
	if len(tenants) == 0 {
		return nil
	}
	_, err := n.desk.Batch(ctx, tenants[0], businessDate, batchStreet)
	if err == nil || !errors.Is(err, reconcile.ErrNotFound) {
		return err
	}
	bucket, err := os.MkdirTemp("", "brokerage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bucket)
	if err := n.damage(ctx, n.seeds); err != nil {
		return fmt.Errorf("damage: %w", err)
	}
	if n.x, err = f.takeExports(ctx, bucket); err != nil {
		return err
	}
	for _, tenant := range tenants {
		if err := n.compare(ctx, tenant); err != nil {
			return fmt.Errorf("reconciliation of %s: %w", tenant, err)
		}
	}
	if err := n.rebuild(ctx); err != nil {
		return fmt.Errorf("rebuild of the portfolio: %w", err)
	}
	if err := n.office.wait(ctx, n.office.lag); err != nil { // what is due comes from an index
		return err
	}
	for _, tenant := range tenants {
		if err := n.resolve(ctx, tenant); err != nil {
			return fmt.Errorf("breaks of %s: %w", tenant, err)
		}
	}
	return n.prove(ctx)
}

// comparison is two sides, and what they are.
type comparison struct {
	batch       string
	left, right reconcile.Rows
	from, with  string
}

// comparisons are those of a tenant.
func (n *night) comparisons(ctx context.Context, tenant string) ([]comparison, error) {
	x := n.x.of(tenant)
	text, err := statement(x.accepted, n.seeds)
	if err != nil {
		return nil, err
	}
	log := n.brokerLog(n.seeds, tenant, x)
	var checkpoints []projection.Checkpoint
	reached := map[string]int64{}
	for c, err := range n.office.portfolio.namespace().Checkpoints(ctx) {
		if err != nil {
			return nil, err
		}
		if of, _ := orderOf(c.Source); of == tenant && c.Version > firstVersion {
			checkpoints = append(checkpoints, c)
			reached[c.Source] = c.Version
		}
	}
	for _, r := range x.events {
		if loses(r.Event) {
			n.seeds.plant(tenant, batchPortfolio, "the bus lost an event on its way to the portfolio", versionOf(r.Event).Source)
		}
	}
	return []comparison{
		{batchStreet, ready.Lines(given(x.street), keyOfLine), n.service.books.market.readStatement(text), "ledger export", "statement"},
		{batchBooks, ready.Authorities(given(x.balances)), proofRows(x), "balances", "their postings"},
		{batchBroker, timeless(ready.Completed(given(x.events))), timeless(ready.Receipts(given(log))), "outbox exports", "the broker's log"},
		{batchPortfolio, ready.Sources(given(x.heads)), ready.Checkpoints(given(checkpoints)), "orders export", "checkpoints"},
		{batchNames, ready.Names(given(x.names)), ready.Owners(given(x.owners)), "names", "orders"},
	}, nil
}

// given are the elements of a list, as a source.
func given[T any](list []T) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// timeless are rows that are due whenever they are compared: whether an event was sent is known at night.
func timeless(rows reconcile.Rows) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for row, err := range rows {
			row.At = time.Time{}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// proofRows are the balances as their postings add up to, as [ready.Postings] makes them of a table.
func proofRows(x *tenantData) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for _, r := range x.proofs {
			id := txn.JoinKey(r.Place.Tenant, r.Place.Account, r.Place.Asset, strconv.Itoa(r.Place.Stripe))
			value := strconv.FormatInt(r.Recomputed.Count, 10) + ":" + hex.EncodeToString(r.Recomputed.Digest[:])
			if !yield(reconcile.Row{ID: id, Key: id, Amount: r.Recomputed.Sum, Value: value}, nil) {
				return
			}
		}
	}
}

// compare runs the batches of a tenant, and counts what they find against what was planted.
func (n *night) compare(ctx context.Context, tenant string) error {
	list, err := n.comparisons(ctx, tenant)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := n.runBatch(ctx, tenant, c); err != nil {
			return fmt.Errorf("%s: %w", c.batch, err)
		}
	}
	return nil
}

func (n *night) runBatch(ctx context.Context, tenant string, c comparison) error {
	now := n.clock.now()
	err := n.desk.Create(ctx, reconcile.Manifest{
		Tenant: tenant, Date: businessDate, Batch: c.batch, Rules: c.batch + "-1", Window: reconcile.Window{Cutoff: nightBegins},
		Left: reconcile.Input{Name: c.from}, Right: reconcile.Input{Name: c.with},
	})
	if err != nil {
		return err
	}
	summary, err := n.desk.Run(ctx, tenant, businessDate, c.batch, reconcile.Job{
		Worker: "nightly", Rules: reconcile.Rules{Name: c.batch + "-1"}, Left: c.left, Right: c.right, Options: reconcile.Options{Workers: 1},
		Assign: func(reconcile.Outcome) reconcile.Assignment {
			return reconcile.Assignment{Owner: "finance-ops", Due: now.Add(24 * time.Hour)}
		},
	})
	if err != nil {
		return err
	}
	n.recon.Batches++
	n.told.matched += int(summary.Rows[reconcile.Matched])
	n.count(c.batch, func(b *batchCount) { b.Compared += int(summary.Left.Rows + summary.Right.Rows) })
	found := map[string]bool{}
	for b, err := range n.desk.Breaks(ctx, tenant, c.batch) {
		if err != nil {
			return err
		}
		found[b.Key] = true
		if _, planted := n.seeds.planted[seed{tenant, c.batch, b.Key}]; !planted {
			n.recon.False++
		}
		n.count(c.batch, func(b *batchCount) { b.Found++ })
	}
	for s := range n.seeds.planted {
		if s.tenant == tenant && s.batch == c.batch {
			n.count(c.batch, func(b *batchCount) { b.Planted++ })
			if !found[s.key] {
				n.recon.Missed++
			}
		}
	}
	return nil
}

// count adds to a comparison and to the whole.
func (n *night) count(batch string, edit func(*batchCount)) {
	r := &n.recon
	if r.ByBatch == nil {
		r.ByBatch = map[string]batchCount{}
	}
	one := r.ByBatch[batch]
	edit(&one)
	r.ByBatch[batch] = one
	r.Compared, r.Planted, r.Found, r.Resolved = 0, 0, 0, 0
	for _, b := range r.ByBatch {
		r.Compared, r.Planted, r.Found, r.Resolved = r.Compared+b.Compared, r.Planted+b.Planted, r.Found+b.Found, r.Resolved+b.Resolved
	}
}
