package fault

// Codes of package internal/keys. Other packages wrap them, so users meet them through errors.As.
var (
	KeysInvalid = Code{"DFN-1001", "keys.ErrInvalid",
		"A key could not be built or read: a component is empty, not UTF-8, out of range or too long, or a stored key does not have the form of its route.",
		"Fix the component that the error names; nothing was written.", RetryNever}
)

// Keys lists the codes of package internal/keys.
var Keys = []Code{KeysInvalid}
