package idempotency

// State is where a request stands.
type State string

// The states of a request's record.
const (
	// Absent is no state of a record: there is none yet.
	Absent State = ""
	// InProgress: an attempt has the request until its lease ends.
	InProgress State = "IN_PROGRESS"
	// Completed: the request has its result, accepted or rejected. Final.
	Completed State = "COMPLETED"
	// Released: it is known that no attempt had an effect, or ever will; the next one may begin at once.
	Released State = "RELEASED"
	// RepairRequired: it is not known whether the last attempt had its effect. The sparse index lists the request.
	RepairRequired State = "REPAIR_REQUIRED"
	// Escalated: repair could not find out; the sparse index lists the request under a key of its own until an operator
	// decides.
	Escalated State = "ESCALATED"
)

// Mode says what the effect of a command is, and with it what may happen after a crash.
type Mode uint8

const (
	// Transactional: the effect is in the transaction that completes the request. An attempt that did not complete had
	// none, so the next one may take over when the lease has ended; the late commit of the first one then fails.
	Transactional Mode = iota + 1
	// External: the effect is somewhere else, for example at a payment provider, and a crash leaves it unknown. Nobody
	// takes over. When the lease has ended, the request goes to repair.
	External
)

// String returns the mode as it is stored.
func (m Mode) String() string {
	switch m {
	case Transactional:
		return "TRANSACTIONAL"
	case External:
		return "EXTERNAL"
	default:
		return "unknown mode"
	}
}

// step is one transition of the state machine.
type step string

const (
	stepOnce     step = "once"
	stepBegin    step = "begin"
	stepRenew    step = "renew"
	stepTakeOver step = "take over"
	stepComplete step = "complete"
	stepRelease  step = "release"
	stepResume   step = "resume"
	stepRepair   step = "repair"
	stepExpire   step = "expire"
	stepLapse    step = "lapse"
	stepProbe    step = "probe"
	stepPostpone step = "postpone"
	stepFind     step = "find"
	stepAllow    step = "allow"
	stepEscalate step = "escalate"
	stepAbandon  step = "abandon"
	stepSettle   step = "settle"
	stepFree     step = "free"
	stepRequeue  step = "requeue"
)

// transition says what a step changes. A step has one.
type transition struct {
	from, to State
}

// transitions is the state machine: every write of a record takes both of its states from here, so a step from any other
// state fails. The table in doc.go is held against it by a test.
var transitions = map[step]transition{
	stepOnce:     {Absent, Completed},
	stepBegin:    {Absent, InProgress},
	stepRenew:    {InProgress, InProgress},
	stepTakeOver: {InProgress, InProgress},
	stepComplete: {InProgress, Completed},
	stepRelease:  {InProgress, Released},
	stepResume:   {Released, InProgress},
	stepRepair:   {InProgress, RepairRequired},
	stepExpire:   {InProgress, RepairRequired},
	stepLapse:    {InProgress, Released},
	stepProbe:    {RepairRequired, RepairRequired},
	stepPostpone: {RepairRequired, RepairRequired},
	stepFind:     {RepairRequired, Completed},
	stepAllow:    {RepairRequired, Released},
	stepEscalate: {RepairRequired, Escalated},
	stepAbandon:  {Released, Completed},
	stepSettle:   {Escalated, Completed},
	stepFree:     {Escalated, Released},
	stepRequeue:  {Escalated, RepairRequired},
}
