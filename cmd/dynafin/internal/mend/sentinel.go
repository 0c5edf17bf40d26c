package mend

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// SentinelVerbs are the commands that change names.
func SentinelVerbs(a *app.App) []*cobra.Command {
	var cmd *cobra.Command
	cmd, _ = changing(a, "repair [KIND/NAME...]", "gives names to their right owner, or frees them where the owner does not exist", "dynafin sentinel check KIND NAME",
		func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "owner", "owner-item")
			if kind, _ := cmd.Flags().GetString("kind"); kind != "" {
				name, _ := cmd.Flags().GetString("name")
				f.ids = append(f.ids, kind+"/"+name)
			}
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
	cmd.Flags().String("kind", "", "`KIND` of the name, with --name, in place of KIND/NAME")
	cmd.Flags().String("name", "", "the `NAME`")
	cmd.Flags().String("owner", "", "`OWNER` who should hold the name; without, the name is freed")
	cmd.Flags().String("owner-item", "", "`TABLE|PK|SK` of an owner's record, with {owner} for the owner: it must be there if the name goes to it, and not be there if the name is freed")
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
		Command: "sentinel repair", One: "name", Many: "names", Done: "repaired", Select: n.selected,
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			if owner := note.Args["owner"]; owner != "" {
				return n.give(item.Hold.(name), owner, note)
			}
			return n.free(item.Hold.(name), note)
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

// name is a name with who holds it; nobody if the version is 0.
type name struct {
	kind, name string
	held       sentinel.Held
}

// give hands a name over to its right owner, whose record must exist if it is named.
func (n names) give(of name, owner string, note change.Note) ([]txn.Part, error) {
	if of.held.Owner == owner {
		return nil, &change.Skip{Reason: "held by " + owner + " already"}
	}
	claim := sentinel.Claim{Tenant: n.tenant, Kind: of.kind, Name: of.name, Owner: owner, Command: "run " + note.Run}
	part := n.Reserve(claim)
	if of.held.Version > 0 {
		part = n.Move(of.held, claim)
	}
	if note.Args["owner-item"] == "" {
		return []txn.Part{part}, nil
	}
	table, key, err := ownerItem(note, owner)
	if err != nil {
		return nil, err
	}
	exists := expression.AttributeExists(expression.Name(table.PK))
	return []txn.Part{part, txn.Check(table, key, txn.Label("owner"), txn.If(exists), txn.Explain(func(txn.Item) error {
		return errors.New("the owner " + owner + " does not exist")
	}))}, nil
}

// free releases a name whose owner does not exist.
func (n names) free(of name, note change.Note) ([]txn.Part, error) {
	if of.held.Version == 0 {
		return nil, &change.Skip{Reason: "nobody holds it"}
	}
	table, key, err := ownerItem(note, of.held.Owner)
	if err != nil {
		return nil, err
	}
	return []txn.Part{n.Release(of.held), txn.Check(table, key, txn.Label("owner"), txn.IfAbsent(), txn.Explain(func(txn.Item) error {
		return errors.New("its owner " + of.held.Owner + " exists: nothing is to be repaired")
	}))}, nil
}

// ownerItem is the record of an owner.
func ownerItem(note change.Note, owner string) (txn.Table, txn.Item, error) {
	parts := strings.Split(strings.ReplaceAll(note.Args["owner-item"], "{owner}", owner), "|")
	if len(parts) != 3 {
		return txn.Table{}, nil, app.Usage("where is the record of an owner? say so with --owner-item 'TABLE|PK|SK', with {owner} for the owner")
	}
	table := txn.Table{Name: parts[0]}.WithDefaults("")
	return table, table.Key(parts[1], parts[2]), nil
}

func (n names) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		if len(s.Where) > 0 {
			yield(change.Item{}, app.Usage("names are named, not searched for: see dynafin sentinel ls"))
			return
		}
		for _, id := range s.IDs {
			kind, called, ok := strings.Cut(id, "/")
			if !ok {
				yield(change.Item{}, app.Usage("%q is no KIND/NAME, such as CLIENTORDER/C-77", id))
				return
			}
			held, err := n.Lookup(ctx, n.client, n.tenant, kind, called)
			item := change.Item{ID: id, Is: "held by " + held.Owner, Hold: name{kind, called, held}}
			if errors.Is(err, sentinel.ErrNotFound) {
				item.Is, err = "free", nil
			}
			if err != nil {
				item = change.Item{}
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}
