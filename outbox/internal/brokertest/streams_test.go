package brokertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ebsdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	kinesissdk "github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/outbox/eventbridge"
	"github.com/dynafin/dynafin/outbox/kinesis"
)

func TestKinesisKeepsAnAggregateInOrderOnOneShard(t *testing.T) {
	e := start(t)
	client := kinesissdk.New(kinesissdk.Options{Region: region, BaseEndpoint: &e.url, Credentials: credentials, HTTPClient: e.wires, Retryer: aws.NopRetryer{}})
	name, shards := e.name, int32(4)
	if _, err := client.CreateStream(t.Context(), &kinesissdk.CreateStreamInput{StreamName: &name, ShardCount: &shards}); err != nil {
		t.Fatal(err)
	}
	publisher, err := kinesis.New(client, kinesis.Config{Stream: name, Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	desk := relayAll(t, e, publisher)
	var arrived []outbox.Event
	acks, home, used := map[string][]string{}, map[string]string{}, map[string]bool{}
	listed, err := client.ListShards(t.Context(), &kinesissdk.ListShardsInput{StreamName: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range listed.Shards {
		at, err := client.GetShardIterator(t.Context(), &kinesissdk.GetShardIteratorInput{
			StreamName: &name, ShardId: shard.ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := client.GetRecords(t.Context(), &kinesissdk.GetRecordsInput{ShardIterator: at.ShardIterator})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Records {
			event := parsed(t, r.Data)
			if *r.PartitionKey != event.AggregateKey() {
				t.Errorf("the partition key of event %s is %q", event.ID, *r.PartitionKey)
			}
			if other := home[event.AggregateID]; other != "" && other != *shard.ShardId {
				t.Errorf("%s is on %s and %s", event.AggregateID, other, *shard.ShardId)
			}
			home[event.AggregateID], used[*shard.ShardId] = *shard.ShardId, true
			arrived, acks[event.ID] = append(arrived, event), append(acks[event.ID], *shard.ShardId+":"+*r.SequenceNumber)
		}
	}
	if repeats := check(t, desk, arrived, acks); repeats == 0 || len(used) < 2 {
		t.Errorf("%d repeats on %d shards: the test shows little", repeats, len(used))
	}
}

func TestEventBridgeMatchesRulesOnTheDetail(t *testing.T) {
	e := start(t)
	client := ebsdk.New(ebsdk.Options{Region: region, BaseEndpoint: &e.url, Credentials: credentials, HTTPClient: e.wires, Retryer: aws.NopRetryer{}})
	bus := &e.name
	if _, err := client.CreateEventBus(t.Context(), &ebsdk.CreateEventBusInput{Name: bus}); err != nil {
		t.Fatal(err)
	}
	for rule, pattern := range map[string]string{
		"acme":  `{"source":["com.acme.orders"],"detail-type":["OrderFilled"],"detail":{"tenant":["acme"]}}`,
		"other": `{"detail":{"tenant":["other"]}}`,
	} {
		if _, err := client.PutRule(t.Context(), &ebsdk.PutRuleInput{Name: &rule, EventBusName: bus, EventPattern: &pattern}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.PutTargets(t.Context(), &ebsdk.PutTargetsInput{
			Rule: &rule, EventBusName: bus,
			Targets: []ebtypes.Target{{Id: aws.String("log"), Arn: aws.String("arn:aws:logs:us-east-1:000000000000:log-group:orders")}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	publisher, err := eventbridge.New(client, eventbridge.Config{Bus: *bus, Source: "com.acme.orders"})
	if err != nil {
		t.Fatal(err)
	}
	desk := relayAll(t, e, publisher)
	var arrived []outbox.Event
	acks := map[string][]string{}
	for _, delivered := range e.delivered(t) {
		if delivered.RuleName != "acme" {
			t.Errorf("the rule %s matched", delivered.RuleName)
		}
		event := parsed(t, []byte(delivered.Detail))
		arrived, acks[event.ID] = append(arrived, event), append(acks[event.ID], delivered.EventID)
	}
	if repeats := check(t, desk, arrived, acks); repeats == 0 {
		t.Error("answers were lost and nothing was repeated: the test shows nothing")
	}
}

type delivered struct{ EventID, EventBusName, RuleName, Detail string }

// delivered asks the emulator which events its rules matched on the test's bus.
func (e *emulator) delivered(t *testing.T) (all []delivered) {
	t.Helper()
	answer, err := http.Get(e.url + "/kumo/eventbridge/delivered-events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(d delivered) bool { return d.EventBusName != e.name })
}
