package invariant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// command is something that clients ask for, with how a process serves it.
type command struct {
	name   string
	handle func(context.Context, *Process) ([]byte, error)
}

// Answer is what a client was told.
type Answer struct {
	// Command and Worker say who asked for what.
	Command, Worker string
	// Body is the answer, byte for byte.
	Body []byte
	// At is when the answer was there, since the history began.
	At time.Duration
}

// Command sends a command, from one or several clients at the same time: a client that got no answer repeats it until it
// gets one, and others may send it, too. handle is the service's handler. An error means that the client got no answer it
// can rely on; a definite refusal is an answer.
func (w *World) Command(name string, handle func(ctx context.Context, p *Process) (answer []byte, err error)) {
	c := command{name, handle}
	w.commands = append(w.commands, c)
	copies := 1 + w.Choose("copies of "+name, w.config.Copies)
	for i := range copies {
		w.ask(c, fmt.Sprintf("%s/%d", name, i+1))
	}
}

// again sends every command once more.
func (w *World) again() {
	for _, c := range w.commands {
		w.ask(c, c.name+"/again")
	}
}

func (w *World) ask(c command, client string) {
	w.Worker(client, func(ctx context.Context, p *Process) error {
		body, err := c.handle(ctx, p)
		if err != nil || p.life.Dead() {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		at := w.Elapsed()
		w.remarks = append(w.remarks, row{at: at, worker: p.name(), text: "answers: " + short(string(body))})
		w.answers = append(w.answers, Answer{Command: c.name, Worker: client, Body: slices.Clone(body), At: at})
		return nil
	})
}

// Answers returns the answers to all commands so far, in order.
func (w *World) Answers() []Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	answers := slices.Clone(w.answers)
	slices.SortStableFunc(answers, func(a, b Answer) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Worker, b.Worker)) })
	return answers
}
