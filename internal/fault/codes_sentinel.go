package fault

// Codes of package sentinel.
var (
	SentinelInvalid = Code{"DFN-1401", "sentinel.ErrInvalid",
		"A claim on a name breaks a rule that is checked before anything is sent: an empty or malformed field, or a record that would outgrow one write unit.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	SentinelTaken = Code{"DFN-1402", "sentinel.ErrTaken",
		"The name is in use; the stored record names its owner and says whether this very command took it.",
		"Same command: return the owner's result. Another command: refuse the request, or choose another name.", RetryNever}
	SentinelNotOwned = Code{"DFN-1403", "sentinel.ErrNotOwned",
		"The name is in use, but not under the owner and version that the caller read; nothing was changed.",
		"Look the name up again and decide anew.", RetryNever}
	SentinelNotFound = Code{"DFN-1404", "sentinel.ErrNotFound",
		"Nobody holds the name.",
		"Check tenant, kind and spelling; names are compared byte by byte.", RetryNever}
	SentinelCorrupt = Code{"DFN-1405", "sentinel.ErrCorrupt",
		"The stored record of a name cannot be read: another program wrote it, or a newer version of this library.",
		"Inspect the item under the key in the error; do not overwrite it.", RetryNever}
	SentinelRead = Code{"DFN-1406", "sentinel.ErrRead",
		"The read of a name failed; nothing is known about it.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
)

// SentinelCodes lists the codes of package sentinel.
var SentinelCodes = []Code{SentinelInvalid, SentinelTaken, SentinelNotOwned, SentinelNotFound, SentinelCorrupt, SentinelRead}
