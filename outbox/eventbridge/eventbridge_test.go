package eventbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/eventbridge"
	"github.com/dynafin/dynafin/outbox/internal/publishertest"
)

const source = "com.acme.orders"

// client is the real SDK client, which does not repeat calls by itself.
func client(http aws.HTTPClient) *sdk.Client {
	return sdk.New(sdk.Options{Region: "eu-central-1", Credentials: publishertest.Credentials, HTTPClient: http, Retryer: aws.NopRetryer{}})
}

// read reads a PutEvents.
func read(body []byte) (all []publishertest.Sent, err error) {
	var in struct {
		Entries []struct {
			EventBusName, Source, DetailType, Detail string
			Time                                     json.Number
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	for _, e := range in.Entries {
		if e.EventBusName != "default" || e.Source != source || e.DetailType != "OrderFilled" || e.Time == "" {
			return nil, fmt.Errorf("the entry is %+v", e)
		}
		all = append(all, publishertest.Sent{Body: []byte(e.Detail), Bytes: len(e.Source) + len(e.DetailType) + len(e.Detail) + 14})
	}
	return all, nil
}

func write(sent []publishertest.Sent, outcomes []publishertest.Outcome) string {
	var entries []string
	failed := 0
	for i, o := range outcomes {
		if o.Code != "" {
			failed++
			message, _ := json.Marshal(string(sent[i].Body))
			entries = append(entries, fmt.Sprintf(`{"ErrorCode":%q,"ErrorMessage":%s}`, o.Code, message))
		} else {
			entries = append(entries, fmt.Sprintf(`{"EventId":%q}`, o.ID))
		}
	}
	return fmt.Sprintf(`{"FailedEntryCount":%d,"Entries":[%s]}`, failed, strings.Join(entries, ","))
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
		New: func(http aws.HTTPClient, _ bool) (outbox.Publisher, error) {
			return eventbridge.New(client(http), eventbridge.Config{Source: source})
		},
		Read: read, Write: write, Fault: fault,
		Ack: func(id string, _ bool) string { return id },
		Malformed: map[string]publishertest.Malformed{
			"no results":          {Answer: answer(`{}`)},
			"null":                {Answer: answer(`{"FailedEntryCount":0,"Entries":null}`)},
			"too few":             {Answer: answer(`{"Entries":[{"EventId":"a"}]}`)},
			"too many":            {Answer: answer(`{"Entries":[{"EventId":"a"},{"EventId":"b"},{"EventId":"c"}]}`)},
			"nil pointers":        {Answer: answer(`{"Entries":[{},null]}`)},
			"empty IDs":           {Answer: answer(`{"Entries":[{"EventId":""},{"EventId":"","ErrorCode":""}]}`)},
			"a contradiction":     {Answer: answer(`{"Entries":[{"EventId":"a"},{"EventId":"b","ErrorCode":"MalformedDetail"}]}`), Published: [2]bool{true, false}},
			"a count that is off": {Answer: answer(`{"FailedEntryCount":2,"Entries":[{"EventId":"a"},{"ErrorCode":"InternalFailure"}]}`), Published: [2]bool{true, false}},
			"one ID twice":        {Answer: answer(`{"Entries":[{"EventId":"a"},{"EventId":"a"}]}`), Published: [2]bool{true, true}},
		},
		Entries: 10, EntryBytes: 256 * 1024,
		Unfit: publishertest.Outcome{Code: "MalformedDetail"}, Later: publishertest.Outcome{Code: "ThrottlingException"},
		UnfitCall: "ValidationException", Never: "AccessDeniedException",
	}
}

func TestPublisherKeepsTheContract(t *testing.T) { publishertest.Run(t, protocol()) }

func FuzzAnswers(f *testing.F) { publishertest.Fuzz(f, protocol()) }

func TestConfigurationIsChecked(t *testing.T) {
	for field, configs := range map[string][]eventbridge.Config{
		"Bus":      {{Bus: "a bus", Source: source}},
		"Source":   {{}, {Source: "aws.orders"}, {Source: "AWS.orders"}, {Source: strings.Repeat("s", 257)}},
		"MaxBytes": {{Source: source, MaxBytes: -1}, {Source: source, MaxBytes: 1 << 20}},
	} {
		for _, config := range configs {
			var invalid *outbox.InvalidError
			if p, err := eventbridge.New(client(nil), config); p != nil || !errors.As(err, &invalid) || invalid.Field != "eventbridge.Config."+field {
				t.Errorf("%+v: %v", config, err)
			}
		}
	}
	for _, bus := range []string{"", "orders", "arn:aws:events:eu-central-1:123456789012:event-bus/orders"} {
		if _, err := eventbridge.New(client(nil), eventbridge.Config{Bus: bus, Source: source}); err != nil {
			t.Errorf("%q: %v", bus, err)
		}
	}
}

// codes is a client that answers one code for every entry.
type codes string

func (c codes) PutEvents(_ context.Context, in *sdk.PutEventsInput, _ ...func(*sdk.Options)) (*sdk.PutEventsOutput, error) {
	if c == "" {
		return nil, nil
	}
	out := &sdk.PutEventsOutput{}
	for range in.Entries {
		out.Entries = append(out.Entries, types.PutEventsResultEntry{ErrorCode: aws.String(string(c))})
	}
	return out, nil
}

func TestWhatIsAboutTheEventParksAndTheRestIsTriedAgain(t *testing.T) {
	for code, final := range map[string]bool{
		"MalformedDetail": true, "InvalidArgument": true, "RedactionFailure": true,
		"ThrottlingException": false, "InternalFailure": false, "InternalException": false, "Unheard": false, "": false,
		"AccessDeniedException": false, "InvalidAccountIdException": false, "NotAuthorizedForSourceException": false, "NotAuthorizedForDetailTypeException": false,
	} {
		publisher, err := eventbridge.New(codes(code), eventbridge.Config{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})[0]
		if result.Err == nil || result.Final != final {
			t.Errorf("%s: %+v", code, result)
		}
	}
}

func TestEventsWithoutAFittingTypeOrDetailAreParked(t *testing.T) {
	for _, e := range []outbox.Event{{ID: "1"}, {ID: "1", Type: strings.Repeat("ä", 129)}} {
		publisher, _ := eventbridge.New(codes("X"), eventbridge.Config{Source: source})
		if result := publisher.Publish(t.Context(), []outbox.Message{{Event: e}})[0]; !result.Final {
			t.Errorf("type %q: %+v", e.Type, result)
		}
	}
	for _, detail := range []string{"", "\xff"} {
		publisher, _ := eventbridge.New(codes("X"), eventbridge.Config{Source: source, Detail: func(outbox.Event) ([]byte, error) { return []byte(detail), nil }})
		if result := publisher.Publish(t.Context(), []outbox.Message{{Event: outbox.Event{ID: "1", Type: "T"}}})[0]; !result.Final {
			t.Errorf("detail %q: %+v", detail, result)
		}
	}
}
