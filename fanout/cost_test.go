package fanout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/shardmap"
)

// sized stores n items of the size given over 13 shards, placed by their hash.
func (b *bench) sized(t *testing.T, n, bytes int) {
	t.Helper()
	for i := range n {
		p, err := shardmap.Default13().Place(fmt.Sprintf("evt-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		item := map[string]string{"PK": shard("SYM#X", p.Shard), "SK": fmt.Sprintf("%06d", i), "body": ""}
		size := len("PK") + len("SK") + len("body") + len(item["PK"]) + len(item["SK"])
		item["body"] = strings.Repeat("x", bytes-size)
		b.put(t, item)
	}
}

// The first page of 100 items of 0.4 KiB on 13 shards costs what the package documentation says, and what was reported.
func TestAPageCostsWhatItReadsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.sized(t, 2600, 409)
	reader := fanout.New(b.client, fanout.Config{})
	q := b.trades("SYM#X", 13)
	page, err := reader.Page(t.Context(), q, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	want := fanout.Usage{Requests: 13, Evaluated: 13 * 14, Units: 13 * capacity.ReadUnits(14*409, capacity.Eventual)}
	if page.Usage != want || want.Units != capacity.Whole(13) || len(page.Items) != 100 {
		t.Errorf("%d items for %+v, want %+v", len(page.Items), page.Usage, want)
	}
	q.Strong = true
	if page, err = reader.Page(t.Context(), q, "", 100); err != nil || page.Usage.Units != 2*want.Units {
		t.Errorf("strongly consistent: %+v, %v; want twice the units", page.Usage, err)
	}
}

// A run reads every item once: the units are those of the items, rounded up once for each request.
func TestARunReadsEveryItemOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.sized(t, 2600, 409)
	run, err := fanout.New(b.client, fanout.Config{}).Start(b.trades("SYM#X", 13), "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range run.Items(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	usage := run.Usage()
	least := capacity.ReadUnits(2600*409, capacity.Eventual)
	if n != 2600 || usage.Evaluated != 2600 || usage.Units > least+capacity.Units(usage.Requests) || usage.Requests > 3*13 {
		t.Errorf("%d items for %+v, at least %v units", n, usage, least)
	}
}

func TestNothingOnThirteenShardsCostsThirteenRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page, err := fanout.New(b.client, fanout.Config{}).Page(t.Context(), b.byTime("SYM#X", 13), "", 25)
	want := fanout.Usage{Requests: 13, Units: 13 * capacity.ReadUnits(0, capacity.Eventual)}
	if err != nil || page.Usage != want || page.Cursor != "" || want.Units.String() != "6.5" {
		t.Errorf("%+v, %v; want %+v and no cursor", page, err, want)
	}
}

// A list that is all in one branch, as in a statement whose postings are in one bucket, needs few requests: what is asked for
// doubles.
func TestALopsidedPageNeedsFewRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 1, 300)
	page, err := fanout.New(b.client, fanout.Config{}).Page(t.Context(), b.trades("SYM#X", 8), "", 200)
	if err != nil || len(page.Items) != 200 || page.Usage.Requests > 8+3 || page.Usage.Evaluated > 200 {
		t.Errorf("%d items for %+v, %v", len(page.Items), page.Usage, err)
	}
}
