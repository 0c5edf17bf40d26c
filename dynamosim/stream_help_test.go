package dynamosim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// fatal is what testing.TB and rapid.T have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

// ok fails the test on an error.
func ok[T any](t fatal, out T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// clock is a database's clock that moves when told.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 29, 14, 18, 0, 250_000_000, time.UTC)} }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

// streamed is a database with one table that has a stream.
type streamed struct {
	*clock
	db      *dynamosim.DB
	table   *dynamodb.Client
	streams *dynamodbstreams.Client
	name    *string
	arn     *string
}

func newStreamed(t fatal, view types.StreamViewType, o dynamosim.StreamOptions) *streamed {
	t.Helper()
	return openStreamed(t, view, dynamosim.Options{Streams: o})
}

func openStreamed(t fatal, view types.StreamViewType, o dynamosim.Options) *streamed {
	t.Helper()
	c := newClock()
	o.Now = func() time.Time { return c.now }
	db := dynamosim.Open(o)
	st := &streamed{clock: c, db: db, table: db.Client(), streams: db.StreamsClient(), name: aws.String("orders")}
	in := testTable(*st.name)
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view}
	out, err := st.table.CreateTable(ctx, in)
	st.arn = ok(t, out, err).TableDescription.LatestStreamArn
	return st
}

func (st *streamed) put(t fatal, pk, sk string, more ...any) {
	t.Helper()
	out, err := st.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: st.name, Item: with(key(pk, sk), more...)})
	ok(t, out, err)
}

func (st *streamed) remove(t fatal, pk, sk string) {
	t.Helper()
	out, err := st.table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: st.name, Key: key(pk, sk)})
	ok(t, out, err)
}

// shards returns the stream's shards, over as many pages as it takes.
func (st *streamed) shards(t fatal) []streams.Shard {
	t.Helper()
	var all []streams.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: st.arn, Limit: aws.Int32(3)}
	for {
		out, err := st.streams.DescribeStream(ctx, in)
		d := ok(t, out, err).StreamDescription
		all = append(all, d.Shards...)
		if in.ExclusiveStartShardId = d.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return all
		}
	}
}

// iterator asks for an iterator; more may change the request.
func (st *streamed) iterator(shard streams.Shard, kind streams.ShardIteratorType, more ...func(*dynamodbstreams.GetShardIteratorInput)) (*string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: st.arn, ShardId: shard.ShardId, ShardIteratorType: kind}
	for _, change := range more {
		change(in)
	}
	out, err := st.streams.GetShardIterator(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

func atSequence(number *string) func(*dynamodbstreams.GetShardIteratorInput) {
	return func(in *dynamodbstreams.GetShardIteratorInput) { in.SequenceNumber = number }
}

func atTime(at time.Time) func(*dynamodbstreams.GetShardIteratorInput) {
	return func(in *dynamodbstreams.GetShardIteratorInput) { in.Timestamp = aws.Time(at) }
}

// page reads one page.
func (st *streamed) page(t fatal, iterator *string) ([]streams.Record, *string) {
	t.Helper()
	out, err := st.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	return ok(t, out, err).Records, out.NextShardIterator
}

// records reads everything the stream has, parents before children.
func (st *streamed) records(t fatal) []streams.Record {
	t.Helper()
	var all []streams.Record
	for _, shard := range st.shards(t) {
		iterator, err := st.iterator(shard, streams.ShardIteratorTypeTrimHorizon)
		page, _ := st.page(t, ok(t, iterator, err))
		all = append(all, page...)
	}
	return all
}

// brief shows records as "INSERT p/s" each.
func brief(records []streams.Record) string {
	var out []string
	for _, r := range records {
		out = append(out, string(r.EventName)+" "+streamText(r.Dynamodb.Keys["pk"])+"/"+streamText(r.Dynamodb.Keys["sk"]))
	}
	return strings.Join(out, ", ")
}

func streamText(v streams.AttributeValue) string {
	switch v := v.(type) {
	case *streams.AttributeValueMemberS:
		return v.Value
	case *streams.AttributeValueMemberN:
		return v.Value
	default:
		return ""
	}
}

// wantBrief fails the test unless the records are the expected ones.
func wantBrief(t testing.TB, records []streams.Record, want string) {
	t.Helper()
	if got := brief(records); got != want {
		t.Fatalf("records are\n %s, want\n %s", got, want)
	}
}
