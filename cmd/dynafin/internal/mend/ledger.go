package mend

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// LedgerVerbs are the commands that change books.
func LedgerVerbs(a *app.App) []*cobra.Command {
	var cmd *cobra.Command
	cmd, _ = changing(a, "reverse TRANSACTION...", "takes transactions back by new ones with the opposite postings, linked both ways", "dynafin ledger verify",
		func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "effective")
			d, err := a.Deployment()
			if err != nil {
				return change.Operation{}, nil, err
			}
			l, err := d.Books()
			if err != nil {
				return change.Operation{}, nil, err
			}
			with["tenant"], err = a.Tenant()
			return books{l, store, with["tenant"]}.reverse(), with, err
		})
	cmd.Flags().String("effective", "", "`TIME` at which the reversal counts, RFC 3339, not before the original (default: now)")
	return []*cobra.Command{cmd}
}

// books makes the operations on the ledger of one tenant.
type books struct {
	*ledger.Ledger
	client interface {
		ledger.Client
		txn.Client
	}
	tenant string
}

// reversalOf is the identifier of the whole reversal of a transaction: the same in every run, so that there is one at most.
func reversalOf(id string) string { return "reversal of " + id }

func (b books) reverse() change.Operation {
	return change.Operation{
		Command: "ledger reverse", One: "transaction", Many: "transactions", Done: "reversed", Fields: nil,
		Select: b.selected,
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			part, err := b.reversal(item, note)
			return []txn.Part{part}, err
		},
		Commit: func(ctx context.Context, committer *txn.Committer, _ change.Item, build func() ([]txn.Part, error)) (txn.Receipt, error) {
			var broken error
			receipt, err := b.Ledger.Commit(ctx, committer, func() []txn.Part {
				parts, err := build()
				broken = err
				return parts
			})
			return receipt, errors.Join(broken, err)
		},
		Now: func(ctx context.Context, item change.Item) (string, error) {
			links, err := b.Links(ctx, b.client, item.Hold.(ledger.Entry))
			return "reversed by " + strings.Join(links.ReversedBy, ", "), err
		},
	}
}

func (b books) reversal(item change.Item, note change.Note) (txn.Part, error) {
	at := note.At
	if text := note.Args["effective"]; text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return txn.Part{}, app.Usage("--effective %q is no time such as 2026-11-29T14:00:00Z", text)
		}
	}
	return b.Reverse(item.Hold.(ledger.Entry), ledger.Reversal{
		ID: reversalOf(item.ID), EffectiveAt: at, Source: item.Hold.(ledger.Entry).Source,
		Metadata: map[string]string{"by": note.By, "reason": note.Reason, "run": note.Run},
	}), nil
}

func (b books) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		if len(s.Where) > 0 {
			yield(change.Item{}, app.Usage("transactions are named, not searched for: see dynafin ledger entries"))
			return
		}
		for _, id := range s.IDs {
			entry, err := b.Transaction(ctx, b.client, b.tenant, id)
			if errors.Is(err, ledger.ErrNotFound) {
				continue
			}
			if err != nil {
				yield(change.Item{}, err)
				return
			}
			item := change.Item{ID: id, Is: describeEntry(entry), Hold: entry}
			links, err := b.Links(ctx, b.client, entry)
			if err != nil {
				yield(change.Item{}, err)
				return
			}
			if len(links.ReversedBy) > 0 {
				item.Skip = "it is reversed already, by " + strings.Join(links.ReversedBy, ", ")
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

func describeEntry(e ledger.Entry) string {
	var lines []string
	for _, p := range e.Postings {
		lines = append(lines, p.Account+" "+p.Amount.String())
	}
	return strings.Join(lines, ", ")
}
