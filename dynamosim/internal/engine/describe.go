package engine

import (
	"encoding/json"
	"fmt"
	"time"
)

// The description of a table as it goes over the wire.
type tableDescription struct {
	TableName                  string
	TableId                    string
	TableArn                   string
	TableStatus                string
	CreationDateTime           float64
	ItemCount                  int
	TableSizeBytes             int
	AttributeDefinitions       []attributeDefinition
	KeySchema                  []keyElement
	ProvisionedThroughput      throughputDescription
	BillingModeSummary         *billingDescription  `json:",omitempty"`
	TableThroughputModeSummary *modeDescription     `json:",omitempty"`
	TableClassSummary          *classDescription    `json:",omitempty"`
	StreamSpecification        *streamSpecification `json:",omitempty"`
	LatestStreamArn            string               `json:",omitempty"`
	LatestStreamLabel          string               `json:",omitempty"`
	GlobalSecondaryIndexes     []indexDescription   `json:",omitempty"`
	LocalSecondaryIndexes      []indexDescription   `json:",omitempty"`
	DeletionProtectionEnabled  bool
}

type throughputDescription struct {
	ReadCapacityUnits, WriteCapacityUnits, NumberOfDecreasesToday int64
}

type billingDescription struct{ BillingMode string }

type modeDescription struct{ TableThroughputMode string }

type classDescription struct{ TableClass string }

type indexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           string `json:",omitempty"`
	Backfilling           *bool  `json:",omitempty"`
	KeySchema             []keyElement
	Projection            projectionDescription
	ProvisionedThroughput *throughputDescription `json:",omitempty"`
	ItemCount             int
	IndexSizeBytes        int
}

type projectionDescription struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

func (e *Engine) tableARN(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", e.config.Region, e.config.Account, name)
}

// tableAnswer is an answer whose only member describes a table.
func tableAnswer(name string, d tableDescription) *writer {
	// A description holds text, whole numbers and a time in seconds, all of which have a JSON form.
	text, _ := json.Marshal(d)
	w := newWriter()
	w.open()
	w.raw(name, text)
	w.close()
	return w
}

func (e *Engine) describe(t *table, now time.Time) tableDescription {
	d := t.definition
	desc := tableDescription{
		TableName:                 t.name,
		TableId:                   t.id,
		TableArn:                  e.tableARN(t.name),
		TableStatus:               t.status(now),
		CreationDateTime:          float64(t.created.UnixMilli()) / 1000,
		ItemCount:                 t.rows.Len(),
		TableSizeBytes:            t.bytes,
		AttributeDefinitions:      d.AttributeDefinitions,
		KeySchema:                 d.KeySchema,
		ProvisionedThroughput:     describeThroughput(d.ProvisionedThroughput),
		DeletionProtectionEnabled: d.DeletionProtectionEnabled,
	}
	if d.onDemand() || t.billingChanged {
		desc.BillingModeSummary = &billingDescription{*d.BillingMode}
		desc.TableThroughputModeSummary = &modeDescription{*d.BillingMode}
	}
	if d.TableClass != nil {
		desc.TableClassSummary = &classDescription{*d.TableClass}
	}
	if s := t.stream; s != nil {
		desc.LatestStreamArn, desc.LatestStreamLabel = s.arn, s.label
		if s.enabled() {
			on := true
			desc.StreamSpecification = &streamSpecification{&on, &s.view}
		}
	}
	for _, i := range d.GlobalSecondaryIndexes {
		described := e.describeIndex(t, i)
		described.IndexStatus, described.Backfilling = t.indexStatus(*i.IndexName, now)
		units := describeThroughput(i.ProvisionedThroughput)
		described.ProvisionedThroughput = &units
		desc.GlobalSecondaryIndexes = append(desc.GlobalSecondaryIndexes, described)
	}
	for _, i := range d.LocalSecondaryIndexes {
		desc.LocalSecondaryIndexes = append(desc.LocalSecondaryIndexes, e.describeIndex(t, i))
	}
	return desc
}

func (e *Engine) describeIndex(t *table, d indexDefinition) indexDescription {
	desc := indexDescription{
		IndexName:  *d.IndexName,
		IndexArn:   e.tableARN(t.name) + "/index/" + *d.IndexName,
		KeySchema:  d.KeySchema,
		Projection: projectionDescription{*d.Projection.ProjectionType, d.Projection.NonKeyAttributes},
	}
	if ix := t.index(*d.IndexName); ix != nil {
		desc.ItemCount, desc.IndexSizeBytes = ix.rows.Len(), ix.bytes
	}
	return desc
}

func describeThroughput(p *throughput) throughputDescription {
	if p == nil {
		return throughputDescription{}
	}
	return throughputDescription{ReadCapacityUnits: *p.ReadCapacityUnits, WriteCapacityUnits: *p.WriteCapacityUnits}
}
