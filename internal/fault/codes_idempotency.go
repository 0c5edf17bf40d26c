package fault

// Codes of package idempotency.
var (
	IdempotencyInvalid = Code{"DFN-1301", "idempotency.ErrInvalid",
		"The request, the result or the configuration breaks a rule that is checked before anything is sent.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	IdempotencyCommand = Code{"DFN-1302", "idempotency.ErrCommand",
		"The command has no fingerprint: malformed JSON, a duplicate key or field, invalid UTF-8, a number or a nesting beyond the limits.",
		"Reject the command; the error names the field and the byte offset. Nothing was written.", RetryNever}
	IdempotencyTooLarge = Code{"DFN-1303", "idempotency.ErrTooLarge",
		"The record with this result would be larger than the configured limit.",
		"Store the large part elsewhere and keep a reference to it in the result; nothing was written.", RetryNever}
	IdempotencyReplayed = Code{"DFN-1304", "idempotency.ErrReplayed",
		"This very command was completed before; its stored result is inside the error.",
		"Answer with the stored result: this is success for the caller, not a failure.", RetrySafe}
	IdempotencyMismatch = Code{"DFN-1305", "idempotency.ErrMismatch",
		"The key was used before for another command or another operation; the first record is unchanged.",
		"Tell the client that the key is taken (409 or 422); a new command needs a new key.", RetryNever}
	IdempotencyInProgress = Code{"DFN-1306", "idempotency.ErrInProgress",
		"Another attempt at this very command holds the key and its lease has not ended.",
		"Repeat with the same key after the lease.", RetryLater}
	IdempotencyRepair = Code{"DFN-1307", "idempotency.ErrRepairRequired",
		"An earlier attempt at this very command ended without a known outcome; the record waits for repair.",
		"Repeat with the same key after the repair; alert whoever owns the repair queue.", RetryLater}
	IdempotencyVersion = Code{"DFN-1308", "idempotency.ErrVersion",
		"The stored record has a format, hash or state that this build does not know: a newer writer exists.",
		"Upgrade this process to the version of the newest writer.", RetryNever}
	IdempotencyRecord = Code{"DFN-1309", "idempotency.ErrRecord",
		"The stored record is damaged: an attribute is missing or malformed, or the result does not have its digest.",
		"Keep the record, find out who wrote it, and repair it by hand.", RetryNever}
	IdempotencyNotFound = Code{"DFN-1310", "idempotency.ErrNotFound",
		"A strong read found no record for the key.",
		"Send the command again with the same key: a commit that is still under way would then be found.", RetrySafe}
	IdempotencyRead = Code{"DFN-1311", "idempotency.ErrRead",
		"The record could not be read.",
		"Read the AWS error inside; nothing was written.", RetrySafe}
	IdempotencyLeaseLost = Code{"DFN-1312", "idempotency.ErrLeaseLost",
		"The record is no longer what this attempt, repair worker or operator had: somebody else came first, and nothing was changed.",
		"Do not repeat the step. Begin the request again, which replays its result if it has one, or read the record and decide anew.", RetryNever}
	IdempotencyWrite = Code{"DFN-1313", "idempotency.ErrWrite",
		"A write of the record had no definite answer: it may have been applied, or may still be.",
		"Repeat the same call; what was applied is found. A claim that nobody got ends with its lease.", RetrySafe}
)

// Idempotency lists the codes of package idempotency.
var Idempotency = []Code{
	IdempotencyInvalid, IdempotencyCommand, IdempotencyTooLarge, IdempotencyReplayed, IdempotencyMismatch,
	IdempotencyInProgress, IdempotencyRepair, IdempotencyVersion, IdempotencyRecord, IdempotencyNotFound, IdempotencyRead,
	IdempotencyLeaseLost, IdempotencyWrite,
}
