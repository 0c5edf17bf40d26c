package idempotency_test

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/txn"
)

// noon is when the tests happen.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func at(instant time.Time) func() time.Time { return func() time.Time { return instant } }

// ids returns tokens "prefix-0", "prefix-1" and so on.
func ids(prefix string) func() string {
	var n atomic.Int64
	return func() string { return prefix + "-" + strconv.FormatInt(n.Add(1)-1, 10) }
}

// recorder is a txn.Client that keeps what it is sent and applies nothing.
type recorder struct {
	sent []*dynamodb.TransactWriteItemsInput
}

func (r *recorder) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.sent = append(r.sent, in)
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// written returns the Put that a part sends, under a fixed mark.
func written(t testing.TB, part txn.Part) *types.Put {
	t.Helper()
	var r recorder
	config := txn.Config{NewMark: func() string { return "mark-1" }}
	if _, err := txn.New(&r, config).Commit(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	return r.sent[0].TransactItems[0].Put
}

// refused returns the error of a part that must not be sent.
func refused(t testing.TB, part txn.Part) error {
	t.Helper()
	var r recorder
	_, err := txn.New(&r, txn.Config{}).Commit(t.Context(), part)
	if len(r.sent) > 0 {
		t.Fatalf("the part was sent, with error %v", err)
	}
	return err
}

// shelf is a Reader with one item on it.
type shelf struct {
	item txn.Item
	err  error
	read *dynamodb.GetItemInput
}

func (s *shelf) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.read = in
	return &dynamodb.GetItemOutput{Item: s.item}, s.err
}

// altered returns a copy of the item with some attributes replaced, or removed where the value is nil.
func altered(item txn.Item, changes txn.Item) txn.Item {
	copied := maps.Clone(item)
	for name, value := range changes {
		copied[name] = value
		if value == nil {
			delete(copied, name)
		}
	}
	return copied
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// wire returns an item as DynamoDB spells it in JSON, attributes in order.
func wire(t testing.TB, item txn.Item) string {
	t.Helper()
	out, err := json.Marshal(golden.Wire(&types.AttributeValueMemberM{Value: item}))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// order is the command of an order, and accepted its result, at the chapter's sizes.
func order(quantity string) idempotency.Request {
	return idempotency.Request{
		Tenant: "acme-brokers", Key: "7f3a9c52-0b1e-4d5f-8a66-1c2d3e4f5a6b", Operation: "order.accept", SchemaVersion: 1,
		Command: idempotency.NewFields().String("account", "A-1").String("symbol", "ACME").
			Decimal("quantity", quantity).Amount("limit", "19.99", "USD"),
	}
}

func accepted(orderID string) idempotency.Result {
	return idempotency.Result{
		Code: "201",
		Body: []byte(`{"orderId":"` + orderID + `","status":"ACCEPTED","acceptedVersion":1}`),
		Effect: map[string]string{
			"orderId": orderID, "transactionId": "txn-" + orderID, "outboxEventId": "evt-" + orderID, "acceptedVersion": "1",
		},
	}
}
