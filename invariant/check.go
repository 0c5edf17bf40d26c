package invariant

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// sometimesRounds is how many times its histories a Check runs at most, until everything has happened that could.
const sometimesRounds = 10

// Check tells the story to many Worlds, as many as rapid has checks (100, or -rapid.checks), and fails the test if an
// invariant breaks in one of them. The failing history is shrunk and its schedule printed, with the command that
// replays it. Check fails, too, if a kind of fault that could have happened never did in a history that held, or if a
// [World.Sometimes] never did, also in several times as many histories.
func Check(t *testing.T, config Config, story func(w *World)) {
	t.Helper()
	config = config.withDefaults()
	total, histories, first := newCounters(), 0, ""
	defer printReplay(t, caller())
	history := rapid.Custom(func(rt *rapid.T) (o *outcome) {
		bubbled := func(history func()) { rapid.SyncTest(rt, func(rt *rapid.T) { history() }) }
		inBubble(t, bubbled, func() { o = play(t, config, drawn{rt}, nil, story) })
		return o
	})
	check := func(rt *rapid.T) {
		o := history.Draw(rt, "schedule")
		if o.failure == nil {
			total.add(o.counters)
			histories++
			return
		}
		if first == "" {
			first = o.failure.Check
		}
		if o.failure.Check == first { // another failure is not a smaller form of this one
			rt.Fatalf("invariant %v", o.failure)
		}
	}
	rapid.Check(t, check)
	for round := 1; round < sometimesRounds && histories >= config.SometimesAfter && len(total.never()) > 0; round++ {
		rapid.Check(t, check) // what is rare may be missing by chance
	}
	if never := total.never(); len(never) > 0 && histories >= config.SometimesAfter {
		t.Errorf("in %d histories these never happened, so nothing is known about them: %s", histories, strings.Join(never, "; "))
	}
	t.Logf("survived in %d histories: %v", histories, total)
}

// String lists the counts.
func (c *counters) String() string {
	var parts []string
	for _, name := range sortedKeys(c.possible) {
		parts = append(parts, fmt.Sprintf("%s %d", name, c.happened[name]))
	}
	return strings.Join(parts, ", ")
}

// History is one history that was run from a seed.
type History struct {
	// Seed and what was told to the World determine the history.
	Seed uint64
	// Requests is how many requests were released.
	Requests int
	// Failure is what broke, nil if everything held.
	Failure *Failure
	// Schedule is the history as a table: virtual time, worker, request, fate, result.
	Schedule string
	// Hash identifies the schedule.
	Hash string

	choices []int
	config  Config
	story   func(*World)
}

// Run tells the story to one World whose every choice follows from the seed. Equal seeds give equal histories.
func Run(t *testing.T, config Config, seed uint64, story func(w *World)) *History {
	t.Helper()
	chance := newSeeded(seed)
	h := run(t, config, chance, nil, story)
	h.Seed, h.choices = seed, chance.chosen
	return h
}

func run(t *testing.T, config Config, chance chance, plan *plan, story func(w *World)) *History {
	var o *outcome
	bubbled := func(history func()) { synctest.Test(t, func(*testing.T) { history() }) }
	inBubble(t, bubbled, func() { o = play(t, config, chance, plan, story) })
	hash := o.schedule.hash()
	return &History{Requests: o.schedule.requests(), Failure: o.failure, Schedule: o.schedule.String(), Hash: hex.EncodeToString(hash[:]),
		config: config, story: story}
}

// Find runs histories from consecutive seeds until one fails, and returns it with how many it took; nil if none of them
// failed. It does not fail the test: it is for showing that a harness finds a known fault.
func Find(t *testing.T, config Config, seed uint64, histories int, story func(w *World)) (failing *History, after int) {
	t.Helper()
	for i := range histories {
		if h := Run(t, config, seed+uint64(i), story); h.Failure != nil {
			return h, i + 1
		}
	}
	return nil, histories
}
