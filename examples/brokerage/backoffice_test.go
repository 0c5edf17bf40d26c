package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// mustFollow compares what happened after acceptance with a model of it that has no database, no bus and no workers: one
// line after the other, one fill after the other.
func mustFollow(t *testing.T, got map[string]any, day []daygen.Line) {
	t.Helper()
	m := follow(t, day)
	for name, want := range map[string]any{
		"fills": float64(m.trades + m.mistakes), "trades": float64(m.trades), "fills_refused": float64(m.mistakes),
		"orders_cancelled": float64(m.cancelled), "orders_expired": float64(m.expired),
		"events_published": float64(m.orders + m.trades + m.cancelled + m.expired), "events_applied": float64(m.orders + m.seen),
		"events_settled": float64(m.trades + m.cancelled + m.expired),
		"positions":      float64(m.positions), "positions_digest": m.digest, "gaps_open": 0.0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	mustBalance(t, got)
}

// mustBalance holds the books and the night against what they must be whatever the day was.
func mustBalance(t *testing.T, got map[string]any) {
	t.Helper()
	audit, _ := got["audit"].(map[string]any)
	if audit["balanced"] != true || audit["balances"] != audit["balances_proved"] || audit["balances"] == 0.0 {
		t.Errorf("the books: %v", audit)
	}
	for _, one := range audit["trial_balance"].([]any) {
		if sum := one.(map[string]any)["sum"].(string); strings.Trim(sum, "0.") != "" {
			t.Errorf("the books do not balance: %v", one)
		}
	}
	night, _ := got["reconciliation"].(map[string]any)
	if night["planted"] != night["found"] || night["found"] != night["resolved"] || night["planted"] == 0.0 ||
		night["missed"] != 0.0 || night["false"] != 0.0 || night["open"] != 0.0 {
		t.Errorf("the night: %v", night)
	}
	payments, _ := got["payments"].(map[string]any)
	if payments["unsettled"] != 0.0 || payments["asked"] != payments["paid"].(float64)+payments["completed"].(float64)+payments["escalated"].(float64) {
		t.Errorf("the payments: %v", payments)
	}
}

// model is what a day comes to after acceptance.
type model struct {
	orders, trades, mistakes, cancelled, expired, positions int
	seen                                                    int // versions of orders that the portfolio sees during the day
	accounts                                                []account
	digest                                                  string
}

func follow(t *testing.T, day []daygen.Line) (sum model) {
	t.Helper()
	m := testMarket(t)
	has := map[account]map[string]position{}
	for _, o := range acceptedOf(t, m, day) {
		sum.orders++
		open, gap := o.Quantity, false
		for _, f := range reportsOf(t, m, o) {
			rest, err := open.Sub(f.Quantity)
			if err != nil {
				t.Fatal(err)
			}
			if rest.Sign() < 0 {
				sum.mistakes++
				continue
			}
			open = rest
			sum.trades++
			if gap = gap || loses(outbox.Event{ID: f.ID, Type: tradeExecuted}); !gap {
				sum.seen++
			}
			book(t, has, f)
		}
		switch {
		case open.IsZero() || o.TimeInForce == "gtc":
			continue
		case o.TimeInForce == "ioc":
			sum.cancelled++
		default:
			sum.expired++
		}
		if !gap {
			sum.seen++
		}
	}
	if sum.trades < sum.orders/2 {
		t.Errorf("%d trades of %d orders prove little", sum.trades, sum.orders)
	}
	sum.accounts = slices.Collect(maps.Keys(has))
	sum.positions, sum.digest = digestOf(has)
	return sum
}

// covered says whether an account has what an order of the day needs.
func covered(l daygen.Line) bool { return !l.Sells || l.Symbol != notHeld(l.Account) }

// acceptedOf returns the orders of the day that are accepted if one line is decided after the other.
func acceptedOf(t *testing.T, m market, day []daygen.Line) (orders []order) {
	t.Helper()
	decided, taken := map[string]bool{}, map[string]bool{}
	for _, line := range day {
		if line.Invalid != "" || decided[line.Request] {
			continue
		}
		decided[line.Request] = true
		if taken[line.Name] || !covered(line) {
			continue
		}
		taken[line.Name] = true
		o, err := m.parse([]byte(line.Text))
		if err != nil {
			t.Fatal(err)
		}
		orders = append(orders, o)
	}
	return orders
}

// reportsOf returns what the venue reports about an order.
func reportsOf(t *testing.T, m market, o order) []fill {
	t.Helper()
	e, err := acceptedEvent(o, o.At)
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.working(e)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := fills(w)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// book adds a trade to the model of the portfolios.
func book(t *testing.T, has map[account]map[string]position, f fill) {
	t.Helper()
	amount, err := f.notional()
	if err != nil {
		t.Fatal(err)
	}
	quantity, cost := f.Quantity, amount.Amount
	if f.Order.Side == "sell" {
		quantity, cost = quantity.Neg(), cost.Neg()
	}
	of := account{f.Order.Tenant, f.Order.Account}
	if has[of] == nil {
		has[of] = map[string]position{}
	}
	before := has[of][f.Order.Symbol]
	before.Quantity, err = before.Quantity.Add(quantity)
	if err != nil {
		t.Fatal(err)
	}
	if before.Cost, err = before.Cost.Add(cost); err != nil {
		t.Fatal(err)
	}
	before.Trades += "i" // counted in tallies
	has[of][f.Order.Symbol] = before
}

func digestOf(has map[account]map[string]position) (count int, digest string) {
	accounts := slices.Collect(maps.Keys(has))
	slices.SortFunc(accounts, func(a, b account) int { return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.id, b.id)) })
	sum := sha256.New()
	for _, one := range accounts {
		for _, symbol := range slices.Sorted(maps.Keys(has[one])) {
			p := has[one][symbol]
			count++
			fmt.Fprintln(sum, one.tenant, one.id, p.Quantity, p.Cost, len(p.Trades))
		}
	}
	return count, hex.EncodeToString(sum.Sum(nil)[:8])
}

// testOffice returns a back office on a new database, beside the service whose orders it works on.
func testOffice(t *testing.T, o options, fates ...dynamosim.Fate) (*service, *backOffice) {
	t.Helper()
	s := testService(t, fates...)
	pace := txn.Config{BaseDelay: 1, MaxAttempts: 3}
	o.workers, o.passes = max(o.workers, 4), max(o.passes, 1)
	return s, newBackOffice(s, pace, newLives(1, o.crash), nil, o)
}

func TestAnInterruptedBackOfficeLosesNothing(t *testing.T) {
	s, office := testOffice(t, options{lose: 0.2})
	day := daygen.Day(7, 40)
	for i, o := range acceptedOf(t, testMarket(t), day) {
		mustAccept(t, s, o, fmt.Sprint("s-", i), accepted)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	handle := office.accepted.handle
	office.accepted.handle = func(ctx context.Context, e outbox.Event) error { interrupt(); return handle(ctx, e) }
	if err := office.run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run ends with %v", err)
	}

	_, again := testOffice(t, options{})
	again.client, again.orders = s.client, s.events
	again.execution, again.portfolio, again.settled = office.execution, office.portfolio, office.settled
	again.books, again.clock, again.relayClock = office.books, office.clock, office.relayClock
	if err := again.run(t.Context(), []string{"alder", "birch", "cedar", "larch", "willow"}); err != nil {
		t.Fatal(err)
	}
	want := follow(t, day)
	found, err := office.portfolio.survey(t.Context(), want.accounts)
	if err != nil || found.count != want.positions || found.digest != want.digest {
		t.Errorf("%d positions, digest %s, %v; want %d, %s", found.count, found.digest, err, want.positions, want.digest)
	}
	first, second := office.snapshot(), again.snapshot()
	all := want.orders + want.trades + want.cancelled + want.expired
	if published := first.Published + second.Published; published != all || second.Published == 0 {
		t.Errorf("%d events were published before the interrupt and %d after it, want %d in all", first.Published, second.Published, all)
	}
}

func TestAGapIsVisibleUntilTheMissingTradeComes(t *testing.T) {
	_, office := testOffice(t, options{})
	o := testOrder(t)
	event := func(n int) outbox.Event {
		f := fill{
			ID: fmt.Sprint("exe-", n), At: o.At, Quantity: mustParse(t, "0.25 ETH-USD"), Price: mustParse(t, "0.10 USD"),
			Order: working{Tenant: o.Tenant, OrderID: o.id(), Account: o.Account, Symbol: o.Symbol, Side: "buy"},
		}
		amount, err := f.notional()
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.tradeEvent(amount.Amount, standing{version: int64(firstVersion + n - 1), open: mustParse(t, "1 ETH-USD")}, o.At)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	of := account{o.Tenant, o.Account}
	for _, step := range []struct {
		event                    int
		open, waiting, positions int
		quantity                 string
	}{
		{2, 1, 1, 0, ""},
		{3, 1, 2, 0, ""},
		{1, 0, 0, 1, "0.750000000000000000 ETH-USD"},
		{2, 0, 0, 1, "0.750000000000000000 ETH-USD"},
	} {
		if err := office.apply(t.Context(), event(step.event)); err != nil {
			t.Fatal(err)
		}
		open, waiting, err := office.portfolio.gaps(t.Context())
		if err != nil || open != step.open || waiting != step.waiting {
			t.Errorf("after event %d: %d gaps with %d waiting, %v; want %d with %d", step.event, open, waiting, err, step.open, step.waiting)
		}
		list, err := office.portfolio.positions(t.Context(), of)
		if err != nil || len(list) != step.positions {
			t.Fatalf("after event %d: %v, %v; want %d positions", step.event, list, err, step.positions)
		}
		if len(list) == 1 && (list[0].Quantity.String() != step.quantity || list[0].SourceVersion != "4") {
			t.Errorf("after event %d the position is %+v", step.event, list[0])
		}
	}
}

func mustParse(t *testing.T, text string) money.Amount {
	t.Helper()
	amount, err := testMarket(t).registry.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

func TestAQueueDeliversAgainAndGivesUpAtLast(t *testing.T) {
	failure := errors.New("not now")
	tries := map[string]int{}
	q := newQueue(func(_ context.Context, message string) error {
		tries[message]++
		if message == "poison" || message == "slow" && tries[message] < deliveriesMax {
			return failure
		}
		return nil
	}, func(ctx context.Context, message string, attempt int) (context.Context, *life) {
		return newLives(1, 0).begin(ctx, "test", message, attempt)
	})
	for _, message := range []string{"good", "slow"} {
		q.put(message, false)
	}
	done := make(chan struct{})
	go func() { q.work(t.Context()); close(done) }()
	if err := q.idle(); err != nil {
		t.Errorf("a message that is handled at last fails the queue: %v", err)
	}
	q.put("poison", true)
	if err := q.idle(); !errors.Is(err, failure) {
		t.Errorf("a message that is never handled leaves %v", err)
	}
	q.close()
	<-done
	if want := map[string]int{"good": 1, "slow": deliveriesMax, "poison": deliveriesMax}; !maps.Equal(tries, want) {
		t.Errorf("delivered %v, want %v", tries, want)
	}
}
