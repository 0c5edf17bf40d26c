package invariant_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// company is a ledger that shares its table with a command's result, an event's receipt and an event of its own.
type company struct {
	client   *dynamodb.Client
	commits  *txn.Committer
	table    string
	book     *ledger.Ledger
	requests *idempotency.Requests
	received *inbox.Inbox
	events   *outbox.Outbox
}

func openCompany(t *testing.T) *company {
	t.Helper()
	db := dynamosim.Open(dynamosim.Options{})
	shared := txn.Table{Name: "Shared"}
	now := func() time.Time { return january }
	c := &company{
		client: db.Client(), table: shared.Name,
		book:     ledger.New(ledger.Config{Table: shared, Now: now}),
		requests: idempotency.New(idempotency.Config{Table: shared, Now: now}),
		received: inbox.New(inbox.Config{Consumer: "wallet", Table: shared, Now: now}),
		events:   outbox.New(outbox.Config{Service: "wallet", Table: shared}),
	}
	if err := db.CreateTable(shared.Name, append(c.book.Indexes(), c.events.Index())...); err != nil {
		t.Fatal(err)
	}
	c.commits = txn.New(c.client, txn.Config{})
	for id, side := range map[string]ledger.Side{"bank": ledger.DebitSide, "ann": ledger.CreditSide} {
		c.commit(t, c.book.OpenAccount(ledger.Account{Tenant: "acme", ID: id, Side: side}, ledger.Asset{Currency: dollar, NoMinimum: id == "bank"}))
	}
	return c
}

func (c *company) commit(t *testing.T, parts ...txn.Part) {
	t.Helper()
	if _, err := c.commits.Commit(t.Context(), parts...); err != nil {
		t.Fatal(err)
	}
}

// records is how many there are.
func (c *company) records(t *testing.T) int {
	t.Helper()
	out, err := c.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &c.table, ConsistentRead: aws.Bool(true), Select: types.SelectCount})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}

func request(key string) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: key, Operation: "pay", Command: idempotency.NewFields().String("of", key)}
}

// pay is all that one delivered command does: its result, its receipt, the posting, and the event of it.
func (c *company) pay(id, from, to string, a money.Amount) []txn.Part {
	paid := outbox.Event{Tenant: "acme", AggregateType: "Payment", AggregateID: id, AggregateVersion: 1, Type: "Paid", SchemaVersion: 1, OccurredAt: january}
	paid.ID = paid.StableID()
	return []txn.Part{
		c.requests.Once(request(id), idempotency.Result{Code: "200", Body: []byte("paid " + id)}),
		c.received.Receive(inbox.Event{ID: "order-" + id, Payload: []byte(id)}, map[string]string{"payment": id}),
		c.book.Post(ledger.Transaction{Tenant: "acme", ID: id, EffectiveAt: january, Postings: []ledger.Posting{ledger.Debit(from, a), ledger.Credit(to, a)}}),
		c.events.Create(paid),
	}
}

// A posting commits with an idempotency result, an inbox receipt and an outbox event, or none of the four is there.
func TestAPostingCommitsInCompanyOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := openCompany(t)
	before := c.records(t)
	c.commit(t, c.pay("in", "bank", "ann", cents(1000))...)
	if n := c.records(t) - before; n != 6 { // result, receipt, header, two postings, event
		t.Errorf("%d records", n)
	}
	before = c.records(t)
	var replay *idempotency.ReplayedError
	if _, err := c.commits.Commit(t.Context(), c.pay("in", "bank", "ann", cents(1000))...); !errors.As(err, &replay) || string(replay.Result.Body) != "paid in" {
		t.Errorf("a repeat: %v", err)
	}
	if _, err := c.commits.Commit(t.Context(), c.pay("out", "ann", "bank", cents(1001))...); !errors.Is(err, ledger.ErrInsufficient) {
		t.Errorf("too much: %v", err)
	}
	if now := c.records(t); now != before {
		t.Errorf("%d records, then %d", before, now)
	}
	b, err := c.book.Balance(t.Context(), c.client, "acme", "ann", dollar)
	if err != nil || b.Posted != cents(1000) {
		t.Errorf("%s, %v", b.Posted, err)
	}
}

// held keeps the requests of a client back until they are let go.
type held struct {
	*dynamodb.Client
	late []*dynamodb.TransactWriteItemsInput
}

func (h *held) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	h.late = append(h.late, in)
	return nil, dynamosim.ErrLost
}

// A client was told no. A stored rejection stands in the way of a copy of the reservation that arrives when funds have come, and
// so does a refusal in its place, where no idempotency record is kept (L7, I8).
func TestALateReservationIsStoppedByWhatTheClientWasTold(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(c *company, r ledger.Reservation) txn.Part{
		"stored rejection": func(c *company, _ ledger.Reservation) txn.Part {
			return c.requests.Once(request("hold"), idempotency.Result{Kind: idempotency.Rejected, Code: "402"})
		},
		"refusal": func(c *company, r ledger.Reservation) txn.Part { return c.book.RefuseReservation(r, "no funds") },
	} {
		c := openCompany(t)
		r := ledger.Reservation{Tenant: "acme", ID: "hold", Account: "ann", Amount: cents(500)}
		parts := []txn.Part{c.book.Reserve(r)}
		if name == "stored rejection" {
			parts = append([]txn.Part{c.requests.Once(request("hold"), idempotency.Result{Code: "200"})}, parts...)
		}
		slow := &held{Client: c.client}
		if _, err := txn.New(slow, txn.Config{MaxAttempts: 1}).Commit(t.Context(), parts...); !errors.Is(err, txn.ErrAmbiguous) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := c.commits.Commit(t.Context(), parts...); !errors.Is(err, ledger.ErrInsufficient) {
			t.Fatalf("%s: %v", name, err)
		}
		c.commit(t, refuse(c, r))
		c.commit(t, c.pay("in", "bank", "ann", cents(1000))...)
		for _, late := range slow.late {
			if _, err := c.client.TransactWriteItems(t.Context(), late); err == nil {
				t.Errorf("%s: the late copy was applied", name)
			}
		}
		if _, err := c.commits.Commit(t.Context(), parts...); err == nil {
			t.Errorf("%s: a repeat was decided anew", name)
		}
		if b, err := c.book.Balance(t.Context(), c.client, "acme", "ann", dollar); err != nil || !b.Reserved.IsZero() {
			t.Errorf("%s: %s reserved, %v", name, b.Reserved, err)
		}
	}
}
