package engine

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Load returns an engine in a saved state. The document may come from anywhere: whatever an engine could not have written
// is an error. Region, account and seed are those of the document unless the configuration names others.
func Load(config Config, s *Saved) (*Engine, error) {
	if s.Version != SavedVersion {
		return nil, fmt.Errorf("it has the form %d; this version reads %d", s.Version, SavedVersion)
	}
	config.Region, config.Account = cmp.Or(config.Region, s.Region), cmp.Or(config.Account, s.Account)
	config.Seed = cmp.Or(config.Seed, s.Seed)
	if config.Region == "" || config.Account == "" {
		return nil, errors.New("it names no region or no account")
	}
	e := New(config)
	e.created, e.backlog.made = int(s.Created), s.StepsMade
	e.backlog.chance.drawn, e.past.chance.drawn = s.LagDrawn, s.PastDrawn
	streams, err := e.loadStreams(s.Streams)
	if err != nil {
		return nil, err
	}
	for i := range s.Tables {
		if err := e.loadTable(&s.Tables[i], streams); err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
	}
	for i := range s.Steps {
		if err := e.loadStep(&s.Steps[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	for i := range s.Tokens {
		if err := e.tokens.load(&s.Tokens[i]); err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
	}
	return e, nil
}

func (e *Engine) loadTable(s *savedTable, streams map[string]*stream) error {
	if err := s.Definition.wellFormed(); err != nil {
		return err
	}
	t := newTable(s.Definition)
	if _, twice := e.tables.Get(t.name); twice || e.tables.Len() >= tablesMax {
		return errors.New("it is there twice, or there are too many")
	}
	t.created, t.id, t.updating, t.throughputUpdating, t.billingChanged = s.Created, s.ID, s.Updating, s.ThroughputUpdating, s.BillingChanged
	if s.Stream != "" {
		if t.stream = streams[e.streamARN(t.name, s.Stream)]; t.stream == nil {
			return errors.New("its stream is missing")
		}
	}
	if l := s.TTL; l != nil {
		if l.Attribute == "" || len(l.Attribute) > keyNameMax || l.Changed.IsZero() {
			return errors.New("its time to live is incomplete")
		}
		t.ttl = timeToLive{attribute: l.Attribute, enabled: l.Enabled, changed: l.Changed}
	}
	if err := e.loadWork(t, s.Work); err != nil {
		return err
	}
	if err := t.keepIndexes(s.Indexes); err != nil {
		return err
	}
	if err := e.loadItems(t, s); err != nil {
		return err
	}
	e.tables.Set(t.name, t)
	e.scheduleAll(t)
	return nil
}

func (e *Engine) loadWork(t *table, s *savedWork) error {
	if s == nil {
		return nil
	}
	d := t.globalDefinition(s.Index)
	if d == nil || s.Phase < workAllocating || s.Phase > workDeleting {
		return errors.New("the index that changes is not one of its own")
	}
	t.work = &indexWork{definition: *d, phase: s.Phase, until: s.Until}
	e.working = append(e.working, t)
	return nil
}

// keepIndexes keeps the indexes that were in service: all but one that is not yet, or no longer.
func (t *table) keepIndexes(saved []savedIndex) error {
	for _, s := range saved {
		ix := t.index(s.Name)
		if ix == nil {
			return errors.New("an index is not defined")
		}
		if s.Behind && ix.local {
			return errors.New("a local index cannot be behind")
		}
		ix.updating = s.Updating
	}
	in := func(ix *index) bool {
		return slices.ContainsFunc(saved, func(s savedIndex) bool { return s.Name == ix.name })
	}
	missing := ""
	if w := t.work; w != nil && w.phase != workBackfilling {
		missing = *w.definition.IndexName
	}
	for _, ix := range t.indexes {
		if in(ix) == (ix.name == missing) {
			return errors.New("an index is missing, or there before its time")
		}
	}
	t.indexes = slices.DeleteFunc(t.indexes, func(ix *index) bool { return !in(ix) })
	return nil
}

// loadItems stores the items, and gives each index what it shows.
func (e *Engine) loadItems(t *table, s *savedTable) error {
	behind := map[*index]bool{}
	for _, saved := range s.Indexes {
		if !saved.Behind {
			continue
		}
		ix := t.index(saved.Name)
		behind[ix] = true
		for _, item := range saved.Entries {
			key, entry, err := e.shown(t, ix, item)
			if err != nil {
				return err
			}
			if _, twice := ix.rows.Set(key, entry); twice {
				return errors.New("an index entry is there twice")
			}
			ix.bytes += entry.size
		}
	}
	for _, item := range s.Items {
		if f := t.keys.checkItem(item); f != nil {
			return errors.New("an item has not the table's key")
		}
		r := row{item: item, size: item.Size()}
		if r.size > capacity.MaxItemBytes {
			return errors.New("an item is too large")
		}
		key := string(t.keys.encode(e.config.Seed, item))
		if t.item(key).exists() {
			return errors.New("an item is there twice")
		}
		c := e.newChange(t, key, row{}, item)
		t.bytes += t.replace(key, key, row{}, r)
		for _, d := range c.indexes {
			if !behind[d.index] {
				d.index.bytes += d.index.replace("", d.afterKey, row{}, d.after)
			}
		}
		c.collect()
	}
	return nil
}

// shown is an index entry by what it shows, with its ordering key.
func (e *Engine) shown(t *table, ix *index, item value.Item) (key string, entry row, err error) {
	if f := t.keys.checkItem(item); f != nil {
		return "", row{}, errors.New("an index entry has not the table's key")
	}
	key, entry, ok := ix.entry(e.config.Seed, string(t.keys.encode(e.config.Seed, item)), item)
	if !ok || entry.item != item || entry.size > capacity.MaxItemBytes {
		return "", row{}, errors.New("an index entry is none of its index")
	}
	return key, entry, nil
}

func (e *Engine) loadStep(s *savedStep) error {
	t, ok := e.tables.Get(s.Table)
	if !ok {
		return errors.New("its table is missing")
	}
	ix := t.index(s.Index)
	if ix == nil || ix.local {
		return errors.New("its index is missing")
	}
	key, entry, err := e.shown(t, ix, s.Entry)
	if err != nil {
		return err
	}
	loaded := step{owner: entryOwner{ix, entry.base}, key: key, row: entry, made: s.Made, due: s.Due, rank: s.Rank, number: s.Number}
	if s.Remove {
		loaded.row, loaded.gone = row{}, s.Entry
	}
	heap.Push(&e.backlog.steps, loaded)
	end := e.backlog.tails[loaded.owner]
	end.rank, end.waiting = max(end.rank, s.Rank), end.waiting+1
	if s.Due.After(end.due) {
		end.due = s.Due
	}
	e.backlog.tails[loaded.owner] = end
	return nil
}

func (ts *tokens) load(s *savedToken) error {
	r := tokenRecord{completes: s.Completes, expires: s.Expires}
	if s.Name == "" || len(s.Digest) != len(r.digest) {
		return errors.New("its name or digest is missing")
	}
	copy(r.digest[:], s.Digest)
	if len(s.Canceled) > 0 {
		var reasons []reason
		for _, c := range s.Canceled {
			reasons = append(reasons, reason{code: c.Code, message: c.Message, item: c.Item})
		}
		r.canceled = canceled(reasons)
	} else {
		r.replay = &bills{kind: readBill}
		for _, b := range s.Bills {
			// Only names are looked at: the table may be gone by now.
			loaded := &bill{table: &table{name: b.Table}, kind: readBill, base: b.Base}
			for _, a := range b.Arms {
				loaded.arms = append(loaded.arms, arm{&index{name: a.Index, local: a.Local}, a.Units})
			}
			r.replay.list = append(r.replay.list, loaded)
		}
	}
	ts.known[s.Name] = r
	ts.order = append(ts.order, s.Name)
	return nil
}

// wellFormed holds a definition against what newTable and the requests take for granted.
func (d *definition) wellFormed() error {
	if d.TableName == nil || d.checkModel() != nil {
		return errors.New("its definition is incomplete")
	}
	kinds := d.kinds()
	if len(kinds) < len(d.AttributeDefinitions) {
		return errors.New("an attribute is defined twice")
	}
	schemas, names := [][]keyElement{d.KeySchema}, map[string]bool{}
	for i, ix := range slices.Concat(d.LocalSecondaryIndexes, d.GlobalSecondaryIndexes) {
		schemas = append(schemas, ix.KeySchema)
		if names[*ix.IndexName] || checkProjection(ix.Projection) != nil {
			return errors.New("an index is defined twice or has no projection")
		}
		names[*ix.IndexName] = true
		if i < len(d.LocalSecondaryIndexes) && (len(d.KeySchema) < 2 || d.checkLocalIndex(ix) != nil) {
			return errors.New("a local index has not the table's partitions")
		}
	}
	for _, schema := range schemas {
		if checkKeyTypes(schema) != nil || len(schema) > 1 && *schema[0].AttributeName == *schema[1].AttributeName {
			return errors.New("a key is not one")
		}
		for _, k := range schema {
			if _, ok := kinds[*k.AttributeName]; !ok {
				return errors.New("a key attribute is not defined")
			}
		}
	}
	if (d.onDemand() && d.ProvisionedThroughput != nil) || (!d.onDemand() && d.ProvisionedThroughput == nil) {
		return errors.New("its throughput does not fit its billing mode")
	}
	return nil
}

// Region is where the engine is.
func (e *Engine) Region() string { return e.config.Region }
