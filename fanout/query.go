package fanout

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits of a query.
const (
	// MaxBranches is how many branches a query may have.
	MaxBranches = 1000
	// MaxLimit is how many items a page may have.
	MaxLimit = 10000
)

// Names of the key attributes of a table, where a Query gives none.
const (
	DefaultPK = "PK"
	DefaultSK = "SK"
	// NoKey as the name of a sort key says that the table has none.
	NoKey = "-"
)

// Query says what is read: one range of sort keys in every branch of one table or index. A cursor is bound to all of it but
// Strong, and continues no other query.
type Query struct {
	// Name identifies the query in errors and cursors, for example "AP06.trades". Required.
	Name string
	// Tenant is whose data it reads; it may be empty where there is only one.
	Tenant string
	// Version rises when the meaning of the query's cursors changes: another Order or Identity.
	Version int

	// Table is the table's name. Required.
	Table string
	// PK and SK are the table's key attributes. Defaults: "PK" and "SK"; NoKey for a table without a sort key.
	PK, SK string
	// Index is the name of an index, empty to read the table.
	Index string
	// IndexPK and IndexSK are the index's key attributes. IndexPK is required with Index; IndexSK is empty if there is none.
	IndexPK, IndexSK string

	// Branches are the partitions that are merged. At least one, at most MaxBranches.
	Branches []Branch
	// Range bounds the sort keys in every branch. The zero Range is everything.
	Range Range
	// Descending reads from the highest sort key to the lowest.
	Descending bool
	// Strong makes the reads strongly consistent, at twice the price. Global indexes cannot.
	Strong bool

	// Order gives the bytes by which items of different branches are compared; within a branch it must never go against
	// the order of the sort key. Default: the sort key itself.
	Order func(item Attributes) ([]byte, error)
	// Identity gives the bytes by which two items with equal order are one and the same. Default: the key in the table.
	// Give another if copies of one thing have several keys, as an event may under two versions of a shard map.
	Identity func(item Attributes) ([]byte, error)
}

// Attributes is an item as DynamoDB returns it.
type Attributes = map[string]types.AttributeValue

// Branch is one partition of a query.
type Branch struct {
	// Name identifies the branch in errors and items, for example "map 2 shard 7". Required, and unique in the query.
	Name string
	// Partition is the value of the partition key: text, number or binary. Required, and unique in the query.
	Partition types.AttributeValue
}

// Range bounds sort keys. From and Through are inclusive, and either may be missing; or a Prefix stands alone.
type Range struct {
	From, Through, Prefix types.AttributeValue
}

// Text returns a string as a key.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// plan is a query that was checked, with what follows from it.
type plan struct {
	Query
	pk, sk string   // key attributes that the branches and the range speak of; sk is empty if there is none
	rest   []string // every other key attribute: together with the partition they make a start key
	table  []string // key attributes of the table, which identify an item
	shape  digest   // what a cursor must agree with, beside tenant, name and version
}

// prepare checks a query. The error is an *InvalidError.
func prepare(q Query) (*plan, error) {
	bad := func(field, reason string, args ...any) (*plan, error) {
		return nil, &InvalidError{Query: q.Name, Field: field, Reason: fmt.Sprintf(reason, args...)}
	}
	if q.PK == "" {
		q.PK = DefaultPK
	}
	if q.SK == "" {
		q.SK = DefaultSK
	}
	q.Branches = slices.Clone(q.Branches)
	p := &plan{Query: q, pk: q.PK, sk: q.SK, table: []string{q.PK, q.SK}}
	if q.SK == NoKey {
		p.sk, p.table = "", p.table[:1]
	}
	if q.Index != "" {
		p.pk, p.sk = q.IndexPK, q.IndexSK
	}
	for _, name := range append([]string{p.sk}, p.table...) {
		if name != "" && name != p.pk && !slices.Contains(p.rest, name) {
			p.rest = append(p.rest, name)
		}
	}
	switch {
	case q.Name == "":
		return bad("Name", "is empty")
	case !utf8.ValidString(q.Name) || !utf8.ValidString(q.Tenant):
		return bad("Name", "or Tenant is not valid UTF-8")
	case q.Version < 0:
		return bad("Version", "is negative")
	case q.Table == "":
		return bad("Table", "is empty")
	case q.Index == "" && q.IndexPK+q.IndexSK != "":
		return bad("Index", "is empty, but its key attributes are given")
	case q.Index != "" && q.IndexPK == "":
		return bad("IndexPK", "is empty")
	case p.pk == p.sk:
		return bad("SK", "is the partition key, too")
	case q.Strong && p.pk != q.PK:
		return bad("Strong", "is set for a global index, which has no strongly consistent reads")
	case p.sk == "" && q.Order == nil:
		return bad("Order", "is missing: there is no sort key to order by")
	case len(q.Branches) == 0:
		return bad("Branches", "is empty")
	case len(q.Branches) > MaxBranches:
		return bad("Branches", "has %d entries, more than %d", len(q.Branches), MaxBranches)
	}
	if reason := p.checkBranches(); reason != "" {
		return bad("Branches", "%s", reason)
	}
	if reason := p.checkRange(); reason != "" {
		return bad("Range", "%s", reason)
	}
	p.shape = p.digest()
	return p, nil
}

func (p *plan) checkBranches() string {
	names, partitions := map[string]bool{}, map[string]bool{}
	for i, b := range p.Branches {
		value, ok := appendKey(nil, b.Partition)
		switch {
		case b.Name == "":
			return fmt.Sprintf("has an entry without a Name at %d", i)
		case !ok:
			return fmt.Sprintf("has an entry %q whose Partition is no text, number or binary", b.Name)
		case names[b.Name]:
			return fmt.Sprintf("has two entries named %q", b.Name)
		case partitions[string(value)]:
			return fmt.Sprintf("has an entry %q whose Partition is that of another", b.Name)
		}
		names[b.Name], partitions[string(value)] = true, true
	}
	return ""
}

func (p *plan) checkRange() string {
	r := p.Range
	for _, bound := range []types.AttributeValue{r.From, r.Through, r.Prefix} {
		if bound == nil {
			continue
		}
		if _, ok := appendKey(nil, bound); !ok {
			return "has a bound that is no text, number or binary"
		}
		if p.sk == "" {
			return "is given, but there is no sort key"
		}
	}
	if r.Prefix != nil && (r.From != nil || r.Through != nil) {
		return "has a Prefix beside From or Through"
	}
	return ""
}

// condition returns the key condition of a branch.
func (p *plan) condition(b Branch) (text string, names map[string]string, values Attributes) {
	text, names, values = "#p = :p", map[string]string{"#p": p.pk}, Attributes{":p": b.Partition}
	bound := func(more string, bounds Attributes) {
		text, names["#s"] = text+" AND "+more, p.sk
		for name, value := range bounds {
			values[name] = value
		}
	}
	switch r := p.Range; {
	case r.Prefix != nil:
		bound("begins_with(#s, :a)", Attributes{":a": r.Prefix})
	case r.From != nil && r.Through != nil:
		bound("#s BETWEEN :a AND :b", Attributes{":a": r.From, ":b": r.Through})
	case r.From != nil:
		bound("#s >= :a", Attributes{":a": r.From})
	case r.Through != nil:
		bound("#s <= :b", Attributes{":b": r.Through})
	}
	return text, names, values
}
