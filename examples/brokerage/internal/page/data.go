package page

import (
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/money"
)

// Data is what a run came to. It has everything that the page shows; the page adds sums, differences and numbers of rows, and
// no figure of its own. Whoever wants the same bytes for the same seed puts nothing into it that is not of the run.
type Data struct {
	// Title heads the page.
	Title string
	// Seed is the run's seed, Orders how many it was fed.
	Seed   uint64
	Orders int
	// Facts stand below the verdict: the build, the day, how long it took on the run's own clock.
	Facts []Fact

	Tiles          Tiles
	Faults         []Fault
	Timeline       Timeline
	Books          []Books
	Marks          []Mark
	Accounts       []Account
	Flow           Flow
	Outcomes       []Outcome
	Reconciliation Reconciliation
	Cost           Cost
	Items          []Item
	Invariants     []Invariant
	Again          Again
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Tiles are the four figures that are read first.
type Tiles struct {
	// Accepted counts orders, Absorbed repeats that had no second effect.
	Accepted, Absorbed int
	// Delivered, Pending and Parked are the events of all outboxes.
	Delivered, Pending, Parked int
	// Sums are what all accounts add up to, for each asset: zero.
	Sums []money.Amount
}

// Fault is one kind of trouble, and what became of the requests that met it.
type Fault struct {
	Name string
	// Came says that nobody injected it: it was in the input, or it followed from other faults.
	Came  bool
	Times int
	// Replayed got the stored result, Retried went through when sent again, Refused were turned down for good, Recovered were
	// found and finished by somebody else.
	Replayed, Retried, Refused, Recovered int
	// Effect is by how much the books differ from a day without it.
	Effect money.Amount
}

// Timeline is the way of one order through the house.
type Timeline struct {
	// Order is its ID.
	Order string
	// Lanes are who takes part, from left to right.
	Lanes []string
	Steps []Step
}

// Step is one thing that happens: a message from one lane to another, or something within a lane if the two are the same.
type Step struct {
	At       time.Duration
	From, To int
	What     string
	// Note is shown on hover and read out; it may be empty.
	Note string
	Kind StepKind
}

// StepKind says how a step is drawn.
type StepKind string

// Kinds of steps.
const (
	Normal  StepKind = ""
	Lost    StepKind = "lost"    // it does not arrive
	Repeat  StepKind = "repeat"  // the same once more
	Stored  StepKind = "stored"  // a durable record changes
	Crashed StepKind = "crashed" // a process ends
)

// Books are the running totals of an asset over the steps of the run.
type Books struct {
	Asset  string
	Points []Point
}

// Point is how much was debited and credited up to a step. A credit is shown as a positive figure.
type Point struct {
	Step            int
	Debits, Credits money.Amount
}

// Mark is a fault at a step.
type Mark struct {
	Step int
	Name string
}

// Account is a row of the trial balance, in one asset. Rows of one asset stand together.
type Account struct {
	Name            string
	Debits, Credits money.Amount
	// Balance is debits less credits.
	Balance money.Amount
	// Posted is how many entries it has, Entries a sample of them.
	Posted  int
	Entries []Entry
}

// Entry is a posting.
type Entry struct {
	At     time.Time
	ID     string
	What   string
	Amount money.Amount
}

// Flow is how events went from outboxes to projections.
type Flow struct {
	// Backlog is what waited, over the steps of the run.
	Backlog []Backlog
	// Delays counts events by how long they took from their commit to the acknowledgement.
	Delays        []Delay
	P50, P99, Max time.Duration
	// Source is whose checkpoint is shown.
	Source      string
	Checkpoints []Checkpoint
	Gaps        []Gap
}

// Backlog is how many events were pending and parked at a step.
type Backlog struct{ Step, Pending, Parked int }

// Delay counts the events that took up to UpTo, and more than the one before.
type Delay struct {
	UpTo  time.Duration
	Count int
}

// Checkpoint is the version that a projection had reached at a step.
type Checkpoint struct{ Step, Version int }

// Gap is where a projection waited for a version, and when it went on.
type Gap struct{ From, Until, Missing int }

// Outcome is what requests got.
type Outcome struct {
	Name    string
	Count   int
	Meaning string
}

// Reconciliation is what comparing two records of the same facts found.
type Reconciliation struct {
	// Rows were compared, Matched of them agree.
	Rows, Matched int
	// Planted differences were made on purpose, Found are those of them that were found, False those that nobody made.
	Planted, Found, False int
	Breaks                []Break
}

// Break is a difference.
type Break struct {
	ID, Kind     string
	Ours, Theirs string
	Difference   money.Amount
	Age          time.Duration
	Owner        string
	Resolution   string
}

// Cost is what the run consumed.
type Cost struct {
	Patterns []Pattern
	// PerThousand are the units of a thousand orders, all together.
	ReadPerThousand, WritePerThousand string
	// Price is what they cost, and Rate at which prices of which date.
	Price, Rate string
	Routes      []Route
	// Shards are the partitions of the busiest lane, and Lane its name.
	Lane   string
	Shards []Shard
}

// Pattern is one operation of an access pattern.
type Pattern struct {
	ID, What             string
	Operations, Requests int
	// Read and Write are the units of all its operations.
	Read, Write capacity.Units
	// Chapter and Measured are units of one operation, the planned and the measured ones, as exact decimals. Chapter is
	// empty where the plan has no figure.
	Chapter, Measured string
	// Note says why they differ, if they do.
	Note string
}

// Route is a way to the data, and how many requests took it.
type Route struct {
	ID       string
	Requests int
}

// Shard is what one partition took in its busiest second, and what it takes at most.
type Shard struct {
	Name        string
	Peak, Limit int
}

// Item is a stored item.
type Item struct {
	Entity, PK, SK string
	Attributes     []Fact
}

// Invariant is a promise that was checked all along.
type Invariant struct {
	Name, Sentence string
	// Checked is how often, LastStep when it was checked last.
	Checked, LastStep int
	// Test is the name of the test that tries to break it.
	Test string
	// Broken says what was found, and is empty if it held. Repeat is the command that shows it again.
	Broken, Repeat string
}

// Again is how to repeat the run, and what it does not prove.
type Again struct {
	Command  string
	Versions []Fact
	// Missing is what the simulation does not model, Where who says so in full.
	Missing []string
	Where   string
}
