package shardmap

import (
	"errors"
	"testing"
	"time"
)

// grid is a rule in units so small that every case can be tried.
var grid = Rules{MaxAge: 3 * time.Millisecond, MaxSkew: 2 * time.Millisecond, Horizon: time.Millisecond}

var epoch = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// view is a map that was read at a true time by a clock that was ahead by a skew, and is used later with another.
func view(list []Version, read, skew, use, skewNow int) Versions {
	return Versions{Rules: grid, ReadAt: at(read + skew), list: list, now: func() time.Time { return at(use + skewNow) }}
}

// Notice is what it takes, to the millisecond: with a proposal that was stored at time 0 and seen then, for a window that begins
// Notice later, nobody with an older map places an event of the window, and nobody with an older map misses a
// record under the new version. With a millisecond less somebody does. Every clock may be ahead by up to MaxSkew, and be set
// within that at any time.
func TestNoticeIsLongEnoughAndNotLonger(t *testing.T) {
	t.Parallel()
	notice := int(grid.Notice() / time.Millisecond)
	if got := conflicts(t, notice); got != 0 {
		t.Errorf("%d conflicts with a notice of %d ms", got, notice)
	}
	if conflicts(t, notice-1) == 0 {
		t.Errorf("no conflict with a notice of %d ms either: it need not be longer", notice-1)
	}
}

const (
	skews = 3  // 0 to MaxSkew
	until = 24 // the last true time that is looked at
)

func conflicts(t *testing.T, notice int) (found int) {
	from := notice // by an operator whose clock is right; one that is ahead gives more notice
	old := []Version{{Map: Fixed(13), State: Admitting}}
	proposed := append(old[:1:1], Version{Map: Map{2, HashV1, 17}, State: Proposed, From: at(from)})
	admitted := append(old[:1:1], Version{Map: Map{2, HashV1, 17}, State: Admitting, From: at(from)})
	first := firstUse(admitted, from)
	for use := range until {
		for i := range skews * skews {
			v := view(old, 0, i%skews, use, i/skews)
			if p, err := v.Place(at(from), "evt-1"); err == nil {
				if found++; p.MapVersion != 1 {
					t.Fatalf("an old map places by version %d", p.MapVersion)
				}
			}
			if _, err := v.Live(); err == nil && use >= first {
				found++
			}
			for read := range use + 1 {
				checkPending(t, view(proposed, read, i%skews, use, i/skews), from)
			}
		}
	}
	return found
}

// firstUse is the first true time at which anybody can place an event of the new window.
func firstUse(admitted []Version, from int) int {
	for use := range until {
		for read := range use + 1 {
			for i := range skews * skews {
				if p, err := view(admitted, read, i%skews, use, i/skews).Place(at(from), "evt-1"); err == nil && p.MapVersion == 2 {
					return use
				}
			}
		}
	}
	return until
}

// checkPending: a map with the proposal places nothing of its window, and makes readers visit it.
func checkPending(t *testing.T, v Versions, from int) {
	t.Helper()
	if _, err := v.Place(at(from), "evt-1"); !errors.Is(err, ErrStale) {
		t.Fatalf("an event of the proposed window: %v", err)
	}
	if live, err := v.Live(); err == nil && len(live) != 2 {
		t.Fatalf("a reader visits %+v while version 2 is proposed", live)
	}
}
