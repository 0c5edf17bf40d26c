package invariant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/outbox"
)

// endOfTime is a cutoff that no due time lies behind.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// EventsReady checks that these events, and no others, are READY in an outbox: each is found by its ID with its digest
// intact, and listed exactly once by the keyed queries over all shards.
func EventsReady(ctx context.Context, client outbox.Client, events *outbox.Outbox, ids []string) error {
	var faults []error
	listed := map[string]int{}
	for shard := range events.Shards() {
		for event, err := range events.Ready(ctx, client, shard, endOfTime, 0) {
			if err != nil {
				return err
			}
			listed[event.EventID]++
		}
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
		record, err := events.Get(ctx, client, id)
		switch {
		case err != nil:
			faults = append(faults, err)
		case record.State != outbox.Ready:
			faults = append(faults, fmt.Errorf("event %s is %s", id, record.State))
		case listed[id] != 1:
			faults = append(faults, fmt.Errorf("event %s is READY and listed %d times", id, listed[id]))
		}
	}
	for _, id := range sortedKeys(listed) {
		if !wanted[id] {
			faults = append(faults, fmt.Errorf("event %s is listed and belongs to nothing that was committed", id))
		}
	}
	return errors.Join(faults...)
}
