package loadtest

import (
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The codes of throttling and of conflicts, of requests and of the members of a transaction.
var (
	throttles = []string{"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingError", "ProvisionedThroughputExceeded"}
	conflicts = []string{"TransactionConflictException", "TransactionInProgressException", "TransactionConflict"}
)

// Throttled reports whether an error says that a key, a table or the account had no capacity left, of a request or of a
// member of a transaction. Nothing was written.
func Throttled(err error) bool { return means(err, throttles) }

// Conflict reports whether an error says that a transaction kept an item busy. Nothing was written.
func Conflict(err error) bool { return means(err, conflicts) && !means(err, throttles) }

// means looks for the codes. A transaction of which a condition failed is refused, whatever else is wrong with it.
func means(err error, codes []string) bool {
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		found := false
		for _, reason := range canceled.CancellationReasons {
			code := aws.ToString(reason.Code)
			if code == "ConditionalCheckFailed" || code == "ValidationError" {
				return false
			}
			found = found || slices.Contains(codes, code)
		}
		return found
	}
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(codes, api.ErrorCode())
}
