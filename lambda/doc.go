// Package lambda connects the inbox and the outbox to AWS Lambda. A batch that Lambda delivers is handled message by message:
// what was handled is not delivered again, what failed is, in its order, and what can never be handled becomes a dead letter
// with its reason. Nothing is dropped, and poison holds up nothing for long.
//
//	received := inbox.New(inbox.Config{Consumer: "portfolio"})
//	handler := lambda.SQS(lambda.Config{DeadLetters: store}, func(ctx context.Context, m events.SQSMessage) error {
//		var fill Fill
//		if err := json.Unmarshal([]byte(m.Body), &fill); err != nil {
//			return lambda.Permanent(errors.New("not a fill"))
//		}
//		_, err := received.Process(ctx, committer, fill.event(), nil, fill.effect())
//		return err
//	})
//	awslambda.Start(handler) // github.com/aws/aws-lambda-go/lambda
//
// Lambda delivers at least once, so one delivery may find that the event has had its effect: the inbox makes that a success.
// The event source mapping must have FunctionResponseTypes: ReportBatchItemFailures. Without it Lambda takes every answer for
// a success, and what failed is lost.
//
// # What is reported
//
//	source            a message fails             reported and delivered again
//	SQS, standard     the others go on            each message that failed
//	SQS, FIFO         its group waits             it, and what comes after it in its group
//	Kinesis           the batch ends              from its sequence number on
//	DynamoDB Streams  the batch ends              from its sequence number on
//
// The handler stops [Config].Margin before the function's timeout; what it has not handled by then is reported.
//
// # Poison
//
//	error of the handle function                                       the message
//	[Permanent], inbox.ErrMismatch, inbox.ErrInvalid of the event      is a dead letter at once
//	[Temporary], the context's, what the SDK would retry,              is delivered again, however often: these tell nothing
//	txn.ErrContention, ErrAmbiguous, ErrNotSent, inbox.ErrRead,        about the message
//	inbox.ErrInvalid of a Config, shardmap.ErrStale
//	any other, or a panic                                              is a dead letter at [Config].MaxReceives, else delivered again
//
// SQS says how often a message was received. Streams do not, so the handler counts failures in its process: where Lambda starts
// another one, poison is tried a few times more. The mapping's MaximumRetryAttempts, with an OnFailure destination, is the
// outer bound, also for a message that needs longer than the timeout.
//
// A dead letter counts as handled when [Config].DeadLetters has stored it, and not before. It holds the whole message.
// Messages behind it go on: where a consumer must not miss one, let it apply versions in order (package projection), and it
// shows the gap.
//
// Errors and reasons never hold what is in a message, as long as the texts of the handle function's own errors do not.
//
// # Streams of tables
//
// [DynamoDB] hands over records in the SDK's types; see [Record]. [Outbox] publishes the events of an outbox as the stream of
// its table shows them.
//
// # Commands
//
// [Command] is for a function that is invoked and answers: it has its effect once for each key, and every repeat gets the first
// answer, by package idempotency. Where the answer comes over HTTP from a handler of net/http, idempotency/httpkey does it.
//
// # What it does not do
//
// It does not take records apart that a producer has packed together, as the Kinesis Producer Library does, and has no
// handlers of time windows. It makes nothing of its own: the mapping, the queue and its redrive policy, and the permissions are
// the caller's; docs/lambda.md says which settings fit.
package lambda
