package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// outcome is what became of one line. Every line has exactly one.
type outcome string

const (
	accepted   outcome = "accepted"    // order, client order ID, reservation, result and event were committed together
	replayed   outcome = "replayed"    // the request was decided before; the stored result came back, whatever it was
	mismatched outcome = "mismatched"  // the request key belongs to another order
	nameTaken  outcome = "name taken"  // another order has the client order ID; this rejection is stored and replays
	notCovered outcome = "not covered" // the account does not have what the order may take; stored, and replays
	invalid    outcome = "invalid"     // refused by parse; nothing was sent
)

// repeatsMax is how often an order is submitted again when nobody can tell whether the last submission was applied.
const repeatsMax = 5

// service accepts orders, each exactly once.
type service struct {
	client    *dynamodb.Client
	committer *txn.Committer
	requests  *idempotency.Requests
	names     *sentinel.Names
	events    *outbox.Outbox
	books     *books
	now       func() time.Time
}

func newService(client *dynamodb.Client, pace txn.Config, b *books) *service {
	return &service{
		client:    client,
		books:     b,
		committer: txn.New(client, pace),
		requests:  idempotency.New(idempotency.Config{Table: idempotencyTable, RecordBytesMax: capacity.WriteUnitBytes}),
		names:     sentinel.New(sentinel.Config{Table: ordersTable}),
		events:    orderOutbox(),
		now:       time.Now,
	}
}

func orderOutbox() *outbox.Outbox {
	return outbox.New(outbox.Config{Service: "orders", Table: ordersTable})
}

// accept decides an order. The submission tells this call apart from every other call for the same order: stored with
// the result, it shows whether a result that comes back was decided by this very call, whose answer was lost.
//
// An error says that the order is undecided; submitting it again, at any time, is safe.
func (s *service) accept(ctx context.Context, o order, submission string) (decision outcome, receipt txn.Receipt, err error) {
	for range 1 + repeatsMax {
		decision, receipt, err = s.submit(ctx, o, submission)
		switch {
		case errors.Is(err, errOpened): // by its first order
		case !errors.Is(err, txn.ErrAmbiguous) && !errors.Is(err, txn.ErrContention):
			return decision, receipt, err
		}
	}
	return decision, receipt, err
}

// errOpened says that the account is open and paid in now, so that the order can be submitted again.
var errOpened = errors.New("the account was opened")

// submit commits the records of an accepted order in one transaction, or finds out why it must not.
func (s *service) submit(ctx context.Context, o order, submission string) (outcome, txn.Receipt, error) {
	now, request := s.now(), o.request()
	fingerprint, notPrinted := request.Fingerprint()
	item, notStored := orderItem(o, now)
	event, notTold := acceptedEvent(o, now)
	reservation, notValued := s.books.cover(o)
	if notCoveredBy(notValued) {
		return s.reject(ctx, o, notCovered, submission)
	}
	if err := errors.Join(notPrinted, notStored, notTold, notValued); err != nil {
		return "", txn.Receipt{}, err
	}
	of := account{o.Tenant, o.Account}
	open := s.books.knows(of)
	receipt, err := s.committer.Commit(ctx,
		s.requests.Once(request, o.result(accepted, submission)), // AP08: the durable result
		s.names.Reserve(sentinel.Claim{ // AP17: the client order ID
			Tenant: o.Tenant, Kind: sentinel.ClientOrder, Name: o.ClientOrderID, Owner: o.id(), Command: fingerprint.String(),
		}),
		txn.Put(ordersTable, item, txn.IfAbsent(), txn.Label("AP01.create")), // AP01 to AP03: the order
		s.events.Create(event),              // AP16: the event
		s.books.ledger.Reserve(reservation), // AP12: what it may take
	)
	var unknown *ledger.NotFoundError
	switch taken := takenBy(err); {
	case err == nil:
		return accepted, receipt, nil
	case taken != nil && taken.Owner == o.id() && taken.SameCommand: // accepted so long ago that the result has expired
		return replayed, receipt, nil
	case taken != nil:
		return s.reject(ctx, o, nameTaken, submission)
	case !open && (notCoveredBy(err) || errors.As(err, &unknown)):
		return "", txn.Receipt{}, cmp.Or(s.books.open(ctx, of), errOpened)
	case notCoveredBy(err):
		return s.reject(ctx, o, notCovered, submission)
	}
	decision, err := decided(err, submission)
	return decision, receipt, err
}

// reject stores a rejection. From then on every repeat gets it back, even if the name becomes free or the account is paid into,
// and a copy of the first transaction that is still on its way can no longer be applied.
func (s *service) reject(ctx context.Context, o order, why outcome, submission string) (outcome, txn.Receipt, error) {
	receipt, err := s.committer.Commit(ctx, s.requests.Once(o.request(), o.result(why, submission)))
	if err == nil {
		return why, receipt, nil
	}
	decision, err := decided(err, submission)
	return decision, receipt, err
}

// takenBy finds in the error of a Commit who has the client order ID, unless the request itself was decided before.
func takenBy(err error) *sentinel.TakenError {
	var mismatch *idempotency.MismatchError
	var canceled *txn.CanceledError
	if _, done := idempotency.Replayed(err); done || errors.As(err, &mismatch) || !errors.As(err, &canceled) {
		return nil
	}
	for _, reason := range canceled.Reasons {
		var taken *sentinel.TakenError
		if errors.As(reason.Err, &taken) {
			return taken
		}
	}
	return nil
}

// decided finds out of the error of a Commit how the request was decided before, and so how this line counts. It returns
// the error itself if nothing is decided.
func decided(err error, submission string) (outcome, error) {
	var mismatch *idempotency.MismatchError
	earlier, done := idempotency.Replayed(err)
	switch {
	case errors.As(err, &mismatch):
		return mismatched, nil
	case !done:
		return "", err
	case earlier.Result.Effect["submission"] != submission:
		return replayed, nil
	case earlier.Result.Kind == idempotency.Rejected: // this very submission was rejected, and its answer lost
		return rejections[earlier.Result.Code], nil
	default: // this very submission was accepted, and its answer lost
		return accepted, nil
	}
}

// The codes of rejections.
const (
	codeNameTaken  = "NAME_TAKEN"
	codeNotCovered = "NOT_COVERED"
)

var rejections = map[string]outcome{codeNameTaken: nameTaken, codeNotCovered: notCovered}

func (o order) request() idempotency.Request {
	return idempotency.Request{
		Tenant: o.Tenant, Key: o.RequestKey, Operation: "order.accept", SchemaVersion: 1, Command: o.command(),
	}
}

// result is the answer to the client and, as effect, what it refers to.
func (o order) result(decision outcome, submission string) idempotency.Result {
	effect := map[string]string{"submission": submission}
	switch decision {
	case nameTaken:
		return idempotency.Result{
			Kind: idempotency.Rejected, Code: codeNameTaken,
			Body: []byte(`{"error":"another order has this client_order_id"}`), Effect: effect,
		}
	case notCovered:
		return idempotency.Result{
			Kind: idempotency.Rejected, Code: codeNotCovered,
			Body: []byte(`{"error":"the account does not have what this order may take"}`), Effect: effect,
		}
	}
	effect["orderId"], effect["eventId"] = o.id(), o.eventID()
	return idempotency.Result{
		Kind: idempotency.Accepted, Code: "ACCEPTED", Body: fmt.Appendf(nil, `{"order_id":%q}`, o.id()), Effect: effect,
	}
}

var endOfTime = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// waitingIn counts the events of an outbox that wait for a relay, in each shard up to a limit unless that is 0: one keyed query
// for each shard, never a Scan.
func waitingIn(ctx context.Context, client *dynamodb.Client, events *outbox.Outbox, limit int) (waiting int, err error) {
	for shard := range events.Shards() {
		for _, err := range events.Ready(ctx, client, shard, endOfTime, limit) {
			if err != nil {
				return waiting, err
			}
			waiting++
		}
	}
	return waiting, nil
}
