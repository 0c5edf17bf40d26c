// Package shardmap places keys on a fixed number of shards, the same key on the same shard for ever: on every
// machine, in every process, on every retry. A busy lane of DynamoDB is spread this way over several partition keys,
// because one partition key takes at most 1,000 write units and 3,000 read units a second.
//
//	p, err := shardmap.Default13().Place("evt-1")
//	// store p.MapVersion, p.HashVersion and p.Shard with the record
//
// # Placement
//
// Hash version 1 takes the first 8 bytes of the SHA-256 of the key's UTF-8 bytes as an unsigned big-endian integer,
// modulo the number of shards. The key is used as it is: nothing is trimmed, folded or normalised, so the caller passes
// the canonical identifier. An empty key, or one that is not valid UTF-8, is an error.
//
// A [Map] never changes once records are placed by it: another number of shards is another version of the map. A
// record therefore carries the versions that placed it, and a retry takes them from there.
//
// # How many shards
//
// [ShardsFor] computes the number from the planned load, in exact arithmetic:
//
//	ceil(rate * units per operation * share of the hottest key / target per shard)
//
// # What it does not do
//
// It keeps no state and moves no records: changing the map of live data needs a drain and its proof. Shards balance
// keys, not load: one key that is hotter than a shard's target needs another key design.
package shardmap
