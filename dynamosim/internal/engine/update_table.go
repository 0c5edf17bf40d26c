package engine

import (
	"encoding/json"
	"strings"
	"time"
)

// updateInput is an UpdateTable request.
type updateInput struct {
	TableName                   *string
	AttributeDefinitions        []attributeDefinition
	BillingMode                 *string
	ProvisionedThroughput       *throughput
	GlobalSecondaryIndexUpdates []indexUpdate
	StreamSpecification         *streamSpecification
	TableClass                  *string
	DeletionProtectionEnabled   *bool
	// Accepted without effect: nothing here depends on them.
	SSESpecification   json.RawMessage
	OnDemandThroughput json.RawMessage
	WarmThroughput     json.RawMessage
	// Refused: a database is one Region.
	ReplicaUpdates              json.RawMessage
	MultiRegionConsistency      json.RawMessage
	GlobalTableWitnessUpdates   json.RawMessage
	GlobalTableSettingsReplicas json.RawMessage `json:"GlobalTableSettingsReplicationMode"`
}

// indexUpdate must have exactly one member.
type indexUpdate struct {
	Create *indexDefinition
	Update *indexThroughput
	Delete *struct{ IndexName *string }
}

type indexThroughput struct {
	IndexName             *string
	ProvisionedThroughput *throughput
	OnDemandThroughput    json.RawMessage
	WarmThroughput        json.RawMessage
}

// updateTable changes a table. Everything is checked before anything is changed.
func (e *Engine) updateTable(now time.Time, body []byte) (*writer, *failure) {
	var in updateInput
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	if in.TableName == nil {
		return nil, invalidRequest(msgTableNameMissing)
	}
	for _, check := range []func() *failure{in.checkModel, in.checkRegions, in.checkCombination, in.checkIndexActions} {
		if f := check(); f != nil {
			return nil, f
		}
	}
	t, ok := e.tables.Get(*in.TableName)
	if !ok {
		return nil, &failure{exception: resourceNotFound, message: msgTableNotFound(*in.TableName)}
	}
	if f := in.checkBusy(t, now); f != nil {
		return nil, f
	}
	if f := in.checkIndexUpdates(t, now); f != nil {
		return nil, f
	}
	if f := in.checkThroughput(t); f != nil {
		return nil, f
	}
	if f := t.checkStream(in.StreamSpecification); f != nil {
		return nil, f
	}
	e.update(now, t, &in)
	return tableAnswer("TableDescription", e.describe(t, now)), nil
}

// update applies a request that passed all checks.
func (e *Engine) update(now time.Time, t *table, in *updateInput) {
	d := &t.definition
	done := now.Add(e.config.UpdateStep)
	if in.changesThroughput() || in.StreamSpecification != nil || in.TableClass != nil {
		t.updating = done
		t.throughputUpdating = in.changesThroughput()
	}
	if in.BillingMode != nil {
		t.billingChanged = t.billingChanged || d.onDemand() != (*in.BillingMode == modePayPerRequest)
		d.BillingMode = in.BillingMode
	}
	if in.ProvisionedThroughput != nil {
		d.ProvisionedThroughput = in.ProvisionedThroughput
	}
	if d.onDemand() {
		d.clearThroughput()
	}
	if in.TableClass != nil {
		d.TableClass = in.TableClass
	}
	if in.DeletionProtectionEnabled != nil {
		d.DeletionProtectionEnabled = *in.DeletionProtectionEnabled
		t.deleteGuard = *in.DeletionProtectionEnabled
	}
	e.setStream(now, t, in.StreamSpecification)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		e.updateIndex(now, t, in, u)
	}
	e.settleTable(now, t)
}

func (in *updateInput) checkModel() *failure {
	var c checks
	c.name("tableName", in.TableName)
	c.oneOf("billingMode", in.BillingMode, billingModeEnum)
	c.throughput("provisionedThroughput", in.ProvisionedThroughput)
	c.oneOf("tableClass", in.TableClass, tableClassEnum)
	c.streamSpecification(in.StreamSpecification)
	c.attributeDefinitions(in.AttributeDefinitions)
	for i, u := range in.GlobalSecondaryIndexUpdates {
		path := member("globalSecondaryIndexUpdates", i)
		if u.Create != nil {
			c.index(path+".create", *u.Create)
		}
		if u.Update != nil {
			c.name(path+".update.indexName", u.Update.IndexName)
			c.throughput(path+".update.provisionedThroughput", u.Update.ProvisionedThroughput)
		}
		if u.Delete != nil {
			c.name(path+".delete.indexName", u.Delete.IndexName)
		}
	}
	return c.failure()
}

// checkRegions refuses what makes a table span several Regions.
func (in *updateInput) checkRegions() *failure {
	for _, p := range []parameter{
		{"ReplicaUpdates", in.ReplicaUpdates != nil},
		{"MultiRegionConsistency", in.MultiRegionConsistency != nil},
		{"GlobalTableWitnessUpdates", in.GlobalTableWitnessUpdates != nil},
		{"GlobalTableSettingsReplicationMode", in.GlobalTableSettingsReplicas != nil},
	} {
		if p.present {
			return invalid(msgOneRegion(p.name))
		}
	}
	return nil
}

// mode is the billing mode that the table will have.
func (in *updateInput) mode(t *table) string {
	switch {
	case in.BillingMode != nil:
		return *in.BillingMode
	case t.definition.onDemand():
		return modePayPerRequest
	}
	return modeProvisioned
}

func (in *updateInput) changesThroughput() bool {
	return in.BillingMode != nil || in.ProvisionedThroughput != nil
}

// checkCombination refuses requests that ask for nothing, or for things that must be asked for separately.
func (in *updateInput) checkCombination() *failure {
	concerns := 0
	for _, present := range []bool{
		in.changesThroughput(), in.GlobalSecondaryIndexUpdates != nil, in.StreamSpecification != nil, in.TableClass != nil,
		in.DeletionProtectionEnabled != nil, in.SSESpecification != nil, in.OnDemandThroughput != nil, in.WarmThroughput != nil,
	} {
		if present {
			concerns++
		}
	}
	online := in.createsOrDeletes() > 0
	// Switching to provisioned mode is as much a change of throughput as throughput itself.
	provisions := in.ProvisionedThroughput != nil || in.BillingMode != nil && *in.BillingMode == modeProvisioned
	empty := in.GlobalSecondaryIndexUpdates != nil && len(in.GlobalSecondaryIndexUpdates) == 0
	switch {
	case concerns == 0 || concerns == 1 && empty:
		return invalid(msgNothingToUpdate)
	case empty:
		return invalid(msgIndexesEmpty("GlobalSecondaryIndexUpdates"))
	case concerns == 1:
		return nil
	case in.DeletionProtectionEnabled != nil:
		return invalid(msgOnlyOperation("DeletionProtection modification"))
	case in.SSESpecification != nil:
		return invalid(msgOnlyOperation("Server-Side Encryption modification"))
	case in.TableClass != nil:
		return invalid(msgOnlyOperation("TableClass modification"))
	case in.WarmThroughput != nil:
		return invalid(msgOnlyOperation("WarmThroughput"))
	case in.OnDemandThroughput != nil && (in.StreamSpecification != nil || in.GlobalSecondaryIndexUpdates != nil):
		return invalid(msgOnDemandAlone)
	case in.StreamSpecification != nil && provisions:
		return invalid(msgStreamWithThroughput)
	case online && in.ProvisionedThroughput != nil:
		return invalid(msgIndexWithThroughput)
	case online && in.StreamSpecification != nil:
		return invalid(msgIndexWithStream)
	}
	return nil
}

// checkBusy refuses what has to wait for an earlier change of the table.
func (in *updateInput) checkBusy(t *table, now time.Time) *failure {
	online := in.createsOrDeletes() > 0
	waits := in.changesThroughput() || in.StreamSpecification != nil || in.TableClass != nil
	switch {
	case t.updating.After(now) && online && t.throughputUpdating:
		return inUse(msgIndexWaitsForThroughput(t.name))
	case t.updating.After(now) && (online || waits):
		return inUse(msgTableUpdating(t.name))
	case t.work == nil || t.work.phase == workBackfilling || !waits:
		return nil
	case in.StreamSpecification != nil:
		return inUse(msgStreamWaitsForIndex(t.work.phase.participle()))
	default:
		return inUse(msgThroughputWaitsForIndex(t.name, *t.work.definition.IndexName, t.work.phase.participle()))
	}
}

// checkThroughput checks throughput against the billing mode that the table will have.
func (in *updateInput) checkThroughput(t *table) *failure {
	onDemand := in.mode(t) == modePayPerRequest
	current, wanted := t.definition.ProvisionedThroughput, in.ProvisionedThroughput
	switch {
	case onDemand && wanted != nil:
		return invalid(msgThroughputOnDemand)
	case wanted == nil && in.BillingMode != nil && !onDemand:
		return invalid(msgThroughputOfMode)
	case wanted == nil:
		return nil
	}
	if f := wanted.checkRange(); f != nil {
		return f
	}
	if current != nil {
		if wanted.equal(current) {
			return invalid(msgThroughputSame("the table", "the table", *wanted))
		}
		return nil
	}
	if missing := in.indexesWithoutThroughput(t); missing != nil {
		return invalid(msgIndexThroughputMissing(strings.Join(missing, ",")))
	}
	return nil
}

// indexesWithoutThroughput names the global indexes for which a switch to provisioned mode brings no throughput.
func (in *updateInput) indexesWithoutThroughput(t *table) []string {
	given := map[string]bool{}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Update != nil {
			given[*u.Update.IndexName] = true
		}
	}
	var missing []string
	for _, d := range t.definition.GlobalSecondaryIndexes {
		if !given[*d.IndexName] {
			missing = append(missing, *d.IndexName)
		}
	}
	return missing
}
