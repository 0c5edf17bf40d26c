package export_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/txn"
)

// border is a table whose items are seen by an export, by the one that follows, or by both.
type border struct {
	t             *testing.T
	client        *dynamodb.Client
	table         txn.Table
	before, after []export.Record
}

func newBorder(t *testing.T) *border {
	t.Helper()
	db := dynamosim.New(t)
	if err := db.CreateTable("Orders"); err != nil {
		t.Fatal(err)
	}
	return &border{t: t, client: db.Client(), table: txn.Table{}.WithDefaults("Orders")}
}

func (b *border) key(id string) export.Item { return b.table.Key(id, "X") }

func (b *border) keys(ids ...string) (keys []export.Item) {
	for _, id := range ids {
		keys = append(keys, b.key(id))
	}
	return keys
}

func (b *border) get(id string) export.Item {
	out, err := b.client.GetItem(b.t.Context(), &dynamodb.GetItemInput{TableName: &b.table.Name, Key: b.key(id), ConsistentRead: aws.Bool(true)})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Item
}

// commit returns the mark of its transaction.
func (b *border) commit(parts ...txn.Part) string {
	receipt, err := txn.Commit(b.t.Context(), b.client, parts...)
	if err != nil {
		b.t.Fatal(err)
	}
	return receipt.Mark
}

func (b *border) put(id string) txn.Part { return txn.Put(b.table, b.key(id)) }

func (b *border) update(id string) txn.Part {
	return txn.Update(b.table, b.key(id), expression.Set(expression.Name("n"), expression.Value(1)))
}

func (b *border) here(ids ...string) {
	for _, id := range ids {
		b.before = append(b.before, export.Record{New: b.get(id)})
	}
}

func (b *border) there(id string, behind time.Duration) {
	b.after = append(b.after, export.Record{Keys: b.key(id), New: b.get(id), WrittenAt: day.Add(behind)})
}

// Transactions of package txn, of which an export has nothing, a part, or everything, each put or updated.
func TestATransactionThatIsTornAtTheBoundaryIsReported(t *testing.T) {
	t.Parallel()
	w := newBorder(t)
	w.commit(w.put("whole-1"), w.put("whole-2"))
	w.here("whole-1", "whole-2")
	w.commit(w.put("old-1"), w.put("old-2"))
	w.here("old-1", "old-2")
	w.there("old-1", time.Second) // written again, by something that leaves marks alone
	w.commit(w.put("late-1"), w.put("late-2"))
	w.there("late-1", time.Second)
	w.there("late-2", time.Second)
	torn := w.commit(w.put("torn-1"), w.put("torn-2"), w.put("torn-3"))
	w.here("torn-1")
	w.there("torn-2", 0)
	w.there("torn-3", time.Second)
	w.commit(w.put("changed-1"))
	w.commit(w.put("changed-2"))
	w.here("changed-2")
	changed := w.commit(w.update("changed-1"), w.update("changed-2"))
	w.here("changed-1")
	w.there("changed-2", time.Second)
	slow := w.commit(w.put("slow-1"), w.put("slow-2"))
	w.here("slow-1")
	w.there("slow-2", time.Hour-time.Second)
	w.after = append(w.after, export.Record{Keys: w.key("gone"), Old: w.get("old-1"), WrittenAt: day},
		export.Record{Keys: w.key("plain"), New: order(1), WrittenAt: day})

	config := export.WriteConfig{Type: export.Incremental, From: day, To: day.Add(time.Hour)}
	next := written(t, config, w.after...).open(t, export.Config{})
	b := written(t, export.WriteConfig{ItemsPerFile: 2}, w.before...)
	want := map[string]export.Torn{
		torn:    {Mark: torn, Here: w.keys("torn-1"), Missing: w.keys("torn-2", "torn-3")},
		changed: {Mark: changed, Here: w.keys("changed-1"), Missing: w.keys("changed-2")},
	}
	check := func(e *export.Export, want map[string]export.Torn) {
		t.Helper()
		got := map[string]export.Torn{}
		all, err := e.Torn(context.Background(), next)
		for _, one := range all {
			got[one.Mark] = one
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", all, err)
		}
	}
	check(b.open(t, export.Config{}), want)
	want[slow] = export.Torn{Mark: slow, Here: w.keys("slow-1"), Missing: w.keys("slow-2")}
	check(b.open(t, export.Config{Margin: time.Hour}), want)

	var limit *export.LimitError
	if _, err := b.open(t, export.Config{MaxTorn: 3}).Torn(t.Context(), next); !errors.As(err, &limit) || limit.Max != 3 {
		t.Error(err)
	}
	for name, wrong := range map[string]*export.Export{
		"none": nil, "a full one": b.open(t, export.Config{}),
		"of another table": written(t, export.WriteConfig{Table: "Other", Type: export.Incremental, From: day, To: day.Add(time.Hour)}).open(t, export.Config{}),
		"of another time":  written(t, export.WriteConfig{Type: export.Incremental, From: day.Add(1e9), To: day.Add(time.Hour)}).open(t, export.Config{}),
	} {
		if _, err := b.open(t, export.Config{}).Torn(t.Context(), wrong); !errors.Is(err, export.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An item that was updated, is read and put again: its transaction is the one that put it.
func TestAnItemThatIsPutAgainBelongsToWhoPutIt(t *testing.T) {
	t.Parallel()
	w := newBorder(t)
	w.commit(w.put("1"), w.put("2"))
	w.commit(w.update("1"), w.update("2"))
	w.here("2")
	mark := w.commit(txn.Put(w.table, w.get("1")), w.put("3"))
	w.there("1", 0)
	w.here("3")
	next := written(t, export.WriteConfig{Type: export.Incremental, From: day, To: day.Add(time.Hour)}, w.after...).open(t, export.Config{})
	all, err := written(t, export.WriteConfig{}, w.before...).open(t, export.Config{}).Torn(t.Context(), next)
	want := []export.Torn{{Mark: mark, Here: w.keys("3"), Missing: w.keys("1")}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, %v", all, err)
	}
}

// Key attributes of all types tell items apart.
func TestTornKeysMayBeOfAnyType(t *testing.T) {
	t.Parallel()
	item := func(key types.AttributeValue) export.Item { return export.Item{"PK": key, "txnMark": text("m")} }
	keys := []types.AttributeValue{text("1"), number(1), &types.AttributeValueMemberB{Value: []byte("1")}}
	b := written(t, export.WriteConfig{}, export.Record{New: item(keys[0])}, export.Record{New: item(keys[1])})
	var later []export.Record
	for _, key := range keys {
		later = append(later, export.Record{Keys: export.Item{"PK": key}, New: item(key), WrittenAt: day})
	}
	next := written(t, export.WriteConfig{Type: export.Incremental, From: day, To: day.Add(time.Hour)}, later...).open(t, export.Config{})
	all, err := b.open(t, export.Config{}).Torn(t.Context(), next)
	if err != nil || len(all) != 1 || len(all[0].Here) != 2 || !reflect.DeepEqual(all[0].Missing, []export.Item{{"PK": keys[2]}}) {
		t.Errorf("%+v, %v", all, err)
	}
}
