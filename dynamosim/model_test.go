package dynamosim_test

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

// modelItem is an item as the naive model sees it: a counter, and a group it may belong to.
type modelItem struct {
	pk, sk string
	hits   int
	group  string // "" is none
}

func (m modelItem) attrs() attrs {
	item := with(key(m.pk, m.sk), "hits", n(strconv.Itoa(m.hits)))
	if m.group != "" {
		item = with(item, "gk", s(m.group), "gs", n(strconv.Itoa(m.hits)))
	}
	return item
}

// model is a plain map with the operations the test uses. It knows nothing of trees, packing, pages or JSON.
type model struct {
	t     *rapid.T
	b     backend
	items map[[2]string]modelItem
}

func (m *model) draw() modelItem {
	return modelItem{
		pk:    rapid.SampledFrom([]string{"a", "b"}).Draw(m.t, "pk"),
		sk:    rapid.SampledFrom([]string{"1", "2", "3"}).Draw(m.t, "sk"),
		hits:  rapid.IntRange(-9, 99).Draw(m.t, "hits"),
		group: rapid.SampledFrom([]string{"", "g", "h"}).Draw(m.t, "group"),
	}
}

// step is one action of the model and of the database: it changes the map, or reports that its condition fails.
type step struct {
	item   modelItem
	action types.TransactWriteItem
	apply  func(map[[2]string]modelItem) bool
}

func (m *model) drawStep() step {
	item := m.draw()
	id := [2]string{item.pk, item.sk}
	switch rapid.IntRange(0, 3).Draw(m.t, "kind") {
	case 0:
		return step{item, m.b.putAction(item.attrs()), func(items map[[2]string]modelItem) bool {
			items[id] = item
			return true
		}}
	case 1:
		put := m.b.putAction(item.attrs())
		put.Put.ConditionExpression = aws.String("attribute_not_exists(pk)")
		return step{item, put, func(items map[[2]string]modelItem) bool {
			if _, taken := items[id]; taken {
				return false
			}
			items[id] = item
			return true
		}}
	case 2:
		remove := types.TransactWriteItem{Delete: &types.Delete{TableName: m.b.table, Key: key(item.pk, item.sk)}}
		return step{item, remove, func(items map[[2]string]modelItem) bool {
			delete(items, id)
			return true
		}}
	default:
		update := m.b.updateAction(key(item.pk, item.sk), "SET hits = hits + :n REMOVE gk", attrs{":n": n(strconv.Itoa(item.hits)), ":zero": n("0")})
		update.Update.ConditionExpression = aws.String("hits >= :zero")
		return step{item, update, func(items map[[2]string]modelItem) bool {
			old, ok := items[id]
			if !ok || old.hits < 0 {
				return false
			}
			old.hits += item.hits
			old.group = ""
			items[id] = old
			return true
		}}
	}
}

// transact runs one to three steps together, on different items.
func (m *model) transact(t *rapid.T) {
	m.t = t
	var actions []types.TransactWriteItem
	next, fails := maps.Clone(m.items), false
	seen := map[[2]string]bool{}
	for range rapid.IntRange(1, 3).Draw(t, "actions") {
		s := m.drawStep()
		if id := [2]string{s.item.pk, s.item.sk}; !seen[id] {
			seen[id] = true
			actions = append(actions, s.action)
			fails = !s.apply(next) || fails
		}
	}
	err := m.b.transact(actions...)
	var canceled *types.TransactionCanceledException
	switch {
	case fails && !errors.As(err, &canceled):
		t.Fatalf("a condition fails, but the error is %v", err)
	case !fails && err != nil:
		t.Fatal(err)
	case !fails:
		m.items = next
	}
}

// batch writes several items without conditions.
func (m *model) batch(t *rapid.T) {
	m.t = t
	requests := map[[2]string]types.WriteRequest{}
	for range rapid.IntRange(1, 4).Draw(t, "requests") {
		item := m.draw()
		id := [2]string{item.pk, item.sk}
		if _, twice := requests[id]; twice {
			continue
		}
		if rapid.Bool().Draw(t, "put") {
			requests[id] = putRequest(item.attrs())
			m.items[id] = item
		} else {
			requests[id] = deleteRequest(key(item.pk, item.sk))
			delete(m.items, id)
		}
	}
	if _, err := m.b.writeBatch(slices.Collect(maps.Values(requests))...); err != nil {
		t.Fatal(err)
	}
}

// want shows the items the model has of one kind, sorted.
func (m *model) want(keep func(modelItem) bool, show func(modelItem) string) string {
	var lines []string
	for _, item := range m.items {
		if keep(item) {
			lines = append(lines, show(item))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// query shows what one partition holds, sorted.
func (m *model) query(t *rapid.T, in *dynamodb.QueryInput, show func(attrs) string) string {
	in.TableName = m.b.table
	out, err := m.b.Query(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, item := range out.Items {
		lines = append(lines, show(item))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// check compares every partition of the table and of the index with the model.
func (m *model) check(t *rapid.T) {
	for _, pk := range []string{"a", "b"} {
		got := m.query(t, &dynamodb.QueryInput{
			KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attrs{":p": s(pk)},
		}, withoutIndexSort)
		want := m.want(
			func(i modelItem) bool { return i.pk == pk },
			func(i modelItem) string { return withoutIndexSort(i.attrs()) },
		)
		if got != want {
			t.Fatalf("partition %s holds\n%s\nwant\n%s", pk, got, want)
		}
	}
	for _, group := range []string{"g", "h"} {
		got := m.query(t, &dynamodb.QueryInput{
			IndexName: aws.String("byGroup"), KeyConditionExpression: aws.String("gk = :g"), ExpressionAttributeValues: attrs{":g": s(group)},
		}, show)
		want := m.want(
			func(i modelItem) bool { return i.group == group },
			func(i modelItem) string {
				return show(with(key(i.pk, i.sk), "gk", s(group), "gs", n(strconv.Itoa(i.hits))))
			},
		)
		if got != want {
			t.Fatalf("group %s holds\n%s\nwant\n%s", group, got, want)
		}
	}
}

// withoutIndexSort shows an item without the index's sort key: an update that takes an item out of its group leaves it.
func withoutIndexSort(item attrs) string {
	item = with(item)
	delete(item, "gs")
	return show(item)
}

func TestRandomOperationsAgreeWithAMap(t *testing.T) {
	b := newBackend(t)
	rapid.Check(t, func(t *rapid.T) {
		for _, pk := range []string{"a", "b"} {
			for _, sk := range []string{"1", "2", "3"} {
				if _, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: b.table, Key: key(pk, sk)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		m := &model{b: b, items: map[[2]string]modelItem{}}
		t.Repeat(map[string]func(*rapid.T){"transact": m.transact, "batch": m.batch, "": m.check})
	})
}
