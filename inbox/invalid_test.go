package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestBadConfigurationsAreRefusedByEveryCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := inbox.Config{Consumer: "portfolio", Table: b.receipts}
	for field, change := range map[string]func(*inbox.Config){
		"Config.Consumer":  func(c *inbox.Config) { c.Consumer = "" },
		"Config.Table":     func(c *inbox.Config) { c.Table.PK = "effect" },
		"Config.Maps":      func(c *inbox.Config) { c.Maps = []shardmap.Map{map13, {Version: 1, HashVersion: 1, Shards: 5}} },
		"Config.Horizon":   func(c *inbox.Config) { c.Horizon = time.Hour - 1 },
		"Config.Retention": func(c *inbox.Config) { c.Horizon, c.Retention = 2*time.Hour, time.Hour },
		"Config.Now": func(c *inbox.Config) {
			c.Now = func() time.Time { return time.Date(9999, 12, 1, 0, 0, 0, 0, time.UTC) }
		},
	} {
		config := good
		change(&config)
		received := inbox.New(config)
		errs := []error{received.Receive(filled("evt-1"), nil).Err()}
		if field != "Config.Now" {
			_, err := received.Lookup(t.Context(), b.client, filled("evt-1"))
			errs = append(errs, err, config.Validate())
		}
		for _, err := range errs {
			var invalid *inbox.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	for _, config := range []inbox.Config{
		{Consumer: "c", Maps: []shardmap.Map{{Version: 0, HashVersion: 1, Shards: 5}}},
		{Consumer: "c", Maps: make([]shardmap.Map, inbox.MaxMaps+1)}, {Consumer: "c", Table: txn.Table{SK: txn.NoSortKey}},
	} {
		if err := config.Validate(); !errors.Is(err, inbox.ErrInvalid) {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

func TestBadEventsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := map[string]string{"id": "1"}
	for _, c := range []struct {
		field  string
		event  inbox.Event
		effect map[string]string
	}{
		{"ID", inbox.Event{}, good},
		{"ID", inbox.Event{ID: "\xff"}, good},
		{"sort key", inbox.Event{ID: strings.Repeat("x", 1020)}, good},
		{"Type", inbox.Event{ID: "e", Type: "\xff"}, good},
		{"Source", inbox.Event{ID: "e", Source: "\xff"}, good},
		{"SourceVersion", inbox.Event{ID: "e", SourceVersion: -1}, good},
		{"MapVersion", inbox.Event{ID: "e", MapVersion: 2}, good},
		{"effect", inbox.Event{ID: "e"}, map[string]string{"": "x"}},
		{"effect", inbox.Event{ID: "e"}, map[string]string{"x": "\xff"}},
		{"effect", inbox.Event{ID: "e"}, map[string]string{"x": strings.Repeat("x", 1024)}},
	} {
		_, err := b.received.Process(t.Context(), nobody{t}, c.event, c.effect)
		var invalid *inbox.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("a bad %s: %v", c.field, err)
		}
	}
}

// The size of a receipt is exact: at the limit it is two units, a byte more is refused.
func TestTheLargestReceiptFitsOneUnit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := inbox.Event{ID: "evt-1"}
	size := 0
	for n := 1; n < 1024; n++ {
		if b.received.Receive(e, map[string]string{"x": strings.Repeat("x", n)}).Err() != nil {
			size = n - 1
			break
		}
	}
	committer := txn.New(b.client, txn.Config{NewMark: func() string { return strings.Repeat("m", 36) }})
	outcome, err := b.received.Process(t.Context(), committer, e, map[string]string{"x": strings.Repeat("x", size)})
	if err != nil || outcome.Commit.Total().String() != "2" {
		t.Errorf("an effect of %d bytes: %s units, %v", size, outcome.Commit.Total(), err)
	}
}

func TestAHostileEventMakesOneShortLineOfALog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hostile := strings.Repeat("x\n", 1<<19)
	for _, err := range []error{
		b.received.Receive(inbox.Event{ID: hostile}, nil).Err(),
		b.received.Receive(inbox.Event{ID: "e", Source: hostile}, nil).Err(),
		&inbox.MismatchError{Consumer: hostile, EventID: hostile, Source: hostile},
	} {
		if len(err.Error()) > 2048 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d bytes: %.200s", len(err.Error()), err)
		}
	}
}

func TestErrorsSurviveWrapping(t *testing.T) {
	t.Parallel()
	for want, err := range map[error]error{
		inbox.ErrInvalid:   &inbox.InvalidError{EventID: "evt-1", Field: "ID", Reason: "is empty"},
		inbox.ErrDuplicate: &inbox.DuplicateError{Consumer: "portfolio", EventID: "evt-1"},
		inbox.ErrMismatch:  &inbox.MismatchError{Consumer: "portfolio", EventID: "evt-1"},
		inbox.ErrNotFound:  &inbox.NotFoundError{Consumer: "portfolio", EventID: "evt-1"},
		inbox.ErrCorrupt:   &inbox.RecordError{Consumer: "portfolio", EventID: "evt-1", Attribute: "v", Reason: "is missing"},
		inbox.ErrHeldBack:  &inbox.HeldBackError{Group: "evt-1", Index: 2},
	} {
		wrapped := fmt.Errorf("handle: %w", fmt.Errorf("commit: %w", err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, want) || !errors.As(wrapped, &coded) || !strings.Contains(err.Error(), coded.Code()) || !strings.Contains(err.Error(), "evt-1") {
			t.Errorf("%v: lost its kind, its code or its event", err)
		}
	}
}

// nobody is a Committer that must not be given anything that could be sent.
type nobody struct{ t *testing.T }

func (n nobody) Commit(_ context.Context, parts ...txn.Part) (txn.Receipt, error) {
	for _, part := range parts {
		if err := part.Err(); err != nil {
			return txn.Receipt{}, err
		}
	}
	n.t.Error("a transaction would have been sent")
	return txn.Receipt{}, nil
}
