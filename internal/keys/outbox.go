package keys

import "time"

// The outbox's routes beside IDX16 and IDX17.
var (
	outboxParkedRoute = newRoute("OutboxParked", "SERVICE#{service}#PARKED#{shard}", "AT#{at}#{event}")
	outboxClaimsRoute = newRoute("OutboxClaims", "SERVICE#{service}#CLAIMS", "LEASE#{lease}#{claim}")
	outboxAuditRoute  = newRoute("OutboxAudit", "OUTBOX#{event}", "AUDIT#{revision}")
	outboxSwitchRoute = newRoute("OutboxSwitch", "SERVICE#{service}#SWITCH", "RELAYS")
)

// OutboxParked is the sparse index key that lists a service's parked events by the time at which they were (OUT01, AP16).
func OutboxParked(service string, shard int, at time.Time, event string) (Key, error) {
	return outboxParkedRoute.key(text(service), number(shard, shardDigits), instant(at), text(event))
}

// ParseOutboxParked reads a key of [OutboxParked].
func ParseOutboxParked(k Key) (service string, shard int, at time.Time, event string, err error) {
	d := outboxParkedRoute.read(k)
	service, shard, at, event = d.text(), d.number(shardDigits), d.instant(), d.text()
	return service, shard, at, event, d.err
}

// OutboxParkedPartition is the partition of [OutboxParked].
func OutboxParkedPartition(service string, shard int) (string, error) {
	return outboxParkedRoute.partition(text(service), number(shard, shardDigits))
}

// OutboxClaims is the key of a relay's claim journal, which names the events that the relay is about to claim until the
// lease ends (OUT02, AP16).
func OutboxClaims(service string, lease time.Time, claim string) (Key, error) {
	return outboxClaimsRoute.key(text(service), instant(lease), text(claim))
}

// ParseOutboxClaims reads a key of [OutboxClaims].
func ParseOutboxClaims(k Key) (service string, lease time.Time, claim string, err error) {
	d := outboxClaimsRoute.read(k)
	service, lease, claim = d.text(), d.instant(), d.text()
	return service, lease, claim, d.err
}

// OutboxClaimsPartition is the partition of [OutboxClaims].
func OutboxClaimsPartition(service string) (string, error) {
	return outboxClaimsRoute.partition(text(service))
}

// LeaseThrough is the upper bound of a Query for ended leases: every key of [OutboxClaims] whose lease ends at or before
// the cutoff sorts before it, and every later one after it.
func LeaseThrough(cutoff time.Time) (string, error) {
	at, err := Time(cutoff)
	if err != nil {
		return "", err
	}
	return "LEASE#" + at + "$", nil
}

// OutboxAudit is the key of the note that an operator's change of an event leaves: the change that made this version of
// the event's record (OUT03, AP16).
func OutboxAudit(event string, revision int) (Key, error) {
	return outboxAuditRoute.key(text(event), number(revision, revisionDigits))
}

// ParseOutboxAudit reads a key of [OutboxAudit].
func ParseOutboxAudit(k Key) (event string, revision int, err error) {
	d := outboxAuditRoute.read(k)
	event, revision = d.text(), d.number(revisionDigits)
	return event, revision, d.err
}

// OutboxAuditPrefix is what the sort keys of [OutboxAudit] begin with.
const OutboxAuditPrefix = "AUDIT#"

// OutboxSwitch is the key of the record by which operators pause the relays of a service (OUT04, AP16).
func OutboxSwitch(service string) (Key, error) {
	return outboxSwitchRoute.key(text(service))
}

// ParseOutboxSwitch reads a key of [OutboxSwitch].
func ParseOutboxSwitch(k Key) (service string, err error) {
	d := outboxSwitchRoute.read(k)
	service = d.text()
	return service, d.err
}
