// Command reconcile shows the pattern: a ledger is held against the bank's statement of the day. What differs becomes work with an
// owner and a due time; the run dies on its way and is started again; one break closes with the posting that corrects the
// books. It runs on the embedded engine and prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}

const tenant, date, batch = "acme", "2026-11-29", "bank-usd"

// midnight is when the day ends that is reconciled.
var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// statement is what the bank sent. It sees the account from its side, so a deposit of ours is negative there.
const statement = `Line,Reference,Amount,Ccy,Booked
1,pay-1,-100.00,USD,2026-11-29 09:12
2,pay-2,-249.50,USD,2026-11-29 09:40
3,pay-4,-30.00,USD,2026-11-29 11:02
4,pay-4,-20.00,USD,2026-11-29 11:03
5,pay-6,-12.00,USD,2026-11-29 16:30
`

// desk is finance operations: the books, and what is done about differences.
type desk struct {
	out    io.Writer
	client *dynamodb.Client
	book   *ledger.Ledger
	breaks *reconcile.Reconciler
	now    time.Time
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	db := dynamosim.Open(dynamosim.Options{})
	d := &desk{out: out, client: db.Client(), now: midnight} // in production: the *dynamodb.Client that you have
	clock := func() time.Time { return d.now }
	d.book = ledger.New(ledger.Config{Now: clock})
	d.breaks = reconcile.New(d.client, reconcile.Config{Now: clock})
	if err := db.CreateTable(ledger.DefaultTable, d.book.Indexes()...); err != nil {
		return err
	}
	if err := db.CreateTable(reconcile.DefaultTable, d.breaks.Index()); err != nil {
		return err
	}
	for _, chapter := range []func(context.Context) error{d.bookTheDay, d.reconcile, d.list, d.correct, d.list, d.age} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bookTheDay opens two accounts and posts the deposits that the service knows of.
func (d *desk) bookTheDay(ctx context.Context) error {
	usd, err := money.ISO("USD")
	if err != nil {
		return err
	}
	for id, side := range map[string]ledger.Side{"bank": ledger.DebitSide, "customers": ledger.CreditSide} {
		open := d.book.OpenAccount(ledger.Account{Tenant: tenant, ID: id, Side: side}, ledger.Asset{Currency: usd, NoMinimum: true})
		if _, err := txn.Commit(ctx, d.client, open); err != nil {
			return err
		}
	}
	for _, p := range []struct{ id, amount, at string }{
		{"pay-1", "100.00 USD", "09:10"}, {"pay-2", "250.00 USD", "09:38"}, {"pay-3", "75.00 USD", "10:15"}, {"pay-4", "50.00 USD", "11:00"}, {"pay-5", "9.99 USD", "23:50"},
	} {
		at, err := time.Parse("2006-01-02 15:04", date+" "+p.at)
		if err != nil {
			return err
		}
		if _, err := txn.Commit(ctx, d.client, d.deposit(p.id, money.MustParse(p.amount), at)); err != nil {
			return err
		}
	}
	return nil
}

// deposit is the part that books money that came in. Its source is what the bank calls it.
func (d *desk) deposit(id string, amount money.Amount, at time.Time) txn.Part {
	return d.book.Post(ledger.Transaction{Tenant: tenant, ID: id, Source: strings.TrimSuffix(id, "-fix"), EffectiveAt: at,
		Postings: []ledger.Posting{ledger.Debit("bank", amount), ledger.Credit("customers", amount)}})
}

// reconcile declares the batch and runs it twice: the first run dies when it has written a break.
func (d *desk) reconcile(ctx context.Context) error {
	err := d.breaks.Create(ctx, reconcile.Manifest{
		Tenant: tenant, Date: date, Batch: batch, Rules: "bank-1", Window: reconcile.Window{Cutoff: midnight, Grace: time.Hour},
		Left: reconcile.Input{Name: "ledger, account bank"}, Right: reconcile.Input{Name: "statement", Control: &reconcile.Totals{Rows: 5}},
	})
	if err != nil {
		return err
	}
	died := errors.New("the process died")
	ctx1, die := context.WithCancelCause(ctx)
	assigned := 0
	job := d.job(ctx)
	job.Assign = func(o reconcile.Outcome) reconcile.Assignment {
		if assigned++; assigned == 2 {
			die(died)
		}
		return d.job(ctx).Assign(o)
	}
	if _, err := d.breaks.Run(ctx1, tenant, date, batch, job); err == nil {
		return errors.New("the first run was to die")
	}
	fmt.Fprintln(d.out, "the first run died")
	summary, err := d.breaks.Run(ctx, tenant, date, batch, d.job(ctx))
	if err != nil {
		return err
	}
	o := summary.Outcomes
	fmt.Fprintf(d.out, "the second: matched %d, missing %d, unexpected %d, mismatched %d, expected later %d\n", o[reconcile.Matched],
		o[reconcile.Missing], o[reconcile.Unexpected], o[reconcile.Mismatched], o[reconcile.Expected])
	return nil
}

// job is what is compared, and who must explain what differs.
func (d *desk) job(ctx context.Context) reconcile.Job {
	lines := d.book.Statement(ctx, d.client, ledger.StatementQuery{Tenant: tenant, Account: "bank", Month: "2026-11"})
	columns := ready.Columns{ID: "Line", Key: "Reference", Amount: "Amount", Currency: "Ccy", Negate: true, At: "Booked", Layout: "2006-01-02 15:04"}
	return reconcile.Job{
		Worker: "nightly", Rules: reconcile.Rules{Name: "bank-1", OneToMany: true, Apart: 6 * time.Hour},
		Left: ready.Lines(lines, nil), Right: ready.CSV(strings.NewReader(statement), columns),
		Assign: func(o reconcile.Outcome) reconcile.Assignment {
			owner := map[reconcile.Kind]string{reconcile.Missing: "treasury", reconcile.Unexpected: "customer care", reconcile.Mismatched: "treasury"}[o.Kind]
			return reconcile.Assignment{Owner: owner, Due: midnight.Add(10 * time.Hour)}
		},
	}
}

// list prints what waits, without a Scan.
func (d *desk) list(ctx context.Context) error {
	fmt.Fprintf(d.out, "\n%-12s%-8s%-14s%s\n", "BREAK", "KEY", "DRIFT", "OWNER")
	for b, err := range d.breaks.Due(ctx, tenant, reconcile.StatusOpen, midnight.Add(24*time.Hour)) {
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "%-12s%-8s%-14s%s\n", b.Kind, b.Key, b.Drift, b.Owner)
	}
	return nil
}

// correct closes a break together with the posting that is its evidence: both or neither.
func (d *desk) correct(ctx context.Context) error {
	d.now = d.now.Add(9 * time.Hour)
	for b, err := range d.breaks.Breaks(ctx, tenant, batch) {
		if err != nil {
			return err
		}
		if b.Key != "pay-6" {
			continue
		}
		_, err := txn.Commit(ctx, d.client,
			d.deposit("pay-6-fix", b.Drift, midnight.Add(-time.Hour)),
			d.breaks.Resolve(b, reconcile.Evidence{By: "ann", Note: "its webhook was lost", Reference: "pay-6-fix"}))
		if err != nil {
			return err
		}
		fmt.Fprintln(d.out, "\npay-6 is booked, and its break closed with the posting")
	}
	return nil
}

// age prints how long the rest has waited.
func (d *desk) age(ctx context.Context) error {
	lines, err := d.breaks.Ageing(ctx, tenant, d.now.Add(5*time.Hour), 8*time.Hour, 24*time.Hour)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.out)
	for _, l := range lines {
		fmt.Fprintf(d.out, "%s at %s for %v or more: %d, %d overdue, drift %v\n", l.Kind, l.Owner, l.From, l.Breaks, l.Overdue, l.Drift)
	}
	return nil
}
