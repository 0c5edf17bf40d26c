package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// order is what a client sends, any number of times.
type order struct {
	key, id, customer string
	cents             int64
}

// books of one day: what clients saw.
type day struct {
	answers  map[string]string // by request key: the first answer
	accepted []string          // IDs of events of accepted orders
	placed   map[string]int64  // accepted orders by customer
	rejected, repeats, differing,
	refusedMismatch, wrongReplies, gaveUp int
}

func amount(cents int64) (money.Amount, error) {
	usd, err := money.ISO("USD")
	if err != nil {
		return money.Amount{}, err
	}
	return money.FromMinor(cents, usd)
}

// open opens the accounts and gives every customer something to spend.
func (w *world) open(ctx context.Context) error {
	usd, err := money.ISO("USD")
	if err != nil {
		return err
	}
	open := func(id string, side ledger.Side, free bool) error {
		part := w.books.OpenAccount(ledger.Account{Tenant: tenant, ID: id, Side: side}, ledger.Asset{Currency: usd, NoMinimum: free})
		_, err := w.quiet.Commit(ctx, part)
		return err
	}
	if err := errors.Join(open("bank", ledger.DebitSide, true), open("venue", ledger.CreditSide, true)); err != nil {
		return err
	}
	for i := range customers {
		deposit, err := amount(500_000)
		if err != nil {
			return err
		}
		if err := open(customer(i), ledger.CreditSide, false); err != nil {
			return err
		}
		if _, err := w.quiet.Commit(ctx, w.books.Post(ledger.Transaction{
			Tenant: tenant, ID: "deposit-" + customer(i), EffectiveAt: w.Now(),
			Postings: []ledger.Posting{ledger.Debit("bank", deposit), ledger.Credit(customer(i), deposit)},
		})); err != nil {
			return err
		}
	}
	return nil
}

// trade sends a day's orders. A client repeats an order until it hears an answer; some repeat it though they did, and some send
// another order under the same key.
func (w *world) trade(ctx context.Context, orders int, progress func(done int)) (*day, error) {
	d := &day{answers: map[string]string{}, placed: map[string]int64{}}
	for i := range orders {
		w.pass(w.gap())
		o := order{key: fmt.Sprintf("req-%06d", i+1), id: fmt.Sprintf("order-%06d", i+1), customer: customer(w.draw(customers)), cents: int64(500 + w.draw(20_000))}
		if err := w.send(ctx, d, o); err != nil {
			return d, err
		}
		if w.draw(10) == 0 {
			d.repeats++
			if err := w.send(ctx, d, o); err != nil {
				return d, err
			}
		}
		if w.draw(40) == 0 {
			o.cents++
			d.differing++
			_, err := w.accept(ctx, d, o)
			var mismatch *idempotency.MismatchError
			if errors.As(err, &mismatch) {
				d.refusedMismatch++
			}
		}
		progress(i + 1)
	}
	return d, nil
}

// send repeats an order until there is an answer, and holds the answer against the first one.
func (w *world) send(ctx context.Context, d *day, o order) error {
	for range 20 {
		answer, err := w.accept(ctx, d, o)
		if errors.Is(err, txn.ErrAmbiguous) || errors.Is(err, txn.ErrContention) {
			continue
		}
		if err != nil {
			return err
		}
		before, known := d.answers[o.key]
		if !known {
			d.answers[o.key] = answer
		} else if before != answer {
			d.wrongReplies++
		}
		return nil
	}
	d.gaveUp++
	return nil
}

// accept takes one order: result, name, entry and event in one transaction, or a refusal that is a result as well.
func (w *world) accept(ctx context.Context, d *day, o order) (answer string, err error) {
	price, err := amount(o.cents)
	if err != nil {
		return "", err
	}
	request := idempotency.Request{Tenant: tenant, Key: o.key, Operation: "order.place", SchemaVersion: 1,
		Command: idempotency.NewFields().String("customer", o.customer).Int("cents", o.cents)}
	event := outbox.Event{
		Tenant: tenant, AggregateType: "Customer", AggregateID: o.customer, AggregateVersion: d.placed[o.customer] + 1,
		Type: "OrderPlaced", SchemaVersion: 1, OccurredAt: w.Now(), CausationID: o.key, Payload: []byte(fmt.Sprintf(`{"order":%q,"cents":"%d"}`, o.id, o.cents)),
	}
	event.ID = event.StableID()
	result := idempotency.Result{Code: "201", Body: []byte(o.id + " placed"), Effect: map[string]string{"entry": "pay-" + o.id, "event": event.ID}}
	_, err = w.books.Commit(ctx, w.committer, func() []txn.Part {
		return []txn.Part{
			w.requests.Once(request, result),
			w.names.Reserve(sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: o.id, Owner: o.id, Command: o.key}),
			w.books.Post(ledger.Transaction{Tenant: tenant, ID: "pay-" + o.id, EffectiveAt: event.OccurredAt, Source: o.key,
				Postings: []ledger.Posting{ledger.Debit(o.customer, price), ledger.Credit("venue", price)}}),
			w.events.Create(event),
		}
	})
	var poor *ledger.InsufficientError
	switch {
	case err == nil:
		d.placed[o.customer]++
		d.accepted = append(d.accepted, event.ID)
		return string(result.Body), nil
	case errors.As(err, &poor):
		return w.reject(ctx, d, request, o)
	}
	return w.replayed(ctx, d, o, err)
}

// reject stores the refusal, so that every repeat gets it, too.
func (w *world) reject(ctx context.Context, d *day, request idempotency.Request, o order) (string, error) {
	result := idempotency.Result{Kind: idempotency.Rejected, Code: "402", Body: []byte(o.id + " not covered")}
	_, err := w.committer.Commit(ctx, w.requests.Once(request, result))
	if err == nil {
		d.rejected++
		return string(result.Body), nil
	}
	return w.replayed(ctx, d, o, err)
}

// replayed turns a refusal because of an earlier run into its answer. The earlier run may have been this client's own, whose answer
// was lost: then the order counts now.
func (w *world) replayed(_ context.Context, d *day, o order, err error) (string, error) {
	replay, ok := idempotency.Replayed(err)
	if !ok {
		return "", err
	}
	if _, known := d.answers[o.key]; !known {
		if event := replay.Result.Effect["event"]; event != "" {
			d.placed[o.customer]++
			d.accepted = append(d.accepted, event)
		} else {
			d.rejected++
		}
	}
	return string(replay.Result.Body), nil
}
