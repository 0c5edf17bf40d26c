// Package deployment says what of the library is where: which tables hold requests, events, books, and under which names.
// It is a JSON document that a team keeps beside its code, and makes the library's own values from it.
//
//	{"name": "brokerage", "homeRegion": "eu-west-1", "tenants": ["acme"],
//	 "requests": {"table": "Orders"}, "names": {"table": "Orders", "kinds": ["CLIENTORDER"]},
//	 "outbox": [{"service": "orders", "table": "Orders"}], "inbox": [{"consumer": "portfolio", "table": "Portfolio"}],
//	 "ledger": {"table": "Books"}, "projections": [{"name": "positions", "table": "Portfolio"}],
//	 "reconcile": {"table": "Reconciliation"}}
//
// A part that is not there is not looked at. What is left out of a part is the library's default.
package deployment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Deployment is what of the library is where.
type Deployment struct {
	Name       string   `json:"name,omitempty"`
	HomeRegion string   `json:"homeRegion,omitempty"`
	Tenants    []string `json:"tenants,omitempty"`

	Requests    *Requests    `json:"requests,omitempty"`
	Names       *Names       `json:"names,omitempty"`
	Outbox      []Outbox     `json:"outbox,omitempty"`
	Inbox       []Inbox      `json:"inbox,omitempty"`
	Ledger      *Ledger      `json:"ledger,omitempty"`
	Projections []Projection `json:"projections,omitempty"`
	Reconcile   *Reconcile   `json:"reconcile,omitempty"`
	Audit       *Audit       `json:"audit,omitempty"`

	// File is where it was loaded from, if it was.
	File string `json:"-"`
	// Now is the clock of everything that is made from it.
	Now func() time.Time `json:"-"`
}

// Place is where a part is.
type Place struct {
	Table string `json:"table"`
	// PK and SK are the key attributes, by default "PK" and "SK".
	PK string `json:"pk,omitempty"`
	SK string `json:"sk,omitempty"`
}

// Requests are the idempotency records.
type Requests struct {
	Place
	Index   string `json:"index,omitempty"`
	IndexPK string `json:"indexPk,omitempty"`
	IndexSK string `json:"indexSk,omitempty"`
	// Shards of the index for each tenant.
	Shards int `json:"shards,omitempty"`
}

// Names are the unique names.
type Names struct {
	Place
	Kinds []string `json:"kinds,omitempty"`
}

// Outbox are the events of one service.
type Outbox struct {
	Service string `json:"service"`
	Place
	Index   string `json:"index,omitempty"`
	IndexPK string `json:"indexPk,omitempty"`
	IndexSK string `json:"indexSk,omitempty"`
	Shards  int    `json:"shards,omitempty"`
	Ordered bool   `json:"ordered,omitempty"`
}

// Inbox are the receipts of one consumer.
type Inbox struct {
	Consumer string `json:"consumer"`
	Place
	Shards int `json:"shards,omitempty"`
}

// Ledger are the books.
type Ledger struct {
	Place
	DueIndex  string `json:"dueIndex,omitempty"`
	HeldIndex string `json:"heldIndex,omitempty"`
	// Accounts are those that trial balances and status look at, where no scan is allowed.
	Accounts []string `json:"accounts,omitempty"`
	// Securities are assets besides the currencies of ISO 4217: their codes and decimal places.
	Securities map[string]int `json:"securities,omitempty"`
}

// Projection is one read model.
type Projection struct {
	Name string `json:"name"`
	Place
	Shards int `json:"shards,omitempty"`
}

// Reconcile are batches and breaks.
type Reconcile struct {
	Place
	Index   string `json:"index,omitempty"`
	IndexPK string `json:"indexPk,omitempty"`
	IndexSK string `json:"indexSk,omitempty"`
	Shards  int    `json:"shards,omitempty"`
}

// Audit is where the notes of what operators changed are, and the runs of bulk changes.
type Audit struct {
	Place
}

// Load reads a deployment file.
func Load(path string) (Deployment, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Deployment{}, err
	}
	d, err := Parse(text)
	if err != nil {
		return Deployment{}, fmt.Errorf("%s: %w", path, err)
	}
	d.File = path
	return d, nil
}

// Parse reads a deployment. A field that it does not know is an error: a misspelt one would be a part that nobody looks at.
func Parse(text []byte) (Deployment, error) {
	var d Deployment
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return Deployment{}, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Deployment{}, errors.New("there is more behind the document")
	}
	return d, d.check()
}

func (d *Deployment) check() error {
	seen := map[string]bool{}
	for _, p := range d.parts() {
		if p.table == "" {
			return fmt.Errorf("%s has no table", p.name)
		}
		if strings.HasSuffix(p.name, ":") {
			return fmt.Errorf("%s without a name", strings.TrimSuffix(p.name, ":"))
		}
		if seen[p.name] {
			return fmt.Errorf("%s is there twice", p.name)
		}
		seen[p.name] = true
	}
	return nil
}

type part struct{ name, table string }

// parts lists the parts that are there, in the order of the document.
func (d *Deployment) parts() (all []part) {
	if d.Requests != nil {
		all = append(all, part{"requests", d.Requests.Table})
	}
	if d.Names != nil {
		all = append(all, part{"names", d.Names.Table})
	}
	for _, o := range d.Outbox {
		all = append(all, part{"outbox:" + o.Service, o.Table})
	}
	for _, in := range d.Inbox {
		all = append(all, part{"inbox:" + in.Consumer, in.Table})
	}
	if d.Ledger != nil {
		all = append(all, part{"ledger", d.Ledger.Table})
	}
	for _, p := range d.Projections {
		all = append(all, part{"projection:" + p.Name, p.Table})
	}
	if d.Reconcile != nil {
		all = append(all, part{"reconcile", d.Reconcile.Table})
	}
	if d.Audit != nil {
		all = append(all, part{"audit", d.Audit.Table})
	}
	return all
}

// Set places one part: "requests=Orders", "outbox:orders=Orders".
func (d *Deployment) Set(text string) error {
	name, table, ok := strings.Cut(text, "=")
	if !ok || table == "" {
		return errors.New("want PART=NAME, for example requests=Orders")
	}
	kind, of, named := strings.Cut(name, ":")
	if needs := kind == "outbox" || kind == "inbox" || kind == "projection"; needs != named || needs && of == "" {
		if needs {
			return fmt.Errorf("%s needs a name, for example %s:orders=%s", kind, kind, table)
		}
		if named {
			return fmt.Errorf("%s takes no name", kind)
		}
	}
	return d.place(kind, of, table)
}

func (d *Deployment) place(kind, of, table string) error {
	at := Place{Table: table}
	switch kind {
	case "requests":
		entry(&d.Requests).Place = at
	case "names":
		entry(&d.Names).Place = at
	case "ledger":
		entry(&d.Ledger).Place = at
	case "reconcile":
		entry(&d.Reconcile).Place = at
	case "audit":
		entry(&d.Audit).Place = at
	case "outbox":
		named(&d.Outbox, func(p *Outbox) *string { return &p.Service }, of).Place = at
	case "inbox":
		named(&d.Inbox, func(p *Inbox) *string { return &p.Consumer }, of).Place = at
	case "projection":
		named(&d.Projections, func(p *Projection) *string { return &p.Name }, of).Place = at
	default:
		return fmt.Errorf("%q is no part: requests, names, outbox:SERVICE, inbox:CONSUMER, ledger, projection:NAME, reconcile, audit", kind)
	}
	return nil
}

// named returns the part of a list that has the name, which it adds where there is none.
func named[P any](list *[]P, name func(*P) *string, of string) *P {
	for i := range *list {
		if p := &(*list)[i]; *name(p) == of {
			return p
		}
	}
	*list = append(*list, *new(P))
	added := &(*list)[len(*list)-1]
	*name(added) = of
	return added
}

// entry returns what a pointer points at, a new value if it is nil.
func entry[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// Tables returns the names of all tables, each once, in the order of the document.
func (d *Deployment) Tables() (names []string) {
	seen := map[string]bool{}
	for _, p := range d.parts() {
		if !seen[p.table] {
			seen[p.table] = true
			names = append(names, p.table)
		}
	}
	return names
}
