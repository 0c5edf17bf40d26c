package idempotency

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// QueryClient is the call that lists records. *dynamodb.Client satisfies it.
type QueryClient interface {
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// RepairReader are the calls that read what needs repair. *dynamodb.Client satisfies it.
type RepairReader interface {
	Reader
	QueryClient
}

// Index returns the definition of the sparse index of requests in need of repair, for CreateTable or UpdateTable. It
// projects keys alone: whoever finds an entry reads the record itself.
func (r *Requests) Index() types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName: aws.String(r.config.Index),
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(r.config.IndexPK), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(r.config.IndexSK), KeyType: types.KeyTypeRange},
		},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}
}

// IndexAttributes returns the definitions of the index's key attributes, for CreateTable or UpdateTable.
func (r *Requests) IndexAttributes() []types.AttributeDefinition {
	return []types.AttributeDefinition{
		{AttributeName: aws.String(r.config.IndexPK), AttributeType: types.ScalarAttributeTypeS},
		{AttributeName: aws.String(r.config.IndexSK), AttributeType: types.ScalarAttributeTypeS},
	}
}

// Listed is a request as the index shows it. The index may lag: the record says what is true.
type Listed struct {
	Tenant, Key string
	// At is when the request is due for repair, or was escalated.
	At time.Time
}

// Get reads a request by its key alone, with a strong read (AP08, IDX08). If there is none, the error is a
// [*NotFoundError].
//
// Cost: 1 read unit for each 4 KiB begun of the record.
func (r *Requests) Get(ctx context.Context, client Reader, tenant, key string) (_ Record, err error) {
	ctx, op := r.watch.Begin(ctx, "AP08.get")
	defer op.End(&err)
	if r.err != nil {
		return Record{}, r.err
	}
	place, err := keys.Request(tenant, key)
	if err != nil {
		return Record{}, &InvalidError{Field: "Request", Reason: "does not give a key", Cause: err}
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.config.Table.Name, Key: r.config.Table.Key(place.PK, place.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Record{}, errRead.Wrap(err, "idempotency: read of %s: %v", business(tenant, key), err)
	}
	if len(out.Item) == 0 {
		return Record{}, &NotFoundError{Tenant: tenant, Key: key}
	}
	rec, err := r.config.decode(tenant, key, out.Item)
	if err != nil {
		return Record{}, err
	}
	return *rec, nil
}

// Decode reads an item of the table, as a table export has it: ok is false for an item that is no request. The error is a
// [*RecordError] or a [*VersionError].
func (r *Requests) Decode(item txn.Item) (rec Record, ok bool, err error) {
	pk, _ := item[r.config.Table.PK].(*types.AttributeValueMemberS)
	sk, _ := item[r.config.Table.SK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return Record{}, false, nil
	}
	tenant, key, err := keys.ParseRequest(keys.Key{PK: pk.Value, SK: sk.Value})
	if err != nil {
		return Record{}, false, nil
	}
	decoded, err := r.config.decode(tenant, key, item)
	if err != nil {
		return Record{Tenant: tenant, Key: key}, true, err
	}
	return *decoded, true, nil
}

// Due lists a tenant's requests that are due for repair at the cutoff, shard by shard, the earliest of each first (AP18,
// IDX19): attempts whose lease has ended, requests whose outcome is not known, and released ones that nobody repeated. It
// asks page by page while the caller ranges. An entry that cannot be read is an error and the next one follows, so that it
// hides nobody else's; after an [ErrRead] the iteration ends.
//
// Cost: for each shard and page half a read unit for each 4 KiB begun of index entries; half a unit for a shard without
// any.
func (r *Requests) Due(ctx context.Context, client QueryClient, tenant string, cutoff time.Time) iter.Seq2[Listed, error] {
	through, err := keys.DueThrough(cutoff)
	if err != nil {
		return failing[Listed](&InvalidError{Field: "cutoff", Reason: "cannot be stored", Cause: err})
	}
	return r.listed(ctx, client, tenant, "AP18.due", keys.RepairDuePartition, through, func(k keys.Key) (Listed, error) {
		tenant, _, at, key, err := keys.ParseRepairDue(k)
		return Listed{Tenant: tenant, Key: key, At: at}, err
	})
}

// Escalated lists a tenant's requests on which an operator has to decide, each read strongly, shard by shard, the oldest
// of each first (AP18). See [Requests.Settle], [Requests.Free] and [Requests.Requeue]. It asks page by page while the
// caller ranges. Errors as for [Requests.Due].
//
// Cost: as for [Requests.Due], and 1 read unit for each 4 KiB begun of every record.
func (r *Requests) Escalated(ctx context.Context, client RepairReader, tenant string) iter.Seq2[Record, error] {
	return watch.Each(ctx, &r.watch, "AP18.escalated", "", func(ctx context.Context, yield func(Record, error) bool) {
		for entry, err := range r.listed(ctx, client, tenant, "", keys.RepairEscalatedPartition, allEscalated, escalatedEntry) {
			var rec Record
			if err == nil {
				rec, err = r.Get(ctx, client, entry.Tenant, entry.Key)
			}
			if err == nil && rec.State != Escalated {
				continue // decided since the index saw it
			}
			if !yield(rec, err) {
				return
			}
		}
	})
}

const allEscalated = "AU" // behind every key that begins with AT#

func escalatedEntry(k keys.Key) (Listed, error) {
	tenant, _, at, key, err := keys.ParseRepairEscalated(k)
	return Listed{Tenant: tenant, Key: key, At: at}, err
}

func failing[V any](err error) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var zero V
		yield(zero, err)
	}
}

// listed reads the entries of all shards up to a sort key.
func (r *Requests) listed(ctx context.Context, client QueryClient, tenant, label string, partition func(string, int) (string, error),
	through string, parse func(keys.Key) (Listed, error)) iter.Seq2[Listed, error] {
	return watch.Each(ctx, &r.watch, label, "", func(ctx context.Context, yield func(Listed, error) bool) {
		if r.err != nil {
			yield(Listed{}, r.err)
			return
		}
		for shard := range r.config.Map.Shards {
			pk, err := partition(tenant, shard)
			if err != nil {
				yield(Listed{}, &InvalidError{Field: "tenant", Reason: "does not give a key", Cause: err})
				return
			}
			query := &dynamodb.QueryInput{
				TableName: &r.config.Table.Name, IndexName: &r.config.Index,
				KeyConditionExpression:    aws.String("#pk = :pk AND #sk <= :through"),
				ExpressionAttributeNames:  map[string]string{"#pk": r.config.IndexPK, "#sk": r.config.IndexSK},
				ExpressionAttributeValues: txn.Item{":pk": stringAttr(pk), ":through": stringAttr(through)},
			}
			for more := true; more; more = query.ExclusiveStartKey != nil {
				page, err := client.Query(ctx, query, watch.In(ctx)...)
				if err != nil {
					yield(Listed{}, errRead.Wrap(err, "idempotency: list of requests of tenant %q in need of repair: %v", tenant, err))
					return
				}
				for _, item := range page.Items {
					d := &decoder{tenant: tenant, item: item}
					entry, err := parse(keys.Key{PK: d.text(r.config.IndexPK), SK: d.text(r.config.IndexSK)})
					if err != nil {
						err = &RecordError{Tenant: tenant, Attribute: r.config.IndexSK, Reason: "is no key of a listed request"}
					}
					if !yield(entry, err) {
						return
					}
				}
				query.ExclusiveStartKey = page.LastEvaluatedKey
			}
		}
	})
}

// Finding is what a [Prober] found out.
type Finding struct {
	verdict findingVerdict
	result  Result
	parts   []txn.Part
	reason  string
}

type findingVerdict uint8

const (
	ambiguous findingVerdict = iota // also the zero Finding
	found
	absent
)

// Found says that the effect has happened, or that it was refused for good: this is the result. The parts are committed
// with it, for what else is true by it, as in [Claim.Complete].
func Found(result Result, parts ...txn.Part) Finding {
	return Finding{verdict: found, result: result.clone(), parts: slices.Clone(parts)}
}

// AbsentForGood says that the effect has not happened and that it cannot happen any more: the attempt's call was refused or
// voided at the other system, or it is one that a repeat cannot double. That a look found nothing is not enough, as long
// as a call of a process that stood still may yet arrive.
func AbsentForGood() Finding { return Finding{verdict: absent} }

// Ambiguous says that it could not be found out this time, and why.
func Ambiguous(reason string) Finding { return Finding{reason: reason} }

// A Prober finds out what became of an attempt. It reads the effect strongly: what an index, a cache or a replica shows may
// be from before. The record was read strongly and is held by the worker while it looks; Mode, Attempt, Reason and Evidence
// say what is known. An error is as good as [Ambiguous]. It may be asked again about the same attempt.
type Prober interface {
	// Probe looks once. Its context ends with the worker's lease.
	Probe(ctx context.Context, r Record) (Finding, error)
}

// ProberFunc is a function that is a Prober.
type ProberFunc func(ctx context.Context, r Record) (Finding, error)

// Probe implements [Prober].
//
// Cost and errors: those of the function.
func (f ProberFunc) Probe(ctx context.Context, r Record) (Finding, error) { return f(ctx, r) }
