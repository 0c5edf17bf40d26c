package shardmap

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of a stored map. They are a public format: see the golden files in testdata/items.
const (
	attrFormat   = "v"
	attrRevision = "revision"
	attrMaxAge   = "maxAgeMs"
	attrMaxSkew  = "maxSkewMs"
	attrHorizon  = "horizonMs"
	attrVersions = "versions"

	attrVersion = "version"
	attrHash    = "hashVersion"
	attrShards  = "shards"
	attrFrom    = "from"
	attrState   = "state"
	attrHistory = "history"

	attrStep      = "step"
	attrAt        = "at"
	attrBy        = "by"
	attrToken     = "token"
	attrWatermark = "watermark"
	attrCount     = "count"
	attrDigest    = "digest"
)

const recordFormat = 1

const (
	sortKey    = "MAP"
	timeLayout = "2006-01-02T15:04:05.000000000Z"
)

func partition(lane string) string { return "SHARDMAP#" + lane }

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// encode returns the attributes of the stored map beside its key.
func (v Versions) encode() attributes {
	versions := make([]types.AttributeValue, len(v.list))
	for i, version := range v.list {
		versions[i] = &types.AttributeValueMemberM{Value: version.encode()}
	}
	return attributes{
		attrFormat:   number(recordFormat),
		attrRevision: number(v.Revision),
		attrMaxAge:   number(v.Rules.MaxAge.Milliseconds()),
		attrMaxSkew:  number(v.Rules.MaxSkew.Milliseconds()),
		attrHorizon:  number(v.Rules.Horizon.Milliseconds()),
		attrVersions: &types.AttributeValueMemberL{Value: versions},
	}
}

func (v Version) encode() attributes {
	history := make([]types.AttributeValue, len(v.History))
	for i, d := range v.History {
		history[i] = &types.AttributeValueMemberM{Value: d.encode()}
	}
	item := attributes{
		attrVersion: number(int64(v.Version)),
		attrHash:    number(int64(v.HashVersion)),
		attrShards:  number(int64(v.Shards)),
		attrState:   text(string(v.State)),
		attrHistory: &types.AttributeValueMemberL{Value: history},
	}
	if !v.From.IsZero() {
		item[attrFrom] = text(stamp(v.From))
	}
	return item
}

// encode leaves out what a step proves by having been taken: nothing remaining, and expected totals equal to the actual.
func (d Done) encode() attributes {
	item := attributes{attrStep: text(string(d.Step)), attrAt: text(stamp(d.At)), attrBy: text(d.By), attrToken: text(d.token)}
	if d.Step == StepDrain || d.Step == StepRetire {
		item[attrWatermark] = text(stamp(d.Evidence.Watermark))
	}
	if d.Step == StepRetire {
		item[attrCount], item[attrDigest] = number(d.Evidence.Actual.Count), text(d.Evidence.Actual.Digest)
	}
	return item
}

// decoder takes a stored map apart. After the first fault it returns zeros.
type decoder struct{ fault string }

func (d *decoder) fail(name, reason string) {
	if d.fault == "" {
		d.fault = fmt.Sprintf("has an attribute %s that %s", name, reason)
	}
}

func (d *decoder) number(item attributes, name string, lowest, highest int64) int64 {
	value, ok := item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name, "is no number")
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil || n < lowest || n > highest {
		d.fail(name, "is out of range")
		return 0
	}
	return n
}

func (d *decoder) text(item attributes, name string) string {
	value, ok := item[name].(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name, "is no text")
		return ""
	}
	return value.Value
}

func (d *decoder) time(item attributes, name string) time.Time {
	written := d.text(item, name)
	t, err := time.Parse(timeLayout, written)
	if err != nil || stamp(t) != written {
		d.fail(name, "is no time")
	}
	return t
}

func (d *decoder) milliseconds(item attributes, name string, highest time.Duration) time.Duration {
	return time.Duration(d.number(item, name, 1, highest.Milliseconds())) * time.Millisecond
}

func (d *decoder) list(item attributes, name string, lowest, highest int) (maps []attributes) {
	value, ok := item[name].(*types.AttributeValueMemberL)
	if !ok || len(value.Value) < lowest || len(value.Value) > highest {
		d.fail(name, "is no list of the right length")
		return nil
	}
	for _, element := range value.Value {
		m, ok := element.(*types.AttributeValueMemberM)
		if !ok {
			d.fail(name, "has an element that is no map")
			return nil
		}
		maps = append(maps, m.Value)
	}
	return maps
}

// decode reads a stored map. The fault says what is wrong with it.
func decode(lane string, item attributes) (v Versions, fault string) {
	d := &decoder{}
	d.number(item, attrFormat, recordFormat, recordFormat)
	v.Lane = lane
	v.Revision = d.number(item, attrRevision, 1, 1<<62)
	v.Rules = Rules{
		MaxAge:  d.milliseconds(item, attrMaxAge, maxAge),
		MaxSkew: d.milliseconds(item, attrMaxSkew, maxSkew),
		Horizon: d.milliseconds(item, attrHorizon, maxHorizon),
	}
	for i, m := range d.list(item, attrVersions, 1, MaxVersions) {
		v.list = append(v.list, d.version(m, i+1))
	}
	if d.fault == "" && !v.inOrder() {
		d.fail(attrVersions, "has windows out of order")
	}
	return v, d.fault
}

// inOrder says whether the windows follow one another, and only the last version may be pending.
func (v Versions) inOrder() bool {
	last := v.list[0].From
	for i, version := range v.list {
		if version.State == Withdrawn && i > 0 {
			continue
		}
		pending := version.State == Proposed && i < len(v.list)-1
		if pending || i > 0 && !version.From.After(last) || i == 0 && (!last.IsZero() || !version.State.Live() && version.State != Retired) {
			return false
		}
		last = version.From
	}
	return true
}

func (d *decoder) version(item attributes, position int) (v Version) {
	v.Version = int(d.number(item, attrVersion, int64(position), int64(position)))
	v.HashVersion = int(d.number(item, attrHash, HashV1, HashV1))
	v.Shards = int(d.number(item, attrShards, 1, MaxShards))
	if item[attrFrom] != nil {
		v.From = d.time(item, attrFrom)
	}
	state := absent
	for _, m := range d.list(item, attrHistory, 1, len(Steps())) {
		done := d.done(m)
		after, ok := state.After(done.Step)
		if !ok {
			d.fail(attrHistory, "has steps that cannot follow one another")
		}
		state = after
		v.History = append(v.History, done)
	}
	if v.State = State(d.text(item, attrState)); v.State != state {
		d.fail(attrState, "does not follow from its history")
	}
	return v
}

func (d *decoder) done(item attributes) (done Done) {
	done = Done{Step: Step(d.text(item, attrStep)), At: d.time(item, attrAt), By: d.text(item, attrBy), token: d.text(item, attrToken)}
	if done.Step == StepDrain || done.Step == StepRetire {
		done.Evidence.Watermark = d.time(item, attrWatermark)
	}
	if done.Step == StepRetire {
		done.Evidence.Actual = Totals{Count: d.number(item, attrCount, 0, 1<<62), Digest: d.text(item, attrDigest)}
		done.Evidence.Expected = done.Evidence.Actual
	}
	return done
}
