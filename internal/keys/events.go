package keys

import "time"

var (
	inboxRoute       = newRoute("Inbox", "CONSUMER#{consumer}#V#{version}#SHARD#{shard}", "EVENT#{event}")
	inboxForgotten   = newRoute("InboxForgotten", "CONSUMER#{consumer}#V#{version}#SHARD#{shard}", "FORGOTTEN#{at}#{event}")
	checkpointRoute  = newRoute("Checkpoint", "PROJ#{projection}#V#{version}#SHARD#{shard}", "SOURCE#{source}")
	outboxRoute      = newRoute("Outbox", "OUTBOX#{event}", "EVENT")
	outboxReadyRoute = newRoute("OutboxReady", "SERVICE#{service}#READY#{shard}", "DUE#{due}#{event}")
)

// Inbox is the key of a consumer's receipt for an event (IDX09, AP09). The version is that of the shard map which
// placed the event.
func Inbox(consumer string, version, shard int, event string) (Key, error) {
	return inboxRoute.key(text(consumer), number(version, versionDigits), number(shard, shardDigits), text(event))
}

// ParseInbox reads a key of [Inbox].
func ParseInbox(k Key) (consumer string, version, shard int, event string, err error) {
	d := inboxRoute.read(k)
	consumer, version, shard, event = d.text(), d.number(versionDigits), d.number(shardDigits), d.text()
	return consumer, version, shard, event, d.err
}

// InboxPartition is the partition of [Inbox].
func InboxPartition(consumer string, version, shard int) (string, error) {
	return inboxRoute.partition(text(consumer), number(version, versionDigits), number(shard, shardDigits))
}

// InboxForgotten is the key of a receipt that an operator took out of the way (INB01, AP09).
func InboxForgotten(consumer string, version, shard int, at time.Time, event string) (Key, error) {
	return inboxForgotten.key(text(consumer), number(version, versionDigits), number(shard, shardDigits), instant(at), text(event))
}

// ParseInboxForgotten reads a key of [InboxForgotten].
func ParseInboxForgotten(k Key) (consumer string, version, shard int, at time.Time, event string, err error) {
	d := inboxForgotten.read(k)
	consumer, version, shard, at, event = d.text(), d.number(versionDigits), d.number(shardDigits), d.instant(), d.text()
	return consumer, version, shard, at, event, d.err
}

// Checkpoint is the key of a projection's checkpoint for one source (IDX12, AP13). The version is that of the shard
// map which placed the source.
func Checkpoint(projection string, version, shard int, source string) (Key, error) {
	return checkpointRoute.key(text(projection), number(version, versionDigits), number(shard, shardDigits), text(source))
}

// ParseCheckpoint reads a key of [Checkpoint].
func ParseCheckpoint(k Key) (projection string, version, shard int, source string, err error) {
	d := checkpointRoute.read(k)
	projection, version, shard, source = d.text(), d.number(versionDigits), d.number(shardDigits), d.text()
	return projection, version, shard, source, d.err
}

// CheckpointPartition is the partition of [Checkpoint].
func CheckpointPartition(projection string, version, shard int) (string, error) {
	return checkpointRoute.partition(text(projection), number(version, versionDigits), number(shard, shardDigits))
}

// Outbox is the key of an event in the outbox (IDX16, AP16).
func Outbox(event string) (Key, error) {
	return outboxRoute.key(text(event))
}

// ParseOutbox reads a key of [Outbox].
func ParseOutbox(k Key) (event string, err error) {
	d := outboxRoute.read(k)
	event = d.text()
	return event, d.err
}

// OutboxReady is the sparse index key that lists a service's unpublished events by due time (IDX17, AP16).
func OutboxReady(service string, shard int, due time.Time, event string) (Key, error) {
	return outboxReadyRoute.key(text(service), number(shard, shardDigits), instant(due), text(event))
}

// ParseOutboxReady reads a key of [OutboxReady].
func ParseOutboxReady(k Key) (service string, shard int, due time.Time, event string, err error) {
	d := outboxReadyRoute.read(k)
	service, shard, due, event = d.text(), d.number(shardDigits), d.instant(), d.text()
	return service, shard, due, event, d.err
}

// OutboxReadyPartition is the partition of [OutboxReady].
func OutboxReadyPartition(service string, shard int) (string, error) {
	return outboxReadyRoute.partition(text(service), number(shard, shardDigits))
}

// DueThrough is the upper bound of a Query on a due queue (IDX15, IDX17, IDX19): every sort key that is due at or before
// the cutoff sorts before it, and every later one after it.
func DueThrough(cutoff time.Time) (string, error) {
	at, err := Time(cutoff)
	if err != nil {
		return "", err
	}
	// $ is the byte after #, so it closes the range behind every key that continues this very time.
	return "DUE#" + at + "$", nil
}
