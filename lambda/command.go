package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// CommandConfig says how the invocations of a function are told apart. All fields but Margin are required.
type CommandConfig[I any] struct {
	// Requests keeps the results, with a Lease above the function's timeout: no other invocation then takes over what may
	// still run.
	Requests *idempotency.Requests
	// Client is where they are kept.
	Client idempotency.Client
	// Request makes the request of an input: whose it is, its key, and what two commands of one key must have in common. Take
	// the key from what the client sends: the ID of an invocation or message is a new one when the client sends again.
	Request func(I) (idempotency.Request, error)
	// Mode says what the effect is; see [idempotency.Mode].
	Mode idempotency.Mode
	// Margin is how long before the function's timeout it is stopped, so that what became of it is still written. Default:
	// [DefaultMargin].
	Margin time.Duration
}

func (c CommandConfig[I]) check() error {
	for _, field := range []struct {
		name   string
		absent bool
	}{{"Requests", c.Requests == nil}, {"Client", c.Client == nil}, {"Request", c.Request == nil}} {
		if field.absent {
			return &InvalidError{Field: "CommandConfig." + field.name, Reason: "is missing"}
		}
	}
	if c.Margin < 0 {
		return &InvalidError{Field: "CommandConfig.Margin", Reason: "is negative"}
	}
	return nil
}

// Command returns a function, for the Start of aws-lambda-go, that has its effect once for each key and answers every repeat
// with the first answer, byte for byte: the output as encoding/json writes it, which is what Lambda sends.
//
// The handle function returns its output, and the parts that are to be committed with it. If the effect is
// [idempotency.Transactional] it is in those parts and nowhere else. An error is no answer: the function fails, and a repeat
// of a transactional one begins anew, while an external one goes to repair unless [idempotency.NoEffect] says that nothing
// happened. A refusal that is to stay is an output like any other.
//
// Errors: those of [idempotency.Requests.Do]. An [idempotency.InProgressError] says that another invocation has the key; Lambda
// retries asynchronous invocations by itself.
//
// Cost: Begin and Complete of package idempotency, 3 write units for a record of up to 1 KiB; a replay costs 1.
func Command[I, O any](config CommandConfig[I], handle func(ctx context.Context, in I) (O, []txn.Part, error)) func(context.Context, I) (json.RawMessage, error) {
	if config.Margin == 0 {
		config.Margin = DefaultMargin
	}
	return func(ctx context.Context, in I) (json.RawMessage, error) {
		if err := config.check(); err != nil {
			return nil, err
		}
		request, err := config.Request(in)
		if err != nil {
			return nil, err
		}
		ctx, stop, err := inTime(ctx, Config{Margin: config.Margin})
		if err != nil {
			return nil, err
		}
		defer stop()
		answer, err := config.Requests.Do(ctx, config.Client, request, idempotency.Work{
			Mode: config.Mode,
			Run: func(ctx context.Context, _ *idempotency.Claim) (idempotency.Result, []txn.Part, error) {
				out, parts, err := handle(ctx, in)
				if err != nil {
					return idempotency.Result{}, nil, err
				}
				body, err := json.Marshal(out)
				if err != nil {
					return idempotency.Result{}, nil, errors.New("the output has no JSON") // the error may quote the output
				}
				return idempotency.Result{Body: body}, parts, nil
			},
		})
		if err != nil {
			return nil, err
		}
		return answer.Result.Body, nil
	}
}
