package change

import (
	"time"

	"github.com/dynafin/dynafin/capacity"
)

// Report is what a command did.
type Report struct {
	Run, Command string
	DryRun       bool
	// Matched is what the selection matched, Planned what was to change.
	Matched, Planned int
	// Units are the planned write units; Exact says that every item was rehearsed.
	Units capacity.Units
	Exact bool
	// Before are items that this run had changed before it was resumed.
	Before int
	// Changes are the items that changed, with what they are now.
	Changes []Changed
	// Skipped are the items that did not, by reason.
	Skipped map[string][]Item
	// Writes are those of a dry run, by item.
	Writes []Planned
	// Spent is what the changes cost, Waited how long the limit held them up.
	Spent  capacity.Units
	Waited time.Duration
}

// Changed is an item that was changed.
type Changed struct{ Item, Was, Is string }

// Planned is what a dry run found about an item.
type Planned struct {
	Item         string
	Writes       []Write
	Units, Index capacity.Units
}

// SkippedCount is how many items did not change.
func (r *Report) SkippedCount() (n int) {
	for _, ids := range r.Skipped {
		n += len(ids)
	}
	return n
}

func (r *Report) skip(reason string, item Item) { r.Skipped[reason] = append(r.Skipped[reason], item) }
