package invariant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// World is one history: a database, the workers that use it, and everything that befalls them. A property tells its
// story to a World: it makes tables, starts workers and commands, lets them run into trouble, lets them settle, and looks at
// what is left.
//
// A World belongs to the goroutine of the story; workers have their [Process].
type World struct {
	config Config
	chance chance
	db     *dynamosim.DB
	gate   *dynamosim.Gate
	calm   *dynamodb.Client

	started   time.Time
	salt      uint64
	calmness  int // one request in so many meets trouble
	lateness  int // one choice in so many is a late request, while others wait
	plan      *plan
	commands  []command
	always    []namedCheck
	crashes   int
	faults    int
	settled   bool
	artifacts artifacts
	lives     sync.WaitGroup

	// mu guards what workers write, too. It is never held while anything waits.
	mu       sync.Mutex
	workers  []*worker
	schedule schedule
	remarks  []row // not in the schedule yet
	answers  []Answer
	calls    []call
	ticks    int64
	counters *counters
	failed   *Failure
	wake     chan struct{}
}

// Failure is what a history broke.
type Failure struct {
	// Check names the invariant, or what else failed.
	Check string
	// Err says how it was broken.
	Err error
}

func (f *Failure) Error() string { return f.Check + ": " + f.Err.Error() }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// stop is the panic by which a failure leaves the story.
type stop struct{ *Failure }

func newWorld(config Config, chance chance) *World {
	w := &World{config: config.withDefaults(), chance: chance, counters: newCounters(), started: now(), wake: make(chan struct{}, 1)}
	w.calmness = []int{6, 3, 2, 2}[w.Choose("weather", 4)]
	w.lateness = []int{3, 8, 40}[w.Choose("lateness", 3)]
	w.salt = uint64(w.Choose("salt", 1<<15))
	var lag dynamosim.IndexLag
	if limit := w.config.IndexLag; limit > 0 {
		lag.Max = []time.Duration{0, limit / 10, limit}[w.Choose("index lag", 3)]
	}
	w.db = dynamosim.Open(dynamosim.Options{
		Now: now, Seed: w.salt, IndexLag: lag,
		TokenPolicy:        w.config.Tokens[w.Choose("tokens", len(w.config.Tokens))],
		CanceledKeepsToken: w.Choose("cancelled keeps token", 2) == 1,
		Staleness:          config.Staleness,
	})
	w.gate, w.calm = dynamosim.NewGate(w.db), w.db.Client()
	return w
}

// Choose chooses a number from 0 to n-1. Failing histories shrink towards 0.
func (w *World) Choose(label string, n int) int {
	if n <= 1 {
		return 0
	}
	return w.chance.choose(label, n)
}

// Client returns a client whose requests nothing befalls: for preparing and for looking.
func (w *World) Client() *dynamodb.Client { return w.calm }

// Context returns the context of what the story itself does.
func (w *World) Context() context.Context { return context.Background() }

// Now returns the right time, which no worker's clock has to show.
func (w *World) Now() time.Time { return now() }

// Elapsed returns the virtual time since the history began.
func (w *World) Elapsed() time.Duration { return now().Sub(w.started) }

// Table creates a table with the key attributes PK and SK, both text, and global indexes whose keys are text, too.
func (w *World) Table(name string, indexes ...types.GlobalSecondaryIndex) {
	keys := []string{"PK", "SK"}
	for _, index := range indexes {
		for _, element := range index.KeySchema {
			keys = append(keys, *element.AttributeName)
		}
	}
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, GlobalSecondaryIndexes: indexes,
		KeySchema: []types.KeySchemaElement{{AttributeName: &keys[0], KeyType: types.KeyTypeHash}, {AttributeName: &keys[1], KeyType: types.KeyTypeRange}},
	}
	defined := map[string]bool{}
	for i := range keys {
		if !defined[keys[i]] {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: &keys[i], AttributeType: types.ScalarAttributeTypeS})
		}
		defined[keys[i]] = true
	}
	if _, err := w.calm.CreateTable(w.Context(), in); err != nil {
		w.fail("create table "+name, err)
	}
}

// namedCheck is an invariant.
type namedCheck struct {
	name string
	test func() error
}

// Always adds an invariant that must hold after every request that may have changed something. It should cost little.
func (w *World) Always(name string, test func() error) {
	w.always = append(w.always, namedCheck{name, test})
}

// Check fails the history if err is not nil. Failing histories with one name count as one failure when they are shrunk.
func (w *World) Check(name string, err error) {
	if err != nil {
		w.fail(name, err)
	}
}

// Fatalf fails the history.
func (w *World) Fatalf(format string, args ...any) { w.fail("story", fmt.Errorf(format, args...)) }

func (w *World) fail(name string, err error) { panic(stop{&Failure{Check: name, Err: err}}) }

// Sometimes notes that something rare could have happened, and whether it did. A [Check] fails if over all its
// histories it never did: its properties were then never tried in that state.
func (w *World) Sometimes(name string, happened bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counters.sometimes(name, happened)
}

// Note adds a remark to the schedule.
func (w *World) Note(format string, args ...any) { w.remark("", fmt.Sprintf(format, args...)) }

func (w *World) remark(worker, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remarks = append(w.remarks, row{at: w.Elapsed(), worker: worker, text: text})
}

// quiesce waits until every worker waits for something, and fails the history if one of them broke.
func (w *World) quiesce() {
	synctest.Wait()
	w.mu.Lock()
	// What several workers did at one instant they did in any order; here it gets one.
	slices.SortStableFunc(w.remarks, func(a, b row) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.worker, b.worker)) })
	w.schedule.rows = append(w.schedule.rows, w.remarks...)
	w.remarks = w.remarks[:0]
	failed := w.failed
	w.mu.Unlock()
	if failed != nil {
		panic(stop{failed})
	}
}

// broke notes a failure inside a worker; the driver raises it.
func (w *World) broke(name string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = &Failure{Check: name, Err: err}
	}
}

// end stops all workers, so that the bubble can close.
func (w *World) end() {
	w.mu.Lock()
	workers := w.workers
	w.mu.Unlock()
	for _, worker := range workers {
		worker.life.Kill()
		worker.cancel()
	}
	w.lives.Wait()
}

// outcome is what one history came to.
type outcome struct {
	failure  *Failure
	schedule schedule
	counters *counters
	released int
}

// GoString returns the schedule: rapid prints what it drew in this form.
func (o *outcome) GoString() string {
	const kept = 150 // rows at the beginning and at the end
	lines := strings.SplitAfter(o.schedule.String(), "\n")
	if left := len(lines) - 2*kept; left > 0 {
		lines = slices.Concat(lines[:kept], []string{fmt.Sprintf("... %d rows ...\n", left)}, lines[len(lines)-kept:])
	}
	return "\n" + strings.Join(lines, "")
}

// play tells the story to a new World. It must be called inside a bubble.
func play(t *testing.T, config Config, chance chance, plan *plan, story func(*World)) *outcome {
	w := newWorld(config, chance)
	w.plan, w.artifacts = plan, artifacts{t}
	failure := w.tell(story)
	w.schedule.rows = append(w.schedule.rows, w.remarks...)
	w.schedule.keys = w.tableKeys()
	o := &outcome{failure: failure, schedule: w.schedule, counters: w.counters}
	if plan != nil {
		o.released = plan.released
	}
	return o
}

func (w *World) tell(story func(*World)) (failure *Failure) {
	defer w.end()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			failure = r.Failure
		default:
			panic(r)
		}
	}()
	story(w)
	w.quiesce()
	return nil
}
