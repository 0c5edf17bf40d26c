package keys_test

import (
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

// outboxRoutes are the routes of the outbox beyond the chapter's. at is the text of the golden time.
func outboxRoutes(at string) []route {
	parked := route{name: "OutboxParked", index: "OUT01", shape: "snts", pk: "SERVICE#s0#PARKED#0001", sk: "AT#" + at + "#s3"}
	parked.write, parked.read = queued(keys.OutboxParked, keys.ParseOutboxParked)
	claims := route{name: "OutboxClaims", index: "OUT02", shape: "sts", pk: "SERVICE#s0#CLAIMS", sk: "LEASE#" + at + "#s2",
		write: func(c []any) (keys.Key, error) { return keys.OutboxClaims(str(c[0]), instant(c[1]), str(c[2])) },
		read: func(k keys.Key) ([]any, error) {
			service, lease, claim, err := keys.ParseOutboxClaims(k)
			return []any{service, lease, claim}, err
		}}
	audit := route{name: "OutboxAudit", index: "OUT03", shape: "sn", pk: "OUTBOX#s0", sk: "AUDIT#000000001",
		write: func(c []any) (keys.Key, error) { return keys.OutboxAudit(str(c[0]), num(c[1])) },
		read: func(k keys.Key) ([]any, error) {
			event, version, err := keys.ParseOutboxAudit(k)
			return []any{event, version}, err
		}}
	relays := route{name: "OutboxSwitch", index: "OUT04", shape: "s", pk: "SERVICE#s0#SWITCH", sk: "RELAYS",
		write: func(c []any) (keys.Key, error) { return keys.OutboxSwitch(str(c[0])) },
		read: func(k keys.Key) ([]any, error) {
			service, err := keys.ParseOutboxSwitch(k)
			return []any{service}, err
		}}
	forgotten := route{name: "InboxForgotten", index: "INB01", shape: "snnts", pk: "CONSUMER#s0#V#0001#SHARD#0002", sk: "FORGOTTEN#" + at + "#s4",
		write: func(c []any) (keys.Key, error) {
			return keys.InboxForgotten(str(c[0]), num(c[1]), num(c[2]), instant(c[3]), str(c[4]))
		},
		read: func(k keys.Key) ([]any, error) {
			consumer, version, shard, at, event, err := keys.ParseInboxForgotten(k)
			return []any{consumer, version, shard, at, event}, err
		}}
	return []route{parked, claims, audit, relays, forgotten}
}

func TestLeaseThroughClosesTheRangeBehindTheTime(t *testing.T) {
	at := time.Date(2026, 11, 29, 14, 18, 0, 42, time.UTC)
	through, err := keys.LeaseThrough(at)
	if err != nil {
		t.Fatal(err)
	}
	for off, inside := range map[time.Duration]bool{-1: true, 0: true, 1: false} {
		key, err := keys.OutboxClaims("orders", at.Add(off), "claim~")
		if err != nil || (key.SK <= through) != inside {
			t.Errorf("%v off: %q <= %q is %v, %v", off, key.SK, through, key.SK <= through, err)
		}
	}
	if _, err := keys.LeaseThrough(at.AddDate(10000, 0, 0)); err == nil {
		t.Error("a year of five digits has no key")
	}
}
