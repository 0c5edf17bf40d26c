package planted

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dynafin/dynafin/invariant"
)

func leases() []bug {
	return []bug{
		{name: "takeover without the old lease", label: "I3, E3", within: 100, config: invariant.Config{Copies: 3},
			lesson: "two workers saw the expired lease, and both take it over", story: job(mistakes{anyLease: true}, true)},
		{name: "unconditional complete", label: "I5", within: 500, config: invariant.Config{Copies: 3},
			lesson: "the late loser of a lease overwrites the winner's result", story: job(mistakes{anyComplete: true}, false)},
		{name: "lease in another unit than the clock", label: "E5", within: 50, config: invariant.Config{Copies: 3},
			lesson: "seconds against milliseconds: every lease is long over", story: job(mistakes{milliseconds: true}, false)},
		{name: "TTL as lease", label: "E5", within: 20,
			lesson: "the record is past its TTL and still there, and the repeat pays again", story: ttlAsLease},
		{name: "lease moved backward", label: "O7", within: 50,
			lesson: "a worker whose clock is behind shortens the lease that it renews", story: leaseBackward},
	}
}

// leaseSeconds is longer than clocks are off, in both directions together.
const leaseSeconds = 600

// mistakes are what can be wrong with a job.
type mistakes struct{ anyLease, anyComplete, milliseconds bool }

// started is one successful start of the job: with which generation, and when its lease was decided on.
type started struct {
	generation int
	decided    time.Duration
}

// job is a story of workers that want to do one job, on a lease with generations. Somebody else may have abandoned it.
func job(m mistakes, abandoned bool) func(w *invariant.World, broken bool) {
	return func(w *invariant.World, broken bool) {
		var mu sync.Mutex
		var starts []started
		m := m
		if !broken {
			m = mistakes{}
		}
		if abandoned {
			w.Check("prepare", behind(w).do(w.Context(), put("JOB", values{"st": "RUN", "gen": 1, "lease": 0})))
		}
		w.Command("job", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
			decided := w.Elapsed()
			generation, result, err := m.start(ctx, p)
			if errors.Is(err, errInProgress) {
				return nil, errors.Join(err, p.Sleep(ctx, leaseSeconds*time.Second/4))
			}
			if err != nil || result != "" {
				return []byte(result), err
			}
			mu.Lock()
			starts = append(starts, started{generation, decided})
			mu.Unlock()
			if err := p.Sleep(ctx, time.Minute); err != nil { // the work
				return nil, err
			}
			return m.complete(ctx, p, generation)
		})
		w.Run()
		w.Settle()
		w.Check("one result", invariant.SameAnswers(w.Answers()))
		w.Check("one owner of each lease", w.Linearizable(invariant.OneWinner()))
		w.Check("no lease is taken before its end", inTime(starts))
	}
}

var errInProgress = errors.New("in progress")

// start takes the lease, or returns the result of a job that is done.
func (m mistakes) start(ctx context.Context, p *invariant.Process) (generation int, result string, err error) {
	s, now := of(p), int(p.Now().Unix())
	me := p.NewID()
	stored, err := s.get(ctx, "JOB")
	if err != nil {
		return 0, "", err
	}
	clock := now
	if m.milliseconds {
		clock = int(p.Now().UnixMilli())
	}
	take := create("JOB", values{"st": "RUN", "gen": 1, "lease": now + leaseSeconds})
	switch {
	case stored["st"] == "DONE":
		return 0, stored["outcome"], nil
	case stored != nil && number(stored["lease"]) > clock:
		return 0, "", errInProgress
	case stored != nil:
		take = update("JOB", "SET gen = :next, lease = :lease", values{"next": number(stored["gen"]) + 1, "lease": now + leaseSeconds})
		if m.anyLease {
			take = take.If("st = :run", values{"run": "RUN"})
		} else {
			take = take.If("st = :run AND gen = :seen", values{"run": "RUN", "seen": number(stored["gen"])})
		}
	}
	generation = number(stored["gen"]) + 1
	won := p.Begin(invariant.Claim{Key: fmt.Sprint("generation ", generation), By: me})
	err = s.do(ctx, take)
	if _, ok := refused(err); ok {
		won(invariant.NoEffect)
		return 0, "", errInProgress
	}
	if err == nil {
		won(me)
	}
	return generation, "", err
}

func (m mistakes) complete(ctx context.Context, p *invariant.Process, generation int) ([]byte, error) {
	result := "by " + p.NewID()
	done := update("JOB", "SET st = :done, outcome = :result", values{"done": "DONE", "result": result})
	if !m.anyComplete {
		done = done.If("st = :run AND gen = :mine", values{"run": "RUN", "mine": generation})
	}
	if err := of(p).do(ctx, done); err != nil {
		return nil, err
	}
	return []byte(result), nil
}

// inTime checks that each start was decided on after the end of the lease before it, as far as clocks agree.
func inTime(starts []started) error {
	const earliest = leaseSeconds*time.Second - 2*time.Minute - time.Second
	at := map[int]time.Duration{}
	for _, s := range starts {
		at[s.generation] = s.decided
	}
	for generation, decided := range at {
		before, known := at[generation-1]
		if known && decided-before < earliest {
			return fmt.Errorf("lease %d was taken %v after lease %d began", generation, decided-before, generation-1)
		}
	}
	return nil
}

func ttlAsLease(w *invariant.World, broken bool) {
	const day = 24 * 60 * 60
	w.Command("pay", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		now := int(p.Now().Unix())
		claim := create("REQ#key", values{"expiresAt": now + day})
		if broken {
			claim = update("REQ#key", "SET expiresAt = :ttl", values{"ttl": now + day}).If("attribute_not_exists(PK) OR expiresAt < :now", values{"now": now})
		}
		err := of(p).together(ctx, "", claim, update("ACCT", "ADD bal :n", values{"n": 5}))
		if at, _, failed := failedAt(err); failed && at == 0 {
			return []byte("paid"), nil
		}
		return []byte("paid"), err
	})
	w.Run()
	w.Advance(2 * day * time.Second)
	w.Settle()
	wantBalance(w, 5)
}

func leaseBackward(w *invariant.World, broken bool) {
	last := 0
	w.Always("a lease only grows", func() error {
		stored, err := behind(w).get(w.Context(), "LEASE")
		lease := number(stored["lease"])
		if lease < last {
			return fmt.Errorf("from %d to %d", last, lease)
		}
		last = lease
		return err
	})
	for _, name := range []string{"one", "two"} {
		w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
			for range 3 {
				renew := update("LEASE", "SET lease = :new", values{"new": int(p.Now().Unix()) + leaseSeconds})
				if !broken {
					renew = renew.If("attribute_not_exists(PK) OR lease < :new", nil)
				}
				if err := of(p).do(ctx, renew); err != nil {
					if _, ok := refused(err); !ok {
						return err
					}
				}
				if err := p.Sleep(ctx, 10*time.Second); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.Run()
	w.Settle()
}
