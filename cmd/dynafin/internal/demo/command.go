package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/page"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
)

// Limits of --orders.
const (
	ordersDefault = 400
	ordersMax     = 20_000
)

const help = `Runs a small brokerage on the simulator, with a network that loses requests and answers, throttles, and refuses as busy, with clients that
repeat their orders, relays that die, and a bus that refuses. Then it checks what must hold, and prints the verdict. It needs no account, no
port and no container; the same seed gives the same run. Two events are left parked, and what follows from them: look at them, and mend them,
in the database that --save writes. Findings: an invariant that does not hold.`

// Command is the command that runs the demo.
func Command(a *app.App) *cobra.Command {
	var r run
	var save, report string
	cmd := &cobra.Command{
		Use: "demo", Short: "runs a brokerage on the simulator with faults, and prints the verdict", Long: help,
		Example: "  dynafin demo --seed 42\n  dynafin demo --save demo.db --report demo.html\n  dynafin --load demo.db --config demo.db.json status",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.orders < 1 || r.orders > ordersMax {
				return app.Usage("--orders must be 1 to %d", ordersMax)
			}
			if err := r.do(cmd.Context(), a); err != nil {
				return err
			}
			if save != "" {
				if err := r.save(save); err != nil {
					return err
				}
			}
			if report != "" {
				if err := os.WriteFile(report, r.page(), 0o644); err != nil {
					return err
				}
				a.Hint("wrote %s", report)
			}
			return r.print(a, save)
		},
	}
	cmd.Flags().Uint64Var(&r.seed, "seed", 1, "seed of the run")
	cmd.Flags().IntVar(&r.orders, "orders", ordersDefault, "how many orders clients send")
	cmd.Flags().StringVar(&save, "save", "", "save the database to `FILE`, and its deployment to FILE.json")
	cmd.Flags().StringVar(&report, "report", "", "write a page about the run to `FILE`")
	return cmd
}

// run is one run of the demo, and what came out.
type run struct {
	seed   uint64
	orders int

	w          *world
	invariants []invariant
	faults     int
	stored     stored
}

func (r *run) do(ctx context.Context, a *app.App) error {
	var err error
	if r.w, err = newWorld(r.seed); err != nil {
		return err
	}
	if err := r.w.open(ctx); err != nil {
		return err
	}
	d, err := r.w.trade(ctx, r.orders, func(done int) {
		if done%1000 == 0 {
			a.Hint("%s of %s orders", app.Count(done), app.Count(r.orders))
		}
	})
	if err != nil {
		return err
	}
	poison := map[string]bool{}
	for _, i := range []int{len(d.accepted) / 3, 2 * len(d.accepted) / 3} {
		if i < len(d.accepted) {
			poison[d.accepted[i]] = true
		}
	}
	bus := &outbox.Memory{Refuse: r.w.refuse(poison)}
	if _, err := r.w.publish(ctx, bus); err != nil {
		return err
	}
	messages := bus.Messages()
	delivered, duplicates, err := r.w.consume(ctx, messages)
	if err != nil {
		return err
	}
	if r.stored, err = r.w.look(ctx); err != nil {
		return err
	}
	r.invariants = judge(d, r.stored, r.orders, messages, delivered, duplicates)
	for _, n := range r.w.faults {
		r.faults += n
	}
	return nil
}

// save writes the database and, beside it, the deployment that the other commands need.
func (r *run) save(path string) error {
	if err := r.w.db.SaveFile(path); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r.w.deploy, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", append(text, '\n'), 0o644)
}

// broken names the invariants that do not hold.
func (r *run) broken() (names []string) {
	for _, i := range r.invariants {
		if !i.Held {
			names = append(names, i.Name)
		}
	}
	return names
}

func (r *run) verdict() string {
	if broken := r.broken(); len(broken) > 0 {
		return fmt.Sprintf("broken: %s; again with: dynafin demo --seed %d --orders %d", strings.Join(broken, ", "), r.seed, r.orders)
	}
	return fmt.Sprintf("all %d invariants held over %s orders, %s injected faults, seed %d", len(r.invariants), app.Count(r.orders), app.Count(r.faults), r.seed)
}

// faultLines counts what was injected, by kind.
func (r *run) faultLines() (lines [][]string) {
	var kinds []dynamosim.Fate
	for kind := range r.w.faults {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		lines = append(lines, []string{kind.String(), app.Count(r.w.faults[kind])})
	}
	return lines
}

func (r *run) print(a *app.App, saved string) error {
	var faults []string
	for _, line := range r.faultLines() {
		faults = append(faults, line[1]+" "+line[0])
	}
	l := app.List[invariant]{Schema: "demo/v1", Table: "demo", Items: r.invariants, Head: []string{r.verdict(), "faults: " + strings.Join(faults, ", "), ""}}
	l.Columns = []app.Column[invariant]{
		{Name: "verdict", Value: func(i invariant) string {
			if i.Held {
				return "HELD"
			}
			return "BROKEN"
		}},
		{Name: "invariant", Value: func(i invariant) string { return i.Name }},
		{Name: "counts", Value: func(i invariant) string { return i.Counts }},
		{Name: "says", Data: true, Value: func(i invariant) string { return i.Says }},
	}
	l.Foot = []string{"", fmt.Sprintf("left for you: %d parked events, and %d gaps behind them", r.stored.parked, r.stored.gaps)}
	l.Next = fmt.Sprintf("dynafin demo --seed %d --orders %d --save demo.db", r.seed, r.orders)
	if saved != "" {
		l.Next = fmt.Sprintf("dynafin --load %s --config %s status", app.Quote(saved), app.Quote(saved+".json"))
	}
	if err := app.Print(a, l); err != nil {
		return err
	}
	if broken := r.broken(); len(broken) > 0 {
		return app.Findings("%s", r.verdict())
	}
	return nil
}

// page tells the run as one HTML file. Nothing in it depends on when or where it ran.
func (r *run) page() []byte {
	p := page.Page{Title: "dynafin demo", Verdict: r.verdict(), OK: len(r.broken()) == 0, Note: "a simulation; run it again: dynafin demo --seed " + fmt.Sprint(r.seed) + " --orders " + fmt.Sprint(r.orders)}
	p.Tiles = []page.Tile{
		{Name: "orders placed", Value: app.Count(r.stored.names)}, {Name: "not covered", Value: app.Count(r.stored.rejected)},
		{Name: "events published / parked", Value: fmt.Sprintf("%s / %s", app.Count(r.stored.published), app.Count(r.stored.parked))},
		{Name: "sum of the books", Value: sums(r.stored.sums)},
	}
	held := page.Table{Title: "What must hold", Columns: []page.Column{{Name: "invariant"}, {Name: "says"}, {Name: "counts"}, {Name: "verdict"}}}
	for _, i := range r.invariants {
		word := "HELD"
		if !i.Held {
			word = "BROKEN"
		}
		held.Rows = append(held.Rows, []string{i.Name, i.Says, i.Counts, word})
	}
	wrong := page.Table{Title: "What went wrong on purpose", Columns: []page.Column{{Name: "fault"}, {Name: "times", Right: true}}, Rows: r.faultLines()}
	trial := page.Table{Title: "Trial balance", Columns: []page.Column{{Name: "account"}, {Name: "debit", Right: true}, {Name: "credit", Right: true}, {Name: "postings", Right: true}}}
	for _, t := range r.stored.sums.Rows {
		debit, credit := t.Signed.String(), ""
		if t.Signed.Sign() < 0 {
			debit, credit = "", t.Signed.Abs().String()
		}
		trial.Rows = append(trial.Rows, []string{t.Account, debit, credit, app.Count(int(t.Postings))})
	}
	trial.Rows = append(trial.Rows, []string{"sum", sums(r.stored.sums), "", ""})
	p.Tables = []page.Table{held, wrong, trial}
	return p.HTML()
}
