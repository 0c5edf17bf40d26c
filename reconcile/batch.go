package reconcile

import (
	"context"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// maxText bounds names, notes and reasons, in bytes.
const maxText = 512

// Manifest says what a batch compares, before it does: what it finds can be held against it.
type Manifest struct {
	// Tenant and Date, a day such as "2026-11-29", are the partition that lists the batch; Batch is its ID. An ID is for one day:
	// its breaks are stored under it alone, and a run that meets those of another day fails with an [ExistsError].
	Tenant, Date, Batch string
	// Rules is the name of the [Rules], with their version.
	Rules string
	// Window says which rows are judged.
	Window Window
	// Left and Right are the inputs.
	Left, Right Input
}

// Input is one side in a manifest.
type Input struct {
	// Name says what it is: an export's ARN, a file and its checksum.
	Name string
	// Control are the totals that it must have; nil if they are not known before. Sums and digest are compared if
	// they are given.
	Control *Totals
}

// BatchState is where a batch is.
type BatchState string

// The states of a batch.
const (
	// BatchOpen: created, never run.
	BatchOpen BatchState = "OPEN"
	// BatchRunning: an owner works on it until its lease ends; then another may take it over.
	BatchRunning BatchState = "RUNNING"
	// BatchCompleted: all breaks are written. It never changes again.
	BatchCompleted BatchState = "COMPLETED"
	// BatchFailed: the last attempt ended with the reason in Failure. Run starts the next.
	BatchFailed BatchState = "FAILED"
)

// Batch is a stored batch.
type Batch struct {
	Manifest
	// State is where it is.
	State BatchState
	// Version rises with every change.
	Version int64
	// Attempt counts the runs, from 1; 0 before the first.
	Attempt int64
	// Owner runs it, or ran it last, and Lease is until when.
	Owner string
	Lease time.Time
	// Created and Ended are when it was created and when the last attempt ended.
	Created, Ended time.Time
	// FoundLeft and FoundRight are the totals that the first attempt found; nil before. Every later attempt must find the
	// same, else the batch would not be restarted but another one.
	FoundLeft, FoundRight *Totals
	// Summary is what came out; zero until COMPLETED.
	Summary Summary
	// Failure says why the last attempt failed.
	Failure string
}

func (m Manifest) key() (keys.Key, error) {
	key, err := keys.Batch(m.Tenant, m.Date, m.Batch)
	if err != nil {
		return keys.Key{}, invalidKey(err)
	}
	return key, nil
}

func (m Manifest) check() error {
	for _, field := range []struct{ name, text string }{{"Rules", m.Rules}, {"Left.Name", m.Left.Name}, {"Right.Name", m.Right.Name}} {
		if reason := required(field.text); reason != "" {
			return &InvalidError{Field: "Manifest." + field.name, Reason: reason}
		}
	}
	if field, reason := m.Window.check(); field != "" {
		return &InvalidError{Field: "Manifest." + field, Reason: reason}
	}
	return nil
}

func required(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > maxText:
		return "has more than " + strconv.Itoa(maxText) + " bytes"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	return ""
}

// Create stores a batch with its manifest (AP14, IDX13). Creating it again with the same manifest changes nothing; with
// another the error is an [ExistsError].
//
// Cost: 1 write unit for each KiB begun; 1 read unit for each 4 KiB begun more if it exists.
func (r *Reconciler) Create(ctx context.Context, m Manifest) (err error) {
	ctx, op := r.watch.Begin(ctx, "AP14.create")
	defer op.End(&err)
	if r.err != nil {
		return r.err
	}
	key, err := m.key()
	if err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	item, err := r.manifestItem(key, m)
	if err != nil {
		return err
	}
	_, there, err := r.put(ctx, item)
	switch {
	case err != nil:
		return errWrite.Wrap(err, "reconcile: create batch %q of %s of tenant %q: %v", m.Batch, m.Date, m.Tenant, err)
	case there:
		return r.same(ctx, m, item)
	}
	return nil
}

// put writes an item unless its key is taken; there says that it was, and by what: by another, or by this very write whose answer was
// lost.
func (r *Reconciler) put(ctx context.Context, item txn.Item) (old txn.Item, there bool, err error) {
	_, err = r.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &r.config.Table.Name, Item: item, ConditionExpression: aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames:            map[string]string{"#pk": r.config.Table.PK},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, watch.In(ctx)...)
	var taken *types.ConditionalCheckFailedException
	if errors.As(err, &taken) {
		return taken.Item, true, nil
	}
	return nil, false, err
}

// same tells a repeated Create from one of another manifest.
func (r *Reconciler) same(ctx context.Context, m Manifest, item txn.Item) error {
	stored, err := r.Batch(ctx, m.Tenant, m.Date, m.Batch)
	if err != nil {
		return err
	}
	key, err := m.key()
	if err != nil {
		return err
	}
	again, err := r.manifestItem(key, stored.Manifest)
	if err != nil {
		return err
	}
	delete(item, attrCreated)
	delete(again, attrCreated)
	if !reflect.DeepEqual(item, again) {
		return &ExistsError{Tenant: m.Tenant, Date: m.Date, Batch: m.Batch}
	}
	return nil
}

func (r *Reconciler) manifestItem(key keys.Key, m Manifest) (txn.Item, error) {
	item := r.config.Table.Key(key.PK, key.SK)
	item[attrFormat], item[attrVersion], item[attrState] = &types.AttributeValueMemberN{Value: recordFormat}, number(1), text(string(BatchOpen))
	item[attrRules], item[attrGrace], item[attrAttempt] = text(m.Rules), number(int64(m.Window.Grace)), number(0)
	times := []struct {
		attr string
		at   time.Time
	}{{attrCutoff, m.Window.Cutoff}, {attrCreated, r.config.Now()}, {attrFrom, m.Window.From}}
	for _, t := range times {
		if t.attr == attrFrom && t.at.IsZero() {
			continue
		}
		at, err := keys.Time(t.at)
		if err != nil {
			return nil, invalidKey(err)
		}
		item[t.attr] = text(at)
	}
	for attr, in := range map[string]Input{attrLeft: m.Left, attrRight: m.Right} {
		side := txn.Item{fieldName: text(in.Name)}
		if in.Control != nil {
			declared, err := in.Control.encode()
			if err != nil {
				return nil, &InvalidError{Field: "Manifest.Control", Reason: err.Error()}
			}
			side[fieldDeclared] = declared
		}
		item[attr] = &types.AttributeValueMemberM{Value: side}
	}
	return item, nil
}

func (t Totals) encode() (types.AttributeValue, error) {
	m := txn.Item{fieldRows: number(t.Rows)}
	if t.Sums != nil {
		list, err := amounts(byCurrency(t.Sums))
		if err != nil {
			return nil, err
		}
		m[fieldSums] = list
	}
	if t.Digest != "" {
		m[fieldDigest] = text(t.Digest)
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

func (d *decoder) totals(attr string) *Totals {
	in := d.under(attr)
	if in == nil {
		return nil
	}
	t := &Totals{Rows: in.number(fieldRows), Digest: in.optional(fieldDigest)}
	if in.item[fieldSums] != nil {
		t.Sums = in.amounts(fieldSums)
	}
	return t
}

// Batch reads a batch with a strongly consistent read (AP14, IDX13). If there is none, the error is a [NotFoundError].
//
// Cost: 1 read unit for each 4 KiB begun.
func (r *Reconciler) Batch(ctx context.Context, tenant, date, batch string) (_ Batch, err error) {
	ctx, op := r.watch.Begin(ctx, "AP14.read")
	defer op.End(&err)
	if r.err != nil {
		return Batch{}, r.err
	}
	key, err := Manifest{Tenant: tenant, Date: date, Batch: batch}.key()
	if err != nil {
		return Batch{}, err
	}
	item, err := r.get(ctx, key)
	if err != nil {
		return Batch{}, err
	}
	if item == nil {
		return Batch{}, &NotFoundError{Batch: batch}
	}
	return r.batch(key, item)
}

func (r *Reconciler) get(ctx context.Context, key keys.Key) (txn.Item, error) {
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.config.Table.Name, Key: r.config.Table.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return nil, errRead.Wrap(err, "reconcile: read %s / %s: %v", key.PK, key.SK, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	return out.Item, nil
}

// Batches lists the batches of a day in the order of their IDs (AP14, IDX13), strongly consistent.
//
// Cost: 1 read unit for each 4 KiB begun.
// Errors: [ErrInvalid], [ErrRead], [ErrCorrupt].
func (r *Reconciler) Batches(ctx context.Context, tenant, date string) iter.Seq2[Batch, error] {
	return watch.Each(ctx, &r.watch, "AP14.list", "", func(ctx context.Context, yield func(Batch, error) bool) {
		partition, err := keys.BatchPartition(tenant, date)
		if err != nil {
			yield(Batch{}, invalidKey(err))
			return
		}
		r.list(ctx, "AP14.list", partition, keys.BatchPrefix, func(key keys.Key, item txn.Item, err error) bool {
			if err != nil {
				yield(Batch{}, err)
				return false
			}
			return yield(r.batch(key, item))
		})
	})
}

// list reads the records of one kind in a partition of the table: that of a day is that of a batch which is named by it, too.
func (r *Reconciler) list(ctx context.Context, name, partition, prefix string, give func(keys.Key, txn.Item, error) bool) {
	if r.err != nil {
		give(keys.Key{}, nil, r.err)
		return
	}
	table := r.config.Table
	query := fanout.Query{Name: name, Table: table.Name, PK: table.PK, SK: table.SK, Strong: true, Range: fanout.Range{Prefix: fanout.Text(prefix)},
		Branches: []fanout.Branch{{Name: partition, Partition: fanout.Text(partition)}}}
	for item, err := range r.reader.All(ctx, query) {
		if err != nil {
			give(keys.Key{}, nil, err)
			return
		}
		if !give(r.keyOf(item.Attributes), item.Attributes, nil) {
			return
		}
	}
}

// keyOf is the key of an item that was read by its key, or by that of the index.
func (r *Reconciler) keyOf(item txn.Item) keys.Key {
	var key keys.Key
	if pk, ok := item[r.config.Table.PK].(*types.AttributeValueMemberS); ok {
		key.PK = pk.Value
	}
	if sk, ok := item[r.config.Table.SK].(*types.AttributeValueMemberS); ok {
		key.SK = sk.Value
	}
	return key
}

// batch decodes a stored batch.
func (r *Reconciler) batch(key keys.Key, item txn.Item) (Batch, error) {
	d := r.decode(key, item)
	tenant, date, id, err := keys.ParseBatch(key)
	if err != nil {
		return Batch{}, &RecordError{PK: key.PK, SK: key.SK, Attribute: r.config.Table.SK}
	}
	b := Batch{
		Manifest: Manifest{Tenant: tenant, Date: date, Batch: id, Rules: d.text(attrRules),
			Window: Window{From: d.optionalTime(attrFrom), Cutoff: d.time(attrCutoff), Grace: time.Duration(d.number(attrGrace))}},
		State: BatchState(d.text(attrState)), Version: d.number(attrVersion), Attempt: d.number(attrAttempt), Owner: d.optional(attrOwner),
		Lease: d.optionalTime(attrLease), Created: d.time(attrCreated), Ended: d.optionalTime(attrEnded), Failure: d.optional(attrFailure),
	}
	for _, side := range []struct {
		attr  string
		in    *Input
		found **Totals
	}{{attrLeft, &b.Left, &b.FoundLeft}, {attrRight, &b.Right, &b.FoundRight}} {
		in := d.under(side.attr)
		if in == nil {
			d.bad(side.attr)
			continue
		}
		*side.in = Input{Name: in.text(fieldName), Control: in.totals(fieldDeclared)}
		*side.found = in.totals(fieldFound)
	}
	if b.State == BatchCompleted {
		b.Summary = d.summary(b)
	}
	if *d.err != nil {
		return Batch{}, *d.err
	}
	return b, nil
}

func (d *decoder) summary(b Batch) Summary {
	s := newSummary()
	if b.FoundLeft != nil && b.FoundRight != nil {
		s.Left, s.Right = *b.FoundLeft, *b.FoundRight
	}
	outcomes, rows, drifts := d.under(attrOutcomes), d.under(attrRows), d.under(attrDrifts)
	if outcomes == nil || rows == nil || drifts == nil {
		d.bad(attrOutcomes)
		return s
	}
	for _, kind := range slices.Sorted(maps.Keys(outcomes.item)) {
		s.Outcomes[Kind(kind)], s.Rows[Kind(kind)] = outcomes.number(kind), rows.number(kind)
		s.Drifts[Kind(kind)] = drifts.amounts(kind)
	}
	return s
}
