package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// A projection fed by several workers: every event comes at least once, in any order, and the view must see each version of
// each source once and in order, whatever dies between which steps.

var portfolio = txn.Table{Name: "Portfolio"}

var projected = []string{"order-1", "order-2"}

func viewKey(source string) txn.Item { return portfolio.Key("ORDER#"+source, "VIEW") }

func projectedEvent(source string, version int64) projection.Event {
	return projection.Event{Source: source, Version: version, ID: fmt.Sprintf("%s-%d", source, version), Control: version,
		OccurredAt: orderedAt, Payload: fmt.Appendf(nil, "state %d", version)}
}

var orderedAt = order{}.event().OccurredAt

// projectionOf is the projection of one process, or of the story itself. With receipts, every event has one.
func projectionOf(client projection.Client, p *invariant.Process, receipts bool) *projection.Namespace {
	config := projection.Config{Name: "portfolio", View: func(_ context.Context, _ int, e projection.Event) ([]txn.Part, error) {
		list := expression.Name("versions")
		appended := expression.ListAppend(expression.IfNotExists(list, expression.Value([]int64{})), expression.Value([]int64{e.Version}))
		parts := []txn.Part{txn.Update(portfolio, viewKey(e.Source), expression.Set(list, appended))}
		if receipts {
			received := inbox.Config{Consumer: "portfolio@1"}
			if p != nil {
				received.Now = p.Now
			}
			receipt := inbox.New(received).Receive(inbox.Event{ID: e.ID, Source: e.Source, SourceVersion: e.Version, Payload: e.Payload}, nil)
			parts = append(parts, receipt)
		}
		return parts, nil
	}}
	if p != nil {
		config.Now, config.Txn = p.Now, p.Txn()
	}
	return projection.New(client, config).Namespace(1)
}

// message is one delivery.
type message struct {
	source  string
	version int64
}

// feed is a worker that is given messages until each has been acknowledged.
func feed(w *invariant.World, worker string, receipts bool, messages []message) {
	w.Note("%s is delivered %v", worker, messages)
	acknowledged := make([]bool, len(messages)) // by the transport, which forgets nothing when a worker dies
	w.Worker(worker, func(ctx context.Context, p *invariant.Process) error {
		ns := projectionOf(p.Client(), p, receipts)
		var faults []error
		for i, m := range messages {
			if acknowledged[i] {
				continue
			}
			outcome, err := ns.Apply(ctx, projectedEvent(m.source, m.version))
			if err != nil {
				faults = append(faults, err)
				continue
			}
			p.Note("%s version %d: %s, %d drained", m.source, m.version, outcome.Result, outcome.Drained)
			acknowledged[i] = true
		}
		return errors.Join(faults...)
	})
}

// versionsSeen are the versions in the view of a source, in the order in which they came.
func versionsSeen(w *invariant.World, source string) ([]int64, error) {
	out, err := w.Client().GetItem(w.Context(), &dynamodb.GetItemInput{TableName: &portfolio.Name, Key: viewKey(source), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return nil, err
	}
	var versions []int64
	for _, value := range out.Item["versions"].(*types.AttributeValueMemberL).Value {
		var version int64
		if _, err := fmt.Sscan(value.(*types.AttributeValueMemberN).Value, &version); err != nil {
			return nil, err
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// inStep checks that a view has seen 1 to n, each once, and that the checkpoint says the same. gap is set if there is one.
func inStep(w *invariant.World, ns *projection.Namespace, gap *bool) error {
	for _, source := range projected {
		versions, err := versionsSeen(w, source)
		if err != nil {
			return err
		}
		for i, version := range versions {
			if version != int64(i+1) {
				return fmt.Errorf("%s: the view saw %v", source, versions)
			}
		}
		cp, err := ns.Checkpoint(w.Context(), source)
		if err != nil || cp.Version != int64(len(versions)) || cp.Events != cp.Version {
			return fmt.Errorf("%s: the view saw %v, the checkpoint is %+v, %v", source, versions, cp, err)
		}
		*gap = *gap || cp.Parked > 0
	}
	return nil
}

// project is the story of a few workers that deliver the versions of two sources, mixed, late and more than once.
func project(receipts bool) func(w *invariant.World) {
	return func(w *invariant.World) {
		w.Table(portfolio.Name)
		w.Table(projection.DefaultTable)
		w.Table(inbox.DefaultTable)
		heads := map[string]int64{}
		var all []message
		for _, source := range projected {
			heads[source] = int64(1 + w.Choose("more versions", 4))
			for version := range heads[source] {
				all = append(all, message{source, version + 1})
				if w.Choose("delivered twice", 3) == 2 {
					all = append(all, message{source, version + 1})
				}
			}
		}
		workers := make([][]message, 2+w.Choose("more workers", 2))
		for len(all) > 0 { // the transport keeps no order
			i, to := w.Choose("message", len(all)), w.Choose("worker", len(workers))
			workers[to] = append(workers[to], all[i])
			all = slices.Delete(all, i, i+1)
		}
		for i, messages := range workers {
			if len(messages) > 0 {
				feed(w, fmt.Sprint("worker", i), receipts, messages)
			}
		}
		ns := projectionOf(w.Client(), nil, receipts)
		gapSeen := false
		w.Always("each version once and in order", func() error { return inStep(w, ns, &gapSeen) })
		w.Run()
		w.Settle()
		w.Sometimes("a source has a gap", gapSeen)
		w.Check("each version once and in order", inStep(w, ns, &gapSeen))
		for _, source := range slices.Sorted(maps.Keys(heads)) {
			lag, err := ns.Lag(w.Context(), source, heads[source])
			if err == nil && (lag.Behind != 0 || lag.Parked != 0) {
				err = fmt.Errorf("%+v", lag)
			}
			w.Check("every source has caught up", err)
		}
		for gap, err := range ns.Gaps(w.Context()) {
			w.Check("every gap is closed", fmt.Errorf("%+v, %v", gap, err))
		}
	}
}

func TestAProjectionSeesEachVersionOnceAndInOrder(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{}, project(false))
}

func TestAProjectionWithReceiptsSeesEachVersionOnceAndInOrder(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{}, project(true))
}

// The crash between any two steps of a gap: the event is parked, the gap is filled, the parked events are drained.
func TestAProjectionSurvivesEachFaultAtEachRequest(t *testing.T) {
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		w.Table(portfolio.Name)
		w.Table(projection.DefaultTable)
		feed(w, "worker", false, []message{{"order-1", 3}, {"order-1", 2}, {"order-1", 1}, {"order-1", 3}})
		ns := projectionOf(w.Client(), nil, false)
		w.Always("each version once and in order", func() error { return inStep(w, ns, new(bool)) })
		w.Run()
		w.Settle()
		lag, err := ns.Lag(w.Context(), "order-1", 3)
		if err == nil && lag.Behind+lag.Parked != 0 {
			err = fmt.Errorf("%+v", lag)
		}
		w.Check("it has caught up", err)
	})
	if runs < 60 {
		t.Errorf("%d runs", runs)
	}
}
