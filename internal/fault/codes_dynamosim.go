package fault

// Codes of package dynamosim.
var (
	DynamosimClosed = Code{"DFN-1501", "dynamosim.ErrClosed",
		"A request reached a simulated database after the test that made it had ended.",
		"Stop every worker before the test returns, for example with a context and a WaitGroup.", RetryNever}
	DynamosimLost = Code{"DFN-1502", "dynamosim.ErrLost",
		"A simulated network lost a request, or the answer to a request that was executed.",
		"Treat it like any broken connection: the write may have happened or not; repeat it with the same key.", RetrySafe}
)

// Dynamosim lists the codes of package dynamosim.
var Dynamosim = []Code{DynamosimClosed, DynamosimLost}
