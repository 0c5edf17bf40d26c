package shardmap_test

import (
	"fmt"

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
