package dynamosim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
)

func TestAShardRollsWhileItIsRead(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	iterator, err := st.iterator(st.shards(t)[0], fromHorizon)
	must(t, iterator, err)
	st.put(t, "p", "1")
	st.page(t, iterator)
	st.pass(dynamosim.DefaultShardLife - time.Minute)
	st.put(t, "p", "2")
	iterator, err = st.iterator(st.shards(t)[0], fromAfter, atSequence(st.records(t)[0].Dynamodb.SequenceNumber))
	must(t, iterator, err)
	st.pass(time.Minute)
	st.put(t, "p", "3")

	page, next := st.page(t, iterator)
	wantBrief(t, page, "INSERT p/2")
	if next != nil {
		t.Fatal("a closed shard goes on")
	}
	shards := st.shards(t)
	if len(shards) != 2 || *shards[1].ParentShardId != *shards[0].ShardId || *shards[0].ShardId >= *shards[1].ShardId {
		t.Fatalf("shards are %+v", shards)
	}
	child, err := st.iterator(shards[1], fromHorizon)
	page, next = st.page(t, must(t, child, err))
	wantBrief(t, page, "INSERT p/3")
	if next == nil {
		t.Fatal("an open shard has an end")
	}
	closed := shards[0].SequenceNumberRange
	if *closed.EndingSequenceNumber != *st.records(t)[1].Dynamodb.SequenceNumber {
		t.Errorf("the closed shard is %+v", closed)
	}
}

func TestAShardRollsThoughNobodyWrites(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{ShardLife: time.Hour})
	st.pass(time.Hour)
	shards := st.shards(t)
	if len(shards) != 2 || shards[0].SequenceNumberRange.EndingSequenceNumber == nil {
		t.Fatalf("shards are %+v", shards)
	}
	st.pass(30 * time.Hour)
	if shards = st.shards(t); len(shards) != 2 || *shards[1].ParentShardId != *shards[0].ShardId {
		t.Errorf("shards are %+v, want the last two: the first is trimmed", shards)
	}
}

func TestABusyShardIsSplitBetweenTwoChildren(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{SplitAfter: 10})
	for i := range 100 {
		st.put(t, fmt.Sprint("p", i), "s")
	}
	shards := st.shards(t)
	children := map[string]int{}
	for _, s := range shards {
		children[aws.ToString(s.ParentShardId)]++
	}
	delete(children, "")
	for parent, n := range children {
		if n != 2 {
			t.Errorf("%s has %d children", parent, n)
		}
		out, err := st.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{
			StreamArn: st.arn, ShardFilter: &streams.ShardFilter{Type: streams.ShardFilterTypeChildShards, ShardId: aws.String(parent)},
		})
		for _, s := range must(t, out, err).StreamDescription.Shards {
			if *s.ParentShardId != parent {
				t.Errorf("filtered for %s, found %+v", parent, s)
			}
		}
		if got := len(out.StreamDescription.Shards); got != 2 {
			t.Errorf("filtered %d children of %s", got, parent)
		}
	}
	if got := len(st.records(t)); len(children) < 5 || got != 100 {
		t.Errorf("%d records in %d shards, %d of them split", got, len(shards), len(children))
	}
}

func TestTheNumberOfOpenShardsIsBounded(t *testing.T) {
	st := newStreamed(t, types.StreamViewTypeKeysOnly, dynamosim.StreamOptions{SplitAfter: 1})
	for i := range 500 {
		st.put(t, fmt.Sprint("p", i), "s")
	}
	open := 0
	for _, s := range st.shards(t) {
		if s.SequenceNumberRange.EndingSequenceNumber == nil {
			open++
		}
	}
	if open != 64 || len(st.records(t)) != 500 {
		t.Errorf("%d shards are open", open)
	}
}

func TestARecordIsReadableWhenItsDelayIsOver(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{Delay: time.Second})
	iterator, err := st.iterator(st.shards(t)[0], fromLatest)
	must(t, iterator, err)
	for i := range 20 {
		st.put(t, "p", fmt.Sprint(i))
	}
	early, _ := st.page(t, iterator)
	st.pass(time.Second)
	late, _ := st.page(t, iterator)
	if len(early) == 20 || len(late) != 20 {
		t.Fatalf("%d records at once and %d after the delay, want fewer than 20 and 20", len(early), len(late))
	}
	for i, r := range late {
		if streamText(r.Dynamodb.Keys["sk"]) != fmt.Sprint(i) {
			t.Errorf("without interleaving, record %d is %s", i, brief(late[i:i+1]))
		}
	}
}

// transfer writes an entry for each of the accounts in one transaction.
func (st *streamed) transfer(t fatal, id string, accounts ...string) {
	t.Helper()
	in := &dynamodb.TransactWriteItemsInput{}
	for _, account := range accounts {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{
			TableName: st.name, Item: with(key(account, "entry"), "by", s(id)),
		}})
	}
	out, err := st.table.TransactWriteItems(ctx, in)
	ok(t, out, err)
}

func TestTransactionsComeApartWhenInterleaved(t *testing.T) {
	apart, mixed := false, false
	for seed := range uint64(5) {
		st := openStreamed(t, bothImages, dynamosim.Options{Seed: seed, Streams: dynamosim.StreamOptions{Interleave: true}})
		for i := range 10 {
			st.transfer(t, fmt.Sprint(i), "a", "b", fmt.Sprint("c", i))
		}
		var order, as []string
		for _, r := range st.records(t) {
			by := streamText(r.Dynamodb.NewImage["by"])
			order = append(order, by)
			if streamText(r.Dynamodb.Keys["pk"]) == "a" {
				as = append(as, by)
			}
		}
		if len(order) != 30 || strings.Join(as, "") != "0123456789" {
			t.Fatalf("%d records, those of one item in the order %v", len(order), as)
		}
		mixed = mixed || !slices.IsSorted(order)
		for i := 2; i < len(order); i++ {
			apart = apart || order[i] == order[i-2] && order[i] != order[i-1]
		}
	}
	if !apart || !mixed {
		t.Errorf("records of one transaction were separated: %v; transactions were mixed: %v", apart, mixed)
	}
}

func TestASeedGivesOneStream(t *testing.T) {
	read := func(seed uint64) string {
		st := openStreamed(t, bothImages, dynamosim.Options{Seed: seed, Streams: dynamosim.StreamOptions{
			Shards: 3, SplitAfter: 4, Delay: time.Second, Interleave: true,
		}})
		for i := range 20 {
			st.transfer(t, fmt.Sprint(i), "a", fmt.Sprint("b", i%7))
			st.pass(100 * time.Millisecond)
		}
		st.pass(time.Second)
		var all strings.Builder
		for _, r := range st.records(t) {
			fmt.Fprintln(&all, *r.EventID, *r.Dynamodb.SequenceNumber, r.Dynamodb.ApproximateCreationDateTime, brief([]streams.Record{r}))
		}
		for _, s := range st.shards(t) {
			fmt.Fprintln(&all, *s.ShardId, aws.ToString(s.ParentShardId), *s.SequenceNumberRange.StartingSequenceNumber)
		}
		return all.String()
	}
	first := read(1)
	if again := read(1); first != again {
		t.Error("one seed gives two streams")
	}
	if first == read(2) {
		t.Error("the seed makes no difference")
	}
}
