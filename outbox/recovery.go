package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
)

// recoverClaims gives the events of every journal whose lease has ended back to the index, and drops the journals that
// name nothing any more. It returns how many events it gave back.
func (r *Relay) recoverClaims(ctx context.Context) (int, error) {
	var ended []journal
	err := r.try(ctx, "AP16.journal.list", func(ctx context.Context) (err error) {
		ended, err = r.events.endedJournals(ctx, r.client, r.config.Now())
		return err
	})
	recovered, stuck := 0, 0
	for _, j := range ended {
		stuck += len(j.events)
		recovered += r.recoverJournal(ctx, j)
	}
	if err == nil {
		r.watch.Measure(ctx, "AP16", observe.Stuck, int64(stuck))
	}
	return recovered, err
}

func (r *Relay) recoverJournal(ctx context.Context, j journal) int {
	settled, recovered := make([]bool, len(j.events)), make([]bool, len(j.events))
	each(len(j.events), func(i int) { settled[i], recovered[i] = r.recoverEvent(ctx, j, j.events[i]) })
	count, all := 0, true
	for i := range settled {
		all = all && settled[i]
		if recovered[i] {
			count++
		}
	}
	if all {
		_ = r.try(ctx, "AP16.journal.drop", func(ctx context.Context) error {
			return r.events.dropJournal(ctx, r.client, j.claim, j.lease)
		})
	}
	return count
}

// recoverEvent sees to one event of a journal whose lease has ended. It is settled when the claim that the journal
// announces has ended, or can never be applied any more, or stands in a later journal.
func (r *Relay) recoverEvent(ctx context.Context, j journal, entry journalEntry) (settled, recovered bool) {
	for range maxTries {
		state, s, err := r.mechanics(ctx, entry.eventID)
		switch {
		case errors.Is(err, ErrNotFound):
			return true, false // cleaned up
		case err != nil:
			return false, false
		}
		var c *change
		now := r.config.Now()
		switch {
		case state == Ready && s.version == entry.version:
			// The claim may still be on its way, and its relay dead: it must fail before the journal goes.
			c = r.events.fence(s)
		case state != InFlight || s.claim != j.claim || s.lease.After(j.lease):
			return true, false // ended, or renewed under a later journal
		case now.Before(s.lease):
			return false, false // a clock was set back
		case s.attempt >= int64(r.config.MaxAttempts):
			c = r.events.giveUp(s, leaseEnded(j), now)
		default:
			c = r.events.recover(s, leaseEnded(j), now, now.Add(r.backoff(s.attempt)))
		}
		err = r.try(ctx, "AP16."+string(c.step), func(ctx context.Context) error {
			_, err := r.events.apply(ctx, r.client, c)
			return err
		})
		if err == nil {
			return true, c.step != stepFence
		}
		if !refused(err) {
			return false, false
		}
		// Somebody changed it meanwhile: look again.
	}
	return false, false
}

func leaseEnded(j journal) string { return fmt.Sprintf("the lease of relay %q ended", j.owner) }

// mechanics reads what a step names of a record, without its envelope: an event that cannot be read must be given back all
// the same, so that it is parked where operators see it.
func (r *Relay) mechanics(ctx context.Context, eventID string) (state State, s seen, err error) {
	err = r.try(ctx, "AP16.look", func(ctx context.Context) error {
		state, s, err = r.events.mechanics(ctx, r.client, eventID)
		return err
	})
	return state, s, err
}

func (o *Outbox) mechanics(ctx context.Context, client Client, eventID string) (State, seen, error) {
	key, err := keys.Outbox(eventID)
	if err != nil {
		return "", seen{}, &InvalidError{EventID: eventID, Field: "EventID", Reason: keyReason(err)}
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &o.config.Table.Name, Key: o.config.Table.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return "", seen{}, errRead.Wrap(err, "outbox: look at event %q: %v", eventID, err)
	}
	if out.Item == nil {
		return "", seen{}, &NotFoundError{EventID: eventID}
	}
	in := reader{id: eventID, item: out.Item}
	in.format()
	state := State(in.text(attrState))
	s := seen{eventID: eventID, shard: int(in.number(attrShard)), version: in.number(attrVersion), attempt: in.number(attrAttempt)}
	if state == InFlight {
		s.claim, s.lease = in.text(attrClaim), in.time(attrLease)
	}
	return state, s, in.err
}
