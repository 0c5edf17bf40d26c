package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A till takes payments. Some are booked in the till's own table, in the transaction that completes the request; others are
// charged by a provider, which no transaction covers. Clients repeat, or go away for good; processes crash, or stand still
// past their leases; clocks are off, and the index of what needs repair lags.

const tillLease = 20 * time.Second

// waits is the answer to a client while operators are away.
const waits = "waits for operators"

var bookings = txn.Table{Name: "Bookings"}

// provider charges cards. What it has charged stays charged; what was voided can never be charged.
type provider struct {
	charged, voided map[string]bool // by reference
	perKey          map[string]int
}

// till is one history.
type till struct {
	w         *invariant.World
	requests  *idempotency.Requests // to look, not to act
	operators bool
	mu        sync.Mutex
	keys      []string
	external  map[string]bool
	provider  provider
	completed map[string]idempotency.Record // as they were first seen
	steps     map[string]bool
}

func newTill(w *invariant.World) *till {
	t := &till{w: w, external: map[string]bool{}, completed: map[string]idempotency.Record{}, steps: map[string]bool{},
		provider: provider{map[string]bool{}, map[string]bool{}, map[string]int{}}, operators: w.Choose("operators are away", 4) < 3}
	t.requests = idempotency.New(idempotency.Config{Now: w.Now})
	w.Table(idempotency.TableName, t.requests.Index())
	w.Table(bookings.Name)
	w.Always("a completed request never changes, and no payment is made twice", t.holds)
	return t
}

func (t *till) saw(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps[step] = true
}

// of is what one process has.
func (t *till) of(p *invariant.Process) *idempotency.Requests {
	return idempotency.New(idempotency.Config{Now: p.Now, NewID: p.NewID, Owner: p.Name(), Txn: p.Txn(), Lease: tillLease, Map: shardmap.Fixed(1),
		WatchTransactional: true, RetryHold: 10 * time.Minute})
}

func payment(key string) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: key, Operation: "pay", Command: idempotency.NewFields().String("what", key)}
}

// pay is a command: clients send it until they have an answer.
func (t *till) pay(key string, external bool) {
	t.keys, t.external[key] = append(t.keys, key), external
	t.w.Command(key, func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		answer, err := t.of(p).Do(ctx, p.Client(), payment(key), t.work(ctx, p, key))
		var repair *idempotency.RepairRequiredError
		if errors.As(err, &repair) && repair.State == idempotency.Escalated && !t.operators {
			return []byte(waits), nil
		}
		if err != nil {
			t.note(err)
			return nil, errors.Join(err, p.Sleep(ctx, 5*time.Second+p.Jitter(5*time.Second)))
		}
		if answer.Replayed {
			t.saw("a replay")
		}
		return fmt.Appendf(nil, "%s %s%s", answer.Result.Kind, answer.Result.Code, answer.Result.Body), nil
	})
}

func (t *till) note(err error) {
	switch {
	case errors.Is(err, idempotency.ErrLeaseLost):
		t.saw("a late loser is refused")
	case errors.Is(err, idempotency.ErrInProgress):
		t.saw("a repeat is told to wait")
	case errors.Is(err, idempotency.ErrRepairRequired):
		t.saw("a repeat is told of repair")
	}
}

func (t *till) work(life context.Context, p *invariant.Process, key string) idempotency.Work {
	if t.external[key] {
		return idempotency.Work{Mode: idempotency.External, Run: func(_ context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
			return t.charge(life, p, key, claim)
		}}
	}
	return idempotency.Work{Mode: idempotency.Transactional, Run: func(_ context.Context, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
		if p.Jitter(8) == 1 {
			_ = p.Sleep(life, 3*tillLease/2) // it does not heed its context
		}
		if claim.Attempt() > 1 {
			t.saw("a transactional attempt is taken over")
		}
		book := txn.Update(bookings, bookings.Key("PAYMENT#"+key, "META"), expression.Add(expression.Name("n"), expression.Value(1)))
		return idempotency.Result{Body: fmt.Appendf(nil, "booked by %s", claim.Record().ClaimID)}, []txn.Part{book}, nil
	}}
}

// charge is the external effect. An attempt names itself to the provider, so that it can be looked up and voided.
func (t *till) charge(life context.Context, p *invariant.Process, key string, claim *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
	reference := fmt.Sprint(key, "/", claim.Attempt())
	mood := p.Jitter(10)
	switch mood {
	case 1:
		return idempotency.Result{}, nil, idempotency.NoEffect(errors.New("the provider was not even asked"))
	case 2:
		_ = p.Sleep(life, 3*tillLease) // stands still before it asks
	}
	if claim.Attempt() > 1 {
		t.saw("an external attempt is allowed again")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.provider.voided[reference] {
		t.steps["a charge comes after it was voided"] = true
		return idempotency.Result{}, nil, errors.New("the provider refuses: voided")
	}
	t.provider.charged[reference] = true
	t.provider.perKey[key]++
	if mood == 3 || mood == 4 {
		return idempotency.Result{}, nil, errors.New("the provider's answer is lost")
	}
	return charged(reference), nil, nil
}

func charged(reference string) idempotency.Result {
	return idempotency.Result{Body: []byte("charged " + reference), Effect: map[string]string{"reference": reference}}
}

// abandon is a client that begins a payment and is never seen again, before or after the effect.
func (t *till) abandon(key string, external bool) {
	t.keys, t.external[key] = append(t.keys, key), external
	mode := map[bool]idempotency.Mode{true: idempotency.External, false: idempotency.Transactional}[external]
	t.w.Worker("client of "+key, func(ctx context.Context, p *invariant.Process) error {
		claim, err := t.of(p).Begin(ctx, p.Client(), payment(key), mode)
		if errors.Is(err, idempotency.ErrWrite) {
			return err
		}
		if err == nil && external && p.Jitter(2) == 1 {
			_, _, _ = t.charge(ctx, p, key, claim)
		}
		return nil
	})
}

// probe asks the provider. That an attempt is absent counts only once it is voided.
func (t *till) probe(p *invariant.Process, r idempotency.Record) (idempotency.Finding, error) {
	mood := p.Jitter(6)
	if mood == 1 || mood == 2 {
		return idempotency.Ambiguous("the provider does not answer"), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	reference := fmt.Sprint(r.Key, "/", r.Attempt)
	if t.provider.charged[reference] {
		return idempotency.Found(charged(reference)), nil
	}
	t.provider.voided[reference] = true
	if mood == 3 {
		return idempotency.Finding{}, errors.New("the provider's answer is lost")
	}
	return idempotency.AbsentForGood(), nil
}

// repair runs a worker until nothing needs one.
func (t *till) repair(i int) {
	off := time.Duration(i+1) * 13 * time.Microsecond
	t.w.Worker(fmt.Sprint("repair-", i), func(ctx context.Context, p *invariant.Process) error {
		prober := idempotency.ProberFunc(func(ctx context.Context, r idempotency.Record) (idempotency.Finding, error) {
			if p.Jitter(8) == 1 {
				_ = p.Sleep(ctx, time.Minute+off) // longer than its lease
			}
			return t.probe(p, r)
		})
		worker := idempotency.NewRepairWorker(t.of(p), p.Client(), prober, idempotency.RepairConfig{
			Tenants: idempotency.Tenants("acme"), Owner: p.Name(), Lease: 30*time.Second + off, Grace: 5 * time.Second, ProbesMax: 2,
			RetryMin: 10 * time.Second, RetryMax: time.Minute, Observer: observe.Func(func(_ context.Context, e observe.Event) {
				if e.Err == nil {
					t.saw(e.Label())
				}
			}),
		})
		for !t.done() {
			if _, err := worker.Once(ctx); err != nil {
				return err
			}
			if err := p.Sleep(ctx, 11*time.Second+off); err != nil {
				return err
			}
		}
		return nil
	})
}

// operate decides on what was escalated: by looking for themselves, or by sending it back.
func (t *till) operate() {
	t.w.Worker("operator", func(ctx context.Context, p *invariant.Process) error {
		requests, commits := t.of(p), txn.New(p.Client(), p.Txn())
		for t.operators && !t.done() {
			for rec, err := range requests.Escalated(ctx, p.Client(), "acme") {
				if err != nil {
					return err
				}
				if _, err := commits.Commit(ctx, t.decide(p, requests, rec)); err != nil {
					return err
				}
			}
			if err := p.Sleep(ctx, 17*time.Second); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *till) decide(p *invariant.Process, requests *idempotency.Requests, rec idempotency.Record) txn.Part {
	note := idempotency.Audit{By: "ann", Reason: "called the provider", At: p.Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	reference := fmt.Sprint(rec.Key, "/", rec.Attempt)
	switch again := p.Jitter(3) == 1; {
	case again:
		t.steps["AP18.requeue"] = true
		return requests.Requeue(rec, p.Now(), note)
	case t.provider.charged[reference]:
		t.steps["AP18.settle"] = true
		return requests.Settle(rec, charged(reference), note)
	default:
		t.steps["AP18.free"] = true
		t.provider.voided[reference] = true
		return requests.Free(rec, note)
	}
}

// records reads every request that is stored.
func (t *till) records() map[string]idempotency.Record {
	records := map[string]idempotency.Record{}
	for _, key := range t.keys {
		if rec, err := t.requests.Get(context.Background(), t.w.Client(), "acme", key); err == nil {
			records[key] = rec
		}
	}
	return records
}

// done says whether every request is stored, and completed, or waits for operators who are away.
func (t *till) done() bool {
	records := t.records()
	for _, rec := range records {
		if rec.State != idempotency.Completed && (t.operators || rec.State != idempotency.Escalated) {
			return false
		}
	}
	return len(records) == len(t.keys)
}

// booked is how often a payment was booked in the till's own table.
func (t *till) booked(key string) (string, error) {
	consistent := true
	out, err := t.w.Client().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &bookings.Name, Key: bookings.Key("PAYMENT#"+key, "META"), ConsistentRead: &consistent})
	if err != nil || out.Item == nil {
		return "0", err
	}
	return out.Item["n"].(*types.AttributeValueMemberN).Value, nil
}

// holds is what must be true after every write.
func (t *till) holds() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, rec := range t.records() {
		before, known := t.completed[key]
		switch {
		case known && !reflect.DeepEqual(before, rec):
			return fmt.Errorf("%s was completed as %+v, and is %+v", key, before, rec)
		case rec.State == idempotency.Completed:
			t.completed[key] = rec
		}
		if err := t.once(key, rec); err != nil {
			return err
		}
	}
	return nil
}

// once compares the effects of a request with its record. An effect without a completed record is for repair.
func (t *till) once(key string, rec idempotency.Record) error {
	if n := t.provider.perKey[key]; n > 1 {
		return fmt.Errorf("%s was charged %d times", key, n)
	}
	n, err := t.booked(key)
	if err != nil {
		return err
	}
	accepted := rec.State == idempotency.Completed && rec.Result.Kind == idempotency.Accepted
	if !t.external[key] && n != map[bool]string{true: "1", false: "0"}[accepted] {
		return fmt.Errorf("%s was booked %s times, its record is %s %s", key, n, rec.State, rec.Result.Kind)
	}
	if t.external[key] && rec.State == idempotency.Completed && accepted != (t.provider.perKey[key] == 1) {
		return fmt.Errorf("%s was charged %d times, its result is %s %s", key, t.provider.perKey[key], rec.Result.Kind, rec.Result.Body)
	}
	return nil
}

// ended checks that no request is lost.
func (t *till) ended() error {
	t.w.Advance(time.Minute) // the index catches up
	return invariant.RequestsEnded(t.w.Context(), t.w.Client(), t.requests, "acme", t.keys)
}
