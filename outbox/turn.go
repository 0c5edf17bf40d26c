package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// chains returns the candidates as lists of which each event waits for the one before: those of an aggregate if the
// outbox is ordered, otherwise each for itself.
func (r *Relay) chains(taken []candidate) [][]candidate {
	var chains [][]candidate
	type aggregate struct{ tenant, kind, id string }
	at := map[aggregate]int{}
	for _, c := range taken {
		of := aggregate{c.Tenant, c.AggregateType, c.AggregateID}
		i, known := at[of]
		if !r.events.config.Ordered || !known {
			at[of] = len(chains)
			chains = append(chains, []candidate{c})
			continue
		}
		chains[i] = append(chains[i], c)
	}
	for _, chain := range chains {
		slices.SortFunc(chain, func(a, b candidate) int { return cmp.Compare(a.AggregateVersion, b.AggregateVersion) })
	}
	return chains
}

// behind returns what is left of the chains whose first event is completed.
func behind(chains [][]candidate, completed map[string]bool) (rest [][]candidate) {
	for _, chain := range chains {
		if len(chain) > 1 && completed[chain[0].EventID] {
			rest = append(rest, chain[1:])
		}
	}
	return rest
}

// inTurn returns the first events of the chains whose turn has come, and how many chains have to wait. If the queue is
// longer than what was read, those that will wait for long are put off, so that they do not keep others from their turn,
// least of all the one that they wait for.
func (r *Relay) inTurn(ctx context.Context, chains [][]candidate, crowded bool) (ready []candidate, waiting int) {
	turn, until := make([]bool, len(chains)), make([]time.Time, len(chains))
	if r.events.config.Ordered {
		each(len(chains), func(i int) { turn[i], until[i] = r.itsTurn(ctx, chains[i][0]) })
	}
	for i, chain := range chains {
		switch {
		case turn[i] || !r.events.config.Ordered:
			ready = append(ready, chain[0])
			continue
		case crowded && !until[i].IsZero():
			r.putOff(ctx, chain, until[i])
		}
		waiting++
	}
	return ready, waiting
}

// itsTurn says whether the version before is done with, by one strongly consistent read by key. A version without a
// record is: versions are committed one after the other, so it was completed and cleaned up, or is older than the outbox.
// Until is what the event waits for, if it is neither ahead of it in the queue nor on its way.
func (r *Relay) itsTurn(ctx context.Context, c candidate) (turn bool, until time.Time) {
	if c.AggregateVersion <= 1 {
		return true, until
	}
	id := orderedID(c.Tenant, c.AggregateType, c.AggregateID, c.AggregateVersion-1)
	var before Record
	err := r.try(ctx, "AP16.predecessor", func(ctx context.Context) (err error) {
		before, err = r.events.Get(ctx, r.client, id)
		return err
	})
	switch {
	case errors.Is(err, ErrNotFound), err == nil && before.State.Final():
		return true, until
	case errors.Is(err, ErrCorrupt), err == nil && before.State == Parked:
		return false, r.config.Now().Add(r.config.Hold)
	case err == nil && before.State == Ready && cmp.Or(before.Event.Due.Compare(c.Due), cmp.Compare(id, c.EventID)) > 0:
		return false, before.Event.Due
	default:
		return false, until
	}
}

// putOff reschedules a chain behind a time, in the order of its versions. What fails here, or was changed by somebody
// faster, the next round sees.
func (r *Relay) putOff(ctx context.Context, chain []candidate, until time.Time) {
	each(len(chain), func(i int) {
		due := until.Add(time.Duration(1 + chain[i].AggregateVersion - chain[0].AggregateVersion))
		if !chain[i].Due.Before(due) {
			return // behind it already; nothing becomes due earlier than it was
		}
		_ = r.try(ctx, "AP16.reschedule", func(ctx context.Context) error {
			_, err := r.events.apply(ctx, r.client, r.events.reschedule(chain[i].seen(), due))
			return err
		})
	})
}
