package engine

import (
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Limits of the control plane.
const (
	globalIndexesMax = 20
	localIndexesMax  = 5
	includedMax      = 100
	// includedByIndexMax is for one index, includedMax for all of a table's.
	includedByIndexMax = 20
	keyNameMax         = 255
	throughputMax      = 1_000_000_000_000
	tablesMax          = 2500
	modePayPerRequest  = "PAY_PER_REQUEST"
	modeProvisioned    = "PROVISIONED"
	projectAll         = "ALL"
	projectInclude     = "INCLUDE"
)

// definition is a CreateTable request. A table keeps it, because DescribeTable answers with it.
type definition struct {
	TableName                 *string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	BillingMode               *string
	ProvisionedThroughput     *throughput
	GlobalSecondaryIndexes    []indexDefinition
	LocalSecondaryIndexes     []indexDefinition
	StreamSpecification       *streamSpecification
	TableClass                *string
	DeletionProtectionEnabled bool
}

type attributeDefinition struct {
	AttributeName *string
	AttributeType *string
}

type keyElement struct {
	AttributeName *string
	KeyType       *string
}

type throughput struct {
	ReadCapacityUnits  *int64
	WriteCapacityUnits *int64
}

type indexDefinition struct {
	IndexName             *string
	KeySchema             []keyElement
	Projection            *projectionDefinition
	ProvisionedThroughput *throughput
}

type projectionDefinition struct {
	ProjectionType   *string
	NonKeyAttributes []string
}

type streamSpecification struct {
	StreamEnabled  *bool
	StreamViewType *string `json:",omitempty"`
}

func (p *throughput) equal(other *throughput) bool {
	return *p.ReadCapacityUnits == *other.ReadCapacityUnits && *p.WriteCapacityUnits == *other.WriteCapacityUnits
}

func (d *definition) onDemand() bool {
	return d.BillingMode != nil && *d.BillingMode == modePayPerRequest
}

// kinds maps the defined attributes to their types.
func (d *definition) kinds() map[string]value.Kind {
	kinds := make(map[string]value.Kind, len(d.AttributeDefinitions))
	for _, a := range d.AttributeDefinitions {
		kind, _ := value.ParseKind(*a.AttributeType)
		kinds[*a.AttributeName] = kind
	}
	return kinds
}

// duplicate is an attribute that is defined twice.
func (d *definition) duplicate() string {
	seen := map[string]bool{}
	for _, a := range d.AttributeDefinitions {
		if seen[*a.AttributeName] {
			return *a.AttributeName
		}
		seen[*a.AttributeName] = true
	}
	return ""
}

// keys builds a checked key schema.
func keys(elements []keyElement, kinds map[string]value.Kind) keySchema {
	attr := func(e keyElement) keyAttr { return keyAttr{*e.AttributeName, kinds[*e.AttributeName]} }
	k := keySchema{hash: attr(elements[0])}
	if len(elements) > 1 {
		k.sort = attr(elements[1])
	}
	return k
}

// newTable builds the empty table of a checked definition.
func newTable(d definition) *table {
	kinds := d.kinds()
	t := &table{tree: tree{keys: keys(d.KeySchema, kinds)}, name: *d.TableName, definition: d, deleteGuard: d.DeletionProtectionEnabled}
	for _, i := range d.GlobalSecondaryIndexes {
		t.indexes = append(t.indexes, newIndex(t.keys, i, kinds, false))
	}
	if len(d.LocalSecondaryIndexes) > 0 {
		t.collections = map[string]int{}
	}
	for _, i := range d.LocalSecondaryIndexes {
		t.indexes = append(t.indexes, newIndex(t.keys, i, kinds, true))
	}
	sortIndexes(t.indexes)
	return t
}

func newIndex(base keySchema, d indexDefinition, kinds map[string]value.Kind, local bool) *index {
	ix := &index{tree: tree{keys: keys(d.KeySchema, kinds)}, name: *d.IndexName, local: local}
	if *d.Projection.ProjectionType == projectAll {
		return ix
	}
	ix.projected = slices.Concat(base.names(), ix.keys.names(), d.Projection.NonKeyAttributes)
	slices.Sort(ix.projected)
	ix.projected = slices.Compact(ix.projected)
	return ix
}
