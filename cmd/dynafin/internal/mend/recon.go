package mend

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// ReconVerbs are the commands that change breaks.
func ReconVerbs(a *app.App) []*cobra.Command {
	of := func(use, short string, operation func(breaks) change.Operation, names ...string) *cobra.Command {
		var cmd *cobra.Command
		batch := ""
		cmd, _ = changing(a, use, short, "dynafin recon breaks", func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, names...)
			d, err := a.Deployment()
			if err != nil {
				return change.Operation{}, nil, err
			}
			r, err := d.Desk(store)
			if err != nil {
				return change.Operation{}, nil, err
			}
			for i, id := range f.ids {
				if batch != "" {
					f.ids[i] = batch + "/" + id
				}
			}
			with["tenant"], err = a.Tenant()
			return operation(breaks{r, with["tenant"], a.Now}), with, err
		})
		cmd.Flags().StringVar(&batch, "batch", "", "`BATCH` of the breaks, which are then named by their IDs alone")
		for _, name := range names {
			cmd.Flags().String(name, "", breakFlags[name])
		}
		return cmd
	}
	return []*cobra.Command{
		reconRun(a),
		of("match BATCH/BREAK...", "closes breaks whose rows were found to belong together", breaks.match, "reference"),
		of("accept BATCH/BREAK...", "closes breaks as they are, with a note", breaks.accept, "reference"),
		of("unmatch BATCH/BREAK...", "opens breaks again that were matched", breaks.unmatch, "owner", "due"),
		of("reopen BATCH/BREAK...", "opens closed breaks again", breaks.reopen, "owner", "due"),
	}
}

var breakFlags = map[string]string{
	"reference": "the evidence: the transaction that corrected the books, a ticket, a letter",
	"owner":     "`WHO` must resolve it (default: the owner that it had)",
	"due":       "for how long the owner has, for example 24h (the default)",
}

// breaks makes the operations on the breaks of one tenant.
type breaks struct {
	*reconcile.Reconciler
	tenant string
	now    func() time.Time
}

// match needs evidence; accept is a decision, and its note is the evidence.
func (b breaks) match() change.Operation {
	return b.resolve("recon match", "matched", func(note change.Note) (string, error) {
		if note.Args["reference"] == "" {
			return "", app.Usage("a match has evidence: name it with --reference")
		}
		return note.Args["reference"], nil
	})
}

func (b breaks) accept() change.Operation {
	return b.resolve("recon accept", "accepted", func(note change.Note) (string, error) {
		return cmp.Or(note.Args["reference"], "accepted in run "+note.Run), nil
	})
}

func (b breaks) resolve(command, done string, reference func(change.Note) (string, error)) change.Operation {
	op := b.operation(command, done, true)
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		proof, err := reference(note)
		if err != nil {
			return nil, err
		}
		return []txn.Part{b.Resolve(item.Hold.(reconcile.Break), reconcile.Evidence{By: note.By, Note: note.Reason, Reference: proof})}, nil
	}
	return op
}

func (b breaks) unmatch() change.Operation { return b.open("recon unmatch", "unmatched") }
func (b breaks) reopen() change.Operation  { return b.open("recon reopen", "reopened") }

func (b breaks) open(command, done string) change.Operation {
	op := b.operation(command, done, false)
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		broken := item.Hold.(reconcile.Break)
		due, err := time.ParseDuration(cmp.Or(note.Args["due"], "24h"))
		if err != nil {
			return nil, app.Usage("--due %q is no duration such as 24h", note.Args["due"])
		}
		to := reconcile.Assignment{Owner: cmp.Or(note.Args["owner"], broken.Owner), Due: note.At.Add(due)}
		return []txn.Part{b.Reopen(broken, to, note.By, note.Reason)}, nil
	}
	return op
}

func (b breaks) operation(command, done string, waiting bool) change.Operation {
	return change.Operation{
		Command: command, One: "break", Many: "breaks", Done: done,
		Fields: []string{"batch", "id", "kind", "key", "status", "owner", "age", "drift"},
		Select: func(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
			return b.selected(ctx, s, waiting)
		},
		Now: func(ctx context.Context, item change.Item) (string, error) {
			of := item.Hold.(reconcile.Break)
			now, err := b.Break(ctx, b.tenant, of.Batch, of.ID)
			return describeBreak(now), err
		},
	}
}

func describeBreak(b reconcile.Break) string {
	text := string(b.Status) + " " + strings.ToLower(string(b.Kind))
	if b.Drift.Currency().Code() != "" {
		text += ", difference " + b.Drift.String()
	}
	return text + ", owner " + b.Owner
}

// selected reads breaks by name, or those that wait. Breaks that are closed are in no queue, so they are named.
func (b breaks) selected(ctx context.Context, s change.Selection, waiting bool) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		give := func(batch, id string) bool {
			found, err := b.Break(ctx, b.tenant, batch, id)
			switch {
			case errors.Is(err, reconcile.ErrNotFound):
				return true
			case err != nil:
				yield(change.Item{}, err)
				return false
			}
			return yield(b.item(found, waiting), nil)
		}
		for _, name := range s.IDs {
			batch, id, ok := strings.Cut(name, "/")
			if !ok {
				yield(change.Item{}, app.Usage("%q is no BATCH/BREAK, as dynafin recon breaks names them", name))
				return
			}
			if !give(batch, id) {
				return
			}
		}
		if len(s.IDs) > 0 {
			return
		}
		if !waiting {
			yield(change.Item{}, app.Usage("closed breaks are in no queue: name them, BATCH/BREAK"))
			return
		}
		for _, status := range []reconcile.Status{reconcile.StatusOpen, reconcile.StatusEscalated} {
			for listed, err := range b.Due(ctx, b.tenant, status, farAway) {
				if err != nil {
					yield(change.Item{}, err)
					return
				}
				if !listed.Created.After(s.AsOf) && !give(listed.Batch, listed.ID) {
					return
				}
			}
		}
	}
}

func (b breaks) item(of reconcile.Break, waiting bool) change.Item {
	item := change.Item{ID: of.Batch + "/" + of.ID, Is: describeBreak(of), Hold: of, Fields: change.Fields{
		"batch": of.Batch, "id": of.ID, "kind": string(of.Kind), "key": of.Key, "status": string(of.Status), "owner": of.Owner,
		"age": b.now().Sub(of.Created).String(), "drift": "",
	}}
	if of.Drift.Currency().Code() != "" {
		item.Fields["drift"] = of.Drift.String()
	}
	if closed := of.Status == reconcile.StatusResolved; closed == waiting {
		item.Skip = "it is " + string(of.Status)
	}
	return item
}
