package fault

// Codes of package reconcile.
var (
	ReconcileInvalid = Code{"DFN-2601", "reconcile.ErrInvalid",
		"A call, its rules, a manifest or the configuration breaks a rule that is checked before anything is sent.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	ReconcileSource = Code{"DFN-2602", "reconcile.ErrSource",
		"A side of a comparison could not be read, or one of its rows breaks a rule; no break was written.",
		"Look at the row or the error inside, correct the source, and run the batch again.", RetrySafe}
	ReconcileTemporary = Code{"DFN-2603", "reconcile.ErrTemporary",
		"The temporary file of sorted rows could not be written or read.",
		"See to space and rights in the directory of Options.Dir, and run the batch again.", RetrySafe}
	ReconcileControl = Code{"DFN-2604", "reconcile.ErrControl",
		"A side has other control totals than the manifest or an earlier attempt says; no break was written and the batch is FAILED.",
		"Find out which input is incomplete or was changed; run the batch again with the right one, or create another batch.", RetrySafe}
	ReconcileExists = Code{"DFN-2605", "reconcile.ErrExists",
		"A batch of this ID exists with another manifest.",
		"Give the new batch another ID; the stored manifest is not changed.", RetryNever}
	ReconcileState = Code{"DFN-2606", "reconcile.ErrState",
		"A batch or break has moved since it was read, is another's now, or is in no state that allows the step; nothing was changed.",
		"Read it again and decide anew.", RetryNever}
	ReconcileNotFound = Code{"DFN-2607", "reconcile.ErrNotFound",
		"A strong read found no such batch or break.",
		"Check tenant, date and IDs.", RetryNever}
	ReconcileCorrupt = Code{"DFN-2608", "reconcile.ErrCorrupt",
		"A stored batch or break cannot be read: another program wrote it, or a newer version of this library.",
		"Inspect the item whose key is in the error; do not overwrite it.", RetryNever}
	ReconcileRead = Code{"DFN-2609", "reconcile.ErrRead",
		"A read of a batch or break failed; nothing is known about it.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
	ReconcileWrite = Code{"DFN-2610", "reconcile.ErrWrite",
		"An ordinary write of a batch or break failed, or its answer was lost.",
		"Repeat the call: what was written is recognised.", RetrySafe}
	ReadyCSV = Code{"DFN-2611", "ready.ErrCSV",
		"A line of a statement cannot be read: its form, an amount, a currency or a time.",
		"Correct the line that the error names, or the Columns that describe the statement; no break was written.", RetryNever}
)

// Reconcile lists the codes of package reconcile.
var Reconcile = []Code{ReconcileInvalid, ReconcileSource, ReconcileTemporary, ReconcileControl, ReconcileExists, ReconcileState,
	ReconcileNotFound, ReconcileCorrupt, ReconcileRead, ReconcileWrite, ReadyCSV}
