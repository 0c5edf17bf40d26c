package engine

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// loadStreams returns the saved streams by ARN.
func (e *Engine) loadStreams(saved []savedStream) (map[string]*stream, error) {
	loaded := map[string]*stream{}
	for i := range saved {
		s, err := e.loadStream(&saved[i])
		if err != nil {
			return nil, fmt.Errorf("stream %d: %w", i+1, err)
		}
		if loaded[s.arn] != nil {
			return nil, fmt.Errorf("stream %d is there twice", i+1)
		}
		loaded[s.arn] = s
		if !saved[i].Forgotten {
			e.streams.Set(s.arn, s)
		}
	}
	return loaded, nil
}

func (e *Engine) streamARN(table, label string) string { return e.tableARN(table) + "/stream/" + label }

func (e *Engine) loadStream(saved *savedStream) (*stream, error) {
	s := &stream{
		config: e.config.Streams, arn: e.streamARN(saved.Table, saved.Label), label: saved.Label, table: saved.Table, view: saved.View,
		keys: saved.Keys, created: saved.Created, disabled: saved.Disabled, given: saved.Given, stamp: saved.Stamp,
	}
	s.salt = spread(e.config.Seed, []byte(s.arn))
	s.waiting.counted, s.waiting.full = saved.Counted, saved.Full
	if !slices.Contains(streamViewEnum, saved.View) {
		return nil, errors.New("its view is none")
	}
	var c checks
	c.name("tableName", &saved.Table)
	c.keySchema("keySchema", saved.Keys)
	if c.failure() != nil || checkKeyTypes(saved.Keys) != nil || len(saved.Kinds) != len(saved.Keys) {
		return nil, errors.New("its keys are incomplete")
	}
	kinds := map[string]value.Kind{}
	for i, k := range saved.Keys {
		kind, ok := value.ParseKind(saved.Kinds[i])
		if !ok || kind != value.S && kind != value.N && kind != value.B || *saved.Keys[0].AttributeName == *k.AttributeName && i > 0 {
			return nil, errors.New("a key has no kind")
		}
		kinds[*k.AttributeName] = kind
	}
	s.schema = keys(saved.Keys, kinds)
	for i := range saved.Shards {
		if err := s.loadShard(&saved.Shards[i]); err != nil {
			return nil, err
		}
	}
	if err := s.checkOpen(); err != nil {
		return nil, err
	}
	for i := range saved.Waiting {
		if err := s.loadWaiting(e.config.Seed, &saved.Waiting[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *stream) loadShard(saved *savedShard) error {
	sh := &shard{
		id: saved.ID, parent: saved.Parent, low: saved.Low, high: saved.High, opened: saved.Opened, closed: saved.Closed,
		start: saved.Start, end: saved.End, trimmed: saved.Trimmed, taken: saved.Taken,
	}
	last := max(sh.start, sh.trimmed)
	for _, r := range saved.Records {
		loaded, err := s.loadRecord(r)
		if err != nil {
			return err
		}
		if loaded.number <= last || loaded.number > s.given || sh.end > 0 && loaded.number > sh.end {
			return errors.New("its records are not in order")
		}
		last = loaded.number
		sh.records = append(sh.records, loaded)
	}
	if sh.id == "" || sh.start == 0 || sh.start > s.given || sh.end > s.given || sh.low > sh.high || sh.taken < len(sh.records) {
		return errors.New("a shard is not one")
	}
	s.shards = append(s.shards, sh)
	if sh.end == 0 {
		s.open = append(s.open, sh)
	}
	return nil
}

// checkOpen puts the open shards in order: of a stream that records they cover all hashes, of another there are none.
func (s *stream) checkOpen() error {
	slices.SortFunc(s.open, func(a, b *shard) int { return cmp.Compare(a.low, b.low) })
	if !s.enabled() {
		if len(s.open) > 0 {
			return errors.New("it is disabled and has open shards")
		}
		return nil
	}
	next := uint64(0)
	for i, sh := range s.open {
		if sh.low != next || (sh.high == math.MaxUint64) != (i == len(s.open)-1) {
			return errors.New("its open shards do not divide all keys")
		}
		next = sh.high + 1
	}
	if len(s.open) == 0 {
		return errors.New("it has no open shard")
	}
	return nil
}

func (s *stream) loadRecord(saved savedRecord) (record, error) {
	r := record{number: saved.Number, id: saved.ID, created: saved.Created, event: saved.Event, origin: saved.Origin,
		keys: saved.Keys, before: saved.Before, after: saved.After}
	if s.schema.checkKey(r.keys) != nil || !slices.Contains([]string{"INSERT", "MODIFY", "REMOVE"}, r.event) || r.origin < 0 || r.origin > originExpiry {
		return r, errors.New("a record is incomplete")
	}
	r.size = r.keys.Size() + r.before.Size() + r.after.Size()
	return r, nil
}

func (s *stream) loadWaiting(seed uint64, saved *savedWaiting) error {
	r, err := s.loadRecord(saved.Record)
	if err != nil {
		return err
	}
	if !s.enabled() {
		return errors.New("it is disabled and records wait")
	}
	key := s.schema.encode(seed, r.keys)
	w := waitingRecord{record: r, hash: binary.BigEndian.Uint64(key[:8]), due: saved.Due, slot: saved.Slot}
	if saved.Chained {
		w.chain = string(key)
	}
	if s.waiting.last == nil {
		s.waiting.last = map[string]waitingRecord{}
	}
	s.waiting.last[w.chain] = w
	s.waiting.list = append(s.waiting.list, w)
	return nil
}
