package mend

import (
	"context"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/txn"
)

// InboxVerbs are the commands that change receipts.
func InboxVerbs(a *app.App) []*cobra.Command {
	consumer := ""
	cmd, _ := changing(a, "forget EVENT...", "lets the next delivery of events take effect again; the receipts move out of the way and stay", "dynafin inbox show EVENT",
		func(_ context.Context, _ *frame, store *app.Store) (change.Operation, map[string]string, error) {
			d, err := a.Deployment()
			if err != nil {
				return change.Operation{}, nil, err
			}
			var names []string
			if consumer != "" {
				names = []string{consumer}
			}
			all, err := d.Inboxes(names...)
			if err != nil {
				return change.Operation{}, nil, err
			}
			if len(all) > 1 {
				return change.Operation{}, nil, app.Usage("whose receipt? name the --consumer")
			}
			return receipts{all[0].Inbox, store}.forget(), map[string]string{"consumer": all[0].Name}, nil
		})
	cmd.Flags().StringVar(&consumer, "consumer", "", "`CONSUMER` whose receipts they are (default: the only one)")
	return []*cobra.Command{cmd}
}

// receipts makes the operations on the receipts of one consumer.
type receipts struct {
	*inbox.Inbox
	client inbox.Reader
}

func (r receipts) forget() change.Operation {
	return change.Operation{
		Command: "inbox forget", One: "receipt", Many: "receipts", Done: "forgotten",
		Select: func(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
			return func(yield func(change.Item, error) bool) {
				for _, id := range s.IDs {
					receipt, err := r.Get(ctx, r.client, id)
					if errors.Is(err, inbox.ErrNotFound) {
						continue
					}
					item := change.Item{ID: id, Is: "processed at " + app.Stamp(receipt.ProcessedAt), Hold: receipt}
					if err != nil {
						item = change.Item{}
					}
					if !yield(item, err) || err != nil {
						return
					}
				}
			}
		},
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			part := r.Forget(item.Hold.(inbox.Receipt), inbox.Forget{By: note.By, Reason: cut(note.Reason, inbox.MaxReasonBytes), At: note.At})
			if err := part.Err(); err != nil {
				return nil, &change.Skip{Reason: err.Error()}
			}
			return []txn.Part{part}, nil
		},
		Now: func(ctx context.Context, item change.Item) (string, error) {
			receipt, err := r.Get(ctx, r.client, item.ID)
			if errors.Is(err, inbox.ErrNotFound) {
				return "no receipt", nil
			}
			return "processed at " + app.Stamp(receipt.ProcessedAt), err
		},
	}
}
