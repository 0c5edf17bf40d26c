package observe

import "context"

// Multi returns an Observer that tells several, in order. None may be nil.
func Multi(observers ...Observer) Observer {
	return multi(append([]Observer(nil), observers...))
}

type multi []Observer

var _ Starter = multi(nil)

func (all multi) Observe(ctx context.Context, e Event) {
	for _, o := range all {
		o.Observe(ctx, e)
	}
}

func (all multi) Measure(ctx context.Context, m Measurement) {
	for _, o := range all {
		o.Measure(ctx, m)
	}
}

// Start hands the context of each on to the next.
func (all multi) Start(ctx context.Context, op Operation) context.Context {
	for _, o := range all {
		if starter, ok := o.(Starter); ok {
			ctx = starter.Start(ctx, op)
		}
	}
	return ctx
}

// Func is a function that is an Observer of events alone.
type Func func(ctx context.Context, e Event)

// Observe calls the function.
func (f Func) Observe(ctx context.Context, e Event) { f(ctx, e) }

// Measure does nothing.
func (f Func) Measure(context.Context, Measurement) {}
