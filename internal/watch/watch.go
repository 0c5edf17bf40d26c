// Package watch is how the packages of this library report to an observe.Observer: two lines an operation,
//
//	ctx, op := o.watch.Begin(ctx, "AP16.get")
//	defer op.End(&err)
//
// and the options [In] of the context for each of its requests. The outermost operation reports; what it calls finds it in
// the context and adds to it.
package watch

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/observe"
)

// Watch reports for one value of a package. The zero Watch reports nothing.
type Watch struct {
	pkg, scope string
	observer   observe.Observer
	now        func() time.Time
}

// New returns the Watch of a package and of a scope out of its configuration. The observer may be nil; the default of
// now is time.Now.
func New(pkg, scope string, observer observe.Observer, now func() time.Time) Watch {
	if now == nil {
		now = time.Now
	}
	return Watch{pkg: pkg, scope: scope, observer: observer, now: now}
}

// Op is an operation under way. A nil Op does nothing.
type Op struct {
	watch   *Watch
	ctx     context.Context // that of the caller, or of the Starter
	started time.Time
	options []func(*dynamodb.Options)

	mu    sync.Mutex // a reader of many branches makes its requests at the same time
	event observe.Event
}

type inContext struct{}

func from(ctx context.Context) *Op {
	op, _ := ctx.Value(inContext{}).(*Op)
	return op
}

// Begin begins the operation of a label such as "AP16.get", or "commit" of what serves no single pattern. Within another
// operation, or without an Observer, it is nil, and the context is returned as it is.
func (w *Watch) Begin(ctx context.Context, label string) (context.Context, *Op) {
	if w.observer == nil || from(ctx) != nil {
		return ctx, nil
	}
	pattern, name, found := strings.Cut(label, ".")
	if !found {
		pattern, name = "", label
	}
	op := &Op{watch: w, started: w.now()}
	op.options = []func(*dynamodb.Options){op.install}
	op.event.Operation = observe.Operation{Package: w.pkg, Scope: w.scope, Pattern: pattern, Name: strings.ToLower(name)}
	op.ctx = ctx
	if starter, ok := w.observer.(observe.Starter); ok {
		guard(func() { op.ctx = starter.Start(ctx, op.event.Operation) })
	}
	return context.WithValue(op.ctx, inContext{}, op), op
}

// End reports the operation. It is deferred, with the address of the error that the caller will get.
func (op *Op) End(err *error) {
	if op == nil {
		return
	}
	op.mu.Lock()
	e := op.event
	op.mu.Unlock()
	e.Err, e.Duration = *err, max(0, op.watch.now().Sub(op.started)) // a clock may be set back
	switch {
	case e.Err != nil:
		e.Outcome = outcomeOf(e.Err)
	case e.Outcome == "":
		e.Outcome = observe.OK
	}
	guard(func() { op.watch.observer.Observe(op.ctx, e) })
}

// Measure reports a count, or the nanoseconds of an age.
func (w *Watch) Measure(ctx context.Context, pattern string, gauge observe.Gauge, value int64) {
	if w.observer == nil {
		return
	}
	m := observe.Measurement{Package: w.pkg, Scope: w.scope, Pattern: pattern, Gauge: gauge, Value: value}
	guard(func() { w.observer.Measure(ctx, m) })
}

// guard keeps a panic of an Observer from what it observes.
func guard(tell func()) {
	defer func() {
		if p := recover(); p != nil {
			slog.Default().Error("dynafin: an Observer panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	tell()
}

// Outcome says how the operation in the context ends if it returns no error. The last word counts.
func Outcome(ctx context.Context, outcome observe.Outcome) {
	if op := from(ctx); op != nil {
		op.mu.Lock()
		op.event.Outcome = outcome
		op.mu.Unlock()
	}
}

// Parts notes the labels of the parts of a Commit, the last one if there are several. A Commit that nothing else contains has
// their access patterns.
func Parts(ctx context.Context, own *Op, labels func() []string) {
	op := from(ctx)
	if op == nil {
		return
	}
	said := labels()
	op.mu.Lock()
	defer op.mu.Unlock()
	op.event.Parts = said
	if op == own {
		op.event.Pattern = patterns(said)
	}
}

// patterns returns the access patterns of labels, each once, in order of their numbers.
func patterns(labels []string) string {
	var all []string
	for _, label := range labels {
		pattern, _, ok := strings.Cut(label, ".")
		digits, numbered := strings.CutPrefix(pattern, "AP")
		if ok && numbered && len(digits) == 2 && strings.Trim(digits, "0123456789") == "" && !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "+")
}

// Outside returns the context for what is not the library's: a callback whose own operations report for themselves.
func Outside(ctx context.Context) context.Context {
	if from(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, inContext{}, (*Op)(nil))
}
