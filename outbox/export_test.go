package outbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dynafin/dynafin/txn"
)

// Rule is one transition for tests.
type Rule struct {
	Step     string
	From, To State
}

// Rules returns the state machine, sorted by step.
func Rules() []Rule {
	var rules []Rule
	for _, step := range slices.Sorted(maps.Keys(transitions)) {
		rules = append(rules, Rule{string(step), transitions[step].from, transitions[step].to})
	}
	return rules
}

// Take applies a step to an event as it was read. Claims are for the token, on a lease that begins at a time and
// lasts a minute; redrive and pass go through a transaction.
func (o *Outbox) Take(ctx context.Context, client RelayClient, step string, r Record, token string, at time.Time) error {
	s := r.seen()
	var c *change
	switch transitionOf(step) {
	case stepClaim:
		c = o.claim(s, "relay", token, at.Add(time.Minute))
	case stepRenew:
		c = o.renew(s, at.Add(time.Minute))
	case stepComplete:
		c = o.complete(s, "ack-"+token, at, at.Add(24*time.Hour))
	case stepRetry:
		c = o.retry(s, "failed", at, at)
	case stepPark:
		c = o.park(s, "failed", at)
	case stepRecover:
		c = o.recover(s, "lease ended", at, at)
	case stepGiveUp:
		c = o.giveUp(s, "lease ended", at)
	case stepFence:
		c = o.fence(s)
	case stepReschedule:
		c = o.reschedule(s, at.Add(time.Hour))
	}
	_, err := o.apply(ctx, client, c)
	return err
}

func transitionOf(name string) step { return step(name) }

// Journal stores the claim journal of one event.
func (o *Outbox) Journal(ctx context.Context, client JournalClient, claim string, lease time.Time, ids ...string) error {
	j := journal{claim: claim, owner: "relay", lease: lease}
	for _, id := range ids {
		j.events = append(j.events, journalEntry{id, 1})
	}
	return o.putJournal(ctx, client, j)
}

// ReadJournal reads a stored journal and writes it again.
func (o *Outbox) ReadJournal(item txn.Item) (events int, again txn.Item, err error) {
	j, err := o.journalOf(item)
	if err != nil {
		return 0, nil, err
	}
	again, err = o.item(j)
	return len(j.events), again, err
}
