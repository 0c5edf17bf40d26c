package fault

// Codes of package outbox.
var (
	OutboxInvalid = Code{"DFN-2101", "outbox.ErrInvalid",
		"An event, a request or the configuration of the outbox breaks a rule that is checked before anything is sent.",
		"Fix every field that the error names; nothing was written.", RetryNever}
	OutboxDuplicate = Code{"DFN-2102", "outbox.ErrDuplicate",
		"An event with this ID is stored already; the error says whether its content is the same.",
		"Same content: the event was created before, go on. Other content: two facts share one ID, find out which producer made the second.", RetryNever}
	OutboxNotFound = Code{"DFN-2103", "outbox.ErrNotFound",
		"No event with this ID is stored.",
		"Check the ID and the table.", RetryNever}
	OutboxCorrupt = Code{"DFN-2104", "outbox.ErrCorrupt",
		"A stored event cannot be read: its digest does not match, another program wrote it, or a newer version of this library.",
		"Inspect the item under the key in the error; do not publish it.", RetryNever}
	OutboxRead = Code{"DFN-2105", "outbox.ErrRead",
		"A read of the outbox failed; nothing is known about the events it asked for.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
)

// Outbox lists the codes of package outbox.
var Outbox = []Code{OutboxInvalid, OutboxDuplicate, OutboxNotFound, OutboxCorrupt, OutboxRead}
