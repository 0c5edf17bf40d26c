package dynamosim_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
)

const lagMax = time.Second

// entries is what an index shows of one item, each entry in words, sorted.
type entries = []string

// lagging is a database with a lagging index beside a record of what the index should have shown when.
type lagging struct {
	t      testing.TB
	now    time.Time
	db     *dynamosim.DB
	client *dynamodb.Client
	// history holds the states of an item, one for each write; seen is the state its index showed last.
	history map[string][]indexState
	seen    map[string]int
}

type indexState struct {
	since time.Time
	entry string // "" is none
}

func newLagging(t testing.TB, lag dynamosim.IndexLag, seed uint64) *lagging {
	l := &lagging{t: t, now: time.Unix(1_000_000, 0), history: map[string][]indexState{}, seen: map[string]int{}}
	l.db = dynamosim.Open(dynamosim.Options{Now: func() time.Time { return l.now }, IndexLag: lag, Seed: seed})
	l.client = l.db.Client()
	_, err := l.client.CreateTable(ctx, testTable("T01"))
	must(t, true, err)
	return l
}

// put stores an item in group gk (none if empty) at place gs; the index has it in words like "a/3 x".
func (l *lagging) put(pk, gk string, gs int, proj string) {
	item, entry := key(pk, "x"), ""
	if gk != "" {
		item = with(item, "gk", s(gk), "gs", n(strconv.Itoa(gs)), "proj", s(proj))
		entry = fmt.Sprintf("%s/%d %s", gk, gs, proj)
	}
	_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("T01"), Item: item})
	must(l.t, true, err)
	l.wrote(pk, entry)
}

func (l *lagging) remove(pk string) {
	_, err := l.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("T01"), Key: key(pk, "x")})
	must(l.t, true, err)
	l.wrote(pk, "")
}

func (l *lagging) wrote(pk, entry string) {
	l.history[pk] = append(l.history[pk], indexState{l.now, entry})
}

// shown reads the whole index.
func (l *lagging) shown() map[string]entries {
	all := map[string]entries{}
	for _, group := range []string{"a", "b", "c"} {
		out, err := l.client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("T01"), IndexName: aws.String("byGroup"), KeyConditionExpression: aws.String("gk = :g"),
			ExpressionAttributeValues: attrs{":g": s(group)},
		})
		for _, item := range must(l.t, out, err).Items {
			pk := text(item["pk"])
			all[pk] = append(all[pk], fmt.Sprintf("%s/%s %s", group, text(item["gs"]), text(item["proj"])))
		}
	}
	return all
}

// check compares what the index shows with the states it may be in: none older than the one it showed before, none that
// was replaced longer ago than the bound, and between two states with different keys both or neither.
func (l *lagging) check() {
	shown := l.shown()
	for pk, history := range l.history {
		slices.Sort(shown[pk])
		from := l.seen[pk]
		for i, state := range history {
			if !state.since.After(l.now.Add(-lagMax)) {
				from = max(from, i+1)
			}
		}
		at := from
		for at <= len(history) && !slices.ContainsFunc(states(history, at), func(e entries) bool { return slices.Equal(e, shown[pk]) }) {
			at++
		}
		if at > len(history) {
			l.t.Fatalf("index shows %q of %s, which is no state from %d on of %v", shown[pk], pk, from, history)
		}
		l.seen[pk] = at
	}
}

// states are what an index may show after the first n writes and before it has heard all of the next.
func states(history []indexState, n int) []entries {
	before := ""
	if n > 0 {
		before = history[n-1].entry
	}
	list := []entries{compact(before)}
	if n < len(history) && before != "" && history[n].entry != "" && before[:3] != history[n].entry[:3] {
		both := entries{before, history[n].entry}
		slices.Sort(both)
		list = append(list, nil, both)
	}
	return list
}

func compact(entry string) entries {
	if entry == "" {
		return nil
	}
	return entries{entry}
}

// act does something random: mostly it writes.
func (l *lagging) act(t *rapid.T) {
	pk := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "item")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		l.remove(pk)
	case 1, 2:
		l.now = l.now.Add(time.Duration(rapid.IntRange(0, int(lagMax)/2).Draw(t, "wait")))
	default:
		l.put(pk, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "group"),
			rapid.IntRange(0, 2).Draw(t, "place"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "content"))
	}
}

// converged fails unless the index shows what the table holds.
func (l *lagging) converged() {
	for pk := range l.history {
		l.seen[pk] = len(l.history[pk])
	}
	l.check()
	if left := l.db.IndexBacklogs(); len(left) > 0 {
		l.t.Fatalf("still behind: %v", left)
	}
}

func TestALaggingIndexShowsAPrefixOfEachItemsWritesWithinTheBound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newLagging(t, dynamosim.IndexLag{Max: lagMax}, rapid.Uint64().Draw(r, "seed"))
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			l.act(r)
			l.check()
		}
		l.now = l.now.Add(lagMax)
		l.converged()
	})
}

func TestASteppedIndexShowsAPrefixOfEachItemsWritesAtEveryStep(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newLagging(t, dynamosim.IndexLag{Stepped: true}, rapid.Uint64().Draw(r, "seed"))
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			l.act(r)
			l.db.PropagateIndexes(rapid.IntRange(0, 2).Draw(r, "propagate"))
			for _, history := range l.history { // a stepped index has all the time in the world
				for i := range history {
					history[i].since = l.now.Add(lagMax)
				}
			}
			l.check()
		}
		l.db.PropagateIndexes(-1)
		l.converged()
	})
}

func TestAMovedKeyIsSeenAsBothOrNeither(t *testing.T) {
	saw := map[int]int{}
	for seed := range uint64(20) {
		l := newLagging(t, dynamosim.IndexLag{Stepped: true}, seed)
		l.put("1", "a", 1, "x")
		l.db.PropagateIndexes(-1)
		l.put("1", "b", 1, "x")
		l.db.PropagateIndexes(1)
		saw[len(l.shown()["1"])]++
	}
	if saw[0] == 0 || saw[2] == 0 || saw[1] != 0 {
		t.Fatalf("entries seen in the middle of a move, and how often: %v", saw)
	}
}

func TestDifferentItemsReachAnIndexInAnyOrder(t *testing.T) {
	first := map[string]int{}
	for seed := range uint64(20) {
		l := newLagging(t, dynamosim.IndexLag{Max: lagMax}, seed)
		l.put("1", "a", 1, "x")
		l.put("2", "a", 2, "x")
		for len(l.shown()) == 0 {
			l.now = l.now.Add(lagMax / 50)
		}
		for pk := range l.shown() {
			first[pk]++
		}
	}
	if first["1"] == 0 || first["2"] == 0 {
		t.Fatalf("who was seen first: %v", first)
	}
}

func TestLocalIndexesAndStrongReadsNeverLag(t *testing.T) {
	l := newLagging(t, dynamosim.IndexLag{Stepped: true}, 1)
	_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("T01"), Item: with(key("1", "x"), "ls", s("l"))})
	must(t, true, err)
	out, err := l.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("T01"), IndexName: aws.String("byLocal"), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: attrs{":p": s("1")},
	})
	if got := must(t, out, err).Count; got != 1 {
		t.Fatalf("local index shows %d items, want 1", got)
	}
}

func TestTheBacklogOfAnIndexIsCountedAndDated(t *testing.T) {
	l := newLagging(t, dynamosim.IndexLag{Stepped: true}, 1)
	l.put("1", "a", 1, "x")
	l.now = l.now.Add(3 * time.Second)
	l.put("1", "b", 1, "x")
	want := dynamosim.IndexBacklog{Table: "T01", Index: "byGroup", Pending: 3, Age: 3 * time.Second}
	if got := l.db.IndexBacklogs(); len(got) != 1 || got[0] != want {
		t.Fatalf("backlog is %v, want %v", got, want)
	}
	_, err := l.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("T01")})
	must(t, true, err)
	if left := l.db.PropagateIndexes(-1); left != 0 {
		t.Fatalf("%d changes wait for the index of a deleted table", left)
	}
}
