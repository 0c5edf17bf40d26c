package planted

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// The mistakes of a request's life are made around the library's own requests: one condition is taken out on its way to
// the database, or the service says something that is not so.

func requests() []bug {
	config := invariant.Config{Copies: 3, SkewMax: -1}
	return []bug{
		{name: "request: takeover without the old lease", label: "I3, E3", within: 200, config: config,
			lesson: "two callers saw the lease that had ended, and both have the second attempt", story: cashier(cashierMistakes{anyLease: true})},
		{name: "request: unconditional complete", label: "I5", within: 200, config: config,
			lesson: "the first attempt stood still, another one has completed, and both are booked", story: cashier(cashierMistakes{anyComplete: true})},
		{name: "request: external effect declared transactional", label: "I7", within: 100, config: config,
			lesson: "the lease ends, the next one takes over, and the card is charged twice", story: cashier(cashierMistakes{takeover: true})},
		{name: "request: repair completes without reading", label: "I7, I8", within: 100, config: config,
			lesson: "the request is in repair, so it must have been paid", story: cashier(cashierMistakes{blindRepair: true})},
		{name: "request: absent, because it is not there yet", label: "I7, E1", within: 200, config: config,
			lesson: "nothing was found, the client may try again, and then the first charge arrives", story: cashier(cashierMistakes{hastyRepair: true})},
	}
}

// cashierMistakes are what can be wrong.
type cashierMistakes struct{ anyLease, anyComplete, takeover, blindRepair, hastyRepair bool }

const cashierLease = 20 * time.Second

// payDesk is one history of a payment: booked by the request's own transaction, or charged somewhere else.
type payDesk struct {
	w        *invariant.World
	wrong    cashierMistakes
	external bool
	look     *idempotency.Requests

	mu        sync.Mutex
	claims    map[int]string // who has which attempt
	charged   map[int]bool   // by attempt
	voided    map[int]bool
	completed *idempotency.Record
}

// cashier is the story of one payment that several clients ask for.
func cashier(wrong cashierMistakes) func(w *invariant.World, broken bool) {
	return func(w *invariant.World, broken bool) {
		d := &payDesk{w: w, external: !wrong.anyLease && !wrong.anyComplete, claims: map[int]string{}, charged: map[int]bool{}, voided: map[int]bool{},
			look: idempotency.New(idempotency.Config{Now: w.Now})}
		if broken {
			d.wrong = wrong
		}
		w.Table(idempotency.TableName, d.look.Index())
		if wrong.anyLease {
			d.abandon()
		}
		w.Always("paid once, and what is completed stays", d.holds)
		w.Command("pay", d.pay)
		w.Worker("repair", d.repair)
		w.Run()
		w.Settle()
		w.Check("one answer to everybody", invariant.SameAnswers(w.Answers()))
	}
}

var payOnce = idempotency.Request{Tenant: shop, Key: "pay", Operation: "pay", Command: idempotency.NewFields()}

// abandon leaves an attempt behind whose lease has ended.
func (d *payDesk) abandon() {
	first := idempotency.New(idempotency.Config{Now: d.w.Now, NewID: func() string { return "first" }, Lease: time.Second})
	_, err := first.Begin(d.w.Context(), d.w.Client(), payOnce, idempotency.Transactional)
	d.w.Check("prepare", err)
	d.w.Advance(2 * time.Second)
}

func (d *payDesk) requests(p *invariant.Process) *idempotency.Requests {
	return idempotency.New(idempotency.Config{Now: p.Now, NewID: p.NewID, Txn: p.Txn(), Lease: cashierLease, Map: shardmap.Fixed(1)})
}

func (d *payDesk) pay(ctx context.Context, p *invariant.Process) ([]byte, error) {
	work := idempotency.Work{Mode: idempotency.Transactional, Run: func(_ context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		return d.book(ctx, p, claim)
	}}
	if d.external {
		work.Run = func(_ context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
			return d.charge(ctx, p, claim)
		}
	}
	if d.external && !d.wrong.takeover {
		work.Mode = idempotency.External
	}
	answer, err := d.requests(p).Do(ctx, spoiled{p.Client(), d.wrong}, payOnce, work)
	if err != nil {
		return nil, errors.Join(err, p.Sleep(ctx, 40*time.Second))
	}
	return answer.Result.Body, nil
}

// begun notes who has an attempt, and stands still at times.
func (d *payDesk) begun(ctx context.Context, p *invariant.Process, claim *idempotency.Claim) {
	d.mu.Lock()
	id, attempt := claim.Record().ClaimID, claim.Attempt()
	other := d.claims[attempt]
	d.claims[attempt] = id
	d.mu.Unlock()
	if other != "" && other != id {
		p.Fatalf("attempt %d is %s's and %s's", attempt, other, id)
	}
	if p.Jitter(4) == 1 {
		_ = p.Sleep(ctx, 3*cashierLease)
	}
}

func (d *payDesk) book(ctx context.Context, p *invariant.Process, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
	d.begun(ctx, p, claim)
	things := txn.Table{Name: table}
	booked := txn.Update(things, key("BOOKED"), expression.Add(expression.Name("n"), expression.Value(1)))
	return idempotency.Result{Body: []byte("booked by " + claim.Record().ClaimID)}, []txn.Part{booked}, nil
}

func (d *payDesk) charge(ctx context.Context, p *invariant.Process, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
	d.begun(ctx, p, claim)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.voided[claim.Attempt()] {
		return idempotency.Result{}, nil, errors.New("voided")
	}
	d.charged[claim.Attempt()] = true
	return chargedBy(claim.Attempt()), nil, nil
}

func chargedBy(attempt int) idempotency.Result {
	return idempotency.Result{Body: fmt.Appendf(nil, "charged by attempt %d", attempt)}
}

// probe asks the provider; what it does not find, it makes impossible.
func (d *payDesk) probe(_ context.Context, r idempotency.Record) (idempotency.Finding, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.charged[r.Attempt] || d.wrong.blindRepair {
		return idempotency.Found(chargedBy(r.Attempt)), nil
	}
	d.voided[r.Attempt] = !d.wrong.hastyRepair
	return idempotency.AbsentForGood(), nil
}

func (d *payDesk) repair(ctx context.Context, p *invariant.Process) error {
	worker := idempotency.NewRepairWorker(d.requests(p), p.Client(), idempotency.ProberFunc(d.probe), idempotency.RepairConfig{
		Tenants: idempotency.Tenants(shop), Grace: time.Second, RetryMin: time.Second, RetryMax: time.Second})
	for {
		rec, err := d.look.Get(ctx, d.w.Client(), shop, "pay")
		if err == nil && rec.State == idempotency.Completed {
			return nil
		}
		if _, err := worker.Once(ctx); err != nil {
			return err
		}
		if err := p.Sleep(ctx, 30*time.Second); err != nil {
			return err
		}
	}
}

func (d *payDesk) holds() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.charged) > 1 {
		return fmt.Errorf("charged by %d attempts", len(d.charged))
	}
	booked, err := behind(d.w).get(context.Background(), "BOOKED")
	if err != nil || number(booked["n"]) > 1 {
		return errors.Join(err, fmt.Errorf("booked %s times", booked["n"]))
	}
	rec, err := d.look.Get(context.Background(), d.w.Client(), shop, "pay")
	if err != nil || rec.State != idempotency.Completed {
		return nil
	}
	if d.completed != nil && !reflect.DeepEqual(*d.completed, rec) {
		return fmt.Errorf("completed as %+v, and now %+v", *d.completed, rec)
	}
	d.completed = &rec
	if rec.Result.Kind == idempotency.Accepted && len(d.charged)+number(booked["n"]) != 1 {
		return fmt.Errorf("%q, and nothing was paid", rec.Result.Body)
	}
	return nil
}

// spoiled is a client that takes a condition out of a request on its way.
type spoiled struct {
	*dynamodb.Client
	wrong cashierMistakes
}

func (s spoiled) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if s.wrong.anyLease && slices.Contains(strings.Split(*in.UpdateExpression, " "), nameOf(in.ExpressionAttributeNames, "mode")) {
		in.ConditionExpression = aws.String(strings.Split(*in.ConditionExpression, " AND ")[0]) // the state alone
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = used(*in.UpdateExpression+" "+*in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	}
	return s.Client.UpdateItem(ctx, in, opts...)
}

func (s spoiled) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if update := in.TransactItems[0].Update; s.wrong.anyComplete && update != nil && update.ConditionExpression != nil {
		update.ConditionExpression = nil
		update.ExpressionAttributeNames, update.ExpressionAttributeValues = used(*update.UpdateExpression, update.ExpressionAttributeNames, update.ExpressionAttributeValues)
	}
	return s.Client.TransactWriteItems(ctx, in, opts...)
}

// nameOf returns the placeholder of an attribute.
func nameOf(names map[string]string, attribute string) string {
	for placeholder, name := range names {
		if name == attribute {
			return placeholder
		}
	}
	return "none"
}

// used leaves out the substitutions that no expression has any more.
func used(expressions string, names map[string]string, values map[string]types.AttributeValue) (map[string]string, map[string]types.AttributeValue) {
	isUsed := func(placeholder string) bool {
		return slices.Contains(strings.FieldsFunc(expressions, func(r rune) bool { return strings.ContainsRune(" ,=()<", r) }), placeholder)
	}
	keptNames, keptValues := map[string]string{}, map[string]types.AttributeValue{}
	for placeholder, name := range names {
		if isUsed(placeholder) {
			keptNames[placeholder] = name
		}
	}
	for placeholder, value := range values {
		if isUsed(placeholder) {
			keptValues[placeholder] = value
		}
	}
	return keptNames, keptValues
}
