package invariant

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/idempotency"
)

// RequestsEnded checks that none of a tenant's requests is lost: each has a record, and that is completed, accepted or
// rejected, or was escalated with its reason and is listed for operators. Ask when everything has settled, and an index that
// lags has caught up.
func RequestsEnded(ctx context.Context, client idempotency.RepairReader, requests *idempotency.Requests, tenant string, keys []string) error {
	var faults []error
	listed := map[string]int{}
	for rec, err := range requests.Escalated(ctx, client, tenant) {
		if err != nil {
			return err
		}
		listed[rec.Key]++
	}
	for _, key := range keys {
		rec, err := requests.Get(ctx, client, tenant, key)
		switch {
		case err != nil:
			faults = append(faults, err)
		case rec.State == idempotency.Completed && listed[key] > 0:
			faults = append(faults, fmt.Errorf("request %s is completed, and listed", key))
		case rec.State == idempotency.Completed:
		case rec.State != idempotency.Escalated || rec.Reason == "" || listed[key] != 1:
			faults = append(faults, fmt.Errorf("request %s is %s because %q, and listed for operators %d times", key, rec.State, rec.Reason, listed[key]))
		}
	}
	return errors.Join(faults...)
}
