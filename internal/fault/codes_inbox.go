package fault

// Codes of package inbox.
var (
	InboxInvalid = Code{"DFN-2201", "inbox.ErrInvalid",
		"An event, its effect or the configuration of the inbox breaks a rule that is checked before anything is sent.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	InboxDuplicate = Code{"DFN-2202", "inbox.ErrDuplicate",
		"The consumer processed this very event before; the error carries the stored effect.",
		"Acknowledge the message: the event has had its effect.", RetryNever}
	InboxMismatch = Code{"DFN-2203", "inbox.ErrMismatch",
		"The consumer processed another event under this ID; nothing was written.",
		"Put the message aside and find out which producer used the ID twice, or which transport changed the payload.", RetryNever}
	InboxNotFound = Code{"DFN-2204", "inbox.ErrNotFound",
		"Strong reads found no receipt: the event was not processed yet, or its receipt has expired.",
		"Process the event instead of asking; that decides.", RetrySafe}
	InboxCorrupt = Code{"DFN-2205", "inbox.ErrCorrupt",
		"A stored receipt cannot be read: another program wrote it, or a newer version of this library.",
		"Inspect the item of the event in the error; do not overwrite it.", RetryNever}
	InboxRead = Code{"DFN-2206", "inbox.ErrRead",
		"A read of the inbox failed; nothing is known about the event.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
	InboxHeldBack = Code{"DFN-2207", "inbox.ErrHeldBack",
		"An entry of a batch was not tried, because an earlier entry of its group failed and their order matters.",
		"Report the entry as failed; it is delivered again behind the one that failed.", RetrySafe}
)

// Inbox lists the codes of package inbox.
var Inbox = []Code{InboxInvalid, InboxDuplicate, InboxMismatch, InboxNotFound, InboxCorrupt, InboxRead, InboxHeldBack}
