package engine

import "encoding/binary"

// chance is a stream of numbers that its seed decides. Each concern has a stream of its own, so that more of the one
// changes nothing about the other.
type chance struct {
	seed  uint64
	drawn uint64
}

// Labels of streams.
const (
	chanceLag = iota + 1
	chanceStaleness
)

func newChance(seed, label uint64) chance {
	return chance{seed: spread(seed, binary.BigEndian.AppendUint64(nil, label))}
}

func (c *chance) next() uint64 {
	c.drawn++
	return spread(c.seed, binary.BigEndian.AppendUint64(nil, c.drawn))
}

// upTo draws a number from 0 to most.
func (c *chance) upTo(most int64) int64 {
	if most <= 0 {
		return 0
	}
	return int64(c.next() % (uint64(most) + 1))
}
