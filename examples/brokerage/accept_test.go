package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// testService returns a service on a new database. The fates are those of the transactions it sends, in order; after the
// last one every request is delivered.
func testService(t *testing.T, fates ...dynamosim.Fate) *service {
	t.Helper()
	return testServiceOn(t, dynamosim.New(t), fates...)
}

func testServiceOn(t *testing.T, db *dynamosim.DB, fates ...dynamosim.Fate) *service {
	t.Helper()
	opened := false
	choose := func(c dynamosim.Call) dynamosim.Fate {
		if !opened || c.Operation != transact || len(fates) == 0 {
			return dynamosim.Deliver
		}
		fate := fates[0]
		fates = fates[1:]
		return fate
	}
	client := db.Client(func(o *dynamodb.Options) { o.HTTPClient = dynamosim.Faulty(db, choose) })
	now := func() time.Time { return time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC) }
	pace := txn.Config{BaseDelay: time.Microsecond, MaxAttempts: 3}
	s := newService(client, pace, newBooks(client, pace, testMarket(t), newClock(ordersComeIn, 100)))
	s.now = now
	if err := createTables(t.Context(), client, tables()); err != nil {
		t.Fatal(err)
	}
	if err := s.books.open(t.Context(), account{"alder", "ACC-1"}); err != nil {
		t.Fatal(err)
	}
	opened = true
	return s
}

func testOrder(t testing.TB, edits ...string) order {
	t.Helper()
	o, err := testMarket(t).parse([]byte(strings.NewReplacer(edits...).Replace(goodLine)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// mustAccept submits an order and expects an outcome.
func mustAccept(t *testing.T, s *service, o order, submission string, want outcome) txn.Receipt {
	t.Helper()
	got, receipt, err := s.accept(t.Context(), o, submission)
	if err != nil || got != want {
		t.Fatalf("submission %s is %q, %v; want %q", submission, got, err, want)
	}
	return receipt
}

func losses(n int) []dynamosim.Fate {
	fates := make([]dynamosim.Fate, n)
	for i := range fates {
		fates[i] = dynamosim.LoseAnswer
	}
	return fates
}

func item(t *testing.T, s *service, table txn.Table, pk, sk string) txn.Item {
	t.Helper()
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String(table.Name), Key: table.Key(pk, sk), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func TestTheLargestOrderCostsWhatEveryOrderCosts(t *testing.T) {
	s, o := testService(t), largestOrder(t)
	payFor(t, s, o)
	receipt := mustAccept(t, s, o, "s-1", accepted)
	reserved := inTable(receipt, ledgerTable.Name)
	if receipt.Base()-reserved.Base() != capacity.Whole(12) || receipt.Index()-reserved.Index() != capacity.Whole(3) {
		t.Errorf("it costs %v base and %v index units, of which %v and %v in the books; want 12 and 3 beside them",
			receipt.Base(), receipt.Index(), reserved.Base(), reserved.Index())
	}
	if reserved.Base() != capacity.Whole(4) || reserved.Index() != capacity.Whole(2) {
		t.Errorf("the reservation costs %v base and %v index units, want 4 and 2", reserved.Base(), reserved.Index())
	}
}

// payFor pays in what the largest order takes, which no account has.
func payFor(t *testing.T, s *service, o order) {
	t.Helper()
	if err := s.books.open(t.Context(), account{o.Tenant, o.Account}); err != nil {
		t.Fatal(err)
	}
	reservation, err := s.books.cover(o)
	if err != nil {
		t.Fatal(err)
	}
	err = s.books.once(t.Context(), s.books.ledger.Post(ledger.Transaction{
		Tenant: o.Tenant, ID: "pay-in", EffectiveAt: dayOpens,
		Postings: []ledger.Posting{ledger.Debit(street, reservation.Amount), ledger.Credit(o.Account, reservation.Amount)},
	}))
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheStoredOrderIsExact(t *testing.T) {
	s, o := testService(t), testOrder(t)
	mustAccept(t, s, o, "s-1", accepted)
	stored := item(t, s, ordersTable, orderPK(o.Tenant, o.id()), "META")
	delete(stored, txn.MarkAttribute)
	id := "ord-" + strings.TrimPrefix(o.id(), "ord-")
	want := txn.Item{}
	for name, value := range map[string]string{
		"PK": "TEN#alder#ORDER#" + id, "SK": "META", "orderId": id, "clientOrderId": "c-1", "requestKey": "r-1",
		"accountPk": "TEN#alder#ACCT#ACC-1", "accountSk": "ORD#2026-11-27T14:30:00.500000000Z#" + id,
		"statusPk": "TEN#alder#ACCT#ACC-1#STATUS#ACCEPTED", "statusSk": "ORD#2026-11-27T14:30:00.500000000Z#" + id,
		"tenant": "alder", "account": "ACC-1", "symbol": "ETH-USD", "side": "buy", "type": "limit", "timeInForce": "day",
		"status": "ACCEPTED", "currency": "USD", "placedAt": "2026-11-27T14:30:00.500000000Z",
		"acceptedAt": "2026-11-27T15:00:00.000000000Z",
	} {
		want[name] = &types.AttributeValueMemberS{Value: value}
	}
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	amount := func(n, code, scale string) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: txn.Item{"a": number(n), "c": &types.AttributeValueMemberS{Value: code}, "s": number(scale)}}
	}
	want["v"], want["version"] = number("1"), number("1")
	want["quantity"], want["limitPrice"] = amount("1.000000000000000001", "ETH-USD", "18"), amount("0.1", "USD", "2")
	if got, want := show(stored), show(want); got != want {
		t.Errorf("stored\n%s\nwant\n%s", got, want)
	}
}

// show writes an item in the order of its attribute names; fmt sorts maps.
func show(item txn.Item) string {
	var plain func(types.AttributeValue) any
	plain = func(v types.AttributeValue) any {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			return v.Value
		case *types.AttributeValueMemberN:
			return "N:" + v.Value
		case *types.AttributeValueMemberM:
			inner := map[string]any{}
			for name, value := range v.Value {
				inner[name] = plain(value)
			}
			return inner
		default:
			return fmt.Sprintf("%T", v)
		}
	}
	return fmt.Sprint(plain(&types.AttributeValueMemberM{Value: item}))
}

// Whatever DynamoDB does with request tokens, the records tell the truth.
func TestAnAcceptanceCountsOnceWhateverAnswersAreLost(t *testing.T) {
	for _, tokens := range tokenPolicies {
		for lost := range 6 { // one submission makes three attempts
			s, o := testServiceOn(t, dynamosim.New(t, dynamosim.Options{TokenPolicy: tokens}), losses(lost)...), testOrder(t)
			mustAccept(t, s, o, "s-1", accepted)
			mustAccept(t, s, o, "s-2", replayed)
		}
	}
}

func TestARejectionIsDurableAndCountsOnceWhateverAnswersAreLost(t *testing.T) {
	for _, tokens := range tokenPolicies {
		for lost := range 6 {
			fates := append([]dynamosim.Fate{dynamosim.Deliver}, losses(lost)...)
			s := testServiceOn(t, dynamosim.New(t, dynamosim.Options{TokenPolicy: tokens}), fates...)
			first, rival := testOrder(t), testOrder(t, `"r-1"`, `"r-2"`)
			mustAccept(t, s, first, "s-1", accepted)
			mustAccept(t, s, rival, "s-2", nameTaken)
			mustAccept(t, s, rival, "s-3", replayed)
			if item(t, s, ordersTable, orderPK(rival.Tenant, rival.id()), "META") != nil {
				t.Error("a rejected order is stored")
			}
		}
	}
}

var tokenPolicies = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}

func TestARejectionStandsAfterTheNameBecameFree(t *testing.T) {
	s := testService(t)
	first, rival := testOrder(t), testOrder(t, `"r-1"`, `"r-2"`)
	mustAccept(t, s, first, "s-1", accepted)
	mustAccept(t, s, rival, "s-2", nameTaken)
	remove(t, s, ordersTable, "TEN#alder#CLIENTORDER#c-1", "UNIQUE")
	mustAccept(t, s, rival, "s-3", replayed)
}

func TestARequestKeyKeepsItsFirstOrder(t *testing.T) {
	s, o := testService(t), testOrder(t)
	mustAccept(t, s, o, "s-1", accepted)
	mustAccept(t, s, testOrder(t, `"buy"`, `"sell"`), "s-2", mismatched)
	mustAccept(t, s, testOrder(t, `"c-1"`, `"c-2"`), "s-3", mismatched)
	mustAccept(t, s, o, "s-4", replayed)
}

func TestTenantsShareNothing(t *testing.T) {
	s := testService(t)
	mustAccept(t, s, testOrder(t), "s-1", accepted)
	mustAccept(t, s, testOrder(t, `"alder"`, `"birch"`), "s-2", accepted)
}

// The table's TTL may remove results after their retention; the order and its name have no expiry.
func TestAnExpiredResultDoesNotLetTheOrderInAgain(t *testing.T) {
	s, o := testService(t), testOrder(t)
	mustAccept(t, s, o, "s-1", accepted)
	remove(t, s, idempotencyTable, "TEN#alder#REQ#r-1", "REQUEST")
	mustAccept(t, s, o, "s-2", replayed)
	mustAccept(t, s, testOrder(t, `"buy"`, `"sell"`), "s-3", nameTaken)
	events, err := waitingIn(t.Context(), s.client, s.events, 0)
	if err != nil || events != 1 {
		t.Errorf("%d events are ready, %v; want one", events, err)
	}
}

func remove(t *testing.T, s *service, table txn.Table, pk, sk string) {
	t.Helper()
	if item(t, s, table, pk, sk) == nil {
		t.Fatalf("%s has no item %s", table.Name, pk)
	}
	_, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table.Name), Key: table.Key(pk, sk)})
	if err != nil {
		t.Fatal(err)
	}
}

func TestATableOfAnotherShapeIsRefused(t *testing.T) {
	s := testService(t)
	foreign := tables()[0]
	for _, change := range []struct {
		why  string
		edit func(in *dynamodb.CreateTableInput)
	}{
		{"has no index GSI3", func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes = in.GlobalSecondaryIndexes[:2] }},
		{"keys are", func(in *dynamodb.CreateTableInput) { in.KeySchema = keySchema("PK", "other") }},
		{"index GSI2", func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[1].KeySchema = keySchema("statusPk", "SK")
		}},
	} {
		want := tables()[0]
		change.edit(want)
		err := sameShape(foreign, &types.TableDescription{KeySchema: want.KeySchema, GlobalSecondaryIndexes: described(want)})
		if err == nil || !strings.Contains(err.Error(), change.why) {
			t.Errorf("want an error that says %q, got %v", change.why, err)
		}
	}
	if err := createTables(t.Context(), s.client, tables()); err != nil {
		t.Errorf("the program's own tables are refused: %v", err)
	}
}

func described(in *dynamodb.CreateTableInput) []types.GlobalSecondaryIndexDescription {
	var list []types.GlobalSecondaryIndexDescription
	for _, i := range in.GlobalSecondaryIndexes {
		list = append(list, types.GlobalSecondaryIndexDescription{IndexName: i.IndexName, KeySchema: i.KeySchema})
	}
	return list
}
