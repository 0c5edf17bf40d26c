package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/dynafin/dynafin/inbox"
)

// about is what a handler needs to know of a message.
type about struct {
	source, id string
	group      string // for people
	order      string // messages of one order are handled one after the other, up to the first that fails
	receives   int    // zero if the transport does not say
}

// handler handles batches of one kind of message. It is safe for concurrent use.
type handler[M any] struct {
	config   Config
	err      error
	describe func(M) about
	handle   func(context.Context, M) error
	failures failures
}

func newHandler[M any](config Config, describe func(M) about, handle func(context.Context, M) error) *handler[M] {
	config = config.withDefaults()
	return &handler[M]{config: config, err: config.validate(), describe: describe, handle: handle}
}

// batch handles messages and returns the identifiers of those to be delivered again, in their order. An error refuses all.
func (h *handler[M]) batch(ctx context.Context, messages []M) (again []string, err error) {
	if h.err != nil {
		return nil, h.err
	}
	ctx, stop, err := inTime(ctx, h.config)
	if err != nil {
		return nil, err
	}
	defer stop()
	failed := inbox.Batch(ctx, messages, func(m M) string { return h.describe(m).order }, h.one)
	again = []string{} // null would mean success, but would not show it
	for _, f := range failed {
		m := h.describe(messages[f.Index])
		outcome := Failed
		if errors.Is(f.Err, inbox.ErrHeldBack) {
			outcome = HeldBack
		}
		h.observe(ctx, m, outcome, f.Err)
		if m.id == "" {
			return nil, errors.Join(&InvalidError{Field: "event", Reason: "has a message without an identifier, which failed"}, f.Err)
		}
		again = append(again, m.id)
	}
	return again, nil
}

// inTime is the context of a batch, which ends a margin before the function's timeout.
func inTime(ctx context.Context, config Config) (context.Context, context.CancelFunc, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}, nil
	}
	limited, cancel := context.WithDeadline(ctx, deadline.Add(-config.Margin))
	if ctx.Err() == nil && limited.Err() != nil {
		cancel()
		return nil, nil, &InvalidError{Field: "Config.Margin", Reason: "is longer than the time that the function has left"}
	}
	return limited, cancel, nil
}

// one handles a message. An error asks for it to be delivered again.
func (h *handler[M]) one(ctx context.Context, message M) error {
	m := h.describe(message)
	err := guard(func() error { return h.handle(ctx, message) })
	if err == nil {
		h.failures.forget(m)
		h.observe(ctx, m, Done, nil)
		return nil
	}
	if m.receives == 0 && !passing(err) {
		m.receives = h.failures.count(m)
	}
	if !permanent(err) && (passing(err) || m.receives < h.config.MaxReceives) {
		return err
	}
	if stored := guard(func() error { return h.bury(ctx, m, message, err) }); stored != nil {
		return notStored(m, err, stored)
	}
	h.failures.forget(m)
	h.observe(ctx, m, Buried, err)
	return nil
}

func (h *handler[M]) bury(ctx context.Context, m about, message M, reason error) error {
	whole, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return h.config.DeadLetters(ctx, DeadLetter{
		Source: m.source, ID: m.id, Group: m.group, Receives: m.receives, Reason: reasonOf(reason), At: h.config.Now().UTC(), Message: whole,
	})
}

func (h *handler[M]) observe(ctx context.Context, m about, outcome Outcome, err error) {
	if h.config.Observer != nil {
		h.config.Observer(ctx, Observation{Source: m.source, ID: m.id, Receives: m.receives, Outcome: outcome, Err: err})
	}
}

// guard turns a panic into an error: Lambda would end the process, and the message would kill the next one too.
func guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return do()
}

// failures counts, within this process, how often a message failed whose transport does not count. A stream has one such
// message for each shard.
type failures struct {
	mu sync.Mutex
	of map[string]int
}

// failuresMax bounds the memory of messages that never came again.
const failuresMax = 1000

func (f *failures) count(m about) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil || len(f.of) >= failuresMax {
		f.of = map[string]int{}
	}
	f.of[m.source+" "+m.id]++
	return f.of[m.source+" "+m.id]
}

func (f *failures) forget(m about) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, m.source+" "+m.id)
}
