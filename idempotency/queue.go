package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/observe"
)

// Queue is how much of repair waits.
type Queue struct {
	// Due is how many requests are due for repair, and Oldest for how long the first of them has been; zero if none is.
	Due    int
	Oldest time.Duration
	// Escalated is how many requests wait for an operator, as the index shows them.
	Escalated int
}

// Queue counts the requests of tenants that are due for repair at a time, and those that wait for an operator (AP18,
// IDX19), and measures them. It reads index entries alone. The error joins what could not be listed; the rest is counted.
//
// Cost: for each tenant, shard and page twice half a read unit for each 4 KiB begun of index entries.
func (r *Requests) Queue(ctx context.Context, client QueryClient, at time.Time, tenants ...string) (q Queue, err error) {
	ctx, op := r.watch.Begin(ctx, "AP18.queue")
	defer op.End(&err)
	var faults []error
	for _, tenant := range tenants {
		for entry, err := range r.Due(ctx, client, tenant, at) {
			if err != nil {
				faults = append(faults, err)
				continue
			}
			q.Due++
			q.Oldest = max(q.Oldest, at.Sub(entry.At))
		}
		for _, err := range r.listed(ctx, client, tenant, "", keys.RepairEscalatedPartition, allEscalated, escalatedEntry) {
			if err != nil {
				faults = append(faults, err)
				continue
			}
			q.Escalated++
		}
	}
	if err = errors.Join(faults...); err == nil {
		r.watch.Measure(ctx, "AP18", observe.RepairsDue, int64(q.Due))
		r.watch.Measure(ctx, "AP18", observe.OldestAge, int64(q.Oldest))
		r.watch.Measure(ctx, "AP18", observe.Escalations, int64(q.Escalated))
	}
	return q, err
}
