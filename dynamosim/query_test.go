package dynamosim_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

// sortKeys queries and returns the sort keys found, in order.
func (b backend) sortKeys(t *testing.T, condition string, values attrs, change ...func(*dynamodb.QueryInput)) string {
	t.Helper()
	in := &dynamodb.QueryInput{TableName: b.table, KeyConditionExpression: &condition, ExpressionAttributeValues: values}
	for _, f := range change {
		f(in)
	}
	out, err := b.Query(ctx, in)
	var found []string
	for _, item := range must(t, out, err).Items {
		found = append(found, text(item["sk"]))
	}
	return strings.Join(found, " ")
}

func backward(in *dynamodb.QueryInput) { in.ScanIndexForward = aws.Bool(false) }

func index(name string) func(*dynamodb.QueryInput) {
	return func(in *dynamodb.QueryInput) { in.IndexName = &name }
}

func TestKeyConditionsSelectARangeInEitherDirection(t *testing.T) {
	b := newBackend(t)
	for _, sk := range []string{"a", "b", "b1", "b2", "b\x00", "c", "é", "z"} {
		b.alone(t, write{put: key("p", sk)})
	}
	b.alone(t, write{put: key("other", "b")})
	for _, c := range []struct {
		condition string
		values    attrs
		want      []string
	}{
		{"pk = :p", attrs{}, []string{"a", "b", "b\x00", "b1", "b2", "c", "z", "é"}},
		{"pk = :p AND sk = :x", attrs{":x": s("b")}, []string{"b"}},
		{"pk = :p AND sk < :x", attrs{":x": s("b1")}, []string{"a", "b", "b\x00"}},
		{"pk = :p AND sk <= :x", attrs{":x": s("b1")}, []string{"a", "b", "b\x00", "b1"}},
		{"pk = :p AND sk > :x", attrs{":x": s("b")}, []string{"b\x00", "b1", "b2", "c", "z", "é"}},
		{"pk = :p AND sk >= :x", attrs{":x": s("c")}, []string{"c", "z", "é"}},
		{"pk = :p AND sk BETWEEN :x AND :y", attrs{":x": s("b"), ":y": s("b2")}, []string{"b", "b\x00", "b1", "b2"}},
		{"pk = :p AND begins_with(sk, :x)", attrs{":x": s("b")}, []string{"b", "b\x00", "b1", "b2"}},
		{"pk = :p AND begins_with(sk, :x)", attrs{":x": s("é")}, []string{"é"}},
		{"sk > :x AND pk = :p", attrs{":x": s("c")}, []string{"z", "é"}},
	} {
		c.values[":p"] = s("p")
		if got := b.sortKeys(t, c.condition, c.values); got != strings.Join(c.want, " ") {
			t.Errorf("%s: %q, want %q", c.condition, got, c.want)
		}
		slices.Reverse(c.want)
		if got := b.sortKeys(t, c.condition, c.values, backward); got != strings.Join(c.want, " ") {
			t.Errorf("%s backward: %q, want %q", c.condition, got, c.want)
		}
	}
}

func TestNumericSortKeysSortByValue(t *testing.T) {
	b := newBackend(t)
	for i, number := range []string{"-100", "-2.5", "-0.1", "0", "0.05", "1", "2", "10", "1E20"} {
		b.alone(t, write{put: with(key("p", strconv.Itoa(i)), "gk", s("g"), "gs", n(number))})
	}
	got := b.sortKeys(t, "gk = :g", attrs{":g": s("g")}, index("byGroup"))
	if got != "0 1 2 3 4 5 6 7 8" {
		t.Errorf("order by value: %s", got)
	}
	for condition, want := range map[string]string{
		"gk = :g AND gs < :x": "0 1 2", "gk = :g AND gs <= :x": "0 1 2 3", "gk = :g AND gs = :x": "3",
		"gk = :g AND gs >= :x": "3 4 5 6 7 8", "gk = :g AND gs > :x": "4 5 6 7 8",
	} {
		if got := b.sortKeys(t, condition, attrs{":g": s("g"), ":x": n("0")}, index("byGroup")); got != want {
			t.Errorf("%s 0: %s, want %s", condition, got, want)
		}
	}
	got = b.sortKeys(t, "gk = :g AND gs BETWEEN :a AND :b", attrs{":g": s("g"), ":a": n("-2.50"), ":b": n("1.0")}, index("byGroup"))
	if got != "1 2 3 4 5" {
		t.Errorf("range by value: %s", got)
	}
}

func TestAnIndexHoldsOnlyItemsWithAllItsKeys(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "both"), "gk", s("g"), "gs", n("1"), "proj", s("seen"), "note", s("unseen"))})
	b.alone(t, write{put: with(key("p", "half"), "gk", s("g"))})
	out, err := b.Query(ctx, &dynamodb.QueryInput{
		TableName: b.table, IndexName: aws.String("byGroup"), KeyConditionExpression: aws.String("gk = :g"),
		ExpressionAttributeValues: attrs{":g": s("g")},
	})
	items := must(t, out, err).Items
	if len(items) != 1 || show(items[0]) != "gk=g gs=1 pk=p proj=seen sk=both" {
		t.Errorf("the index shows %v", items)
	}
}

func TestALocalIndexReadsWhatTheTableKnows(t *testing.T) {
	b := newBackend(t)
	for i, local := range []string{"z", "y", "x"} {
		b.alone(t, write{put: with(key("p", strconv.Itoa(i)), "ls", s(local), "note", s("n"))})
	}
	strong := func(in *dynamodb.QueryInput) { in.ConsistentRead = aws.Bool(true) }
	if got := b.sortKeys(t, "pk = :p", attrs{":p": s("p")}, index("byLocal"), strong); got != "2 1 0" {
		t.Errorf("by local key: %s", got)
	}
}

func TestLastEvaluatedKeyNamesTableAndIndexKeys(t *testing.T) {
	b := newBackend(t)
	for i := range 3 {
		sk := strconv.Itoa(i)
		b.alone(t, write{put: with(key("p", sk), "gk", s("g"), "gs", n("1"), "ls", s("l"))})
	}
	for name, want := range map[string]struct {
		condition string
		names     []string
	}{
		"":        {"pk = :k", []string{"pk", "sk"}},
		"byLocal": {"pk = :k", []string{"ls", "pk", "sk"}},
		"byGroup": {"gk = :k", []string{"gk", "gs", "pk", "sk"}},
	} {
		in := &dynamodb.QueryInput{
			TableName: b.table, KeyConditionExpression: &want.condition, Limit: aws.Int32(1),
			ExpressionAttributeValues: attrs{":k": s(map[bool]string{true: "g", false: "p"}[name == "byGroup"])},
		}
		if name != "" {
			in.IndexName = &name
		}
		out, err := b.Query(ctx, in)
		last := must(t, out, err).LastEvaluatedKey
		var names []string
		for _, attr := range []string{"gk", "gs", "ls", "pk", "sk"} {
			if last[attr] != nil {
				names = append(names, attr)
			}
		}
		if !slices.Equal(names, want.names) {
			t.Errorf("index %q: the key has %v, want %v", name, names, want.names)
		}
	}
}

func TestLimitCountsWhatIsEvaluatedNotWhatPasses(t *testing.T) {
	b := newBackend(t)
	for i := range 5 {
		b.alone(t, write{put: with(key("p", strconv.Itoa(i)), "even", n(strconv.Itoa(i%2)))})
	}
	in := &dynamodb.QueryInput{
		TableName: b.table, KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("even = :one"),
		ExpressionAttributeValues: attrs{":p": s("p"), ":one": n("1")}, Limit: aws.Int32(1),
	}
	out, err := b.Query(ctx, in)
	must(t, out, err)
	if out.Count != 0 || out.ScannedCount != 1 || out.LastEvaluatedKey == nil {
		t.Errorf("an empty page with a key: count %d, scanned %d, key %v", out.Count, out.ScannedCount, out.LastEvaluatedKey)
	}
	in.Limit, in.Select = aws.Int32(4), types.SelectCount
	out, err = b.Query(ctx, in)
	must(t, out, err)
	if out.Count != 2 || out.ScannedCount != 4 || out.Items != nil || out.LastEvaluatedKey == nil {
		t.Errorf("count only: %d of %d, items %v", out.Count, out.ScannedCount, out.Items)
	}
}

func TestAPageEndsAtOneMegabyte(t *testing.T) {
	b := newBackend(t)
	for i := range 4 {
		b.alone(t, write{put: with(key("p", strconv.Itoa(i)), "body", s(strings.Repeat("x", 400_000)))})
	}
	in := &dynamodb.QueryInput{
		TableName: b.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attrs{":p": s("p")},
	}
	pages, items := 0, 0
	for p := dynamodb.NewQueryPaginator(b, in); p.HasMorePages(); pages++ {
		out, err := p.NextPage(ctx)
		items += len(must(t, out, err).Items)
	}
	if pages < 2 || items != 4 {
		t.Errorf("%d items in %d pages", items, pages)
	}
}

// Any page size gives the same items in the same order, on the table and on both indexes, in both directions, though
// index keys repeat so often that most pages end inside a run of equal ones.
func TestPagesOfAnySizeAddUpToTheWhole(t *testing.T) {
	b := newBackend(t)
	const items = 24
	for i := range items {
		sk := fmt.Sprintf("%02d", i)
		b.alone(t, write{put: with(key("p", sk), "gk", s("g"), "gs", n(strconv.Itoa(i%3)), "ls", s(strconv.Itoa(i%2)))})
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"", "byGroup", "byLocal"}).Draw(rt, "index")
		in := &dynamodb.QueryInput{
			TableName: b.table, KeyConditionExpression: aws.String("pk = :k"), ExpressionAttributeValues: attrs{":k": s("p")},
			ScanIndexForward: aws.Bool(rapid.Bool().Draw(rt, "forward")),
		}
		if name != "" {
			in.IndexName = &name
		}
		if name == "byGroup" {
			in.KeyConditionExpression, in.ExpressionAttributeValues = aws.String("gk = :k"), attrs{":k": s("g")}
		}
		whole, err := b.Query(ctx, in)
		if err != nil {
			rt.Fatal(err)
		}
		in.Limit = aws.Int32(rapid.Int32Range(1, items+1).Draw(rt, "limit"))
		var paged []string
		for p := dynamodb.NewQueryPaginator(b, in); p.HasMorePages(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			if len(page.Items) > int(*in.Limit) {
				rt.Fatalf("a page of %d", len(page.Items))
			}
			for _, item := range page.Items {
				paged = append(paged, show(item))
			}
		}
		for i, item := range whole.Items {
			if len(paged) != items || paged[i] != show(item) {
				rt.Fatalf("pages give %v", paged)
			}
		}
	})
}
