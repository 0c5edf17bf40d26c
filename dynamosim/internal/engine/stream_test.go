package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

func TestARecordOfAnExpiryNamesTheService(t *testing.T) {
	now := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	e := New(Config{Region: "us-east-1", Account: "000000000000"})
	created := e.Handle(now, "CreateTable", []byte(`{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"OLD_IMAGE"}}`))
	if created.Status != 200 {
		t.Fatalf("%s", created.Body)
	}
	table, _ := e.tables.Get("tab")
	item := value.NewItem(value.Attr{Name: "pk", Value: value.String("p")})
	key := string(table.keys.encode(e.config.Seed, item))
	e.commit(now, e.newChange(table, key, row{}, item))
	c := e.newChange(table, key, table.item(key), value.Item{})
	c.origin = originExpiry
	e.commit(now, c)

	shard := table.stream.shards[0]
	answer := string(e.recordsAnswer(table.stream, shard, shard.records, iterator{}).bytes())
	_, expiry, found := strings.Cut(answer, `"eventName":"REMOVE"`)
	const identity = `"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`
	if !found || strings.Count(answer, "userIdentity") != 1 || !strings.Contains(expiry, identity) {
		t.Errorf("records are %s", answer)
	}
}
