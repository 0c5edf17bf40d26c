package fault

// Codes of package txn.
var (
	TxnInvalid = Code{"DFN-1201", "txn.ErrInvalid",
		"The transaction breaks a rule that is checked before anything is sent: no parts, too many items, too many bytes, an empty key, two writes on one item, or a part that could not be built.",
		"Fix the parts that the error names; nothing was written.", RetryNever}
	TxnCanceled = Code{"DFN-1202", "txn.ErrCanceled",
		"DynamoDB cancelled the transaction because a condition did not hold; nothing was written.",
		"Read the typed errors inside: each failed part explains its own condition.", RetryNever}
	TxnAmbiguous = Code{"DFN-1203", "txn.ErrAmbiguous",
		"The answer was lost and no later attempt could prove whether the transaction was applied.",
		"Repeat the same command with the same business key: its durable records tell the truth.", RetrySafe}
	TxnContention = Code{"DFN-1204", "txn.ErrContention",
		"Other requests kept these items busy, or the table throttled, until the retry budget was spent; nothing was written.",
		"Repeat later; if it persists, look for a hot key.", RetrySafe}
	TxnRefused = Code{"DFN-1205", "txn.ErrRefused",
		"DynamoDB, or the client in front of it, refused the request as such: validation, access, a missing table; nothing was written.",
		"Read the AWS error inside and fix the request, the table or the policy.", RetryNever}
	TxnNotSent = Code{"DFN-1206", "txn.ErrNotSent",
		"The caller's context had ended before anything was sent; nothing was written.",
		"Repeat with a live context.", RetrySafe}
)

// Txn lists the codes of package txn.
var Txn = []Code{TxnInvalid, TxnCanceled, TxnAmbiguous, TxnContention, TxnRefused, TxnNotSent}
