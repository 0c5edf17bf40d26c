package mend

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// SentinelVerbs are the commands that change names.
func SentinelVerbs(a *app.App) []*cobra.Command {
	var cmd *cobra.Command
	cmd, _ = changing(a, "repair KIND/NAME...", "frees names whose owner does not exist; the record stays", "dynafin sentinel check KIND NAME",
		func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "owner-item")
			d, err := a.Deployment()
			if err != nil {
				return change.Operation{}, nil, err
			}
			n, err := d.NameStore()
			if err != nil {
				return change.Operation{}, nil, err
			}
			with["tenant"], err = a.Tenant()
			return names{n, store, with["tenant"]}.repair(), with, err
		})
	cmd.Flags().String("owner-item", "", "`TABLE|PK|SK` of the owner's record, with {owner} for the owner: refused while it is there; required")
	return []*cobra.Command{cmd}
}

// names makes the operations on the names of one tenant.
type names struct {
	*sentinel.Names
	client sentinel.Client
	tenant string
}

func (n names) repair() change.Operation {
	return change.Operation{
		Command: "sentinel repair", One: "name", Many: "names", Done: "freed", Select: n.selected,
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			held := item.Hold.(sentinel.Held)
			parts := strings.Split(strings.ReplaceAll(note.Args["owner-item"], "{owner}", held.Owner), "|")
			if len(parts) != 3 {
				return nil, app.Usage("where is the record of an owner? say so with --owner-item 'TABLE|PK|SK', with {owner} for the owner")
			}
			table := txn.Table{Name: parts[0]}.WithDefaults("")
			absent := txn.Check(table, table.Key(parts[1], parts[2]), txn.Label("owner"), txn.IfAbsent(), txn.Explain(func(txn.Item) error {
				return errors.New("its owner " + held.Owner + " exists: nothing is to be repaired")
			}))
			return []txn.Part{n.Release(held), absent}, nil
		},
		Now: func(ctx context.Context, item change.Item) (string, error) {
			kind, name, _ := strings.Cut(item.ID, "/")
			held, err := n.Lookup(ctx, n.client, n.tenant, kind, name)
			if errors.Is(err, sentinel.ErrNotFound) {
				return "free", nil
			}
			return "held by " + held.Owner, err
		},
	}
}

func (n names) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		if len(s.Where) > 0 {
			yield(change.Item{}, app.Usage("names are named, not searched for: see dynafin sentinel ls"))
			return
		}
		for _, id := range s.IDs {
			kind, name, ok := strings.Cut(id, "/")
			if !ok {
				yield(change.Item{}, app.Usage("%q is no KIND/NAME, such as CLIENTORDER/C-77", id))
				return
			}
			held, err := n.Lookup(ctx, n.client, n.tenant, kind, name)
			if errors.Is(err, sentinel.ErrNotFound) {
				continue
			}
			if err != nil && !yield(change.Item{}, err) || err == nil && !yield(change.Item{ID: id, Is: "held by " + held.Owner, Hold: held}, nil) {
				return
			}
		}
	}
}
