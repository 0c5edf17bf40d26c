package projection

import "github.com/dynafin/dynafin/observe"

// Result is what became of a delivered event.
type Result string

// The results. The package documentation has the table.
const (
	// Applied: the event was the next one of its source. View and checkpoint were written together.
	Applied Result = "APPLIED"
	// Stale: the source is at this version or beyond. Nothing was written; for the transport it is a success.
	Stale Result = "STALE"
	// Parked: versions before it are missing. The event is stored and waits for them; for the transport it is a success.
	Parked Result = "PARKED"
)

// outcome is what an Observer is told.
func (r Result) outcome() observe.Outcome {
	switch r {
	case Stale:
		return observe.Replayed
	case Parked:
		return observe.Deferred
	default:
		return observe.OK
	}
}

// resultOf decides what becomes of a version when a source is at current.
func resultOf(current, version int64) Result {
	switch {
	case version <= current:
		return Stale
	case version == current+1:
		return Applied
	default:
		return Parked
	}
}

// BuildState is how far the build of a namespace is.
type BuildState string

// The states of a build.
const (
	// Building: the full source is being read, by one runner after the other.
	Building BuildState = "BUILDING"
	// Loaded: the full source was read to its end; the namespace catches up.
	Loaded BuildState = "LOADED"
	// Proved: counts, totals and versions were right and there was no gap. Readers may move there.
	Proved BuildState = "PROVED"
)
