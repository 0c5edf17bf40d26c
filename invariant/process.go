package invariant

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// worker is a named piece of work that goes on through any number of lives.
type worker struct {
	name  string
	index int
	work  func(context.Context, *Process) error
	skew  time.Duration

	life   *dynamosim.Worker // the current one
	cancel context.CancelFunc
	done   bool // under World.mu
}

// Process is one life of a worker: what it would have as a process of its own. It dies with its requests.
type Process struct {
	world  *World
	worker *worker
	life   *dynamosim.Worker
	client *dynamodb.Client

	drawing sync.Mutex // goroutines of one process may wake at one instant
	chance  *rand.Rand
	ids     int
}

// Worker starts a worker. If work returns nil the worker has finished; if it returns an error it is called again after a
// pause, in the same life; if it dies it is called again in a new life, which knows only what is stored.
//
// Workers run one at a time, except for timers that fire at the same instant. They share nothing but the database.
func (w *World) Worker(name string, work func(ctx context.Context, p *Process) error) {
	worker := &worker{name: name, work: work}
	if w.config.SkewMax > 0 && !w.settled {
		worker.skew = []time.Duration{0, w.config.SkewMax, -w.config.SkewMax, w.config.SkewMax / 7, -w.config.SkewMax / 7}[w.Choose("skew of "+name, 5)]
	}
	w.mu.Lock()
	worker.index = len(w.workers)
	w.workers = append(w.workers, worker) // after the choice: who is listed when choices run dry has a life that can end
	w.mu.Unlock()
	w.begin(worker, 0)
}

// Skew sets by how much a worker's clock is off.
func (w *World) Skew(name string, off time.Duration) {
	if worker := w.worker(name); worker != nil {
		worker.skew = off
	}
}

// Crash kills a worker where it stands. It begins a new life at once; what it had sent is still on its way.
func (w *World) Crash(name string) {
	w.quiesce()
	worker := w.worker(name)
	if worker == nil {
		w.Fatalf("there is no worker %q to crash", name)
	}
	worker.life.Kill()
	w.quiesce()
	w.remark(name, "crashes")
	w.begin(worker, 0)
}

func (w *World) worker(name string) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, worker := range w.workers {
		if worker.name == name {
			return worker
		}
	}
	return nil
}

// begin starts a life after a delay. It returns when the life waits for something, so that lives begin one by one. The
// context of the life before ends, so that goroutines which wait for one that died do not wait for ever.
func (w *World) begin(worker *worker, delay time.Duration) {
	if worker.cancel != nil {
		worker.cancel()
		w.quiesce()
	}
	w.mu.Lock()
	if worker.done {
		w.mu.Unlock()
		return
	}
	life := w.gate.Worker(worker.name)
	ctx, cancel := context.WithCancel(context.Background())
	worker.life, worker.cancel = life, cancel
	w.mu.Unlock()
	p := &Process{world: w, worker: worker, life: life,
		chance: rand.New(rand.NewPCG(w.salt, uint64(worker.index)<<32|uint64(life.Incarnation())))}
	p.client = w.db.Client(p.options)
	w.lives.Go(func() {
		defer w.rouse()
		defer p.recovered()
		sleep(delay)
		for !life.Dead() {
			err := p.once(ctx)
			if life.Dead() {
				return
			}
			if err == nil {
				w.mu.Lock()
				worker.done = true
				w.mu.Unlock()
				return
			}
			w.remark(p.name(), "fails: "+short(err.Error()))
			w.rouse()
			sleep(p.Jitter(2*time.Second) + time.Millisecond)
		}
	})
	w.quiesce()
}

// once runs the work, within its time. No two workers' times end at one instant.
func (p *Process) once(ctx context.Context) error {
	if p.world.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.world.config.Timeout+time.Duration(p.worker.index))
		defer cancel()
	}
	return p.worker.work(ctx, p)
}

// recovered turns a panic into a failure of the history.
func (p *Process) recovered() {
	if r := recover(); r != nil && !p.life.Dead() {
		p.world.broke("panic", fmt.Errorf("worker %s: %v\n%s", p.name(), r, debug.Stack()))
	}
}

// rouse tells a driver that lets time pass that something happened.
func (w *World) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// options make the SDK's client deterministic: no chance and no retries but the history's own.
func (p *Process) options(o *dynamodb.Options) {
	o.HTTPClient = transport{p}
	o.IdempotencyTokenProvider = tokens{p}
	o.Retryer = aws.NopRetryer{}
	if attempts := p.world.config.SDKAttempts; attempts > 1 {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = attempts, ratelimit.None
			o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
				return p.Jitter(25 * time.Millisecond << attempt), nil
			})
		})
	}
}

// transport sends through the gate, and rouses the driver.
type transport struct{ *Process }

func (t transport) Do(req *http.Request) (*http.Response, error) {
	t.world.rouse()
	return t.life.Do(req)
}

type tokens struct{ *Process }

func (t tokens) GetIdempotencyToken() (string, error) { return t.NewID(), nil }

// Client returns the SDK's own client of this process. Its requests wait for the driver.
func (p *Process) Client() *dynamodb.Client { return p.client }

// Name returns the name of the worker.
func (p *Process) Name() string { return p.worker.name }

// Life counts the lives of the worker, from 1.
func (p *Process) Life() int { return p.life.Incarnation() }

func (p *Process) name() string { return p.worker.name + "." + strconv.Itoa(p.Life()) }

// Now tells the time by the worker's own clock.
func (p *Process) Now() time.Time { return now().Add(p.worker.skew) }

// NewID returns an identifier that no process ever gets again: at most 36 bytes, the same in every run of the history.
func (p *Process) NewID() string {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	p.ids++
	return fmt.Sprintf("w%d.%d.%d", p.worker.index, p.Life(), p.ids)
}

// Jitter draws a wait from 1 ns to limit, as [txn.Config.Jitter] wants it.
func (p *Process) Jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	p.drawing.Lock()
	defer p.drawing.Unlock()
	return 1 + time.Duration(p.chance.Int64N(int64(limit)))
}

// Txn returns the configuration with which package txn works deterministically in this process.
func (p *Process) Txn() txn.Config {
	return txn.Config{NewMark: p.NewID, Jitter: p.Jitter, Now: p.Now}
}

// Sleep lets virtual time pass for this process.
func (p *Process) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-after(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Note adds a remark to the schedule.
func (p *Process) Note(format string, args ...any) {
	if !p.life.Dead() {
		p.world.remark(p.name(), fmt.Sprintf(format, args...))
	}
}

// Fatalf fails the history from within a worker, and ends the worker's goroutine.
func (p *Process) Fatalf(format string, args ...any) {
	if !p.life.Dead() {
		p.world.broke(p.worker.name, fmt.Errorf(format, args...))
	}
	runtime.Goexit()
}

func short(text string) string {
	const limit = 100
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "..."
}
