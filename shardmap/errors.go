package shardmap

import "github.com/dynafin/dynafin/internal/fault"

var (
	errKey  = fault.New(fault.ShardmapKey, "shardmap: invalid key")
	errMap  = fault.New(fault.ShardmapMap, "shardmap: invalid map")
	errLoad = fault.New(fault.ShardmapLoad, "shardmap: invalid load")
)

// The kinds of errors, for errors.Is. A repeat of the same call cannot help with any of them.
var (
	// ErrKey: the key is empty or not valid UTF-8.
	ErrKey error = errKey
	// ErrMap: the map has an unknown hash version, a version below 1, or a number of shards outside 1 to MaxShards.
	ErrMap error = errMap
	// ErrLoad: a figure given to ShardsFor is invalid, or needs more than MaxShards.
	ErrLoad error = errLoad
)
