package fault

// Codes of package dynamosim.
var (
	DynamosimClosed = Code{"DFN-1501", "dynamosim.ErrClosed",
		"A request reached a simulated database after the test that made it had ended.",
		"Stop every worker before the test returns, for example with a context and a WaitGroup.", RetryNever}
	DynamosimLost = Code{"DFN-1502", "dynamosim.ErrLost",
		"A simulated network lost a request, or the answer to a request that was executed.",
		"Treat it like any broken connection: the write may have happened or not; repeat it with the same key.", RetrySafe}
	DynamosimSaved = Code{"DFN-1503", "dynamosim.ErrSaved",
		"A saved database cannot be read: it is no saved database, is cut off or changed, or another version of this library wrote it.",
		"Save it again with the version that reads it; nothing of it was loaded.", RetryNever}
)

// Dynamosim lists the codes of package dynamosim.
var Dynamosim = []Code{DynamosimClosed, DynamosimLost, DynamosimSaved}
