package sns_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/internal/publishertest"
	"github.com/dynafin/dynafin/outbox/sns"
)

const topic = "arn:aws:sns:eu-central-1:123456789012:orders"

// client is the real SDK client, which does not repeat calls by itself.
func client(http aws.HTTPClient) *sdk.Client {
	return sdk.New(sdk.Options{Region: "eu-central-1", Credentials: publishertest.Credentials, HTTPClient: http, Retryer: aws.NopRetryer{}})
}

// read reads a PublishBatch of the query protocol.
func read(body []byte) (all []publishertest.Sent, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		at := fmt.Sprintf("PublishBatchRequestEntries.member.%d.", n)
		if !form.Has(at + "Id") {
			return all, nil
		}
		s := publishertest.Sent{
			Name: form.Get(at + "Id"), Body: []byte(form.Get(at + "Message")), Bytes: len(form.Get(at + "Message")),
			Group: form.Get(at + "MessageGroupId"), Deduplication: form.Get(at + "MessageDeduplicationId"), Attributes: map[string]string{},
		}
		for m := 1; ; m++ {
			attribute := fmt.Sprintf("%sMessageAttributes.entry.%d.", at, m)
			name, kind, value := form.Get(attribute+"Name"), form.Get(attribute+"Value.DataType"), form.Get(attribute+"Value.StringValue")
			if name == "" {
				break
			}
			if (kind == "Number") != (name == "schemaVersion") {
				return nil, fmt.Errorf("%s is a %s", name, kind)
			}
			s.Attributes[name] = value
			s.Bytes += len(name) + len(kind) + len(value)
		}
		all = append(all, s)
	}
}

func taken(s publishertest.Sent, id string) string {
	number := ""
	if s.Group != "" {
		number = "<SequenceNumber>10000000000000003000</SequenceNumber>"
	}
	return "<member><Id>" + s.Name + "</Id><MessageId>" + id + "</MessageId>" + number + "</member>"
}

func envelope(successful, failed string) string {
	return `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult><Successful>` + successful +
		`</Successful><Failed>` + failed + `</Failed></PublishBatchResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishBatchResponse>`
}

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}

// write answers a call, the last entry first: neither list is in a promised order.
func write(sent []publishertest.Sent, outcomes []publishertest.Outcome) string {
	var successful, failed string
	for i := len(sent) - 1; i >= 0; i-- {
		if o := outcomes[i]; o.Code != "" {
			failed += fmt.Sprintf("<member><Id>%s</Id><Code>%s</Code><SenderFault>%t</SenderFault><Message>%s</Message></member>",
				sent[i].Name, escaped(o.Code), o.SenderFault, escaped(string(sent[i].Body)))
		} else {
			successful += taken(sent[i], o.ID)
		}
	}
	return envelope(successful, failed)
}

func fault(code, message string) (int, string, string) {
	return http.StatusBadRequest, "text/xml", `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>` +
		escaped(code) + `</Code><Message>` + escaped(message) + `</Message></Error><RequestId>r</RequestId></ErrorResponse>`
}

func answer(successful, failed string) func([]publishertest.Sent) string {
	return func(sent []publishertest.Sent) string {
		for i, s := range sent {
			successful = strings.ReplaceAll(successful, fmt.Sprint("{", i, "}"), taken(s, "id-"+fmt.Sprint(i)))
		}
		return envelope(successful, failed)
	}
}

func protocol() publishertest.Protocol {
	const failed = "<member><Id>1</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault></member>"
	return publishertest.Protocol{
		New: func(http aws.HTTPClient, ordered bool) (outbox.Publisher, error) {
			arn := topic
			if ordered {
				arn += ".fifo"
			}
			return sns.New(client(http), sns.Config{TopicARN: arn})
		},
		Read: read, Write: write, Fault: fault,
		Ack: func(id string, ordered bool) string {
			if ordered {
				return id + ":10000000000000003000"
			}
			return id
		},
		Malformed: map[string]publishertest.Malformed{
			"no results": {Answer: answer("", "")},
			"no lists": {Answer: func([]publishertest.Sent) string {
				return "<PublishBatchResponse><PublishBatchResult/></PublishBatchResponse>"
			}},
			"one result":        {Answer: answer("{1}", ""), Published: [2]bool{false, true}},
			"unknown IDs":       {Answer: answer("{0}<member><Id>7</Id><MessageId>m</MessageId></member><member><Id> 1</Id><MessageId>m</MessageId></member>", ""), Published: [2]bool{true, false}},
			"the same ID twice": {Answer: answer("{0}{0}", ""), Published: [2]bool{true, false}},
			"a contradiction":   {Answer: answer("{0}{1}", failed), Published: [2]bool{true, false}},
			"nil pointers":      {Answer: answer("<member/><member><Id>0</Id></member><member><MessageId>m</MessageId></member>", "<member/><member><Id>1</Id></member><member><Code>X</Code></member>")},
		},
		Entries: 10, EntryBytes: 256 * 1024, Ordered: true,
		Unfit: publishertest.Outcome{Code: "InvalidParameter", SenderFault: true}, Later: publishertest.Outcome{Code: "Throttled", SenderFault: true},
		UnfitCall: "BatchRequestTooLong", Never: "AuthorizationError",
	}
}

func TestPublisherKeepsTheContract(t *testing.T) { publishertest.Run(t, protocol()) }

func FuzzAnswers(f *testing.F) { publishertest.Fuzz(f, protocol()) }

func TestConfigurationIsChecked(t *testing.T) {
	for field, configs := range map[string][]sns.Config{
		"TopicARN": {{}, {TopicARN: "orders"}, {TopicARN: "arn:aws:sqs:eu-central-1:123456789012:orders"}},
		"MaxBytes": {{TopicARN: topic, MaxBytes: -1}, {TopicARN: topic, MaxBytes: 1<<20 + 1}},
	} {
		for _, config := range configs {
			var invalid *outbox.InvalidError
			if p, err := sns.New(client(nil), config); p != nil || !errors.As(err, &invalid) || invalid.Field != "sns.Config."+field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// fake is a client that answers whatever a test says.
type fake struct{ out *sdk.PublishBatchOutput }

func (f fake) PublishBatch(context.Context, *sdk.PublishBatchInput, ...func(*sdk.Options)) (*sdk.PublishBatchOutput, error) {
	return f.out, nil
}

func TestAnAnswerThatIsMissingIsNoPublication(t *testing.T) {
	for _, out := range []*sdk.PublishBatchOutput{nil, {}, {Successful: []types.PublishBatchResultEntry{{}, {Id: aws.String("0")}}}} {
		publisher, err := sns.New(fake{out}, sns.Config{TopicARN: topic})
		if err != nil {
			t.Fatal(err)
		}
		results := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})
		if len(results) != 1 || results[0].Err == nil || results[0].Final {
			t.Errorf("%v", results)
		}
	}
}

func TestBodiesThatAreNoTextAreParked(t *testing.T) {
	for _, body := range []string{"", "\xff"} {
		publisher, err := sns.New(fake{}, sns.Config{TopicARN: topic, Body: func(outbox.Event) ([]byte, error) { return []byte(body), nil }})
		if err != nil {
			t.Fatal(err)
		}
		if result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1"}}})[0]; !result.Final {
			t.Errorf("body %q: %+v", body, result)
		}
	}
}
