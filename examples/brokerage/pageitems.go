package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// samples are the first stored items of each kind, by their keys.
type samples map[string][]txn.Item

// sampled are the kinds of items that the page shows: how their keys begin, and which attributes are shown.
var sampled = []struct {
	entity, pk, sk string
	attributes     []string
}{
	{"Order", "TEN#", "META", []string{"clientOrderId", "status", "version", "symbol"}},
	{"Client order ID", "TEN#", "UNIQUE", []string{"owner"}},
	{"Event", "OUTBOX#", "EVENT", []string{"eventType", "state", "ack"}},
	{"Trade", "TEN#", "TRADE#", []string{"tradeId", "side", "symbol"}},
	{"Route", "TEN#", "ROUTE", []string{"venue"}},
	{"Refused fill", "TEN#", "REFUSED#", []string{"tradeId", "reason"}},
	{"Receipt", "CONSUMER#", "EVENT#", []string{"source", "sourceVersion"}},
	{"Checkpoint", "PROJ#", "SOURCE#", []string{"version", "events"}},
	{"Account", "TEN#", "ACCOUNT", []string{"side", "status"}},
	{"Balance", "TEN#", "AUTH#", []string{"posted", "reserved", "available", "version"}},
	{"Posting", "TEN#", "POST#", []string{"amount", "asset", "source"}},
	{"Transaction", "TEN#", "HEADER", []string{"source"}},
	{"Reservation", "TEN#", "RESERVATION", []string{"state", "amount", "left"}},
}

const samplesEach = 2

// take keeps an item if it is one of the first of its kind.
func (s samples) take(item txn.Item) {
	pk, sk := textOf(item, "PK"), textOf(item, "SK")
	for _, kind := range sampled {
		if !strings.HasPrefix(pk, kind.pk) || !strings.HasPrefix(sk, kind.sk) || strings.Contains(pk, "STRIPE#") {
			continue
		}
		list := append(s[kind.entity], item)
		slices.SortFunc(list, func(a, b txn.Item) int {
			return strings.Compare(textOf(a, "PK")+textOf(a, "SK"), textOf(b, "PK")+textOf(b, "SK"))
		})
		s[kind.entity] = list[:min(samplesEach, len(list))]
		return
	}
}

func (s samples) items() (list []page.Item) {
	for _, kind := range sampled {
		for _, item := range s[kind.entity] {
			one := page.Item{Entity: kind.entity, PK: textOf(item, "PK"), SK: textOf(item, "SK")}
			for _, name := range kind.attributes {
				if value := textOf(item, name); value != "" {
					one.Attributes = append(one.Attributes, page.Fact{Name: name, Value: value})
				}
			}
			list = append(list, one)
		}
	}
	return list
}

// invariants are the promises of the day, each held against what is stored.
func (n *night) invariants() (list []page.Invariant) {
	held := func(name, sentence, test string, checked int, broken string) {
		list = append(list, page.Invariant{Name: name, Sentence: sentence, Test: test, Checked: checked, Broken: broken})
	}
	unless := func(ok bool, format string, args ...any) string {
		if ok {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	var orders, heads, created, completed, names, short, balances int
	for _, x := range n.x.tenants {
		orders, heads, names = orders+len(x.accepted), heads+len(x.owners), names+len(x.names)
		for _, r := range x.events {
			created++
			if r.State == outbox.Completed {
				completed++
			}
		}
		for _, b := range x.balances {
			if !b.NoMinimum {
				balances++
				if b.Available.Sign() < 0 {
					short++
				}
			}
		}
	}
	a, r, p := n.audited, n.recon, n.payments.count
	held("One order for each request", "What was accepted is stored once, however often it was sent.", "TestTheResultDependsNeitherOnWorkersNorOnFaults", heads,
		unless(heads == orders, "%d orders are stored, %d were accepted", heads, orders))
	held("No order without its event", "Order and event were committed together, so each has the other.", "TestAnAcceptanceCountsOnceWhateverAnswersAreLost", orders,
		unless(heads == orders, "%d events, %d orders", orders, heads))
	held("Names are unique", "Each client order ID has one order, and each order its name; what was left behind was found.", "TestTenantsShareNothing", names,
		unless(r.False == 0, "%d differences that nobody made", r.False))
	held("Published", "Every event was acknowledged by the bus.", "TestAnInterruptedBackOfficeLosesNothing", created,
		unless(completed == created, "%d of %d", completed, created))
	held("Filled at most", "All trades of an order together are at most the order, and what it says is filled.", "TestFillsAreNeverMoreThanTheOrder", n.asked.Open,
		unless(n.asked.Stale == 0, "%d orders were listed as open and were not", n.asked.Stale))
	held("In order", "The portfolio has every version of every order, in their order.", "TestAGapIsVisibleUntilTheMissingTradeComes", n.rebuilt.Events, "")
	held("View and books agree", "Every position is what the books say.", "TestTheSampleDayComesToItsTotals", n.rebuilt.Positions, "")
	held("Zero", "All accounts add up to zero in every asset.", "TestTheSampleDayComesToItsTotals", len(a.TrialBalance), unless(a.Balanced, "%v", a.TrialBalance))
	held("Never below", "No customer has less than nothing, reservations included.", "TestARejectionIsDurableAndCountsOnceWhateverAnswersAreLost", balances,
		unless(short == 0, "%d balances are below", short))
	held("Proved", "Every balance is the sum of its postings, by count, sum and digest.", "TestTheSampleDayComesToItsTotals", a.Balances,
		unless(a.Proved == a.Balances, "%d of %d", a.Proved, a.Balances))
	held("Paid once", "The bank paid every customer who asked, once, whatever died in between.", "TestTheSampleDayComesToItsTotals", p.Asked,
		unless(p.Unsettled == 0 && n.payments.bank.total() == p.Asked, "%d payments, %d asked for, %d unsettled", n.payments.bank.total(), p.Asked, p.Unsettled))
	held("Found", "Reconciliation found every planted fault and no other, and closed each with evidence.", "TestTheSampleDayComesToItsTotals", r.Planted,
		unless(r.Missed == 0 && r.False == 0 && r.Open == 0 && r.Resolved == r.Planted, "%d missed, %d false, %d open", r.Missed, r.False, r.Open))
	return list
}

// total is how often the bank has paid.
func (b *bank) total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.paid)
}
