package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dynafin/dynafin/outbox"
)

// turns is how the day goes when every run of a seed must be the same to the last byte: all workers, relays and consumers take turns, the
// seed says who is next, and the clock moves from one turn to the next. With workers at the same time, which of them is faster is
// chance, and with it how many duplicates there are, who waits for whom, and how full batches get.
type turns struct {
	dice   *rand.Rand
	relays []*relayTurn
}

// aTurn is how long one takes.
const aTurn = 2 * time.Millisecond

func newTurns(b *backOffice, seed uint64) *turns {
	t := &turns{dice: rand.New(rand.NewPCG(seed, 1))}
	for i := range relaysEach {
		t.relays = append(t.relays,
			&relayTurn{office: b, events: b.orders, owner: fmt.Sprint("orders-", i+1), subscribers: []subscriber{b.accepted.put}},
			&relayTurn{office: b, events: b.execution.events, owner: fmt.Sprint("execution-", i+1), subscribers: []subscriber{b.toPortfolio, b.settlements.put}})
	}
	return t
}

// relayTurn is a relay that makes one round at a time.
type relayTurn struct {
	office      *backOffice
	events      *outbox.Outbox
	owner       string
	subscribers []subscriber

	n     int
	mine  context.Context
	life  *life
	relay *outbox.Relay
}

// take makes a round, and says how much was done in it. If the relay dies, the next round is another one's.
func (r *relayTurn) take(ctx context.Context) (int, error) {
	if r.relay == nil {
		r.n++
		r.mine, r.life = r.office.lives.begin(ctx, "relay", fmt.Sprint(r.owner, r.n), 0)
		r.life.doomed = false
		r.relay = r.office.newRelay(r.life, r.events, fmt.Sprintf("%s.%d", r.owner, r.n), r.subscribers)
	}
	round, err := r.relay.Once(r.mine)
	if r.life.dead.Load() {
		r.relay = nil
		return 1, nil
	}
	return round.Claimed + round.Recovered, err
}

// flow takes turns until nothing waits anywhere, twice in a row.
func (t *turns) flow(ctx context.Context, b *backOffice) error {
	for quiet := 0; quiet < 2; {
		moved, err := t.round(ctx, b)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return nil
		case moved > 0:
			quiet = 0
			continue
		}
		b.clock.pass(time.Second + b.lag)
		done, err := b.settledAll(ctx)
		if err != nil {
			return err
		}
		if quiet++; !done {
			quiet = 0
		}
	}
	return nil
}

// round gives every relay a turn, in an order that the seed chooses, and lets consumers work until their queues are empty.
func (t *turns) round(ctx context.Context, b *backOffice) (moved int, err error) {
	for _, i := range t.dice.Perm(len(t.relays)) {
		n, err := t.relays[i].take(ctx)
		if err != nil {
			return moved, err
		}
		moved += n
		b.took()
		for b.consume(ctx, t.dice) {
			moved++
			b.took()
		}
	}
	return moved, nil
}

// consume lets one consumer handle one message, and returns false if no queue has any.
func (b *backOffice) consume(ctx context.Context, dice *rand.Rand) bool {
	queues := [...]interface{ once(context.Context) bool }{b.accepted, b.reports, b.trades, b.settlements}
	for _, i := range dice.Perm(len(queues)) {
		if queues[i].once(ctx) {
			return true
		}
	}
	return false
}

// took ends a turn.
func (b *backOffice) took() {
	b.clock.pass(aTurn)
	b.story.turn(b.snapshot())
}
