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

const bothImages = types.StreamViewTypeNewAndOldImages

func TestARecordTellsWhatHappenedToOneItem(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	st.put(t, "p", "s", "n", n("101"))
	r := st.records(t)[0]
	if *r.AwsRegion != "us-east-1" || *r.EventSource != "aws:dynamodb" || *r.EventVersion != "1.1" || len(*r.EventID) != 32 || r.UserIdentity != nil {
		t.Errorf("record is %+v", r)
	}
	d := r.Dynamodb
	if want := st.now.Truncate(time.Second); !d.ApproximateCreationDateTime.Equal(want) {
		t.Errorf("created at %v, want %v in whole seconds", d.ApproximateCreationDateTime, want)
	}
	if strings.Trim(*d.SequenceNumber, "0123456789") != "" || len(*d.SequenceNumber) < 21 || len(*d.SequenceNumber) > 40 {
		t.Errorf("sequence number is %s", *d.SequenceNumber)
	}
	// The keys are 3 + 3 bytes, and the new image is the keys and 1 + 3 bytes.
	if d.StreamViewType != streams.StreamViewTypeNewAndOldImages || *d.SizeBytes != 16 || streamText(d.NewImage["n"]) != "101" {
		t.Errorf("record is %+v", d)
	}
}

func TestEachViewShowsItsImages(t *testing.T) {
	for _, c := range []struct {
		view types.StreamViewType
		want string // old/new of an INSERT, a MODIFY and a REMOVE
	}{
		{types.StreamViewTypeKeysOnly, "/ / /"},
		{types.StreamViewTypeNewImage, "/1 /2 /"},
		{types.StreamViewTypeOldImage, "/ 1/ 2/"},
		{bothImages, "/1 1/2 2/"},
	} {
		st := newStreamed(t, c.view, dynamosim.StreamOptions{})
		st.put(t, "p", "s", "v", n("1"))
		st.put(t, "p", "s", "v", n("2"))
		st.remove(t, "p", "s")
		records := st.records(t)
		wantBrief(t, records, "INSERT p/s, MODIFY p/s, REMOVE p/s")
		var images []string
		for _, r := range records {
			images = append(images, streamText(r.Dynamodb.OldImage["v"])+"/"+streamText(r.Dynamodb.NewImage["v"]))
			if string(r.Dynamodb.StreamViewType) != string(c.view) {
				t.Errorf("view is %s, want %s", r.Dynamodb.StreamViewType, c.view)
			}
		}
		if got := strings.Join(images, " "); got != c.want {
			t.Errorf("%s shows %s, want %s", c.view, got, c.want)
		}
	}
}

func TestAWriteThatChangesNothingIsNoRecord(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	st.put(t, "p", "s", "set", &types.AttributeValueMemberSS{Value: []string{"a", "b"}})
	st.put(t, "p", "s", "set", &types.AttributeValueMemberSS{Value: []string{"b", "a"}})
	st.remove(t, "p", "other")
	out, err := st.table.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: st.name, Key: key("p", "s"), UpdateExpression: aws.String("REMOVE gone"),
	})
	must(t, out, err)
	wantBrief(t, st.records(t), "INSERT p/s")
}

func TestEveryKindOfWriteIsRecorded(t *testing.T) {
	st := newStreamed(t, types.StreamViewTypeKeysOnly, dynamosim.StreamOptions{})
	update, err := st.table.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: st.name, Key: key("p", "1")})
	must(t, update, err)
	batch, err := st.table.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*st.name: {
		{DeleteRequest: &types.DeleteRequest{Key: key("p", "1")}}, {PutRequest: &types.PutRequest{Item: key("p", "2")}},
	}}})
	must(t, batch, err)
	transaction, err := st.table.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: st.name, Item: key("p", "3")}},
		{Delete: &types.Delete{TableName: st.name, Key: key("p", "2")}},
		{ConditionCheck: &types.ConditionCheck{
			TableName: st.name, Key: key("p", "4"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}},
	}})
	must(t, transaction, err)
	wantBrief(t, st.records(t), "INSERT p/1, REMOVE p/1, INSERT p/2, INSERT p/3, REMOVE p/2")
}

func TestStreamsAreListedInPagesAndByTable(t *testing.T) {
	c := newClock()
	db := dynamosim.New(t, dynamosim.Options{Now: func() time.Time { return c.now }})
	for _, name := range []string{"eee", "bbb", "ddd", "aaa", "ccc"} {
		in := testTable(name)
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: bothImages}
		out, err := db.Client().CreateTable(ctx, in)
		d := must(t, out, err).TableDescription
		if !strings.HasSuffix(*d.LatestStreamArn, ":table/"+name+"/stream/"+*d.LatestStreamLabel) || !*d.StreamSpecification.StreamEnabled {
			t.Errorf("described as %+v", d)
		}
	}
	list := func(in *dynamodbstreams.ListStreamsInput) string {
		var names []string
		for {
			out, err := db.StreamsClient().ListStreams(ctx, in)
			for _, s := range must(t, out, err).Streams {
				names = append(names, *s.TableName)
			}
			if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
				return strings.Join(names, " ")
			}
			names = append(names, "|")
		}
	}
	if got := list(&dynamodbstreams.ListStreamsInput{Limit: aws.Int32(2)}); got != "aaa bbb | ccc ddd | eee" {
		t.Errorf("listed %s", got)
	}
	if got := list(&dynamodbstreams.ListStreamsInput{TableName: aws.String("ccc")}); got != "ccc" {
		t.Errorf("listed %s", got)
	}
}

func TestAStreamIsDescribedWithItsShards(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{Shards: 5})
	out, err := st.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: st.arn})
	d := must(t, out, err).StreamDescription
	if d.StreamStatus != streams.StreamStatusEnabled || *d.TableName != "orders" || len(d.KeySchema) != 2 || !d.CreationRequestDateTime.Equal(st.now) {
		t.Errorf("described as %+v", d)
	}
	shards := st.shards(t)
	if len(shards) != 5 || len(d.Shards) != 5 {
		t.Fatalf("%d shards in pages, %d at once", len(shards), len(d.Shards))
	}
	for i, s := range shards {
		r := s.SequenceNumberRange
		if s.ParentShardId != nil || r.StartingSequenceNumber == nil || r.EndingSequenceNumber != nil || *s.ShardId != *d.Shards[i].ShardId {
			t.Errorf("shard %d is %+v", i, s)
		}
	}
}

func TestRequestsAboutStreamsAreChecked(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	shard := st.shards(t)[0]
	position := func(change func(*dynamodbstreams.GetShardIteratorInput)) error {
		in := &dynamodbstreams.GetShardIteratorInput{
			StreamArn: st.arn, ShardId: shard.ShardId, ShardIteratorType: streams.ShardIteratorTypeLatest,
		}
		change(in)
		_, err := st.streams.GetShardIterator(ctx, in)
		return err
	}
	describe := func(arn string) error {
		_, err := st.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
		return err
	}
	get := func(iterator string) error {
		_, err := st.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator})
		return err
	}
	type in = dynamodbstreams.GetShardIteratorInput
	kind := func(k streams.ShardIteratorType) func(*in) { return func(i *in) { i.ShardIteratorType = k } }
	_, err := st.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("x"), Limit: aws.Int32(1001)})
	for i, c := range []struct {
		err  error
		code string
	}{
		{err, "ValidationException"},
		{describe("arn"), "ValidationException"},
		{describe(strings.Repeat("no arn ", 10)), "ValidationException"},
		{describe(*st.arn + "0"), "ResourceNotFoundException"},
		{get("no iterator"), "ValidationException"},
		{get(*st.arn + "|1|AAAA"), "ValidationException"},
		{get(*st.arn + "|1|c2hhcmQgMSAx"), "ExpiredIteratorException"},
		{position(func(i *in) { i.ShardId = aws.String("shard") }), "ValidationException"},
		{position(func(i *in) { i.ShardId = aws.String(strings.Repeat("shard", 7)) }), "ResourceNotFoundException"},
		{position(kind("EARLIEST")), "ValidationException"},
		{position(kind(streams.ShardIteratorTypeAtSequenceNumber)), "ValidationException"},
		{position(kind(streams.ShardIteratorTypeAtTimestamp)), "ValidationException"},
		{position(atSequence(shard.SequenceNumberRange.StartingSequenceNumber)), "ValidationException"},
		{position(atTime(st.now)), "ValidationException"},
		{position(func(i *in) { kind(streams.ShardIteratorTypeAtTimestamp)(i); atTime(st.now.Add(time.Second))(i) }), "ValidationException"},
		{position(func(i *in) {
			kind(streams.ShardIteratorTypeAtSequenceNumber)(i)
			atSequence(aws.String(strings.Repeat("9", 40)))(i)
		}), "ValidationException"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { wantCode(t, c.err, c.code) })
	}
}

func TestAStreamNeedsAViewAndNoStreamHasNone(t *testing.T) {
	client := dynamosim.New(t).Client()
	for _, spec := range []types.StreamSpecification{
		{StreamEnabled: aws.Bool(true)},
		{StreamEnabled: aws.Bool(false), StreamViewType: bothImages},
		{StreamEnabled: aws.Bool(true), StreamViewType: "ALL"},
	} {
		in := testTable("orders")
		in.StreamSpecification = &spec
		_, err := client.CreateTable(ctx, in)
		wantCode(t, err, "ValidationException")
	}
	in := testTable("orders")
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
	out, err := client.CreateTable(ctx, in)
	if d := must(t, out, err).TableDescription; d.LatestStreamArn != nil || d.StreamSpecification != nil {
		t.Errorf("described as %+v", d)
	}
}

func TestEachProtocolHasItsOwnOperations(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	st.records(t)
	requests := st.db.Stats().Requests
	if requests["GetRecords"] != 1 || requests["GetShardIterator"] != 1 {
		t.Errorf("counted %v", requests)
	}
	if status, answer := post(t, st.db, "ListStreams", []byte(`{}`)); status == 200 {
		t.Errorf("the database answers an operation of streams: %s", answer)
	}
}
