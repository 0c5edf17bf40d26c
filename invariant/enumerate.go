package invariant

import (
	"testing"
	"testing/synctest"

	"github.com/dynafin/dynafin/dynamosim"
)

// plan replaces chance in the enumeration of faults: requests go one after the other, and one of them meets trouble.
type plan struct {
	target   int // the request that meets it, from 1; 0 for none
	kind     trouble
	soon     bool // a late request lands right after the next one, else when nothing else is left
	released int
	possible [][]variant // of each request, in a run without trouble
}

// variant is one fault of one request.
type variant struct {
	trouble
	soon bool
}

// pick chooses the request to release: the first, unless a late one is to land.
func (l *plan) pick(options []*dynamosim.Pending) *dynamosim.Pending {
	if l.soon && l.released > l.target {
		for _, p := range options {
			if p != nil && p.Late {
				return p
			}
		}
	}
	return options[0]
}

func (l *plan) fateOf(p *dynamosim.Pending, troubled bool) trouble {
	if !troubled || p.Late {
		return trouble{}
	}
	l.released++
	if l.target == 0 {
		l.possible = append(l.possible, variants(p))
	}
	if l.released == l.target {
		return l.kind
	}
	return trouble{}
}

// variants lists what the enumeration does to a request.
func variants(p *dynamosim.Pending) []variant {
	var all []variant
	add := func(kind trouble) {
		all = append(all, variant{trouble: kind})
		if kind.fate == dynamosim.LateCommit {
			all = append(all, variant{kind, true})
		}
	}
	for _, fate := range []dynamosim.Fate{dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.LateCommit} {
		if p.Takes(fate) {
			add(trouble{fate: fate})
		}
	}
	for _, kind := range crashes(p) {
		add(kind)
	}
	return all
}

// EachFault runs the story without trouble to count the requests of [World.Run], and then once for every request and
// every fault: lost before it was applied, answer lost, applied late (right after the next request, and last of all), crash
// before sending, crash after commit, crash with the request on its way. Each run must hold. It returns the number of runs.
//
// Unlike [Check] it leaves nothing to chance, and it tries only one fault at a time.
func EachFault(t *testing.T, config Config, story func(w *World)) (runs int) {
	t.Helper()
	config = config.withDefaults()
	tell := func(l *plan) *outcome {
		runs++
		var o *outcome
		synctest.Test(t, func(*testing.T) { o = play(t, config, &scripted{}, l, story) })
		return o
	}
	calm := &plan{}
	if o := tell(calm); o.failure != nil {
		t.Errorf("without any fault: invariant %v\n%s", o.failure, o.schedule.String())
		return runs
	}
	if len(calm.possible) == 0 {
		t.Error("the story released no request in Run: there is nothing to enumerate")
	}
	for i, all := range calm.possible {
		for _, v := range all {
			if o := tell(&plan{target: i + 1, kind: v.trouble, soon: v.soon}); o.failure != nil {
				t.Errorf("request %d, %v: invariant %v\n%s", i+1, v, o.failure, o.schedule.String())
				return runs
			}
		}
	}
	return runs
}
