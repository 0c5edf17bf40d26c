package look

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
)

// area is a line of the one screen for everything.
type area struct {
	Area    string `json:"area"`
	State   string `json:"state"`
	Waiting int    `json:"waiting"`
	Stuck   int    `json:"stuck"`
	Oldest  string `json:"oldest_at,omitempty"`
	Note    string `json:"note,omitempty"`

	oldest time.Time
	// next is the command that helps, one and many name what is stuck.
	next, one, many string
	err             error
}

const statusHelp = `One screen for everything that the deployment has: what waits, what is stuck, since when, and where to look. Stuck is derived from leases,
attempts and ages, never taken from a stored state: a request whose lease has ended is stuck, whatever its record says; so is a break whose
due time has passed, a source behind a gap, an event that was parked. It reads by keys only. An area that cannot be read does not hide the
others. Findings: anything stuck, or books that do not balance.`

// Status is the command that shows everything on one screen.
func Status(a *app.App) *cobra.Command {
	var watch time.Duration
	var looks int
	cmd := &cobra.Command{
		Use: "status", Short: "shows everything on one screen: what waits, what is stuck, since when", Long: statusHelp,
		Example: "  dynafin --config brokerage.json status\n  dynafin --config brokerage.json status --watch 5s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch < 0 || looks < 1 {
				return app.Usage("--watch and --looks must be above zero")
			}
			if watch == 0 {
				looks = 1
			}
			var err error
			for i := range looks {
				if i > 0 {
					if a.Sleep(cmd.Context(), watch) != nil {
						return err // somebody has seen enough
					}
				}
				var findings *app.FindingsError
				if err = status(cmd.Context(), a); err != nil && !errors.As(err, &findings) {
					return err
				}
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&watch, "watch", 0, "look again and again, with so much time between")
	cmd.Flags().IntVar(&looks, "looks", math.MaxInt32, "stop watching after so many looks")
	return cmd
}

func status(ctx context.Context, a *app.App) error {
	d, err := a.Deployment()
	if err != nil {
		return err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return err
	}
	areas := allAreas(ctx, a, d)
	if len(areas) == 0 {
		return app.Usage("%v", d.Missing("PART"))
	}
	l := app.List[area]{Schema: "status/v1", Table: d.Name, Items: areas, Columns: areaColumns(a.Now())}
	l.Head = []string{strings.TrimSpace(fmt.Sprintf("%s  %s  as of %s  (read %s)", d.Name, store.Region, app.Stamp(a.Now()), store.Meter))}
	var f found
	var failed []error
	for _, r := range areas {
		if r.err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Area, r.err))
		}
		if r.Stuck > 0 && l.Next == "" {
			l.Next = r.next
		}
		f.add(r.Stuck, r.one, r.many)
	}
	if err := app.Print(a, l); err != nil {
		return err
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	return f.err()
}

func areaColumns(now time.Time) []app.Column[area] {
	return []app.Column[area]{
		{Name: "area", Value: func(r area) string { return r.Area }},
		{Name: "state", Value: func(r area) string { return r.State }},
		number("waiting", func(r area) int { return r.Waiting }),
		number("stuck", func(r area) int { return r.Stuck }),
		age("oldest_at", "oldest", now, func(r area) time.Time { return r.oldest }),
		{Name: "note", Value: func(r area) string { return r.Note }},
	}
}

// allAreas looks at every part of the deployment.
func allAreas(ctx context.Context, a *app.App, d *deployment.Deployment) (areas []area) {
	look := func(there bool, name string, at func() (area, error)) {
		if !there {
			return
		}
		r, err := at()
		r.Area, r.Oldest = name, app.Stamp(r.oldest)
		switch {
		case err != nil:
			r.State, r.Note, r.err = "UNKNOWN", "cannot be read: "+firstLine(err), err
		case r.State != "":
		case r.Stuck > 0:
			r.State = "STUCK"
		default:
			r.State = "OK"
		}
		areas = append(areas, r)
	}
	look(d.Requests != nil, "requests", func() (area, error) { return requestArea(ctx, a, d) })
	for _, o := range d.Outbox {
		look(true, "outbox "+o.Service, func() (area, error) { return outboxArea(ctx, a, o.Service) })
	}
	for _, p := range d.Projections {
		look(true, "projection "+p.Name, func() (area, error) { return viewArea(ctx, a, p.Name) })
	}
	look(d.Reconcile != nil, "recon", func() (area, error) { return breakArea(ctx, a, d) })
	look(d.Ledger != nil, "books", func() (area, error) { return bookArea(ctx, a, d) })
	return areas
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func requestArea(ctx context.Context, a *app.App, d *deployment.Deployment) (r area, err error) {
	r = area{next: "dynafin requests ls", one: "request", many: "requests"}
	if len(d.Tenants) == 0 {
		r.State, r.Note = "NOT LOOKED AT", "name tenants: --tenant"
		return r, nil
	}
	requests, err := d.RequestStore()
	if err != nil {
		return r, err
	}
	bad := &faults{a: a}
	items, err := requestsFound(ctx, a, requests, d.Tenants, bad)
	if err != nil {
		return r, err
	}
	notes := map[string]int{}
	for _, item := range items {
		r.Stuck++
		r.oldest = oldest(r.oldest, item.since)
		notes[item.State]++
	}
	if r.Stuck += bad.n; r.Stuck > 0 {
		r.Note = counts(notes, map[string]string{"IN_PROGRESS": "lease ended", "REPAIR_REQUIRED": "in repair", "ESCALATED": "escalated"}, bad.n)
	}
	return r, nil
}

// counts writes how many there are of each kind, in the order of the names.
func counts(n map[string]int, words map[string]string, unreadable int) string {
	var all []string
	for _, kind := range sorted(n) {
		word := words[kind]
		all = append(all, fmt.Sprintf("%s %s", app.Count(n[kind]), first(word, strings.ToLower(kind))))
	}
	if unreadable > 0 {
		all = append(all, app.Count(unreadable)+" unreadable")
	}
	return strings.Join(all, ", ")
}

func outboxArea(ctx context.Context, a *app.App, service string) (r area, err error) {
	r = area{next: "dynafin outbox groups", one: "event", many: "events"}
	e := &events{a: a, names: []string{service}}
	if err := e.open(ctx); err != nil {
		return r, err
	}
	bad := &faults{a: a}
	stat, err := e.stats(ctx, e.services[0], bad)
	if err != nil {
		return r, err
	}
	r.Waiting, r.Stuck = stat.Waiting+stat.Scheduled, stat.Stuck+stat.Parked+bad.n
	if stat.Parked == 0 && stat.Stuck > 0 {
		r.next = "dynafin outbox ls --state stuck"
	}
	r.oldest = oldest(stat.parked, stat.stuck)
	if r.Stuck == 0 {
		r.oldest = stat.due
	}
	n := map[string]int{}
	for word, count := range map[string]int{"parked": stat.Parked, "lease ended": stat.Stuck, "due later": stat.Scheduled} {
		if count > 0 {
			n[word] = count
		}
	}
	r.Note = counts(n, nil, bad.n)
	return r, nil
}

func viewArea(ctx context.Context, a *app.App, name string) (r area, err error) {
	r = area{next: "dynafin projection gaps", one: "gap", many: "gaps"}
	all, err := views(ctx, a, []string{name})
	if err != nil {
		return r, err
	}
	bad := &faults{a: a}
	item, gaps, err := viewStatus(ctx, all[0], bad)
	if err != nil {
		return r, err
	}
	r.Stuck, r.oldest = item.Gaps+bad.n, item.oldest
	if len(gaps) > 0 {
		g := gaps[0]
		r.Note = fmt.Sprintf("%s waits for version %s, %s parked behind", g.Source, g.Missing, g.Parked)
	} else {
		r.Note = fmt.Sprintf("%s sources, namespace %d", app.Count(item.Sources), item.Namespace)
	}
	return r, nil
}

func breakArea(ctx context.Context, a *app.App, d *deployment.Deployment) (r area, err error) {
	r = area{next: "dynafin recon breaks", one: "break", many: "breaks"}
	if len(d.Tenants) == 0 {
		r.State, r.Note = "NOT LOOKED AT", "name tenants: --tenant"
		return r, nil
	}
	desk, err := openDesk(ctx, a)
	if err != nil {
		return r, err
	}
	items, err := desk.open(ctx, reconcile.StatusOpen, reconcile.StatusEscalated)
	if err != nil {
		return r, err
	}
	var sums []money.Amount
	for _, b := range items {
		if b.Overdue || b.Status == string(reconcile.StatusEscalated) {
			r.Stuck++
		} else {
			r.Waiting++
		}
		r.oldest = oldest(r.oldest, b.created)
		sums = addTo(sums, b.drift)
	}
	if len(items) > 0 {
		r.Note = fmt.Sprintf("%s, differences %s", plural(len(items), "break", "breaks"), sumsText(sums))
	}
	return r, nil
}

// addTo adds an amount, without its sign, to the sum of its currency.
func addTo(sums []money.Amount, amount money.Amount) []money.Amount {
	if amount == (money.Amount{}) {
		return sums
	}
	for i, s := range sums {
		if s.Currency() == amount.Currency() {
			if total, err := s.Add(amount.Abs()); err == nil {
				sums[i] = total
			}
			return sums
		}
	}
	return append(sums, amount.Abs())
}

func bookArea(ctx context.Context, a *app.App, d *deployment.Deployment) (r area, err error) {
	r = area{next: "dynafin ledger verify", one: "unbalanced tenant", many: "unbalanced tenants"}
	if len(d.Ledger.Accounts) == 0 || len(d.Tenants) == 0 {
		r.State, r.Note = "NOT LOOKED AT", "list tenants and accounts in the deployment file"
		return r, nil
	}
	books, err := d.Books()
	if err != nil {
		return r, err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return r, err
	}
	var notes []string
	for _, tenant := range d.Tenants {
		tb, err := books.TrialBalanceCut(ctx, store, tenant, d.Ledger.Accounts...)
		if err != nil {
			return r, err
		}
		postings := int64(0)
		for _, row := range tb.Rows {
			postings += row.Postings
		}
		word := "balanced"
		if !tb.Balanced() {
			r.Stuck, word = r.Stuck+1, "does not balance"
		}
		notes = append(notes, fmt.Sprintf("%s %s: %s postings, sum %s", tenant, word, app.Count(int(postings)), sumsText(tb.Sums)))
	}
	r.Note = strings.Join(notes, "; ")
	return r, nil
}
