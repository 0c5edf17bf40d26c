package dynamosim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
)

var streamOperations = []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}

// rawStream is a database with a table "tab" whose stream has a closed and an open shard with a record each.
func rawStream(t testing.TB) *dynamosim.DB {
	t.Helper()
	at := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	db := dynamosim.Open(dynamosim.Options{
		Now: func() time.Time { return at }, Streams: dynamosim.StreamOptions{SplitAfter: 1},
	})
	table := strings.Replace(rawTable, "{", `{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},`, 1)
	for _, request := range [][2]string{{"CreateTable", table}, {"PutItem", rawItem}, {"DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"s"}}}`}} {
		if status, answer := post(t, db, request[0], []byte(request[1])); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	return db
}

// FuzzStreamRequest sends any body to any operation on streams. Whatever it is, nothing panics, the answer has the
// service's shape, and an equal database gives an equal answer.
func FuzzStreamRequest(f *testing.F) {
	_, described := postTo(f, rawStream(f), "DynamoDBStreams_20120810.DescribeStream", []byte(`{"StreamArn":"`+rawStreamARN+`"}`))
	_, rest, _ := strings.Cut(described, `"ShardId":"`)
	shard, _, _ := strings.Cut(rest, `"`)
	at := `{"StreamArn":"` + rawStreamARN + `","ShardId":"` + shard + `","ShardIteratorType":`
	_, iterator := postTo(f, rawStream(f), "DynamoDBStreams_20120810.GetShardIterator", []byte(at+`"TRIM_HORIZON"}`))
	for i, bodies := range [][]string{
		{`{"TableName":"tab"}`, `{"ExclusiveStartStreamArn":"` + rawStreamARN + `","Limit":1}`},
		{`{"StreamArn":"` + rawStreamARN + `","Limit":1,"ExclusiveStartShardId":"` + shard + `"}`,
			`{"StreamArn":"` + rawStreamARN + `","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"` + shard + `"}}`},
		{at + `"LATEST"}`, at + `"AT_SEQUENCE_NUMBER","SequenceNumber":"300000000000000000001"}`,
			at + `"AFTER_SEQUENCE_NUMBER","SequenceNumber":"300000000000000000099"}`,
			at + `"AT_TIMESTAMP","Timestamp":1.7959e9}`, at + `"AT_TIMESTAMP","Timestamp":-1e308}`},
		{iterator, strings.Replace(iterator, "{", `{"Limit":1,`, 1), `{"ShardIterator":"` + rawStreamARN + `|1|c2hhcmQgMSAx"}`},
	} {
		for _, body := range append(bodies, `{}`, `null`, `[]`, `{"ShardFilter":{}}`) {
			f.Add(uint8(i), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, choice uint8, body []byte) {
		target := "DynamoDBStreams_20120810." + streamOperations[int(choice)%len(streamOperations)]
		status, answer := postTo(t, rawStream(t), target, body)
		checkShape(t, status, answer)
		if repeated, same := postTo(t, rawStream(t), target, body); repeated != status || same != answer {
			t.Errorf("the same request to the same database gave\n%s\nand\n%s", answer, same)
		}
	})
}

const rawStreamARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/2026-11-29T14:18:00.000"
