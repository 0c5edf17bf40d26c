package fault

// Codes of package dynamosim.
var (
	DynamosimClosed = Code{
		ID: "DFN-1501", Name: "dynamosim.ErrClosed",
		Meaning: "A request reached a simulated database after the test that made it had ended.",
		Action:  "Stop every worker before the test returns, for example with a context and a WaitGroup.",
		Retry:   RetryNever,
	}
	DynamosimLost = Code{
		ID: "DFN-1502", Name: "dynamosim.ErrLost",
		Meaning: "A simulated network lost a request, or the answer to a request that was executed.",
		Action:  "Treat it like any broken connection: the write may or may not have happened; repeat it with the same key.",
		Retry:   RetrySafe,
	}
)

// Dynamosim lists the codes of package dynamosim.
var Dynamosim = []Code{DynamosimClosed, DynamosimLost}
