package fault

// Codes of package shardmap.
var (
	ShardmapKey = Code{"DFN-1011", "shardmap.ErrKey",
		"The key to place is empty or is not valid UTF-8.",
		"Pass the business identifier itself, as UTF-8 text.", RetryNever}
	ShardmapMap = Code{"DFN-1012", "shardmap.ErrMap",
		"The shard map is invalid: an unknown hash version, a version below 1, or a number of shards outside 1 to 10000.",
		"Fix the map; one that is in use must never be edited, only followed by a new version.", RetryNever}
	ShardmapLoad = Code{"DFN-1013", "shardmap.ErrLoad",
		"A figure of a load is not a positive plain decimal, the share is above 1, or the load needs more shards than a map can have.",
		"Fix the figure that the error names.", RetryNever}
)

// Shardmap lists the codes of package shardmap.
var Shardmap = []Code{ShardmapKey, ShardmapMap, ShardmapLoad}
