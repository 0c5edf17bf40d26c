package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// row reads "id key amount +hours value", of which the last three may be missing or "-".
func row(text string) reconcile.Row {
	f := append(strings.Fields(text), "-", "-", "-")
	r := reconcile.Row{ID: f[0], Key: f[1]}
	if f[2] != "-" {
		r.Amount = money.MustParse(f[2][:len(f[2])-3] + " " + f[2][len(f[2])-3:])
	}
	if f[3] != "-" {
		hours, err := time.ParseDuration(f[3] + "h")
		if err != nil {
			panic(err)
		}
		r.At = day.Add(hours)
	}
	if f[4] != "-" {
		r.Value = f[4]
	}
	return r
}

// rows is a source of rows as row reads them.
func rows(texts ...string) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for _, text := range texts {
			if !yield(row(text), nil) {
				return
			}
		}
	}
}

// given is a source of rows.
func given(list []reconcile.Row) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// show writes an outcome in one line: "MISMATCHED b: l1 | r1 r2, drift -1.00 USD (amount)".
func show(o reconcile.Outcome) string {
	ids := func(rows []reconcile.Row) string {
		var list []string
		for _, r := range rows {
			list = append(list, r.ID)
		}
		return strings.Join(list, " ")
	}
	s := fmt.Sprintf("%s %s: %s | %s", o.Kind, o.Key, ids(o.Left), ids(o.Right))
	if !o.Drift.IsZero() {
		s += ", drift " + o.Drift.String()
	}
	if len(o.Faults) > 0 {
		s += " (" + strings.Join(o.Faults, ", ") + ")"
	}
	return s
}

// match compares two sides and returns every outcome as show writes it, in its order.
func match(t stores.TB, options reconcile.Options, rules reconcile.Rules, window reconcile.Window, left, right reconcile.Rows) ([]string, reconcile.Summary) {
	t.Helper()
	c, err := reconcile.Load(context.Background(), options, left, right)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	summary, err := c.Match(context.Background(), rules, window, func(o reconcile.Outcome) error {
		all = append(all, show(o))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return all, summary
}

// bench is a store with the table of batches and breaks, and a clock that stands still.
type bench struct {
	store  *stores.Store
	client *dynamodb.Client
	table  txn.Table
	desk   *reconcile.Reconciler
	now    time.Time
}

func setup(t stores.TB) *bench {
	t.Helper()
	b := &bench{store: stores.Open(t), now: day}
	b.client = b.store.Client()
	shape := reconcile.New(nil, reconcile.Config{})
	b.table = txn.Table{Name: b.store.Table(t, stores.Keyed(reconcile.DefaultTable, shape.IndexAttributes(), shape.Index()))}
	b.desk = b.reconciler(b.client)
	return b
}

func (b *bench) reconciler(client reconcile.Client) *reconcile.Reconciler {
	return reconcile.New(client, reconcile.Config{Table: b.table, Now: func() time.Time { return b.now },
		Txn: txn.Config{Jitter: func(time.Duration) time.Duration { return 0 }}})
}

// quick retries without waiting, and not often.
var quick = txn.Config{MaxAttempts: 2, Jitter: func(time.Duration) time.Duration { return 0 }}

const tenant, date, batch = "acme", "2026-11-29", "cash-1"

func manifest() reconcile.Manifest {
	return reconcile.Manifest{Tenant: tenant, Date: date, Batch: batch, Rules: "cash-3",
		Window: reconcile.Window{Cutoff: day}, Left: reconcile.Input{Name: "ledger"}, Right: reconcile.Input{Name: "statement"}}
}

// job compares two lists with one break of each kind.
func job(worker string) reconcile.Job {
	return reconcile.Job{Worker: worker, Rules: reconcile.Rules{Name: "cash-3"},
		Left:  rows("l1 a 1.00USD -2", "l2 b 2.00USD -2", "l3 c 3.00USD -2"),
		Right: rows("r1 a 1.00USD -1", "r2 b 2.50USD -1", "r4 d 4.00USD -1"),
		Assign: func(o reconcile.Outcome) reconcile.Assignment {
			return reconcile.Assignment{Owner: "ops-" + strings.ToLower(string(o.Kind)), Due: day.Add(24 * time.Hour)}
		}}
}

// jobBreaks are the breaks of job, by their keys.
var jobBreaks = []string{"MISMATCHED b l2|r2 0.50 USD amount", "MISSING c l3| -3.00 USD ", "UNEXPECTED d |r4 4.00 USD "}

// breaks lists the stored breaks.
func (b *bench) breaks(t stores.TB) (list []reconcile.Break) {
	t.Helper()
	for one, err := range b.desk.Breaks(context.Background(), tenant, batch) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

func told(breaks []reconcile.Break) (list []string) {
	for _, b := range breaks {
		list = append(list, fmt.Sprintf("%s %s %s|%s %s %s", b.Kind, b.Key, strings.Join(b.Left.IDs, "+"), strings.Join(b.Right.IDs, "+"), b.Drift, strings.Join(b.Faults, "+")))
	}
	slices.Sort(list)
	return list
}

func (b *bench) batch(t *testing.T) reconcile.Batch {
	t.Helper()
	stored, err := b.desk.Batch(t.Context(), tenant, date, batch)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func (b *bench) commit(t *testing.T, part txn.Part) txn.Receipt {
	t.Helper()
	receipt, err := txn.Commit(t.Context(), b.client, part)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// byKey reads the break of a key.
func (b *bench) byKey(t *testing.T, key string) reconcile.Break {
	t.Helper()
	for _, one := range b.breaks(t) {
		if one.Key == key {
			return one
		}
	}
	t.Fatalf("there is no break of key %s", key)
	return reconcile.Break{}
}
