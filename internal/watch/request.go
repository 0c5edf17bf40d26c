package watch

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/dynafin/dynafin/capacity"
)

// In returns the options by which a request is counted, none where nobody listens.
func In(ctx context.Context) []func(*dynamodb.Options) {
	if op := from(ctx); op != nil {
		return op.options
	}
	return nil
}

// install puts the operation's counters into a request: one around it, one around each attempt.
func (op *Op) install(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		around := middleware.InitializeMiddlewareFunc("dynafin.request", func(ctx context.Context, in middleware.InitializeInput,
			next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			asked, call, tables := ask(in.Parameters)
			in.Parameters = asked
			op.request(call, tables)
			out, metadata, err := next.HandleInitialize(ctx, in)
			if err == nil {
				op.answer(out.Result)
			}
			return out, metadata, err
		})
		each := middleware.FinalizeMiddlewareFunc("dynafin.attempt", func(ctx context.Context, in middleware.FinalizeInput,
			next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			op.attempt(err)
			return out, metadata, err
		})
		if err := stack.Initialize.Add(around, middleware.Before); err != nil {
			return err
		}
		if _, retries := stack.Finalize.Get("Retry"); retries {
			return stack.Finalize.Insert(each, "Retry", middleware.After)
		}
		return stack.Finalize.Add(each, middleware.Before)
	})
}

func (op *Op) request(call string, tables []string) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.event.Requests++
	op.event.Calls = union(op.event.Calls, call)
	op.event.Tables = union(op.event.Tables, tables...)
}

func union(all []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (op *Op) attempt(err error) {
	throttled, conflicted := met(err)
	op.mu.Lock()
	defer op.mu.Unlock()
	op.event.Attempts++
	if throttled {
		op.event.Throttles++
	}
	if conflicted {
		op.event.Conflicts++
	}
}

// met says what an attempt ran into. A cancelled transaction may have met both.
func met(err error) (throttled, conflicted bool) {
	var cancellation *types.TransactionCanceledException
	if errors.As(err, &cancellation) {
		for _, reason := range cancellation.CancellationReasons {
			if reason.Code != nil {
				throttled = throttled || IsThrottle(*reason.Code)
				conflicted = conflicted || *reason.Code == "TransactionConflict"
			}
		}
		return throttled, conflicted
	}
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return false, false
	}
	return IsThrottle(answer.ErrorCode()), IsConflict(answer.ErrorCode())
}

// IsThrottle recognises the codes, of answers and of cancellation reasons, that ask for a longer wait. Nothing was written.
func IsThrottle(code string) bool {
	switch code {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingError",
		"ProvisionedThroughputExceeded", "TooManyRequestsException":
		return true
	default:
		return false
	}
}

// IsConflict recognises the codes of whole requests that met another request on the same items. Nothing was written.
func IsConflict(code string) bool {
	return code == "TransactionConflictException" || code == "ReplicatedWriteConflictException"
}

func (op *Op) answer(out any) {
	read, write := consumed(out)
	op.mu.Lock()
	defer op.mu.Unlock()
	op.event.ReadUnits += read
	op.event.WriteUnits += write
}

// consumed reads an answer. Of a transaction whose request token was repeated DynamoDB charges a read.
func consumed(out any) (read, write capacity.Units) {
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		read = units(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		read = units(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		read = units(out.ConsumedCapacity)
	case *dynamodb.TransactGetItemsOutput:
		for i := range out.ConsumedCapacity {
			read += units(&out.ConsumedCapacity[i])
		}
	case *dynamodb.PutItemOutput:
		write = units(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		write = units(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		write = units(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		for i := range out.ConsumedCapacity {
			if c := &out.ConsumedCapacity[i]; c.ReadCapacityUnits != nil {
				read += units(c)
			} else {
				write += units(c)
			}
		}
	}
	return read, write
}

func units(c *types.ConsumedCapacity) capacity.Units {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return capacity.FromWire(*c.CapacityUnits)
}
