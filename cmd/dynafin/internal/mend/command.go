package mend

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/txn"
)

// frame is what commands that change data have in common: the flags, and the way from an operation to its report.
type frame struct {
	a           *app.App
	ids, where  []string
	group       string
	reason, by  string
	yes, dryRun bool
	maxWCU      int
	resume      string
	// next is the command to look at next.
	next string
}

// changing makes a command that changes data. It has the flags of all of them; make makes the operation when it runs.
func changing(a *app.App, use, short, next string, make func(ctx context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error)) (*cobra.Command, *frame) {
	f := &frame{a: a, next: next}
	cmd := &cobra.Command{
		Use: use, Short: short + " (changes data)", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.Store(cmd.Context())
			if err != nil {
				return err
			}
			f.ids = append(f.ids, args...)
			op, with, err := make(cmd.Context(), f, store)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), op, store, with)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.ids, "id", nil, "`ID` of what to change; repeatable, and may be given as an argument")
	flags.StringArrayVar(&f.where, "where", nil, "`FIELD=VALUE`: change all that match, with = != ~ < > <= >=; repeatable, all must hold")
	flags.StringVar(&f.reason, "reason", "", "why; required where more than one item changes")
	flags.StringVar(&f.by, "by", "", "who decides so (default: $DYNAFIN_BY, else $USER)")
	flags.BoolVar(&f.yes, "yes", false, "do it without asking")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print every write that would be made, and make none")
	flags.IntVar(&f.maxWCU, "max-wcu", change.MaxUnits, "write units a second, at most")
	flags.StringVar(&f.resume, "resume", "", "go on with this `RUN`, as it was planned")
	return cmd, f
}

// flagsOf are the flags of a command that are set, for the arguments of its run.
func flagsOf(cmd *cobra.Command, names ...string) map[string]string {
	with := map[string]string{}
	for _, name := range names {
		if value, err := cmd.Flags().GetString(name); err == nil && value != "" {
			with[name] = value
		}
	}
	return with
}

// journal is where audit items are.
func journal(a *app.App, client change.Client) (change.Journal, error) {
	d, err := a.Deployment()
	if err != nil {
		return change.Journal{}, err
	}
	if d.Audit == nil {
		return change.Journal{}, app.Usage("where are audit items kept? say so in the deployment file, or with --table audit=TABLE")
	}
	return change.Journal{Client: client, Table: txn.Table{Name: d.Audit.Table, PK: d.Audit.PK, SK: d.Audit.SK}}, nil
}

// run applies the operation and prints what it did.
func (f *frame) run(ctx context.Context, op change.Operation, store *app.Store, with map[string]string) error {
	j, err := journal(f.a, store)
	if err != nil {
		return err
	}
	by := cmp.Or(f.by, f.a.Getenv("DYNAFIN_BY"), f.a.Getenv("USER"))
	if by == "" {
		return app.Usage("who are you? say so with --by, or in $DYNAFIN_BY")
	}
	if f.group != "" {
		f.where = append(f.where, "group="+f.group)
	}
	report, err := change.Apply(ctx, op, change.Selection{IDs: f.ids, Where: f.where, Args: with}, change.Settings{
		Journal: j, Now: f.a.Now, Clock: f.a.Env.Now, Sleep: f.a.Sleep, NewID: f.a.NewID,
		By: by, Reason: f.reason, Yes: f.yes, Ask: f.ask(), DryRun: f.dryRun, MaxUnits: f.maxWCU, Resume: f.resume, Say: f.a.Hint,
	})
	if report != nil && (len(report.Changes) > 0 || err == nil) {
		if printErr := f.print(op, report, j.Table.Name); printErr != nil {
			return printErr
		}
	}
	var interrupted *change.InterruptedError
	if errors.As(err, &interrupted) {
		interrupted.Command = strings.TrimPrefix(f.a.Where("dynafin "+interrupted.Command), "dynafin ")
	}
	if err == nil && report.Planned == 0 && report.Before == 0 {
		return fmt.Errorf("%s matched, and nothing changes", op.Count(report.Matched))
	}
	return err
}

// ask gets an answer from a person; there is nobody if stdin is no terminal.
func (f *frame) ask() func(string) (string, error) {
	if !f.a.InTerminal {
		return nil
	}
	return func(question string) (string, error) {
		fmt.Fprint(f.a.Stderr, question)
		answer, err := bufio.NewReader(f.a.Stdin).ReadString('\n')
		if answer != "" {
			err = nil
		}
		return answer, err
	}
}

// outcome is what became of one item, in JSON.
type outcome struct {
	Item   string `json:"item"`
	Result string `json:"result"`
	Was    string `json:"was,omitempty"`
	Is     string `json:"is,omitempty"`
	Reason string `json:"reason,omitempty"`
	Audit  string `json:"audit,omitempty"`
}

// write is one write of a dry run, in JSON.
type write struct {
	Item       string      `json:"item"`
	Action     string      `json:"action"`
	Table      string      `json:"table"`
	Key        string      `json:"key"`
	WCU        string      `json:"wcu"`
	Attributes []attribute `json:"attributes"`
}

type attribute struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func (f *frame) print(op change.Operation, report *change.Report, table string) error {
	if report.DryRun {
		return f.printWrites(op, report)
	}
	list := app.List[outcome]{Schema: "change/v1", Table: table, Next: f.next, Columns: []app.Column[outcome]{
		{Name: "item", Kind: app.ID, Value: func(o outcome) string { return o.Item }},
		{Name: "result", Value: func(o outcome) string { return o.Result }},
		{Name: "was", Value: func(o outcome) string { return o.Was }},
		{Name: "is", Value: func(o outcome) string { return o.Is }},
		{Name: "reason", Value: func(o outcome) string { return o.Reason }},
		{Name: "audit", Data: true, Value: func(o outcome) string { return o.Audit }},
	}}
	for _, c := range report.Changes {
		list.Items = append(list.Items, outcome{Item: c.Item, Result: op.Done, Was: c.Was, Is: c.Is, Audit: report.Run})
	}
	for _, reason := range slices.Sorted(maps.Keys(report.Skipped)) {
		for _, item := range report.Skipped[reason] {
			list.Items = append(list.Items, outcome{Item: item.ID, Result: "skipped", Was: item.Is, Reason: reason})
		}
	}
	before := ""
	if report.Before > 0 {
		before = fmt.Sprintf("   %s before %d", op.Done, report.Before)
	}
	audit := ""
	if report.Planned > 0 || report.Before > 0 {
		audit = "   audit " + report.Run
	}
	list.Foot = []string{fmt.Sprintf("%s %d%s   skipped %d   write units %s%s",
		op.Done, len(report.Changes), before, report.SkippedCount(), report.Spent, audit)}
	if more := len(list.Items) - rowsMax; more > 0 && !f.a.Machine() {
		list.Items = list.Items[:rowsMax]
		list.Foot = append([]string{fmt.Sprintf("and %d more: -o jsonl has all of them, and so has dynafin audit ls --run %s", more, report.Run)}, list.Foot...)
	}
	return app.Print(f.a, list)
}

// rowsMax is how many items a table of changes shows. The others are counted.
const rowsMax = 50

func (f *frame) printWrites(op change.Operation, report *change.Report) error {
	list := app.List[write]{Schema: "change.plan/v1", Columns: []app.Column[write]{
		{Name: "item", Kind: app.ID, Value: func(w write) string { return w.Item }},
		{Name: "action", Value: func(w write) string { return w.Action }},
		{Name: "table", Value: func(w write) string { return w.Table }},
		{Name: "key", Value: func(w write) string { return w.Key }},
		{Name: "wcu", Kind: app.Number, Value: func(w write) string { return w.WCU }},
		{Name: "attributes", Value: func(w write) string {
			var all []string
			for _, a := range w.Attributes {
				all = append(all, a.Name+": "+a.Before+" > "+a.After)
			}
			return strings.Join(all, "; ")
		}},
	}}
	for _, p := range report.Writes {
		for _, w := range p.Writes {
			shown := write{Item: p.Item, Action: w.Action, Table: w.Table, Key: w.Key, WCU: strconv.Itoa(w.Units), Attributes: []attribute{}}
			for _, a := range w.Attributes {
				shown.Attributes = append(shown.Attributes, attribute(a))
			}
			list.Items = append(list.Items, shown)
		}
		if p.Index > 0 {
			list.Items = append(list.Items, write{Item: p.Item, Action: "INDEX", WCU: p.Index.String(), Attributes: []attribute{}})
		}
	}
	list.Foot = []string{fmt.Sprintf("plan: %s, %s write units, at most %d a second; nothing was written", op.Count(report.Planned), report.Units, f.maxWCU)}
	for _, reason := range slices.Sorted(maps.Keys(report.Skipped)) {
		list.Foot = append(list.Foot, fmt.Sprintf("skip: %d, %s", len(report.Skipped[reason]), reason))
	}
	return app.Print(f.a, list)
}
