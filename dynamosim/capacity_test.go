package dynamosim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// write is one write to the item ("p", "s"), which every API can express.
type write struct {
	put    attrs
	update string
	values attrs
	delete bool
	check  bool
}

func (w write) action(table *string) types.TransactWriteItem {
	item := key("p", "s")
	switch {
	case w.put != nil:
		return types.TransactWriteItem{Put: &types.Put{TableName: table, Item: w.put}}
	case w.update != "":
		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: item, UpdateExpression: &w.update, ExpressionAttributeValues: w.values,
		}}
	case w.delete:
		return types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: item}}
	default:
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: table, Key: item, ConditionExpression: aws.String("attribute_exists(pk)"),
		}}
	}
}

// alone sends the write as a single request and returns what it consumed.
func (b backend) alone(t *testing.T, w write) *types.ConsumedCapacity {
	t.Helper()
	switch a := w.action(b.table); {
	case a.Put != nil:
		out, err := b.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: b.table, Item: w.put, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		})
		return must(t, out, err).ConsumedCapacity
	case a.Update != nil:
		out, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: b.table, Key: a.Update.Key, UpdateExpression: a.Update.UpdateExpression,
			ExpressionAttributeValues: w.values, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		})
		return must(t, out, err).ConsumedCapacity
	default:
		out, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: b.table, Key: a.Delete.Key, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		})
		return must(t, out, err).ConsumedCapacity
	}
}

// inTransaction sends the write as a transaction of one.
func (b backend) inTransaction(t *testing.T, w write) *types.ConsumedCapacity {
	t.Helper()
	out, err := b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems:          []types.TransactWriteItem{w.action(b.table)},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
	return &must(t, out, err).ConsumedCapacity[0]
}

// bill shows consumed capacity as "total = t.. g.. l..", with only the arms that are present.
func bill(c *types.ConsumedCapacity) string {
	text := fmt.Sprintf("%v = t%v", *c.CapacityUnits, *c.Table.CapacityUnits)
	if arm, ok := c.GlobalSecondaryIndexes["byGroup"]; ok {
		text += fmt.Sprintf(" g%v", *arm.CapacityUnits)
	}
	if arm, ok := c.LocalSecondaryIndexes["byLocal"]; ok {
		text += fmt.Sprintf(" l%v", *arm.CapacityUnits)
	}
	return text
}

func TestWriteUnitsAreWhatDynamoDBWasMeasuredToCharge(t *testing.T) {
	base := key("p", "s")
	global := with(base, "gk", s("g"), "gs", n("1"))
	both := with(global, "ls", s("l"))
	large := s(strings.Repeat("x", 3000))
	entry := s(strings.Repeat("x", 1500)) // makes the projected entry 1,517 bytes

	for _, c := range []struct {
		name               string
		before             attrs
		write              write
		alone, transaction string // "" where the API has no such write
	}{
		{"put into the global index", nil, write{put: global}, "2 = t1 g1", "3 = t2 g1"},
		{"put into both indexes", nil, write{put: both}, "3 = t1 g1 l1", "4 = t2 g1 l1"},
		{"put into no index", nil, write{put: base}, "1 = t1", "2 = t2"},
		{"identical overwrite", both, write{put: both}, "1 = t1", "2 = t2"},
		{"update outside the projection", both, write{update: "SET note = :x", values: attrs{":x": s("x")}}, "2 = t1 l1", "3 = t2 l1"},
		{"update inside the projection", both, write{update: "SET proj = :x", values: attrs{":x": s("x")}}, "3 = t1 g1 l1", "4 = t2 g1 l1"},
		{"index key moved", both, write{update: "SET gk = :x", values: attrs{":x": s("h")}}, "4 = t1 g2 l1", "5 = t2 g2 l1"},
		{"index sort key moved", both, write{update: "SET gs = :x", values: attrs{":x": n("2")}}, "4 = t1 g2 l1", "5 = t2 g2 l1"},
		{"index key removed", both, write{update: "REMOVE gk"}, "3 = t1 g1 l1", "4 = t2 g1 l1"},
		{"delete from both indexes", both, write{delete: true}, "3 = t1 g1 l1", "4 = t2 g1 l1"},
		{"delete of nothing", nil, write{delete: true}, "1 = t1", "2 = t2"},
		{"check of a small item", base, write{check: true}, "", "2 = t2"},
		{"check of 3 KB", with(base, "body", large), write{check: true}, "", "6 = t6"},
		{"delete of 3 KB with a 3 KB entry", with(global, "proj", large), write{delete: true}, "6 = t3 g3", "9 = t6 g3"},
		{"3 KB made small", with(base, "body", large), write{put: base}, "3 = t3", "6 = t6"},
		{"1,517 byte entry moved", with(global, "proj", entry), write{update: "SET gk = :x", values: attrs{":x": s("h")}}, "6 = t2 g4", "8 = t4 g4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBackend(t)
			for _, mode := range []struct {
				want string
				send func(*testing.T, write) *types.ConsumedCapacity
				kind bool
			}{{c.alone, b.alone, false}, {c.transaction, b.inTransaction, true}} {
				if mode.want == "" {
					continue
				}
				b.alone(t, write{delete: true})
				if c.before != nil {
					b.alone(t, write{put: c.before})
				}
				got := mode.send(t, c.write)
				if bill(got) != mode.want {
					t.Errorf("consumed %s, want %s", bill(got), mode.want)
				}
				if (got.WriteCapacityUnits != nil) != mode.kind || got.ReadCapacityUnits != nil {
					t.Errorf("only a transaction names write units: %v", got.WriteCapacityUnits)
				}
			}
		})
	}
}

func TestReadUnitsRoundAsDocumented(t *testing.T) {
	b := newBackend(t)
	body := func(bytes int) types.AttributeValue { return s(strings.Repeat("x", bytes)) }
	b.alone(t, write{put: with(key("p", "a"), "body", body(1500))})
	b.alone(t, write{put: with(key("p", "b"), "body", body(6500))})
	indexes := types.ReturnConsumedCapacityIndexes

	get := func(sk string, strong bool) float64 {
		out, err := b.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: b.table, Key: key("p", sk), ConsistentRead: &strong, ReturnConsumedCapacity: indexes,
		})
		return *must(t, out, err).ConsumedCapacity.CapacityUnits
	}
	query := func(strong bool) float64 {
		out, err := b.Query(ctx, &dynamodb.QueryInput{
			TableName: b.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attrs{":p": s("p")},
			ConsistentRead: &strong, ReturnConsumedCapacity: indexes,
		})
		return *must(t, out, err).ConsumedCapacity.CapacityUnits
	}
	batch, err := b.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{*b.table: {Keys: []attrs{key("p", "a"), key("p", "b"), key("p", "none")}}},
		ReturnConsumedCapacity: indexes,
	})
	must(t, batch, err)
	transaction, err := b.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: b.table, Key: key("p", "b")}}, {Get: &types.Get{TableName: b.table, Key: key("p", "none")}},
		},
		ReturnConsumedCapacity: indexes,
	})
	must(t, transaction, err)

	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"6.5 KB, eventual", get("b", false), 1},
		{"6.5 KB, strong", get("b", true), 2},
		{"missing item, eventual", get("none", false), 0.5},
		{"missing item, strong", get("none", true), 1},
		{"query of 8 KB, eventual: one rounding", query(false), 1},
		{"query of 8 KB, strong", query(true), 2},
		{"batch: each item rounded alone", *batch.ConsumedCapacity[0].CapacityUnits, 0.5 + 1 + 0.5},
		{"transaction: twice, a missing item 2", *transaction.ConsumedCapacity[0].CapacityUnits, 4 + 2},
		{"transaction, named as read units", *transaction.ConsumedCapacity[0].ReadCapacityUnits, 6},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v units, want %v", c.what, c.got, c.want)
		}
	}
}

func TestAnIndexReadIsChargedToTheIndex(t *testing.T) {
	b := newBackend(t)
	for _, sk := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		item := with(key("p", sk), "gk", s("g"), "gs", n(sk), "proj", s(strings.Repeat("x", 1980)), "body", s(strings.Repeat("x", 5000)))
		b.alone(t, write{put: item})
	}
	out, err := b.Query(ctx, &dynamodb.QueryInput{
		TableName: b.table, IndexName: aws.String("byGroup"), KeyConditionExpression: aws.String("gk = :g"),
		ExpressionAttributeValues: attrs{":g": s("g")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
	// 8 entries of 2,000 bytes are 16 KB: 4 units, halved for an eventual read.
	if got := bill(must(t, out, err).ConsumedCapacity); got != "2 = t0 g2" {
		t.Errorf("consumed %s, want 2 = t0 g2", got)
	}
}

func TestConsumedCapacityIsThereOnlyWhenAskedFor(t *testing.T) {
	b := newBackend(t)
	put := func(level types.ReturnConsumedCapacity) *types.ConsumedCapacity {
		out, err := b.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: b.table, Item: with(key("p", "s"), "ls", s("l")), ReturnConsumedCapacity: level,
		})
		return must(t, out, err).ConsumedCapacity
	}
	if c := put(types.ReturnConsumedCapacityNone); c != nil {
		t.Errorf("NONE: %v", c)
	}
	if c := put(types.ReturnConsumedCapacityTotal); *c.TableName != *b.table || c.Table != nil || c.LocalSecondaryIndexes != nil {
		t.Errorf("TOTAL has the table's name and one sum: %v", c)
	}
}
