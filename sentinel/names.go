package sentinel

import (
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

// ClientOrder is the kind of a client order ID: the name by which a client knows its order (AP17, route IDX18).
const ClientOrder = "CLIENTORDER"

// MaxRecordBytes is how large the record of a name may become. It is one write unit, so that a reservation costs two
// units in a transaction whatever the names are.
const MaxRecordBytes = capacity.WriteUnitBytes

// DefaultTable is the table of a Config that names none.
const DefaultTable = "Names"

// Config says where names live. The zero value works.
type Config struct {
	// Table holds the records of names; it may be shared with other records. Default: "Names" with the key
	// attributes "PK" and "SK".
	Table txn.Table
	// Now tells the time that is stored for people; nothing is decided by it. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told of every Lookup. The parts are told of by the Commit.
	Observer observe.Observer
}

// Names makes the parts of transactions that reserve, move and release names. It is safe for concurrent use.
type Names struct {
	table txn.Table
	now   func() time.Time
	watch watch.Watch
}

// New returns Names for one table.
func New(config Config) *Names {
	n := &Names{table: config.Table.WithDefaults(DefaultTable), now: config.Now}
	if n.now == nil {
		n.now = time.Now
	}
	n.watch = watch.New("sentinel", "", config.Observer, n.now)
	return n
}

// Claim says which name is wanted, for whom, and by which command. All fields are required and compared byte by byte:
// the package folds neither case nor Unicode forms nor spaces. Normalise before, if two spellings shall be one name.
type Claim struct {
	// Tenant is the namespace: the same name under two tenants is two names.
	Tenant string
	// Kind is the namespace within the tenant, an upper-case word: "CLIENTORDER", "EMAIL".
	Kind string
	// Name is what must be unique within tenant and kind.
	Name string
	// Owner is the ID of what the name belongs to, for example the order.
	Owner string
	// Command identifies the command that takes the name. Who finds the name taken learns by it whether an earlier run of
	// the same command took it, so use the idempotency key; a fingerprint covers the content only, and two requests
	// of equal content would count as one.
	Command string
}

// Held is a name in use as it was read. Version rises with every change of the record and never falls, so a Held
// fits one state of the name only.
type Held struct {
	Claim
	Version int64
	// Since is when this claim was made.
	Since time.Time
}

// claimKey checks a claim and returns the key of its record.
func (n *Names) claimKey(c Claim) (keys.Key, error) {
	for _, field := range []struct{ name, text string }{{"Owner", c.Owner}, {"Command", c.Command}} {
		switch {
		case field.text == "":
			return keys.Key{}, &InvalidError{c.Tenant, c.Kind, c.Name, field.name, "is empty"}
		case !utf8.ValidString(field.text):
			return keys.Key{}, &InvalidError{c.Tenant, c.Kind, c.Name, field.name, "is not valid UTF-8"}
		}
	}
	return n.nameKey(c.Tenant, c.Kind, c.Name)
}

// heldKey checks a held name and returns the key of its record.
func (n *Names) heldKey(h Held) (keys.Key, error) {
	switch {
	case h.Owner == "":
		return keys.Key{}, &InvalidError{h.Tenant, h.Kind, h.Name, "Owner", "is empty"}
	case h.Version < 1:
		return keys.Key{}, &InvalidError{h.Tenant, h.Kind, h.Name, "Version", "is not one that Lookup returned"}
	}
	return n.nameKey(h.Tenant, h.Kind, h.Name)
}

func (n *Names) nameKey(tenant, kind, name string) (keys.Key, error) {
	key, err := keys.Name(tenant, kind, name)
	if err != nil {
		return keys.Key{}, invalidKey(tenant, kind, name, err)
	}
	return key, nil
}
