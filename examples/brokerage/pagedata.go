package main

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/money"
)

// writePage writes the page of a day to a file.
func writePage(name string, d page.Data) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := page.Write(file, d); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// pageOf puts together what the page shows. All of it was counted or read during the run.
func pageOf(o options, r *report, f *firm, w *wire) (page.Data, error) {
	s := f.office.story
	d := page.Data{
		Title: "A day at a brokerage", Seed: o.seed, Orders: r.OrdersRead,
		Facts: []page.Fact{
			{Name: "Business day", Value: businessDate}, {Name: "Input", Value: fmt.Sprintf("%s, %s", r.source, plural(r.passes, "pass", "passes"))},
			{Name: "Lost answers", Value: shareOf(o.lose, "transactions")}, {Name: "Crashes", Value: shareOf(o.crash, "jobs")}, {Name: "Index lag", Value: o.lag.String()},
			{Name: "It took", Value: f.clock.now().Sub(s.began).Round(time.Second).String() + " by the firm's clock"},
			{Name: "Result", Value: r.Audit.Digest},
		},
		Tiles:    page.Tiles{Accepted: r.Accepted, Absorbed: r.DuplicatesAbsorbed + r.Replayed, Delivered: r.EventsPublished},
		Timeline: s.timeline(), Flow: s.flow(), Marks: thinned(s.marks, 60),
		Books: f.told.books, Accounts: f.told.accounts, Items: f.told.items, Invariants: f.told.invariants,
		Outcomes: []page.Outcome{
			{Name: "Accepted", Count: r.Accepted, Meaning: "order, client order ID, reservation, result and event were committed together"},
			{Name: "Replayed", Count: r.Replayed, Meaning: "decided before: the stored result came back"},
			{Name: "Mismatched", Count: r.Mismatched, Meaning: "the request key belongs to another order"},
			{Name: "Name taken", Count: r.NameTaken, Meaning: "another order has the client order ID; the refusal is stored, too"},
			{Name: "Not covered", Count: r.NotCovered, Meaning: "the account does not have what the order may take"},
			{Name: "Invalid", Count: r.Invalid, Meaning: "refused before anything was sent"},
		},
		Reconciliation: page.Reconciliation{
			Rows: r.Reconciliation.Compared, Matched: f.told.matched, Planted: r.Reconciliation.Planted, Found: r.Reconciliation.Found,
			False: r.Reconciliation.False, Breaks: f.told.breaks,
		},
		Again: page.Again{
			Command:  o.command(),
			Versions: []page.Fact{{Name: "engine", Value: "dynamosim, in this process"}, {Name: "schedule", Value: "all take turns, as the seed says"}},
			Missing: []string{"throughput of a whole table or account", "partitions that split", "two Regions", "signatures and permissions",
				"workers that run at the same time: on this page all take turns, without -report they do not"},
			Where: "package dynamosim says what it does not model; docs/endpoints.md compares engines",
		},
	}
	for _, total := range r.Audit.TrialBalance {
		if total.sum.Currency().Kind() == money.KindCash { // those of securities are in the trial balance
			d.Tiles.Sums = append(d.Tiles.Sums, total.sum)
		}
	}
	d.Faults = f.faults(r, w)
	for i := range d.Invariants {
		d.Invariants[i].LastStep, d.Invariants[i].Repeat = len(s.times), o.command()
	}
	d.Cost = costOf(r, w.db.Hottest(-1))
	return d, nil
}

// shareOf says how much of something was to go wrong.
func shareOf(share float64, of string) string {
	if share == 0 {
		return "none asked for"
	}
	return fmt.Sprintf("%v of %s", share, of)
}

// command shows the same page again, to the last byte: the name of the file is not that of the run.
func (o options) command() string {
	text := fmt.Sprintf("go run ./examples/brokerage -seed %d -lose-answers %v -crash %v -lag %s -repeat %d -report out.html", o.seed, o.lose, o.crash, o.lag, o.passes)
	if o.file != "" {
		text += " " + filepath.Base(o.file)
	}
	return text
}

// faults are what went wrong on purpose, and what came with the day or followed, and what became of it.
func (f *firm) faults(r *report, w *wire) []page.Fault {
	_, lost, _ := w.counts()
	busLost := f.office.snapshot().Unanswered
	all := []page.Fault{
		{Name: "The answer to a transaction is lost after commit", Times: lost, Retried: lost},
		{Name: "A worker dies in the midst of a job", Times: r.WorkersDied, Recovered: r.WorkersDied},
		{Name: "The answer of the bus is lost", Times: busLost, Retried: busLost},
		{Name: "A process dies while it pays a customer out", Times: r.Payments.Crashed, Recovered: r.Payments.Completed + r.Payments.Escalated, Retried: r.Payments.Released},
		{Name: "The bus loses an event on its way to the portfolio", Times: r.Rebuild.EventsLost, Recovered: r.Rebuild.EventsLost},
		{Name: "Records, statements and logs are made wrong", Times: r.Reconciliation.Planted, Recovered: r.Reconciliation.Resolved},
		{Name: "A distribution is booked with two digits swapped", Times: r.Distribution.Booked, Recovered: r.Distribution.Reversed},
		{Name: "An event or a report comes again", Came: true, Times: r.DuplicatesAbsorbed, Replayed: r.DuplicatesAbsorbed},
		{Name: "A client sends an order again", Came: true, Times: r.Replayed, Replayed: r.Replayed},
		{Name: "The venue reports more than an order has open", Came: true, Times: r.FillsRefused, Refused: r.FillsRefused},
	}
	for i := range all {
		all[i].Effect = f.told.effect
	}
	return all
}

// The prices of a million units in US dollars: on demand, us-east-1, as listed since November 2024.
var writePrice, readPrice = big.NewRat(625, 1000), big.NewRat(125, 1000)

// costOf is what the day used, by access pattern, beside the plan.
func costOf(r *report, keys []dynamosim.KeyHeat) page.Cost {
	c := page.Cost{Lane: "IDX17, the events of orders that are ready", Rate: "At 0.625 USD for a million write units and 0.125 USD for a million read units: on demand, us-east-1, as listed since November 2024."}
	var read, write capacity.Units
	for _, p := range r.Patterns {
		read, write = read+p.read, write+p.write
		if p.Reads > 0 {
			c.Patterns = append(c.Patterns, page.Pattern{ID: p.ID, What: p.What + ", read", Operations: p.Reads, Requests: p.Reads, Read: p.read,
				Chapter: p.PlanRead, Measured: p.PerRead.String(), Note: p.ReadNote})
		}
		if p.write > 0 {
			one := page.Pattern{ID: p.ID, What: p.What + ", written", Operations: p.Operations - p.Reads, Requests: p.Requests - p.Reads, Write: p.write,
				Chapter: p.PlanWrite, Measured: p.PerWrite.String(), Note: p.WriteNote}
			if one.Operations == 0 { // no items, only index entries
				one.Operations = one.Requests
			}
			c.Patterns = append(c.Patterns, one)
		}
	}
	for _, route := range r.Routes {
		c.Routes = append(c.Routes, page.Route{ID: route.ID, Requests: route.Operations})
	}
	thousand := func(units capacity.Units) string { return mean(1000*units, max(1, r.Accepted)).String() }
	c.ReadPerThousand, c.WritePerThousand = thousand(read), thousand(write)
	c.Price = priceOf(read, write, max(1, r.Accepted)).FloatString(4) + " USD"
	c.Shards = shardsOf(keys)
	return c
}

// priceOf is what a thousand accepted orders cost.
func priceOf(read, write capacity.Units, accepted int) *big.Rat {
	cost := new(big.Rat).Add(new(big.Rat).Mul(big.NewRat(int64(write), 2), writePrice), new(big.Rat).Mul(big.NewRat(int64(read), 2), readPrice))
	return cost.Mul(cost, big.NewRat(1000, 1_000_000*int64(accepted)))
}

// shardsOf are the thirteen shards on which orders' events wait, with what each took in its busiest second.
func shardsOf(keys []dynamosim.KeyHeat) (shards []page.Shard) {
	for _, k := range keys {
		shard, ok := strings.CutPrefix(k.Key, "SERVICE#orders#READY#")
		if ok && k.Table == ordersTable.Name && k.Index == "GSI3" {
			shards = append(shards, page.Shard{Name: shard, Peak: int(k.Write.Peak / capacity.Whole(1)), Limit: 1000})
		}
	}
	slices.SortFunc(shards, func(a, b page.Shard) int { return strings.Compare(a.Name, b.Name) })
	return shards
}

var zeroUSD = money.MustParse("0.00 USD")
