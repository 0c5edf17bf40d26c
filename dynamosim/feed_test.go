package dynamosim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
)

// history is what happened to each item, in order: "old>new" with "" for no item.
type history map[string][]string

func (h history) equal(other history) bool {
	if len(h) != len(other) {
		return false
	}
	for item, changes := range h {
		if !slices.Equal(changes, other[item]) {
			return false
		}
	}
	return true
}

// add notes a record, unless it was noted before.
func (h history) add(seen map[string]bool, records []streams.Record) {
	for _, r := range records {
		if seen[*r.EventID] {
			continue
		}
		seen[*r.EventID] = true
		item := streamText(r.Dynamodb.Keys["pk"]) + "/" + streamText(r.Dynamodb.Keys["sk"])
		h[item] = append(h[item], streamText(r.Dynamodb.OldImage["v"])+">"+streamText(r.Dynamodb.NewImage["v"]))
	}
}

// writes is a table under random writes, and what they did.
type writes struct {
	*streamed
	stored  map[string]string
	history history
}

// draw returns the actions of one request on distinct items, and applies them to the model.
func (w *writes) draw(t *rapid.T, most int) []types.TransactWriteItem {
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 11), 1, most, rapid.ID[int]).Draw(t, "items")
	var actions []types.TransactWriteItem
	for _, id := range ids {
		pk, sk := fmt.Sprint("p", id/2), fmt.Sprint("s", id%2)
		item, after := pk+"/"+sk, ""
		action := types.TransactWriteItem{Delete: &types.Delete{TableName: w.name, Key: key(pk, sk)}}
		if v := rapid.IntRange(0, 3).Draw(t, "value"); v > 0 {
			after = strconv.Itoa(v)
			action = types.TransactWriteItem{Put: &types.Put{TableName: w.name, Item: with(key(pk, sk), "v", n(after))}}
		}
		if before := w.stored[item]; before != after {
			w.history[item] = append(w.history[item], before+">"+after)
		}
		w.stored[item] = after
		actions = append(actions, action)
	}
	return actions
}

func (w *writes) single(t *rapid.T) {
	action := w.draw(t, 1)[0]
	if p := action.Put; p != nil {
		out, err := w.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: p.TableName, Item: p.Item})
		ok(t, out, err)
		return
	}
	out, err := w.table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: w.name, Key: action.Delete.Key})
	ok(t, out, err)
}

func (w *writes) transaction(t *rapid.T) {
	out, err := w.table.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: w.draw(t, 5)})
	ok(t, out, err)
}

// Whatever the writes, the shards and the delays are, and however often batches are refused or repeated: the records of
// each item are complete and in order, and the stream as a whole holds nothing else.
func TestEveryItemsRecordsAreCompleteAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := dynamosim.StreamOptions{
			Shards:     rapid.IntRange(1, 4).Draw(t, "shards"),
			ShardLife:  time.Duration(rapid.SampledFrom([]int{-1, 1, 60}).Draw(t, "life")) * time.Second,
			SplitAfter: rapid.IntRange(0, 5).Draw(t, "split"),
			Delay:      time.Duration(rapid.SampledFrom([]int{0, 3}).Draw(t, "delay")) * time.Second,
			Interleave: rapid.Bool().Draw(t, "interleave"),
		}
		st := openStreamed(t, bothImages, dynamosim.Options{Seed: rapid.Uint64().Draw(t, "seed"), Streams: o})
		w := &writes{st, map[string]string{}, history{}}
		feed := dynamosim.NewFeed(st.streams, *st.arn)
		feed.Batch = rapid.Int32Range(1, 5).Draw(t, "batch")
		feed.Repeat = func(string, []streams.Record) bool { return rapid.IntRange(0, 3).Draw(t, "repeat") == 0 }
		refusal := errors.New("refused")
		seen, delivered := map[string]bool{}, history{}
		take := func(_ context.Context, batch []streams.Record) error {
			delivered.add(seen, batch)
			return nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"write":    w.single,
			"transact": w.transaction,
			"wait":     func(t *rapid.T) { st.pass(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond) },
			"poll": func(t *rapid.T) {
				_, err := feed.Poll(ctx, func(ctx context.Context, batch []streams.Record) error {
					if rapid.IntRange(0, 3).Draw(t, "fate") == 0 {
						return refusal
					}
					return take(ctx, batch)
				})
				if err != nil && !errors.Is(err, refusal) {
					t.Fatal(err)
				}
			},
		})
		st.pass(o.Delay)
		feed.Repeat = nil
		for range 2 * (len(seen) + 200) {
			if _, err := feed.Poll(ctx, take); err != nil {
				t.Fatal(err)
			}
			if delivered.equal(w.history) {
				break
			}
		}
		if !delivered.equal(w.history) {
			t.Fatalf("delivered %v\nhappened  %v", delivered, w.history)
		}
		all := history{}
		all.add(map[string]bool{}, st.records(t))
		if !all.equal(w.history) {
			t.Fatalf("recorded %v\nhappened %v", all, w.history)
		}
	})
}

func TestAFeedGoesOnAfterALongPause(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{ShardLife: time.Hour})
	feed := dynamosim.NewFeed(st.streams, *st.arn)
	var got []streams.Record
	take := func(_ context.Context, batch []streams.Record) error {
		got = append(got, batch...)
		return nil
	}
	poll := func() {
		t.Helper()
		if _, err := feed.Poll(ctx, take); err != nil {
			t.Fatal(err)
		}
	}
	st.put(t, "p", "1")
	poll()
	st.pass(20 * time.Minute) // longer than an iterator lives
	st.put(t, "p", "2")
	poll()
	wantBrief(t, got, "INSERT p/1, INSERT p/2")
	st.pass(time.Hour) // longer than a shard lives
	st.put(t, "p", "3")
	poll()
	wantBrief(t, got, "INSERT p/1, INSERT p/2, INSERT p/3")
}

func TestAFeedReportsOnceWhatItMissed(t *testing.T) {
	for name, o := range map[string]dynamosim.StreamOptions{"records": oneShard, "shards": {ShardLife: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			st := newStreamed(t, bothImages, o)
			feed := dynamosim.NewFeed(st.streams, *st.arn)
			var got []streams.Record
			take := func(_ context.Context, batch []streams.Record) error {
				got = append(got, batch...)
				return nil
			}
			for i := range 6 {
				st.put(t, "p", fmt.Sprint(i))
			}
			feed.Batch = 1
			if _, err := feed.Poll(ctx, take); err != nil {
				t.Fatal(err)
			}
			st.pass(25 * time.Hour)
			st.put(t, "p", "late")
			st.records(t)
			st.pass(25 * time.Hour)
			st.put(t, "p", "later")
			_, err := feed.Poll(ctx, take)
			var trimmed *streams.TrimmedDataAccessException
			if !errors.As(err, &trimmed) {
				t.Errorf("error is %v", err)
			}
			for range 3 {
				if _, err := feed.Poll(ctx, take); err != nil {
					t.Error(err)
				}
			}
			wantBrief(t, got, "INSERT p/0, INSERT p/later")
		})
	}
}

func TestAFailingBatchHoldsUpItsShardAlone(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{Shards: 8})
	for i := range 40 {
		st.put(t, fmt.Sprint("p", i), "s")
	}
	feed := dynamosim.NewFeed(st.streams, *st.arn)
	refusal := errors.New("poison")
	handled := 0
	handle := func(_ context.Context, batch []streams.Record) error {
		for _, r := range batch {
			if streamText(r.Dynamodb.Keys["pk"]) == "p7" {
				return refusal
			}
		}
		handled += len(batch)
		return nil
	}
	var polled int
	for range 3 {
		n, err := feed.Poll(ctx, handle)
		if !errors.Is(err, refusal) {
			t.Fatalf("error is %v", err)
		}
		polled += n
	}
	if handled == 0 || handled >= 40 || handled != polled {
		t.Errorf("%d records handled, %d counted", handled, polled)
	}
	// Without the poison the held batch comes, and nothing twice.
	rest, err := feed.Poll(ctx, func(context.Context, []streams.Record) error { return nil })
	if err != nil || handled+rest != 40 {
		t.Errorf("%d + %d records handled, error %v", handled, rest, err)
	}
}

func TestAFeedOfAnUnknownStreamFails(t *testing.T) {
	st := newStreamed(t, bothImages, oneShard)
	feed := dynamosim.NewFeed(st.db.StreamsClient(func(o *dynamodbstreams.Options) {}), *st.arn+"0")
	_, err := feed.Poll(ctx, func(context.Context, []streams.Record) error { return nil })
	wantCode(t, err, "ResourceNotFoundException")
}
