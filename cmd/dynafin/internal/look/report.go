package look

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/page"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
)

// Report is the command that writes a page about a deployment.
func Report(a *app.App) *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use: "report", Short: "writes a page about everything to one HTML file",
		Long: `Writes what dynafin status, outbox groups, projection gaps, recon breaks and ledger trial-balance show to one HTML file that stands alone: no
script, no request to anywhere. It reads by keys only. Findings: those of status.`,
		Example: "  dynafin --config brokerage.json report --out today.html",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return app.Usage("where to? name a file with --out")
			}
			p, findings, err := report(cmd.Context(), a)
			if err != nil {
				return err
			}
			if err := os.WriteFile(out, p.HTML(), 0o644); err != nil {
				return err
			}
			a.Hint("wrote %s", out)
			return findings
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write")
	return cmd
}

// report gathers the page. findings is what the command ends with.
func report(ctx context.Context, a *app.App) (p page.Page, findings, err error) {
	d, err := a.Deployment()
	if err != nil {
		return p, nil, err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return p, nil, err
	}
	areas := allAreas(ctx, a, d)
	overview := page.Table{Title: "Overview", Empty: "the deployment has no parts"}
	var f found
	var failed []error
	for _, c := range areaColumns(a.Now()) {
		overview.Columns = append(overview.Columns, page.Column{Name: first(c.Title, c.Name), Right: c.Kind == app.Number})
	}
	for _, r := range areas {
		overview.Rows = append(overview.Rows, cells(areaColumns(a.Now()), r))
		f.add(r.Stuck, r.one, r.many)
		if r.err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Area, r.err))
		}
	}
	p.Tables = append(p.Tables, overview)
	for _, more := range []func(context.Context, *app.App) (page.Table, bool, error){reportGroups, reportGaps, reportBreaks, reportBooks} {
		table, there, err := more(ctx, a)
		switch {
		case err != nil:
			failed = append(failed, err)
		case there:
			p.Tables = append(p.Tables, table)
		}
	}
	p.Title, p.Verdict, p.OK = first(d.Name, "dynafin"), "nothing is stuck", true
	if err := f.err(); err != nil {
		p.Verdict, p.OK, findings = err.Error(), false, err
	}
	if len(failed) > 0 {
		p.Verdict, p.OK, findings = "not everything could be read: "+errors.Join(failed...).Error(), false, errors.Join(failed...)
	}
	p.Note = fmt.Sprintf("%s, as of %s, read %s", store.Region, app.Stamp(a.Now()), store.Meter)
	return p, findings, nil
}

// tableOf lays out a list as the command that shows it does.
func tableOf[T any](title, empty string, columns []app.Column[T], items []T) page.Table {
	t := page.Table{Title: title, Empty: empty}
	for _, c := range columns {
		if !c.Data {
			t.Columns = append(t.Columns, page.Column{Name: first(c.Title, c.Name), Right: c.Kind == app.Number})
		}
	}
	for _, item := range items {
		t.Rows = append(t.Rows, cells(columns, item))
	}
	return t
}

func cells[T any](columns []app.Column[T], item T) (row []string) {
	for _, c := range columns {
		switch {
		case c.Data:
		case c.Show != nil:
			row = append(row, c.Show(item))
		default:
			row = append(row, c.Value(item))
		}
	}
	return row
}

func reportGroups(ctx context.Context, a *app.App) (t page.Table, there bool, err error) {
	e := &events{a: a}
	if d, err := a.Deployment(); err != nil || len(d.Outbox) == 0 {
		return t, false, err
	}
	if err := e.open(ctx); err != nil {
		return t, false, err
	}
	groups, _, err := e.groups(ctx, &faults{a: a})
	return tableOf("Parked events by cause", "no event is parked", groupColumns(a.Now()), groups), true, unless(err, outbox.ErrCorrupt)
}

// unless drops an error that is about one record: it is told and counted elsewhere.
func unless(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}

func reportGaps(ctx context.Context, a *app.App) (t page.Table, there bool, err error) {
	if d, err := a.Deployment(); err != nil || len(d.Projections) == 0 {
		return t, false, err
	}
	all, err := views(ctx, a, nil)
	if err != nil {
		return t, false, err
	}
	var gaps []gapItem
	for _, v := range all {
		_, more, err := viewStatus(ctx, v, &faults{a: a})
		if unless(err, projection.ErrCorrupt) != nil {
			return t, false, err
		}
		gaps = append(gaps, more...)
	}
	return tableOf("Gaps", "no projection waits", gapColumns(a.Now()), gaps), true, nil
}

func reportBreaks(ctx context.Context, a *app.App) (t page.Table, there bool, err error) {
	if d, err := a.Deployment(); err != nil || d.Reconcile == nil || len(d.Tenants) == 0 {
		return t, false, err
	}
	desk, err := openDesk(ctx, a)
	if err != nil {
		return t, false, err
	}
	items, err := desk.open(ctx, reconcile.StatusOpen, reconcile.StatusEscalated)
	return tableOf("Breaks", "no break is open", breakColumns(a.Now()), items), true, err
}

func reportBooks(ctx context.Context, a *app.App) (t page.Table, there bool, err error) {
	d, err := a.Deployment()
	if err != nil || d.Ledger == nil || len(d.Ledger.Accounts) == 0 || len(d.Tenants) != 1 {
		return t, false, err
	}
	b, err := openBooks(ctx, a)
	if err != nil {
		return t, false, err
	}
	tb, _, err := b.trial(ctx, nil, true)
	if err != nil {
		return t, false, err
	}
	t = tableOf("Trial balance", "no accounts", trialColumns(), trialRows(tb))
	t.Rows = append(t.Rows, []string{"sum", "", "", sumsText(tb.Sums)})
	return t, true, nil
}
