package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// Lane prepares what is put under load: it creates the tables on the stage and stores what operations need, and returns the
// operation. It is called once for each run, on an empty database. What it stores counts for no key's load, but is limited
// like everything: it may wait with [Stage.Sleep].
type Lane func(s *Stage) (Do, error)

// Do performs one attempt of one operation. It returns nil if the operation has its answer. An error that throttling or a
// conflict explains makes it come again; every other error ends the run.
type Do func(ctx context.Context, op Op) error

// Op is one operation.
type Op struct {
	// N counts the operations of a run from 0. What an operation writes is named after it, so that a further attempt says
	// the same.
	N int
	// Key is the key that it is for; 0 is the hottest.
	Key int
	// Attempt counts from 1.
	Attempt int
}

// Stage is what a lane works with.
type Stage struct {
	// DB is empty at first.
	DB *dynamosim.DB
	// Client is a client of it that does not retry.
	Client *dynamodb.Client
	// Txn configures a txn.Committer for the stage: one attempt, the stage's clock and chance.
	Txn txn.Config

	clock  *clock
	chance *rand.Rand
	chores []chore
}

type chore struct {
	period time.Duration
	do     func(ctx context.Context) error
}

// Now tells the virtual time.
func (s *Stage) Now() time.Time { return s.clock.Now() }

// Sleep lets virtual time pass for the caller, which is the goroutine that prepares the lane, runs Do or does a chore. A goroutine
// that one of these has started must not call it.
func (s *Stage) Sleep(ctx context.Context, d time.Duration) error { return s.clock.sleep(ctx, d) }

// Every does something in the background throughout the run, once in every period: a relay's round, for example. Throttling
// and conflicts are no errors; it comes again anyway.
func (s *Stage) Every(period time.Duration, do func(ctx context.Context) error) {
	s.chores = append(s.chores, chore{period, do})
}

// Load is what a lane has to bear.
type Load struct {
	// Rate is how many operations begin in a second. Required.
	Rate int
	// Keys is how they spread. Default: one key.
	Keys Keys
	// For is how long the load lasts, in virtual time. Default: 10 s.
	For time.Duration
	// Even spaces arrivals evenly. Default: they are independent of one another, as those of many callers are, and so some
	// seconds get more than others.
	Even bool
	// Heat is what a key takes. Default: the documented limits of a partition, without burst.
	Heat dynamosim.Heat
	// Service is how long requests take. Default: no time, so that there are no conflicts.
	Service dynamosim.ServiceTime
	// Seed chooses arrivals, keys and waits. Any number is as good as any other.
	Seed uint64
}

// The waits before the next attempt, those of package txn.
const (
	conflictWait   = 25 * time.Millisecond
	throttledWait  = 8 * conflictWait
	longestWait    = 2 * time.Second
	defaultFor     = 10 * time.Second
	breathingSpace = 2 * time.Second
)

// epoch is when every run begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (l Load) withDefaults() (Load, error) {
	if l.Keys.n == 0 {
		l.Keys = HotKey(1, 1)
	}
	l.For = cmp.Or(l.For, defaultFor)
	if l.Rate <= 0 || l.For < time.Second {
		return l, fmt.Errorf("loadtest: %d operations a second for %v: need at least one, for at least one second", l.Rate, l.For)
	}
	return l, nil
}

// Run puts a lane under load and reports what became of it. The error is the lane's own, or the first of an operation that
// neither throttling nor a conflict explains, or the context's.
func Run(ctx context.Context, lane Lane, load Load) (*Report, error) {
	load, err := load.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{load: load, keys: map[int]*tally{}, stage: newStage(load)}
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	if r.do, err = lane(r.stage); err != nil {
		return nil, fmt.Errorf("loadtest: prepare: %w", err)
	}
	// What the preparation consumed belongs to earlier seconds.
	clock := r.stage.clock
	r.begin = clock.now.Truncate(time.Second).Add(breathingSpace)
	r.end = r.begin.Add(load.For)
	r.before = r.stage.DB.Hottest(-1)
	r.arrive(ctx)
	for _, c := range r.stage.chores {
		r.repeat(ctx, c, r.begin)
	}
	for clock.now.Before(r.end) && ctx.Err() == nil {
		clock.run(earlier(r.end, clock.now.Add(time.Second)))
	}
	clock.stop()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return r.report(), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func newStage(load Load) *Stage {
	s := &Stage{clock: newClock(epoch), chance: rand.New(rand.NewPCG(load.Seed, load.Seed))}
	s.DB = dynamosim.Open(dynamosim.Options{Now: s.clock.Now, Sleep: s.clock.sleep, Heat: &load.Heat, ServiceTime: load.Service, Seed: load.Seed})
	s.Client = s.DB.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	marks := 0
	s.Txn = txn.Config{MaxAttempts: 1, Now: s.clock.Now, NewMark: func() string { marks++; return fmt.Sprintf("mark-%017d", marks) }}
	return s
}

// run is the state of a Run.
type run struct {
	load       Load
	stage      *Stage
	do         Do
	cancel     context.CancelCauseFunc
	begin, end time.Time
	before     []dynamosim.KeyHeat

	offered, attempts    int
	throttled, conflicts int
	waits                []time.Duration // of what was answered
	waiting              map[int]time.Time
	keys                 map[int]*tally
}

// tally counts the operations of one key.
type tally struct{ offered, answered int }

// arrive schedules all arrivals: each one the next, so that the clock never holds more than it has to.
func (r *run) arrive(ctx context.Context) {
	r.waiting = map[int]time.Time{}
	arrivals := rand.New(rand.NewPCG(r.load.Seed, 1))
	keys := rand.New(rand.NewPCG(r.load.Seed, 2))
	var next func(at time.Time, n int)
	next = func(at time.Time, n int) {
		if !at.Before(r.end) {
			return
		}
		r.stage.clock.at(at, func() {
			gap := float64(time.Second) / float64(r.load.Rate)
			if r.load.Even {
				next(r.begin.Add(time.Duration(float64(n+1)*gap)), n+1)
			} else {
				next(at.Add(time.Duration(arrivals.ExpFloat64()*gap)), n+1)
			}
			op := Op{N: n, Key: r.load.Keys.draw(keys, n), Attempt: 1}
			if r.keys[op.Key] == nil {
				r.keys[op.Key] = &tally{}
			}
			r.keys[op.Key].offered++
			r.offered++
			r.waiting[n] = at
			r.attempt(ctx, op, at)
		})
	}
	next(r.begin, 0)
}

// attempt performs an operation once, and has it come again if it must.
func (r *run) attempt(ctx context.Context, op Op, arrived time.Time) {
	r.attempts++
	err := r.do(ctx, op)
	clock := r.stage.clock
	if clock.stopped {
		return
	}
	var limit time.Duration
	switch {
	case err == nil:
		r.keys[op.Key].answered++
		r.waits = append(r.waits, clock.now.Sub(arrived))
		delete(r.waiting, op.N)
		return
	case Throttled(err):
		r.throttled++
		limit = throttledWait
	case Conflict(err):
		r.conflicts++
		limit = conflictWait
	default:
		r.cancel(fmt.Errorf("loadtest: operation %d, attempt %d: %w", op.N, op.Attempt, err))
		return
	}
	limit = min(limit<<min(op.Attempt-1, 10), longestWait)
	op.Attempt++
	clock.at(clock.now.Add(time.Duration(r.stage.chance.Int64N(int64(limit)))), func() { r.attempt(ctx, op, arrived) })
}

// repeat does a chore now and again.
func (r *run) repeat(ctx context.Context, c chore, at time.Time) {
	r.stage.clock.at(at, func() {
		err := c.do(ctx)
		if err != nil && !r.stage.clock.stopped && !Throttled(err) && !Conflict(err) {
			r.cancel(errors.Join(errors.New("loadtest: in the background"), err))
			return
		}
		r.repeat(ctx, c, at.Add(c.period))
	})
}
