package mend

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
)

// AuditVerbs are the commands that show what was changed.
func AuditVerbs(a *app.App) []*cobra.Command {
	month, run := "", ""
	cmd := &cobra.Command{
		Use: "ls", Short: "lists the runs of a month, the newest first, or the changes of one run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.Store(cmd.Context())
			if err != nil {
				return err
			}
			j, err := journal(a, store)
			if err != nil {
				return err
			}
			if run != "" {
				return listChanges(cmd, a, j, run)
			}
			at := a.Now()
			if month != "" {
				if at, err = time.Parse("2006-01", month); err != nil {
					return app.Usage("--month %q is no month such as 2026-11", month)
				}
			}
			return listRuns(cmd, a, j, at)
		},
	}
	cmd.Flags().StringVar(&month, "month", "", "`MONTH`, for example 2026-11 (default: this one)")
	cmd.Flags().StringVar(&run, "run", "", "the changes of this `RUN`")
	return []*cobra.Command{cmd}
}

type runLine struct {
	Run       string            `json:"run"`
	Command   string            `json:"command"`
	IDs       []string          `json:"ids,omitempty"`
	Where     []string          `json:"where,omitempty"`
	Args      map[string]string `json:"args,omitempty"`
	By        string            `json:"by"`
	Reason    string            `json:"reason"`
	PlannedAt string            `json:"planned_at"`
	Planned   int               `json:"planned"`
	State     string            `json:"state"`
	Changed   *int              `json:"changed,omitempty"`
	Skipped   *int              `json:"skipped,omitempty"`
}

func listRuns(cmd *cobra.Command, a *app.App, j change.Journal, month time.Time) error {
	list := app.List[runLine]{Schema: "audit.runs/v1", Table: j.Table.Name, Empty: "nothing was changed in " + month.UTC().Format("2006-01"),
		Columns: []app.Column[runLine]{
			{Name: "run", Value: func(r runLine) string { return r.Run }},
			{Name: "command", Value: func(r runLine) string { return r.Command }},
			{Name: "selection", Value: func(r runLine) string {
				return cmp.Or(strings.Join(r.Where, " and "), strings.Join(r.IDs, " "))
			}},
			{Name: "by", Value: func(r runLine) string { return r.By }},
			{Name: "state", Value: func(r runLine) string { return r.State }},
			{Name: "planned", Kind: app.Number, Value: func(r runLine) string { return strconv.Itoa(r.Planned) }},
			{Name: "changed", Kind: app.Number, Value: func(r runLine) string { return count(r.Changed) }},
			{Name: "reason", Value: func(r runLine) string { return r.Reason }},
		}}
	open := ""
	for r, err := range j.Runs(cmd.Context(), month) {
		if err != nil {
			return err
		}
		line := runLine{Run: r.ID, Command: r.Command, IDs: r.Selection.IDs, Where: r.Selection.Where, Args: r.Selection.Args, By: r.By, Reason: r.Reason,
			PlannedAt: app.Stamp(r.Selection.AsOf), Planned: r.Planned, State: "OPEN"}
		if !r.Ended.IsZero() {
			line.State, line.Changed, line.Skipped = "DONE", &r.Changed, &r.Skipped
		} else if open == "" {
			open = "dynafin " + r.Command + " --resume " + r.ID
		}
		list.Items = append(list.Items, line)
	}
	if list.Next = open; open == "" && len(list.Items) > 0 {
		list.Next = "dynafin audit ls --run " + list.Items[0].Run
	}
	return app.Print(a, list)
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

type changeLine struct {
	Run     string `json:"run"`
	Item    string `json:"item"`
	Command string `json:"command"`
	At      string `json:"at"`
	By      string `json:"by"`
	Reason  string `json:"reason"`
	Before  string `json:"before"`
}

func listChanges(cmd *cobra.Command, a *app.App, j change.Journal, run string) error {
	list := app.List[changeLine]{Schema: "audit.changes/v1", Table: j.Table.Name, Empty: "run " + run + " has changed nothing", Next: "dynafin audit ls",
		Columns: []app.Column[changeLine]{
			{Name: "item", Kind: app.ID, Value: func(c changeLine) string { return c.Item }},
			{Name: "command", Value: func(c changeLine) string { return c.Command }},
			{Name: "at", Value: func(c changeLine) string { return c.At }},
			{Name: "by", Value: func(c changeLine) string { return c.By }},
			{Name: "reason", Value: func(c changeLine) string { return c.Reason }},
			{Name: "before", Value: func(c changeLine) string { return c.Before }},
		}}
	if _, err := j.Header(cmd.Context(), run); err != nil {
		return err
	}
	for e, err := range j.Entries(cmd.Context(), run) {
		if err != nil {
			return err
		}
		list.Items = append(list.Items, changeLine{Run: e.Run, Item: e.Item, Command: e.Command, At: app.Stamp(e.At), By: e.By, Reason: e.Reason, Before: e.Before})
	}
	return app.Print(a, list)
}
