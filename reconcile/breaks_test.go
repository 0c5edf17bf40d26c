package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// run is a bench whose batch was run.
func run(t *testing.T) *bench {
	t.Helper()
	b := setup(t)
	if err := b.desk.Create(t.Context(), manifest()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("ann")); err != nil {
		t.Fatal(err)
	}
	return b
}

// due lists what waits with a status, as "key owner due in hours".
func (b *bench) due(t *testing.T, status reconcile.Status, cutoff time.Time) (list []string) {
	t.Helper()
	for l, err := range b.desk.Due(t.Context(), tenant, status, cutoff) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %s %v", l.Key, l.Owner, l.Due.Sub(day).Hours()))
	}
	return list
}

var proof = reconcile.Evidence{By: "ann", Note: "the bank corrected it", Reference: "letter-7"}

// A break goes from owner to owner and closes with evidence; what people did stays in it, in order (R3).
func TestABreakClosesWithEvidenceAndKeepsItsHistory(t *testing.T) {
	t.Parallel()
	b := run(t)
	later := day.Add(48 * time.Hour)
	b.commit(t, b.desk.Assign(b.byKey(t, "b"), reconcile.Assignment{Owner: "bob", Due: later}, "ann", "he knows the bank"))
	b.commit(t, b.desk.Escalate(b.byKey(t, "b"), reconcile.Assignment{Owner: "head", Due: later}, "bob", "no answer"))
	if got := b.due(t, reconcile.StatusEscalated, time.Time{}); !slices.Equal(got, []string{"b head 48"}) {
		t.Errorf("escalated %q", got)
	}
	if got := b.due(t, reconcile.StatusOpen, time.Time{}); len(got) != 2 {
		t.Errorf("open %q", got)
	}
	b.commit(t, b.desk.Resolve(b.byKey(t, "b"), proof))
	if got := b.due(t, reconcile.StatusEscalated, time.Time{}); got != nil {
		t.Errorf("escalated %q", got)
	}
	b.commit(t, b.desk.Reopen(b.byKey(t, "b"), reconcile.Assignment{Owner: "ann", Due: later}, "head", "the letter is about another"))
	stored := b.byKey(t, "b")
	var history []string
	for _, c := range stored.Changes {
		history = append(history, strings.TrimSpace(c.What+" by "+c.By+" "+c.Reference))
	}
	want := []string{"assign by ann", "escalate by bob", "resolve by ann letter-7", "reopen by head"}
	if !slices.Equal(history, want) || stored.Status != reconcile.StatusOpen || stored.Owner != "ann" || stored.Version != 5 || !stored.Due.Equal(later) {
		t.Errorf("%q, %+v", history, stored)
	}
}

func TestTheDueQueueIsOneListOverAllShardsUpToItsCutoff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, j := manifest(), job("ann")
	var left []string
	for i := range 40 {
		left = append(left, fmt.Sprintf("l%02d k%02d 1.00USD -2", i, i))
	}
	j.Left, j.Right = rows(left...), rows()
	j.Assign = func(o reconcile.Outcome) reconcile.Assignment {
		var hours int
		fmt.Sscanf(o.Key, "k%d", &hours)
		return reconcile.Assignment{Owner: "ops", Due: day.Add(time.Duration(hours) * time.Hour)}
	}
	if err := b.desk.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, j); err != nil {
		t.Fatal(err)
	}
	got := b.due(t, reconcile.StatusOpen, day.Add(29*time.Hour))
	if len(got) != 30 || got[0] != "k00 ops 0" || got[29] != "k29 ops 29" || !slices.IsSorted(got) {
		t.Errorf("%q", got)
	}
	lines, err := b.desk.Ageing(t.Context(), tenant, day.Add(10*time.Hour), 5*time.Hour, 20*time.Hour)
	if err != nil || len(lines) != 1 || lines[0].From != 5*time.Hour || lines[0].Until != 20*time.Hour || lines[0].Breaks != 40 || lines[0].Overdue != 10 ||
		!slices.Equal(lines[0].Drift, []money.Amount{money.MustParse("-40.00 USD")}) {
		t.Errorf("%+v, %v", lines, err)
	}
}

// Of all that decide about one break at the same time one is heard, and the others are told.
func TestOneOfManyDecisionsAboutABreakIsTaken(t *testing.T) {
	t.Parallel()
	b := run(t)
	one := b.byKey(t, "c")
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			part := b.desk.Resolve(one, proof)
			if i%2 == 0 {
				part = b.desk.Assign(one, reconcile.Assignment{Owner: "bob", Due: day}, "ann", "x")
			}
			_, errs[i] = txn.New(b.client, txn.Config{MaxAttempts: 50, Jitter: func(time.Duration) time.Duration { return 0 }}).Commit(t.Context(), part)
		})
	}
	all.Wait()
	taken := 0
	for _, err := range errs {
		var moved *reconcile.StateError
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &moved) || moved.Version != 2 || moved.Read != 1 || moved.Break != one.ID:
			t.Errorf("%v", err)
		}
	}
	if stored := b.byKey(t, "c"); taken != 1 || len(stored.Changes) != 1 {
		t.Errorf("%d were taken: %+v", taken, stored)
	}
}

// What breaks a rule is refused before anything is sent, by its rule.
func TestDecisionsThatBreakARuleAreNotSent(t *testing.T) {
	t.Parallel()
	b := run(t)
	open := b.byKey(t, "b")
	b.commit(t, b.desk.Resolve(b.byKey(t, "c"), proof))
	closed := b.byKey(t, "c")
	to := reconcile.Assignment{Owner: "bob", Due: day}
	full := open
	full.Changes = make([]reconcile.Change, reconcile.MaxChanges)
	for what, c := range map[string]struct {
		part txn.Part
		kind error
	}{
		"no evidence":          {b.desk.Resolve(open, reconcile.Evidence{By: "ann", Note: "x"}), reconcile.ErrInvalid},
		"nobody":               {b.desk.Resolve(open, reconcile.Evidence{Note: "x", Reference: "y"}), reconcile.ErrInvalid},
		"no reason":            {b.desk.Escalate(open, to, "ann", ""), reconcile.ErrInvalid},
		"a long reason":        {b.desk.Escalate(open, to, "ann", strings.Repeat("x", 513)), reconcile.ErrInvalid},
		"no owner":             {b.desk.Assign(open, reconcile.Assignment{Due: day}, "ann", "x"), reconcile.ErrInvalid},
		"no encoding":          {b.desk.Assign(open, to, "\xff", "x"), reconcile.ErrInvalid},
		"a year without text":  {b.desk.Assign(open, reconcile.Assignment{Owner: "a", Due: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}, "ann", "x"), reconcile.ErrInvalid},
		"resolved twice":       {b.desk.Resolve(closed, proof), reconcile.ErrState},
		"assigned when closed": {b.desk.Assign(closed, to, "ann", "x"), reconcile.ErrState},
		"reopened when open":   {b.desk.Reopen(open, to, "ann", "x"), reconcile.ErrState},
		"made up":              {b.desk.Resolve(reconcile.Break{}, proof), reconcile.ErrInvalid},
		"too much history":     {b.desk.Assign(full, to, "ann", "x"), reconcile.ErrInvalid},
	} {
		if !errors.Is(c.part.Err(), c.kind) {
			t.Errorf("%s: %v, want %v", what, c.part.Err(), c.kind)
		}
	}
	for what, forge := range map[string]func(*reconcile.Break){
		"one that is closed":   func(one *reconcile.Break) { *one = closed; one.Status = reconcile.StatusOpen },
		"one on another shard": func(one *reconcile.Break) { one.Placement.Shard++ },
	} {
		made := open
		forge(&made)
		if _, err := txn.Commit(t.Context(), b.client, b.desk.Escalate(made, to, "ann", "x")); !errors.Is(err, reconcile.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	forged := open
	forged.ID = strings.Repeat("0", 32)
	if _, err := txn.Commit(t.Context(), b.client, b.desk.Resolve(forged, proof)); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("a break that is not there: %v", err)
	}
}

func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := manifest()
	m.Window.From, m.Window.Grace = day.Add(-24*time.Hour), time.Hour
	m.Left.Control = &reconcile.Totals{Rows: 3, Sums: []money.Amount{money.MustParse("6.00 USD")}}
	if err := b.desk.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	item := func(pk, sk string) txn.Item {
		out, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &b.table.Name, Key: b.table.Key(pk, sk), ConsistentRead: aws.Bool(true)})
		if err != nil || out.Item == nil {
			t.Fatal(out, err)
		}
		return out.Item
	}
	golden.Item(t, "batch-open", item("TEN#acme#RECON#2026-11-29", "BATCH#cash-1"))
	if _, err := b.desk.Run(t.Context(), tenant, date, batch, job("ann")); err != nil {
		t.Fatal(err)
	}
	golden.Item(t, "batch-completed", item("TEN#acme#RECON#2026-11-29", "BATCH#cash-1"), txn.UpdateMarkAttribute)
	one := b.byKey(t, "b")
	golden.Item(t, "break-open", item("TEN#acme#RECON#cash-1", "BREAK#"+one.ID))
	b.commit(t, b.desk.Resolve(one, proof))
	golden.Item(t, "break-resolved", item("TEN#acme#RECON#cash-1", "BREAK#"+one.ID), txn.UpdateMarkAttribute)
}

// A record that another program changed is an error that names it, and is never taken for another.
func TestADamagedRecordIsNotGivenOut(t *testing.T) {
	t.Parallel()
	b := run(t)
	one := b.byKey(t, "b")
	pk, sk := "TEN#acme#RECON#cash-1", "BREAK#"+one.ID
	for _, attr := range []string{"v", "version", "state", "kind", "matchKey", "faults", "owner", "due", "createdAt", "shard", "left", "drift", "changes"} {
		out, err := b.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &b.table.Name, Key: b.table.Key(pk, sk)})
		if err != nil {
			t.Fatal(err)
		}
		damaged := out.Item
		whole := damaged[attr]
		damaged[attr] = &types.AttributeValueMemberBOOL{Value: true}
		put := func() {
			if _, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &b.table.Name, Item: damaged}); err != nil {
				t.Fatal(err)
			}
		}
		put()
		var record *reconcile.RecordError
		if _, err := b.desk.Break(t.Context(), tenant, batch, one.ID); !errors.As(err, &record) || record.Attribute != attr || record.SK != sk {
			t.Errorf("%s: %v", attr, err)
		}
		damaged[attr] = whole
		put()
	}
	if _, err := b.desk.Break(t.Context(), tenant, batch, one.ID); err != nil {
		t.Error(err)
	}
}
