package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/observe"
)

// failures are the codes whose operations have failed, so that a new code must be placed: here, or in byOutcome.
var failures = strings.Fields(`
	txn.ErrRefused
	idempotency.ErrVersion idempotency.ErrRecord idempotency.ErrRead
	sentinel.ErrCorrupt sentinel.ErrRead outbox.ErrCorrupt outbox.ErrRead outbox.ErrRefused outbox.ErrUnpublished
	inbox.ErrCorrupt inbox.ErrRead inbox.ErrHeldBack
	ledger.ErrCorrupt ledger.ErrRead ledger.ErrPanic
	projection.ErrDrain projection.ErrCorrupt projection.ErrRead
	reconcile.ErrSource reconcile.ErrTemporary reconcile.ErrCorrupt reconcile.ErrRead
	fanout.ErrRead fanout.ErrItem shardmap.ErrStored shardmap.ErrStale
	export.ErrScan export.ErrRecord`)

// elsewhere are the packages, and the codes, that no operation reports.
var elsewhere = strings.Fields(`money. capacity. dynamosim. schema. lambda. ready. shardmap.ErrLoad
	export.ErrFormat export.ErrManifest export.ErrMissing export.ErrChecksum export.ErrDamaged export.ErrLine export.ErrCount
	export.ErrRead export.ErrLimit`)

func TestEveryCodeHasOneOutcome(t *testing.T) {
	t.Parallel()
	times := map[string]int{}
	for _, codes := range byOutcome {
		for _, code := range codes {
			times[code.Name]++
		}
	}
	for _, name := range failures {
		times[name]++
	}
	for _, code := range fault.All() {
		silent := slices.ContainsFunc(elsewhere, func(prefix string) bool { return strings.HasPrefix(code.Name, prefix) })
		if n := times[code.Name]; silent != (n == 0) || n > 1 {
			t.Errorf("%s has %d outcomes", code.Name, n)
		}
		delete(times, code.Name)
	}
	for name := range times {
		t.Errorf("%s is no code", name)
	}
}

func TestAnOutcomeIsReadFromTheErrorThatSaysMost(t *testing.T) {
	t.Parallel()
	taken := fault.New(fault.SentinelTaken, "taken").Wrap(nil, "taken")
	for _, row := range []struct {
		err  error
		want observe.Outcome
	}{
		{errors.New("nobody's"), observe.Failed},
		{fmt.Errorf("while: %w", taken), observe.Rejected},
		{fault.New(fault.OutboxRead, "read").Wrap(context.Canceled, "read"), observe.Abandoned},
		{fault.New(fault.OutboxRead, "read").Wrap(errors.New("500"), "read"), observe.Failed},
		{fault.New(fault.TxnAmbiguous, "lost").Wrap(context.DeadlineExceeded, "lost"), observe.Ambiguous},
		{context.Canceled, observe.Abandoned},
	} {
		if got := outcomeOf(row.err); got != row.want {
			t.Errorf("%v: %s, want %s", row.err, got, row.want)
		}
	}
}

func TestPatternsOfLabels(t *testing.T) {
	t.Parallel()
	if got := patterns([]string{"AP16.create", "AP08.once", "Put Orders", "AP16.create", "APEX.x", "AP1.x"}); got != "AP08+AP16" {
		t.Error(got)
	}
}
