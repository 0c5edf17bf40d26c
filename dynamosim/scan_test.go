package dynamosim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/stores"

	"github.com/dynafin/dynafin/dynamosim"
)

// scan reads a source to its end and returns what it holds, in order.
func (b backend) scan(t rapid.TB, in dynamodb.ScanInput) []attrs {
	in.TableName = b.table
	var found []attrs
	for p := dynamodb.NewScanPaginator(b, &in); p.HasMorePages(); {
		out, err := p.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if in.Limit != nil && out.ScannedCount > *in.Limit {
			t.Fatalf("a page of %d, limit %d", out.ScannedCount, *in.Limit)
		}
		found = append(found, out.Items...)
	}
	return found
}

// scanned is what the items of a test show in each source: the table, a global index of keys, a local index of everything.
type scanned map[string]map[string]bool

func (b backend) fill(t *rapid.T) scanned {
	want := scanned{"": {}, "byGroup": {}, "byLocal": {}}
	for i := range rapid.IntRange(0, 30).Draw(t, "items") {
		keys := key(rapid.StringMatching("[a-f]").Draw(t, "pk"), strconv.Itoa(i))
		item := keys
		if rapid.Bool().Draw(t, "local") {
			item = with(item, "ls", s(rapid.StringMatching("[xy]").Draw(t, "ls")))
		}
		if rapid.Bool().Draw(t, "grouped") {
			group := s(rapid.StringMatching("[a-c]").Draw(t, "gk"))
			item = with(item, "gk", group, "gs", n(strconv.Itoa(i%3)))
			want["byGroup"][show(with(keys, "gk", group, "gs", item["gs"]))] = true
		}
		if item["ls"] != nil {
			want["byLocal"][show(item)] = true
		}
		want[""][show(item)] = true
		if _, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

// Whatever the number of segments and the size of pages: the pages of a segment are a part of the source, the parts are
// disjoint, together they are what was stored, and each partition lies in one part, in the order of its sort key.
func TestSegmentsAndPagesPartitionEverySource(t *testing.T) {
	b := newBackend(t)
	rapid.Check(t, func(t *rapid.T) {
		for _, item := range b.scan(t, dynamodb.ScanInput{}) {
			stored := key(text(item["pk"]), text(item["sk"]))
			if _, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: b.table, Key: stored}); err != nil {
				t.Fatal(err)
			}
		}
		want := b.fill(t)
		b.checkSegments(t, dynamodb.ScanInput{}, "pk", "sk", want[""])
		b.checkSegments(t, dynamodb.ScanInput{IndexName: aws.String("byGroup")}, "gk", "gs", want["byGroup"])
		b.checkSegments(t, dynamodb.ScanInput{IndexName: aws.String("byLocal")}, "pk", "ls", want["byLocal"])
	})
}

func (b backend) checkSegments(t *rapid.T, in dynamodb.ScanInput, partition, sort string, want map[string]bool) {
	if rapid.Bool().Draw(t, "limited") {
		in.Limit = aws.Int32(rapid.Int32Range(1, 40).Draw(t, "limit"))
	}
	segments := rapid.Int32Range(1, 9).Draw(t, "segments")
	in.TotalSegments = &segments
	found, home := map[string]bool{}, map[string]int32{}
	for segment := range segments {
		in.Segment = &segment
		last := attrs{}
		for _, item := range b.scan(t, in) {
			p := text(item[partition])
			if at, seen := home[p]; seen && at != segment && !stores.Differs(stores.SegmentsSplitPartitions) {
				t.Fatalf("partition %s in segments %d and %d", p, at, segment)
			}
			home[p] = segment
			if before := last[p]; before != nil && less(item[sort], before) {
				t.Fatalf("%s behind %s", text(item[sort]), text(before))
			}
			last[p] = item[sort]
			if found[show(item)] {
				t.Fatalf("%s twice", show(item))
			}
			found[show(item)] = true
		}
	}
	if !maps.Equal(found, want) {
		t.Fatalf("found %v, want %v", found, want)
	}
}

// less compares two keys, both texts or both whole numbers of one digit.
func less(a, b types.AttributeValue) bool { return text(a) < text(b) }

func TestAScanIsChargedForWhatItEvaluates(t *testing.T) {
	b := newBackend(t)
	body := s(strings.Repeat("x", 1980))
	for i := range 8 {
		item := with(key(fmt.Sprintf("p%d", i), "s"), "gk", s("g"), "gs", n("1"), "body", body)
		if i == 0 {
			item["ls"], item["proj"] = s("l"), s(strings.Repeat("y", 4000))
		}
		b.alone(t, write{put: item})
	}
	filter := func(in *dynamodb.ScanInput) {
		in.FilterExpression, in.ExpressionAttributeValues = aws.String("pk = :p"), attrs{":p": s("p3")}
	}
	for _, c := range []struct {
		name   string
		change func(*dynamodb.ScanInput)
		want   string
		count  int32
	}{
		{"the table, 20 KB", func(*dynamodb.ScanInput) {}, "2.5 = t2.5", 8},
		{"strongly", func(in *dynamodb.ScanInput) { in.ConsistentRead = aws.Bool(true) }, "5 = t5", 8},
		{"a filter saves nothing", filter, "2.5 = t2.5", 1},
		{"nor does a projection", func(in *dynamodb.ScanInput) { in.ProjectionExpression = aws.String("pk") }, "2.5 = t2.5", 8},
		{"nor does counting", func(in *dynamodb.ScanInput) { in.Select = types.SelectCount }, "2.5 = t2.5", 8},
		{"a global index, 4.1 KB", func(in *dynamodb.ScanInput) { in.IndexName = aws.String("byGroup") }, "1 = t0 g1", 8},
		{"a local index, 6 KB", func(in *dynamodb.ScanInput) { in.IndexName = aws.String("byLocal") }, "1 = t0 l1", 1},
		{"a local index, strongly", func(in *dynamodb.ScanInput) {
			in.IndexName, in.ConsistentRead = aws.String("byLocal"), aws.Bool(true)
		}, "2 = t0 l2", 1},
		{"nothing", func(in *dynamodb.ScanInput) {
			in.Segment, in.TotalSegments = aws.Int32(0), aws.Int32(1_000_000)
		}, "0.5 = t0.5", 0},
	} {
		in := &dynamodb.ScanInput{TableName: b.table, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes}
		c.change(in)
		if stores.Differs(stores.ScanOfLocalIndex) {
			c.want = strings.Replace(c.want, "t0 l", "t", 1)
		}
		out, err := b.Scan(ctx, in)
		if must(t, out, err); bill(out.ConsumedCapacity) != c.want || out.Count != c.count {
			t.Errorf("%s: %d items for %s, want %d for %s", c.name, out.Count, bill(out.ConsumedCapacity), c.count, c.want)
		}
	}
}

func TestAScanPageEndsAtItsLimitOrOneMegabyte(t *testing.T) {
	b := newBackend(t)
	for i := range 4 {
		b.alone(t, write{put: with(key(strconv.Itoa(i), "s"), "body", s(strings.Repeat("x", 400_000)))})
	}
	in := &dynamodb.ScanInput{TableName: b.table, FilterExpression: aws.String("attribute_exists(missingBody)")}
	out, err := b.Scan(ctx, in)
	if must(t, out, err); out.Count != 0 || out.ScannedCount == 0 || out.LastEvaluatedKey == nil || out.Items == nil {
		t.Errorf("an empty page with a key: %d of %d, key %v", out.Count, out.ScannedCount, out.LastEvaluatedKey)
	}
	in.FilterExpression, in.Limit = nil, aws.Int32(1)
	out, err = b.Scan(ctx, in)
	if must(t, out, err); out.Count != 1 || len(out.LastEvaluatedKey) != 2 {
		t.Errorf("a page of one: %d, key %v", out.Count, out.LastEvaluatedKey)
	}
}

func TestAScanGoesOnBehindAnItemThatIsGone(t *testing.T) {
	b := newBackend(t)
	for i := range 6 {
		b.alone(t, write{put: key(strconv.Itoa(i), "s")})
	}
	out, err := b.Scan(ctx, &dynamodb.ScanInput{TableName: b.table, Limit: aws.Int32(3)})
	must(t, out, err)
	if _, err := b.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: b.table, Key: out.LastEvaluatedKey}); err != nil {
		t.Fatal(err)
	}
	rest, err := b.Scan(ctx, &dynamodb.ScanInput{TableName: b.table, ExclusiveStartKey: out.LastEvaluatedKey})
	if must(t, rest, err); rest.Count != 3 || rest.LastEvaluatedKey != nil {
		t.Errorf("%d items behind the deleted one", rest.Count)
	}
}

func TestPartitionsAreScannedInAnOrderOfTheSeed(t *testing.T) {
	order := func(seed uint64) string {
		b := backend{dynamosim.New(t, dynamosim.Options{Seed: seed}).Client(), aws.String("tab")}
		if _, err := b.CreateTable(ctx, testTable(*b.table)); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			b.alone(t, write{put: key(strconv.Itoa(i), "s")})
		}
		var pks []string
		for _, item := range b.scan(t, dynamodb.ScanInput{}) {
			pks = append(pks, text(item["pk"]))
		}
		return strings.Join(pks, " ")
	}
	first, again, other := order(1), order(1), order(2)
	if first != again || first == other {
		t.Errorf("seed 1: %s, again: %s, seed 2: %s", first, again, other)
	}
}

func TestScanRefusesWhatDoesNotFit(t *testing.T) {
	const start = "The provided starting key is invalid"
	const mismatch = "The provided key element does not match the schema"
	db := rawDB(t)
	for _, c := range []struct{ request, want string }{
		{`"Limit":0`, "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value " +
			"greater than or equal to 1"},
		{`"TotalSegments":1000001,"Segment":0`, "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy " +
			"constraint: Member must have value less than or equal to 1000000"},
		{`"TotalSegments":2,"Segment":-1`, "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: " +
			"Member must have value greater than or equal to 0"},
		{`"Segment":0`, "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"},
		{`"TotalSegments":4`, "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"},
		{`"Segment":5,"TotalSegments":5`, "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 " +
			"is not less than TotalSegments: 5"},
		{`"ScanFilter":{},"AttributesToGet":["a"],"FilterExpression":"a = b"`, "Can not use both expression and non-expression parameters " +
			"in the same request: Non-expression parameters: {AttributesToGet, ScanFilter} Expression parameters: {FilterExpression}"},
		{`"ScanFilter":{}`, "The legacy parameter ScanFilter is not supported by dynamosim; use an expression"},
		{`"Select":"ALL_PROJECTED_ATTRIBUTES"`, "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying " +
			"using an IndexName"},
		{`"ExpressionAttributeNames":{"#a":"a"}`, "ExpressionAttributeNames can only be specified when using expressions"},
		{`"FilterExpression":""`, "Invalid FilterExpression: The expression can not be empty;"},
		{`"FilterExpression":"attribute_exists(pk.a)"`, "Key attributes must be scalars; list random access '[]' and map lookup '.' are " +
			"not allowed: Key: pk"},
		{`"IndexName":"gix","ProjectionExpression":"gk[0]"`, "Key attributes must be scalars; list random access '[]' and map lookup '.' " +
			"are not allowed: IndexKey: gk"},
		{`"IndexName":"none"`, "The table does not have the specified index: none"},
		{`"IndexName":"gix","ConsistentRead":true`, "Consistent reads are not supported on global secondary indexes"},
		{`"IndexName":"gix","Select":"ALL_ATTRIBUTES"`, "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not " +
			"supported for global secondary index gix because its projection type is not ALL"},
		{`"ExclusiveStartKey":{"pk":{"S":"p"}}`, start + ": " + mismatch},
		{`"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"1"}}`, start + ": " + mismatch},
		{`"IndexName":"gix","ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"}}`, start},
		{`"IndexName":"gix","ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":"g"},"x":{"S":"x"}}`, start},
		{`"IndexName":"gix","ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":"g"},"gs":{"S":"1"}}`, mismatch},
		{`"IndexName":"gix","ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"1"},"gk":{"S":"g"},"gs":{"N":"1"}}`, start + ": " + mismatch},
	} {
		status, answer := post(t, db, "Scan", []byte(`{"TableName":"tab",`+c.request+`}`))
		var got struct{ Message string }
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		if status != 400 || got.Message != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.request, answer, c.want)
		}
	}
}

func TestAStartKeyBelongsToItsSegment(t *testing.T) {
	db := rawDB(t)
	refusals := 0
	for segment := range 2 {
		_, answer := post(t, db, "Scan", fmt.Appendf(nil, `{"TableName":"tab","TotalSegments":2,"Segment":%d,
			"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"}}}`, segment))
		want := fmt.Sprintf("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "+
			"Segment. TotalSegments: 2 Segment: %d", segment)
		if strings.Contains(answer, want) {
			refusals++
		}
	}
	if refusals != 1 {
		t.Errorf("refused in %d of 2 segments", refusals)
	}
}
