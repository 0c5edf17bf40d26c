package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Listed is a break as the due queue shows it. The index may lag behind the breaks: what is listed may have been resolved
// since, and one that was written just now may not be listed yet. [Reconciler.Break] reads it as it is.
type Listed struct {
	// Tenant, Batch and ID name the break.
	Tenant, Batch, ID string
	Kind              Kind
	// Key is what its rows have in common.
	Key string
	// Status is OPEN or ESCALATED.
	Status Status
	Owner  string
	Due    time.Time
	// Created is when it was written.
	Created time.Time
	// Drift is that of the [Outcome].
	Drift money.Amount
	// Version is that of the break when the index saw it.
	Version int64
}

// Due lists the breaks of a tenant and a status that are due at or before the cutoff, over all batches and shards, the
// earliest due first (AP15, IDX15). Only what the caller ranges over is read. The zero cutoff lists them all.
//
// Cost: half a read unit for each shard, and for each 4 KiB begun of entries, about 0.4 KiB each.
// Errors: [ErrInvalid], [ErrRead], [ErrCorrupt].
func (r *Reconciler) Due(ctx context.Context, tenant string, status Status, cutoff time.Time) iter.Seq2[Listed, error] {
	return watch.Each(ctx, &r.watch, "AP15.due", "", func(ctx context.Context, yield func(Listed, error) bool) {
		query, err := r.dueQuery(tenant, status, cutoff)
		if err != nil {
			yield(Listed{}, err)
			return
		}
		for item, err := range r.reader.All(ctx, query) {
			if err != nil {
				yield(Listed{}, err)
				return
			}
			listed, err := r.listed(item.Attributes)
			if !yield(listed, err) {
				return
			}
		}
	})
}

func (r *Reconciler) dueQuery(tenant string, status Status, cutoff time.Time) (fanout.Query, error) {
	if r.err != nil {
		return fanout.Query{}, r.err
	}
	if status != StatusOpen && status != StatusEscalated {
		return fanout.Query{}, &InvalidError{Field: "status", Reason: fmt.Sprintf("%.32q is none of those that wait", status)}
	}
	table := r.config.Table
	query := fanout.Query{Name: "AP15.due", Tenant: tenant, Table: table.Name, PK: table.PK, SK: table.SK,
		Index: r.config.Index, IndexPK: r.config.IndexPK, IndexSK: r.config.IndexSK}
	if !cutoff.IsZero() {
		through, err := keys.DueThrough(cutoff)
		if err != nil {
			return fanout.Query{}, invalidKey(err)
		}
		query.Range.Through = fanout.Text(through)
	}
	for shard := range r.config.Map.Shards {
		partition, err := keys.BreakDuePartition(tenant, string(status), shard)
		if err != nil {
			return fanout.Query{}, invalidKey(err)
		}
		query.Branches = append(query.Branches, fanout.Branch{Name: fmt.Sprint("shard ", shard), Partition: fanout.Text(partition)})
	}
	return query, nil
}

func (r *Reconciler) listed(item txn.Item) (Listed, error) {
	key := r.keyOf(item)
	d := r.decode(key, item)
	entry, err := keys.ParseBreakDue(keys.Key{PK: d.text(r.config.IndexPK), SK: d.text(r.config.IndexSK)})
	if err != nil {
		d.bad(r.config.IndexSK)
	}
	l := Listed{
		Tenant: entry.Tenant, Batch: entry.Batch, ID: entry.Break, Kind: Kind(d.text(attrKind)), Key: d.text(attrKey), Status: Status(entry.Status),
		Owner: d.text(attrOwner), Due: entry.Due, Created: d.time(attrCreated), Drift: d.amount(attrDrift), Version: d.number(attrVersion),
	}
	return l, *d.err
}

// AgeingLine counts the breaks of one age, status, kind and owner.
type AgeingLine struct {
	// From is the least age of the line, Until the first that is not in it any more, 0 for none.
	From, Until time.Duration
	Status      Status
	Kind        Kind
	Owner       string
	Breaks      int64
	// Overdue is how many are past their due time.
	Overdue int64
	// Drift is the sum of their drifts, signed, by currency.
	Drift []money.Amount
}

// Ageing reports the breaks of a tenant that are not resolved, by age since they were found. The bounds cut the ages, such as
// a day, a week, a month; they must rise. The lines come oldest first, then by status, kind and owner.
//
// Cost: that of [Reconciler.Due] for both statuses, over all breaks that wait.
// Errors: those of [Reconciler.Due]; [ErrInvalid] for bounds that do not rise.
func (r *Reconciler) Ageing(ctx context.Context, tenant string, now time.Time, bounds ...time.Duration) (_ []AgeingLine, err error) {
	ctx, op := r.watch.Begin(ctx, "AP15.ageing")
	defer op.End(&err)
	if !slices.IsSorted(bounds) || len(bounds) > 0 && bounds[0] <= 0 {
		return nil, &InvalidError{Field: "bounds", Reason: "do not rise from above zero"}
	}
	lines, drifts := map[ageGroup]*AgeingLine{}, map[ageGroup]sums{}
	for _, status := range []Status{StatusOpen, StatusEscalated} {
		for listed, err := range r.Due(ctx, tenant, status, time.Time{}) {
			if err != nil {
				return nil, err
			}
			key := groupOf(listed, now, bounds)
			line := lines[key]
			if line == nil {
				line = &AgeingLine{From: key.From, Until: key.Until, Status: key.Status, Kind: key.Kind, Owner: key.Owner}
				lines[key], drifts[key] = line, sums{}
			}
			line.Breaks++
			if listed.Due.Before(now) {
				line.Overdue++
			}
			if err := drifts[key].add(listed.Drift); err != nil {
				return nil, &InvalidError{Field: "drift", Reason: err.Error()}
			}
		}
	}
	report := make([]AgeingLine, 0, len(lines))
	for key, line := range lines {
		line.Drift = drifts[key].list()
		report = append(report, *line)
	}
	slices.SortFunc(report, func(a, b AgeingLine) int {
		return cmp.Or(cmp.Compare(b.From, a.From), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner))
	})
	return report, nil
}

// ageGroup is what the breaks of an [AgeingLine] have in common.
type ageGroup struct {
	From, Until time.Duration
	Status      Status
	Kind        Kind
	Owner       string
}

func groupOf(l Listed, now time.Time, bounds []time.Duration) ageGroup {
	key := ageGroup{Status: l.Status, Kind: l.Kind, Owner: l.Owner}
	waited := now.Sub(l.Created)
	for _, bound := range bounds {
		if waited < bound {
			key.Until = bound
			break
		}
		key.From = bound
	}
	return key
}
