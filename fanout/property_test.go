package fanout_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/chance"
)

// trade is an item of a history: its shard, the order it is listed by, and what it is.
type trade struct {
	shard int
	order string
	id    string
}

func (tr trade) sk() string { return tr.order + "#" + tr.id }

func drawTrade(rt *rapid.T) trade {
	return trade{
		shard: rapid.IntRange(0, 3).Draw(rt, "shard"),
		order: fmt.Sprintf("%02d", rapid.IntRange(0, 9).Draw(rt, "order")),
		id:    fmt.Sprintf("id%d", rapid.IntRange(0, 5).Draw(rt, "id")),
	}
}

// list is what a reader must get: everything sorted by order, then shard, then key, and each thing once in an order.
func list(trades []trade, descending bool) (names []string) {
	sign := 1
	if descending {
		sign = -1
	}
	sorted := slices.Clone(trades)
	slices.SortFunc(sorted, func(a, b trade) int {
		return cmp.Or(sign*strings.Compare(a.order, b.order), cmp.Compare(a.shard, b.shard), sign*strings.Compare(a.id, b.id))
	})
	seen := map[string]bool{}
	for _, tr := range sorted {
		if !seen[tr.sk()] {
			names = append(names, shard("SYM#X", tr.shard)+" "+tr.sk())
		}
		seen[tr.sk()] = true
	}
	return names
}

// merged is a query that orders by a part of the sort key only, so that many items are equal, and knows copies in other
// shards by their ID.
func (b *bench) merged(descending bool) fanout.Query {
	q := b.trades("SYM#X", 4)
	q.Descending = descending
	q.Order = func(item fanout.Attributes) ([]byte, error) { return []byte(text(item, "SK")[:2]), nil }
	q.Identity = func(item fanout.Attributes) ([]byte, error) { return []byte(text(item, "SK")[3:]), nil }
	return q
}

// slow is a client whose answers take as long as is drawn, in the time of a bubble: they arrive in any order.
type slow struct {
	next   *dynamodb.Client
	delays []time.Duration
	calls  atomic.Int64
	atOnce atomic.Int64
	most   atomic.Int64
}

func (s *slow) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	now := s.atOnce.Add(1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(s.delays[int(s.calls.Add(1))%len(s.delays)])
	defer s.atOnce.Add(-1)
	return s.next.Query(ctx, in, opts...)
}

func drawDelays(rt *rapid.T) []time.Duration {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 50).Draw(rt, "ms")) * time.Millisecond
	}), 1, 8).Draw(rt, "delays")
}

// Any page size, any concurrency and any order of answers give what sorting everything gives, under writes between the
// pages: what is there throughout is neither lost nor doubled.
func TestPagesAreTheSortedWholeUnderWrites(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			h := newHistory(rt)
			got := h.read(rt)
			h.compare(rt, got)
			for what, n := range h.seen {
				seen[what] += n
			}
		})
	}, "copy dropped", "written", "removed", "empty page", "short page", "resumed run")
}

type history struct {
	b           *bench
	reader      *fanout.Reader
	client      *slow
	q           fanout.Query
	concurrency int
	stable      []trade
	seen        map[string]int
}

func newHistory(rt *rapid.T) *history {
	db := dynamosim.New(rt)
	if _, err := db.Client().CreateTable(context.Background(), newTable()); err != nil {
		rt.Fatal(err)
	}
	h := &history{b: &bench{client: db.Client(), table: "Trades"}, seen: map[string]int{}}
	h.concurrency = rapid.IntRange(1, 6).Draw(rt, "concurrency")
	h.client = &slow{next: h.b.client, delays: drawDelays(rt)}
	h.reader = fanout.New(h.client, fanout.Config{Concurrency: h.concurrency})
	h.q = h.b.merged(rapid.Bool().Draw(rt, "descending"))
	h.q.Strong = rapid.Bool().Draw(rt, "strong")
	h.stable = rapid.SliceOfNDistinct(rapid.Custom(drawTrade), 0, 60, func(tr trade) trade { return tr }).Draw(rt, "trades")
	for _, tr := range h.stable {
		h.b.put(rt, map[string]string{"PK": shard("SYM#X", tr.shard), "SK": tr.sk()})
	}
	return h
}

// read reads everything, by pages or by runs that are broken off and resumed.
func (h *history) read(rt *rapid.T) (got []string) {
	h.meddle(rt)
	for cursor := ""; ; h.meddle(rt) {
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		var items []fanout.Item
		if rapid.Bool().Draw(rt, "page") {
			page, err := h.reader.Page(rt.Context(), h.q, cursor, limit)
			if err != nil {
				rt.Fatalf("page: %v", err)
			}
			items, cursor = page.Items, page.Cursor
		} else {
			run, err := h.reader.Start(h.q, cursor)
			if err != nil {
				rt.Fatalf("start: %v", err)
			}
			for item, err := range run.Items(rt.Context()) {
				if err != nil {
					rt.Fatalf("items: %v", err)
				}
				if items = append(items, item); len(items) == limit {
					break
				}
			}
			cursor = run.Cursor()
			h.seen["resumed run"]++
		}
		synctest.Wait()
		if n := h.client.atOnce.Load(); n != 0 {
			rt.Fatalf("%d requests outlive their call", n)
		}
		switch {
		case len(items) == 0:
			h.seen["empty page"]++
		case len(items) < limit:
			h.seen["short page"]++
		}
		for _, item := range items {
			got = append(got, name(item))
		}
		if cursor == "" {
			return got
		}
	}
}

// meddle writes items that are not there throughout, and removes them again.
func (h *history) meddle(rt *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(rt, "writes") {
		tr := drawTrade(rt)
		tr.id = fmt.Sprintf("x%d", rapid.IntRange(0, 2).Draw(rt, "stranger"))
		if rapid.Bool().Draw(rt, "remove") {
			h.b.delete(rt, shard("SYM#X", tr.shard), tr.sk())
			h.seen["removed"]++
		} else {
			h.b.put(rt, map[string]string{"PK": shard("SYM#X", tr.shard), "SK": tr.sk()})
			h.seen["written"]++
		}
	}
}

func (h *history) compare(rt *rapid.T, got []string) {
	want := list(h.stable, h.q.Descending)
	stable := slices.DeleteFunc(slices.Clone(got), func(name string) bool { return strings.Contains(name, "#x") })
	if !slices.Equal(stable, want) {
		rt.Fatalf("got\n%q\nwant\n%q", stable, want)
	}
	orders := make([]string, len(got))
	for i, name := range got {
		_, sk, _ := strings.Cut(name, " ")
		orders[i] = sk[:2]
	}
	if h.q.Descending {
		slices.Reverse(orders)
	}
	if !slices.IsSorted(orders) {
		rt.Fatalf("out of order: %q", got)
	}
	if most := int(h.client.most.Load()); most > h.concurrency {
		rt.Fatalf("%d requests at the same time, %d are allowed", most, h.concurrency)
	}
	if copies := len(h.stable) - len(want); copies > 0 {
		h.seen["copy dropped"] += copies
	}
}
