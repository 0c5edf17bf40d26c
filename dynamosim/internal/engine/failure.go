package engine

import (
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// exception is one error type of the service with the shape of its JSON. Which of "message" and "Message" an exception
// uses differs by type, and clients that decode by schema lose the text sent under the other one.
type exception struct {
	namespace  string
	name       string
	messageKey string
	status     int
}

const (
	serviceSpace    = "com.amazonaws.dynamodb.v20120810#"
	validationSpace = "com.amazon.coral.validate#"
	protocolSpace   = "com.amazon.coral.service#"
)

var (
	validationException    = exception{validationSpace, "ValidationException", "message", 400}
	serializationException = exception{protocolSpace, "SerializationException", "message", 400}
	unknownOperation       = exception{protocolSpace, "UnknownOperationException", "message", 400}
	requestTooLarge        = exception{protocolSpace, "RequestEntityTooLargeException", "message", 413}
	resourceNotFound       = exception{serviceSpace, "ResourceNotFoundException", "message", 400}
	resourceInUse          = exception{serviceSpace, "ResourceInUseException", "message", 400}
	collectionTooLarge     = exception{serviceSpace, "ItemCollectionSizeLimitExceededException", "message", 400}
	limitExceeded          = exception{serviceSpace, "LimitExceededException", "message", 400}
	conditionalCheckFailed = exception{serviceSpace, "ConditionalCheckFailedException", "message", 400}
	transactionCanceled    = exception{serviceSpace, "TransactionCanceledException", "Message", 400}
	transactionConflict    = exception{serviceSpace, "TransactionConflictException", "message", 400}
	transactionInProgress  = exception{serviceSpace, "TransactionInProgressException", "Message", 400}
	idempotentMismatch     = exception{serviceSpace, "IdempotentParameterMismatchException", "Message", 400}
	throttlingException    = exception{serviceSpace, "ThrottlingException", "message", 400}
	provisionedExceeded    = exception{serviceSpace, "ProvisionedThroughputExceededException", "message", 400}
	expiredIterator        = exception{serviceSpace, "ExpiredIteratorException", "message", 400}
	trimmedDataAccess      = exception{serviceSpace, "TrimmedDataAccessException", "message", 400}
	internalServerError    = exception{serviceSpace, "InternalServerError", "message", 500}
)

// reason is one entry of a cancelled transaction. The zero reason is an action that had no problem.
type reason struct {
	code    string
	message string
	item    value.Item
}

// Codes of cancellation reasons.
const (
	reasonNone             = "None"
	reasonConditionFailed  = "ConditionalCheckFailed"
	reasonConflict         = "TransactionConflict"
	reasonCollection       = "ItemCollectionSizeLimitExceeded"
	reasonValidation       = "ValidationError"
	reasonThrottling       = "ThrottlingError"
	reasonProvisioned      = "ProvisionedThroughputExceeded"
	msgConditionFailed     = "The conditional request failed"
	reasonThrottled        = "TableWriteMaxOnDemandThroughputExceeded"
	msgCollectionSize      = "Collection size exceeded"
	msgTransactionConflict = "Transaction is ongoing for the item"
)

// throttle names the limit that a throttled request ran into, and whose it is.
type throttle struct {
	reason   string
	resource string
}

// failure is a refused request: the exception, its text, and what else that exception carries.
type failure struct {
	exception exception
	message   string
	item      value.Item
	reasons   []reason
	throttles []throttle
	// wholeRequest: inside a transaction this refuses the request as such, instead of becoming a cancellation reason.
	wholeRequest bool
}

func invalid(message string) *failure {
	return &failure{exception: validationException, message: message}
}

// inUse refuses a change that has to wait for another.
func inUse(message string) *failure {
	return &failure{exception: resourceInUse, message: message}
}

// invalidRequest is a validation failure that never becomes a cancellation reason.
func invalidRequest(message string) *failure {
	return &failure{exception: validationException, message: message, wholeRequest: true}
}

// conditionFailed carries the stored item if the request asked for it.
func conditionFailed(stored value.Item) *failure {
	return &failure{exception: conditionalCheckFailed, message: msgConditionFailed, item: stored}
}

// canceled is a transaction of which at least one reason is not zero.
func canceled(reasons []reason) *failure {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.label()
	}
	return &failure{exception: transactionCanceled, message: msgCanceled(codes), reasons: reasons}
}

// reason turns what is wrong with one action into its cancellation reason.
func (f *failure) reason() reason {
	if f == nil {
		return reason{}
	}
	code := reasonValidation
	switch f.exception {
	case conditionalCheckFailed:
		code = reasonConditionFailed
	case transactionConflict:
		code = reasonConflict
	case throttlingException:
		code = reasonThrottling
	case collectionTooLarge:
		code = reasonCollection
	case provisionedExceeded:
		code = reasonProvisioned
	}
	return reason{code: code, message: f.message, item: f.item}
}

func (r reason) label() string {
	if r.code == "" {
		return reasonNone
	}
	return r.code
}

// reply renders the failure as the service would.
func (f *failure) reply() Reply {
	w := newWriter()
	w.open()
	w.text("__type", f.exception.namespace+f.exception.name)
	if f.message != "" {
		w.text(f.exception.messageKey, f.message)
	}
	if !f.item.IsEmpty() {
		w.item("Item", f.item)
	}
	if f.reasons != nil {
		f.writeReasons(w)
	}
	if f.throttles != nil {
		f.writeThrottles(w)
	}
	w.close()
	return Reply{Status: f.exception.status, Body: w.bytes()}
}

func (f *failure) writeReasons(w *writer) {
	w.openList("CancellationReasons")
	for _, r := range f.reasons {
		w.open()
		w.text("Code", r.label())
		if r.message != "" {
			w.text("Message", r.message)
		}
		if !r.item.IsEmpty() {
			w.item("Item", r.item)
		}
		w.close()
	}
	w.closeList()
}

// writeThrottles spells the member the way this exception does: ThrottlingException has a small t, the others not.
func (f *failure) writeThrottles(w *writer) {
	name := "ThrottlingReasons"
	if f.exception == throttlingException {
		name = "throttlingReasons"
	}
	w.openList(name)
	for _, t := range f.throttles {
		w.open()
		w.text("reason", t.reason)
		if t.resource != "" {
			w.text("resource", t.resource)
		}
		w.close()
	}
	w.closeList()
}

// The replies below are for whoever stands in front of an engine and answers in its place.

// ThrottledReply refuses a request because its table is busy.
func ThrottledReply() Reply {
	f := failure{exception: throttlingException, message: msgThrottled, throttles: []throttle{{reason: reasonThrottled}}}
	return f.reply()
}

// ConflictReply refuses a write because a transaction is running on its item.
func ConflictReply() Reply {
	f := failure{exception: transactionConflict, message: msgTransactionConflict}
	return f.reply()
}

// CanceledByConflictReply cancels a transaction because every one of its actions met another transaction.
func CanceledByConflictReply(actions int) Reply {
	reasons := make([]reason, actions)
	for i := range reasons {
		reasons[i] = reason{code: reasonConflict, message: msgTransactionConflict}
	}
	return canceled(reasons).reply()
}

// InProgressReply tells that the first request with this token is still running.
func InProgressReply() Reply {
	f := failure{exception: transactionInProgress, message: msgInProgress}
	return f.reply()
}

// InternalErrorReply is the service's own failure; it says nothing about whether the request took effect.
func InternalErrorReply() Reply {
	f := failure{exception: internalServerError, message: msgInternal}
	return f.reply()
}

// TooLargeReply refuses a request body over MaxRequestBytes.
func TooLargeReply() Reply {
	f := failure{exception: requestTooLarge, message: msgTooLarge}
	return f.reply()
}

func joinCodes(codes []string) string { return strings.Join(codes, ", ") }
