package invariant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// The foundations in one service: it accepts orders. An order's idempotency key, its client order ID, the order and its
// event are written in one transaction, and whatever happens, all of them agree.

var orders = txn.Table{Name: "Orders"}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

// service is the handler's side: what one process of the service has.
type service struct {
	p        *invariant.Process
	commits  *txn.Committer
	requests *idempotency.Requests
	names    *sentinel.Names
	events   *outbox.Outbox
}

func newService(p *invariant.Process) *service {
	return &service{
		p:        p,
		commits:  txn.New(p.Client(), p.Txn()),
		requests: idempotency.New(idempotency.Config{Now: p.Now, Owner: p.Name()}),
		names:    sentinel.New(sentinel.Config{Now: p.Now}),
		events:   outbox.New(outbox.Config{Service: "orders"}),
	}
}

// order is a command: accept this order under this key.
type order struct {
	Key, ClientID, Text string
}

func (o order) id() string { return "order-" + o.Key }

func (o order) request() idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: o.Key, Operation: "order.accept", SchemaVersion: 1,
		Command: idempotency.NewFields().String("clientId", o.ClientID).String("text", o.Text)}
}

func (o order) event() outbox.Event {
	e := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: o.id(), AggregateVersion: 1, Type: "OrderAccepted",
		SchemaVersion: 1, OccurredAt: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Payload: []byte(o.Text)}
	e.ID = e.StableID()
	return e
}

// answer is what a client is told.
type answer struct {
	Order    string `json:",omitempty"` // the accepted order
	TakenBy  string `json:",omitempty"` // the order that has the client order ID
	Mismatch bool   `json:",omitempty"`
}

func (a answer) body() []byte {
	body, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return body
}

func answerIn(body []byte) (a answer) {
	if err := json.Unmarshal(body, &a); err != nil {
		panic(err)
	}
	return a
}

// accept is the handler under test.
func (s5 *service) accept(ctx context.Context, o order) ([]byte, error) {
	accepted := answer{Order: o.id()}.body()
	item := orders.Key("TEN#acme#ORDER#"+o.id(), "META")
	item["clientId"], item["text"] = s(o.ClientID), s(o.Text)
	won := s5.p.Begin(invariant.Claim{Key: o.ClientID, By: o.id()})
	_, err := s5.commits.Commit(ctx,
		s5.requests.Once(o.request(), idempotency.Result{Body: accepted}),
		s5.names.Reserve(sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: o.ClientID, Owner: o.id(), Command: o.Key}),
		txn.Put(orders, item, txn.IfAbsent()),
		s5.events.Create(o.event()),
	)
	body, err := s5.settled(accepted, err)
	var taken *sentinel.TakenError
	if errors.As(err, &taken) {
		won(taken.Owner)
		refused := answer{TakenBy: taken.Owner}.body()
		_, err = s5.commits.Commit(ctx, s5.requests.Once(o.request(), idempotency.Result{Kind: idempotency.Rejected, Body: refused}))
		return s5.settled(refused, err)
	}
	if a := (answer{}); err == nil {
		a = answerIn(body)
		if a.Order != "" {
			won(a.Order)
		}
	}
	return body, err
}

// settled turns the end of a commit with an idempotency part into the client's answer.
func (s5 *service) settled(result []byte, err error) ([]byte, error) {
	if replayed, ok := idempotency.Replayed(err); ok {
		return replayed.Result.Body, nil
	}
	if errors.Is(err, idempotency.ErrMismatch) {
		return answer{Mismatch: true}.body(), nil
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// acceptOrders is the story of a few orders, some of which want one client order ID or use one key.
func acceptOrders(w *invariant.World) {
	w.Table("Orders")
	w.Table(idempotency.TableName)
	w.Table(sentinel.DefaultTable)
	events := outbox.New(outbox.Config{Service: "orders"})
	w.Table(outbox.DefaultTable, events.Index())
	sent := map[string]order{}
	for i := range 2 + w.Choose("more orders", 2) {
		o := order{
			Key:      invariant.Draw(w, rapid.SampledFrom([]string{"k1", "k2", "k3"}), "key"),
			ClientID: invariant.Draw(w, rapid.SampledFrom([]string{"C-1", "C-2"}), "client order ID"),
			Text:     fmt.Sprint("text ", i/2),
		}
		name := fmt.Sprint("accept", i)
		sent[name] = o
		w.Command(name, func(ctx context.Context, p *invariant.Process) ([]byte, error) { return newService(p).accept(ctx, o) })
	}
	w.Run()
	ordersAgree(w, events, sent)
	w.Settle()
	ordersAgree(w, events, sent)
	w.Check("the same answer to everybody", invariant.SameAnswers(w.Answers()))
	answersAreTrue(w, sent)
	w.Check("one order wins a client order ID", w.Linearizable(invariant.OneWinner()))
}

// ordersAgree checks that keys, names, orders and events tell of the same orders, at any moment.
func ordersAgree(w *invariant.World, events *outbox.Outbox, sent map[string]order) {
	ctx, client := w.Context(), w.Client()
	names := sentinel.New(sentinel.Config{})
	ownerOf, nameOf, eventIDs := map[string]string{}, map[string]string{}, []string{}
	for _, o := range sent {
		held, err := names.Lookup(ctx, client, "acme", sentinel.ClientOrder, o.ClientID)
		if err == nil {
			ownerOf[o.ClientID] = held.Owner
		} else if !errors.Is(err, sentinel.ErrNotFound) {
			w.Check("look up a name", err)
		}
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Orders"), ConsistentRead: aws.Bool(true),
			Key: orders.Key("TEN#acme#ORDER#"+o.id(), "META")})
		w.Check("read an order", err)
		if out.Item != nil && nameOf[o.id()] == "" {
			nameOf[o.id()] = out.Item["clientId"].(*types.AttributeValueMemberS).Value
			eventIDs = append(eventIDs, o.event().ID)
		}
	}
	w.Check("names and orders, one to one", invariant.Bijection(ownerOf, nameOf))
	w.Check("an event for each order", invariant.EventsReady(ctx, client, events, eventIDs))
}

// answersAreTrue compares what clients were told with what is stored.
func answersAreTrue(w *invariant.World, sent map[string]order) {
	requests := idempotency.New(idempotency.Config{})
	var accepted, stored []string
	for _, a := range w.Answers() {
		o, told := sent[a.Command], answerIn(a.Body)
		result, err := requests.Lookup(w.Context(), w.Client(), o.request())
		switch {
		case told.Mismatch != errors.Is(err, idempotency.ErrMismatch):
			w.Check("a mismatch is a mismatch", fmt.Errorf("%s was told %s, its record says %v", a.Command, a.Body, err))
		case told.Mismatch:
			continue
		case err != nil || string(result.Body) != string(a.Body):
			w.Check("the answer is stored", fmt.Errorf("%s was told %s, stored is %s, %v", a.Command, a.Body, result.Body, err))
		}
		out, err := w.Client().GetItem(w.Context(), &dynamodb.GetItemInput{TableName: aws.String("Orders"), ConsistentRead: aws.Bool(true),
			Key: orders.Key("TEN#acme#ORDER#"+o.id(), "META")})
		w.Check("read an order", err)
		if told.Order != "" {
			accepted = append(accepted, o.id())
		}
		if out.Item != nil {
			stored = append(stored, o.id())
		}
		w.Sometimes("an order is refused for its client order ID", told.TakenBy != "")
	}
	w.Check("an order for each acceptance", invariant.SameSet(stored, accepted))
}

func TestFoundationsHoldWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{SDKAttempts: 2, Timeout: 2 * time.Minute}, acceptOrders)
}

func TestFoundationsSurviveEachFaultAtEachRequest(t *testing.T) {
	if runs := invariant.EachFault(t, invariant.Config{}, acceptOrders); runs < 10 {
		t.Errorf("%d runs", runs)
	}
}
