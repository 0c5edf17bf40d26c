package fault

// Codes of package projection.
var (
	ProjectionInvalid = Code{"DFN-2401", "projection.ErrInvalid",
		"An event, a call or the configuration of a projection breaks a rule that is checked before anything is written.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	ProjectionOverflow = Code{"DFN-2402", "projection.ErrOverflow",
		"An event is ahead of a gap, and as many events of its source are parked as may be; it was not stored.",
		"Do not acknowledge the event; close the gap that the error names, by delivering the missing version or by ForceAdvance.", RetryLater}
	ProjectionMismatch = Code{"DFN-2403", "projection.ErrMismatch",
		"Another event is parked under the same version of the source; nothing was written.",
		"Put the message aside and find out which producer gave two facts one version.", RetryNever}
	ProjectionView = Code{"DFN-2404", "projection.ErrView",
		"The View function of the configuration refused an event; nothing was written.",
		"Look at its error inside; the event stays where it is until View takes it.", RetrySafe}
	ProjectionDrain = Code{"DFN-2405", "projection.ErrDrain",
		"The event was applied or had been before, but a parked event behind it could not be; it stays parked.",
		"Look at the error inside; delivering the event again, or Sweep, goes on from there.", RetrySafe}
	ProjectionBusy = Code{"DFN-2406", "projection.ErrBusy",
		"Other workers moved the source's checkpoint at each try; nothing was written.",
		"Deliver the event again.", RetrySafe}
	ProjectionUnproved = Code{"DFN-2407", "projection.ErrUnproved",
		"The namespace is not what it has to be before readers move to it: a gap, a source that is behind, or a total that differs.",
		"Let it catch up or build another one, and prove it again; readers stay where they are.", RetryLater}
	ProjectionState = Code{"DFN-2408", "projection.ErrState",
		"A build or the alias is not in the state that the call needs; nothing was written.",
		"Read the build or the alias again and decide anew.", RetryNever}
	ProjectionCorrupt = Code{"DFN-2409", "projection.ErrCorrupt",
		"A stored record cannot be read: another program wrote it, or a newer version of this library.",
		"Inspect the item that the error names; do not overwrite it.", RetryNever}
	ProjectionRead = Code{"DFN-2410", "projection.ErrRead",
		"A read of the projection's records failed.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
	ProjectionWrite = Code{"DFN-2411", "projection.ErrWrite",
		"A write of the projection's records failed, or its answer was lost.",
		"Make the same call again: what was applied is found and not repeated.", RetrySafe}
)

// Projection lists the codes of package projection.
var Projection = []Code{ProjectionInvalid, ProjectionOverflow, ProjectionMismatch, ProjectionView, ProjectionDrain, ProjectionBusy,
	ProjectionUnproved, ProjectionState, ProjectionCorrupt, ProjectionRead, ProjectionWrite}
