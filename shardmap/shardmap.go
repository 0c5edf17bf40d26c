package shardmap

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode/utf8"
)

// HashV1 is the only hash version so far.
const HashV1 = 1

// MaxShards is the largest number of shards of a map. Shards are written with four digits in keys.
const MaxShards = 10000

// Placement says where a key belongs and which rules said so. Store it with the record: a retry must not decide again
// by a newer map.
type Placement struct {
	// MapVersion and HashVersion are those of the map that placed the key.
	MapVersion, HashVersion int
	// Shard is counted from 0.
	Shard int
}

// Map is one version of a shard map. It is a value, safe to copy and to compare.
type Map struct {
	// Version identifies the map among those of its lane, from 1.
	Version int
	// HashVersion is the hash that places keys.
	HashVersion int
	// Shards is the number of shards, 1 to MaxShards.
	Shards int
}

// Fixed returns version 1 of a map with n shards. An n outside 1 to MaxShards is reported by Validate and Place.
func Fixed(n int) Map { return Map{Version: 1, HashVersion: HashV1, Shards: n} }

// Default13 returns a map of 13 shards, which carries 5,000 events a second through an outbox or an inbox.
func Default13() Map { return Fixed(13) }

// Validate returns an ErrMap that says what is wrong with the map, or nil.
func (m Map) Validate() error {
	if m.Version < 1 {
		return errMap.Wrap(nil, "shardmap: map version %d is below 1", m.Version)
	}
	return validate(m.HashVersion, m.Shards)
}

// Place returns the placement of a key. It is a pure function of the map and the key. Errors: ErrMap, ErrKey.
func (m Map) Place(key string) (Placement, error) {
	if err := m.Validate(); err != nil {
		return Placement{}, err
	}
	shard, err := Shard(m.HashVersion, key, m.Shards)
	if err != nil {
		return Placement{}, err
	}
	return Placement{MapVersion: m.Version, HashVersion: m.HashVersion, Shard: shard}, nil
}

// Shard returns the shard of a key among n shards, 0 to n-1, by a version of the hash. Errors: ErrMap, ErrKey.
func Shard(hashVersion int, key string, n int) (int, error) {
	if err := validate(hashVersion, n); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, errKey.Wrap(nil, "shardmap: place: the key is empty")
	}
	if !utf8.ValidString(key) {
		return 0, errKey.Wrap(nil, "shardmap: place: the key is not valid UTF-8")
	}
	sum := sha256.Sum256([]byte(key))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(n)), nil
}

func validate(hashVersion, shards int) error {
	if hashVersion != HashV1 {
		return errMap.Wrap(nil, "shardmap: hash version %d is unknown", hashVersion)
	}
	if shards < 1 || shards > MaxShards {
		return errMap.Wrap(nil, "shardmap: %d shards is outside 1 to %d", shards, MaxShards)
	}
	return nil
}
