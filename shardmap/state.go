package shardmap

// State is where a version of a map stands in its life.
type State string

// The states of a version. The package documentation draws them.
const (
	// Proposed: the version and its first time are known to whoever reads the map, and nobody places by it yet.
	Proposed State = "PROPOSED"
	// Admitting: events of its window are placed by it.
	Admitting State = "ADMITTING"
	// Draining: a later version has taken over, and only late events of its window still come.
	Draining State = "DRAINING"
	// Retired: no event of its window is placed any more, and no reader visits it.
	Retired State = "RETIRED"
	// Withdrawn: it was proposed and never placed anything.
	Withdrawn State = "WITHDRAWN"

	absent State = ""
)

// States lists all states of a version.
func States() []State { return []State{Proposed, Admitting, Draining, Retired, Withdrawn} }

// Live says whether records may stand under a version of this state, so that readers must visit it. A Proposed one counts,
// because a reader's map may be older than a writer's.
func (s State) Live() bool { return s == Proposed || s == Admitting || s == Draining }

// Step is a change in the life of a version.
type Step string

// The steps. Each happens to a version at most once.
const (
	StepCreate   Step = "CREATE"
	StepPropose  Step = "PROPOSE"
	StepAdmit    Step = "ADMIT"
	StepWithdraw Step = "WITHDRAW"
	StepDrain    Step = "DRAIN"
	StepRetire   Step = "RETIRE"
)

// Steps lists all steps.
func Steps() []Step {
	return []Step{StepCreate, StepPropose, StepAdmit, StepWithdraw, StepDrain, StepRetire}
}

// transitions are all there are.
var transitions = map[State]map[Step]State{
	absent:    {StepCreate: Admitting, StepPropose: Proposed},
	Proposed:  {StepAdmit: Admitting, StepWithdraw: Withdrawn},
	Admitting: {StepDrain: Draining},
	Draining:  {StepRetire: Retired},
}

// After returns the state after a step; ok is false if the step is not possible. The state of a version that does not exist
// is empty.
func (s State) After(step Step) (after State, ok bool) {
	after, ok = transitions[s][step]
	return after, ok
}
