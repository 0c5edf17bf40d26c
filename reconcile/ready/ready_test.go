package ready_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// breaks compares two sides at the end of the day and returns what must be explained: "MISSING key (faults)".
func breaks(t *testing.T, left, right reconcile.Rows, rules reconcile.Rules, grace time.Duration) (list []string) {
	t.Helper()
	c, err := reconcile.Load(t.Context(), reconcile.Options{}, left, right)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Match(t.Context(), rules, reconcile.Window{Cutoff: day, Grace: grace}, func(o reconcile.Outcome) error {
		if o.Kind.Break() {
			list = append(list, strings.TrimSpace(string(o.Kind)+" "+o.Key+" "+strings.Join(o.Faults, ",")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func listed[T any](records ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// items are all items of a table, as an export gives them.
func items(t *testing.T, client *dynamodb.Client, table string) (all []txn.Item) {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// decoded are the records among items.
func decoded[T any](all []txn.Item, decode func(txn.Item) (T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range all {
			record, ok, err := decode(item)
			if (ok || err != nil) && !yield(record, err) {
				return
			}
		}
	}
}

// A balance that is not what its postings add up to is found: a posting that somebody changed, and a balance that somebody did.
func TestAuthoritiesAreHeldAgainstTheirPostings(t *testing.T) {
	t.Parallel()
	db := dynamosim.New(t)
	client, book := db.Client(), ledger.New(ledger.Config{Now: func() time.Time { return day }})
	if err := db.CreateTable(ledger.DefaultTable, book.Indexes()...); err != nil {
		t.Fatal(err)
	}
	commit := func(parts ...txn.Part) {
		t.Helper()
		if _, err := txn.Commit(t.Context(), client, parts...); err != nil {
			t.Fatal(err)
		}
	}
	usd, _ := money.ISO("USD")
	for _, id := range []string{"ann", "bob", "house"} {
		commit(book.OpenAccount(ledger.Account{Tenant: "acme", ID: id, Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}))
	}
	for _, id := range []string{"ann", "bob"} {
		commit(book.Post(ledger.Transaction{Tenant: "acme", ID: "pay-" + id, EffectiveAt: day,
			Postings: []ledger.Posting{ledger.Debit(id, money.MustParse("5.00 USD")), ledger.Credit("house", money.MustParse("5.00 USD"))}}))
	}
	compare := func() []string {
		var balances []ledger.Balance
		for _, id := range []string{"ann", "bob", "house"} {
			_, some, err := book.Balances(t.Context(), client, "acme", id)
			if err != nil {
				t.Fatal(err)
			}
			balances = append(balances, some...)
		}
		return breaks(t, ready.Authorities(listed(balances...)), ready.Postings(t.Context(), book, client, listed(balances...), func() time.Time { return day }), reconcile.Rules{}, 0)
	}
	if got := compare(); got != nil {
		t.Errorf("sound books: %q", got)
	}
	changed := 0
	for _, item := range items(t, client, ledger.DefaultTable) {
		pk, sk := item["PK"].(*types.AttributeValueMemberS).Value, item["SK"].(*types.AttributeValueMemberS).Value
		if strings.Contains(pk, "#ACCT#ann#MONTH#") && strings.HasPrefix(sk, "POST#") {
			item["amount"] = &types.AttributeValueMemberN{Value: "6"}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(ledger.DefaultTable), Item: item}); err != nil {
				t.Fatal(err)
			}
			changed++
		}
	}
	if got := compare(); changed != 1 || !slices.Equal(got, []string{"MISMATCHED acme#ann#USD#0 amount,value"}) {
		t.Errorf("%d postings changed: %q", changed, got)
	}
}

func TestNamesAreHeldAgainstTheirOwners(t *testing.T) {
	t.Parallel()
	db := dynamosim.New(t)
	client, names := db.Client(), sentinel.New(sentinel.Config{})
	if err := db.CreateTable(sentinel.DefaultTable); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"C-1", "C-2", "C-3"} {
		claim := sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: n, Owner: "order-" + n, Command: "c"}
		if _, err := txn.Commit(t.Context(), client, names.Reserve(claim)); err != nil {
			t.Fatal(err)
		}
	}
	owners := listed(
		ready.Owner{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "order-C-1"},
		ready.Owner{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-2", Owner: "order-9"},
		ready.Owner{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-4", Owner: "order-C-4"},
	)
	got := breaks(t, ready.Names(decoded(items(t, client, sentinel.DefaultTable), names.Decode)), ready.Owners(owners), reconcile.Rules{}, 0)
	want := []string{"MISMATCHED acme#CLIENTORDER#C-2 value", "MISSING acme#CLIENTORDER#C-3", "UNEXPECTED acme#CLIENTORDER#C-4"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What counts as published is held against what the broker says it took.
func TestCompletedEventsAreHeldAgainstReceipts(t *testing.T) {
	t.Parallel()
	db := dynamosim.New(t)
	client, bus := db.Client(), &outbox.Memory{}
	events := outbox.New(outbox.Config{Service: "orders", Table: txn.Table{Name: "Orders"}})
	if err := db.CreateTable("Orders", events.Index()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"order-1", "order-2", "order-3"} {
		e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: id, AggregateVersion: 1, Type: "OrderAccepted", SchemaVersion: 1,
			ID: "event-" + id, OccurredAt: day.Add(-time.Hour)}
		if _, err := txn.Commit(t.Context(), client, events.Create(e)); err != nil {
			t.Fatal(err)
		}
	}
	bus.Refuse = func(m outbox.Message) outbox.Result {
		if m.Event.ID == "event-order-3" {
			return outbox.Result{Err: errors.New("down")}
		}
		return outbox.Result{}
	}
	relay := outbox.NewRelay(events, client, bus, outbox.RelayConfig{Owner: "relay-1", Now: func() time.Time { return day }})
	if _, err := relay.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	var receipts []ready.Receipt
	acks := map[string]string{}
	for r, err := range decoded(items(t, client, "Orders"), events.Decode) {
		if err != nil {
			t.Fatal(err)
		}
		if r.State == outbox.Completed {
			acks[r.Event.ID] = r.Ack
		}
	}
	at := day.Add(-time.Minute)
	receipts = append(receipts,
		ready.Receipt{EventID: "event-order-1", Ack: acks["event-order-1"], At: at}, ready.Receipt{EventID: "event-order-1", Ack: "again", At: at},
		ready.Receipt{EventID: "event-order-3", Ack: "x", At: at}, ready.Receipt{EventID: "event-order-4", Ack: "y", At: day})
	got := breaks(t, ready.Completed(decoded(items(t, client, "Orders"), events.Decode)), ready.Receipts(listed(receipts...)), reconcile.Rules{}, 0)
	want := []string{"UNEXPECTED event-order-1", "MISSING event-order-2", "UNEXPECTED event-order-3", "UNEXPECTED event-order-4"}
	if len(acks) != 2 || !slices.Equal(got, want) {
		t.Errorf("%v: %q", acks, got)
	}
}

// A projection that is behind is a break once its grace is over.
func TestSourcesAreHeldAgainstCheckpoints(t *testing.T) {
	t.Parallel()
	sources := listed(ready.Source{Name: "a", Version: 3, At: day.Add(-time.Hour)}, ready.Source{Name: "b", Version: 5, At: day.Add(-time.Hour)},
		ready.Source{Name: "c", Version: 2, At: day.Add(-time.Minute)}, ready.Source{Name: "d", Version: 1, At: day.Add(-time.Hour)})
	points := listed(projection.Checkpoint{Source: "a", Version: 3, OccurredAt: day.Add(-time.Hour)},
		projection.Checkpoint{Source: "b", Version: 4, OccurredAt: day.Add(-2 * time.Hour)}, projection.Checkpoint{Source: "c", Version: 1, OccurredAt: day.Add(-2 * time.Hour)})
	got := breaks(t, ready.Sources(sources), ready.Checkpoints(points), reconcile.Rules{}, 10*time.Minute)
	if want := []string{"MISMATCHED b value", "MISSING d"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAnErrorBelowEndsASource(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	failing := func(yield func(ready.Receipt, error) bool) { yield(ready.Receipt{}, down) }
	if _, err := reconcile.Load(context.Background(), reconcile.Options{}, ready.Receipts(failing), ready.Receipts(failing)); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}
