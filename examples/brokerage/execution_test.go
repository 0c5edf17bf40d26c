package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// testFills are fills of an order at its price: the given parts of ACME.
func testFills(t *testing.T, o order, parts ...string) (reports []fill) {
	t.Helper()
	e, err := acceptedEvent(o, o.At)
	if err != nil {
		t.Fatal(err)
	}
	w, err := testMarket(t).working(e)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range parts {
		f := fill{ID: fmt.Sprintf("exe-%d", i+1), Order: w, Price: w.Price, At: o.At}
		if part != "" {
			f.Quantity = mustParse(t, part+" ACME")
		}
		reports = append(reports, f)
	}
	return reports
}

// hundred is an order for 100 ACME.
func hundred(t *testing.T) order {
	t.Helper()
	return testOrder(t, `"ETH-USD"`, `"ACME"`, "1.000000000000000001", "100")
}

// told is what the tables say about an order: its stored standing, its trades and the events about it.
type told struct {
	standing
	status   string
	versions []int64 // of the events of its trades
	traded   money.Amount
}

func tellOf(t *testing.T, s *service, office *backOffice, o order) (b told) {
	t.Helper()
	stored := item(t, s, ordersTable, orderPK(o.Tenant, o.id()), "META")
	var err error
	if b.standing, err = testMarket(t).readStanding(stored); err != nil {
		t.Fatal(err)
	}
	b.status = text(stored, "status")
	b.traded = money.Zero(b.filled.Currency())
	for _, trade := range collection(t, s, o, "TRADE#") {
		quantity, err := testMarket(t).registry.Decode(trade["quantity"])
		if err != nil {
			t.Fatal(err)
		}
		if b.traded, err = b.traded.Add(quantity); err != nil {
			t.Fatal(err)
		}
		event, err := office.execution.events.Get(t.Context(), s.client, text(trade, "tradeId"))
		if err != nil {
			t.Fatal(err)
		}
		b.versions = append(b.versions, event.Event.AggregateVersion)
	}
	slices.Sort(b.versions)
	return b
}

func text(item txn.Item, name string) string {
	value, _ := item[name].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

// collection reads the records of an order in the Execution table, as AP04 does.
func collection(t *testing.T, s *service, o order, prefix string) []txn.Item {
	t.Helper()
	key := expression.Key("PK").Equal(expression.Value(orderPK(o.Tenant, o.id()))).And(expression.Key("SK").BeginsWith(prefix))
	query, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(executionTable.Name), KeyConditionExpression: query.KeyCondition(), ConsistentRead: aws.Bool(true),
		ExpressionAttributeNames: query.Names(), ExpressionAttributeValues: query.Values(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// mustAgree holds trade, order and event against one another (CS04).
func (b told) mustAgree(t *testing.T, trades int, status, filled string) {
	t.Helper()
	if len(b.versions) != trades || b.filled.Text() != filled || b.traded != b.filled || b.status != status || b.version != int64(firstVersion+trades) {
		t.Errorf("%d trades of %s, the order is at version %d, %s with %s filled; want %d trades, %s with %s",
			len(b.versions), b.traded, b.version, b.status, b.filled, trades, status, filled)
	}
	for i, version := range b.versions {
		if version != int64(firstVersion+1+i) {
			t.Errorf("the events have the versions %v: not one for each version of the order", b.versions)
		}
	}
}

func TestTradeOrderAndEventAreOneWhateverAnswersAreLost(t *testing.T) {
	for lost := range 7 {
		s, office := testOffice(t, options{}, append([]dynamosim.Fate{dynamosim.Deliver}, losses(lost)...)...)
		o := hundred(t)
		mustAccept(t, s, o, "s-1", accepted)
		for _, f := range testFills(t, o, "40", "35") {
			for range 2 { // the venue repeats itself
				if decision, _, err := office.execution.record(t.Context(), f); err != nil || decision != traded {
					t.Fatalf("%d answers lost: %q, %v", lost, decision, err)
				}
			}
		}
		tellOf(t, s, office, o).mustAgree(t, 2, statusPartiallyFilled, "75")
	}
}

func TestFillsAreNeverMoreThanTheOrder(t *testing.T) {
	for round := range 20 {
		s, office := testOffice(t, options{})
		o := hundred(t)
		mustAccept(t, s, o, "s-1", accepted)
		reports := testFills(t, o, "40", "30", "30", "1", "100")
		var workers sync.WaitGroup
		for worker := range 4 {
			mine := slices.Clone(reports)
			rand.New(rand.NewPCG(uint64(round), uint64(worker))).Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			workers.Go(func() {
				for _, f := range mine {
					if _, _, err := office.execution.record(t.Context(), f); err != nil && !errors.Is(err, errMoved) {
						t.Error(err)
					}
				}
			})
		}
		workers.Wait()
		b := tellOf(t, s, office, o)
		b.mustAgree(t, len(b.versions), b.status, b.filled.Text())
		if b.open.Sign() < 0 {
			t.Errorf("%s of 100 are filled", b.filled)
		}
	}
}

func TestAFilledOrderLeavesTheOpenOnesAndARefusedFillLeavesARecord(t *testing.T) {
	s, office := testOffice(t, options{})
	o := hundred(t)
	mustAccept(t, s, o, "s-1", accepted)
	for i, f := range testFills(t, o, "40", "70", "60", "1") {
		want := traded
		if i%2 == 1 {
			want = refused
		}
		for range 2 {
			if decision, _, err := office.execution.record(t.Context(), f); err != nil || decision != want {
				t.Fatalf("fill %d: %q, %v; want %q", i+1, decision, err, want)
			}
		}
	}
	tellOf(t, s, office, o).mustAgree(t, 2, statusFilled, "100")
	if stored := item(t, s, ordersTable, orderPK(o.Tenant, o.id()), "META"); stored["statusPk"] != nil {
		t.Error("a filled order is listed among the open ones")
	}
	if records := collection(t, s, o, "REFUSED#"); len(records) != 2 {
		t.Errorf("%d refused fills are kept, want 2", len(records))
	}
}

func TestAVenuesIDIsNotUsedTwice(t *testing.T) {
	s, office := testOffice(t, options{})
	o := hundred(t)
	mustAccept(t, s, o, "s-1", accepted)
	f := testFills(t, o, "40")[0]
	if _, _, err := office.execution.record(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	f.Quantity = mustParse(t, "41 ACME")
	if _, _, err := office.execution.record(t.Context(), f); !errors.Is(err, errReused) {
		t.Errorf("another fill under the same ID: %v", err)
	}
	f.Order.OrderID = "ord-unknown"
	if _, _, err := office.execution.record(t.Context(), f); !errors.Is(err, errNoOrder) {
		t.Errorf("a fill of an unknown order: %v", err)
	}
}

func TestARoundedAmountKeepsItsResidual(t *testing.T) {
	o := hundred(t)
	f := testFills(t, o, "1")[0]
	f.Quantity, f.Price = mustParse(t, "0.000000000000000001 ETH-USD"), mustParse(t, "3120.55 USD")
	amount, err := f.notional()
	if err != nil || amount.Amount.String() != "0.00 USD" || amount.Residual.String() != "0.00000000000000312055" {
		t.Errorf("%s, residual %s, %v", amount.Amount, amount.Residual, err)
	}
}

func TestTheStoredTradeIsExact(t *testing.T) {
	s, office := testOffice(t, options{})
	o := testOrder(t)
	mustAccept(t, s, o, "s-1", accepted)
	f := testFills(t, o, "")[0]
	f.Quantity, f.Price = mustParse(t, "0.000000000000000001 ETH-USD"), mustParse(t, "0.10 USD")
	office.execution.now = s.now
	if _, _, err := office.execution.record(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	trades := collection(t, s, o, "TRADE#")
	if len(trades) != 1 {
		t.Fatalf("%d trades are stored", len(trades))
	}
	delete(trades[0], txn.MarkAttribute)
	at := "TRADE#2026-11-27T14:30:00.500000000Z#exe-1"
	want := "map[PK:TEN#alder#ORDER#" + o.id() + " SK:" + at + " account:ACC-1 accountPk:TEN#alder#ACCT#ACC-1 accountSk:" + at +
		" amount:map[a:N:0 c:USD s:N:2] executedAt:2026-11-27T14:30:00.500000000Z orderId:" + o.id() +
		" price:map[a:N:0.1 c:USD s:N:2] quantity:map[a:N:0.000000000000000001 c:ETH-USD s:N:18]" +
		" recordedAt:2026-11-27T15:00:00.000000000Z residual:0.0000000000000000001 side:buy symbol:ETH-USD" +
		" symbolPk:TEN#alder#SYM#ETH-USD symbolSk:" + at + " tenant:alder tradeId:exe-1 v:N:1]"
	if got := show(trades[0]); got != want {
		t.Errorf("stored\n%s\nwant\n%s", got, want)
	}
}

func TestAFillOfTheLargestOrderCostsWhatEveryFillCosts(t *testing.T) {
	s, office := testOffice(t, options{})
	o := largestOrder(t)
	payFor(t, s, o)
	mustAccept(t, s, o, "s-1", accepted)
	e, err := acceptedEvent(o, o.At)
	if err != nil {
		t.Fatal(err)
	}
	w, err := testMarket(t).working(e)
	if err != nil {
		t.Fatal(err)
	}
	part, err := w.Quantity.Split(2)
	if err != nil {
		t.Fatal(err)
	}
	_, receipt, err := office.execution.record(t.Context(), fill{ID: "exe-" + strings.Repeat("f", 26), Order: w, Quantity: part[0], Price: w.Price, At: o.At})
	if err != nil || receipt.Base() != capacity.Whole(8) {
		t.Errorf("it costs %s base units, %v; want 8", receipt.Base(), err)
	}
}
