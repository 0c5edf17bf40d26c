package shardmap_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/shardmap"
)

func ExampleMap_Place() {
	placement, err := shardmap.Default13().Place("evt-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("map version %d, hash version %d, shard %d\n", placement.MapVersion, placement.HashVersion, placement.Shard)
	// Output: map version 1, hash version 1, shard 3
}

func ExampleShard() {
	_, err := shardmap.Shard(shardmap.HashV1, "", 13)
	fmt.Println(err)
	// Output: shardmap: place: the key is empty; retrying cannot help [DFN-1011]
}

// The queue of unpublished events takes 10,240 index write units a second; a partition key takes 1,000, of which 80 %
// are planned.
func ExampleShardsFor() {
	shards, err := shardmap.ShardsFor(shardmap.Load{Rate: "10240", UnitsPerOperation: "1", MaxKeyShare: "1", Target: "800"})
	fmt.Println(shards, err)
	// Output: 13 <nil>
}

// An inbox grows from 13 to 17 shards. Events up to nine o'clock stay where they are, for ever; later ones are spread wider.
func ExampleStore() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable(shardmap.DefaultTable); err != nil {
		fmt.Println(err)
		return
	}
	clock := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	maps := shardmap.NewStore(db.Client(), shardmap.Config{Now: func() time.Time { return clock }})
	const inbox = "inbox/portfolio"
	nine := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)

	_, err := maps.Create(ctx, inbox, shardmap.Default13(), shardmap.Rules{}, "ann")
	fmt.Println("create:", err)
	_, err = maps.Propose(ctx, inbox, shardmap.Proposal{Shards: 17, From: nine}, "ann")
	fmt.Println("propose:", err)
	_, err = maps.Admit(ctx, inbox, 2, "ann")
	fmt.Println("admit:", err)

	clock = nine.Add(time.Minute)
	v, err := maps.Loader(inbox).Versions(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, at := range []time.Time{nine.Add(-time.Second), nine.Add(time.Second)} {
		p, err := v.Place(at, "evt-1")
		if err != nil {
			fmt.Println(err)
			return
		}
		others, err := v.Others(p, "evt-1")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("event of %s: version %d, shard %d; not to be in version %d, shard %d\n", at.Format(time.TimeOnly),
			p.MapVersion, p.Shard, others[0].MapVersion, others[0].Shard)
	}
	_, err = maps.Retire(ctx, inbox, 1, shardmap.Evidence{Watermark: nine}, "ann")
	fmt.Println("retire:", err)
	// Output:
	// create: <nil>
	// propose: <nil>
	// admit: <nil>
	// event of 08:59:59: version 1, shard 3; not to be in version 2, shard 16
	// event of 09:00:01: version 2, shard 16; not to be in version 1, shard 3
	// retire: shardmap: lane "inbox/portfolio": RETIRE of version 1, which is ADMITTING: it is not in the state for it; retrying cannot help [DFN-1015]
}
