package stores

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Difference names a behaviour in which an engine at an endpoint is known to differ from the simulator.
type Difference string

// What is known of other engines. docs/endpoints.md says of each which of the two agrees with DynamoDB's documentation.
const (
	// ScanOfLocalIndex: a Scan of a local index is charged to the table, with no arm for the index.
	ScanOfLocalIndex Difference = "scan-of-local-index"
	// SegmentsSplitPartitions: two segments of a parallel Scan share a partition.
	SegmentsSplitPartitions Difference = "segments-split-partitions"
	// OldOfNothing: UpdateItem with ALL_OLD returns the key of an item that it created.
	OldOfNothing Difference = "old-of-nothing"
	// TransactGetKeys: TransactGetItems returns the key whatever its projection, and no item for an empty projection.
	TransactGetKeys Difference = "transact-get-keys"
	// ConditionFirst: a condition fails before the request that it belongs to is found invalid.
	ConditionFirst Difference = "condition-first"
	// ConditionsHideFaults: the reasons of a cancelled transaction say None for an update that could not be applied, if a
	// condition fails elsewhere in it.
	ConditionsHideFaults Difference = "conditions-hide-faults"
	// UnprojectedIsAbsent: a read of a global index that asks for an attribute outside its projection finds it absent.
	UnprojectedIsAbsent Difference = "unprojected-is-absent"
	// TransactedCollections: TransactWriteItems returns no item collection metrics.
	TransactedCollections Difference = "transacted-collections"
	// OperandsUnchecked: an operand that no item could satisfy is not refused: a literal that cannot be ordered, bounds in
	// the wrong order or of two types, one operand twice, an unknown type name. Operations with one are not compared,
	// because the two engines then store different things.
	OperandsUnchecked Difference = "operands-unchecked"
	// TransactedKeyUpdate: an update in a transaction may change the key. Such are not compared, for the same reason.
	TransactedKeyUpdate Difference = "transacted-key-update"
)

// engines are the differences of each engine, by how its Server header begins.
var engines = map[string][]Difference{
	"Dynoxide/": {
		ScanOfLocalIndex, SegmentsSplitPartitions, OldOfNothing, TransactGetKeys, ConditionFirst, ConditionsHideFaults,
		UnprojectedIsAbsent, TransactedCollections, OperandsUnchecked, TransactedKeyUpdate,
	},
}

// Differs reports whether the engine that the tests run at is known to differ in this way. It never is for DynamoDB or
// for the simulator.
func Differs(d Difference) bool {
	for name, known := range engines {
		if strings.HasPrefix(engine(), name) && slices.Contains(known, d) {
			return true
		}
	}
	return false
}

// engine is what the endpoint calls itself, "" in process.
var engine = sync.OnceValue(func() string {
	if Endpoint() == "" {
		return ""
	}
	answer, err := http.Get(Endpoint())
	if err != nil {
		return "" // the test's own requests will say so
	}
	defer answer.Body.Close()
	return answer.Header.Get("Server")
})
