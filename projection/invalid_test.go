package projection_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestBadConfigurationsAreRefusedByEveryCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := projection.Config{Name: "portfolio", Table: b.points}
	for field, change := range map[string]func(*projection.Config){
		"Config.Name":      func(c *projection.Config) { c.Name = "" },
		"Config.Table":     func(c *projection.Config) { c.Table.PK = "version" },
		"Config.Map":       func(c *projection.Config) { c.Map = shardmap.Map{Version: 1, HashVersion: 1} },
		"Config.First":     func(c *projection.Config) { c.First = -1 },
		"Config.ParkedMax": func(c *projection.Config) { c.ParkedMax = -1 },
		"Config.Poll":      func(c *projection.Config) { c.Poll = -1 },
	} {
		config := good
		change(&config)
		p := projection.New(b.client, config)
		_, applied := p.Namespace(1).Apply(t.Context(), changed("order-1", 1))
		_, read := p.Alias(t.Context())
		_, started := p.Namespace(2).Start(t.Context(), "ann")
		errs := []error{config.Validate(), applied, read, started}
		for gap, err := range p.Namespace(1).Gaps(t.Context()) {
			errs = append(errs, err)
			_ = gap
		}
		for _, err := range errs {
			var invalid *projection.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	for _, config := range []projection.Config{
		{Name: strings.Repeat("x", 129)}, {Name: "p", Table: txn.Table{SK: txn.NoSortKey}}, {Name: "\xff"},
	} {
		if err := config.Validate(); !errors.Is(err, projection.ErrInvalid) {
			t.Errorf("%.20q: %v", config.Name, err)
		}
	}
	for _, number := range []int{0, -1, projection.MaxNamespace + 1} {
		if _, err := b.p.Namespace(number).Apply(t.Context(), changed("order-1", 1)); !errors.Is(err, projection.ErrInvalid) {
			t.Errorf("namespace %d: %v", number, err)
		}
	}
}

func TestBadEventsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		field  string
		change func(*projection.Event)
	}{
		{"Source", func(e *projection.Event) { e.Source = "" }},
		{"Source", func(e *projection.Event) { e.Source = "\xff" }},
		{"Source", func(e *projection.Event) { e.Source = strings.Repeat("x", projection.MaxSourceBytes+1) }},
		{"Version", func(e *projection.Event) { e.Version = 0 }},
		{"Version", func(e *projection.Event) { e.Version = projection.MaxVersion + 1 }},
		{"ID", func(e *projection.Event) { e.ID = "\xff" }},
		{"Type", func(e *projection.Event) { e.Type = "\xff" }},
		{"OccurredAt", func(e *projection.Event) { e.OccurredAt = time.Time{} }},
		{"OccurredAt", func(e *projection.Event) { e.OccurredAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"Payload", func(e *projection.Event) { e.Payload = make([]byte, 400<<10) }},
	} {
		e := changed("order-1", 1)
		c.change(&e)
		_, err := b.ns.Apply(t.Context(), e)
		var invalid *projection.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field || len(err.Error()) > 2048 {
			t.Errorf("a bad %s: %.200v", c.field, err)
		}
	}
	// The longest source, of bytes that are escaped, at the highest version, can be parked.
	e := changed(strings.Repeat("#", projection.MaxSourceBytes), projection.MaxVersion)
	if out, err := b.ns.Apply(t.Context(), e); err != nil || out.Result != projection.Parked {
		t.Errorf("the longest source: %+v, %v", out, err)
	}
	e.Version = 1
	e.Payload = make([]byte, 390<<10)
	if _, err := b.ns.Apply(t.Context(), e); err != nil {
		t.Errorf("a large payload: %v", err)
	}
}

// A projection whose sources begin elsewhere waits for that version.
func TestSourcesBeginWhereTheConfigurationSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ns = b.projection(b.client, projection.Config{First: 10}).Namespace(1)
	b.apply(t, "order-1", 11, projection.Parked)
	b.apply(t, "order-1", 10, projection.Applied)
	if seen := b.seen(t, 1, "order-1"); seen != "10 11 " {
		t.Errorf("the view saw %q", seen)
	}
	if _, err := b.ns.Apply(t.Context(), changed("order-1", 9)); !errors.Is(err, projection.ErrInvalid) {
		t.Errorf("before the first: %v", err)
	}
}

func TestErrorsSurviveWrapping(t *testing.T) {
	t.Parallel()
	for want, err := range map[error]error{
		projection.ErrInvalid:  &projection.InvalidError{Source: "order-1", Version: 1, Field: "ID", Reason: "is bad"},
		projection.ErrOverflow: &projection.OverflowError{Source: "order-1", Version: 9, Missing: 2, Parked: 100},
		projection.ErrMismatch: &projection.MismatchError{Source: "order-1", Version: 9},
		projection.ErrDrain:    &projection.DrainError{Source: "order-1", Version: 9, Err: errBelow},
		projection.ErrUnproved: &projection.UnprovedError{Name: "order-1", Namespace: 2, Faults: []string{"x"}},
		projection.ErrState:    &projection.StateError{Name: "order-1", Namespace: 2, Reason: "x"},
		projection.ErrCorrupt:  &projection.RecordError{PK: "p", SK: "order-1", Attribute: "v"},
	} {
		wrapped := fmt.Errorf("handle: %w", fmt.Errorf("apply: %w", err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, want) || !errors.As(wrapped, &coded) || !strings.Contains(err.Error(), coded.Code()) || !strings.Contains(err.Error(), "order-1") {
			t.Errorf("%v: lost its kind, its code or its source", err)
		}
	}
}
