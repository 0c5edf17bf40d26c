package fault

// Codes of package ledger.
var (
	LedgerInvalid = Code{"DFN-2301", "ledger.ErrInvalid",
		"An account, a transaction, a reservation or the configuration breaks a rule that is checked before anything is sent.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	LedgerUnbalanced = Code{"DFN-2302", "ledger.ErrUnbalanced",
		"The postings of a transaction do not add up to zero for an asset.",
		"Fix the postings of the asset that the error names; nothing was written.", RetryNever}
	LedgerDuplicate = Code{"DFN-2303", "ledger.ErrDuplicate",
		"The identifier is in use; the error says whether by the very same thing.",
		"Same: it was done before, go on. Not the same: two things share one identifier, find out who made the second.", RetryNever}
	LedgerRefused = Code{"DFN-2304", "ledger.ErrRefused",
		"The transaction or the reservation was refused for good under this identifier; the refusal is stored.",
		"Report the refusal; a new attempt at the same business needs a new identifier.", RetryNever}
	LedgerNotFound = Code{"DFN-2305", "ledger.ErrNotFound",
		"No account, asset of an account, transaction or reservation of this name is stored.",
		"Check tenant and identifier; open the account, or the asset in it, before posting.", RetryNever}
	LedgerClosed = Code{"DFN-2306", "ledger.ErrClosed",
		"The account is closed.",
		"Post to another account; a closed one does not open again.", RetryNever}
	LedgerFrozen = Code{"DFN-2307", "ledger.ErrFrozen",
		"The account is frozen: it takes no postings and no reservations until it is thawed.",
		"Find out why it is frozen; repeat when it is open again.", RetryLater}
	LedgerScale = Code{"DFN-2308", "ledger.ErrScale",
		"The amount has another number of decimal places than the account keeps for this asset.",
		"Use the stored scale; see money.Amount.Rescale.", RetryNever}
	LedgerInsufficient = Code{"DFN-2309", "ledger.ErrInsufficient",
		"Less is available than the posting or the reservation needs; the stored balance proves it.",
		"Report it, or send the same again when funds have come; it is then judged anew.", RetryLater}
	LedgerPeriodClosed = Code{"DFN-2310", "ledger.ErrPeriodClosed",
		"The month of the effective time is closed for this account and asset.",
		"Post with an effective time in an open month, and say in the metadata which time it concerns.", RetryNever}
	LedgerCap = Code{"DFN-2311", "ledger.ErrCap",
		"The account's last bucket of the month has no room left for this asset.",
		"Escalate: the monthly limit is a decision, not an accident. More volume needs stripes or another account.", RetryNever}
	LedgerLimit = Code{"DFN-2312", "ledger.ErrLimit",
		"A limit that the error names would be exceeded.",
		"Split the transaction, close old periods, or use an account with more room.", RetryNever}
	LedgerVersion = Code{"DFN-2313", "ledger.ErrVersion",
		"The record has changed since the caller read it; nothing was changed.",
		"Read it again and decide anew.", RetryNever}
	LedgerRolled = Code{"DFN-2314", "ledger.ErrRolled",
		"The account's postings of this month go to another bucket by now; the right one is known from now on.",
		"Build the same part again and commit it; Ledger.Commit does.", RetrySafe}
	LedgerSide = Code{"DFN-2315", "ledger.ErrSide",
		"A reservation must be for a posting that takes from the account, and this one would add to it.",
		"Reserve the other sign.", RetryNever}
	LedgerEnded = Code{"DFN-2316", "ledger.ErrEnded",
		"The reservation has ended; the error says how.",
		"Captured or released by this command: go on. Otherwise reserve again.", RetryNever}
	LedgerExceeds = Code{"DFN-2317", "ledger.ErrExceeds",
		"More would be captured than is still reserved, or more reversed than is left of a line.",
		"Read the reservation or the links again; the error has the figures.", RetryNever}
	LedgerNotEmpty = Code{"DFN-2318", "ledger.ErrNotEmpty",
		"An account that is to be closed has a balance or open reservations.",
		"Post the balance away and end the reservations first.", RetryNever}
	LedgerCorrupt = Code{"DFN-2319", "ledger.ErrCorrupt",
		"A stored record cannot be read: it was changed behind the ledger's back, or a newer version of this library wrote it.",
		"Inspect the item under the key in the error; do not overwrite it.", RetryNever}
	LedgerRead = Code{"DFN-2320", "ledger.ErrRead",
		"A read failed; nothing is known about the record.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}

	LedgerQueueFull = Code{"DFN-2331", "ledger.ErrQueueFull",
		"The batcher has as many transactions waiting as it may; this one was not taken and nothing was sent.",
		"Slow down, or spread the account over more stripes and lanes.", RetryLater}
	LedgerBatcherClosed = Code{"DFN-2332", "ledger.ErrBatcherClosed",
		"The batcher is closed and takes no transaction any more; nothing was written.",
		"Post with another batcher, under the same identifier.", RetrySafe}
	LedgerAbandoned = Code{"DFN-2333", "ledger.ErrAbandoned",
		"The context of the caller or of the batcher ended before the outcome was known, or a panic broke the batch; the error says whether anything had been sent.",
		"Post the same transaction again: if it was posted, the answer says so.", RetrySafe}
	LedgerPanic = Code{"DFN-2334", "ledger.ErrPanic",
		"The client, the clock or a part's explanation panicked while a batch was on its way.",
		"Find the panic in the stack, which one caller of the batch got; post the transactions of the others again.", RetrySafe}
)

// Ledger lists the codes of package ledger.
var Ledger = []Code{
	LedgerInvalid, LedgerUnbalanced, LedgerDuplicate, LedgerRefused, LedgerNotFound, LedgerClosed, LedgerFrozen, LedgerScale,
	LedgerInsufficient, LedgerPeriodClosed, LedgerCap, LedgerLimit, LedgerVersion, LedgerRolled, LedgerSide, LedgerEnded,
	LedgerExceeds, LedgerNotEmpty, LedgerCorrupt, LedgerRead, LedgerQueueFull, LedgerBatcherClosed, LedgerAbandoned,
	LedgerPanic,
}
