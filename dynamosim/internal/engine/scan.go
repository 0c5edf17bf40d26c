package engine

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// segmentsMax is the largest number of segments of a parallel Scan.
const segmentsMax = 1_000_000

// scanInput is a Scan request.
type scanInput struct {
	readInput
	Segment       *int64
	TotalSegments *int64
	ScanFilter    json.RawMessage
}

func (e *Engine) scan(now time.Time, body []byte) (*writer, *failure) {
	var in scanInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if f := in.checkModel(); f != nil {
		return nil, f
	}
	plan, f := in.begin()
	if f != nil {
		return nil, f
	}
	if f := e.find(&in.readInput, plan); f != nil {
		return nil, f
	}
	plan.bounds = in.segment()
	if in.ExclusiveStartKey != nil {
		if f := e.resume(&in, plan); f != nil {
			return nil, f
		}
	}
	return e.answer(&in.readInput, plan, now)
}

func (in *scanInput) checkModel() *failure {
	var c checks
	c.oneOf("select", in.Select, selectEnum)
	c.oneOf("returnConsumedCapacity", in.ReturnConsumedCapacity, consumedCapacityEnum)
	c.minValue("totalSegments", in.TotalSegments, 1)
	c.maxValue("totalSegments", in.TotalSegments, segmentsMax)
	if in.IndexName != nil {
		c.indexName("indexName", *in.IndexName)
	}
	c.name("tableName", in.TableName)
	c.minValue("limit", in.Limit, 1)
	c.minValue("segment", in.Segment, 0)
	c.maxValue("segment", in.Segment, segmentsMax-1)
	return c.failure()
}

// begin parses the expressions and checks what needs no table.
func (in *scanInput) begin() (*readPlan, *failure) {
	f := refuseLegacy([]parameter{
		{"AttributesToGet", in.AttributesToGet != nil},
		{"ScanFilter", in.ScanFilter != nil},
		{"ConditionalOperator", in.ConditionalOperator != nil},
	}, []parameter{
		{"ProjectionExpression", in.ProjectionExpression != nil},
		{"FilterExpression", in.FilterExpression != nil},
	})
	if f != nil {
		return nil, f
	}
	if f := in.checkSelect(); f != nil {
		return nil, f
	}
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return nil, invalid(msgTotalSegmentsMissing)
	case in.Segment == nil && in.TotalSegments != nil:
		return nil, invalid(msgSegmentMissing)
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return nil, invalid(msgSegmentRange(*in.Segment, *in.TotalSegments))
	}
	subs, f := in.substitutions.begin(in.FilterExpression != nil || in.ProjectionExpression != nil)
	if f != nil {
		return nil, f
	}
	return in.plan(subs)
}

// segment is the range of the whole source, or the part of it that one worker of a parallel scan reads. Ordering keys
// begin with a hash of the partition key, so equal parts of the hash's range are disjoint and add up to the whole,
// and a partition is never cut.
func (in *scanInput) segment() bounds {
	if in.Segment == nil {
		return bounds{}
	}
	segment, total := uint64(*in.Segment), uint64(*in.TotalSegments)
	b := bounds{low: segmentStart(segment, total)}
	if segment+1 < total {
		b.high = segmentStart(segment+1, total)
	}
	return b
}

// segmentStart is the first hash of a segment: segment/total of 2^64.
func segmentStart(segment, total uint64) string {
	first, _ := bits.Div64(segment, 0, total)
	return string(binary.BigEndian.AppendUint64(nil, first))
}

// resume places the plan behind an ExclusiveStartKey. What is wrong with such a key is told in other words than by Query.
func (e *Engine) resume(in *scanInput, p *readPlan) *failure {
	key := *in.ExclusiveStartKey
	f := p.checkScanStart(key)
	if f != nil {
		return f
	}
	if p.start, f = e.startKey(p, key); f != nil {
		return f
	}
	if p.start < p.bounds.low || p.bounds.high != "" && p.start >= p.bounds.high {
		return invalid(msgStartKeySegment(*in.Segment, *in.TotalSegments))
	}
	return nil
}

// checkScanStart checks the schema of a start key.
func (p *readPlan) checkScanStart(key value.Item) *failure {
	mismatch := invalid(msgStartKeyInvalid + ": " + msgKeyMismatch)
	if p.index == nil {
		if !p.table.keys.fits(key) {
			return mismatch
		}
		return nil
	}
	if key.Len() != len(p.startNames()) {
		return invalid(msgStartKeyInvalid)
	}
	for _, a := range p.source.keys.attrs() {
		v, ok := key.Get(a.name)
		if !ok {
			return invalid(msgStartKeyInvalid)
		}
		if v.Kind() != a.kind {
			return invalid(msgKeyMismatch)
		}
	}
	if !p.table.keys.presentIn(key) {
		return mismatch
	}
	return nil
}
