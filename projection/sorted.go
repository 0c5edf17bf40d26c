package projection

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// DefaultSortBytes is how many bytes of events [Sorted] keeps at once unless told otherwise.
const DefaultSortBytes = 256 << 20

// eventOverhead is about what an event takes beside its texts.
const eventOverhead = 200

// Sorted gives events that have no order, those of a table export for example, as [Namespace.Load] wants them: the versions of each
// source one after the other. It reads all of them once for each pass and keeps those of some sources only, so its memory is
// bounded however many there are. The order follows from the events alone, so a build goes on where it was after a crash,
// even if the events come in another order then.
type Sorted struct {
	// Events reads all events, from the first; every call gives the same ones. One that comes twice counts once. Required.
	Events func(ctx context.Context) iter.Seq2[Event, error]
	// Passes is how often they are read. Default: 1.
	Passes int
	// MaxBytes is how many bytes of events a pass keeps. More are an error, which says to use more passes. Default:
	// DefaultSortBytes.
	MaxBytes int64
}

// Entries gives the events behind a position, "" for all. Two events of one version of a source that differ are a
// MismatchError. Errors: ErrInvalid, ErrMismatch, those of Events.
//
// Cost: it reads what Events reads and writes temporary files; no units of its own.
func (s Sorted) Entries(ctx context.Context, position string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		fail := func(err error) { yield(Entry{}, err) }
		passes := max(s.Passes, 1)
		first, behind, err := parsePosition(position, passes)
		if s.Events == nil {
			err = &InvalidError{Field: "Events", Reason: "is missing"}
		}
		if err != nil {
			fail(err)
			return
		}
		for pass := first; pass < passes; pass++ {
			events, err := s.pass(ctx, pass, passes)
			if err != nil {
				fail(err)
				return
			}
			for i, e := range events {
				if i > 0 && compareEvents(events[i-1], e) == 0 {
					if before := events[i-1].digest(); before != e.digest() {
						fail(&MismatchError{Source: e.Source, Version: e.Version, EventID: e.ID, StoredID: events[i-1].ID})
						return
					}
					continue
				}
				if pass == first && position != "" && compareEvents(e, behind) <= 0 {
					continue
				}
				if !yield(Entry{Event: e, Position: positionOf(pass, passes, e)}, nil) {
					return
				}
			}
		}
	}
}

// pass reads the events of the sources of one pass, and sorts them.
func (s Sorted) pass(ctx context.Context, pass, passes int) ([]Event, error) {
	limit := cmp.Or(s.MaxBytes, DefaultSortBytes)
	size := int64(0)
	var events []Event
	for e, err := range s.Events(ctx) {
		if err != nil {
			return nil, err
		}
		hash := fnv.New64a()
		hash.Write([]byte(e.Source))
		if int(hash.Sum64()%uint64(passes)) != pass {
			continue
		}
		if size += int64(len(e.Source) + len(e.ID) + len(e.Type) + len(e.Payload) + eventOverhead); size > limit {
			return nil, &InvalidError{Field: "Passes", Reason: fmt.Sprintf("is %d, and the events of one pass have more than %d bytes: use more passes", passes, limit)}
		}
		e.Payload = bytes.Clone(e.Payload)
		events = append(events, e)
	}
	slices.SortFunc(events, func(a, b Event) int {
		if order := compareEvents(a, b); order != 0 {
			return order
		}
		first, second := a.digest(), b.digest()
		return bytes.Compare(first[:], second[:])
	})
	return events, nil
}

func compareEvents(a, b Event) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), cmp.Compare(a.Version, b.Version))
}

// positionOf is pass/passes:version:source.
func positionOf(pass, passes int, e Event) string {
	return strconv.Itoa(pass) + "/" + strconv.Itoa(passes) + ":" + strconv.FormatInt(e.Version, 10) + ":" + e.Source
}

// parsePosition returns the pass of a position and the event that was there.
func parsePosition(position string, passes int) (pass int, behind Event, err error) {
	if position == "" {
		return 0, Event{}, nil
	}
	parts := strings.SplitN(position, ":", 3)
	if len(parts) == 3 {
		of, total, _ := strings.Cut(parts[0], "/")
		pass, err = strconv.Atoi(of)
		version, versionErr := strconv.ParseInt(parts[1], 10, 64)
		behind = Event{Source: parts[2], Version: version}
		if err == nil && versionErr == nil && pass >= 0 && pass < passes && total == strconv.Itoa(passes) {
			return pass, behind, nil
		}
	}
	return 0, Event{}, &InvalidError{Field: "position", Reason: "is not one of " + strconv.Itoa(passes) + " passes"}
}

// tally is what the entries of a source add up to, and what is wrong with them.
type tally struct {
	totals Totals
	faults []string
	last   Event
}

// count adds an entry that comes in order.
func (t *tally) count(e Event, first int64) {
	next := t.last.Version + 1
	if t.totals.Sources == 0 || e.Source != t.last.Source {
		t.totals.Sources++
		next = first
	}
	if e.Version != next && len(t.faults) < MaxFaults {
		t.faults = append(t.faults, fmt.Sprintf("source %.256q misses version %d", e.Source, next))
	}
	t.totals.Events++
	t.totals.Control.Add(t.totals.Control, big.NewInt(e.Control))
	t.last = e
}
