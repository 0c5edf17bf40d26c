package export

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
)

// The attribute names are a public format: see the golden files in testdata/items.
const (
	attrFormat    = "v"
	attrTable     = "table"
	attrSegments  = "segments"
	attrStartedAt = "startedAt"
	attrRevision  = "revision"
	attrOwner     = "owner"
	attrItems     = "items"
	attrState     = "state"
	attrPosition  = "position"
	attrUpdatedAt = "updatedAt"

	recordFormat = 1
	stateReading = "READING"
	stateDone    = "DONE"
)

// ScanRun is a run of a Scan, as it is stored.
type ScanRun struct {
	// Name names the run, Table what is read.
	Name, Table string
	// Segments is in how many.
	Segments int
	// StartedAt is when it was started. Whoever catches up with what changed meanwhile begins before that.
	StartedAt time.Time
	// Items is how many items were handled so far, Done whether all were.
	Items int64
	Done  bool
}

// Run reads how far a run is; it need not be running. Errors: ErrInvalid (it has no name), ErrRun (it was not started),
// ErrCheckpoint, ErrRecord.
//
// Cost: 1 read unit, and 1 for each segment.
func (s *Scan) Run(ctx context.Context) (_ ScanRun, err error) {
	ctx, op := s.watch.Begin(ctx, "progress")
	defer op.End(&err)
	if s.config.Name == "" {
		return ScanRun{}, &InvalidError{Field: "ScanConfig.Name", Reason: "is empty, so nothing is written down"}
	}
	run, err := s.stored(ctx)
	if err != nil {
		return ScanRun{}, err
	}
	run.Done = true
	for number := range run.Segments {
		at, err := s.load(ctx, number)
		if err != nil {
			return ScanRun{}, err
		}
		run.Items += at.items
		run.Done = run.Done && at.done
	}
	return run, nil
}

// begin starts a run, or returns the one that was started before.
func (s *Scan) begin(ctx context.Context) (ScanRun, error) {
	c := s.config
	if c.Name == "" {
		return ScanRun{Table: c.Table, Segments: c.Segments}, nil
	}
	key, err := keys.ScanRun(c.Name)
	if err != nil {
		return ScanRun{}, err
	}
	now, err := keys.Time(c.Now())
	if err != nil {
		return ScanRun{}, &InvalidError{Field: "ScanConfig.Now", Reason: "is outside the years 1 to 9999"}
	}
	item := key.Attributes(c.PK, c.SK)
	item[attrFormat], item[attrTable], item[attrSegments] = number(recordFormat), text(c.Table), number(int64(c.Segments))
	item[attrStartedAt] = text(now)
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &c.Checkpoints, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": c.PK},
	}, watch.In(ctx)...)
	var there *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &there) {
		return ScanRun{}, &CheckpointError{Name: c.Name, Segment: -1, Err: err}
	}
	run, err := s.stored(ctx)
	if err == nil && (run.Table != c.Table || run.Segments != c.Segments) {
		err = &RunError{Name: c.Name, Segment: -1, Reason: "was started for table " + strconv.Quote(run.Table) + " in " + strconv.Itoa(run.Segments) + " segments"}
	}
	return run, err
}

// stored reads the record of the run.
func (s *Scan) stored(ctx context.Context) (ScanRun, error) {
	key, err := keys.ScanRun(s.config.Name)
	if err != nil {
		return ScanRun{}, err
	}
	item, err := s.get(ctx, key, -1)
	if err != nil {
		return ScanRun{}, err
	}
	if item == nil {
		return ScanRun{}, &RunError{Name: s.config.Name, Segment: -1, Reason: "was not started"}
	}
	d := decodeRecord(key, item)
	run := ScanRun{Name: s.config.Name, Table: d.text(attrTable), Segments: int(d.number(attrSegments)), StartedAt: d.time(attrStartedAt)}
	if run.Segments < 1 || run.Segments > maxSegments {
		d.fail(attrSegments)
	}
	return run, d.err
}

// scanPosition is how far a segment is.
type scanPosition struct {
	revision int64 // rises with every page; zero before the first
	owner    string
	items    int64
	position Item
	done     bool
}

// load reads how far a segment is.
func (s *Scan) load(ctx context.Context, segment int) (scanPosition, error) {
	if s.config.Name == "" {
		return scanPosition{}, nil
	}
	key, err := keys.ScanSegment(s.config.Name, segment)
	if err != nil {
		return scanPosition{}, err
	}
	item, err := s.get(ctx, key, segment)
	if err != nil || item == nil {
		return scanPosition{}, err
	}
	d := decodeRecord(key, item)
	at := scanPosition{revision: d.number(attrRevision), owner: d.text(attrOwner), items: d.number(attrItems)}
	switch state := d.text(attrState); state {
	case stateDone:
		at.done = true
	case stateReading:
		position, ok := item[attrPosition].(*types.AttributeValueMemberM)
		if !ok || len(position.Value) == 0 {
			d.fail(attrPosition)
		} else {
			at.position = position.Value
		}
	default:
		d.fail(attrState)
	}
	if at.revision < 1 || at.items < 0 {
		d.fail(attrRevision)
	}
	return at, d.err
}

// save writes down that everything up to a position was handled, on condition that the segment is where it was.
func (s *Scan) save(ctx context.Context, segment int, from, to scanPosition) error {
	c := s.config
	if c.Name == "" {
		return nil
	}
	key, err := keys.ScanSegment(c.Name, segment)
	if err != nil {
		return err
	}
	now, err := keys.Time(c.Now())
	if err != nil {
		return &InvalidError{Field: "ScanConfig.Now", Reason: "is outside the years 1 to 9999"}
	}
	item := key.Attributes(c.PK, c.SK)
	item[attrFormat], item[attrRevision], item[attrOwner], item[attrItems] = number(recordFormat), number(to.revision), text(to.owner), number(to.items)
	item[attrUpdatedAt] = text(now)
	item[attrState] = text(stateDone)
	if !to.done {
		item[attrState], item[attrPosition] = text(stateReading), &types.AttributeValueMemberM{Value: to.position}
	}
	in := &dynamodb.PutItemInput{
		TableName: &c.Checkpoints, Item: item, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": c.PK},
	}
	if from.revision > 0 {
		in.ConditionExpression = aws.String("#revision = :was AND #v = :v")
		in.ExpressionAttributeNames = map[string]string{"#revision": attrRevision, "#v": attrFormat}
		in.ExpressionAttributeValues = Item{":was": number(from.revision), ":v": number(recordFormat)}
	}
	_, err = s.client.PutItem(ctx, in, watch.In(ctx)...)
	var moved *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &moved) && reflect.DeepEqual(moved.Item, item):
		return nil // by this very call, whose first answer was lost
	case errors.As(err, &moved):
		return &RunError{Name: c.Name, Segment: segment, Reason: "was taken over by another runner"}
	case err != nil:
		return &CheckpointError{Name: c.Name, Segment: segment, Err: err}
	}
	return nil
}

// get reads a record strongly.
func (s *Scan) get(ctx context.Context, key keys.Key, segment int) (Item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.config.Checkpoints, Key: key.Attributes(s.config.PK, s.config.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return nil, &CheckpointError{Name: s.config.Name, Segment: segment, Err: err}
	}
	return out.Item, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// recordDecoder reads attributes of a record and keeps the first fault.
type recordDecoder struct {
	key  keys.Key
	item Item
	err  error
}

func decodeRecord(key keys.Key, item Item) *recordDecoder {
	d := &recordDecoder{key: key, item: item}
	if d.number(attrFormat) != recordFormat {
		d.fail(attrFormat)
	}
	return d
}

func (d *recordDecoder) fail(attribute string) {
	if d.err == nil {
		d.err = &RecordError{PK: d.key.PK, SK: d.key.SK, Attribute: attribute}
	}
}

func (d *recordDecoder) text(name string) string {
	s, ok := d.item[name].(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name)
		return ""
	}
	return s.Value
}

func (d *recordDecoder) number(name string) int64 {
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name)
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		d.fail(name)
	}
	return value
}

func (d *recordDecoder) time(name string) time.Time {
	t, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name)
	}
	return t
}
