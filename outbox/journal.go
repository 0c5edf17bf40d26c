package outbox

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// A claim takes an event out of the index, and a relay that dies then would leave it where no query looks. So before it
// claims, a relay writes down what it is about to claim, under the end of its lease, where one query finds every journal
// whose lease has ended.

// attrEvents holds the events of a journal: for each the length of its ID, the ID, and the version that was seen; numbers
// as unsigned varints.
const attrEvents = "events"

// journalBytes keeps a journal within one write unit.
const journalBytes = capacity.WriteUnitBytes

// journal is the claim journal of one batch.
type journal struct {
	claim  string    // the token of the batch
	owner  string    // the relay
	lease  time.Time // when its lease ends
	events []journalEntry
}

type journalEntry struct {
	eventID string
	version int64 // that the relay saw; its claim makes the next one of it
}

// item is the journal as it is stored.
func (o *Outbox) item(j journal) (txn.Item, error) {
	key, err := keys.OutboxClaims(o.config.Service, j.lease, j.claim)
	if err != nil {
		return nil, &InvalidError{Field: "claim journal", Reason: keyReason(err)}
	}
	item := o.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = &types.AttributeValueMemberN{Value: recordFormat}
	item[attrOwner] = text(j.owner)
	var events []byte
	for _, entry := range j.events {
		events = entry.append(events)
	}
	item[attrEvents] = &types.AttributeValueMemberB{Value: events}
	return item, nil
}

func (e journalEntry) append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(e.eventID)))
	to = append(to, e.eventID...)
	return binary.AppendUvarint(to, uint64(e.version))
}

// journalOf reads a stored journal.
func (o *Outbox) journalOf(item txn.Item) (journal, error) {
	in := reader{item: item}
	key := keys.Key{PK: in.text(o.config.Table.PK), SK: in.text(o.config.Table.SK)}
	in.format()
	j := journal{owner: in.text(attrOwner)}
	packed := in.binary(attrEvents)
	bad := func(err error) error {
		return errCorrupt.Wrap(err, "outbox: claim journal %q: it is not what format %s has there", key.SK, recordFormat)
	}
	if in.err != nil {
		return journal{}, bad(in.err)
	}
	var err error
	if _, j.lease, j.claim, err = keys.ParseOutboxClaims(key); err != nil {
		return journal{}, bad(err)
	}
	for len(packed) > 0 {
		length, n := binary.Uvarint(packed)
		if n <= 0 || length > uint64(len(packed)-n) {
			return journal{}, bad(nil)
		}
		entry := journalEntry{eventID: string(packed[n : n+int(length)])}
		packed = packed[n+int(length):]
		version, n := binary.Uvarint(packed)
		if n <= 0 || version > 1<<62 {
			return journal{}, bad(nil)
		}
		entry.version, packed = int64(version), packed[n:]
		j.events = append(j.events, entry)
	}
	return j, nil
}

// putJournal stores a journal. Repeating it is harmless, also when it is late: then another relay finds a journal of
// nothing, and drops it.
func (o *Outbox) putJournal(ctx context.Context, client JournalClient, j journal) error {
	item, err := o.item(j)
	if err != nil {
		return err
	}
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &o.config.Table.Name, Item: item}, watch.In(ctx)...); err != nil {
		return errWrite.Wrap(err, "outbox: write claim journal %q: %v", j.claim, err)
	}
	return nil
}

func (o *Outbox) dropJournal(ctx context.Context, client JournalClient, claim string, lease time.Time) error {
	key, err := keys.OutboxClaims(o.config.Service, lease, claim)
	if err != nil {
		return &InvalidError{Field: "claim journal", Reason: keyReason(err)}
	}
	_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &o.config.Table.Name, Key: o.config.Table.Key(key.PK, key.SK)},
		watch.In(ctx)...)
	if err != nil {
		return errWrite.Wrap(err, "outbox: drop claim journal %q: %v", claim, err)
	}
	return nil
}

// endedJournals returns the journals whose lease has ended at a time, the oldest first, by one strongly consistent query.
// What cannot be read is an error beside the others.
func (o *Outbox) endedJournals(ctx context.Context, client QueryClient, at time.Time) ([]journal, error) {
	if o.err != nil {
		return nil, o.err
	}
	partition, err := keys.OutboxClaimsPartition(o.config.Service)
	if err != nil {
		return nil, &InvalidError{Field: "Config.Service", Reason: keyReason(err)}
	}
	through, err := keys.LeaseThrough(at)
	if err != nil {
		return nil, &InvalidError{Field: "now", Reason: keyReason(err)}
	}
	query := &dynamodb.QueryInput{
		TableName: &o.config.Table.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk <= :through"),
		ExpressionAttributeNames:  map[string]string{"#pk": o.config.Table.PK, "#sk": o.config.Table.SK},
		ExpressionAttributeValues: txn.Item{":pk": text(partition), ":through": text(through)},
	}
	var ended []journal
	var faults []error
	for {
		page, err := client.Query(ctx, query, watch.In(ctx)...)
		if err != nil {
			return nil, errRead.Wrap(err, "outbox: list claim journals of service %q: %v", o.config.Service, err)
		}
		for _, item := range page.Items {
			j, err := o.journalOf(item)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			ended = append(ended, j)
		}
		if page.LastEvaluatedKey == nil {
			return ended, errors.Join(faults...)
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
