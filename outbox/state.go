package outbox

// State is where an event stands on its way to the broker.
type State string

// The states of an event.
const (
	// Absent is no state of a record: there is none yet.
	Absent State = ""
	// Ready: the event waits to be published. The sparse index lists it.
	Ready State = "READY"
	// InFlight: a relay has taken the event on a lease. No index lists it; the relay's claim journal does.
	InFlight State = "IN_FLIGHT"
	// Completed: the broker has acknowledged the event. Final; the record is cleaned up after the retention.
	Completed State = "COMPLETED"
	// Parked: publishing was given up, with a reason. The sparse index lists it under a key of its own until an operator
	// decides.
	Parked State = "PARKED"
	// Passed: an operator gave up a parked event for good. Final; the record stays.
	Passed State = "PASSED"
)

// Final says that nothing changes the record any more. The next version of an ordered aggregate may be published.
func (s State) Final() bool { return s == Completed || s == Passed }

// step is one transition of the state machine.
type step string

const (
	stepCreate     step = "create"
	stepClaim      step = "claim"
	stepRenew      step = "renew"
	stepComplete   step = "complete"
	stepRetry      step = "retry"
	stepPark       step = "park"
	stepRecover    step = "recover"
	stepGiveUp     step = "give up"
	stepFence      step = "fence"
	stepReschedule step = "reschedule"
	stepRedrive    step = "redrive"
	stepPass       step = "pass"
	stepHold       step = "hold"
)

// transition says what a step changes. A step has one.
type transition struct {
	from, to State
}

// transitions is the state machine: every write of a record's state takes both of its states from here, so a step from
// any other state fails. The table in doc.go is held against it by a test.
var transitions = map[step]transition{
	stepCreate:     {Absent, Ready},
	stepClaim:      {Ready, InFlight},
	stepRenew:      {InFlight, InFlight},
	stepComplete:   {InFlight, Completed},
	stepRetry:      {InFlight, Ready},
	stepPark:       {InFlight, Parked},
	stepRecover:    {InFlight, Ready},
	stepGiveUp:     {InFlight, Parked},
	stepFence:      {Ready, Ready},
	stepReschedule: {Ready, Ready},
	stepRedrive:    {Parked, Ready},
	stepPass:       {Parked, Passed},
	stepHold:       {Ready, Parked},
}
