package kinesis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/kinesis"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/publishertest"
	"github.com/dynafin/dynafin/outbox/kinesis"
)

// client is the real SDK client, which does not repeat calls by itself.
func client(http aws.HTTPClient) *sdk.Client {
	return sdk.New(sdk.Options{Region: "eu-central-1", Credentials: publishertest.Credentials, HTTPClient: http, Retryer: aws.NopRetryer{}})
}

// read reads a PutRecords.
func read(body []byte) (all []publishertest.Sent, err error) {
	var in struct {
		StreamName string
		Records    []struct {
			Data         *[]byte
			PartitionKey string
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	for _, r := range in.Records {
		if in.StreamName != "orders" || r.Data == nil {
			return nil, fmt.Errorf("the call is %+v", in)
		}
		all = append(all, publishertest.Sent{Body: *r.Data, Group: r.PartitionKey, Bytes: len(*r.Data) + len(r.PartitionKey)})
	}
	return all, nil
}

func write(sent []publishertest.Sent, outcomes []publishertest.Outcome) string {
	var records []string
	failed := 0
	for i, o := range outcomes {
		if o.Code != "" {
			failed++
			message, _ := json.Marshal(string(sent[i].Body))
			records = append(records, fmt.Sprintf(`{"ErrorCode":%q,"ErrorMessage":%s}`, o.Code, message))
		} else {
			records = append(records, fmt.Sprintf(`{"SequenceNumber":%q,"ShardId":"shardId-000000000003"}`, o.ID))
		}
	}
	return fmt.Sprintf(`{"FailedRecordCount":%d,"Records":[%s]}`, failed, strings.Join(records, ","))
}

func fault(code, message string) (int, string, string) {
	text, _ := json.Marshal(map[string]string{"__type": code, "message": message})
	return http.StatusBadRequest, "application/x-amz-json-1.1", string(text)
}

func answer(text string) func([]publishertest.Sent) string {
	return func([]publishertest.Sent) string { return text }
}

func protocol() publishertest.Protocol {
	return publishertest.Protocol{
		New: func(http aws.HTTPClient, ordered bool) (outbox.Publisher, error) {
			return kinesis.New(client(http), kinesis.Config{Stream: "orders", Ordered: ordered})
		},
		Read: read, Write: write, Fault: fault,
		Ack: func(id string, _ bool) string { return "shardId-000000000003:" + id },
		Malformed: map[string]publishertest.Malformed{
			"no results":          {Answer: answer(`{}`)},
			"null":                {Answer: answer(`{"FailedRecordCount":null,"Records":null}`)},
			"too few":             {Answer: answer(`{"Records":[{"SequenceNumber":"1","ShardId":"s"}]}`)},
			"too many":            {Answer: answer(`{"Records":[{"SequenceNumber":"1"},{"SequenceNumber":"2"},{"SequenceNumber":"3"}]}`)},
			"nil pointers":        {Answer: answer(`{"Records":[{},null]}`)},
			"a shard alone":       {Answer: answer(`{"Records":[{"ShardId":"s"},{"SequenceNumber":"","ShardId":"s"}]}`)},
			"a number alone":      {Answer: answer(`{"Records":[{"SequenceNumber":"1"},{"ErrorMessage":"?"}]}`), Published: [2]bool{true, false}},
			"a contradiction":     {Answer: answer(`{"Records":[{"SequenceNumber":"1"},{"SequenceNumber":"2","ErrorCode":"InternalFailure"}]}`), Published: [2]bool{true, false}},
			"a count that is off": {Answer: answer(`{"FailedRecordCount":0,"Records":[{"SequenceNumber":"1"},{"ErrorCode":"InternalFailure"}]}`), Published: [2]bool{true, false}},
		},
		Entries: 500, EntryBytes: 1 << 20, Ordered: true,
		Later:     publishertest.Outcome{Code: "ProvisionedThroughputExceededException"},
		UnfitCall: "InvalidArgumentException", Never: "AccessDeniedException",
	}
}

func TestPublisherKeepsTheContract(t *testing.T) { publishertest.Run(t, protocol()) }

func FuzzAnswers(f *testing.F) { publishertest.Fuzz(f, protocol()) }

func TestConfigurationIsChecked(t *testing.T) {
	for field, configs := range map[string][]kinesis.Config{
		"Stream":         {{}, {Stream: "a stream"}, {Stream: "arn:aws:kinesis:eu-central-1:123456789012:consumer/orders"}},
		"MaxRecordBytes": {{Stream: "orders", MaxRecordBytes: -1}, {Stream: "orders", MaxRecordBytes: 10<<20 + 1}},
	} {
		for _, config := range configs {
			var invalid *outbox.InvalidError
			if p, err := kinesis.New(client(nil), config); p != nil || !errors.As(err, &invalid) || invalid.Field != "kinesis.Config."+field {
				t.Errorf("%+v: %v", config, err)
			}
		}
	}
}

// inputs is a client that answers nothing and keeps what it was asked.
type inputs struct{ last *sdk.PutRecordsInput }

func (c *inputs) PutRecords(_ context.Context, in *sdk.PutRecordsInput, _ ...func(*sdk.Options)) (*sdk.PutRecordsOutput, error) {
	c.last = in
	return nil, nil
}

func TestAStreamMayBeNamedByItsARN(t *testing.T) {
	const arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
	client := &inputs{}
	publisher, err := kinesis.New(client, kinesis.Config{Stream: arn, Data: func(outbox.Event) ([]byte, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1"}}})[0]
	if aws.ToString(client.last.StreamARN) != arn || client.last.StreamName != nil || client.last.Records[0].Data == nil {
		t.Errorf("the call is %+v", client.last)
	}
	if result.Err == nil || result.Final {
		t.Errorf("without an answer the result is %+v", result)
	}
}
