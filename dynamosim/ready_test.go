package dynamosim_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/shardmap"
)

// readyLane is an outbox at its full rate: a table of events with a sparse index of those that are ready, over shards.
type readyLane struct {
	*stove
	// units is what each shard's key should have consumed.
	units  map[string]capacity.Units
	writes []types.WriteRequest
}

// shardOf places an event and notes what its next write costs the index.
func (l *readyLane) shardOf(event, units int) string {
	placed, err := shardmap.Default13().Place("event-" + strconv.Itoa(event))
	must(l.t, true, err)
	shard := "SERVICE#orders#READY#" + strconv.Itoa(placed.Shard)
	l.units[shard] += capacity.Whole(units)
	return shard
}

// ready writes an event that is due at a time; claimed writes it as in flight, which takes it out of the index.
func (l *readyLane) ready(event, due, units int) {
	l.write(attrs{
		"PK": s("OUTBOX#event-" + strconv.Itoa(event)), "SK": s("EVENT"),
		"readyPK": s(l.shardOf(event, units)), "readySK": s("DUE#" + strconv.Itoa(due)),
	})
}

func (l *readyLane) claimed(event int) {
	l.shardOf(event, 1)
	l.write(attrs{"PK": s("OUTBOX#event-" + strconv.Itoa(event)), "SK": s("EVENT")})
}

// write sends a batch for every 25 items; flush sends the rest.
func (l *readyLane) write(item attrs) {
	l.writes = append(l.writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	if len(l.writes) == 25 {
		l.flush()
	}
}

func (l *readyLane) flush() {
	if len(l.writes) == 0 {
		return
	}
	out, err := l.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"T01": l.writes}})
	if left := must(l.t, out, err).UnprocessedItems["T01"]; len(left) > 0 {
		l.t.Fatalf("%d writes were throttled", len(left))
	}
	l.writes = l.writes[:0]
}

// second is one second of the lane: 5,000 events are created, 20 of them rescheduled, all claimed, 100 retried and claimed again.
func (l *readyLane) second(first int) {
	each := func(from, count int, do func(event int)) {
		for event := from; event < from+count; event++ {
			do(event)
		}
		l.flush()
	}
	each(first, 5000, func(event int) { l.ready(event, 1, 1) })
	each(first, 20, func(event int) { l.ready(event, 2, 2) })
	each(first, 5000, l.claimed)
	each(first, 100, func(event int) { l.ready(event, 3, 1) })
	each(first, 100, l.claimed)
}

func TestTheReadyLaneConsumes10240UnitsASecondWhereItsEventsAreHashed(t *testing.T) {
	l := &readyLane{stove: newStove(t, dynamosim.Heat{}), units: map[string]capacity.Units{}}
	_, err := l.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("T01")})
	must(t, true, err)
	must(t, true, l.db.CreateTable("T01", types.GlobalSecondaryIndex{
		IndexName: aws.String("ready"),
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("readyPK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("readySK"), KeyType: types.KeyTypeRange},
		},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}))
	const seconds = 2
	for second := range seconds {
		l.second(second * 5000)
		l.now = l.now.Add(time.Second)
	}
	var total capacity.Units
	for shard, want := range l.units {
		got := l.heatOf("ready", shard).Write
		if total += got.Total; got.Total != want || got.Throttled > 0 {
			t.Errorf("%s consumed %v, want %v units", shard, got, want)
		}
	}
	if want := seconds * capacity.Whole(10240); total != want || len(l.units) != 13 {
		t.Errorf("%d shards consumed %v units in %d seconds, want %v", len(l.units), total, seconds, want)
	}
}
