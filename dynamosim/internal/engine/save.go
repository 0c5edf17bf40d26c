package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Save returns the state at a moment. The same state gives the same document, however it came about.
func (e *Engine) Save(now time.Time) Saved {
	e.arrive(now)
	s := Saved{
		Version: SavedVersion, At: now.UTC(), Region: e.config.Region, Account: e.config.Account, Seed: e.config.Seed,
		Created: uint64(e.created), StepsMade: e.backlog.made, LagDrawn: e.backlog.chance.drawn, PastDrawn: e.past.chance.drawn,
		Tables: []savedTable{},
	}
	behind := map[*index]bool{}
	tables := map[*index]string{}
	for _, step := range e.backlog.steps {
		behind[step.owner.index] = true
	}
	e.tables.Scan(func(_ string, t *table) bool {
		s.Tables = append(s.Tables, saveTable(t, behind))
		for _, ix := range t.indexes {
			tables[ix] = t.name
		}
		if t.stream != nil {
			if _, known := e.streams.Get(t.stream.arn); !known {
				s.Streams = append(s.Streams, saveStream(t.stream, true))
			}
		}
		return true
	})
	e.streams.Scan(func(_ string, stream *stream) bool {
		s.Streams = append(s.Streams, saveStream(stream, false))
		return true
	})
	for _, step := range e.backlog.steps {
		s.Steps = append(s.Steps, saveStep(step, tables[step.owner.index]))
	}
	slices.SortFunc(s.Steps, func(a, b savedStep) int { return cmp.Compare(a.Number, b.Number) })
	for _, name := range e.tokens.order {
		s.Tokens = append(s.Tokens, saveToken(name, e.tokens.known[name]))
	}
	return s
}

func saveTable(t *table, behind map[*index]bool) savedTable {
	s := savedTable{
		Definition: t.definition, ID: t.id, Created: t.created.UTC(), Updating: t.updating.UTC(), ThroughputUpdating: t.throughputUpdating,
		BillingChanged: t.billingChanged, Items: []value.Item{},
	}
	if t.stream != nil {
		s.Stream = t.stream.label
	}
	if !t.ttl.changed.IsZero() {
		s.TTL = &savedTTL{Attribute: t.ttl.attribute, Enabled: t.ttl.enabled, Changed: t.ttl.changed.UTC()}
	}
	if w := t.work; w != nil {
		s.Work = &savedWork{Index: *w.definition.IndexName, Phase: w.phase, Until: w.until.UTC()}
	}
	for _, ix := range t.indexes {
		saved := savedIndex{Name: ix.name, Updating: ix.updating.UTC(), Behind: behind[ix]}
		if saved.Behind {
			saved.Entries = itemsOf(&ix.tree)
		}
		s.Indexes = append(s.Indexes, saved)
	}
	s.Items = append(s.Items, itemsOf(&t.tree)...)
	return s
}

func itemsOf(t *tree) (items []value.Item) {
	t.rows.Scan(func(_ string, r row) bool {
		items = append(items, r.item)
		return true
	})
	return items
}

func saveStep(s step, table string) savedStep {
	saved := savedStep{
		Table: table, Index: s.owner.index.name, Entry: s.row.item, Made: s.made.UTC(), Due: s.due.UTC(), Rank: s.rank, Number: s.number,
	}
	if !s.row.exists() {
		saved.Entry, saved.Remove = s.gone, true
	}
	return saved
}

func saveStream(s *stream, forgotten bool) savedStream {
	saved := savedStream{
		Table: s.table, Label: s.label, View: s.view, Keys: s.keys, Created: s.created.UTC(), Disabled: s.disabled.UTC(), Forgotten: forgotten,
		Given: s.given, Counted: s.waiting.counted, Stamp: s.stamp, Full: s.waiting.full,
	}
	for _, a := range s.schema.attrs() {
		saved.Kinds = append(saved.Kinds, a.kind.String())
	}
	for _, w := range s.waiting.list {
		saved.Waiting = append(saved.Waiting, savedWaiting{Record: saveRecord(w.record), Due: w.due.UTC(), Slot: w.slot, Chained: w.chain != ""})
	}
	for _, sh := range s.shards {
		shard := savedShard{
			ID: sh.id, Parent: sh.parent, Low: sh.low, High: sh.high, Opened: sh.opened.UTC(), Closed: sh.closed.UTC(),
			Start: sh.start, End: sh.end, Trimmed: sh.trimmed, Taken: sh.taken,
		}
		for _, r := range sh.records {
			shard.Records = append(shard.Records, saveRecord(r))
		}
		saved.Shards = append(saved.Shards, shard)
	}
	return saved
}

func saveRecord(r record) savedRecord {
	return savedRecord{Number: r.number, ID: r.id, Created: r.created, Event: r.event, Origin: r.origin, Keys: r.keys, Before: r.before, After: r.after}
}

func saveToken(name string, r tokenRecord) savedToken {
	saved := savedToken{Name: name, Digest: r.digest[:], Completes: r.completes.UTC(), Expires: r.expires.UTC()}
	if r.canceled != nil {
		for _, reason := range r.canceled.reasons {
			saved.Canceled = append(saved.Canceled, savedReason{Code: reason.code, Message: reason.message, Item: reason.item})
		}
		return saved
	}
	for _, b := range r.replay.list {
		bill := savedBill{Table: b.table.name, Base: b.base}
		for _, a := range b.arms {
			bill.Arms = append(bill.Arms, savedArm{Index: a.index.name, Local: a.index.local, Units: a.units})
		}
		saved.Bills = append(saved.Bills, bill)
	}
	return saved
}
