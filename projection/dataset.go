package projection

import (
	"context"
	"iter"
	"time"

	"github.com/dynafin/dynafin/export"
)

// Dataset says what a full source is.
type Dataset struct {
	// Name names it: the ARN of an export.
	Name string
	// Digest stands for all that it has; the same name with another digest is another dataset.
	Digest string
	// AsOf is the time that it has everything up to.
	AsOf time.Time
	// Records is how many records it has.
	Records int64
}

// Source is a dataset from which a projection is rebuilt.
type Source interface {
	// Dataset says what it is, each time the same.
	Dataset() Dataset
	// Verify holds all of it against its checksums and counts.
	Verify(ctx context.Context) error
	// Events reads all its events, from the first, in any order.
	Events(ctx context.Context) iter.Seq2[Event, error]
}

// EventOf returns the event that a record has. ok is false for a record that has none: of another kind, or deleted. With
// [export.Map] it also makes the events of an incremental export, to catch up with.
type EventOf func(r export.Record) (e Event, ok bool, err error)

// FromExport returns the events of a table export as the source of a rebuild.
func FromExport(e *export.Export, event EventOf) Source { return exported{e, event} }

type exported struct {
	export *export.Export
	event  EventOf
}

func (x exported) Dataset() Dataset {
	m := x.export.Manifest()
	return Dataset{Name: m.ExportARN, Digest: m.Digest, AsOf: m.Until(), Records: m.Items}
}

func (x exported) Verify(ctx context.Context) error { return x.export.Verify(ctx) }

func (x exported) Events(ctx context.Context) iter.Seq2[Event, error] {
	return export.Map(x.export.Records(ctx, export.Position{}), x.event)
}
