package engine

import (
	"encoding/json"
	"math"
	"strings"
	"time"
)

// Limits of the requests about streams.
const (
	streamPageMax  = 100
	streamARNMin   = 37
	streamARNMax   = 1024
	shardIDMin     = 28
	shardIDMax     = 65
	filterChildren = "CHILD_SHARDS"
)

var shardFilterEnum = enum{filterChildren}

// IsStreamOperation tells the operations of the streams protocol from those of the database's.
func IsStreamOperation(operation string) bool {
	switch operation {
	case "ListStreams", "DescribeStream", "GetShardIterator", "GetRecords":
		return true
	}
	return false
}

// stream finds a stream and brings it up to date.
func (e *Engine) stream(now time.Time, arn string) (*stream, *failure) {
	e.forgetStreams(now)
	if table, label, ok := strings.Cut(arn, "/stream/"); !ok || !strings.HasPrefix(table, "arn:aws:dynamodb:") || label == "" {
		return nil, invalid(msgStreamARN)
	}
	s, ok := e.streams.Get(arn)
	if !ok {
		return nil, &failure{exception: resourceNotFound, message: msgStreamNotFound(arn)}
	}
	s.settle(now, math.MaxUint64)
	s.tidy(now)
	return s, nil
}

func (c *checks) streamARN(path string, arn *string) {
	if arn != nil {
		c.minLength(path, *arn, len(*arn), streamARNMin)
		c.maxLength(path, *arn, len(*arn), streamARNMax)
	}
}

func (c *checks) shardID(path string, id *string) {
	if id != nil {
		c.minLength(path, *id, len(*id), shardIDMin)
		c.maxLength(path, *id, len(*id), shardIDMax)
	}
}

func (c *checks) limit(got *int64, most int64) {
	c.minValue("limit", got, 1)
	c.maxValue("limit", got, most)
}

// pageSize is a checked limit, or else the largest page.
func pageSize(limit *int64, most int) int {
	if limit == nil {
		return most
	}
	return int(*limit)
}

func (e *Engine) listStreams(now time.Time, body []byte) (*writer, *failure) {
	var in struct {
		ExclusiveStartStreamArn, TableName *string
		Limit                              *int64
	}
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	var c checks
	if in.TableName != nil {
		c.name("tableName", in.TableName)
	}
	c.streamARN("exclusiveStartStreamArn", in.ExclusiveStartStreamArn)
	c.limit(in.Limit, streamPageMax)
	if f := c.failure(); f != nil {
		return nil, f
	}
	start := ""
	if in.ExclusiveStartStreamArn != nil {
		start = *in.ExclusiveStartStreamArn + "\x00"
	}
	e.forgetStreams(now)
	limit := pageSize(in.Limit, streamPageMax)
	var found []*stream
	e.streams.Ascend(start, func(_ string, s *stream) bool {
		if in.TableName == nil || s.table == *in.TableName {
			found = append(found, s)
		}
		return len(found) <= limit
	})
	w := newWriter()
	w.open()
	w.openList("Streams")
	for _, s := range found[:min(limit, len(found))] {
		w.open()
		w.text("StreamArn", s.arn)
		w.text("TableName", s.table)
		w.text("StreamLabel", s.label)
		w.close()
	}
	w.closeList()
	if len(found) > limit {
		w.text("LastEvaluatedStreamArn", found[limit-1].arn)
	}
	w.close()
	return w, nil
}

type describeStreamInput struct {
	StreamArn, ExclusiveStartShardId *string
	Limit                            *int64
	ShardFilter                      *struct{ ShardId, Type *string }
}

// The description of a stream as it goes over the wire.
type streamDescription struct {
	StreamArn               string
	StreamLabel             string
	StreamStatus            string
	StreamViewType          string
	CreationRequestDateTime float64
	TableName               string
	KeySchema               []keyElement
	Shards                  []shardDescription
	LastEvaluatedShardId    string `json:",omitempty"`
}

type shardDescription struct {
	ShardId             string
	SequenceNumberRange sequenceRange
	ParentShardId       string `json:",omitempty"`
}

type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitempty"`
}

func (e *Engine) describeStream(now time.Time, body []byte) (*writer, *failure) {
	var in describeStreamInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	s, f := e.stream(now, *in.StreamArn)
	if f != nil {
		return nil, f
	}
	d := streamDescription{
		StreamArn:               s.arn,
		StreamLabel:             s.label,
		StreamStatus:            "ENABLED",
		StreamViewType:          s.view,
		CreationRequestDateTime: float64(s.created.UnixMilli()) / 1000,
		TableName:               s.table,
		KeySchema:               s.keys,
		Shards:                  []shardDescription{},
	}
	if !s.enabled() {
		d.StreamStatus = "DISABLED"
	}
	shards := in.selected(s)
	if limit := pageSize(in.Limit, streamPageMax); len(shards) > limit {
		shards = shards[:limit]
		d.LastEvaluatedShardId = shards[limit-1].id
	}
	for _, sh := range shards {
		d.Shards = append(d.Shards, sh.describe())
	}
	// A description holds text and a time in seconds, which have a JSON form.
	text, _ := json.Marshal(d)
	w := newWriter()
	w.open()
	w.raw("StreamDescription", text)
	w.close()
	return w, nil
}

func (in *describeStreamInput) checkModel() *failure {
	var c checks
	c.required("streamArn", in.StreamArn != nil)
	c.streamARN("streamArn", in.StreamArn)
	c.limit(in.Limit, streamPageMax)
	c.shardID("exclusiveStartShardId", in.ExclusiveStartShardId)
	if filter := in.ShardFilter; filter != nil {
		c.required("shardFilter.type", filter.Type != nil)
		c.oneOf("shardFilter.type", filter.Type, shardFilterEnum)
		c.required("shardFilter.shardId", filter.ShardId != nil)
		c.shardID("shardFilter.shardId", filter.ShardId)
	}
	return c.failure()
}

// selected are the shards behind the start that the filter lets through. Their ids rise.
func (in *describeStreamInput) selected(s *stream) []*shard {
	var shards []*shard
	for _, sh := range s.shards {
		if in.ExclusiveStartShardId != nil && sh.id <= *in.ExclusiveStartShardId {
			continue
		}
		if in.ShardFilter != nil && sh.parent != *in.ShardFilter.ShardId {
			continue
		}
		shards = append(shards, sh)
	}
	return shards
}

func (sh *shard) describe() shardDescription {
	d := shardDescription{ShardId: sh.id, ParentShardId: sh.parent}
	d.SequenceNumberRange.StartingSequenceNumber = sequenceNumber(sh.start)
	if sh.end > 0 {
		d.SequenceNumberRange.EndingSequenceNumber = sequenceNumber(sh.end)
	}
	return d
}
