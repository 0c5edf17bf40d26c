package keys

import "time"

var (
	batchRoute    = newRoute("Batch", "TEN#{tenant}#RECON#{date}", "BATCH#{batch}")
	breakRoute    = newRoute("Break", "TEN#{tenant}#RECON#{batch}", "BREAK#{break}")
	breakDueRoute = newRoute("BreakDue", "TEN#{tenant}#BREAK#{status}#{shard}", "DUE#{due}#{batch}#{break}")
)

// Batch is the key of a reconciliation batch on its business date, for example "2026-11-29" (IDX13, AP14).
func Batch(tenant, date, batch string) (Key, error) {
	return batchRoute.key(text(tenant), calendar(date, dateLayout), text(batch))
}

// ParseBatch reads a key of [Batch].
func ParseBatch(k Key) (tenant, date, batch string, err error) {
	d := batchRoute.read(k)
	tenant, date, batch = d.text(), d.calendar(dateLayout), d.text()
	return tenant, date, batch, d.err
}

// BatchPartition is the partition of [Batch].
func BatchPartition(tenant, date string) (string, error) {
	return batchRoute.partition(text(tenant), calendar(date, dateLayout))
}

// What the sort keys of [Batch] and [Break] begin with. Where a batch has the name of a day both are in one partition.
const (
	BatchPrefix = "BATCH#"
	BreakPrefix = "BREAK#"
)

// Break is the key of a discrepancy in its batch (IDX14, AP15).
func Break(tenant, batch, id string) (Key, error) {
	return breakRoute.key(text(tenant), text(batch), text(id))
}

// ParseBreak reads a key of [Break].
func ParseBreak(k Key) (tenant, batch, id string, err error) {
	d := breakRoute.read(k)
	tenant, batch, id = d.text(), d.text(), d.text()
	return tenant, batch, id, d.err
}

// BreakPartition is the partition of [Break].
func BreakPartition(tenant, batch string) (string, error) {
	return breakRoute.partition(text(tenant), text(batch))
}

// BreakDue is the sparse index key that lists discrepancies of one status over all batches by due time (IDX15, AP15).
type BreakDue struct {
	Tenant, Status string
	Shard          int
	Due            time.Time
	Batch, Break   string
}

// Key writes the key.
func (b BreakDue) Key() (Key, error) {
	return breakDueRoute.key(text(b.Tenant), text(b.Status), number(b.Shard, shardDigits), instant(b.Due), text(b.Batch), text(b.Break))
}

// ParseBreakDue reads a key of [BreakDue].
func ParseBreakDue(k Key) (BreakDue, error) {
	d := breakDueRoute.read(k)
	b := BreakDue{Tenant: d.text(), Status: d.text(), Shard: d.number(shardDigits), Due: d.instant(), Batch: d.text(), Break: d.text()}
	return b, d.err
}

// BreakDuePartition is the partition of [BreakDue].
func BreakDuePartition(tenant, status string, shard int) (string, error) {
	return breakDueRoute.partition(text(tenant), text(status), number(shard, shardDigits))
}
