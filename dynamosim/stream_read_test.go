package dynamosim_test

import (
	"fmt"
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

const (
	fromHorizon  = streams.ShardIteratorTypeTrimHorizon
	fromLatest   = streams.ShardIteratorTypeLatest
	fromSequence = streams.ShardIteratorTypeAtSequenceNumber
	fromAfter    = streams.ShardIteratorTypeAfterSequenceNumber
	fromTime     = streams.ShardIteratorTypeAtTimestamp
)

// oneShard has a single shard that never ends.
var oneShard = dynamosim.StreamOptions{ShardLife: -1}

func TestEachIteratorBeginsWhereItSays(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	start := st.now
	for _, sk := range []string{"1", "2", "3"} {
		st.put(t, "p", sk)
		st.pass(time.Minute)
	}
	shard := st.shards(t)[0]
	second := st.records(t)[1].Dynamodb.SequenceNumber
	for _, c := range []struct {
		kind streams.ShardIteratorType
		more []func(*dynamodbstreams.GetShardIteratorInput)
		want string
	}{
		{fromHorizon, nil, "1 2 3 4"},
		{fromLatest, nil, "4"},
		{fromSequence, []func(*dynamodbstreams.GetShardIteratorInput){atSequence(second)}, "2 3 4"},
		{fromSequence, []func(*dynamodbstreams.GetShardIteratorInput){atSequence(shard.SequenceNumberRange.StartingSequenceNumber)}, "1 2 3 4"},
		{fromAfter, []func(*dynamodbstreams.GetShardIteratorInput){atSequence(second)}, "3 4"},
		{fromTime, []func(*dynamodbstreams.GetShardIteratorInput){atTime(start.Add(-time.Hour))}, "1 2 3 4"},
		{fromTime, []func(*dynamodbstreams.GetShardIteratorInput){atTime(start.Add(time.Minute).Truncate(time.Second))}, "2 3 4"},
		{fromTime, []func(*dynamodbstreams.GetShardIteratorInput){atTime(start.Add(time.Minute))}, "3 4"},
		{fromTime, []func(*dynamodbstreams.GetShardIteratorInput){atTime(start.Add(3 * time.Minute))}, "4"},
	} {
		iterator, err := st.iterator(shard, c.kind, c.more...)
		must(t, iterator, err)
		st.put(t, "p", "4")
		records, _ := st.page(t, iterator)
		st.remove(t, "p", "4")
		var got []string
		for _, r := range records {
			// Earlier rounds inserted and removed the fourth item too.
			if sk := streamText(r.Dynamodb.Keys["sk"]); len(got) == 0 || got[len(got)-1] != sk {
				got = append(got, sk)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s reads %v, want %s", c.kind, got, c.want)
		}
	}
}

func TestAnEmptyPageIsNotTheEnd(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	iterator, err := st.iterator(st.shards(t)[0], fromLatest)
	must(t, iterator, err)
	for range 3 {
		var page []streams.Record
		if page, iterator = st.page(t, iterator); len(page) != 0 || iterator == nil {
			t.Fatalf("page is %v, next iterator %v", page, iterator)
		}
		st.pass(10 * time.Minute)
	}
	st.put(t, "p", "s")
	page, _ := st.page(t, iterator)
	wantBrief(t, page, "INSERT p/s")
}

func TestAnIteratorMayBeUsedTwice(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	st.put(t, "p", "1")
	iterator, err := st.iterator(st.shards(t)[0], fromHorizon)
	must(t, iterator, err)
	for range 2 {
		page, _ := st.page(t, iterator)
		wantBrief(t, page, "INSERT p/1")
	}
}

func TestAPageHoldsAThousandRecordsOrAMegabyte(t *testing.T) {
	for _, c := range []struct {
		writes, bytes int
		want          []int
	}{
		{2100, 1, []int{1000, 1000, 100, 0}},
		{7, 300_000, []int{3, 3, 1, 0}},
	} {
		st := newStreamed(t, types.StreamViewTypeNewImage, oneShard)
		for i := range c.writes {
			st.put(t, "p", fmt.Sprint(i), "pad", s(strings.Repeat("x", c.bytes)))
		}
		iterator, err := st.iterator(st.shards(t)[0], fromHorizon)
		must(t, iterator, err)
		next := 0
		for _, want := range c.want {
			var page []streams.Record
			page, iterator = st.page(t, iterator)
			if len(page) != want {
				t.Errorf("page of %d records, want %d", len(page), want)
			}
			for _, r := range page {
				if got := streamText(r.Dynamodb.Keys["sk"]); got != fmt.Sprint(next) {
					t.Fatalf("record %s, want %d", got, next)
				}
				next++
			}
		}
	}
}

func TestAnIteratorExpiresAfterFifteenMinutes(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	iterator, err := st.iterator(st.shards(t)[0], fromHorizon)
	must(t, iterator, err)
	st.pass(15*time.Minute - time.Millisecond)
	_, next := st.page(t, iterator)
	st.pass(time.Millisecond)
	_, err = st.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	wantCode(t, err, "ExpiredIteratorException")
	st.page(t, next)
}

func TestRecordsAreTrimmedAfterADay(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	shard := st.shards(t)[0]
	st.put(t, "p", "1")
	first := st.records(t)[0].Dynamodb.SequenceNumber
	st.pass(time.Hour)
	st.put(t, "p", "2")
	st.pass(23*time.Hour - time.Millisecond)
	wantBrief(t, st.records(t), "INSERT p/1, INSERT p/2")
	old, err := st.iterator(shard, fromHorizon)
	must(t, old, err)
	st.pass(time.Millisecond)
	wantBrief(t, st.records(t), "INSERT p/2")

	_, err = st.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: old})
	wantCode(t, err, "TrimmedDataAccessException")
	_, err = st.iterator(shard, fromSequence, atSequence(first))
	wantCode(t, err, "TrimmedDataAccessException")
	after, err := st.iterator(shard, fromAfter, atSequence(first))
	page, _ := st.page(t, must(t, after, err))
	wantBrief(t, page, "INSERT p/2")
	at, err := st.iterator(shard, fromTime, atTime(st.now.Add(-48*time.Hour)))
	page, _ = st.page(t, must(t, at, err))
	wantBrief(t, page, "INSERT p/2")
}

func TestAStreamIsReadableForADayAfterItsTableIsDeleted(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	st.put(t, "p", "s")
	out, err := st.table.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: st.name})
	must(t, out, err)
	st.pass(24*time.Hour - time.Millisecond)
	wantBrief(t, st.records(t), "INSERT p/s")
	shard := st.shards(t)[0]
	if shard.SequenceNumberRange.EndingSequenceNumber == nil {
		t.Error("the shard of a disabled stream is open")
	}
	iterator, err := st.iterator(shard, fromHorizon)
	if _, next := st.page(t, must(t, iterator, err)); next != nil {
		t.Error("the shard of a disabled stream has no end")
	}
	d, err := st.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: st.arn})
	if status := must(t, d, err).StreamDescription.StreamStatus; status != streams.StreamStatusDisabled {
		t.Errorf("status is %s", status)
	}
	st.pass(time.Millisecond)
	_, err = st.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: st.arn})
	wantCode(t, err, "ResourceNotFoundException")
	list, err := st.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
	if n := len(must(t, list, err).Streams); n != 0 {
		t.Errorf("%d streams are listed", n)
	}
}

func TestATableCreatedAgainHasANewStream(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	st.put(t, "p", "s")
	out, err := st.table.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: st.name})
	must(t, out, err)
	again := testTable(*st.name)
	again.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: bothImages}
	created, err := st.table.CreateTable(ctx, again)
	second := must(t, created, err).TableDescription.LatestStreamArn
	if *second == *st.arn {
		t.Fatal("both streams have one ARN")
	}
	wantBrief(t, st.records(t), "INSERT p/s")
	st.arn = second
	wantBrief(t, st.records(t), "")
}
