package fault

// Codes of package ledger's statements and proofs.
var (
	LedgerCursor = Code{"DFN-2321", "ledger.ErrCursor",
		"The cursor or checkpoint does not continue this statement or verification: it was edited, or it belongs to another tenant, account, asset or range.",
		"Begin again without it; nothing was read.", RetryNever}
	LedgerUnproved = Code{"DFN-2322", "ledger.ErrUnproved",
		"The stored postings do not prove the balance: they differ from their control totals, or these from one another.",
		"Go through the findings; compare with a backup or an export, and repair no record by hand before it is known what happened.", RetryNever}
	LedgerMoved = Code{"DFN-2323", "ledger.ErrMoved",
		"What was read kept changing while it was read, so it was not seen at one moment; nothing speaks against it.",
		"Read again at a quieter time; a closed month does not move.", RetrySafe}
)

// LedgerProof lists the codes of package ledger's statements and proofs.
var LedgerProof = []Code{LedgerCursor, LedgerUnproved, LedgerMoved}
