package mend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/txn"
)

// reconRun makes the command that compares two files and stores what differs. It is one item for the engine: the batch.
func reconRun(a *app.App) *cobra.Command {
	var cmd *cobra.Command
	var tolerance []string
	cmd, _ = changing(a, "run", "compares two CSV files and stores every break", "dynafin recon breaks",
		func(_ context.Context, _ *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, "date", "batch", "rules", "left", "right", "cutoff", "grace", "owner", "due")
			d, err := a.Deployment()
			if err != nil {
				return change.Operation{}, nil, err
			}
			if len(tolerance) > 0 {
				list, err := json.Marshal(tolerance)
				if err != nil {
					return change.Operation{}, nil, err
				}
				with["tolerance"] = string(list)
			}
			r, err := d.Desk(store)
			if err != nil {
				return change.Operation{}, nil, err
			}
			currencies, err := d.Assets()
			if err != nil {
				return change.Operation{}, nil, err
			}
			with["tenant"], err = a.Tenant()
			return comparison{r, currencies, a}.operation(), with, err
		})
	cmd.Long = `Compares two CSV files with the columns id, key, amount, currency and at (RFC 3339), and stores every break with an owner and a due time. Left is what
we have on record, right is what it is held against. A batch that is run again finds the same breaks, once each. --dry-run only counts.`
	cmd.Flags().String("date", "", "`DAY` of the batch, for example 2026-11-29 (default: today)")
	cmd.Flags().String("batch", "", "`ID` of the batch; required")
	cmd.Flags().String("rules", "default-1", "`NAME` of the rules, with their version")
	cmd.Flags().String("left", "", "`FILE` of what we have on record; required")
	cmd.Flags().String("right", "", "`FILE` of what it is held against; required")
	cmd.Flags().String("cutoff", "", "`TIME` up to which rows are judged, RFC 3339 (default: now)")
	cmd.Flags().String("grace", "0s", "how long the counterpart of a row may take")
	cmd.Flags().String("owner", "", "`WHO` must resolve the breaks; required")
	cmd.Flags().String("due", "24h", "for how long he has")
	cmd.Flags().StringArrayVar(&tolerance, "tolerance", nil, "`AMOUNT` by which a match may differ, for example '0.01 USD'; one for each currency")
	return cmd
}

// comparison makes the operation that runs a batch.
type comparison struct {
	*reconcile.Reconciler
	currencies money.Registry
	a          *app.App
}

// batch is what a run compares, out of its arguments.
type batch struct {
	manifest    reconcile.Manifest
	rules       reconcile.Rules
	left, right string
	to          reconcile.Assignment
}

func (c comparison) operation() change.Operation {
	return change.Operation{
		Command: "recon run", One: "batch", Many: "batches", Done: "compared", All: true, Select: c.selected,
		Build:  func(context.Context, change.Item, change.Note) ([]txn.Part, error) { return nil, nil },
		Commit: c.run,
		Now: func(ctx context.Context, item change.Item) (string, error) {
			m := item.Hold.(batch).manifest
			stored, err := c.Batch(ctx, m.Tenant, m.Date, m.Batch)
			return fmt.Sprintf("%s, %d breaks", stored.State, stored.Summary.Breaks()), err
		},
	}
}

// run creates the batch, runs it and leaves the audit item. Each of the three may be repeated: the batch has its own restart, and the audit
// item is written once it is COMPLETED.
func (c comparison) run(ctx context.Context, committer *txn.Committer, item change.Item, build func() ([]txn.Part, error)) (txn.Receipt, error) {
	b := item.Hold.(batch)
	if err := c.Create(ctx, b.manifest); err != nil {
		return txn.Receipt{}, err
	}
	_, err := c.Run(ctx, b.manifest.Tenant, b.manifest.Date, b.manifest.Batch, reconcile.Job{
		Worker: "dynafin recon run", Rules: b.rules, Left: c.rows(b.left), Right: c.rows(b.right),
		Assign: func(reconcile.Outcome) reconcile.Assignment { return b.to },
	})
	if err != nil {
		return txn.Receipt{}, err
	}
	parts, err := build()
	if err != nil {
		return txn.Receipt{}, err
	}
	return committer.Commit(ctx, parts...)
}

// selected compares without a store, to say what the run would find.
func (c comparison) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		b, err := c.batch(s.Args, s.AsOf)
		var found reconcile.Summary
		if err == nil {
			found, err = c.compare(ctx, b)
		}
		if err != nil {
			yield(change.Item{}, err)
			return
		}
		is := fmt.Sprintf("%d rows and %d, %d breaks to store", found.Left.Rows, found.Right.Rows, found.Breaks())
		c.a.Hint("%s of %s: %s, for about %d write units", b.manifest.Batch, b.manifest.Date, is, 7+2*found.Breaks())
		item := change.Item{ID: b.manifest.Date + "/" + b.manifest.Batch, Is: is, Hold: b}
		switch stored, err := c.Batch(ctx, b.manifest.Tenant, b.manifest.Date, b.manifest.Batch); {
		case err == nil && stored.State == reconcile.BatchCompleted && stored.Ended.Before(s.AsOf):
			item.Skip = "it is COMPLETED"
		case err != nil && !errors.Is(err, reconcile.ErrNotFound):
			yield(change.Item{}, err)
			return
		}
		yield(item, nil)
	}
}

func (c comparison) compare(ctx context.Context, b batch) (reconcile.Summary, error) {
	loaded, err := reconcile.Load(ctx, reconcile.Options{}, c.rows(b.left), c.rows(b.right))
	if err != nil {
		return reconcile.Summary{}, err
	}
	found, err := loaded.Match(ctx, b.rules, b.manifest.Window, func(reconcile.Outcome) error { return nil })
	return found, errors.Join(err, loaded.Close())
}

// rows are those of a file, which is opened when they are read.
func (c comparison) rows(path string) reconcile.Rows {
	return func(yield func(reconcile.Row, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(reconcile.Row{}, err)
			return
		}
		defer file.Close()
		ready.CSV(file, ready.Columns{ID: "id", Key: "key", Amount: "amount", Currency: "currency", Currencies: c.currencies, At: "at", Layout: time.RFC3339})(yield)
	}
}

func (c comparison) batch(args map[string]string, now time.Time) (batch, error) {
	for _, name := range []string{"batch", "left", "right", "owner"} {
		if args[name] == "" {
			return batch{}, app.Usage("--%s is missing", name)
		}
	}
	grace, err := time.ParseDuration(args["grace"])
	if err != nil {
		return batch{}, app.Usage("--grace %q is no duration such as 24h", args["grace"])
	}
	due, err := time.ParseDuration(args["due"])
	if err != nil {
		return batch{}, app.Usage("--due %q is no duration such as 24h", args["due"])
	}
	cutoff := now
	if args["cutoff"] != "" {
		if cutoff, err = time.Parse(time.RFC3339Nano, args["cutoff"]); err != nil {
			return batch{}, app.Usage("--cutoff %q is no time such as 2026-11-29T14:00:00Z", args["cutoff"])
		}
	}
	b := batch{
		manifest: reconcile.Manifest{
			Tenant: args["tenant"], Date: cmp.Or(args["date"], cutoff.UTC().Format("2006-01-02")), Batch: args["batch"], Rules: args["rules"],
			Window: reconcile.Window{Cutoff: cutoff, Grace: grace}, Left: reconcile.Input{Name: args["left"]}, Right: reconcile.Input{Name: args["right"]},
		},
		rules: reconcile.Rules{Name: args["rules"]}, left: args["left"], right: args["right"],
		to: reconcile.Assignment{Owner: args["owner"], Due: cutoff.Add(due)},
	}
	var tolerance []string
	if list := args["tolerance"]; list != "" {
		if err := json.Unmarshal([]byte(list), &tolerance); err != nil {
			return batch{}, app.Usage("--tolerance %s: %v", strconv.Quote(list), err)
		}
	}
	for _, text := range tolerance {
		amount, err := c.currencies.Parse(text)
		if err != nil {
			return batch{}, app.Usage("--tolerance %q: %v", text, err)
		}
		b.rules.Tolerance = append(b.rules.Tolerance, amount)
	}
	return b, nil
}
