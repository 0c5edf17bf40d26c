package deployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// MissingError says that a deployment does not have a part.
type MissingError struct {
	// Part is how --table names it, for example "outbox:orders".
	Part string
	// Has are the names that are there, of a part that has names.
	Has []string
	// Nothing says that there is no part at all, and no file.
	Nothing bool
}

func (e *MissingError) Error() string {
	if len(e.Has) > 0 {
		return fmt.Sprintf("the deployment has no %s; it has %s", e.Part, strings.Join(e.Has, ", "))
	}
	if e.Nothing {
		return fmt.Sprintf("no deployment file: give --config FILE or set DYNAFIN_CONFIG, or name a table with --table %s=TABLE", e.Part)
	}
	return fmt.Sprintf("the deployment has no %s: add it to the deployment file, or name its table with --table %s=TABLE", e.Part, e.Part)
}

// Missing says that a part is not there.
func (d *Deployment) Missing(part string) error {
	return &MissingError{Part: part, Nothing: d.File == "" && len(d.parts()) == 0}
}

// At returns the table of a place.
func (p Place) At() txn.Table { return txn.Table{Name: p.Table, PK: p.PK, SK: p.SK} }

// fixed is a map of n shards, the package's default if n is 0.
func fixed(n int) shardmap.Map {
	if n == 0 {
		return shardmap.Map{}
	}
	return shardmap.Fixed(n)
}

// RequestStore returns the idempotency records.
func (d *Deployment) RequestStore() (*idempotency.Requests, error) {
	if d.Requests == nil {
		return nil, d.Missing("requests")
	}
	r := d.Requests
	return idempotency.New(idempotency.Config{Table: r.At(), Index: r.Index, IndexPK: r.IndexPK, IndexSK: r.IndexSK, Map: fixed(r.Shards), Now: d.Now}), nil
}

// NameStore returns the unique names.
func (d *Deployment) NameStore() (*sentinel.Names, error) {
	if d.Names == nil {
		return nil, d.Missing("names")
	}
	return sentinel.New(sentinel.Config{Table: d.Names.At(), Now: d.Now}), nil
}

// Service is the outbox of one service.
type Service struct {
	Name  string
	Table string
	*outbox.Outbox
}

// Outboxes returns those of the named services, of all if none is named.
func (d *Deployment) Outboxes(services ...string) ([]Service, error) {
	found, err := chosen(d, "outbox:", d.Outbox, func(o Outbox) string { return o.Service }, services)
	var all []Service
	for _, o := range found {
		all = append(all, Service{o.Service, o.Table, outbox.New(outbox.Config{
			Service: o.Service, Table: o.At(), Index: o.Index, IndexPK: o.IndexPK, IndexSK: o.IndexSK, Map: fixed(o.Shards), Ordered: o.Ordered,
		})})
	}
	return all, err
}

// Consumer is the inbox of one consumer.
type Consumer struct {
	Name  string
	Table txn.Table
	*inbox.Inbox
}

// Inboxes returns those of the named consumers, of all if none is named.
func (d *Deployment) Inboxes(consumers ...string) ([]Consumer, error) {
	found, err := chosen(d, "inbox:", d.Inbox, func(in Inbox) string { return in.Consumer }, consumers)
	var all []Consumer
	for _, in := range found {
		config := inbox.Config{Consumer: in.Consumer, Table: in.At(), Now: d.Now}
		if in.Shards > 0 {
			config.Maps = []shardmap.Map{shardmap.Fixed(in.Shards)}
		}
		all = append(all, Consumer{in.Consumer, in.At(), inbox.New(config)})
	}
	return all, err
}

// View is one projection.
type View struct {
	Name string
	*projection.Projection
}

// Views returns the named projections, all if none is named.
func (d *Deployment) Views(client projection.Client, names ...string) ([]View, error) {
	found, err := chosen(d, "projection:", d.Projections, func(p Projection) string { return p.Name }, names)
	var all []View
	for _, p := range found {
		all = append(all, View{p.Name, projection.New(client, projection.Config{Name: p.Name, Table: p.At(), Map: fixed(p.Shards), Now: d.Now})})
	}
	return all, err
}

// Books returns the ledger.
func (d *Deployment) Books() (*ledger.Ledger, error) {
	if d.Ledger == nil {
		return nil, d.Missing("ledger")
	}
	l := d.Ledger
	return ledger.New(ledger.Config{Table: l.At(), DueIndex: l.DueIndex, HeldIndex: l.HeldIndex, Now: d.Now}), nil
}

// Desk returns the reconciliation.
func (d *Deployment) Desk(client reconcile.Client) (*reconcile.Reconciler, error) {
	if d.Reconcile == nil {
		return nil, d.Missing("reconcile")
	}
	r := d.Reconcile
	currencies, err := d.Assets()
	if err != nil {
		return nil, err
	}
	return reconcile.New(client, reconcile.Config{
		Table: r.At(), Index: r.Index, IndexPK: r.IndexPK, IndexSK: r.IndexSK, Map: fixed(r.Shards), Currencies: currencies, Now: d.Now,
	}), nil
}

// chosen returns the entries with these names, all if there are none. An entry that is missing is an error, and so is
// having none at all.
func chosen[T any](d *Deployment, part string, entries []T, name func(T) string, names []string) ([]T, error) {
	if len(entries) == 0 {
		return nil, d.Missing(part + cmp.Or(strings.Join(names, ","), "NAME"))
	}
	if len(names) == 0 {
		return entries, nil
	}
	var has []string
	byName := map[string]T{}
	for _, e := range entries {
		has = append(has, part+name(e))
		byName[name(e)] = e
	}
	var found []T
	for _, n := range names {
		e, ok := byName[n]
		if !ok {
			return nil, &MissingError{Part: part + n, Has: has}
		}
		found = append(found, e)
	}
	return found, nil
}

// Assets returns what amounts may be of: the currencies of ISO 4217, and the securities of the deployment.
func (d *Deployment) Assets() (money.Registry, error) {
	var more []money.Currency
	if d.Ledger != nil {
		for _, code := range slices.Sorted(maps.Keys(d.Ledger.Securities)) {
			c, err := money.Define(code, d.Ledger.Securities[code], money.KindSecurity)
			if err != nil {
				return money.Registry{}, fmt.Errorf("security %s of the deployment: %w", code, err)
			}
			more = append(more, c)
		}
	}
	return money.NewRegistry(more...)
}

// Schema returns the tables, with all that the library needs of them.
func (d *Deployment) Schema() (schema.Deployment, error) {
	s := schema.Deployment{Name: d.Name, HomeRegion: d.HomeRegion}
	if d.Requests != nil {
		requests, _ := d.RequestStore()
		s.Tables = append(s.Tables, requests.Schema())
	}
	if d.Names != nil {
		names, _ := d.NameStore()
		s.Tables = append(s.Tables, names.Schema(d.Names.Kinds...))
	}
	if len(d.Outbox) > 0 {
		services, _ := d.Outboxes()
		for _, o := range services {
			s.Tables = append(s.Tables, o.Schema())
		}
	}
	if len(d.Inbox) > 0 {
		consumers, _ := d.Inboxes()
		for _, in := range consumers {
			s.Tables = append(s.Tables, in.Schema())
		}
	}
	if d.Ledger != nil {
		books, _ := d.Books()
		s.Tables = append(s.Tables, books.Schema())
	}
	if len(d.Projections) > 0 {
		views, _ := d.Views(nil)
		for _, v := range views {
			s.Tables = append(s.Tables, v.Schema())
		}
	}
	if d.Reconcile != nil {
		desk, err := d.Desk(nil)
		if err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, desk.Schema())
	}
	if d.Audit != nil {
		s.Tables = append(s.Tables, d.Audit.Schema())
	}
	if len(s.Tables) == 0 {
		return s, d.Missing("PART")
	}
	return s, nil
}
