package dynamosim_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
)

// twin is a database with a client whose last request can be sent to another one, byte for byte.
type twin struct {
	backend
	db           *dynamosim.DB
	target, sent string
	last         string
	made         int
}

func newTwin(db *dynamosim.DB) *twin {
	tw := &twin{db: db}
	tw.backend = backend{db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.IdempotencyTokenProvider, o.Retryer = tw, tw, aws.NopRetryer{}
	}), aws.String("Test")}
	return tw
}

// GetIdempotencyToken counts.
func (tw *twin) GetIdempotencyToken() (string, error) {
	tw.made++
	return fmt.Sprintf("token-%d", tw.made), nil
}

func (tw *twin) Do(r *http.Request) (*http.Response, error) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	tw.target, tw.sent, r.Body = r.Header.Get("X-Amz-Target"), string(request), io.NopCloser(bytes.NewReader(request))
	answer, err := tw.db.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	tw.last, answer.Body = fmt.Sprint(answer.StatusCode, string(body)), io.NopCloser(bytes.NewReader(body))
	return answer, err
}

func (tw *twin) save(t fatal) []byte {
	t.Helper()
	var out bytes.Buffer
	ok(t, 0, tw.db.Save(&out))
	return out.Bytes()
}

// history are all records of all streams, as raw as the client gives them.
func (tw *twin) history(t fatal) string {
	client := tw.db.StreamsClient()
	all, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
	var text strings.Builder
	for _, s := range ok(t, all, err).Streams {
		d, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: s.StreamArn})
		for _, sh := range ok(t, d, err).StreamDescription.Shards {
			fmt.Fprintln(&text, *s.StreamArn, *sh.ShardId, aws.ToString(sh.ParentShardId), *sh.SequenceNumberRange.StartingSequenceNumber)
			it, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
				StreamArn: s.StreamArn, ShardId: sh.ShardId, ShardIteratorType: streams.ShardIteratorTypeTrimHorizon,
			})
			records, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: ok(t, it, err).ShardIterator})
			for _, r := range ok(t, records, err).Records {
				fmt.Fprintln(&text, r.EventName, *r.EventID, *r.Dynamodb.SequenceNumber, r.UserIdentity != nil, len(r.Dynamodb.NewImage), len(r.Dynamodb.OldImage), *r.Dynamodb.SizeBytes)
			}
		}
	}
	return text.String()
}

// drawSaved draws a database whose state has everything that can be saved.
func drawSaved(d drawer, c *clock) dynamosim.Options {
	o := dynamosim.Options{Now: func() time.Time { return c.now }, Seed: rapid.Uint64().Draw(d.T, "seed"), CanceledKeepsToken: d.chance("canceled token", 50)}
	switch pick(d, "lag", "none", "some", "stepped") {
	case "some":
		o.IndexLag.Max = time.Minute
	case "stepped":
		o.IndexLag.Stepped = true
	}
	if d.chance("slow streams", 50) {
		o.Streams = dynamosim.StreamOptions{Shards: 2, SplitAfter: 4, ShardLife: time.Hour, Delay: time.Minute, Interleave: d.chance("interleave", 50)}
	}
	if d.chance("slow updates", 50) {
		o.UpdateStep = 10 * time.Minute
	}
	if d.chance("sweeps", 50) {
		o.SweepWithin = 48 * time.Hour
	}
	return o
}

// drawChange draws an operation, or a change of the table, or time that passes.
func drawChange(d drawer, c *clock) operation {
	update := func(in dynamodb.UpdateTableInput) func(backend) (any, error) {
		return func(b backend) (any, error) {
			in := in
			in.TableName = b.table
			return b.UpdateTable(ctx, &in)
		}
	}
	extra := types.GlobalSecondaryIndexUpdate{Create: &types.CreateGlobalSecondaryIndexAction{
		IndexName: aws.String("extra"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("ls"), KeyType: types.KeyTypeHash}},
	}}
	switch kind := pick(d, "change", "operation", "operation", "operation", "time", "more index", "less index", "stream", "ttl", "repeat"); kind {
	case "time":
		c.pass(pick(d, "pass", time.Second, 20*time.Second, 15*time.Minute, 13*time.Hour))
		return operation{kind, func(b backend) (any, error) { return b.ListTables(ctx, &dynamodb.ListTablesInput{}) }}
	case "more index":
		return operation{kind, update(dynamodb.UpdateTableInput{
			AttributeDefinitions:        []types.AttributeDefinition{{AttributeName: aws.String("ls"), AttributeType: "S"}},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{extra},
		})}
	case "less index":
		gone := types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(pick(d, "which index", "extra", "byGroup"))}}
		return operation{kind, update(dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{gone}})}
	case "stream":
		spec := &types.StreamSpecification{StreamEnabled: aws.Bool(d.chance("on", 70))}
		if *spec.StreamEnabled {
			spec.StreamViewType = pick(d, "view", types.StreamViewType.Values("")...)
		}
		return operation{kind, update(dynamodb.UpdateTableInput{StreamSpecification: spec})}
	case "ttl":
		spec := &types.TimeToLiveSpecification{Enabled: aws.Bool(d.chance("on", 70)), AttributeName: aws.String("expires")}
		return operation{kind, func(b backend) (any, error) {
			return b.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: b.table, TimeToLiveSpecification: spec})
		}}
	case "repeat": // of a transaction by its token, or under its token by another one
		item := with(d.key(), "expires", n(fmt.Sprint(c.now.Unix()+rapid.Int64Range(-100, 90_000).Draw(d.T, "expires"))))
		token := aws.String(pick(d, "token", "once", "twice"))
		condition := pick(d, "condition", "attribute_exists(pk) OR attribute_not_exists(pk)", "attribute_not_exists(pk)")
		return operation{kind, func(b backend) (any, error) {
			return b.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: token, ReturnConsumedCapacity: "INDEXES",
				TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: b.table, Item: item, ConditionExpression: &condition,
					ReturnValuesOnConditionCheckFailure: "ALL_OLD"}}}})
		}}
	}
	return d.operation()
}

// TestALoadedDatabaseGoesOnAsTheSavedOne: after any history, whatever happens next, both give the same answers, byte for
// byte, and are the same in the end.
func TestALoadedDatabaseGoesOnAsTheSavedOne(outer *testing.T) {
	chance.Check(outer, func(t *rapid.T, seen chance.Seen) {
		d, c := drawer{t}, newClock()
		o := drawSaved(d, c)
		first := newTwin(dynamosim.Open(o))
		_, err := first.CreateTable(ctx, testTable("Test"))
		ok(t, 0, err)
		for range rapid.IntRange(1, 30).Draw(t, "before") {
			op := drawChange(d, c)
			op.send(first.backend)
			if strings.HasPrefix(first.last, "200") {
				seen[op.kind]++
			}
		}
		saved := first.save(t)
		db, err := dynamosim.Load(bytes.NewReader(saved), o)
		second := newTwin(ok(t, db, err))
		if !bytes.Equal(second.save(t), saved) {
			t.Fatalf("what was loaded is saved as\n%s\nit was\n%s", plain(t, second.save(t)), plain(t, saved))
		}
		if len(first.db.IndexBacklogs()) > 0 {
			seen["an index behind"]++
		}
		for range rapid.IntRange(0, 20).Draw(t, "after") {
			op := drawChange(d, c)
			op.send(first.backend)
			status, answer := postTo(outer, second.db, first.target, []byte(first.sent))
			if other := fmt.Sprint(status, answer); first.last != other {
				t.Fatalf("%s: the saved database answers\n%s\nthe loaded one\n%s", op.kind, first.last, other)
			}
		}
		if a, b := first.history(t), second.history(t); a != b {
			t.Fatalf("the streams of the saved database are\n%s\nof the loaded one\n%s", a, b)
		} else if strings.Contains(a, "INSERT") {
			seen["stream records"]++
		}
		if a, b := first.save(t), second.save(t); !bytes.Equal(a, b) {
			t.Fatalf("in the end the saved database is\n%s\nthe loaded one\n%s", plain(t, a), plain(t, b))
		}
	}, "put", "time", "more index", "less index", "stream", "ttl", "repeat", "an index behind", "stream records")
}

// plain is what is in a saved database.
func plain(t fatal, saved []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(saved))
	text, err := io.ReadAll(ok(t, r, err))
	return string(ok(t, text, err))
}

func pack(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.WriteString(w, text)
	w.Close()
	return out.Bytes()
}

func TestALoadedDatabaseStandsAtTheTimeOfSaving(t *testing.T) {
	c := newClock()
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return c.now }, Region: "eu-west-1", Account: "123456789012"})
	var saved bytes.Buffer
	ok(t, 0, db.Save(&saved))
	c.pass(time.Hour)
	loaded, err := dynamosim.Load(bytes.NewReader(saved.Bytes()), dynamosim.Options{})
	if at := ok(t, loaded, err).Now(); !at.Equal(newClock().now) {
		t.Errorf("the loaded database stands at %v", at)
	}
	if region := loaded.Client().Options().Region; region != "eu-west-1" {
		t.Errorf("its Region is %s", region)
	}
}

func TestWhatWasNotSavedIsRefused(t *testing.T) {
	st := newStreamed(t, types.StreamViewTypeNewAndOldImages, dynamosim.StreamOptions{Shards: 2})
	_, err := st.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: st.name, Item: with(key("a", "1"), "gk", s("g"), "gs", n("1"))})
	ok(t, 0, err)
	var saved bytes.Buffer
	ok(t, 0, st.db.Save(&saved))
	text := plain(t, saved.Bytes())
	without := func(old, replacement string) []byte {
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in %s", old, text)
		}
		return pack(strings.Replace(text, old, replacement, 1))
	}
	for name, bad := range map[string][]byte{
		"nothing":                     nil,
		"no gzip":                     []byte(text),
		"cut off":                     saved.Bytes()[:saved.Len()-9],
		"no document":                 pack(""),
		"two documents":               pack(text + text),
		"another version":             without(`"Version":1`, `"Version":2`),
		"an unknown field":            without(`"Version":1`, `"Version":1,"More":1`),
		"no region":                   without(`"Region":"us-east-1"`, `"Region":""`),
		"no key schema":               without(`"KeySchema":[`, `"KeySchema":null,"X":[`),
		"an undefined key":            without(`{"AttributeName":"pk","AttributeType":"S"}`, `{"AttributeName":"pz","AttributeType":"S"}`),
		"another kind of key":         without(`{"AttributeName":"pk","AttributeType":"S"}`, `{"AttributeName":"pk","AttributeType":"N"}`),
		"an index of nobody":          without(`{"Name":"byGroup"}`, `{"Name":"byNobody"}`),
		"an index too few":            without(`{"Name":"byGroup"},`, ``),
		"no open shard":               without(`"Low":0,`, `"Low":1,`),
		"a record of nothing":         without(`"Event":"INSERT"`, `"Event":"NOTHING"`),
		"a stream too few":            without(`"Stream":"2026`, `"Stream":"2027`),
		"an item that is there twice": without(`"Items":[{`, `"Items":[{"pk":{"S":"a"},"sk":{"S":"1"}},{`),
	} {
		if _, err := dynamosim.Load(bytes.NewReader(bad), dynamosim.Options{}); !errors.Is(err, dynamosim.ErrSaved) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// FuzzLoad loads any document. Whatever it is, nothing panics, now or with any request later, and what is loaded can be
// saved and loaded again.
func FuzzLoad(f *testing.F) {
	c := newClock()
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return c.now }, IndexLag: dynamosim.IndexLag{Max: time.Hour},
		Streams: dynamosim.StreamOptions{Delay: time.Hour, Interleave: true}})
	tw := newTwin(db)
	in := testTable("Test")
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	_, err := tw.CreateTable(ctx, in)
	must(f, 0, err)
	for i := range 3 {
		put := types.TransactWriteItem{Put: &types.Put{TableName: tw.table, Item: with(key("a", fmt.Sprint(i/2)), "gk", s("g"), "gs", n(fmt.Sprint(i)), "ls", s("l"))}}
		_, err := tw.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put}})
		must(f, 0, err)
		c.pass(time.Minute)
	}
	f.Add([]byte(plain(f, tw.save(f))))
	f.Add([]byte(`{"Version":1,"Region":"r","Account":"a","Tables":[{"Definition":{}}]}`))
	f.Add([]byte(`{"Version":1,"Region":"r","Account":"a","Streams":[{"Shards":[{}]}],"Tokens":[{}],"Steps":[{}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		db, err := dynamosim.Load(bytes.NewReader(pack(string(document))), dynamosim.Options{})
		if err != nil {
			return
		}
		tw := newTwin(db)
		tw.history(t)
		for _, b := range []string{"put", "more"} {
			tw.PutItem(ctx, &dynamodb.PutItemInput{TableName: tw.table, Item: with(key("a", b), "gk", s("g"), "gs", n("7"))})
			tw.Query(ctx, &dynamodb.QueryInput{TableName: tw.table, IndexName: aws.String("byGroup"), KeyConditionExpression: aws.String("gk = :g"),
				ExpressionAttributeValues: attrs{":g": s("g")}, Limit: aws.Int32(1)})
			tw.Scan(ctx, &dynamodb.ScanInput{TableName: tw.table})
			tw.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: tw.table})
		}
		tw.db.PropagateIndexes(-1)
		if _, err := dynamosim.Load(bytes.NewReader(tw.save(t)), dynamosim.Options{}); err != nil {
			t.Errorf("what was loaded and saved cannot be loaded: %v", err)
		}
	})
}

func TestAFileIsReplacedInOneStep(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "saved.db")
	db := dynamosim.New(t)
	for range 2 {
		if err := db.SaveFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SaveFile(folder); err == nil {
		t.Error("a folder was replaced")
	}
	if err := db.SaveFile(filepath.Join(folder, "nowhere", "saved.db")); err == nil {
		t.Error("a folder that is not there was written to")
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, want one: %v", len(left), err)
	}
	saved, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	if _, err := dynamosim.Load(saved, dynamosim.Options{}); err != nil {
		t.Error(err)
	}
}
