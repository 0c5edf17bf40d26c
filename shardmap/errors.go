package shardmap

import (
	"time"

	"github.com/dynafin/dynafin/internal/fault"
)

var (
	errKey  = fault.New(fault.ShardmapKey, "shardmap: invalid key")
	errMap  = fault.New(fault.ShardmapMap, "shardmap: invalid map")
	errLoad = fault.New(fault.ShardmapLoad, "shardmap: invalid load")
)

// The kinds of errors, for errors.Is.
var (
	// ErrKey: the key is empty or not valid UTF-8.
	ErrKey error = errKey
	// ErrMap: the map has an unknown hash version, a version below 1, or a number of shards outside 1 to MaxShards.
	ErrMap error = errMap
	// ErrLoad: a figure given to ShardsFor is invalid, or needs more than MaxShards.
	ErrLoad error = errLoad
	// ErrInvalid: a lane, its rules or an argument is invalid. See [InvalidError].
	ErrInvalid error = fault.New(fault.ShardmapInvalid, "shardmap: invalid argument")
	// ErrStep: a step is refused. See [StepError].
	ErrStep error = fault.New(fault.ShardmapStep, "shardmap: step refused")
	// ErrStored: the stored map is missing, exists already, or cannot be read. See [StoredError].
	ErrStored error = fault.New(fault.ShardmapStored, "shardmap: no usable stored map")
	// ErrStale: the version of an event cannot be told for sure. See [StaleError].
	ErrStale error = fault.New(fault.ShardmapStale, "shardmap: map not known for sure")
	// ErrRetired: the event's version is retired. See [RetiredError].
	ErrRetired error = fault.New(fault.ShardmapRetired, "shardmap: version retired")
	// ErrWrite: it is not sure that a step was written. See [WriteError].
	ErrWrite error = fault.New(fault.ShardmapWrite, "shardmap: step not written for sure")
)

// InvalidError says which field breaks which rule. Nothing was sent.
type InvalidError struct {
	// Lane is the lane's name, as far as it is valid.
	Lane string
	// Field is the argument, or the field of it.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	return fault.ShardmapInvalid.Text("shardmap: lane %.128q: %s %s", e.Lane, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// StepError says why a step is refused. Nothing was written.
type StepError struct {
	// Lane is the lane's name.
	Lane string
	// Version is the version of the map that was to take the step.
	Version int
	// Step is the step.
	Step Step
	// State is the state in which the version is; empty if there is none.
	State State
	// Reason says what stands against it.
	Reason string
}

func (e *StepError) Error() string {
	state := e.State
	if state == absent {
		state = "not there"
	}
	return fault.ShardmapStep.Text("shardmap: lane %q: %s of version %d, which is %s: %s", e.Lane, e.Step, e.Version, state, e.Reason)
}

// Unwrap returns ErrStep.
func (e *StepError) Unwrap() error { return ErrStep }

// StoredError says what is wrong with the stored map of a lane.
type StoredError struct {
	// Lane is the lane's name.
	Lane string
	// Reason says what is wrong with the item, and names the attribute.
	Reason string
}

func (e *StoredError) Error() string {
	return fault.ShardmapStored.Text("shardmap: lane %q: the item %s %s %s", e.Lane, partition(e.Lane), sortKey, e.Reason)
}

// Unwrap returns ErrStored.
func (e *StoredError) Unwrap() error { return ErrStored }

// StaleReason says why a version cannot be told for sure.
type StaleReason string

// The reasons.
const (
	// TooOld: the map was read longer ago than MaxAge, and could not be read again.
	TooOld StaleReason = "the map was not read recently enough"
	// Ahead: the event's time is further ahead of the clock than MaxSkew allows.
	Ahead StaleReason = "the event's time is ahead of the clock"
	// Undecided: the event is of the window of a version that is proposed and neither admitted nor withdrawn.
	Undecided StaleReason = "a proposal for the event's time is pending"
)

// StaleError says why an event cannot be placed now. Nothing was written, and the same event can be placed later.
type StaleError struct {
	// Lane is the lane's name.
	Lane string
	// At is the event's time; zero if it does not matter.
	At time.Time
	// Reason says what is not known.
	Reason StaleReason
	// Err is the error of the read that failed, or nil.
	Err error
}

func (e *StaleError) Error() string {
	at := ""
	if !e.At.IsZero() {
		at = " event of " + e.At.UTC().Format(timeLayout) + ":"
	}
	if e.Err != nil {
		return fault.ShardmapStale.Text("shardmap: lane %q:%s %s: %v", e.Lane, at, e.Reason, e.Err)
	}
	return fault.ShardmapStale.Text("shardmap: lane %q:%s %s", e.Lane, at, e.Reason)
}

// Unwrap returns ErrStale and the error of the read.
func (e *StaleError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrStale}
	}
	return []error{ErrStale, e.Err}
}

// RetiredError says that an event belongs to a version that is retired.
type RetiredError struct {
	// Lane is the lane's name.
	Lane string
	// Version is the retired version.
	Version int
	// At is the event's time.
	At time.Time
}

func (e *RetiredError) Error() string {
	return fault.ShardmapRetired.Text("shardmap: lane %q: an event of %s belongs to version %d, which is retired",
		e.Lane, e.At.UTC().Format(timeLayout), e.Version)
}

// Unwrap returns ErrRetired.
func (e *RetiredError) Unwrap() error { return ErrRetired }

// WriteError says that a step was not written for sure.
type WriteError struct {
	// Lane is the lane's name.
	Lane string
	// Step is the step.
	Step Step
	// Err is the error of the AWS client; nil if another change of the lane came first, and this one was not written.
	Err error
}

func (e *WriteError) Error() string {
	if e.Err == nil {
		return fault.ShardmapWrite.Text("shardmap: lane %q: %s: another step came first", e.Lane, e.Step)
	}
	return fault.ShardmapWrite.Text("shardmap: lane %q: %s: %v", e.Lane, e.Step, e.Err)
}

// Unwrap returns ErrWrite and the error of the AWS client.
func (e *WriteError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrWrite}
	}
	return []error{ErrWrite, e.Err}
}
