package sentinel_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var (
	allNames  = []string{"C-1", "C-2", "C-3"}
	allOwners = []string{"order-1", "order-2", "order-3", "order-4"}

	anyTokenPolicy = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}
)

// world is a store behind a bad network, and what workers last read of the owners.
type world struct {
	*bench
	ctx    context.Context
	wire   *wire
	faulty *dynamodb.Client
	calm   *dynamodb.Client
	known  map[string]known
	seen   map[string]int
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	b := setup(rt, stores.Options{
		Tokens:             rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
		CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
	})
	w := &world{bench: b, ctx: t.Context(), calm: b.client, known: map[string]known{}, seen: map[string]int{}}
	w.wire = &wire{store: b.store, seen: w.seen}
	w.wire.lossy = dynamosim.Faulty(b.store, func(dynamosim.Call) dynamosim.Fate { return w.wire.next() })
	w.faulty = b.store.Client(func(o *dynamodb.Options) { o.HTTPClient = w.wire })
	return w
}

// known is an owner's record as it was read, with the record of its name. Version 0 means that there is none.
type known struct {
	PK, SK  string
	Name    string `dynamodbav:",omitempty"`
	Version int64
	held    sentinel.Held
}

func (b *bench) ownerKey(id string) txn.Item { return b.owned.Key("TEN#acme#ORDER#"+id, "META") }

func (b *bench) newOwner(id, name string) txn.Part {
	item := b.ownerKey(id)
	item["Name"], item["Version"] = av(name), av(1)
	return txn.Put(b.owned, item, txn.IfAbsent())
}

// rename changes the name in an owner's record, on condition that it is as it was read. An empty name takes it out.
func (b *bench) rename(k known, name string) txn.Part {
	update := expression.Set(expression.Name("Version"), expression.Value(k.Version+1))
	if name == "" {
		update = update.Remove(expression.Name("Name"))
	} else {
		update = update.Set(expression.Name("Name"), expression.Value(name))
	}
	return txn.Update(b.owned, b.owned.Key(k.PK, k.SK), update, txn.If(expression.Name("Version").Equal(expression.Value(k.Version))))
}

func av(v any) types.AttributeValue {
	value, err := attributevalue.Marshal(v)
	if err != nil {
		panic(err)
	}
	return value
}

func (w *world) owner(id string) known {
	var k known
	out, err := w.calm.GetItem(w.ctx, &dynamodb.GetItemInput{TableName: &w.owned.Name, Key: w.ownerKey(id), ConsistentRead: aws.Bool(true)})
	if err == nil {
		err = attributevalue.UnmarshalMap(out.Item, &k)
	}
	if err == nil && k.Name != "" {
		k.held, err = w.names.Lookup(w.ctx, w.calm, "acme", sentinel.ClientOrder, k.Name)
	}
	if err != nil {
		panic(err) // the calm client does not fail
	}
	return k
}

// tables is everything that is stored of names and owners.
type tables struct {
	nameOf  map[string]string // by owner
	ownerOf map[string]string // by name
	text    string            // all of it, to compare
}

func (w *world) read() tables {
	var names, owners []map[string]types.AttributeValue
	for _, name := range allNames {
		names = append(names, w.reserved.Key("TEN#acme#CLIENTORDER#"+name, "UNIQUE"))
	}
	for _, id := range allOwners {
		owners = append(owners, w.ownerKey(id))
	}
	out, err := w.calm.BatchGetItem(w.ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		w.reserved.Name: {Keys: names, ConsistentRead: aws.Bool(true)},
		w.owned.Name:    {Keys: owners, ConsistentRead: aws.Bool(true)},
	}})
	if err != nil {
		panic(err) // the calm client does not fail
	}
	now := tables{nameOf: map[string]string{}, ownerOf: map[string]string{}}
	var lines []string
	for table, items := range out.Responses {
		for _, item := range items {
			fields := map[string]any{}
			if err := attributevalue.UnmarshalMap(item, &fields); err != nil {
				panic(err)
			}
			pk := fmt.Sprint(fields["PK"])
			last := pk[strings.LastIndex(pk, "#")+1:]
			if owner, ok := fields["owner"].(string); ok {
				now.ownerOf[last] = owner
			}
			if name, ok := fields["Name"].(string); ok {
				now.nameOf[last] = name
			}
			lines = append(lines, fmt.Sprint(table, fields))
		}
	}
	slices.Sort(lines)
	now.text = strings.Join(lines, "\n")
	return now
}

// wire records every transaction that is sent, and lets some fail.
type wire struct {
	store *stores.Store
	lossy aws.HTTPClient
	fates []dynamosim.Fate
	sent  []*sent
	seen  map[string]int
}

// sent is one attempt. applied says that its Commit succeeded.
type sent struct {
	request *http.Request
	body    []byte
	applied bool
}

// trouble chooses what befalls the first attempts of the next Commit.
func (w *wire) trouble(rt *rapid.T) {
	w.fates = rapid.SliceOfN(rapid.SampledFrom([]dynamosim.Fate{
		dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress, dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
	}), 0, 3).Draw(rt, "fates")
}

func (w *wire) next() dynamosim.Fate {
	if len(w.fates) == 0 {
		return dynamosim.Deliver
	}
	fate := w.fates[0]
	w.fates = w.fates[1:]
	switch fate {
	case dynamosim.LoseAnswer, dynamosim.InternalErrorAfter:
		w.seen["lost answer"]++
	case dynamosim.LoseRequest:
		w.seen["lost request"]++
	}
	return fate
}

// Do implements aws.HTTPClient.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	w.sent = append(w.sent, &sent{request: request.Clone(context.WithoutCancel(request.Context())), body: body})
	request.Body = io.NopCloser(bytes.NewReader(body))
	return w.lossy.Do(request)
}

// again delivers a recorded attempt once more, past all faults.
func (w *wire) again(rt *rapid.T, s *sent) {
	s.request.Body = io.NopCloser(bytes.NewReader(s.body))
	response, err := w.store.Do(s.request)
	if err != nil {
		rt.Fatalf("deliver a copy: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		rt.Fatalf("deliver a copy: %v", err)
	}
}
