package watch

import (
	"context"
	"iter"

	"github.com/dynafin/dynafin/observe"
)

// Each makes an operation of every range over the entries that list yields: it ends with the loop, with the last error
// that was yielded. What is counted by a gauge is measured if the loop reached the end without an error.
func Each[V any](ctx context.Context, w *Watch, label string, gauge observe.Gauge,
	list func(ctx context.Context, yield func(V, error) bool)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		if w.observer == nil || from(ctx) != nil {
			list(ctx, yield)
			return
		}
		var err error
		ctx, op := w.Begin(ctx, label)
		defer op.End(&err)
		count, whole := 0, true
		list(ctx, func(v V, failed error) bool {
			count++
			if failed != nil {
				err, whole = failed, false
			}
			more := yield(v, failed)
			whole = whole && more
			return more
		})
		if gauge != "" && whole {
			w.Measure(ctx, op.event.Pattern, gauge, int64(count))
		}
	}
}
