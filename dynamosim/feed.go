package dynamosim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Feed delivers a stream the way Lambda does: it finds the shards, reads parents before children, and hands every record
// over at least once, in batches. A batch whose handler fails comes again and holds up its shard, not the others; a
// batch that was handled comes again if Repeat says so.
//
//	feed := dynamosim.NewFeed(db.StreamsClient(), streamARN)
//	n, err := feed.Poll(ctx, handler)
//
// What is trimmed before it was read is reported once, as a TrimmedDataAccessException, and skipped. A Feed reads simulated
// and real streams, keeps its position in memory, and is not for concurrent use.
type Feed struct {
	// Batch is the largest number of records handed over at once. Default: 100.
	Batch int32
	// Repeat is asked after a batch of a shard was handled; true delivers it a second time. A handler that is not
	// idempotent shows here. Default: no repeats.
	Repeat func(shard string, batch []types.Record) bool

	client *dynamodbstreams.Client
	arn    string
	shards map[string]*feedShard
}

// Handler takes one batch of one shard. An error refuses all of it.
type Handler func(ctx context.Context, batch []types.Record) error

// feedShard is how far a shard was read.
type feedShard struct {
	id, parent string
	iterator   *string
	// last is the sequence number of the last record handled.
	last *string
	done bool
}

// NewFeed returns a Feed that begins with the oldest records of a stream.
func NewFeed(client *dynamodbstreams.Client, streamARN string) *Feed {
	return &Feed{client: client, arn: streamARN, shards: map[string]*feedShard{}}
}

// Poll delivers at most one batch of each shard whose parent is read to its end. It returns how many records were
// handled, each counted once, and all errors of handlers and of the stream. Zero records do not mean that the stream has
// no more: a child may have become readable, or a record may be on its way.
func (f *Feed) Poll(ctx context.Context, handle Handler) (int, error) {
	before := f.shards
	order, err := f.discover(ctx)
	if err != nil {
		return 0, err
	}
	handled := 0
	failed := f.lost(before)
	for _, shard := range order {
		if parent, known := f.shards[shard.parent]; shard.done || known && !parent.done {
			continue
		}
		n, err := f.deliver(ctx, shard, handle)
		handled += n
		if err != nil {
			failed = append(failed, shard.failure(err))
		}
	}
	return handled, errors.Join(failed...)
}

// discover returns the shards that the stream has now, in its order, and forgets those it has no more.
func (f *Feed) discover(ctx context.Context) ([]*feedShard, error) {
	var order []*feedShard
	present := map[string]*feedShard{}
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &f.arn}
	for {
		out, err := f.client.DescribeStream(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("dynamosim: feed of %s: %w", f.arn, err)
		}
		for _, s := range out.StreamDescription.Shards {
			id := aws.ToString(s.ShardId)
			shard := f.shards[id]
			if shard == nil {
				shard = &feedShard{id: id, parent: aws.ToString(s.ParentShardId)}
			}
			present[id] = shard
			order = append(order, shard)
		}
		in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId
		if in.ExclusiveStartShardId == nil {
			f.shards = present
			return order, nil
		}
	}
}

// lost reports the shards that are gone before they were read to their end.
func (f *Feed) lost(before map[string]*feedShard) []error {
	var lost []error
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if shard := before[id]; f.shards[id] == nil && !shard.done {
			lost = append(lost, shard.failure(&types.TrimmedDataAccessException{Message: aws.String("the shard is gone")}))
		}
	}
	return lost
}

func (s *feedShard) failure(err error) error {
	return fmt.Errorf("dynamosim: feed of shard %s: %w", s.id, err)
}

// deliver hands over the next batch of a shard.
func (f *Feed) deliver(ctx context.Context, shard *feedShard, handle Handler) (int, error) {
	out, err := f.read(ctx, shard)
	if err != nil {
		return 0, err
	}
	if n := len(out.Records); n > 0 {
		if err := handle(ctx, out.Records); err != nil {
			return 0, err
		}
		shard.last = out.Records[n-1].Dynamodb.SequenceNumber
	}
	shard.iterator, shard.done = out.NextShardIterator, out.NextShardIterator == nil
	if len(out.Records) > 0 && f.Repeat != nil && f.Repeat(shard.id, out.Records) {
		return len(out.Records), handle(ctx, out.Records)
	}
	return len(out.Records), nil
}

// read gets the next page. An iterator lives for 15 minutes; one that has expired is replaced.
func (f *Feed) read(ctx context.Context, shard *feedShard) (*dynamodbstreams.GetRecordsOutput, error) {
	for attempt := 0; ; attempt++ {
		out, err := f.readOnce(ctx, shard)
		var expired *types.ExpiredIteratorException
		var trimmed *types.TrimmedDataAccessException
		switch {
		case errors.As(err, &trimmed):
			shard.iterator, shard.last = nil, nil
			return nil, err
		case errors.As(err, &expired) && attempt == 0:
			shard.iterator = nil
		default:
			return out, err
		}
	}
}

func (f *Feed) readOnce(ctx context.Context, shard *feedShard) (*dynamodbstreams.GetRecordsOutput, error) {
	if shard.iterator == nil {
		if err := f.seek(ctx, shard); err != nil {
			return nil, err
		}
	}
	batch := f.Batch
	if batch == 0 {
		batch = 100
	}
	return f.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: shard.iterator, Limit: &batch})
}

// seek gets an iterator behind the last record handled.
func (f *Feed) seek(ctx context.Context, shard *feedShard) error {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &f.arn, ShardId: &shard.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if shard.last != nil {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, shard.last
	}
	out, err := f.client.GetShardIterator(ctx, in)
	if err != nil {
		return err
	}
	shard.iterator = out.ShardIterator
	return nil
}
