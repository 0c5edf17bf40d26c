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
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/projection"
)

// Projection returns the verbs that read projections.
func Projection(a *app.App) []*cobra.Command {
	return []*cobra.Command{projectionStatus(a), projectionGaps(a)}
}

type viewItem struct {
	Projection string `json:"projection"`
	Namespace  int    `json:"namespace"`
	Previous   int    `json:"previous,omitempty"`
	State      string `json:"state"`
	Build      string `json:"build,omitempty"`
	Sources    int    `json:"sources"`
	Events     string `json:"events"`
	Skipped    string `json:"skipped"`
	Gaps       int    `json:"gaps"`
	Parked     string `json:"parked"`
	Oldest     string `json:"oldest_gap_since,omitempty"`
	Updated    string `json:"updated_at,omitempty"`

	oldest, updated time.Time
}

// viewStatus reads what readers use: its checkpoints, and the gaps at which sources wait.
func viewStatus(ctx context.Context, v deployment.View, bad *faults) (item viewItem, gaps []gapItem, err error) {
	alias, err := v.Alias(ctx)
	if err != nil {
		return item, nil, err
	}
	item = viewItem{Projection: v.Name, Namespace: alias.Namespace, Previous: alias.Previous, State: "CURRENT"}
	ns := v.Namespace(alias.Namespace)
	switch build, err := ns.Build(ctx); {
	case err == nil:
		item.Build = string(build.State)
	case !errors.Is(err, projection.ErrState): // the first namespace usually has no build
		return item, nil, err
	}
	var events, skipped, parked int64
	for c, err := range ns.Checkpoints(ctx) {
		if err != nil {
			if err := bad.skip(err, projection.ErrCorrupt); err != nil {
				return item, nil, err
			}
			continue
		}
		item.Sources++
		events, skipped = events+c.Events, skipped+c.Skipped
		if c.UpdatedAt.After(item.updated) {
			item.updated = c.UpdatedAt
		}
	}
	for g, err := range ns.Gaps(ctx) {
		if err != nil {
			if err := bad.skip(err, projection.ErrCorrupt); err != nil {
				return item, nil, err
			}
			continue
		}
		item.State = "WAITS AT A GAP"
		item.Gaps++
		parked += g.Parked
		item.oldest = oldest(item.oldest, g.Since)
		gaps = append(gaps, gapItem{Projection: v.Name, Namespace: alias.Namespace, Source: g.Source, Missing: strconv.FormatInt(g.Missing, 10),
			Parked: strconv.FormatInt(g.Parked, 10), Highest: strconv.FormatInt(g.Highest, 10), Since: app.Stamp(g.Since), since: g.Since})
	}
	item.Events, item.Skipped, item.Parked = strconv.FormatInt(events, 10), strconv.FormatInt(skipped, 10), strconv.FormatInt(parked, 10)
	item.Oldest, item.Updated = app.Stamp(item.oldest), app.Stamp(item.updated)
	slices.SortFunc(gaps, func(x, y gapItem) int { return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.Source, y.Source)) })
	return item, gaps, nil
}

type gapItem struct {
	Projection string `json:"projection"`
	Namespace  int    `json:"namespace"`
	Source     string `json:"source"`
	Missing    string `json:"missing_version"`
	Parked     string `json:"parked"`
	Highest    string `json:"highest_version"`
	Since      string `json:"since"`

	since time.Time
}

// views opens the projections that a command is about.
func views(ctx context.Context, a *app.App, names []string) ([]deployment.View, error) {
	d, err := a.Deployment()
	if err != nil {
		return nil, err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := d.Views(store, names...)
	if err != nil {
		return nil, app.Usage("%v", err)
	}
	return all, nil
}

func projectionStatus(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status [NAME...]",
		Short: "says how far projections are, and whether one waits at a gap",
		Long: `Says of each projection which namespace readers use, how many sources and events it has, and whether sources wait at a gap: a version
that did not come, behind which others are parked. Findings: gaps.`,
		Example: "  dynafin projection status",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := views(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			bad := &faults{a: a}
			now := a.Now()
			l := app.List[viewItem]{Schema: "projection.status/v1"}
			waiting := 0
			for _, v := range all {
				item, _, err := viewStatus(cmd.Context(), v, bad)
				if err != nil {
					return err
				}
				l.Items = append(l.Items, item)
				waiting += item.Gaps
			}
			l.Columns = []app.Column[viewItem]{
				{Name: "projection", Value: func(v viewItem) string { return v.Projection }},
				number("namespace", func(v viewItem) int { return v.Namespace }),
				{Name: "state", Value: func(v viewItem) string { return v.State }},
				{Name: "build", Value: func(v viewItem) string { return v.Build }},
				number("sources", func(v viewItem) int { return v.Sources }),
				{Name: "events", Kind: app.Number, Value: func(v viewItem) string { return v.Events }},
				number("gaps", func(v viewItem) int { return v.Gaps }),
				{Name: "parked", Kind: app.Number, Value: func(v viewItem) string { return v.Parked }},
				age("oldest_gap_since", "oldest gap", now, func(v viewItem) time.Time { return v.oldest }),
				age("updated_at", "updated", now, func(v viewItem) time.Time { return v.updated }),
			}
			if waiting > 0 {
				l.Next = "dynafin projection gaps"
			}
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(waiting, "gap", "gaps")
			f.add(bad.n, "unreadable record", "unreadable records")
			return f.err()
		},
	}
}

func projectionGaps(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "gaps [NAME...]",
		Short: "lists the sources that wait for a version that did not come",
		Long: `Lists the sources that wait for a version that did not come, the one that waits for longest first. The missing event is to be found at
its producer: publish it again. If it never was, an operator passes over it. Findings: gaps.`,
		Example: "  dynafin projection gaps positions",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := views(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			bad := &faults{a: a}
			l := app.List[gapItem]{Schema: "projection.gaps/v1", Empty: "no gaps"}
			for _, v := range all {
				_, gaps, err := viewStatus(cmd.Context(), v, bad)
				if err != nil {
					return err
				}
				l.Items = append(l.Items, gaps...)
			}
			l.Columns = gapColumns(a.Now())
			if len(l.Items) > 0 {
				g := l.Items[0]
				l.Next = fmt.Sprintf("dynafin projection resume --projection %s --source %s --dry-run", quoted(g.Projection), quoted(g.Source))
			}
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(len(l.Items), "gap", "gaps")
			f.add(bad.n, "unreadable record", "unreadable records")
			return f.err()
		},
	}
}

func gapColumns(now time.Time) []app.Column[gapItem] {
	return []app.Column[gapItem]{
		{Name: "projection", Value: func(g gapItem) string { return g.Projection }},
		{Name: "namespace", Kind: app.Number, Value: func(g gapItem) string { return strconv.Itoa(g.Namespace) }},
		{Name: "source", Kind: app.ID, Value: func(g gapItem) string { return g.Source }},
		{Name: "missing_version", Title: "missing", Kind: app.Number, Value: func(g gapItem) string { return g.Missing }},
		{Name: "parked", Kind: app.Number, Value: func(g gapItem) string { return g.Parked }},
		{Name: "highest_version", Title: "highest", Kind: app.Number, Value: func(g gapItem) string { return g.Highest }},
		age("since", "", now, func(g gapItem) time.Time { return g.since }),
	}
}
