package look

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

// Recon returns the verbs that read batches and breaks.
func Recon(a *app.App) []*cobra.Command {
	return []*cobra.Command{reconBreaks(a), reconShow(a), reconExport(a)}
}

// desk is what every verb of the noun begins with.
type desk struct {
	a       *app.App
	tenants []string
	table   string
	*reconcile.Reconciler
}

func openDesk(ctx context.Context, a *app.App) (*desk, error) {
	tenants, err := a.Tenants()
	if err != nil {
		return nil, err
	}
	d, err := a.Deployment()
	if err != nil {
		return nil, err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.Desk(store)
	if err != nil {
		return nil, app.Usage("%v", err)
	}
	return &desk{a, tenants, d.Reconcile.Table, r}, nil
}

type breakItem struct {
	Tenant  string     `json:"tenant"`
	Batch   string     `json:"batch"`
	ID      string     `json:"break_id"`
	Kind    string     `json:"kind"`
	Key     string     `json:"key"`
	Status  string     `json:"status"`
	Owner   string     `json:"owner,omitempty"`
	Due     string     `json:"due_at,omitempty"`
	Overdue bool       `json:"overdue"`
	Created string     `json:"created_at"`
	Ours    *app.Money `json:"ours,omitempty"`
	Theirs  *app.Money `json:"theirs,omitempty"`
	Drift   *app.Money `json:"difference,omitempty"`
	Faults  []string   `json:"faults,omitempty"`
	OurIDs  []string   `json:"our_rows,omitempty"`
	Their   []string   `json:"their_rows,omitempty"`
	Version string     `json:"version"`
	Changes []noteItem `json:"changes,omitempty"`

	created, due time.Time
	drift        money.Amount
}

func (d *desk) item(b reconcile.Break) breakItem {
	item := breakItem{
		Tenant: b.Tenant, Batch: b.Batch, ID: b.ID, Kind: string(b.Kind), Key: b.Key, Status: string(b.Status), Owner: b.Owner, Due: app.Stamp(b.Due),
		Created: app.Stamp(b.Created), Ours: app.AsMoney(b.Left.Sum), Theirs: app.AsMoney(b.Right.Sum), Drift: app.AsMoney(b.Drift), Faults: b.Faults,
		OurIDs: b.Left.IDs, Their: b.Right.IDs, Version: strconv.FormatInt(b.Version, 10), created: b.Created, due: b.Due, drift: b.Drift,
	}
	item.Overdue = b.Status != reconcile.StatusResolved && !b.Due.IsZero() && d.a.Now().After(b.Due)
	for _, c := range b.Changes {
		reason := c.Note
		if c.Reference != "" {
			reason += " (" + c.Reference + ")"
		}
		item.Changes = append(item.Changes, noteItem{Step: c.What, By: c.By, Reason: reason, At: app.Stamp(c.At)})
	}
	return item
}

// open lists the breaks that wait for somebody, in the order of their due times. Every one of them is listed.
func (d *desk) open(ctx context.Context, statuses ...reconcile.Status) (items []breakItem, err error) {
	for _, tenant := range d.tenants {
		for _, status := range statuses {
			for b, err := range d.Due(ctx, tenant, status, far) {
				if err != nil {
					return nil, err
				}
				item := d.item(reconcile.Break{Tenant: b.Tenant, Batch: b.Batch, ID: b.ID, Kind: b.Kind, Key: b.Key, Drift: b.Drift, Status: b.Status,
					Owner: b.Owner, Due: b.Due, Created: b.Created, Version: b.Version})
				items = append(items, item)
			}
		}
	}
	slices.SortStableFunc(items, func(x, y breakItem) int {
		return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.Batch, y.Batch), cmp.Compare(x.ID, y.ID))
	})
	return items, nil
}

// inBatch lists every break of a batch, resolved ones too.
func (d *desk) inBatch(ctx context.Context, batch string) (items []breakItem, err error) {
	for _, tenant := range d.tenants {
		for b, err := range d.Breaks(ctx, tenant, batch) {
			if err != nil {
				return nil, err
			}
			items = append(items, d.item(b))
		}
	}
	return items, nil
}

func breakColumns(now time.Time) []app.Column[breakItem] {
	return []app.Column[breakItem]{
		text("tenant", app.Text, func(b breakItem) string { return b.Tenant }),
		text("batch", app.Text, func(b breakItem) string { return b.Batch }),
		text("break_id", app.ID, func(b breakItem) string { return b.ID }),
		text("kind", app.Text, func(b breakItem) string { return b.Kind }),
		text("key", app.ID, func(b breakItem) string { return b.Key }),
		{Name: "status", Value: func(b breakItem) string { return b.Status }, Show: func(b breakItem) string {
			if b.Overdue {
				return b.Status + ", overdue"
			}
			return b.Status
		}},
		amount("ours", func(b breakItem) *app.Money { return b.Ours }),
		amount("theirs", func(b breakItem) *app.Money { return b.Theirs }),
		amount("difference", func(b breakItem) *app.Money { return b.Drift }),
		age("created_at", "age", now, func(b breakItem) time.Time { return b.created }),
		age("due_at", "due", now, func(b breakItem) time.Time { return b.due }),
		text("owner", app.Text, func(b breakItem) string { return b.Owner }),
		data("faults", func(b breakItem) string { return strings.Join(b.Faults, " ") }),
		data("our_rows", func(b breakItem) string { return strings.Join(b.OurIDs, " ") }),
		data("their_rows", func(b breakItem) string { return strings.Join(b.Their, " ") }),
	}
}

func reconBreaks(a *app.App) *cobra.Command {
	var batch, status string
	cmd := &cobra.Command{
		Use:   "breaks",
		Short: "lists the breaks that wait for somebody",
		Long: `Lists the breaks that are open or escalated, the one that is due first before the others; or with --batch every break of one batch
with both sides. Findings: breaks that are not resolved.`,
		Example: "  dynafin recon breaks --tenant acme\n  dynafin recon breaks --tenant acme --batch cash-1 -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			statuses := []reconcile.Status{reconcile.StatusOpen, reconcile.StatusEscalated}
			if status != "" {
				statuses = []reconcile.Status{reconcile.Status(strings.ToUpper(status))}
				if statuses[0] != reconcile.StatusOpen && statuses[0] != reconcile.StatusEscalated {
					return app.Usage("--status %q is neither open nor escalated", status)
				}
			}
			d, err := openDesk(cmd.Context(), a)
			if err != nil {
				return err
			}
			var items []breakItem
			if batch != "" {
				items, err = d.inBatch(cmd.Context(), batch)
			} else {
				items, err = d.open(cmd.Context(), statuses...)
			}
			if err != nil {
				return err
			}
			return d.print(items, "recon.breaks/v1")
		},
	}
	cmd.Flags().StringVar(&batch, "batch", "", "every break of one `BATCH`")
	cmd.Flags().StringVar(&status, "status", "", "only open, or only escalated ones")
	return cmd
}

func (d *desk) print(items []breakItem, schema string) error {
	l := app.List[breakItem]{Schema: schema, Table: d.table, Items: items, Columns: breakColumns(d.a.Now()), Empty: "no breaks"}
	open := 0
	for _, b := range items {
		if b.Status == string(reconcile.StatusResolved) {
			continue
		}
		if open++; open == 1 {
			l.Next = fmt.Sprintf("dynafin recon show --tenant %s %s %s", quoted(b.Tenant), quoted(b.Batch), quoted(b.ID))
		}
	}
	if err := app.Print(d.a, l); err != nil {
		return err
	}
	var f found
	f.add(open, "break is not resolved", "breaks are not resolved")
	return f.err()
}

func reconShow(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "show BATCH BREAK",
		Short:   "shows one break: both sides, their difference, and what people did",
		Example: "  dynafin recon show --tenant acme cash-1 5f0c2d",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			tenant, err := a.Tenant()
			if err != nil {
				return err
			}
			d, err := openDesk(cmd.Context(), a)
			if err != nil {
				return err
			}
			b, err := d.Break(cmd.Context(), tenant, args[0], args[1])
			if err != nil {
				return err
			}
			return d.show(b)
		},
	}
}

func (d *desk) show(b reconcile.Break) error {
	item, now := d.item(b), d.a.Now()
	side := func(s reconcile.SideRows) string {
		if s.Rows == 0 {
			return "nothing"
		}
		text := plural(s.Rows, "row", "rows") + " (" + strings.Join(s.IDs, ", ") + ")"
		if s.Sum != (money.Amount{}) {
			text = s.Sum.String() + " in " + text
		}
		return text
	}
	difference := ""
	if item.Drift != nil {
		difference = item.Drift.Text
	}
	word := ""
	if item.Overdue {
		word = ", overdue"
	}
	l := app.List[breakItem]{Schema: "recon.show/v1", Table: d.table, Items: []breakItem{item}}
	for _, c := range breakColumns(now) {
		c.Data = true
		l.Columns = append(l.Columns, c)
	}
	l.Head = fields(
		field{"break", b.ID}, field{"batch", b.Batch}, field{"tenant", b.Tenant}, field{"kind", string(b.Kind)}, field{"key", b.Key},
		field{"status", string(b.Status) + word}, field{"ours", side(b.Left)}, field{"theirs", side(b.Right)}, field{"difference", difference},
		field{"faults", strings.Join(b.Faults, ", ")}, field{"owner", b.Owner}, field{"due", at(now, b.Due)}, field{"created", at(now, b.Created)},
	)
	for _, n := range item.Changes {
		l.Head = append(l.Head, app.Printable(fmt.Sprintf("note  %s  %s by %s: %s", n.At, n.Step, n.By, n.Reason)))
	}
	if b.Status != reconcile.StatusResolved {
		l.Next = fmt.Sprintf("dynafin recon accept --tenant %s --batch %s --id %s --dry-run", quoted(b.Tenant), quoted(b.Batch), quoted(b.ID))
	}
	return app.Print(d.a, l)
}

func reconExport(a *app.App) *cobra.Command {
	batch := ""
	cmd := &cobra.Command{
		Use:   "export",
		Short: "gives every break of a batch with all it has, resolved ones too",
		Long: `Gives every break of a batch with both sides, faults and what people did, for another tool: use -o csv, jsonl or json. Unlike breaks it
ends well if some are open.`,
		Example: "  dynafin recon export --tenant acme --batch cash-1 -o csv",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if batch == "" {
				return app.Usage("which batch? name it with --batch")
			}
			d, err := openDesk(cmd.Context(), a)
			if err != nil {
				return err
			}
			items, err := d.inBatch(cmd.Context(), batch)
			if err != nil {
				return err
			}
			return app.Print(a, app.List[breakItem]{Schema: "recon.export/v1", Table: d.table, Items: items, Columns: breakColumns(a.Now()), Empty: "no breaks"})
		},
	}
	cmd.Flags().StringVar(&batch, "batch", "", "`BATCH` to export")
	return cmd
}
