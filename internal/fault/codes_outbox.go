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
	OutboxStale = Code{"DFN-2106", "outbox.ErrStale",
		"An event is no longer in the state and version that were read; nothing was changed. Another relay, or another operator, was faster.",
		"Read the event again and decide anew.", RetryNever}
	OutboxWrite = Code{"DFN-2107", "outbox.ErrWrite",
		"A change of an event, or of a claim journal, failed without a definite answer: it may have been applied, or may still be.",
		"Send the same change again; it recognises itself if it was applied. A relay leaves it to the lease.", RetrySafe}
	OutboxRefused = Code{"DFN-2108", "outbox.ErrRefused",
		"A broker does not take an event as it is, for example because it is too large.",
		"The event is parked: mend what makes it unfit, or send it another way, then redrive or pass it.", RetryNever}
	OutboxUnpublished = Code{"DFN-2109", "outbox.ErrUnpublished",
		"An event was not published, or nobody knows whether it was.",
		"The relay tries it again; if it goes on, look at the broker's code: rights, throttles, or a broker that is down.", RetrySafe}
)

// Outbox lists the codes of package outbox.
var Outbox = []Code{OutboxInvalid, OutboxDuplicate, OutboxNotFound, OutboxCorrupt, OutboxRead, OutboxStale, OutboxWrite,
	OutboxRefused, OutboxUnpublished}
