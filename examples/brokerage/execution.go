package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// execution owns trades: it sends accepted orders to the venue and records what the venue reports.
type execution struct {
	client    *dynamodb.Client
	committer *txn.Committer
	received  *inbox.Inbox
	events    *outbox.Outbox
	market    market
	now       func() time.Time
}

func newExecution(client *dynamodb.Client, pace txn.Config, m market) *execution {
	return &execution{
		client: client, committer: txn.New(client, pace), market: m, now: time.Now,
		received: inbox.New(inbox.Config{Consumer: "execution", Table: executionTable}),
		events:   executionOutbox(),
	}
}

func executionOutbox() *outbox.Outbox {
	return outbox.New(outbox.Config{Service: "execution", Table: executionTable})
}

// route takes the event of an accepted order: its receipt and the note that the order goes to the venue are one
// transaction (AP09). Whoever routes sends the order afterwards, also if it was routed before: the venue knows the
// client's order ID and takes an order once.
func (x *execution) route(ctx context.Context, e outbox.Event) (working, inbox.Outcome, error) {
	w, err := x.market.working(e)
	if err != nil {
		return w, inbox.Outcome{}, err
	}
	note := executionTable.Key(orderPK(w.Tenant, w.OrderID), routeSK)
	store(note, map[string]string{"orderId": w.OrderID, "venue": venueCode, "routedAt": timestamp(x.now())})
	outcome, err := x.received.Process(ctx, x.committer,
		inbox.Event{ID: e.ID, Type: e.Type, Source: e.AggregateID, SourceVersion: e.AggregateVersion, Payload: e.Payload},
		map[string]string{"venue": venueCode},
		txn.Put(executionTable, note, txn.Label("route")),
	)
	return w, outcome, err
}

// routeSK is the sort key of the note that an order was sent to the venue.
const routeSK = "ROUTE"

// verdict is what became of a report of the venue.
type verdict string

const (
	traded  verdict = "traded"  // trade, order and event were committed together
	refused verdict = "refused" // the order has less open than was reported; a record of it is kept
)

var (
	errNoOrder = errors.New("the order is not stored")
	errTraded  = errors.New("the fill was recorded before")
	errRefused = errors.New("the fill was refused before")
	errReused  = errors.New("the venue's ID stands for another fill")
	errMoved   = errors.New("the order has changed since it was read")
)

// record decides a report of the venue, now or before: the receipt of a repeat is empty. An error says that it is undecided,
// or that it cannot be true.
func (x *execution) record(ctx context.Context, f fill) (decision verdict, receipt txn.Receipt, err error) {
	for range 1 + repeatsMax {
		decision, receipt, err = x.decide(ctx, f)
		switch {
		case err == nil:
			return decision, receipt, nil
		case errors.Is(err, errTraded):
			return traded, txn.Receipt{}, nil
		case errors.Is(err, errRefused):
			return refused, txn.Receipt{}, nil
		case !errors.Is(err, errMoved) && !errors.Is(err, txn.ErrAmbiguous) && !errors.Is(err, txn.ErrContention):
			return "", txn.Receipt{}, fmt.Errorf("fill %s: %w", f.ID, err)
		}
	}
	return "", txn.Receipt{}, fmt.Errorf("fill %s: %w", f.ID, err)
}

func (x *execution) decide(ctx context.Context, f fill) (verdict, txn.Receipt, error) {
	at, err := x.standing(ctx, f.Order)
	if err != nil {
		return "", txn.Receipt{}, err
	}
	excess, err := f.Quantity.Cmp(at.open)
	switch {
	case err != nil:
		return "", txn.Receipt{}, err
	case excess > 0 || at.ended():
		receipt, err := x.refuse(ctx, f, at)
		return refused, receipt, err
	}
	receipt, err := x.trade(ctx, f, at)
	return traded, receipt, err
}

// standing reads how far an order is, strongly consistent (AP01): 1 read unit.
func (x *execution) standing(ctx context.Context, w working) (standing, error) {
	out, err := x.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(ordersTable.Name), Key: ordersTable.Key(orderPK(w.Tenant, w.OrderID), "META"), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return standing{}, err
	}
	return x.market.readStanding(out.Item)
}

// trade commits the fill, the order's step and the event: all three or none (CS04). The order takes the step only from the
// version that was read, so all fills together are never more than the order.
func (x *execution) trade(ctx context.Context, f fill, at standing) (txn.Receipt, error) {
	now := x.now()
	amount, notValued := f.notional()
	item, notStored := f.tradeItem(amount, now)
	event, notTold := f.tradeEvent(amount.Amount, at, now)
	step, notTaken := f.step(at)
	if err := errors.Join(notValued, notStored, notTold, notTaken); err != nil {
		return txn.Receipt{}, err
	}
	return x.committer.Commit(ctx,
		txn.Put(executionTable, item, txn.IfAbsent(), txn.Explain(x.repeatOf(f, errTraded)), txn.Label("AP04.create")),
		txn.Update(ordersTable, ordersTable.Key(orderPK(f.Order.Tenant, f.Order.OrderID), "META"), step, txn.Label("AP01.fill"),
			txn.If(expression.Name("version").Equal(expression.Value(at.version))),
			txn.Explain(func(txn.Item) error { return errMoved })),
		x.events.Create(event), // AP16
	)
}

// step is what a fill changes in the order's item. A filled order leaves the index of open ones (AP03).
func (f fill) step(at standing) (expression.UpdateBuilder, error) {
	filled, err := at.filled.Add(f.Quantity)
	if err != nil {
		return expression.UpdateBuilder{}, err
	}
	stored, err := filled.Encode()
	if err != nil {
		return expression.UpdateBuilder{}, err
	}
	step := expression.Set(expression.Name("version"), expression.Value(at.version+1)).
		Set(expression.Name("filled"), expression.Value(stored))
	if f.Quantity.Equal(at.open) {
		return ending(step, statusFilled), nil
	}
	return step.Set(expression.Name("status"), expression.Value(statusPartiallyFilled)).
		Set(expression.Name("statusPk"), expression.Value(statusPK(f.Order.Tenant, f.Order.Account, statusPartiallyFilled))), nil
}

// ending is the last change of an order: it leaves the index of open ones (AP03).
func ending(step expression.UpdateBuilder, status string) expression.UpdateBuilder {
	return step.Set(expression.Name("status"), expression.Value(status)).Remove(expression.Name("statusPk")).Remove(expression.Name("statusSk"))
}

// refuse keeps a record of a report that cannot be true, unless it is the repeat of one that was.
func (x *execution) refuse(ctx context.Context, f fill, at standing) (txn.Receipt, error) {
	item, err := f.refusalItem(at.open, x.now())
	if err != nil {
		return txn.Receipt{}, err
	}
	return x.committer.Commit(ctx,
		txn.Check(executionTable, f.tradeKey(), txn.If(expression.Name("PK").AttributeNotExists()), txn.Explain(x.repeatOf(f, errTraded))),
		txn.Put(executionTable, item, txn.IfAbsent(), txn.Explain(x.repeatOf(f, errRefused)), txn.Label("fill.refuse")),
	)
}

// repeatOf says what it means that a report's record is there already.
func (x *execution) repeatOf(f fill, decided error) func(old txn.Item) error {
	return func(old txn.Item) error {
		quantity, err := x.market.registry.Decode(old["quantity"])
		if err != nil {
			return err
		}
		price, err := x.market.registry.Decode(old["price"])
		if err != nil {
			return err
		}
		if quantity != f.Quantity || price != f.Price {
			return errReused
		}
		return decided
	}
}
