package dynamosim_test

import (
	"regexp"
	"strings"

	"github.com/dynafin/dynafin/internal/stores"
)

// excused reports whether two answers differ only in a way that the other engine is known for.
func excused(op operation, ours, theirs string, err error) bool {
	canceled := strings.HasPrefix(theirs, "TransactionCanceledException")
	for difference, explains := range map[stores.Difference]bool{
		stores.ScanOfLocalIndex:     op.kind == "scan" && localArm.ReplaceAllString(ours, "table:$1") == theirs,
		stores.OldOfNothing:         op.kind == "update" && strings.HasPrefix(ours, "-\n") && onlyKey.ReplaceAllString(theirs, "-\n") == ours,
		stores.TransactGetKeys:      op.kind == "transact get" && withoutKeys(ours) == withoutKeys(theirs),
		stores.UnprojectedIsAbsent:  err != nil && strings.Contains(err.Error(), "does not project"),
		stores.ConditionsHideFaults: canceled && strings.ReplaceAll(ours, "ValidationError", "None") == theirs,
		stores.ConditionFirst:       ours == "ValidationException" && (canceled || strings.HasPrefix(theirs, "ConditionalCheckFailedException")),
	} {
		if explains && stores.Differs(difference) {
			return true
		}
	}
	return false
}

var (
	localArm     = regexp.MustCompile(`table:0/-/- byLocal:(\S+)`)
	keysOrSpaces = regexp.MustCompile(`\b(pk|sk)=S"\w+"| `)
	onlyKey      = regexp.MustCompile(`^\{pk=S"\w+" sk=S"\w+"\}\n`)
)

func withoutKeys(text string) string {
	return strings.ReplaceAll(keysOrSpaces.ReplaceAllString(text, ""), "{}", "-")
}
