package outbox

// State is where an event stands on its way to the broker.
type State string

// Ready is the state of an event that waits to be published. The sparse index lists the events in this state only.
const Ready State = "READY"
