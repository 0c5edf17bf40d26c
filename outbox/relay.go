package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dynafin/dynafin/internal/watch"
)

// Relay publishes the events of one outbox: it lists what is due, claims it in batches, hands it to a [Publisher], and
// stores what the broker said. Any number of relays may work on one outbox. A Relay is safe for concurrent use.
type Relay struct {
	events    *Outbox
	client    RelayClient
	publisher Publisher
	config    RelayConfig
	err       error
	slots     chan struct{} // one for each request on its way
	watch     watch.Watch

	mu     sync.Mutex
	spread int       // of how many listed events this relay takes one, and leaves the rest to others
	newer  [2]memory // versions of events, newer than what a lagging index may list still
}

// NewRelay returns a relay. What is wrong with the configuration, or with that of the Outbox, is reported by Run and Once,
// as an [InvalidError].
func NewRelay(events *Outbox, client RelayClient, publisher Publisher, config RelayConfig) *Relay {
	config = config.withDefaults()
	if config.Observer == nil {
		config.Observer = events.config.Observer
	}
	r := &Relay{events: events, client: client, publisher: publisher, config: config, spread: 1,
		watch: watch.New("outbox", events.config.Service, config.Observer, config.Now)}
	if r.err = errors.Join(events.err, config.validate()); r.err == nil {
		r.slots = make(chan struct{}, config.Concurrency)
	}
	return r
}

// Round is what one pass over the shards did.
type Round struct {
	// Listed is how many due events the pass considered, and More says that it left some.
	Listed int
	More   bool
	// Recovered is how many events of ended leases were given back.
	Recovered int
	// Claimed is how many events the relay took, and Lost how many another one had taken before.
	Claimed, Lost int
	// Completed, Retried and Parked are what became of those it took; a claimed event that is none of them is left to its
	// lease.
	Completed, Retried, Parked int
	// Paused says that an operator has paused the relays, see RelayConfig.Heed: the pass did nothing.
	Paused bool
	// Waiting is how many events of an ordered outbox have to wait for the one before them.
	Waiting int
}

func (a *Round) add(b Round) {
	a.Listed, a.More, a.Recovered = a.Listed+b.Listed, a.More || b.More, a.Recovered+b.Recovered
	a.Claimed, a.Lost, a.Waiting = a.Claimed+b.Claimed, a.Lost+b.Lost, a.Waiting+b.Waiting
	a.Completed, a.Retried, a.Parked = a.Completed+b.Completed, a.Retried+b.Retried, a.Parked+b.Parked
}

// Once recovers the events of ended leases and passes over all shards once. It is for programs that a schedule starts; a
// service calls [Relay.Run]. An error is about what could not be read, beside what was done; faults of single events go to
// the Observer. If the context ends, what is claimed is left to its lease.
//
// Cost: half a read unit for each shard and 4 KiB begun of its due entries, 1 for journals, and for each event what the package
// documentation says.
func (r *Relay) Once(ctx context.Context) (Round, error) {
	if r.err != nil {
		return Round{}, r.err
	}
	recovered, recoverErr := r.recoverClaims(ctx)
	round, err := r.pass(ctx, ctx, ctx)
	round.Recovered = recovered
	return round, errors.Join(recoverErr, err)
}

// Run publishes events until the context ends. Then it claims nothing more, finishes what it has claimed within
// RelayConfig.Drain, and returns nil; other errors are those of the configuration. Whatever fails on the way is told to the
// Observer and tried again.
//
// Cost: that of [Relay.Once], again and again; see the package documentation for an idle relay.
func (r *Relay) Run(ctx context.Context) error {
	if r.err != nil {
		return r.err
	}
	publish, work, stop := r.drain(ctx)
	defer stop()
	wait := r.config.PollMin
	var nextPoll, nextRecover time.Time // at once
	for ctx.Err() == nil {
		now := r.config.Now()
		recovered := 0
		if !now.Before(nextRecover) {
			recovered, _ = r.recoverClaims(ctx) // the Observer was told
			nextRecover = now.Add(r.config.Recover/2 + r.jitter(r.config.Recover/2))
		}
		if recovered > 0 || !now.Before(nextPoll) {
			round, _ := r.pass(ctx, publish, work)
			wait = r.pause(round, wait)
			nextPoll = r.config.Now().Add(wait)
		}
		now = r.config.Now()
		// A clock that was set back must not stop the relay.
		_ = r.config.Sleep(ctx, max(0, min(nextPoll.Sub(now), nextRecover.Sub(now), wait)))
	}
	return nil
}

// drain returns the contexts of what is claimed when ctx ends: publishing may go on for half of RelayConfig.Drain, and
// everything else for all of it. stop ends both.
func (r *Relay) drain(ctx context.Context) (publish, work context.Context, stop func()) {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	publish, stopPublish := context.WithCancel(work)
	var draining sync.WaitGroup
	draining.Go(func() {
		defer stopPublish()
		select {
		case <-ctx.Done():
		case <-work.Done():
			return
		}
		if r.config.Sleep(work, r.config.Drain/2) == nil {
			stopPublish()
			_ = r.config.Sleep(work, r.config.Drain-r.config.Drain/2)
			stopWork()
		}
	})
	return publish, work, func() {
		stopWork()
		draining.Wait()
	}
}

// pause is how long to wait after a round.
func (r *Relay) pause(round Round, before time.Duration) time.Duration {
	switch {
	case round.Claimed > 0 && round.More:
		return 0
	case round.Claimed > 0:
		return r.config.PollMin
	default:
		return min(max(2*before, r.config.PollMin), r.config.PollMax)
	}
}

// maxTries is how often a relay itself repeats a request without a definite answer. Every request may be repeated.
const maxTries = 3

// firstWait bounds the wait before the second try; each next one is twice as long.
const firstWait = 50 * time.Millisecond

// try makes a request, in one of the relay's slots, until there is a definite answer.
func (r *Relay) try(ctx context.Context, label string, request func(context.Context) error) (err error) {
	ctx, op := r.watch.Begin(ctx, label)
	defer op.End(&err)
	for tries, limit := 1, firstWait; ; tries, limit = tries+1, limit*2 {
		err = r.inSlot(ctx, request)
		if !errors.Is(err, ErrWrite) && !errors.Is(err, ErrRead) || tries == maxTries {
			return err
		}
		if r.config.Sleep(ctx, time.Millisecond+r.jitter(limit)) != nil {
			return err
		}
	}
}

func (r *Relay) inSlot(ctx context.Context, request func(context.Context) error) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
		return request(ctx)
	case <-ctx.Done():
		return errWrite.Wrap(ctx.Err(), "outbox: nothing was sent: %v", ctx.Err())
	}
}

// jitter draws from a source that need not be safe for concurrent use.
func (r *Relay) jitter(limit time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config.Jitter(limit)
}

// each does something for 0 to n-1 at the same time.
func each(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}
