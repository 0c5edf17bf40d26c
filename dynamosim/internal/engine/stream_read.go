package engine

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of GetRecords and of iterators.
const (
	recordsPageMax    = 1000
	recordsPageBytes  = 1024 * 1024
	iteratorLengthMax = 2048
	sequenceLengthMin = 21
	sequenceLengthMax = 40
)

const (
	fromHorizon  = "TRIM_HORIZON"
	fromLatest   = "LATEST"
	fromSequence = "AT_SEQUENCE_NUMBER"
	fromAfter    = "AFTER_SEQUENCE_NUMBER"
	fromTime     = "AT_TIMESTAMP"
)

var iteratorTypeEnum = enum{fromAfter, fromTime, fromHorizon, fromSequence, fromLatest}

// sequenceNumber writes a sequence number. All have one length, so that they sort as text too.
func sequenceNumber(n uint64) string { return fmt.Sprintf("3%020d", n) }

// parseSequence reads a sequence number; one that no record can have is larger than all given.
func parseSequence(text string) (uint64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	digits, own := strings.CutPrefix(text, "3")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !own || len(text) != sequenceLengthMin {
		return math.MaxUint64, true
	}
	return n, true
}

// iterator is a position in a shard: the first sequence number not yet read.
type iterator struct {
	arn    string
	shard  string
	at     uint64
	issued time.Time
}

// String is the iterator as the client holds it.
func (it iterator) String() string {
	position := fmt.Sprintf("%s %d %d", it.shard, it.at, it.issued.UnixMilli())
	return it.arn + "|1|" + base64.StdEncoding.EncodeToString([]byte(position))
}

func parseIterator(text string) (iterator, bool) {
	arn, rest, ok := strings.Cut(text, "|1|")
	position, err := base64.StdEncoding.DecodeString(rest)
	if !ok || err != nil {
		return iterator{}, false
	}
	it := iterator{arn: arn}
	var issued int64
	if n, err := fmt.Sscanf(string(position), "%s %d %d", &it.shard, &it.at, &issued); n != 3 || err != nil {
		return iterator{}, false
	}
	it.issued = time.UnixMilli(issued)
	return it, true
}

type getShardIteratorInput struct {
	StreamArn, ShardId, ShardIteratorType, SequenceNumber *string
	Timestamp                                             *float64
}

func (in *getShardIteratorInput) checkModel() *failure {
	var c checks
	c.required("streamArn", in.StreamArn != nil)
	c.streamARN("streamArn", in.StreamArn)
	c.required("shardId", in.ShardId != nil)
	c.shardID("shardId", in.ShardId)
	c.required("shardIteratorType", in.ShardIteratorType != nil)
	c.oneOf("shardIteratorType", in.ShardIteratorType, iteratorTypeEnum)
	if n := in.SequenceNumber; n != nil {
		c.minLength("sequenceNumber", *n, len(*n), sequenceLengthMin)
		c.maxLength("sequenceNumber", *n, len(*n), sequenceLengthMax)
	}
	return c.failure()
}

// checkMeaning checks that each type of iterator comes with what it needs, and with nothing else.
func (in *getShardIteratorInput) checkMeaning(now time.Time) *failure {
	kind := *in.ShardIteratorType
	bySequence, byTime := kind == fromSequence || kind == fromAfter, kind == fromTime
	switch {
	case bySequence && in.SequenceNumber == nil:
		return invalid(msgSequenceMissing)
	case !bySequence && in.SequenceNumber != nil:
		return invalid(msgSequenceExtra)
	case byTime && in.Timestamp == nil:
		return invalid(msgTimeMissing)
	case !byTime && in.Timestamp != nil:
		return invalid(msgTimeExtra)
	case byTime && *in.Timestamp > float64(now.UnixMilli())/1000:
		return invalid(msgTimeFuture)
	}
	return nil
}

func (e *Engine) getShardIterator(now time.Time, body []byte) (*writer, *failure) {
	var in getShardIteratorInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	if f := in.checkMeaning(now); f != nil {
		return nil, f
	}
	s, f := e.stream(now, *in.StreamArn)
	if f != nil {
		return nil, f
	}
	sh := s.shard(*in.ShardId)
	if sh == nil {
		return nil, &failure{exception: resourceNotFound, message: msgShardMissing}
	}
	at, f := in.position(s, sh)
	if f != nil {
		return nil, f
	}
	w := newWriter()
	w.open()
	w.text("ShardIterator", iterator{s.arn, sh.id, at, now}.String())
	w.close()
	return w, nil
}

// shard returns the shard of this id, or nil if there is none (any more).
func (s *stream) shard(id string) *shard {
	i, found := slices.BinarySearchFunc(s.shards, id, func(sh *shard, id string) int { return strings.Compare(sh.id, id) })
	if !found {
		return nil
	}
	return s.shards[i]
}

// behind is the position behind everything in the shard.
func (s *stream) behind(sh *shard) uint64 {
	if sh.end > 0 {
		return sh.end + 1
	}
	return s.given + 1
}

// position is where a new iterator begins.
func (in *getShardIteratorInput) position(s *stream, sh *shard) (uint64, *failure) {
	switch *in.ShardIteratorType {
	case fromLatest:
		return s.behind(sh), nil
	case fromHorizon:
		return s.firstWhere(sh, func(record) bool { return true }), nil
	case fromTime:
		wanted := *in.Timestamp
		return s.firstWhere(sh, func(r record) bool { return float64(seconds(r.created)) >= wanted }), nil
	}
	number, ok := parseSequence(*in.SequenceNumber)
	if !ok || number < sh.start || number >= s.behind(sh) {
		return 0, invalid(msgSequenceNumber)
	}
	if *in.ShardIteratorType == fromAfter {
		number++
	}
	if number <= sh.trimmed {
		return 0, &failure{exception: trimmedDataAccess, message: msgTrimmed}
	}
	return number, nil
}

// firstWhere is the position of the first record that qualifies, or else the end of the shard.
func (s *stream) firstWhere(sh *shard, qualifies func(record) bool) uint64 {
	for _, r := range sh.records {
		if qualifies(r) {
			return r.number
		}
	}
	return s.behind(sh)
}

func (e *Engine) getRecords(now time.Time, body []byte) (*writer, *failure) {
	var in struct {
		ShardIterator *string
		Limit         *int64
	}
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	var c checks
	c.required("shardIterator", in.ShardIterator != nil)
	if in.ShardIterator != nil {
		c.minLength("shardIterator", *in.ShardIterator, len(*in.ShardIterator), 1)
		c.maxLength("shardIterator", "...", len(*in.ShardIterator), iteratorLengthMax)
	}
	c.limit(in.Limit, recordsPageMax)
	if f := c.failure(); f != nil {
		return nil, f
	}
	it, ok := parseIterator(*in.ShardIterator)
	if !ok {
		return nil, invalid(msgIterator)
	}
	if !now.Before(it.issued.Add(iteratorLifetime)) {
		return nil, &failure{exception: expiredIterator, message: msgIteratorExpired}
	}
	s, f := e.stream(now, it.arn)
	if f != nil {
		return nil, f
	}
	sh := s.shard(it.shard)
	if sh == nil || it.at <= sh.trimmed {
		return nil, &failure{exception: trimmedDataAccess, message: msgTrimmed}
	}
	page := sh.page(it.at, pageSize(in.Limit, recordsPageMax))
	if len(page) > 0 {
		it.at = page[len(page)-1].number + 1
	}
	return e.recordsAnswer(s, sh, page, iterator{it.arn, it.shard, it.at, now}), nil
}

// page returns the records from a position on that fit into one answer. The first always does.
func (sh *shard) page(at uint64, limit int) []record {
	from, _ := slices.BinarySearchFunc(sh.records, at, func(r record, at uint64) int {
		if r.number < at {
			return -1
		}
		return 1
	})
	page := sh.records[from:]
	page = page[:min(limit, len(page))]
	bytes := 0
	for i, r := range page {
		if bytes += r.size; bytes > recordsPageBytes && i > 0 {
			return page[:i]
		}
	}
	return page
}

// recordsAnswer renders a page. Only a closed shard that holds nothing more has no next iterator.
func (e *Engine) recordsAnswer(s *stream, sh *shard, page []record, next iterator) *writer {
	w := newWriter()
	w.open()
	w.openList("Records")
	for _, r := range page {
		w.record(e.config.Region, s, r)
	}
	w.closeList()
	if sh.end == 0 || next.at <= sh.last() {
		w.text("NextShardIterator", next.String())
	}
	w.close()
	return w
}

func (w *writer) record(region string, s *stream, r record) {
	w.open()
	w.text("eventID", fmt.Sprintf("%016x%016x", s.salt, s.draw(r.id, drawEvent)))
	w.text("eventName", r.event)
	w.text("eventVersion", "1.1")
	w.text("eventSource", "aws:dynamodb")
	w.text("awsRegion", region)
	w.key("dynamodb")
	w.open()
	w.number("ApproximateCreationDateTime", int(seconds(r.created)))
	w.item("Keys", r.keys)
	if !r.after.IsEmpty() {
		w.item("NewImage", r.after)
	}
	if !r.before.IsEmpty() {
		w.item("OldImage", r.before)
	}
	w.text("SequenceNumber", sequenceNumber(r.number))
	w.number("SizeBytes", r.size)
	w.text("StreamViewType", s.view)
	w.close()
	if r.origin == originExpiry {
		w.key("userIdentity")
		w.open()
		w.text("PrincipalId", "dynamodb.amazonaws.com")
		w.text("Type", "Service")
		w.close()
	}
	w.close()
}

// seconds rounds milliseconds down.
func seconds(ms int64) int64 { return millis(ms).Unix() }
