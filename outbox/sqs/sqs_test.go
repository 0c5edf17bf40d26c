package sqs_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/publishertest"
	"github.com/dynafin/dynafin/outbox/sqs"
)

const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders"

// client is the real SDK client, which does not repeat calls by itself.
func client(http aws.HTTPClient) *sdk.Client {
	return sdk.New(sdk.Options{Region: "eu-central-1", Credentials: publishertest.Credentials, HTTPClient: http, Retryer: aws.NopRetryer{}})
}

// call is a SendMessageBatch on the wire.
type call struct {
	QueueUrl string
	Entries  []struct {
		Id, MessageBody, MessageGroupId, MessageDeduplicationId string
		MessageAttributes                                       map[string]struct{ DataType, StringValue string }
	}
}

func read(body []byte) (all []publishertest.Sent, err error) {
	var in call
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	for _, e := range in.Entries {
		s := publishertest.Sent{
			Name: e.Id, Body: []byte(e.MessageBody), Group: e.MessageGroupId, Deduplication: e.MessageDeduplicationId,
			Attributes: map[string]string{}, Bytes: len(e.MessageBody),
		}
		if kind := e.MessageAttributes["schemaVersion"].DataType; kind != "Number" {
			return nil, fmt.Errorf("the schema version is a %s", kind)
		}
		for name, a := range e.MessageAttributes {
			s.Attributes[name] = a.StringValue
			s.Bytes += len(name) + len(a.DataType) + len(a.StringValue)
		}
		all = append(all, s)
	}
	return all, nil
}

func taken(s publishertest.Sent, id string) string {
	digest := md5.Sum(s.Body)
	number := ""
	if s.Group != "" {
		number = `,"SequenceNumber":"18849496460467696128"`
	}
	return fmt.Sprintf(`{"Id":%q,"MessageId":%q,"MD5OfMessageBody":%q%s}`, s.Name, id, hex.EncodeToString(digest[:]), number)
}

// write answers a call, the last entry first: neither list is in a promised order.
func write(sent []publishertest.Sent, outcomes []publishertest.Outcome) string {
	var successful, failed []string
	for i := len(sent) - 1; i >= 0; i-- {
		if o := outcomes[i]; o.Code != "" {
			failed = append(failed, fmt.Sprintf(`{"Id":%q,"Code":%q,"SenderFault":%t,"Message":%q}`, sent[i].Name, o.Code, o.SenderFault, sent[i].Body))
		} else {
			successful = append(successful, taken(sent[i], o.ID))
		}
	}
	return `{"Successful":[` + strings.Join(successful, ",") + `],"Failed":[` + strings.Join(failed, ",") + `]}`
}

func fault(code, message string) (int, string, string) {
	text, _ := json.Marshal(map[string]string{"__type": "com.amazonaws.sqs#" + code, "message": message})
	return http.StatusBadRequest, "application/x-amz-json-1.0", string(text)
}

func answer(format string, ids ...string) func([]publishertest.Sent) string {
	return func(sent []publishertest.Sent) string {
		for i, s := range sent {
			format = strings.ReplaceAll(format, fmt.Sprint("<", i, ">"), taken(s, "id-"+fmt.Sprint(i)))
		}
		return format
	}
}

func protocol() publishertest.Protocol {
	return publishertest.Protocol{
		New: func(http aws.HTTPClient, ordered bool) (outbox.Publisher, error) {
			url := queue
			if ordered {
				url += ".fifo"
			}
			return sqs.New(client(http), sqs.Config{QueueURL: url})
		},
		Read: read, Write: write, Fault: fault,
		Ack: func(id string, ordered bool) string {
			if ordered {
				return id + ":18849496460467696128"
			}
			return id
		},
		Malformed: map[string]publishertest.Malformed{
			"no results":               {Answer: answer(`{}`)},
			"null":                     {Answer: answer(`{"Successful":null,"Failed":null}`)},
			"one result":               {Answer: answer(`{"Successful":[<1>]}`), Published: [2]bool{false, true}},
			"unknown IDs":              {Answer: answer(`{"Successful":[<0>,{"Id":"7","MessageId":"m"},{"Id":"x","MessageId":"m"},{"Id":"01","MessageId":"m"},{"Id":"-1","MessageId":"m"}]}`), Published: [2]bool{true, false}},
			"the same ID twice":        {Answer: answer(`{"Successful":[<0>,<0>],"Failed":[{"Id":"1","Code":"InternalError","SenderFault":false},{"Id":"1","Code":"InternalError","SenderFault":false}]}`), Published: [2]bool{true, false}},
			"a contradiction":          {Answer: answer(`{"Successful":[<0>,<1>],"Failed":[{"Id":"1","Code":"InvalidMessageContents","SenderFault":true}]}`), Published: [2]bool{true, false}},
			"a refusal without a code": {Answer: answer(`{"Successful":[<0>,<1>],"Failed":[{"Id":"0","Code":""},{"Id":"1"}]}`)},
			"nil pointers":             {Answer: answer(`{"Successful":[{},{"Id":"0"},{"MessageId":"m"},{"MD5OfMessageBody":"x"}],"Failed":[{},{"Id":"1"},{"Code":"X"}]}`)},
			"another text taken":       {Answer: answer(`{"Successful":[<0>,{"Id":"1","MessageId":"m","MD5OfMessageBody":"d41d8cd98f00b204e9800998ecf8427e"}]}`), Published: [2]bool{true, false}},
		},
		Entries: 10, EntryBytes: 1 << 20, Ordered: true,
		Unfit: publishertest.Outcome{Code: "InvalidMessageContents", SenderFault: true}, Later: publishertest.Outcome{Code: "RequestThrottled", SenderFault: true},
		UnfitCall: "InvalidMessageContents", Never: "AccessDeniedException",
	}
}

func TestPublisherKeepsTheContract(t *testing.T) { publishertest.Run(t, protocol()) }

func FuzzAnswers(f *testing.F) { publishertest.Fuzz(f, protocol()) }

func TestConfigurationIsChecked(t *testing.T) {
	for field, config := range map[string]sqs.Config{
		"QueueURL": {QueueURL: "orders"}, "MaxBytes": {QueueURL: queue, MaxBytes: 1<<20 + 1},
	} {
		var invalid *outbox.InvalidError
		if p, err := sqs.New(client(nil), config); p != nil || !errors.As(err, &invalid) || invalid.Field != "sqs.Config."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// fake is a client that answers whatever a test says.
type fake struct {
	out *sdk.SendMessageBatchOutput
	err error
}

func (f fake) SendMessageBatch(context.Context, *sdk.SendMessageBatchInput, ...func(*sdk.Options)) (*sdk.SendMessageBatchOutput, error) {
	return f.out, f.err
}

func TestAnAnswerThatIsMissingIsNoPublication(t *testing.T) {
	for _, out := range []*sdk.SendMessageBatchOutput{nil, {}, {Successful: []types.SendMessageBatchResultEntry{{}, {Id: aws.String("0")}}}} {
		publisher, err := sqs.New(fake{out: out}, sqs.Config{QueueURL: queue})
		if err != nil {
			t.Fatal(err)
		}
		results := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})
		if len(results) != 1 || results[0].Err == nil || results[0].Final {
			t.Errorf("%v", results)
		}
	}
}

func TestBodiesThatSQSDoesNotTakeAreParked(t *testing.T) {
	bodies := map[string]string{"": "x", "a\x00": "x", "\uffff": "x", "\xff": "x", "ok\t\r\n": "P", "\U0001F4B0\u007f\u0085": "P"}
	for body, expected := range bodies {
		publisher, err := sqs.New(fake{out: &sdk.SendMessageBatchOutput{
			Successful: []types.SendMessageBatchResultEntry{{Id: aws.String("0"), MessageId: aws.String("m")}},
		}}, sqs.Config{QueueURL: queue, Body: func(outbox.Event) ([]byte, error) { return []byte(body), nil }})
		if err != nil {
			t.Fatal(err)
		}
		result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})[0]
		if result.Final != (expected == "x") || (result.Err == nil) != (expected == "P") {
			t.Errorf("body %q: %+v", body, result)
		}
	}
	for _, e := range []outbox.Event{{ID: "a\x01"}, {ID: "1", Tenant: "\ufffe"}} {
		publisher, _ := sqs.New(fake{}, sqs.Config{QueueURL: queue})
		if result := publisher.Publish(t.Context(), []outbox.Message{{Event: e}})[0]; !result.Final {
			t.Errorf("event %q: %+v", e.ID, result)
		}
	}
}

func TestABodyThatCannotBeMadeParksTheEvent(t *testing.T) {
	broken := errors.New("SECRET")
	publisher, err := sqs.New(fake{}, sqs.Config{QueueURL: queue, Body: func(outbox.Event) ([]byte, error) { return nil, broken }})
	if err != nil {
		t.Fatal(err)
	}
	result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1"}}})[0]
	if !result.Final || !errors.Is(result.Err, broken) || strings.Contains(result.Err.Error(), "SECRET") {
		t.Errorf("%+v", result)
	}
}

func TestAClientThatDoesNotCheckBodiesIsLeftAlone(t *testing.T) {
	b := &publishertest.Broker{Protocol: protocol(), React: func(int, []publishertest.Sent) publishertest.Reaction {
		return publishertest.Reaction{Raw: `{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"of another text"}]}`}
	}}
	for _, unchecked := range []bool{false, true} {
		options := client(b).Options()
		options.DisableMessageChecksumValidation = unchecked
		publisher, err := sqs.New(sdk.New(options), sqs.Config{QueueURL: queue})
		if err != nil {
			t.Fatal(err)
		}
		result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})[0]
		if (result.Ack == "m") != unchecked {
			t.Errorf("unchecked %t: %+v", unchecked, result)
		}
	}
}
