package httpkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// Exchange is one run of a handler for one request with a key, on the way to its stored response. Its methods are for the
// handler's own goroutine.
type Exchange struct {
	middleware *Middleware
	claim      *idempotency.Claim

	committed *Response                  // by the handler itself
	replayed  *idempotency.ReplayedError // somebody else's, found when this one wanted to commit
	noEffect  bool
	uncertain *idempotency.Evidence
}

type exchangeKey struct{}

// Current returns the exchange that the context of a wrapped handler's request belongs to. It is nil outside, and for a
// request without a key that Config.Optional let through: a nil Exchange has no claim, and its Commit refuses.
func Current(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// Claim returns the claim that the handler runs under, for example to renew its lease, or to name its attempt to another
// system. A nil Exchange has none.
func (x *Exchange) Claim() *idempotency.Claim {
	if x == nil {
		return nil
	}
	return x.claim
}

// Commit stores the response and commits the parts, in one transaction. The response is then what the client gets,
// whatever the handler writes. If the transaction is cancelled, the error says why, and the handler may respond
// otherwise or call Commit again; if the request was completed by another attempt meanwhile, the client gets that one's
// response.
//
// It costs what the parts cost, and 2 write units for each KiB begun of the request's record. Errors are those of
// [txn.Committer.Commit] with those of the parts, [*idempotency.LeaseLostError] if the time was over, and
// [*idempotency.InvalidError] for a status outside 200 to 599 or a nil Exchange: a request without a key commits by itself, with txn.Commit.
func (x *Exchange) Commit(ctx context.Context, response Response, parts ...txn.Part) error {
	if x == nil {
		return &idempotency.InvalidError{Field: "Exchange", Reason: "is nil, as the request has no key: commit the parts without it"}
	}
	if response.Status < 200 || response.Status > 599 {
		return &idempotency.InvalidError{Field: "Response.Status", Reason: "is not from 200 to 599"}
	}
	config := &x.middleware.config
	response.Header = response.Header.Clone()
	if response.Header == nil {
		response.Header = http.Header{}
	}
	complete := x.claim.Complete(response.result(config.Headers))
	_, err := txn.New(config.Client, config.Txn).Commit(ctx, append([]txn.Part{complete}, parts...)...)
	if replayed, ok := idempotency.Replayed(err); ok {
		x.replayed = replayed
	}
	if err == nil {
		x.committed = &response
	}
	return err
}

// NoEffect says that the handler has had no effect and will have none: if its response is not stored, a repeat may run it
// again at once.
func (x *Exchange) NoEffect() {
	if x != nil {
		x.noEffect = true
	}
}

// Uncertain leaves evidence for the case that the outcome is not known: by it the service's prober finds out. Call it before
// the effect begins, with the reference under which it can be looked up.
func (x *Exchange) Uncertain(evidence idempotency.Evidence) {
	if x != nil {
		x.uncertain = &evidence
	}
}

// run lets the handler respond and stores what it says.
func (m *Middleware) run(seen *Observation, next http.Handler, r *http.Request, claim *idempotency.Claim) Response {
	record := claim.Record()
	lease := record.LeaseUntil.Sub(record.UpdatedAt)
	settle := func() (context.Context, context.CancelFunc) { // whatever became of the client, or of the lease
		return context.WithTimeout(context.WithoutCancel(r.Context()), max(lease, time.Second))
	}
	x := &Exchange{middleware: m, claim: claim}
	returned := false
	defer func() {
		if !returned {
			seen.Err = errors.New("httpkey: the handler panicked")
			settling, cancel := settle()
			defer cancel()
			x.giveUp(settling, seen.Err)
		}
	}()
	ctx, ended := context.WithTimeout(r.Context(), lease)
	defer ended()
	rec := &recorder{bytesMax: m.config.ResponseBytesMax, header: http.Header{}}
	next.ServeHTTP(rec, r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
	returned = true
	settling, cancel := settle()
	defer cancel()
	return x.respond(settling, seen, rec, ctx.Err())
}

// respond decides what the handler's response means, and what the client gets.
func (x *Exchange) respond(ctx context.Context, seen *Observation, rec *recorder, ended error) Response {
	m := x.middleware
	switch {
	case x.committed != nil:
		return *x.committed
	case x.replayed != nil:
		seen.Replayed = true
		return m.responseOf(x.replayed.Result)
	case rec.tooLarge:
		return x.failed(ctx, seen, errResponseTooLarge)
	case !rec.wrote && ended != nil:
		return x.failed(ctx, seen, fmt.Errorf("httpkey: the handler ended without a response: %w", ended))
	}
	rec.WriteHeader(http.StatusOK)
	response := rec.response
	if !m.config.Store(response.Status) {
		x.noEffect = x.noEffect || response.Status < http.StatusInternalServerError
		seen.Err = fmt.Errorf("httpkey: the handler responded with %d", response.Status)
		if replayed, ok := x.giveUp(ctx, seen.Err); ok {
			seen.Replayed, seen.Err = true, nil
			return m.responseOf(replayed.Result)
		}
		return response
	}
	if err := x.Commit(ctx, response); err != nil {
		return x.failed(ctx, seen, err)
	}
	return *x.committed
}

// failed is for a response that could not be stored: the client must not believe what it may not get again.
func (x *Exchange) failed(ctx context.Context, seen *Observation, err error) Response {
	m := x.middleware
	replayed, ok := x.replayed, x.replayed != nil
	if !ok && !errors.Is(err, idempotency.ErrLeaseLost) {
		replayed, ok = x.giveUp(ctx, err)
	}
	if ok {
		seen.Replayed = true
		return m.responseOf(replayed.Result)
	}
	seen.Err = err
	if errors.Is(err, errResponseTooLarge) || errors.Is(err, idempotency.ErrTooLarge) {
		return m.problem(http.StatusInternalServerError, "The response is too large to be stored", "")
	}
	return m.refusal(err)
}

// giveUp ends the attempt without a response. If one was stored after all, it is returned.
func (x *Exchange) giveUp(ctx context.Context, cause error) (*idempotency.ReplayedError, bool) {
	client := x.middleware.config.Client
	var err error
	if x.noEffect || x.claim.Record().Mode == idempotency.Transactional {
		err = x.claim.Release(ctx, client, cause.Error())
	} else {
		evidence := idempotency.Evidence{Reason: cause.Error()}
		if x.uncertain != nil {
			evidence = *x.uncertain
			if evidence.Reason == "" {
				evidence.Reason = cause.Error()
			}
		}
		err = x.claim.Repair(ctx, client, evidence)
	}
	return idempotency.Replayed(err)
}
