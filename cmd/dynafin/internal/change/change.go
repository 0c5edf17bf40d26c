package change

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/txn"
)

// Operation is a command that changes data, as the engine sees it.
type Operation struct {
	// Command names it, for example "outbox retry". It is stored with every run.
	Command string
	// One and Many are what it is about, for example "event" and "events"; Done is what happened to them, for example "retried".
	One, Many, Done string
	// All says that there is one item, or one set of them, and nothing to select.
	All bool
	// Fields are those that a condition may ask of an item.
	Fields []string
	// Select yields every item of the selection, in the order in which they are to change. An error beside an ID is about that item
	// alone; any other means that the selection could not be read to its end.
	Select func(ctx context.Context, s Selection) iter.Seq2[Item, error]
	// Build returns the change of an item, on condition that it is what the plan found. A [*Skip] says why it does not change.
	Build func(ctx context.Context, item Item, note Note) ([]txn.Part, error)
	// Now reads an item again and says in words what it is.
	Now func(ctx context.Context, item Item) (string, error)
	// Commit builds the parts of a change and commits them, where that takes more than one try. Default: one Commit.
	Commit func(ctx context.Context, committer *txn.Committer, item Item, build func() ([]txn.Part, error)) (txn.Receipt, error)
}

// Count says in words how many.
func (o Operation) Count(n int) string {
	if n == 1 {
		return "1 " + o.One
	}
	return strconv.Itoa(n) + " " + o.Many
}

// Item is one item of a selection.
type Item struct {
	// ID names it, in its run and for people.
	ID string
	// Is says in words what it is before the change.
	Is string
	// Skip says why it does not change, if it does not.
	Skip string
	// Fields are what conditions ask.
	Fields Fields
	// Hold is what the command keeps of it.
	Hold any
}

// Note is who changes something, why, when and in which run.
type Note struct {
	Run, By, Reason string
	At              time.Time
	Args            map[string]string
}

// Skip says why an item is left as it is. It is no failure.
type Skip struct{ Reason string }

func (e *Skip) Error() string { return e.Reason }

// ErrNothing says that the selection matched nothing.
var ErrNothing = errors.New("nothing matched; nothing was changed")

// InterruptedError says that a run ended before its end. What was changed stays; the run can be resumed.
type InterruptedError struct {
	Run, Command string
	Err          error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("run %s was interrupted: %v\nresume: dynafin %s --resume %s", e.Run, e.Err, e.Command, e.Run)
}

// Unwrap returns what ended the run.
func (e *InterruptedError) Unwrap() error { return e.Err }

// MaxUnits is how many write units a second a run takes unless it is told otherwise: a tenth of what one partition key takes.
const MaxUnits = 100

// Settings say how a run goes.
type Settings struct {
	Journal Journal
	// Now, Sleep and NewID are clock, patience and chance.
	Now func() time.Time
	// Clock is the clock by which the limit holds. Default: Now, which may stand still.
	Clock func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	NewID func() string
	// By is who does it, Reason why.
	By, Reason string
	// Yes is the confirmation; without it Ask has to get the number of items from a person. Ask is nil where there is none.
	Yes bool
	Ask func(question string) (answer string, err error)
	// DryRun ends behind the plan and fills in Report.Writes.
	DryRun bool
	// MaxUnits are the write units a second. Default: [MaxUnits].
	MaxUnits int
	// Resume is the run to go on with.
	Resume string
	// Say tells a person how it goes.
	Say func(format string, args ...any)
}

// rehearsals is how many items a plan rehearses to tell the units of all.
const rehearsals = 25

// run is a run under way.
type run struct {
	op    Operation
	set   Settings
	head  Run
	where []condition
	todo  []Item
	stage *stage
	Report
}

// Apply plans a change, has it confirmed, and makes it. The report is what was done, also beside an error.
func Apply(ctx context.Context, op Operation, s Selection, set Settings) (*Report, error) {
	if set.Clock == nil {
		set.Clock = set.Now
	}
	if set.MaxUnits == 0 {
		set.MaxUnits = MaxUnits
	}
	r := &run{op: op, set: set, stage: newStage(set.Journal.Client),
		Report: Report{Command: op.Command, DryRun: set.DryRun, Skipped: map[string][]Item{}}}
	if err := r.begin(ctx, s); err != nil {
		return &r.Report, err
	}
	if err := r.plan(ctx); err != nil {
		return &r.Report, err
	}
	if set.DryRun || r.Planned == 0 {
		return &r.Report, r.finish(ctx)
	}
	if set.Resume == "" {
		if err := r.confirm(); err != nil {
			return &r.Report, err
		}
		if err := set.Journal.begin(ctx, r.head); err != nil {
			return &r.Report, err
		}
	}
	err := r.changes(ctx)
	if err == nil {
		err = r.finish(ctx)
	}
	if err != nil {
		return &r.Report, &InterruptedError{Run: r.Run, Command: op.Command, Err: err}
	}
	return &r.Report, nil
}

// begin is a new run, or the one that is resumed with what was asked for then.
func (r *run) begin(ctx context.Context, s Selection) (err error) {
	if r.set.MaxUnits < 1 {
		return app.Usage("--max-wcu %d is below 1", r.set.MaxUnits)
	}
	if r.set.Resume != "" {
		if len(s.IDs)+len(s.Where) > 0 || r.set.Reason != "" || r.set.DryRun {
			return app.Usage("--resume goes on with the run as it was planned: it takes no selection, no reason and no --dry-run")
		}
		if r.head, err = r.set.Journal.Header(ctx, r.set.Resume); err != nil {
			return err
		}
		if r.head.Command != r.op.Command {
			return app.Usage("run %s is one of dynafin %s", r.head.ID, r.head.Command)
		}
		for name, value := range s.Args {
			if stored := r.head.Selection.Args[name]; value != "" && value != stored {
				return app.Usage("run %s was planned with %s %q", r.head.ID, name, stored)
			}
		}
	} else {
		if r.op.All {
			if len(s.IDs)+len(s.Where) > 0 {
				return app.Usage("%s takes no selection", r.op.Command)
			}
		} else if (len(s.IDs) == 0) == (len(s.Where) == 0) {
			return app.Usage("say what is to change: IDs, or --where FIELD=VALUE (and --group); the fields are %s", strings.Join(r.op.Fields, ", "))
		}
		s.AsOf = r.set.Now()
		r.head = Run{ID: runID(s.AsOf, r.set.NewID()), Command: r.op.Command, Selection: s, By: r.set.By, Reason: r.set.Reason}
	}
	r.Run = r.head.ID
	r.where, err = parseWhere(r.head.Selection.Where, r.op.Fields)
	return err
}

// plan reads the whole selection, and rehearses what it can do without asking for every item.
func (r *run) plan(ctx context.Context) error {
	done, err := r.done(ctx)
	if err != nil {
		return err
	}
	for item, err := range r.op.Select(ctx, r.head.Selection) {
		if err != nil && item.ID == "" {
			return fmt.Errorf("the selection could not be read to its end, nothing was changed: %w", err)
		}
		ok, unclear := match(r.where, item.Fields)
		switch {
		case err == nil && unclear != nil:
			return unclear
		case err != nil:
			r.Matched++
			r.skip(err.Error(), item)
		case !ok:
		case done[item.ID]:
			r.Matched++
		case item.Skip != "":
			r.Matched++
			r.skip(item.Skip, item)
		default:
			r.Matched++
			r.todo = append(r.todo, item)
		}
	}
	r.Before = len(done)
	if r.Matched == 0 && r.Before == 0 {
		return ErrNothing
	}
	if err := r.rehearse(ctx); err != nil {
		return err
	}
	r.Planned = len(r.todo)
	if r.set.Resume == "" {
		r.head.Planned = r.Planned
	}
	if r.Planned > 1 && r.head.Reason == "" && !r.DryRun {
		return app.Usage("%s would change: say why, with --reason", r.op.Count(r.Planned))
	}
	if r.head.Reason == "" {
		r.head.Reason = "no reason was given"
	}
	return nil
}

// done returns what the run has changed before.
func (r *run) done(ctx context.Context) (map[string]bool, error) {
	done := map[string]bool{}
	if r.set.Resume == "" {
		return done, nil
	}
	for entry, err := range r.set.Journal.Entries(ctx, r.Run) {
		if err != nil {
			return nil, err
		}
		done[entry.Item] = true
	}
	return done, nil
}

// rehearse tells what the changes cost: of a few items, or of all in a dry run. What turns out not to change is taken out of the
// plan.
func (r *run) rehearse(ctx context.Context) error {
	some := len(r.todo)
	if !r.DryRun {
		some = min(some, rehearsals)
	}
	var keep []Item
	for _, item := range r.todo[:some] {
		parts, err := r.build(ctx, item)
		var did rehearsed
		if err == nil {
			did, err = r.stage.rehearse(ctx, parts)
		}
		if reason, ok := skipped(err); ok {
			r.skip(reason, item)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.op.One, item.ID, err)
		}
		keep = append(keep, item)
		r.Units += did.units
		if r.DryRun {
			r.Writes = append(r.Writes, Planned{Item: item.ID, Writes: did.writes, Units: did.units, Index: did.index})
		}
	}
	r.Exact = some == len(r.todo)
	if !r.Exact && len(keep) > 0 {
		rest := capacity.Units(len(r.todo) - some)
		r.Units += (r.Units*rest + capacity.Units(len(keep)) - 1) / capacity.Units(len(keep))
	}
	r.todo = append(keep, r.todo[some:]...)
	return nil
}

// build is the change of an item with its audit item, which comes first: it decides whether this run was here before.
func (r *run) build(ctx context.Context, item Item) ([]txn.Part, error) {
	note := Note{Run: r.Run, By: r.head.By, Reason: r.head.Reason, At: r.set.Now(), Args: r.head.Selection.Args}
	if note.Reason == "" {
		note.Reason = "no reason was given"
	}
	parts, err := r.op.Build(ctx, item, note)
	if err != nil {
		return nil, err
	}
	audit, err := r.set.Journal.audit(Entry{Run: r.Run, Item: item.ID, Command: r.op.Command, By: note.By, Reason: note.Reason, Before: item.Is, At: note.At})
	return append([]txn.Part{audit}, parts...), err
}

// skipped says whether an error only means that the item is no longer what the plan was about.
func skipped(err error) (reason string, ok bool) {
	var skip *Skip
	if errors.As(err, &skip) {
		return skip.Reason, true
	}
	var done *doneError
	if errors.As(err, &done) {
		return "changed by this run before", true
	}
	var canceled *txn.CanceledError
	if errors.As(err, &canceled) && !canceled.Unsettled {
		return refusal(canceled), true
	}
	return "", false
}

// refusal is what the parts of a cancelled transaction had to say.
func refusal(canceled *txn.CanceledError) string {
	for _, reason := range canceled.Reasons {
		if reason.Err != nil {
			return reason.Err.Error()
		}
	}
	return canceled.Error()
}

// confirm lets nothing happen that nobody agreed to.
func (r *run) confirm() error {
	about := "about "
	if r.Exact {
		about = ""
	}
	r.set.Say("plan: %s: %s of %d matched, %s%s write units, at most %d a second", r.op.Command, r.op.Count(r.Planned), r.Matched,
		about, r.Units, r.set.MaxUnits)
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		r.set.Say("skip: %d, %s", len(r.Skipped[reason]), reason)
	}
	if r.set.Yes {
		return nil
	}
	if r.set.Ask == nil {
		return app.Usage("nobody to ask: confirm the change of %s with --yes, or look at it with --dry-run", r.op.Count(r.Planned))
	}
	answer, err := r.set.Ask(fmt.Sprintf("type %d to go on: ", r.Planned))
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != strconv.Itoa(r.Planned) {
		return app.Usage("%q is not %d; nothing was changed", strings.TrimSpace(answer), r.Planned)
	}
	return nil
}

// changes makes the changes, one after the other.
func (r *run) changes(ctx context.Context) error {
	p := &pace{limit: r.set.MaxUnits, now: r.set.Clock, sleep: r.set.Sleep}
	for i, item := range r.todo {
		if err := p.wait(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		units, err := r.change(ctx, item)
		p.spent += units
		r.Spent, r.Waited = p.spent, p.waited
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.op.One, item.ID, err)
		}
		if (i+1)%progressEvery == 0 {
			r.set.Say("%d of %d, %s write units", i+1, len(r.todo), p.spent)
		}
	}
	return nil
}

const progressEvery = 1000

// change makes one change and reads the item again. A transaction without an answer is settled by its audit item.
func (r *run) change(ctx context.Context, item Item) (capacity.Units, error) {
	receipt, err := r.commit(ctx, item)
	if reason, ok := skipped(err); ok {
		r.skip(reason, item)
		return r.Units / capacity.Units(max(r.Planned, 1)), nil // a refusal costs about as much
	}
	if err != nil {
		return 0, err
	}
	units := receipt.Total()
	if receipt.Recovered {
		units = r.Units / capacity.Units(max(r.Planned, 1))
	}
	is, err := r.op.Now(ctx, item)
	if err != nil {
		return units, err
	}
	r.Changes = append(r.Changes, Changed{Item: item.ID, Was: item.Is, Is: is})
	return units, nil
}

func (r *run) commit(ctx context.Context, item Item) (txn.Receipt, error) {
	committer := txn.New(r.set.Journal.Client, r.patience(ctx))
	build := func() ([]txn.Part, error) { return r.build(ctx, item) }
	if r.op.Commit != nil {
		return r.op.Commit(ctx, committer, item, build)
	}
	parts, err := build()
	if err != nil {
		return txn.Receipt{}, err
	}
	return committer.Commit(ctx, parts...)
}

// finish writes down the end of a run that was written down.
func (r *run) finish(ctx context.Context) error {
	if r.DryRun || r.set.Resume == "" && r.Planned == 0 {
		return nil
	}
	return r.set.Journal.end(ctx, r.Run, r.Before+len(r.Changes), r.SkippedCount(), r.set.Now())
}
