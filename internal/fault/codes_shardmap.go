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
	ShardmapInvalid = Code{"DFN-1014", "shardmap.ErrInvalid",
		"A lane, its rules, or an argument of a step breaks a rule that is checked before anything is sent.",
		"Fix the field that the error names; nothing was written.", RetryNever}
	ShardmapStep = Code{"DFN-1015", "shardmap.ErrStep",
		"A step in the life of a map version is refused: the version is not in the state for it, its time has not come or has passed, or the evidence does not prove it.",
		"Read the lane again; do what the reason says, and take the step then. A proposal that was seen too late must be withdrawn.", RetryNever}
	ShardmapStored = Code{"DFN-1016", "shardmap.ErrStored",
		"The stored map of a lane is missing, is there already, or cannot be read.",
		"Create the lane if it is new; else inspect the item under the key in the error, and do not overwrite it.", RetryNever}
	ShardmapStale = Code{"DFN-1017", "shardmap.ErrStale",
		"Which version places this event is not known for sure: the map was not read recently enough, a proposal is pending, or the event's time lies ahead of the clock.",
		"Try the same event again after a moment; if it lasts, look at the AWS error inside, the clocks, or the pending proposal.", RetryLater}
	ShardmapRetired = Code{"DFN-1018", "shardmap.ErrRetired",
		"The event belongs to a version of the map that was retired after its horizon, so whether it had its effect is not known any more.",
		"Park the event and let an operator decide.", RetryNever}
	ShardmapWrite = Code{"DFN-1019", "shardmap.ErrWrite",
		"A step was not written for sure: somebody else changed the lane first, or the answer is missing.",
		"Repeat the same step; it recognises its own effect, and judges anew.", RetrySafe}
)

// Shardmap lists the codes of package shardmap.
var Shardmap = []Code{ShardmapKey, ShardmapMap, ShardmapLoad, ShardmapInvalid, ShardmapStep, ShardmapStored, ShardmapStale, ShardmapRetired,
	ShardmapWrite}
