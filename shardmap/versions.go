package shardmap

import (
	"context"
	"time"
)

// Rules are what all processes of a lane must agree on. They are stored with the lane when it is created and never change.
type Rules struct {
	// MaxAge is how long a map may be used after it was read. Default: 1 minute.
	MaxAge time.Duration
	// MaxSkew bounds the difference between any two clocks, of the processes and of whoever gives events their times.
	// Default: 5 seconds.
	MaxSkew time.Duration
	// Horizon is how long after the end of its window a version is kept, so that late events and repeats still find
	// their records. Default: 7 days.
	Horizon time.Duration
}

// Notice is how long before its first time a version must be known to be stored: 2·MaxAge + 3·MaxSkew. Then nobody who does
// not know it can still place an event of its window, or miss a record under it.
func (r Rules) Notice() time.Duration { return 2*r.MaxAge + 3*r.MaxSkew }

// Version is one version of a lane's map.
type Version struct {
	Map
	// State is where it stands.
	State State
	// From is the first time of its window; zero for the first version, which has no beginning. The window ends where that of
	// the next version begins that was not withdrawn.
	From time.Time
	// History is what happened to it, in order.
	History []Done
}

// Done is a step that was taken.
type Done struct {
	// Step is what was done, At when, and By who did it.
	Step Step
	At   time.Time
	By   string
	// Evidence is what was shown for it; only of StepDrain and StepRetire.
	Evidence Evidence

	token string // recognises a repeat
}

// Evidence is what a version must show to go on to its end.
type Evidence struct {
	// Watermark is a time that all sources have passed: what they still send that is older is a repeat. It must not be
	// before the end of the version's window.
	Watermark time.Time
	// Remaining counts what is still to be done under the version: events not published, gaps not filled. StepRetire needs
	// zero.
	Remaining int64
	// Expected and Actual are the control totals of the version's events, as their sources have them and as the records
	// have them. StepRetire needs them to be equal.
	Expected, Actual Totals
}

// Totals count records and sum them up, in whatever way their owner does.
type Totals struct {
	// Count is how many records there are.
	Count int64
	// Digest is what their owner sums them up to; at most 128 bytes.
	Digest string
}

// Versions is the map of a lane as it was read: all its versions. It is a value that does not change, safe for concurrent
// use; take a new one from a [Source] for every event.
type Versions struct {
	// Lane is the name of what is sharded.
	Lane string
	// Revision rises with every step.
	Revision int64
	// Rules are those of the lane.
	Rules Rules
	// ReadAt is a time, on the reader's clock, before it was read.
	ReadAt time.Time

	list []Version
	now  func() time.Time // nil for a fixed map, which is never too old
}

// Source gives the current map: a [Loader], or a [Map] that never changes.
type Source interface {
	// Versions returns a map that may be used now. Errors: ErrStale, ErrStored.
	Versions(ctx context.Context) (Versions, error)
}

// Versions makes a Map a Source that never changes: version m.Version places events of all times. Errors: ErrMap.
//
// Cost: none, it sends nothing.
func (m Map) Versions(context.Context) (Versions, error) {
	if err := m.Validate(); err != nil {
		return Versions{}, err
	}
	return Versions{list: []Version{{Map: m, State: Admitting}}}, nil
}

// All returns every version, retired and withdrawn ones too, in order.
func (v Versions) All() []Version {
	all := make([]Version, len(v.list))
	for i, version := range v.list {
		version.History = append([]Done(nil), version.History...)
		all[i] = version
	}
	return all
}

// Live returns the maps of every version under which records may stand. Readers fan out over all of them. Errors:
// ErrStale, if this map is too old to know.
func (v Versions) Live() ([]Map, error) {
	if err := v.fresh(); err != nil {
		return nil, err
	}
	return v.live(), nil
}

func (v Versions) live() (maps []Map) {
	for _, version := range v.list {
		if version.State.Live() {
			maps = append(maps, version.Map)
		}
	}
	return maps
}

// Place returns where an event belongs. Which version that is depends on nothing but the event's own time, which must never
// change: so a repeat is placed where the first attempt was, whoever makes it, whenever, and by whichever map. Errors:
// ErrStale, ErrRetired, ErrKey.
func (v Versions) Place(at time.Time, key string) (Placement, error) {
	version, err := v.version(at)
	if err != nil {
		return Placement{}, err
	}
	return version.Place(key)
}

// At returns the map that places everything of a time. It is for what does not move between shards later, although its events
// go on: such a thing has one time of its own. Errors: ErrStale, ErrRetired.
func (v Versions) At(at time.Time) (Map, error) {
	version, err := v.version(at)
	return version.Map, err
}

// Others returns where else a record of the same key may stand: its places under every other live version. While there are
// any, the transaction that writes a record at p checks that there is none at the others; so an event that comes with
// two different times has one effect all the same, within Rules.Horizon of the first. Errors: ErrStale, ErrKey.
func (v Versions) Others(p Placement, key string) ([]Placement, error) {
	if err := v.fresh(); err != nil {
		return nil, err
	}
	var others []Placement
	for _, m := range v.live() {
		if m.Version == p.MapVersion {
			continue
		}
		other, err := m.Place(key)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
	}
	return others, nil
}

// version returns the version whose window holds a time.
func (v Versions) version(at time.Time) (Version, error) {
	if err := v.fresh(); err != nil {
		return Version{}, err
	}
	if v.now != nil && !at.Before(v.ReadAt.Add(v.Rules.MaxAge+v.Rules.MaxSkew)) {
		return Version{}, v.stale(at, Ahead, nil)
	}
	i := v.holder(at)
	switch v.list[i].State {
	case Proposed:
		return Version{}, v.stale(at, Undecided, nil)
	case Retired:
		return Version{}, &RetiredError{Lane: v.Lane, Version: v.list[i].Version, At: at}
	}
	return v.list[i], nil
}

// holder returns the index of the version whose window holds a time; there always is one.
func (v Versions) holder(at time.Time) int {
	i := len(v.list) - 1
	for i > 0 && (v.list[i].State == Withdrawn || at.Before(v.list[i].From)) {
		i--
	}
	return i
}

// until returns where the window of a version ends; ok is false if no later version was admitted.
func (v Versions) until(index int) (end time.Time, ok bool) {
	for _, later := range v.list[index+1:] {
		if later.State != Withdrawn && later.State != Proposed {
			return later.From, true
		}
	}
	return time.Time{}, false
}

// fresh refuses a map that was read too long ago, or that the clock says was read in the future.
func (v Versions) fresh() error {
	if len(v.list) == 0 {
		return &StaleError{Lane: v.Lane, Reason: TooOld}
	}
	if v.now == nil {
		return nil
	}
	if age := v.now().Sub(v.ReadAt); age > v.Rules.MaxAge || age < -v.Rules.MaxSkew {
		return v.stale(time.Time{}, TooOld, nil)
	}
	return nil
}

func (v Versions) stale(at time.Time, reason StaleReason, err error) error {
	return &StaleError{Lane: v.Lane, At: at, Reason: reason, Err: err}
}
