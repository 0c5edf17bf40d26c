package reconcile

import (
	"context"
	"time"

	"github.com/dynafin/dynafin/observe"
)

// Queue is how many breaks wait.
type Queue struct {
	// Open and Escalated are how many have which status.
	Open, Escalated int
	// Overdue is how many of both are past their due time, and Oldest by how much the first of them is.
	Overdue int
	Oldest  time.Duration
}

// Queue counts the breaks of tenants that are not resolved at a time, over all batches and shards, and measures them (AP15,
// IDX15).
//
// Cost: that of [Reconciler.Due] for both statuses and each tenant, over all breaks that wait.
// Errors: those of [Reconciler.Due].
func (r *Reconciler) Queue(ctx context.Context, at time.Time, tenants ...string) (q Queue, err error) {
	ctx, op := r.watch.Begin(ctx, "AP15.queue")
	defer op.End(&err)
	for _, tenant := range tenants {
		for status, count := range map[Status]*int{StatusOpen: &q.Open, StatusEscalated: &q.Escalated} {
			for listed, err := range r.Due(ctx, tenant, status, time.Time{}) {
				if err != nil {
					return Queue{}, err
				}
				*count++
				if late := at.Sub(listed.Due); late > 0 {
					q.Overdue++
					q.Oldest = max(q.Oldest, late)
				}
			}
		}
	}
	r.watch.Measure(ctx, "AP15", observe.DiscrepanciesOpen, int64(q.Open+q.Escalated))
	r.watch.Measure(ctx, "AP15", observe.Escalations, int64(q.Escalated))
	r.watch.Measure(ctx, "AP15", observe.OldestAge, int64(q.Oldest))
	return q, nil
}
