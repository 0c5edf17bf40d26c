package observe

import "time"

// Gauge names a length or an age that is measured. The set is closed.
type Gauge string

// The gauges. Those whose names end in age are durations, the others are counts.
const (
	// Backlog is how many entries are due and not taken up.
	Backlog Gauge = "backlog"
	// OldestAge is for how long the oldest of them has been due, zero if there is none.
	OldestAge Gauge = "oldest.age"
	// Parked is how many were put aside, because they failed too often or wait for something missing.
	Parked Gauge = "parked"
	// Stuck is how many belong to a worker that let its lease end.
	Stuck Gauge = "stuck"
	// Gaps is how many sources miss a version.
	Gaps Gauge = "gaps"
	// RepairsDue is how many requests wait for repair.
	RepairsDue Gauge = "repairs.due"
	// Escalations is how many wait for an operator.
	Escalations Gauge = "escalations"
	// DiscrepanciesOpen is how many discrepancies are open.
	DiscrepanciesOpen Gauge = "discrepancies.open"
	// IndexLagAge is for how long an index was seen to be behind its table.
	IndexLagAge Gauge = "index.lag.age"
)

// Gauges returns the whole set.
func Gauges() []Gauge {
	return []Gauge{Backlog, OldestAge, Parked, Stuck, Gaps, RepairsDue, Escalations, DiscrepanciesOpen, IndexLagAge}
}

// IsAge says whether the gauge is a duration and not a count.
func (g Gauge) IsAge() bool { return g == OldestAge || g == IndexLagAge }

// Measurement is the state of one queue at one time.
type Measurement struct {
	// Package, Scope and Pattern say whose queue it is, as in an [Operation].
	Package, Scope, Pattern string
	// Gauge says what was measured.
	Gauge Gauge
	// Value is a count, or for an age its nanoseconds: see [Measurement.Age].
	Value int64
}

// Age returns the value of a gauge that is a duration.
func (m Measurement) Age() time.Duration { return time.Duration(m.Value) }
