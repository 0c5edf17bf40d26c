package inbox

import (
	"context"
	"errors"
)

// Failure is an entry of a batch that has not had its effect, or is not known to.
type Failure struct {
	// Index is the entry's position in the batch, from 0.
	Index int
	// Err is why: the handler's error, the context's, or a [HeldBackError].
	Err error
}

// Failures are the entries of a batch to be delivered again, in the order of the batch. Everything else in the batch is
// done. A queue gets them all; a stream, which goes on from one sequence number, gets the first.
type Failures []Failure

// First returns the position of the first entry that failed. A stream must deliver again from there; ok is false if the
// whole batch is done.
func (f Failures) First() (index int, ok bool) {
	if len(f) == 0 {
		return 0, false
	}
	return f[0].Index, true
}

// Err joins the errors of all failures, nil if there are none.
func (f Failures) Err() error {
	var all []error
	for _, failure := range f {
		all = append(all, failure.Err)
	}
	return errors.Join(all...)
}

// Batch handles the entries of a batch one after the other and returns those that failed. The batch goes on behind a failure,
// so that one bad entry does not stop the rest; but within a group, whose order matters, what comes after a failed entry
// is held back with a [HeldBackError]. group names the group of an entry: the source of an event, the message group of a
// queue. If group is nil, no order matters.
//
// When the context ends, no further entry is tried: the rest fails with the context's error.
func Batch[E any](ctx context.Context, entries []E, group func(E) string, handle func(context.Context, E) error) Failures {
	var failures Failures
	broken := map[string]int{} // group -> position of the entry that failed
	for i, entry := range entries {
		name := ""
		if group != nil {
			name = group(entry)
			if at, ok := broken[name]; ok {
				failures = append(failures, Failure{Index: i, Err: &HeldBackError{Group: name, Index: at}})
				continue
			}
		}
		err := ctx.Err()
		if err == nil {
			err = handle(ctx, entry)
		}
		if err != nil {
			broken[name] = i
			failures = append(failures, Failure{Index: i, Err: err})
		}
	}
	return failures
}
