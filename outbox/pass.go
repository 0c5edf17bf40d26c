package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/observe"
)

// candidate is a listed event with the shard that lists it.
type candidate struct {
	Listed
	shard int
}

func byDue(a, b candidate) int {
	return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.EventID, b.EventID))
}

func (c candidate) seen() seen {
	return seen{eventID: c.EventID, shard: c.shard, version: c.Version, attempt: c.Attempt}
}

// pass reads all shards once and publishes what it takes.
func (r *Relay) pass(list, publish, work context.Context) (Round, error) {
	events, err := r.current(list)
	if err != nil {
		return Round{}, err
	}
	if r.paused(list) {
		return Round{Paused: true}, nil
	}
	listed, more, err := r.poll(list, events)
	taken := r.choose(listed)
	round := Round{Listed: len(listed), More: more || len(taken) < len(listed)}
	r.take(list, publish, work, taken, &round)
	r.respread(round)
	return round, err
}

// take publishes candidates batch by batch, and adds what became of them to the round. Beginning a batch ends with begin,
// publishing with publish, everything else with work.
func (r *Relay) take(begin, publish, work context.Context, taken []candidate, round *Round) {
	chains := r.chains(taken)
	for len(chains) > 0 && begin.Err() == nil {
		heads, waiting := r.inTurn(work, chains, round.More)
		round.Waiting += waiting
		completed := map[string]bool{}
		batches := r.batches(heads)
		each(len(batches), func(i int) { batches[i].process(publish, work) })
		for _, b := range batches {
			round.add(b.round)
			for _, id := range b.completed {
				completed[id] = true
			}
		}
		chains = behind(chains, completed)
	}
}

// current returns the outbox under the shard map as it is known now.
func (r *Relay) current(ctx context.Context) (*Outbox, error) {
	if r.config.Maps == nil {
		return r.events, nil
	}
	var events *Outbox
	err := r.try(ctx, "AP16.map", func(ctx context.Context) error {
		v, err := r.config.Maps.Versions(ctx)
		if err != nil {
			return fmt.Errorf("outbox: list events of service %q: %w", r.events.config.Service, err)
		}
		events = r.events.Under(v)
		return events.listable()
	})
	return events, err
}

// poll reads the earliest due events of every shard, one request each, and merges them by due time and ID. A shard that
// cannot be read holds up no other.
func (r *Relay) poll(ctx context.Context, events *Outbox) (merged []candidate, more bool, err error) {
	shards := events.Shards()
	limit := 2 * ((r.want() + shards - 1) / shards) // shards are not even, and what is claimed may be listed still
	now := r.config.Now().Add(-r.config.Grace)
	pages, faults := make([][]candidate, shards), make([]error, shards)
	each(shards, func(shard int) {
		faults[shard] = r.try(ctx, "AP16.list", func(ctx context.Context) error {
			pages[shard] = pages[shard][:0]
			var bad error
			for listed, err := range events.Ready(ctx, r.client, shard, now, limit) {
				if err != nil {
					bad = errors.Join(bad, err)
					continue
				}
				pages[shard] = append(pages[shard], candidate{listed, shard})
			}
			return bad
		})
	})
	lag := time.Duration(0)
	for _, page := range pages {
		more = more || len(page) >= limit
		for _, c := range page {
			if since, over := r.outdated(c); over {
				lag = max(lag, r.config.Now().Sub(since))
				continue
			}
			merged = append(merged, c)
		}
	}
	slices.SortFunc(merged, byDue)
	if err = errors.Join(faults...); err == nil {
		r.measure(ctx, merged, lag)
	}
	return merged, more, err
}

// measure tells what a poll of all shards showed.
func (r *Relay) measure(ctx context.Context, due []candidate, lag time.Duration) {
	oldest := time.Duration(0)
	if len(due) > 0 {
		oldest = r.config.Now().Sub(due[0].Due)
	}
	r.watch.Measure(ctx, "AP16", observe.Backlog, int64(len(due)))
	r.watch.Measure(ctx, "AP16", observe.OldestAge, int64(oldest))
	r.watch.Measure(ctx, "AP16", observe.IndexLagAge, int64(lag))
}

// memory is what a relay knows of events, by ID.
type memory = map[string]met

// met is the newest version of an event that a relay has met, and since when it knows of it.
type met struct {
	version int64
	since   time.Time
}

// memoryMax bounds each of a relay's two memories.
const memoryMax = 8192

// remember notes the version of an event: the index may go on listing an older one for a while, and a stream may show one
// again; going for it would cost a write that must fail.
func (r *Relay) remember(eventID string, version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if version <= r.known(eventID).version {
		return
	}
	if len(r.newer[0]) >= memoryMax {
		r.newer[0], r.newer[1] = nil, r.newer[0]
	}
	if r.newer[0] == nil {
		r.newer[0] = memory{}
	}
	r.newer[0][eventID] = met{version: version, since: r.config.Now()}
}

// known is the newest version that the relay has met, zero if it remembers none.
func (r *Relay) known(eventID string) met {
	if newer, ok := r.newer[0][eventID]; ok {
		return newer // what is in the older memory too was met before
	}
	return r.newer[1][eventID]
}

// outdated says whether the relay knows a version to be over, and since when.
func (r *Relay) outdated(c candidate) (since time.Time, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known(c.EventID)
	return known.since, c.Version < known.version
}

func (r *Relay) want() int { return r.config.Batch * r.config.Batches }

// maxSpread bounds the share of the listed events that one of many relays leaves to the others.
const maxSpread = 16

// choose returns what this relay goes for: the earliest, or, where relays keep meeting, one in spread of them.
func (r *Relay) choose(listed []candidate) []candidate {
	r.mu.Lock()
	spread := r.spread
	first := 0
	if spread > 1 {
		first = int(r.config.Jitter(time.Duration(spread)))
	}
	r.mu.Unlock()
	taken := make([]candidate, 0, r.want())
	for i := first % spread; i < len(listed) && len(taken) < r.want(); i += spread {
		taken = append(taken, listed[i])
	}
	return taken
}

// respread learns from a round how many others went for the same events.
func (r *Relay) respread(round Round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch tried := round.Claimed + round.Lost; {
	case round.Lost > tried/4:
		r.spread = min(2*r.spread, maxSpread)
	case round.Lost <= tried/16:
		r.spread = max(r.spread/2, 1)
	}
}

// batches divides candidates so that each batch's journal fits into one write unit.
func (r *Relay) batches(of []candidate) []*batch {
	var all []*batch
	size := 0
	for _, c := range of {
		entry := journalEntry{c.EventID, c.Version}
		bytes := len(entry.append(nil))
		if len(all) == 0 || len(all[len(all)-1].taken) == r.config.Batch || size+bytes > journalBytes {
			b := &batch{relay: r, claim: r.config.NewID(), lease: r.config.Now().Add(r.config.Lease)}
			all = append(all, b)
			size = journalBytes
			if item, err := r.events.item(b.journal()); err == nil {
				size = capacity.ItemSize(item)
			}
		}
		size += bytes
		last := all[len(all)-1]
		last.taken = append(last.taken, c)
	}
	return all
}
