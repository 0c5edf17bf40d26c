package mend

import (
	"context"
	"iter"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// ProjectionVerbs are the commands that change projections.
func ProjectionVerbs(a *app.App) []*cobra.Command {
	return []*cobra.Command{resumeVerb(a), rebuildVerb(a)}
}

func resumeVerb(a *app.App) *cobra.Command {
	var cmd *cobra.Command
	called, sources := "", []string(nil)
	cmd, _ = changing(a, "resume [SOURCE...]", "passes versions that will never come, so that a source goes on; the View's own processes apply what follows",
		"dynafin projection status", func(ctx context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "to", "namespace")
			f.ids = append(f.ids, sources...)
			view, err := viewOf(a, store, called, with)
			if err != nil {
				return change.Operation{}, nil, err
			}
			number, err := namespaceOf(ctx, view.Projection, with["namespace"])
			with["namespace"] = strconv.Itoa(number)
			return gaps{view.Projection.Namespace(number)}.resume(), with, err
		})
	cmd.Flags().StringVar(&called, "projection", "", "`PROJECTION` to look at (default: the only one)")
	cmd.Flags().StringArrayVar(&sources, "source", nil, "`SOURCE` that waits at a gap, as --id; repeatable")
	cmd.Flags().String("to", "", "last `VERSION` to pass (default: the last that is missing before the first that is parked)")
	cmd.Flags().String("namespace", "", "`NUMBER` of the namespace (default: the one that readers use)")
	return cmd
}

func rebuildVerb(a *app.App) *cobra.Command {
	var cmd *cobra.Command
	called := ""
	cmd, _ = changing(a, "rebuild", "moves readers to a rebuilt namespace that is proved, or back; services with the View load it",
		"dynafin projection status", func(_ context.Context, _ *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "cutover")
			if back, _ := cmd.Flags().GetBool("rollback"); back {
				with["rollback"] = "true"
			}
			view, err := viewOf(a, store, called, with)
			return readers{view.Name, view.Projection}.move(), with, err
		})
	cmd.Flags().StringVar(&called, "projection", "", "`PROJECTION` to change (default: the only one)")
	cmd.Flags().String("cutover", "", "`NUMBER` of the namespace that readers are to use; its build must be PROVED")
	cmd.Flags().Bool("rollback", false, "move readers back to where they were before the last cutover")
	return cmd
}

// viewOf is a projection, the only one if none is named.
func viewOf(a *app.App, store *app.Store, called string, with map[string]string) (deployment.View, error) {
	d, err := a.Deployment()
	if err != nil {
		return deployment.View{}, err
	}
	var names []string
	if called != "" {
		names = []string{called}
	}
	all, err := d.Views(store, names...)
	if err != nil {
		return deployment.View{}, err
	}
	if len(all) > 1 {
		return deployment.View{}, app.Usage("which projection? name it with --projection")
	}
	with["projection"] = all[0].Name
	return all[0], nil
}

// readers makes the operation on the alias that readers go by.
type readers struct {
	name string
	*projection.Projection
}

func (r readers) move() change.Operation {
	is := func(a projection.Alias) string { return "readers use namespace " + strconv.Itoa(a.Namespace) }
	return change.Operation{
		Command: "projection rebuild", One: "projection", Many: "projections", Done: "moved", All: true,
		Select: func(ctx context.Context, _ change.Selection) iter.Seq2[change.Item, error] {
			return func(yield func(change.Item, error) bool) {
				alias, err := r.Alias(ctx)
				if err != nil {
					yield(change.Item{}, err)
					return
				}
				yield(change.Item{ID: r.name, Is: is(alias), Hold: alias}, nil)
			}
		},
		Build: func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			from, number := item.Hold.(projection.Alias), note.Args["cutover"]
			if (number == "") == (note.Args["rollback"] == "") {
				return nil, app.Usage("say where readers are to go: --cutover NUMBER, or --rollback")
			}
			if number == "" {
				return []txn.Part{r.RollbackPart(from, note.By)}, nil
			}
			to, err := strconv.Atoi(number)
			if err != nil {
				return nil, app.Usage("--cutover %q is no number", number)
			}
			return []txn.Part{r.Namespace(to).CutoverPart(from, note.By)}, nil
		},
		Now: func(ctx context.Context, _ change.Item) (string, error) {
			alias, err := r.Alias(ctx)
			return is(alias), err
		},
	}
}

// namespaceOf is the namespace that readers use, unless another one is named.
func namespaceOf(ctx context.Context, p *projection.Projection, text string) (int, error) {
	if text == "" {
		alias, err := p.Alias(ctx)
		return alias.Namespace, err
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, app.Usage("--namespace %q is no number from 1", text)
	}
	return number, nil
}

// gaps makes the operations on the sources of a namespace that wait.
type gaps struct{ *projection.Namespace }

// gap is a source that waits at a missing version, behind which the first parked one is.
type gap struct {
	projection.Gap
	first int64
}

// resume passes what is missing. It moves the checkpoint and leaves the events behind the gap to the processes that have the View: the next
// event of the source applies them, or their Sweep.
func (g gaps) resume() change.Operation {
	return change.Operation{
		Command: "projection resume", One: "source", Many: "sources", Done: "resumed", Fields: []string{"source", "missing", "parked", "highest", "first"},
		Select: g.selected,
		Build: func(ctx context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
			to := item.Hold.(gap).first - 1
			if text := note.Args["to"]; text != "" {
				var err error
				if to, err = strconv.ParseInt(text, 10, 64); err != nil {
					return nil, app.Usage("--to %q is no version", text)
				}
			}
			part, err := g.ForcePart(ctx, projection.Force{Source: item.ID, To: to, By: note.By, Reason: note.Reason})
			return []txn.Part{part}, err
		},
		Now: func(ctx context.Context, item change.Item) (string, error) {
			c, err := g.Checkpoint(ctx, item.ID)
			return "at version " + strconv.FormatInt(c.Version, 10), err
		},
	}
}

func (g gaps) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	wanted := map[string]bool{}
	for _, id := range s.IDs {
		wanted[id] = true
	}
	return func(yield func(change.Item, error) bool) {
		for found, err := range g.Gaps(ctx) {
			if err == nil && (found.Since.After(s.AsOf) || len(wanted) > 0 && !wanted[found.Source]) {
				continue
			}
			var item change.Item
			if err == nil {
				item, err = g.item(ctx, found)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (g gaps) item(ctx context.Context, found projection.Gap) (change.Item, error) {
	of := gap{Gap: found}
	for e, err := range g.ParkedEvents(ctx, found.Source) {
		if err != nil {
			return change.Item{}, err
		}
		of.first = e.Version
		break
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	item := change.Item{ID: found.Source, Is: "waits for version " + number(found.Missing), Hold: of, Fields: change.Fields{
		"source": found.Source, "missing": number(found.Missing), "parked": strconv.Itoa(int(found.Parked)), "highest": number(found.Highest), "first": number(of.first),
	}}
	if of.first <= found.Missing {
		item.Skip = "nothing is missing: a process that has the View applies what is parked"
	}
	return item, nil
}
