package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/outbox"
)

// lives decides which workers die, and when. A worker dies in the middle of a job: at one of its requests, which is lost on the way
// or carried out without an answer. From then on nothing it sends arrives, as if its process were gone; somebody else gets the job.
// What happens to a job follows from its name and from how often it was begun.
type lives struct {
	seed  uint64
	share float64 // of the jobs in whose midst the worker dies

	mu     sync.Mutex
	deaths map[string]int // by kind of worker
	told   func(kind string)
}

func newLives(seed uint64, share float64) *lives {
	return &lives{seed: seed, share: share, deaths: map[string]int{}}
}

// life is one worker at one job.
type life struct {
	all     *lives
	kind    string
	dead    atomic.Bool
	end     context.CancelFunc
	left    atomic.Int64 // requests until it dies, if it is doomed
	doomed  bool
	arrives bool // whether the last request is carried out
}

type lifeKey struct{}

// begin starts a job. The context is that of the worker who does it.
func (l *lives) begin(ctx context.Context, kind, job string, attempt int) (context.Context, *life) {
	sum := fnv.New64a()
	fmt.Fprint(sum, l.seed, kind, job, attempt)
	draw := sum.Sum64() >> 8
	one := &life{all: l, kind: kind, doomed: float64(draw%10_000) < l.share*10_000, arrives: draw>>16%2 == 0}
	one.left.Store(1 + int64(draw>>20%3))
	ctx, one.end = context.WithCancel(context.WithValue(ctx, lifeKey{}, one))
	return ctx, one
}

// relayDies says whether a relay dies with a batch in its hands that it has claimed and not completed, and if so, whether the bus has
// got it by then.
func (l *lives) relayDies(batch []outbox.Message) (dies, sent bool) {
	sum := fnv.New64a()
	for _, m := range batch {
		fmt.Fprint(sum, l.seed, m.Event.ID, m.Attempt)
	}
	draw := sum.Sum64() >> 8
	return float64(draw%10_000) < l.share*10_000, draw>>16%2 == 0
}

// die ends a life.
func (l *life) die() {
	if l.dead.CompareAndSwap(false, true) {
		l.all.mu.Lock()
		l.all.deaths[l.kind]++
		l.all.mu.Unlock()
		if l.all.told != nil {
			l.all.told(l.kind + " died")
		}
		l.end()
	}
}

// over ends a job, and says whether its worker died in its midst.
func (l *life) over() bool {
	l.end()
	return l.dead.Load()
}

func (l *lives) count() (deaths map[string]int, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	deaths = map[string]int{}
	for kind, n := range l.deaths {
		deaths[kind] = n
		all += n
	}
	return deaths, all
}

// mortal is the end of the wire at which a worker sits: when he is dead, nothing comes from there any more.
type mortal struct{ next aws.HTTPClient }

var errDead = errors.New("the worker is dead")

func (m mortal) Do(req *http.Request) (*http.Response, error) {
	one, _ := req.Context().Value(lifeKey{}).(*life)
	switch {
	case one == nil:
		return m.next.Do(req)
	case one.dead.Load():
		return nil, &aws.RequestCanceledError{Err: errDead}
	case !one.doomed || one.left.Add(-1) > 0:
		return m.next.Do(req)
	}
	if one.arrives {
		if response, err := m.next.Do(req); err == nil {
			_ = response.Body.Close()
		}
	}
	one.die()
	return nil, &aws.RequestCanceledError{Err: errDead}
}
