package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// Write is one write that a change would send.
type Write struct {
	// Action is PUT, UPDATE, DELETE or CHECK; Table and Key say of which item.
	Action, Table, Key string
	// Units are the write units of the item itself.
	Units int
	// Attributes are those that change, each as text: before and after. What is absent is "-".
	Attributes []Attribute
}

// Attribute is what a write does to an attribute.
type Attribute struct{ Name, Before, After string }

// rehearsed is a change that was committed to a copy.
type rehearsed struct {
	writes []Write
	// units are those of the whole transaction, index of it those of indexes.
	units, index capacity.Units
}

// stage is an embedded DynamoDB that gets copies of the items that a change touches.
type stage struct {
	from Client
	db   *dynamosim.DB
	to   *dynamodb.Client
	keys map[string][]string // by table
}

func newStage(from Client) *stage {
	db := dynamosim.Open(dynamosim.Options{})
	return &stage{from: from, db: db, to: db.Client(), keys: map[string][]string{}}
}

// catch takes the request of a Commit instead of sending it.
type catch struct {
	in *dynamodb.TransactWriteItemsInput
}

func (c *catch) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.in = in
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// rehearse commits parts on the stage, with copies of the items that are stored, and tells what they do.
func (s *stage) rehearse(ctx context.Context, parts []txn.Part) (rehearsed, error) {
	var c catch
	if _, err := txn.New(&c, txn.Config{}).Commit(ctx, parts...); err != nil {
		return rehearsed{}, err
	}
	before := make([]txn.Item, len(c.in.TransactItems))
	for i, item := range c.in.TransactItems {
		w := target(item)
		var err error
		if before[i], err = s.copy(ctx, w); err != nil {
			return rehearsed{}, err
		}
	}
	out, err := s.to.TransactWriteItems(ctx, c.in)
	if err != nil {
		// The copies are as old as the read; the part that refuses explains why.
		if _, explained := txn.New(s.to, txn.Config{MaxAttempts: 1}).Commit(ctx, parts...); explained != nil {
			err = explained
		}
		return rehearsed{}, err
	}
	var r rehearsed
	for _, consumed := range out.ConsumedCapacity {
		r.units += capacity.FromWire(aws.ToFloat64(consumed.CapacityUnits))
		for _, index := range consumed.GlobalSecondaryIndexes {
			r.index += capacity.FromWire(aws.ToFloat64(index.CapacityUnits))
		}
	}
	for i, item := range c.in.TransactItems {
		w := target(item)
		after, err := get(ctx, s.to, w.table, s.key(w))
		if err != nil {
			return rehearsed{}, err
		}
		r.writes = append(r.writes, Write{
			Action: w.action, Table: w.table, Key: s.name(w),
			Units:      2 * capacity.WriteUnits(max(capacity.ItemSize(before[i]), capacity.ItemSize(after))),
			Attributes: differences(before[i], after, s.keys[w.table]),
		})
	}
	return r, nil
}

// aim is which item a write is about.
type aim struct {
	action, table string
	item          txn.Item // its key, or more
}

func target(item types.TransactWriteItem) aim {
	switch {
	case item.Put != nil:
		return aim{"PUT", *item.Put.TableName, item.Put.Item}
	case item.Update != nil:
		return aim{"UPDATE", *item.Update.TableName, item.Update.Key}
	case item.Delete != nil:
		return aim{"DELETE", *item.Delete.TableName, item.Delete.Key}
	default:
		return aim{"CHECK", *item.ConditionCheck.TableName, item.ConditionCheck.Key}
	}
}

func (s *stage) key(w aim) txn.Item {
	key := txn.Item{}
	for _, name := range s.keys[w.table] {
		key[name] = w.item[name]
	}
	return key
}

func (s *stage) name(w aim) string {
	name := ""
	for i, attr := range s.keys[w.table] {
		if i > 0 {
			name += " / "
		}
		name += Text(w.item[attr])
	}
	return name
}

// copy brings an item to the stage as it is stored now.
func (s *stage) copy(ctx context.Context, w aim) (txn.Item, error) {
	if s.keys[w.table] == nil {
		if err := s.build(ctx, w.table); err != nil {
			return nil, err
		}
	}
	stored, err := get(ctx, s.from, w.table, s.key(w))
	if err != nil {
		return nil, err
	}
	if stored == nil {
		_, err = s.to.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.table, Key: s.key(w)})
	} else {
		_, err = s.to.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.table, Item: stored})
	}
	return stored, err
}

// build makes a table on the stage like the one that is described.
func (s *stage) build(ctx context.Context, table string) error {
	out, err := s.from.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return fmt.Errorf("describe table %s: %w", table, err)
	}
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: out.Table.KeySchema, AttributeDefinitions: out.Table.AttributeDefinitions,
	}
	for _, index := range out.Table.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection})
	}
	for _, index := range out.Table.LocalSecondaryIndexes {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes,
			types.LocalSecondaryIndex{IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection})
	}
	for _, element := range out.Table.KeySchema {
		s.keys[table] = append(s.keys[table], *element.AttributeName)
	}
	_, err = s.to.CreateTable(ctx, in)
	return err
}

type getter interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

func get(ctx context.Context, client getter, table string, key txn.Item) (txn.Item, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read an item of table %s: %w", table, err)
	}
	return out.Item, nil
}

// differences are the attributes that a write changes, sorted by name. The marks of transactions are left out: they are drawn by
// chance.
func differences(before, after txn.Item, key []string) []Attribute {
	names := map[string]bool{}
	for _, item := range []txn.Item{before, after} {
		for name := range item {
			names[name] = !slices.Contains(key, name) && name != txn.MarkAttribute && name != txn.UpdateMarkAttribute
		}
	}
	var list []Attribute
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a := (Attribute{name, Text(before[name]), Text(after[name])}); names[name] && a.Before != a.After {
			list = append(list, a)
		}
	}
	return list
}

// Text writes a value for people. What is binary is only counted: it may be somebody's payload.
func Text(value types.AttributeValue) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberB:
		return strconv.Itoa(len(v.Value)) + " bytes"
	case *types.AttributeValueMemberSS:
		return fmt.Sprintf("%q", v.Value)
	case *types.AttributeValueMemberL:
		list := make([]string, len(v.Value))
		for i, element := range v.Value {
			list[i] = Text(element)
		}
		return fmt.Sprintf("%q", list)
	case *types.AttributeValueMemberM:
		fields := ""
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			fields += fmt.Sprintf(" %s: %s", name, Text(v.Value[name]))
		}
		return "{" + fields + " }"
	default:
		return fmt.Sprintf("%T", v)
	}
}
