package projection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

const (
	attrSteps    = "steps"
	attrStep     = "step"
	attrAt       = "at"
	attrEvidence = "evidence"
	attrProof    = "proof"
)

// Run is how far a runbook is, as it is written down.
type Run struct {
	// Namespace is the one that is rebuilt.
	Namespace int
	// Done are the steps that are done, in their order.
	Done []StepDone

	revision int64
}

// StepDone is a step as it was written down.
type StepDone struct {
	// Step is which.
	Step Step
	// At is when it was done, in UTC, By who did it.
	At time.Time
	By string
	// Evidence is what it found and did, in words and figures.
	Evidence map[string]string
	// Proof covers the step and, through the proof before it, all steps before it: SHA-256 in hex.
	Proof string
}

// Next returns the step that is to be done; ok is false if all are.
func (r Run) Next() (step Step, ok bool) {
	if len(r.Done) == len(steps) {
		return "", false
	}
	return steps[len(r.Done)], true
}

// Evidence returns what a step found and did, nil if it is not done.
func (r Run) Evidence(step Step) map[string]string {
	for _, done := range r.Done {
		if done.Step == step {
			return done.Evidence
		}
	}
	return nil
}

// prove returns the proof of a step behind another one.
func (s StepDone) prove(before string) string {
	names := slices.Sorted(maps.Keys(s.Evidence))
	fields := []string{"dynafin projection runbook 1", before, string(s.Step), instantText(s.At), s.By}
	for _, name := range names {
		fields = append(fields, name, s.Evidence[name])
	}
	sum := sha256.Sum256([]byte(keys.Join(fields...)))
	return hex.EncodeToString(sum[:])
}

// State reads how far the runbook is, with a strong read; a run that was not declared has no steps. Errors: ErrInvalid,
// ErrRead, ErrCorrupt (also if the proofs do not cover what is written down).
//
// Cost: 1 read unit for each 4 KiB begun.
func (r *Runbook) State(ctx context.Context) (_ Run, err error) {
	ctx, op := r.ns.watch.Begin(ctx, "AP13.runbook")
	defer op.End(&err)
	if r.err != nil {
		return Run{}, r.err
	}
	key, err := keys.Runbook(r.ns.p.config.Name, r.ns.number)
	if err != nil {
		return Run{}, err
	}
	item, err := r.ns.p.get(ctx, key)
	if err != nil || item == nil {
		return Run{Namespace: r.ns.number}, err
	}
	return decodeRun(key, item, r.ns.number)
}

func decodeRun(key keys.Key, item txn.Item, namespace int) (Run, error) {
	d := &decoder{key: key, item: item}
	d.format()
	run := Run{Namespace: namespace, revision: d.number(attrRevision)}
	list, ok := item[attrSteps].(*types.AttributeValueMemberL)
	if !ok || len(list.Value) == 0 || len(list.Value) > len(steps) || run.revision != int64(len(list.Value)) {
		d.fail(attrSteps)
		return run, d.err
	}
	proof := ""
	for i, value := range list.Value {
		m, ok := value.(*types.AttributeValueMemberM)
		if !ok {
			d.fail(attrSteps)
			break
		}
		step := &decoder{key: key, item: m.Value}
		done := StepDone{Step: Step(step.text(attrStep)), At: step.time(attrAt), By: step.text(attrBy), Proof: step.text(attrProof), Evidence: map[string]string{}}
		evidence, ok := m.Value[attrEvidence].(*types.AttributeValueMemberM)
		if !ok {
			step.fail(attrEvidence)
			evidence = &types.AttributeValueMemberM{}
		}
		for name := range evidence.Value {
			done.Evidence[name] = (&decoder{key: key, item: evidence.Value}).text(name)
		}
		if step.err != nil || done.Step != steps[i] || done.Proof != done.prove(proof) {
			d.fail(attrSteps)
		}
		proof = done.Proof
		run.Done = append(run.Done, done)
	}
	return run, d.err
}

// record writes a step down, on condition that nobody else has.
func (r *Runbook) record(ctx context.Context, run Run, step Step, evidence map[string]string) (_ Run, err error) {
	ctx, op := r.ns.watch.Begin(ctx, "AP13.record")
	defer op.End(&err)
	p := r.ns.p
	key, err := keys.Runbook(p.config.Name, r.ns.number)
	if err != nil {
		return run, err
	}
	now, err := p.now()
	if err != nil {
		return run, err
	}
	at, err := keys.ParseTime(now)
	if err != nil {
		return run, err
	}
	done := StepDone{Step: step, At: at, By: r.config.By, Evidence: evidence}
	before := ""
	if n := len(run.Done); n > 0 {
		before = run.Done[n-1].Proof
	}
	done.Proof = done.prove(before)
	to := Run{Namespace: run.Namespace, Done: append(slices.Clone(run.Done), done), revision: run.revision + 1}
	item := p.config.Table.Key(key.PK, key.SK)
	item[attrFormat], item[attrRevision], item[attrUpdatedAt] = number(recordFormat), number(to.revision), text(now)
	item[attrSteps] = encodeSteps(to.Done)
	in := &dynamodb.PutItemInput{
		TableName: &p.config.Table.Name, Item: item, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": p.config.Table.PK},
	}
	if run.revision > 0 {
		in.ConditionExpression = aws.String("#revision = :was AND #v = :v")
		in.ExpressionAttributeNames = map[string]string{"#revision": attrRevision, "#v": attrFormat}
		in.ExpressionAttributeValues = txn.Item{":was": number(run.revision), ":v": number(recordFormat)}
	}
	_, err = p.client.PutItem(ctx, in, watch.In(ctx)...)
	var moved *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &moved) && reflect.DeepEqual(moved.Item, item):
		return to, nil // by this very call, whose first answer was lost
	case errors.As(err, &moved):
		return run, r.ns.state("another runner has written down step " + string(step))
	case err != nil:
		return run, errWrite.Wrap(err, "projection: write down step %s of %q namespace %d: %v", step, p.config.Name, r.ns.number, err)
	}
	return to, nil
}

func encodeSteps(all []StepDone) types.AttributeValue {
	list := &types.AttributeValueMemberL{}
	for _, done := range all {
		evidence := txn.Item{}
		for name, value := range done.Evidence {
			evidence[name] = text(value)
		}
		list.Value = append(list.Value, &types.AttributeValueMemberM{Value: txn.Item{
			attrStep: text(string(done.Step)), attrAt: text(instantText(done.At)), attrBy: text(done.By), attrProof: text(done.Proof),
			attrEvidence: &types.AttributeValueMemberM{Value: evidence},
		}})
	}
	return list
}

// instantText is a time as records have it. Times that have no such form were refused before.
func instantText(t time.Time) string {
	at, err := keys.Time(t)
	if err != nil {
		return ""
	}
	return at
}

func totalsEvidence(t Totals) map[string]string {
	return map[string]string{"sources": strconv.FormatInt(t.Sources, 10), "events": strconv.FormatInt(t.Events, 10),
		"skipped": strconv.FormatInt(t.Skipped, 10), "control": t.control().String()}
}

// totals reads the totals that a step has written down.
func (r Run) totals(step Step) (Totals, error) {
	evidence := r.Evidence(step)
	t := Totals{Control: new(big.Int)}
	var faults [3]error
	t.Sources, faults[0] = strconv.ParseInt(evidence["sources"], 10, 64)
	t.Events, faults[1] = strconv.ParseInt(evidence["events"], 10, 64)
	t.Skipped, faults[2] = strconv.ParseInt(evidence["skipped"], 10, 64)
	_, ok := t.Control.SetString(evidence["control"], 10)
	if !ok || errors.Join(faults[:]...) != nil {
		return t, &RecordError{PK: "step " + string(step), SK: "", Attribute: attrEvidence}
	}
	return t, nil
}

// alias is where readers were when the run was declared.
func (r Run) alias() (Alias, error) {
	declared := r.Evidence(StepDeclare)
	namespace, err := strconv.Atoi(declared["aliasNamespace"])
	version, err2 := strconv.ParseInt(declared["aliasVersion"], 10, 64)
	if err != nil || err2 != nil {
		return Alias{}, &RecordError{PK: "step " + string(StepDeclare), SK: "", Attribute: attrEvidence}
	}
	return Alias{Namespace: namespace, Version: version}, nil
}
