package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/sentinel"
)

// Sentinel returns the verbs that read unique names.
func Sentinel(a *app.App) []*cobra.Command {
	return []*cobra.Command{sentinelList(a), sentinelCheck(a)}
}

type nameItem struct {
	Tenant  string `json:"tenant"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Held    bool   `json:"held"`
	Owner   string `json:"owner,omitempty"`
	Command string `json:"command,omitempty"`
	Version string `json:"version,omitempty"`
	Since   string `json:"since,omitempty"`

	since time.Time
}

func nameOf(h sentinel.Held) nameItem {
	return nameItem{Tenant: h.Tenant, Kind: h.Kind, Name: h.Name, Held: true, Owner: h.Owner, Command: h.Command,
		Version: strconv.FormatInt(h.Version, 10), Since: app.Stamp(h.Since), since: h.Since}
}

func nameColumns(now time.Time) []app.Column[nameItem] {
	return []app.Column[nameItem]{
		{Name: "tenant", Value: func(n nameItem) string { return n.Tenant }},
		{Name: "kind", Value: func(n nameItem) string { return n.Kind }},
		{Name: "name", Kind: app.ID, Value: func(n nameItem) string { return n.Name }},
		{Name: "state", Value: func(n nameItem) string {
			if n.Held {
				return "HELD"
			}
			return "FREE"
		}},
		{Name: "owner", Kind: app.ID, Value: func(n nameItem) string { return n.Owner }},
		{Name: "command", Kind: app.ID, Value: func(n nameItem) string { return n.Command }},
		{Name: "version", Kind: app.Number, Value: func(n nameItem) string { return n.Version }},
		age("since", "", now, func(n nameItem) time.Time { return n.since }),
	}
}

func sentinelList(a *app.App) *cobra.Command {
	var kinds []string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "lists the names that are held (needs --scan)",
		Long: `Lists the names that are held. No index has them, so this takes a scan. To look for one name, use dynafin sentinel check. Without
--kind, or kinds in the deployment file, every record of that form in the table is listed.`,
		Example: "  dynafin sentinel ls --kind CLIENTORDER --scan",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.Deployment()
			if err != nil {
				return err
			}
			names, err := d.NameStore()
			if err != nil {
				return app.Usage("%v", err)
			}
			if len(kinds) == 0 {
				kinds = d.Names.Kinds
			}
			rows, err := a.Scan(cmd.Context(), d.Names.At(), ", or look for one name with dynafin sentinel check KIND NAME")
			if err != nil {
				return err
			}
			bad := &faults{a: a}
			l := app.List[nameItem]{Schema: "sentinel.ls/v1", Table: d.Names.Table, Columns: nameColumns(a.Now()), Empty: "no name is held"}
			for row, err := range rows {
				if err != nil {
					return err
				}
				h, ok, err := names.Decode(row)
				switch {
				case err != nil:
					if err := bad.skip(err, sentinel.ErrCorrupt); err != nil {
						return err
					}
				case ok && (len(kinds) == 0 || slices.Contains(kinds, h.Kind)) && (len(d.Tenants) == 0 || slices.Contains(d.Tenants, h.Tenant)):
					l.Items = append(l.Items, nameOf(h))
				}
			}
			slices.SortFunc(l.Items, func(x, y nameItem) int {
				return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name))
			})
			return printAll(l, bad, "name")
		},
	}
	cmd.Flags().StringArrayVar(&kinds, "kind", nil, "`KIND` of names; repeatable (default: those of the deployment)")
	return cmd
}

func sentinelCheck(a *app.App) *cobra.Command {
	owner := ""
	cmd := &cobra.Command{
		Use:   "check KIND NAME",
		Short: "says who holds a name, and whether that is right",
		Long: `Says who holds a name. With --owner it is a finding if somebody else does, or nobody: a repair is to move the name, or to take it.
Never decide by this that a name is free: taking it decides.`,
		Example: "  dynafin sentinel check --tenant acme CLIENTORDER C-77 --owner order-1",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkName(cmd.Context(), a, args[0], args[1], owner)
		},
	}
	cmd.Flags().StringVar(&owner, "owner", "", "who should hold it, for example the order's ID")
	return cmd
}

func checkName(ctx context.Context, a *app.App, kind, name, owner string) error {
	tenant, err := a.Tenant()
	if err != nil {
		return err
	}
	d, err := a.Deployment()
	if err != nil {
		return err
	}
	names, err := d.NameStore()
	if err != nil {
		return app.Usage("%v", err)
	}
	store, err := a.Store(ctx)
	if err != nil {
		return err
	}
	item := nameItem{Tenant: tenant, Kind: kind, Name: name}
	h, err := names.Lookup(ctx, store, tenant, kind, name)
	if err == nil {
		item = nameOf(h)
	} else if !errors.Is(err, sentinel.ErrNotFound) {
		return err
	}
	l := app.List[nameItem]{Schema: "sentinel.check/v1", Table: d.Names.Table, Columns: nameColumns(a.Now()), Items: []nameItem{item}}
	var finding error
	switch {
	case owner == "" || owner == item.Owner:
	case item.Held:
		finding = app.Findings("%s %q is held by %q, not by %q", kind, name, item.Owner, owner)
	default:
		finding = app.Findings("%s %q is held by nobody, not by %q", kind, name, owner)
	}
	if finding != nil {
		l.Next = fmt.Sprintf("dynafin sentinel repair --tenant %s --kind %s --name %s --owner %s --dry-run", quoted(tenant), quoted(kind), quoted(name), quoted(owner))
	}
	if err := app.Print(a, l); err != nil {
		return err
	}
	return finding
}
