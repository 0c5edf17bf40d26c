package txn

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/cenkalti/backoff/v4"

	"github.com/dynafin/dynafin/internal/watch"
)

// run is one Commit on its way.
type run struct {
	committer *Committer
	parts     []Part
	steps     []step
	fenced    bool

	mark  string // left on every record; the same for all attempts
	token string // the request token; the same for all attempts unless DynamoDB refuses it

	attempts int
	// unanswered says that some attempt may have been applied, or may still be.
	unanswered bool
	throttled  bool
	receipt    Receipt
}

func (r *run) commit(ctx context.Context) (Receipt, error) {
	if err := validMark(r.mark, r.parts); err != nil {
		return Receipt{}, err
	}
	all, err := steps(r.parts)
	if err != nil {
		return Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return Receipt{}, notSent(r.parts, err)
	}
	r.steps, r.token = all, r.mark
	for i := range all {
		r.fenced = r.fenced || all[i].Fence
	}
	var last error
	attempt := func() error {
		last = r.attempt(ctx)
		return last
	}
	config := &r.committer.config
	retry := config.policy(ctx, &r.throttled)
	if backoff.RetryNotifyWithTimer(attempt, retry, nil, config.NewTimer()) == nil {
		return r.receipt, nil
	}
	return Receipt{}, r.ended(ctx, last)
}

// attempt sends the transaction once. It returns nil if it is applied, a permanent error if the outcome is decided, and
// any other error if another attempt may bring it about.
func (r *run) attempt(ctx context.Context) error {
	out, err := r.committer.client.TransactWriteItems(ctx, request(r.steps, r.mark, r.token), append(watch.In(ctx), once)...)
	r.attempts++
	if err == nil {
		r.receipt = r.receiptOf(out)
		return nil
	}
	verdict := r.judge(err)
	r.throttled = verdict.throttled
	switch verdict.outcome {
	case applied:
		r.receipt = Receipt{Mark: r.mark, Attempts: r.attempts, Items: len(r.steps), Recovered: true}
		return nil
	case busy:
		return verdict.err
	case unknown:
		r.unanswered = true
		if !r.fenced {
			return backoff.Permanent(verdict.err)
		}
		return verdict.err
	case badToken:
		r.unanswered = true
		if !r.fenced {
			return backoff.Permanent(verdict.err)
		}
		r.token = r.committer.config.NewMark()
		return verdict.err
	default:
		return backoff.Permanent(verdict.err)
	}
}

// once keeps the SDK from sending by itself: one loop decides about retries, with all it knows.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// ended turns the last attempt's error into the outcome of the Commit.
func (r *run) ended(ctx context.Context, last error) error {
	var permanent *backoff.PermanentError
	if errors.As(last, &permanent) {
		last = permanent.Err
	}
	if r.unanswered && !r.provedNotApplied(last) {
		return &AmbiguousError{Mark: r.mark, Parts: labels(r.parts), Attempts: r.attempts, Err: withContext(ctx, last)}
	}
	var contention *ContentionError
	if errors.As(last, &contention) {
		contention.Attempts = r.attempts
		contention.Err = withContext(ctx, contention.Err)
	}
	return last
}

// provedNotApplied says whether a cancellation proves that no attempt was applied up to then, although one got no
// answer. Only a fence can. Its condition still holds: not applied, though a copy may be on its way. Its condition
// failed against a record that somebody else put: never applied. (An update's mark proves no such thing, a later update
// replaces it.) Everything else may have changed because of this very transaction.
func (r *run) provedNotApplied(err error) bool {
	canceled, ok := err.(*CanceledError)
	if !ok {
		return false
	}
	failed := make(map[ItemKey]Reason, len(canceled.Reasons))
	for _, reason := range canceled.Reasons {
		failed[reason.Key] = reason
	}
	proved := false
	for i := range r.steps {
		if !r.steps[i].Fence {
			continue
		}
		reason, spoke := failed[r.steps[i].key]
		switch {
		case !spoke:
			proved, canceled.Unsettled = true, true
		case reason.Code == conditionFailed && reason.rival && reason.Action == ActionPut:
			canceled.Unsettled = false
			return true
		}
	}
	return proved
}

func withContext(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil && !errors.Is(err, ctxErr) {
		return errors.Join(err, ctxErr)
	}
	return err
}
