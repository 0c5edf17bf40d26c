package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/dynafin/dynafin/capacity"
)

// report is what the day came to. The names of its JSON form are stable. OrdersRead is the sum of the seven counts below
// it: every line that was read is in exactly one of them.
type report struct {
	OrdersRead int `json:"orders_read"`
	Accepted   int `json:"accepted"`
	Replayed   int `json:"replayed"`
	Mismatched int `json:"mismatched"`
	NameTaken  int `json:"name_taken"`
	NotCovered int `json:"not_covered"`
	Invalid    int `json:"invalid"`
	Unfinished int `json:"unfinished"`

	// OutboxReady counts the events that waited for a relay when all orders were decided, by one keyed query for each READY
	// shard.
	OutboxReady int `json:"outbox_ready"`
	// TransactionsSent counts the requests on the wire that decided orders, repeats after lost answers included; AnswersLost
	// counts these.
	TransactionsSent int `json:"transactions_sent"`
	AnswersLost      int `json:"answers_lost"`
	// ReadsSent counts the requests that read an item while orders were decided. It stays 0.
	ReadsSent int `json:"reads_sent"`

	UnitsPerAccept units `json:"units_per_accept"`

	// Fills is what the venue reported, each report once: Trades and FillsRefused.
	Fills        int `json:"fills"`
	Trades       int `json:"trades"`
	FillsRefused int `json:"fills_refused"`
	// EventsPublished counts events that the bus acknowledged, EventsApplied those that had their effect at their consumer, each
	// once. DuplicatesAbsorbed counts deliveries and reports of the venue whose effect was there already, and EventsEarly
	// those that had to wait for the one before them. These two differ from run to run.
	EventsPublished    int `json:"events_published"`
	EventsApplied      int `json:"events_applied"`
	DuplicatesAbsorbed int `json:"duplicates_absorbed"`
	EventsEarly        int `json:"events_early"`
	// Positions counts those of the accounts of the day, and PositionsDigest is equal for equal positions. GapsOpen counts
	// orders of which the portfolio misses a version.
	Positions       int    `json:"positions"`
	PositionsDigest string `json:"positions_digest"`
	GapsOpen        int    `json:"gaps_open"`

	// UnitsByStep are the write units of one order that was accepted or routed, one fill that was recorded, one event that was
	// published or applied.
	UnitsByStep map[string]units `json:"units_by_step"`

	// OrdersCancelled and OrdersExpired are those that ended with something open. EventsSettled counts events that had their
	// effect in the books.
	OrdersCancelled int `json:"orders_cancelled"`
	OrdersExpired   int `json:"orders_expired"`
	EventsSettled   int `json:"events_settled"`
	// Payments is what became of the payments to customers, and of those that crashed; Distribution what was booked wrongly and
	// put right.
	Payments     paid      `json:"payments"`
	Distribution corrected `json:"distribution"`

	Reconciliation reconciled `json:"reconciliation"`
	Rebuild        rebuilt    `json:"rebuild"`
	Audit          audited    `json:"audit"`

	// Enquiries is what was asked after the close. WorkersDied counts those that died in the midst of a job, and DeathsByKind who
	// they were.
	Enquiries    asked          `json:"enquiries"`
	WorkersDied  int            `json:"workers_died"`
	DeathsByKind map[string]int `json:"workers_died_by_kind"`
	// Patterns and Routes are what the whole day used, AP01 to AP18 and IDX01 to IDX19; nil at an endpoint. UnitsUnexplained are
	// those of transactions that the sizes of their items do not explain, and of what no pattern has.
	Patterns         []patternUse `json:"patterns"`
	Routes           []routeUse   `json:"routes"`
	UnitsUnexplained json.Number  `json:"units_unexplained"`

	source                    string
	passes, workers, accounts int
	portfolio                 survey
	reserve                   units
}

// units are write units: the exact mean over those whose receipt came with the answer to the write itself, to three
// decimals if it has more. All are 0 if there are none.
type units struct {
	Base  json.Number `json:"base"`
	Index json.Number `json:"index"`
	Total json.Number `json:"total"`
}

func (c cost) mean() units {
	return units{mean(c.base, c.n), mean(c.index, c.n), mean(c.base+c.index, c.n)}
}

// decided takes over what became of the orders.
func (r *report) decided(t tally) {
	r.OrdersRead, r.Unfinished = t.Read, t.Unfinished
	r.Accepted, r.Replayed, r.Mismatched = t.Outcomes[accepted], t.Outcomes[replayed], t.Outcomes[mismatched]
	r.NameTaken, r.Invalid = t.Outcomes[nameTaken], t.Outcomes[invalid]
	r.NotCovered = t.Outcomes[notCovered]
	r.UnitsPerAccept, r.reserve = t.Accept.mean(), t.Reserve.mean()
}

// worked takes over what the firm did, and reads what it has.
func (r *report) worked(ctx context.Context, f *firm) error {
	b := f.office
	a := b.snapshot()
	open, waiting, gapsUnknown := b.portfolio.gaps(ctx)
	found, positionsUnknown := b.portfolio.survey(ctx, f.accounts)
	r.Fills, r.Trades, r.FillsRefused = len(a.Fills), a.Trades, a.Refused
	r.OrdersCancelled, r.OrdersExpired = a.Cancelled, a.Expired
	r.EventsPublished, r.EventsApplied, r.EventsSettled = a.Published, len(a.Routed)+len(a.Applied)-waiting-f.rebuilt.waiting, len(a.Settled)
	r.DuplicatesAbsorbed, r.EventsEarly = a.Duplicates, a.Waited
	r.Positions, r.PositionsDigest, r.GapsOpen = found.count, found.digest, open
	r.accounts, r.portfolio = len(f.accounts), found
	r.Payments, r.Distribution, r.Reconciliation, r.Rebuild, r.Audit = f.payments.count, f.corrected, f.recon, f.rebuilt, f.audited
	r.Enquiries = f.asked
	r.DeathsByKind, r.WorkersDied = b.lives.count()
	r.UnitsByStep = map[string]units{
		"accept": r.UnitsPerAccept, "reserve": r.reserve, "route": a.Route.mean(), "fill": a.Fill.mean(), "publish": a.Publish.mean(),
		"apply": a.Apply.mean(), "settle": a.Settle.mean(),
	}
	return errors.Join(gapsUnknown, positionsUnknown)
}

// mean divides exactly; capacity counts in halves of a unit.
func mean(sum capacity.Units, n int) json.Number {
	if n == 0 {
		return "0"
	}
	text := big.NewRat(int64(sum), 2*int64(n)).FloatString(3)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

func (r *report) writeJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

func (r *report) writeTable(w io.Writer) error {
	var b strings.Builder
	row := func(name, figure, meaning string) { fmt.Fprintf(&b, "%-12s %9s   %s\n", name, figure, meaning) }
	count := func(name string, n int, meaning string) { row(name, grouped(n), meaning) }
	fmt.Fprintf(&b, "brokerage day: %s, %s, %s\n\n", r.source, plural(r.passes, "pass", "passes"), plural(r.workers, "worker", "workers"))
	row("OUTCOME", "ORDERS", "MEANING")
	count("accepted", r.Accepted, "order, client order ID, result and event committed together")
	count("replayed", r.Replayed, "decided before: the stored result came back")
	count("mismatched", r.Mismatched, "the request key belongs to another order")
	count("name taken", r.NameTaken, "another order has the client order ID")
	count("not covered", r.NotCovered, "the account does not have what the order may take")
	count("invalid", r.Invalid, "refused before anything was sent")
	if r.Unfinished > 0 {
		count("unfinished", r.Unfinished, "undecided when the day stopped: submit again")
	}
	count("read", r.OrdersRead, "every line is counted once")
	fmt.Fprintln(&b)
	count("outbox", r.OutboxReady, "events ready when all were decided, in 13 shards")
	count("transactions", r.TransactionsSent, fmt.Sprintf("requests sent; %s lost; reads: %s", plural(r.AnswersLost, "answer", "answers"), grouped(r.ReadsSent)))
	fmt.Fprintln(&b)
	row("AFTERWARDS", "COUNT", "MEANING")
	count("fills", r.Fills, "reported by the venue, repeats not counted")
	count("trades", r.Trades, "trade, order and event committed together")
	count("refused", r.FillsRefused, "more than the order had open; kept for reconciliation")
	count("published", r.EventsPublished, "events that the bus acknowledged to a relay")
	count("applied", r.EventsApplied, "events that had their effect, once, at execution or portfolio")
	count("duplicates", r.DuplicatesAbsorbed, "deliveries and reports whose effect was there already")
	count("early", r.EventsEarly, "events that waited for the version before theirs")
	count("settled", r.EventsSettled, "events that had their effect in the books, once")
	count("cancelled", r.OrdersCancelled, "orders that the venue ended with something open")
	count("expired", r.OrdersExpired, "orders that the close ended; what they had reserved is free")
	if r.WorkersDied > 0 {
		count("died", r.WorkersDied, "workers in the midst of a job; others took it over")
	}
	count("gaps", r.GapsOpen, "orders of which the portfolio misses a version")
	count("positions", r.Positions, fmt.Sprintf("of %s; digest %s", plural(r.accounts, "account", "accounts"), r.PositionsDigest))
	r.nightTable(row)
	if len(r.portfolio.has) > 0 {
		fmt.Fprintln(&b)
		row("PORTFOLIO", "TRADES", fmt.Sprintf("of account %s of %s, and the version of an order that changed it last", r.portfolio.largest.id, r.portfolio.largest.tenant))
	}
	for _, has := range r.portfolio.has {
		row(has.Quantity.Currency().Code(), has.Trades, fmt.Sprintf("%s for %s, version %s of %s", has.Quantity.Text(), has.Cost, has.SourceVersion, has.Source))
	}
	fmt.Fprintln(&b)
	row("COST", "UNITS", "WRITE UNITS FOR EACH")
	for _, step := range [...]struct{ name, what string }{
		{"accept", "accepted order"}, {"reserve", "accepted order, in the books"}, {"route", "order sent to the venue"}, {"fill", "recorded fill"},
		{"publish", "published event, claim journal included"}, {"apply", "event applied to a position"}, {"settle", "trade posted, its part of the reservation captured"},
	} {
		u := r.UnitsByStep[step.name]
		row(step.name, u.Total.String(), fmt.Sprintf("%s: %s base + %s index", step.what, u.Base, u.Index))
	}
	r.patternTable(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// nightTable are the rows about what happens after the close.
func (r *report) nightTable(row func(name, figure, meaning string)) {
	count := func(name string, n int, meaning string) { row(name, grouped(n), meaning) }
	row("\nPAYMENTS", " COUNT", "MEANING")
	count("asked", r.Payments.Asked, "customers want to be paid out")
	count("paid", r.Payments.Paid, fmt.Sprintf("by the bank, of these %d when they asked again", r.Payments.Released))
	count("repaired", r.Payments.Completed, fmt.Sprintf("of %d that died: the bank had paid, and a worker found out", r.Payments.Crashed))
	count("escalated", r.Payments.Escalated, "not even the bank knew; an operator decided, by its letter")
	row("\nNIGHT", " COUNT", "MEANING")
	count("corrected", r.Distribution.Rebooked, "payouts of a fund, booked wrongly, reversed and booked again")
	count("compared", r.Reconciliation.Compared, fmt.Sprintf("rows in %s", plural(r.Reconciliation.Batches, "reconciliation", "reconciliations")))
	count("planted", r.Reconciliation.Planted, "faults that were made on purpose")
	count("found", r.Reconciliation.Found, fmt.Sprintf("breaks: %d of the faults missed, %d false", r.Reconciliation.Missed, r.Reconciliation.False))
	count("resolved", r.Reconciliation.Resolved, fmt.Sprintf("with evidence; %d unexplained", r.Reconciliation.Open))
	count("lost", r.Rebuild.EventsLost, fmt.Sprintf("events on their way to the portfolio, which left %s", plural(r.Rebuild.GapsBefore, "gap", "gaps")))
	count("rebuilt", r.Rebuild.Events, fmt.Sprintf("events from an export, in %d proved steps; readers use view %d", r.Rebuild.Steps, r.Rebuild.Namespace))
	row("\nBOOKS", " COUNT", "MEANING")
	count("accounts", r.Audit.Accounts, fmt.Sprintf("with %s in %s", plural(r.Audit.Postings, "posting", "postings"), plural(len(r.Audit.TrialBalance), "asset", "assets")))
	count("proved", r.Audit.Proved, fmt.Sprintf("balances, of %s, from their postings", grouped(r.Audit.Balances)))
	count("reserved", r.Audit.Reserved, "orders that stay open overnight")
	row("digest", "", r.Audit.Digest+" of orders, balances and positions")
	row("\nBALANCE", " SUM", "DEBIT = CREDIT, ALL ACCOUNTS OF AN ASSET")
	for _, one := range r.Audit.TrialBalance {
		sum := one.Sum
		if strings.Trim(sum, "0.") == "" {
			sum = "0"
		}
		row(one.Asset, sum, one.Debit)
	}
	if len(r.Audit.TrialBalance) > 0 {
		row("large", "", "on purpose: customers begin with so much that which order came first never decides what is covered")
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
