package shardmap_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/shardmap"
)

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredMapsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	golden.Item(t, "created", b.item(t))
	from := b.reshard(t)
	golden.Item(t, "admitted", b.item(t))
	b.now = from.Add(rules.MaxSkew + rules.Horizon)
	v, err := b.maps.Drain(t.Context(), lane, 1, from, "ann")
	must(t, v, err)
	v, err = b.maps.Retire(t.Context(), lane, 1, evidence(from), "ann")
	must(t, v, err)
	v, err = b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 19, From: b.now.Add(rules.Notice())}, "bob")
	must(t, v, err)
	v, err = b.maps.Withdraw(t.Context(), lane, 3, "bob")
	must(t, v, err)
	golden.Item(t, "retired_and_withdrawn", b.item(t))
	read, err := b.maps.Load(t.Context(), lane)
	must(t, read, err)
	if !reflect.DeepEqual(read.All(), v.All()) {
		t.Errorf("read\n%+v\nwritten\n%+v", read.All(), v.All())
	}
}

func sameItem(a, b map[string]types.AttributeValue) bool { return reflect.DeepEqual(a, b) }

// What cannot be read places nothing, and is not overwritten.
func TestAnItemThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	type attributes = map[string]types.AttributeValue
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	version := func(item attributes, i int) attributes {
		return item["versions"].(*types.AttributeValueMemberL).Value[i].(*types.AttributeValueMemberM).Value
	}
	history := func(item attributes, i, j int) attributes {
		return version(item, i)["history"].(*types.AttributeValueMemberL).Value[j].(*types.AttributeValueMemberM).Value
	}
	b := setup(t)
	b.create(t)
	b.reshard(t)
	for says, spoil := range map[string]func(attributes){
		"v that is out of range":                      func(a attributes) { a["v"] = number("2") },
		"v that is no number":                         func(a attributes) { delete(a, "v") },
		"revision that is out of range":               func(a attributes) { a["revision"] = number("0") },
		"maxAgeMs that is out of range":               func(a attributes) { a["maxAgeMs"] = number("1.5") },
		"versions that is no list":                    func(a attributes) { a["versions"] = &types.AttributeValueMemberL{} },
		"versions that has an element that is no map": func(a attributes) { a["versions"].(*types.AttributeValueMemberL).Value[0] = text("x") },
		"versions that has windows out of order":      func(a attributes) { delete(version(a, 1), "from") },
		"version that is out of range":                func(a attributes) { version(a, 1)["version"] = number("1") },
		"hashVersion that is out of range":            func(a attributes) { version(a, 0)["hashVersion"] = number("2") },
		"shards that is out of range":                 func(a attributes) { version(a, 0)["shards"] = number("10001") },
		"from that is no time":                        func(a attributes) { version(a, 1)["from"] = text("2026-11-29") },
		"state that does not follow from its history": func(a attributes) { version(a, 0)["state"] = text("RETIRED") },
		"history that has steps that cannot follow":   func(a attributes) { history(a, 1, 0)["step"] = text("ADMIT") },
		"watermark that is no text":                   func(a attributes) { history(a, 1, 1)["step"] = text("DRAIN") },
		"by that is no text":                          func(a attributes) { delete(history(a, 0, 0), "by") },
	} {
		item := b.item(t)
		spoil(item)
		if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.config.Table, Item: item}); err != nil {
			t.Fatal(err)
		}
		_, err := b.maps.Load(t.Context(), lane)
		if !errors.Is(err, shardmap.ErrStored) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want a StoredError that says %q", err, says)
		}
		if _, err := b.maps.Withdraw(t.Context(), lane, 2, "ann"); !errors.Is(err, shardmap.ErrStored) {
			t.Errorf("a step on it: %v", err)
		}
		b.restore(t)
	}
}

// restore writes the map of version 2 anew.
func (b *bench) restore(t *testing.T) {
	t.Helper()
	if _, err := b.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.config.Table, Key: key()}); err != nil {
		t.Fatal(err)
	}
	b.create(t)
	b.reshard(t)
}
