package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/fanout"
)

// An index may hold many entries of one key, in no particular order. Whatever it is, pages of every size agree.
func TestPagesOfAnIndexWithEqualKeysAgree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 4, 60)
	reader := fanout.New(b.client, fanout.Config{})
	for _, descending := range []bool{false, true} {
		q := b.byTime("SYM#X", 4)
		q.Descending = descending
		var want, times []string
		for item, err := range reader.All(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			want, times = append(want, name(item)), append(times, text(item.Attributes, "at"))
		}
		if descending {
			slices.Reverse(times)
		}
		if !slices.IsSorted(times) || len(slices.Compact(slices.Sorted(slices.Values(want)))) != 60 {
			t.Fatalf("not sorted, or not 60 different ones: %q", want)
		}
		for limit := 1; limit <= 61; limit += 6 {
			if got, _ := all(t, reader, q, fixed(limit)); !slices.Equal(got, want) {
				t.Errorf("pages of %d differ:\n%q\n%q", limit, got, want)
			}
		}
	}
}

func TestNumbersAreMergedByTheirValue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	numbers := []string{"-1e20", "-12345678901234567890.5", "-100", "-20", "-19.5", "-19", "-2", "-1.5", "-1", "-0.25", "-0.02", "0", "0.0003", "0.02",
		"0.1", "0.25", "1", "1.5", "2", "9", "10", "10.01", "19", "100", "1e5", "123456789012345678901234567890", "1e100"}
	for i, n := range numbers {
		b.put(t, map[string]string{"PK": "P", "SK": fmt.Sprintf("%02d", i), "shard": shard("SYM#X", i*5%3), "sequence": "N" + n})
	}
	q := b.trades("SYM#X", 3)
	q.Index, q.IndexPK, q.IndexSK = "BySequence", "shard", "sequence"
	q.Range.From = &types.AttributeValueMemberN{Value: "-1e20"}
	got, _ := all(t, fanout.New(b.client, fanout.Config{}), q, fixed(2))
	for i := range numbers {
		if len(got) != len(numbers) || got[i] != fmt.Sprintf("P %02d", i) {
			t.Fatalf("%q", got)
		}
	}
}

// A page that ends among equal items carries what it has given, so that the copies are dropped from the next ones too.
func TestCopiesAreDroppedAcrossPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 3 {
		for _, id := range []string{"a", "b", "c"} {
			b.put(t, map[string]string{"PK": shard("SYM#X", i), "SK": "09:00#" + id})
		}
	}
	q := b.merged(false)
	got, _ := all(t, fanout.New(b.client, fanout.Config{}), q, fixed(1))
	if want := []string{"SYM#X#0 09:00#a", "SYM#X#0 09:00#b", "SYM#X#0 09:00#c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEmptyPagesAreFollowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 3, 20)
	want, _ := all(t, fanout.New(b.client, fanout.Config{}), b.trades("SYM#X", 3), fixed(6))
	hesitant := hesitating(b.client, 2)
	got, _ := all(t, fanout.New(hesitant, fanout.Config{Concurrency: 1}), b.trades("SYM#X", 3), fixed(6))
	if !slices.Equal(got, want) || len(got) != 20 {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// hesitating is a client that answers some times with an empty page and a continuation before it answers a request,
// as DynamoDB may after it has skipped what is not there any more.
func hesitating(client *dynamodb.Client, times int) clientFunc {
	empty := 0
	return func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if empty++; empty%(times+1) == 0 {
			return client.Query(ctx, in)
		}
		last := in.ExclusiveStartKey
		if last == nil {
			last = fanout.Attributes{"PK": in.ExpressionAttributeValues[":p"], "SK": fanout.Text(" ")}
		}
		return &dynamodb.QueryOutput{LastEvaluatedKey: last}, nil
	}
}

func TestRangesBoundEveryBranch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 3, 120)
	reader := fanout.New(b.client, fanout.Config{})
	for _, c := range []struct {
		r           fanout.Range
		first, last string
		n           int
	}{
		{fanout.Range{}, "0000", "0119", 120},
		{fanout.Range{From: fanout.Text("0017")}, "0017", "0119", 103},
		{fanout.Range{Through: fanout.Text("0017")}, "0000", "0017", 18},
		{fanout.Range{From: fanout.Text("0017"), Through: fanout.Text("0020")}, "0017", "0020", 4},
		{fanout.Range{Prefix: fanout.Text("001")}, "0010", "0019", 10},
	} {
		q := b.trades("SYM#X", 3)
		q.Range = c.r
		got, _ := all(t, reader, q, fixed(7))
		if len(got) != c.n || got[0][len(got[0])-4:] != c.first || got[c.n-1][len(got[0])-4:] != c.last {
			t.Errorf("%+v: %d from %s to %s", c.r, len(got), got[0], got[len(got)-1])
		}
	}
}

var errBroken = errors.New("broken")

// What was read beside a failure is kept: the run goes on where it stood, and the error names the first branch that failed,
// in the order of the query, whichever failed first.
func TestAFailureNamesItsBranchAndLosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 4, 20)
	broken := map[string]bool{"SYM#X#1": true, "SYM#X#3": true}
	client := clientFunc(func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if broken[in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value] {
			return nil, errBroken
		}
		return b.client.Query(ctx, in)
	})
	reader := fanout.New(client, fanout.Config{Concurrency: 1}) // the client is not made for two at a time
	failed := func(err error) {
		t.Helper()
		var failure *fanout.ReadError
		if !errors.As(err, &failure) || failure.Branch != "shard 1" || !errors.Is(err, errBroken) || !errors.Is(err, fanout.ErrRead) {
			t.Fatalf("%v, want a ReadError of shard 1", err)
		}
	}
	page, err := reader.Page(t.Context(), b.trades("SYM#X", 4), "", 10)
	failed(err)
	if page.Usage.Requests != 2 || page.Usage.Units == 0 || page.Items != nil {
		t.Errorf("%+v, want the usage of two requests", page)
	}
	run, err := reader.Start(b.trades("SYM#X", 4), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range run.Items(t.Context()) {
		failed(err)
	}
	clear(broken)
	n := 0
	for _, err := range run.Items(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if usage := run.Usage(); n != 20 || usage.Evaluated != 20 || usage.Requests != 4 {
		t.Errorf("%d items, %+v; want all 20, each read once", n, usage)
	}
}

func TestAnEndedContextEndsTheRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fanout.New(b.client, fanout.Config{}).Page(ctx, b.trades("SYM#X", 3), "", 1)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, fanout.ErrRead) {
		t.Errorf("%v, want a ReadError for the context", err)
	}
}

func TestItemsThatCannotBeMergedAreErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 2, 6)
	for what, c := range map[string]struct {
		spoil  func(*fanout.Query)
		reason string
	}{
		"order fails":    {func(q *fanout.Query) { q.Order = func(fanout.Attributes) ([]byte, error) { return nil, errBroken } }, "has no order"},
		"identity fails": {func(q *fanout.Query) { q.Identity = func(fanout.Attributes) ([]byte, error) { return nil, errBroken } }, "has no identity"},
		"order against the sort key": {func(q *fanout.Query) {
			q.Order = func(item fanout.Attributes) ([]byte, error) { return []byte{255 - text(item, "SK")[3]}, nil }
		}, "is not in the order that Order gives"},
		"another sort key": {func(q *fanout.Query) {
			q.SK, q.Order = "at2", func(fanout.Attributes) ([]byte, error) { return nil, nil }
		}, "has no key attribute at2"},
	} {
		q := b.trades("SYM#X", 2)
		c.spoil(&q)
		_, err := fanout.New(b.client, fanout.Config{}).Page(t.Context(), q, "", 5)
		var odd *fanout.ItemError
		if !errors.As(err, &odd) || !errors.Is(err, fanout.ErrItem) || odd.Reason != c.reason || odd.Branch != "shard 0" {
			t.Errorf("%s: %v", what, err)
		}
		if (odd != nil && odd.Err != nil) != errors.Is(err, errBroken) {
			t.Errorf("%s: the caller's own error is lost: %v", what, err)
		}
	}
}

func TestInvalidQueriesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	valid := fanout.Query{Name: "q", Table: "T", Branches: shards("P", 2)}
	reader := fanout.New(nil, fanout.Config{})
	for _, c := range []struct {
		field string
		spoil func(*fanout.Query)
	}{
		{"Name", func(q *fanout.Query) { q.Name = "" }},
		{"Name", func(q *fanout.Query) { q.Tenant = "\xff" }},
		{"Version", func(q *fanout.Query) { q.Version = -1 }},
		{"Table", func(q *fanout.Query) { q.Table = "" }},
		{"Index", func(q *fanout.Query) { q.IndexPK = "g" }},
		{"IndexPK", func(q *fanout.Query) { q.Index = "G" }},
		{"SK", func(q *fanout.Query) { q.SK = "PK" }},
		{"Strong", func(q *fanout.Query) { q.Index, q.IndexPK, q.IndexSK, q.Strong = "G", "g", "h", true }},
		{"Order", func(q *fanout.Query) { q.SK = fanout.NoKey }},
		{"Branches", func(q *fanout.Query) { q.Branches = nil }},
		{"Branches", func(q *fanout.Query) { q.Branches = shards("P", fanout.MaxBranches+1) }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Name = "" }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Name = q.Branches[0].Name }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Partition = q.Branches[0].Partition }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Partition = nil }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Partition = (*types.AttributeValueMemberS)(nil) }},
		{"Branches", func(q *fanout.Query) { q.Branches[1].Partition = &types.AttributeValueMemberBOOL{} }},
		{"Range", func(q *fanout.Query) { q.Range.From = &types.AttributeValueMemberBOOL{} }},
		{"Range", func(q *fanout.Query) { q.Range = fanout.Range{Prefix: fanout.Text("a"), From: fanout.Text("a")} }},
		{"Range", func(q *fanout.Query) {
			q.SK, q.Order = fanout.NoKey, func(fanout.Attributes) ([]byte, error) { return nil, nil }
			q.Range.From = fanout.Text("a")
		}},
	} {
		q := valid
		q.Branches = slices.Clone(valid.Branches)
		c.spoil(&q)
		_, err := reader.Page(t.Context(), q, "", 1)
		var invalid *fanout.InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, fanout.ErrInvalid) || invalid.Field != c.field {
			t.Errorf("%v, want an InvalidError of %s", err, c.field)
		}
		for _, err := range reader.All(t.Context(), q) {
			if !errors.As(err, &invalid) {
				t.Errorf("All: %v, want an InvalidError", err)
			}
		}
	}
	for _, limit := range []int{-1, 0, fanout.MaxLimit + 1} {
		if _, err := reader.Page(t.Context(), valid, "", limit); !errors.Is(err, fanout.ErrInvalid) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	for _, config := range []fanout.Config{{Concurrency: -1}, {Secrets: [][]byte{[]byte("short")}}, {Secrets: [][]byte{nil}}} {
		if _, err := fanout.New(nil, config).Page(t.Context(), valid, "", 1); !errors.Is(err, fanout.ErrInvalid) {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

// A table without a sort key and an index without one can be merged by a function.
func TestAnIndexWithoutSortKeyIsMergedByAFunction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	table := b.store.Table(t, &dynamodb.CreateTableInput{
		TableName: aws.String("Plain"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("shard"), AttributeType: types.ScalarAttributeTypeS},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("ByShard"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("shard"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	b.table = table
	for i := range 10 {
		b.put(t, map[string]string{"PK": fmt.Sprint(i), "shard": shard("S", i%2)})
	}
	q := fanout.Query{Name: "q", Table: table, SK: fanout.NoKey, Index: "ByShard", IndexPK: "shard", Branches: shards("S", 2),
		Order: func(fanout.Attributes) ([]byte, error) { return nil, nil }}
	got, _ := all(t, fanout.New(b.client, fanout.Config{}), q, fixed(3))
	slices.Sort(got)
	if len(slices.Compact(got)) != 10 {
		t.Errorf("%q", got)
	}
}
