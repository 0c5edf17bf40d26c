package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// What a stream shows of a changed item, beside its key.
const (
	viewKeys = "KEYS_ONLY"
	viewNew  = "NEW_IMAGE"
	viewOld  = "OLD_IMAGE"
	viewBoth = "NEW_AND_OLD_IMAGES"
)

// Limits of streams.
const (
	streamRetention  = 24 * time.Hour
	iteratorLifetime = 15 * time.Minute
	openShardsMax    = 64
	// interleaveSpan is how many writes to other items may overtake a record of an interleaved stream.
	interleaveSpan = 16
)

// StreamConfig is the behaviour of streams that the service leaves open.
type StreamConfig struct {
	// Shards is how many open shards a new stream has; at least one.
	Shards int
	// ShardLife is the age at which a shard is closed and followed by a child. Zero: never.
	ShardLife time.Duration
	// SplitAfter is the number of records after which a shard is closed and its keys are divided between two children.
	// Zero: never.
	SplitAfter int
	// Delay is how long a record may take until it can be read. How long each one takes is drawn from the seed.
	Delay time.Duration
	// Interleave keeps only the order that is promised, that of one item's records; between items the seed decides.
	Interleave bool
}

// stream is what was recorded since the stream of a table was enabled, less what is older than the retention.
//
//	commit ──▶ waiting ──(due, in its place)──▶ open shard ──▶ closed shard ──▶ trimmed
//
// Shards are a tree: each covers a range of partition hashes, a closed one is followed by children that cover the same
// range, and a record goes to the open shard of its item. So whoever reads parents before children sees the records of
// each item in order.
type stream struct {
	config            StreamConfig
	arn, label, table string
	view              string
	keys              []keyElement
	schema            keySchema
	salt              uint64
	created           time.Time
	// disabled is zero as long as the stream records.
	disabled time.Time

	waiting waiting
	// shards are in the order of their numbers, parents before children; open are those without end, by range.
	shards []*shard
	open   []*shard
	// given is the last sequence number given.
	given uint64
	// stamp is the last number given to a shard.
	stamp int64
	// next is the earliest moment at which a shard ages out or something is to be trimmed.
	next time.Time
}

// shard is a sequence of records of the items whose partition hash is from low to high.
type shard struct {
	id, parent     string
	low, high      uint64
	opened, closed time.Time
	// start and end are sequence numbers; end is zero as long as the shard is open.
	start, end uint64
	records    []record
	// taken counts the records ever put here, and trimmed is the sequence number of the last one removed.
	taken   int
	trimmed uint64
}

// record is one change of one item. It holds only the images that the stream's view shows.
type record struct {
	number  uint64
	id      uint64
	created int64 // milliseconds since 1970
	event   string
	origin  origin
	keys    value.Item
	before  value.Item
	after   value.Item
	size    int
}

func (s *stream) enabled() bool { return s != nil && s.disabled.IsZero() }

// enables reports whether a checked specification asks for a stream.
func (s *streamSpecification) enables() bool { return s != nil && *s.StreamEnabled }

func (c *checks) streamSpecification(s *streamSpecification) {
	if s == nil {
		return
	}
	c.required("streamSpecification.streamEnabled", s.StreamEnabled != nil)
	c.oneOf("streamSpecification.streamViewType", s.StreamViewType, streamViewEnum)
}

// check refuses a view that is missing where a stream is enabled, or given where it is not.
func (s *streamSpecification) check() *failure {
	switch {
	case s == nil:
		return nil
	case *s.StreamEnabled && s.StreamViewType == nil:
		return invalid(msgViewMissing)
	case !*s.StreamEnabled && s.StreamViewType != nil:
		return invalid(msgViewUnwanted)
	}
	return nil
}

// checkStream refuses a change that the table's stream does not allow. The specification passed its model checks.
func (t *table) checkStream(s *streamSpecification) *failure {
	if f := s.check(); f != nil || s == nil {
		return f
	}
	switch {
	case s.enables() && t.stream.enabled():
		return invalid(msgStreamEnabled(t.name))
	case !s.enables() && !t.stream.enabled():
		return invalid(msgStreamMissing(t.name))
	}
	return nil
}

// setStream applies a specification that passed checkStream; nil changes nothing.
func (e *Engine) setStream(now time.Time, t *table, s *streamSpecification) {
	switch {
	case s == nil:
	case s.enables():
		e.enableStream(now, t, *s.StreamViewType)
	default:
		e.disableStream(now, t)
	}
}

// enableStream begins a new stream. Its label is the time, moved on where a stream of the table has it already.
func (e *Engine) enableStream(now time.Time, t *table, view string) {
	e.forgetStreams(now)
	s := &stream{
		config: e.config.Streams, table: t.name, view: view, keys: t.definition.KeySchema, schema: t.tree.keys,
		created: now, next: now.Add(streamRetention),
	}
	for at := now.UTC(); ; at = at.Add(time.Millisecond) {
		s.label = at.Format("2006-01-02T15:04:05.000")
		s.arn = e.streamARN(t.name, s.label)
		if _, taken := e.streams.Get(s.arn); !taken {
			break
		}
	}
	s.salt = spread(e.config.Seed, []byte(s.arn))
	shards := uint64(max(1, min(s.config.Shards, openShardsMax)))
	width := math.MaxUint64 / shards
	for i := range shards {
		high := width*(i+1) - 1
		if i == shards-1 {
			high = math.MaxUint64
		}
		s.open = append(s.open, s.newShard(now, "", width*i, high))
	}
	e.streams.Set(s.arn, s)
	t.stream = s
}

// disableStream ends a table's stream. What it recorded stays readable until the retention is over.
func (e *Engine) disableStream(now time.Time, t *table) {
	s := t.stream
	if !s.enabled() {
		return
	}
	for _, r := range s.waiting.takeAll() {
		s.place(now, r)
	}
	for _, sh := range s.open {
		s.close(now, sh)
	}
	s.open, s.disabled = nil, now
}

// forgetStreams drops disabled streams whose retention is over.
func (e *Engine) forgetStreams(now time.Time) {
	var old []string
	e.streams.Scan(func(arn string, s *stream) bool {
		if !s.enabled() && !now.Before(s.disabled.Add(streamRetention)) {
			s.shards = nil
			old = append(old, arn)
		}
		return true
	})
	for _, arn := range old {
		e.streams.Delete(arn)
	}
}

func (s *stream) newShard(now time.Time, parent string, low, high uint64) *shard {
	s.stamp = max(s.stamp+1, now.UnixMilli())
	s.given++
	sh := &shard{parent: parent, low: low, high: high, opened: now, start: s.given}
	sh.id = fmt.Sprintf("shardId-%020d-%08x", s.stamp, uint32(s.draw(uint64(s.stamp), drawShard)))
	s.shards = append(s.shards, sh)
	if s.config.ShardLife > 0 {
		s.next = earlier(s.next, now.Add(s.config.ShardLife))
	}
	return sh
}

// last is the highest sequence number the shard has used.
func (sh *shard) last() uint64 {
	if n := len(sh.records); n > 0 {
		return sh.records[n-1].number
	}
	return max(sh.start, sh.trimmed)
}

// What a number is drawn for.
const (
	drawShard = iota
	drawEvent
	drawDelay
	drawSlot
)

// draw returns a number that depends on the seed, the stream, what it is for, and n.
func (s *stream) draw(n uint64, purpose byte) uint64 {
	return spread(s.salt, append(binary.BigEndian.AppendUint64(nil, n), purpose))
}
