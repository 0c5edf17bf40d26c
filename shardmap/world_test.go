package shardmap_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// world is a lane of receipts under load while its map changes: three workers that place events, each with a clock, a
// network and a map of its own, and an operator.
type world struct {
	rt      *rapid.T
	now     time.Time // the true time; every clock is up to MaxSkew ahead of it
	workers []*worker
	table   txn.Table
	direct  *dynamodb.Client
	events  []*event
	held    []held
	seen    map[string]int

	trouble  dynamosim.Fate
	troubled int // how many requests meet it
}

// worker is a process. Worker 0 is the operator, too.
type worker struct {
	skew   time.Duration
	clock  func() time.Time
	maps   *shardmap.Store
	loader *shardmap.Loader
	client *txn.Committer
	reader *fanout.Reader
}

// adjust sets the clock anew, within its bounds.
func (one *worker) adjust(rt *rapid.T) {
	one.skew = time.Duration(rapid.Int64Range(0, rules.MaxSkew.Milliseconds()).Draw(rt, "skew")) * time.Millisecond
}

// event has one time, or several if its producer breaks the rules.
type event struct {
	id      string
	at      []time.Time
	placed  map[time.Time]int // the version that placed it
	applied bool
}

// held is a map that a worker holds on to.
type held struct {
	w *worker
	v shardmap.Versions
}

func newWorld(rt *rapid.T) *world {
	w := &world{rt: rt, now: day, seen: map[string]int{}, table: txn.Table{Name: "Receipts"}}
	db := dynamosim.New(rt, dynamosim.Options{Now: func() time.Time { return w.now }, TokenPolicy: dynamosim.IgnoreTokens})
	for _, name := range []string{shardmap.DefaultTable, w.table.Name} {
		if err := db.CreateTable(name); err != nil {
			rt.Fatal(err)
		}
	}
	w.direct = db.Client()
	for i := range 3 {
		client := db.Client(func(o *dynamodb.Options) {
			o.HTTPClient, o.Retryer = dynamosim.Faulty(db, w.fate), aws.NopRetryer{}
		})
		one := &worker{}
		one.clock = func() time.Time { return w.now.Add(one.skew) }
		one.adjust(rt)
		one.maps = shardmap.NewStore(client, shardmap.Config{Now: one.clock})
		one.loader = one.maps.Loader(lane)
		marks := 0
		one.client = txn.New(client, txn.Config{
			MaxAttempts: 2,
			Jitter:      func(time.Duration) time.Duration { return 0 },
			NewMark:     func() string { marks++; return fmt.Sprintf("mark-%d-%d", i, marks) },
		})
		one.reader = fanout.New(w.direct, fanout.Config{})
		w.workers = append(w.workers, one)
	}
	if _, err := w.workers[0].maps.Create(context.Background(), lane, shardmap.Default13(), rules, "ann"); err != nil {
		rt.Fatal(err)
	}
	return w
}

// fate lets some requests meet trouble, and delivers the rest.
func (w *world) fate(dynamosim.Call) dynamosim.Fate {
	if w.troubled == 0 {
		return dynamosim.Deliver
	}
	w.troubled--
	return w.trouble
}

func (w *world) drawTrouble() {
	w.troubled = rapid.IntRange(0, 3).Draw(w.rt, "troubled")
	w.trouble = rapid.SampledFrom([]dynamosim.Fate{
		dynamosim.LoseAnswer, dynamosim.LoseRequest, dynamosim.InternalErrorAfter, dynamosim.LateCommit,
	}).Draw(w.rt, "trouble")
}

func (w *world) drawWorker() *worker {
	return w.workers[rapid.IntRange(0, len(w.workers)-1).Draw(w.rt, "worker")]
}

// receipt is the key of an event's record at a place.
func (w *world) receipt(p shardmap.Placement, id string) txn.Item {
	return w.table.Key(partition(p.MapVersion, p.Shard), "EVENT#"+id)
}

func partition(version, shard int) string {
	return fmt.Sprintf("CONSUMER#portfolio#V#%04d#SHARD#%04d", version, shard)
}

// parts are the receipt at its place, a check of every other place, and the effect, which counts how often it happened.
func (w *world) parts(e *event, p shardmap.Placement, others []shardmap.Placement) []txn.Part {
	parts := []txn.Part{txn.Put(w.table, w.receipt(p, e.id), txn.IfAbsent())}
	for _, other := range others {
		parts = append(parts, txn.Check(w.table, w.receipt(other, e.id), txn.IfAbsent()))
	}
	return append(parts, txn.Update(w.table, w.table.Key("EFFECT#"+e.id, "COUNT"),
		expression.Add(expression.Name("times"), expression.Value(1))))
}

// effects is how often an event had its effect.
func (w *world) effects(e *event) string {
	item := w.get(w.table.Key("EFFECT#"+e.id, "COUNT"))
	if times, ok := item["times"].(*types.AttributeValueMemberN); ok {
		return times.Value
	}
	return "0"
}

// standing are the versions under which an event has a record.
func (w *world) standing(e *event) (versions []int) {
	for _, version := range w.stored().All() {
		p, err := version.Place(e.id)
		if err != nil {
			w.rt.Fatal(err)
		}
		if w.get(w.receipt(p, e.id)) != nil {
			versions = append(versions, version.Version)
		}
	}
	return versions
}

func (w *world) get(key txn.Item) txn.Item {
	out, err := w.direct.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &w.table.Name, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		w.rt.Fatal(err)
	}
	return out.Item
}

// list reads the records under maps, all shards of them as one list.
func (w *world) list(r *fanout.Reader, maps []shardmap.Map) map[string]int {
	q := fanout.Query{Name: "receipts", Table: w.table.Name, Strong: true}
	for _, m := range maps {
		for s := range m.Shards {
			q.Branches = append(q.Branches, fanout.Branch{
				Name: fmt.Sprintf("map %d shard %d", m.Version, s), Partition: fanout.Text(partition(m.Version, s)),
			})
		}
	}
	found := map[string]int{}
	for item, err := range r.All(context.Background(), q) {
		if err != nil {
			w.rt.Fatal(err)
		}
		found[item.Attributes["SK"].(*types.AttributeValueMemberS).Value]++
	}
	return found
}
