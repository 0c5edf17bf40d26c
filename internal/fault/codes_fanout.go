package fault

// Codes of package fanout.
var (
	FanoutInvalid = Code{"DFN-1041", "fanout.ErrInvalid",
		"A query or its configuration breaks a rule that is checked before anything is sent: a missing name, no branches or two equal ones, a bad limit.",
		"Fix the field that the error names; nothing was read.", RetryNever}
	FanoutCursor = Code{"DFN-1042", "fanout.ErrCursor",
		"The cursor does not continue this query: it was edited, or it belongs to another tenant, query, version or set of branches.",
		"Begin again without a cursor; nothing was read.", RetryNever}
	FanoutRead = Code{"DFN-1043", "fanout.ErrRead",
		"The read of one branch failed, and without it the order of the others is not known.",
		"Look at the AWS error inside; reading again with the same cursor is harmless.", RetrySafe}
	FanoutItem = Code{"DFN-1044", "fanout.ErrItem",
		"A branch returned an item that cannot be merged: a key attribute is not where the query says, or the order that the caller's function gives is not that of the branch.",
		"Fix the key attributes, the order or the identity of the query.", RetryNever}
)

// Fanout lists the codes of package fanout.
var Fanout = []Code{FanoutInvalid, FanoutCursor, FanoutRead, FanoutItem}
