package projection_test

import (
	"errors"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// receipts is a view with an inbox receipt for each event (CS06). The consumer names the namespace: another build of the view
// is another effect.
func receipts(b *bench) (projection.View, *inbox.Inbox) {
	received := inbox.New(inbox.Config{Consumer: "portfolio@1", Table: b.points})
	return func(ctx ctx, namespace int, e projection.Event) ([]txn.Part, error) {
		parts, err := b.seeing(ctx, namespace, e)
		receipt := received.Receive(inbox.Event{ID: e.ID, Type: e.Type, Source: e.Source, SourceVersion: e.Version, Payload: e.Payload}, nil)
		return append([]txn.Part{receipt}, parts...), err
	}, received
}

func isMismatch(err error) bool { return errors.Is(err, inbox.ErrMismatch) }
