package brokertest

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	snssdk "github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	sqssdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/sns"
	"github.com/dynafin/dynafin/outbox/sqs"
)

func (e *emulator) sqs() *sqssdk.Client {
	return sqssdk.New(sqssdk.Options{Region: region, BaseEndpoint: &e.url, Credentials: credentials, HTTPClient: e.wires, Retryer: aws.NopRetryer{}})
}

// queue creates a queue and returns its URL.
func (e *emulator) queue(t *testing.T, name string) string {
	t.Helper()
	in := &sqssdk.CreateQueueInput{QueueName: &name}
	if strings.HasSuffix(name, ".fifo") {
		in.Attributes = map[string]string{"FifoQueue": "true"}
	}
	out, err := e.sqs().CreateQueue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.QueueUrl
}

// receive empties a queue and checks what stands around each body.
func (e *emulator) receive(t *testing.T, url string) (all []types.Message) {
	t.Helper()
	for {
		out, err := e.sqs().ReceiveMessage(t.Context(), &sqssdk.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			all = append(all, m)
			if _, err := e.sqs().DeleteMessage(t.Context(), &sqssdk.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkAttributes(t *testing.T, of outbox.Event, m types.Message) {
	t.Helper()
	for name, value := range of.Attributes() {
		if got := aws.ToString(m.MessageAttributes[name].StringValue); got != value {
			t.Errorf("attribute %s of event %s is %q, want %q", name, of.ID, got, value)
		}
	}
}

func TestSQSStandard(t *testing.T) {
	e := start(t)
	url := e.queue(t, e.name)
	publisher, err := sqs.New(e.sqs(), sqs.Config{QueueURL: url})
	if err != nil {
		t.Fatal(err)
	}
	desk := relayAll(t, e, publisher)
	var arrived []outbox.Event
	acks := map[string][]string{}
	for _, m := range e.receive(t, url) {
		event := parsed(t, []byte(*m.Body))
		checkAttributes(t, event, m)
		arrived, acks[event.ID] = append(arrived, event), append(acks[event.ID], *m.MessageId)
	}
	if repeats := check(t, desk, arrived, acks); repeats == 0 {
		t.Error("answers were lost and nothing was repeated: the test shows nothing")
	}
}

func TestSQSFIFODropsTheRepeats(t *testing.T) {
	e := start(t)
	url := e.queue(t, e.name+".fifo")
	publisher, err := sqs.New(e.sqs(), sqs.Config{QueueURL: url})
	if err != nil {
		t.Fatal(err)
	}
	desk := relayAll(t, e, publisher)
	var arrived []outbox.Event
	acks := map[string][]string{}
	for _, m := range e.receive(t, url) {
		event := parsed(t, []byte(*m.Body))
		checkAttributes(t, event, m)
		// The emulator refuses a message without a group or deduplication ID, but does not show them here, nor the number.
		arrived, acks[event.ID] = append(arrived, event), append(acks[event.ID], *m.MessageId+":")
	}
	if repeats := check(t, desk, arrived, acks); repeats != 0 {
		t.Errorf("%d repeats came through", repeats)
	}
}

func (e *emulator) sns() *snssdk.Client {
	return snssdk.New(snssdk.Options{Region: region, BaseEndpoint: &e.url, Credentials: credentials, HTTPClient: e.wires, Retryer: aws.NopRetryer{}})
}

// single makes a batch of calls that the emulator knows: it has no PublishBatch.
type single struct{ *snssdk.Client }

func (s single) PublishBatch(ctx context.Context, in *snssdk.PublishBatchInput, opts ...func(*snssdk.Options)) (*snssdk.PublishBatchOutput, error) {
	out := &snssdk.PublishBatchOutput{}
	for _, entry := range in.PublishBatchRequestEntries {
		published, err := s.Publish(ctx, &snssdk.PublishInput{
			TopicArn: in.TopicArn, Message: entry.Message, MessageAttributes: entry.MessageAttributes,
			MessageGroupId: entry.MessageGroupId, MessageDeduplicationId: entry.MessageDeduplicationId,
		}, opts...)
		if err != nil {
			out.Failed = append(out.Failed, snstypes.BatchResultErrorEntry{Id: entry.Id, Code: aws.String("InternalError")})
			continue
		}
		out.Successful = append(out.Successful, snstypes.PublishBatchResultEntry{
			Id: entry.Id, MessageId: published.MessageId, SequenceNumber: published.SequenceNumber,
		})
	}
	return out, nil
}

func TestSNSReachesASubscribedQueue(t *testing.T) {
	e := start(t)
	url := e.queue(t, e.name)
	topic, err := e.sns().CreateTopic(t.Context(), &snssdk.CreateTopicInput{Name: &e.name})
	if err != nil {
		t.Fatal(err)
	}
	attributes, err := e.sqs().GetQueueAttributes(t.Context(), &sqssdk.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.sns().Subscribe(t.Context(), &snssdk.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(attributes.Attributes["QueueArn"]),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}); err != nil {
		t.Fatal(err)
	}
	publisher, err := sns.New(single{e.sns()}, sns.Config{TopicARN: *topic.TopicArn})
	if err != nil {
		t.Fatal(err)
	}
	desk := relayAll(t, e, publisher)
	var arrived []outbox.Event
	acks := map[string][]string{}
	for _, m := range e.receive(t, url) {
		event := parsed(t, []byte(*m.Body))
		checkAttributes(t, event, m)
		arrived, acks[event.ID] = append(arrived, event), []string{desk.Record(t, event.ID).Ack} // not the queue's message ID
	}
	check(t, desk, arrived, acks)
}
