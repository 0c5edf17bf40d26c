package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (e *Engine) createTable(now time.Time, body []byte) (*writer, *failure) {
	var d definition
	if f := decode(body, &d); f != nil {
		return nil, f
	}
	if d.TableName == nil {
		return nil, invalidRequest(msgTableNameMissing)
	}
	if f := d.checkModel(); f != nil {
		return nil, f
	}
	if f := d.checkMeaning(); f != nil {
		return nil, f
	}
	if f := d.StreamSpecification.check(); f != nil {
		return nil, f
	}
	if _, exists := e.tables.Get(*d.TableName); exists {
		return nil, &failure{exception: resourceInUse, message: msgTableExists(*d.TableName)}
	}
	if e.tables.Len() >= tablesMax {
		return nil, &failure{exception: limitExceeded, message: msgTooManyTables}
	}
	t := newTable(d)
	t.created = now
	e.created++
	t.id = fmt.Sprintf("00000000-0000-4000-8000-%012x", e.created)
	e.tables.Set(t.name, t)
	if d.StreamSpecification.enables() {
		e.enableStream(now, t, *d.StreamSpecification.StreamViewType)
	}
	return tableAnswer("TableDescription", e.describe(t, now)), nil
}

// checkModel checks what the request breaks of its own model.
func (d *definition) checkModel() *failure {
	var c checks
	c.name("tableName", d.TableName)
	c.required("attributeDefinitions", d.AttributeDefinitions != nil)
	c.attributeDefinitions(d.AttributeDefinitions)
	c.keySchema("keySchema", d.KeySchema)
	c.oneOf("billingMode", d.BillingMode, billingModeEnum)
	c.throughput("provisionedThroughput", d.ProvisionedThroughput)
	c.oneOf("tableClass", d.TableClass, tableClassEnum)
	c.streamSpecification(d.StreamSpecification)
	for i, ix := range d.GlobalSecondaryIndexes {
		c.index(member("globalSecondaryIndexes", i), ix)
	}
	for i, ix := range d.LocalSecondaryIndexes {
		c.index(member("localSecondaryIndexes", i), ix)
	}
	return c.failure()
}

func member(list string, i int) string { return list + "." + strconv.Itoa(i+1) + ".member" }

func (c *checks) attributeDefinitions(definitions []attributeDefinition) {
	for i, a := range definitions {
		path := member("attributeDefinitions", i)
		c.required(path+".attributeName", a.AttributeName != nil)
		c.required(path+".attributeType", a.AttributeType != nil)
		c.oneOf(path+".attributeType", a.AttributeType, attributeTypeEnum)
	}
}

func (c *checks) keySchema(path string, elements []keyElement) {
	c.required(path, elements != nil)
	if elements == nil {
		return
	}
	c.minLength(path, "[]", len(elements), 1)
	if len(elements) > 2 {
		c.maxLength(path, showKeySchema(elements), len(elements), 2)
	}
	for i, e := range elements {
		at := path + "." + strconv.Itoa(i+1) + ".member"
		c.required(at+".attributeName", e.AttributeName != nil)
		c.required(at+".keyType", e.KeyType != nil)
		c.oneOf(at+".keyType", e.KeyType, keyTypeEnum)
		if e.AttributeName != nil {
			c.minLength(at+".attributeName", *e.AttributeName, len(*e.AttributeName), 1)
			c.maxLength(at+".attributeName", *e.AttributeName, len(*e.AttributeName), keyNameMax)
		}
	}
}

func showKeySchema(elements []keyElement) string {
	show := func(text *string) string {
		if text == nil {
			return "null"
		}
		return *text
	}
	shown := make([]string, len(elements))
	for i, e := range elements {
		shown[i] = "KeySchemaElement(attributeName=" + show(e.AttributeName) + ", keyType=" + show(e.KeyType) + ")"
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

func (c *checks) throughput(path string, p *throughput) {
	if p == nil {
		return
	}
	c.required(path+".writeCapacityUnits", p.WriteCapacityUnits != nil)
	c.required(path+".readCapacityUnits", p.ReadCapacityUnits != nil)
	c.minValue(path+".writeCapacityUnits", p.WriteCapacityUnits, 1)
	c.minValue(path+".readCapacityUnits", p.ReadCapacityUnits, 1)
}

func (c *checks) index(path string, ix indexDefinition) {
	c.name(path+".indexName", ix.IndexName)
	c.keySchema(path+".keySchema", ix.KeySchema)
	c.required(path+".projection", ix.Projection != nil)
	if p := ix.Projection; p != nil {
		c.oneOf(path+".projection.projectionType", p.ProjectionType, projectionEnum)
		if p.NonKeyAttributes != nil {
			c.minLength(path+".projection.nonKeyAttributes", "[]", len(p.NonKeyAttributes), 1)
			c.maxLength(path+".projection.nonKeyAttributes", "["+strings.Join(p.NonKeyAttributes, ", ")+"]", len(p.NonKeyAttributes), includedByIndexMax)
		}
		for i, name := range p.NonKeyAttributes {
			at := member(path+".projection.nonKeyAttributes", i)
			c.minLength(at, name, len(name), 1)
			c.maxLength(at, name, len(name), keyNameMax)
		}
	}
	c.throughput(path+".provisionedThroughput", ix.ProvisionedThroughput)
}

// checkMeaning checks how the parts of a well-formed request fit together.
func (d *definition) checkMeaning() *failure {
	if f := d.checkBilling(); f != nil {
		return f
	}
	if f := checkKeyTypes(d.KeySchema); f != nil {
		return f
	}
	kinds := d.kinds()
	if len(kinds) < len(d.AttributeDefinitions) {
		return invalid(msgAttributeTwice(d.duplicate()))
	}
	used := map[string]bool{}
	for _, k := range d.KeySchema {
		if _, ok := kinds[*k.AttributeName]; !ok || used[*k.AttributeName] {
			return invalid(msgKeyUndefined)
		}
		used[*k.AttributeName] = true
	}
	if f := d.checkIndexes(used); f != nil {
		return f
	}
	if len(used) == len(d.AttributeDefinitions) {
		return nil
	}
	if d.GlobalSecondaryIndexes == nil && d.LocalSecondaryIndexes == nil {
		return invalid(msgDefinitionsUnused)
	}
	return invalid(msgIndexDefinitionsUnused(sortedKeys(kinds), sortedKeys(used)))
}

func (d *definition) checkBilling() *failure {
	p := d.ProvisionedThroughput
	switch {
	case d.onDemand() && p != nil:
		return invalid(msgThroughputOnDemand)
	case !d.onDemand() && p == nil:
		return invalid(msgThroughputMissing)
	case p != nil:
		return p.checkRange()
	}
	return nil
}

func (p *throughput) checkRange() *failure {
	switch {
	case *p.ReadCapacityUnits > throughputMax:
		return invalid(msgThroughputRange(*p.ReadCapacityUnits, "ReadCapacityUnits"))
	case *p.WriteCapacityUnits > throughputMax:
		return invalid(msgThroughputRange(*p.WriteCapacityUnits, "WriteCapacityUnits"))
	}
	return nil
}

func checkKeyTypes(elements []keyElement) *failure {
	if *elements[0].KeyType != "HASH" {
		return invalid(msgFirstNotHash)
	}
	if len(elements) > 1 && *elements[1].KeyType != "RANGE" {
		return invalid(msgSecondNotRange)
	}
	return nil
}

// checkIndexes checks all indexes and adds the attributes their keys use.
func (d *definition) checkIndexes(used map[string]bool) *failure {
	switch {
	case d.LocalSecondaryIndexes != nil && len(d.LocalSecondaryIndexes) == 0:
		return invalid(msgIndexesEmpty("LocalSecondaryIndexes"))
	case d.GlobalSecondaryIndexes != nil && len(d.GlobalSecondaryIndexes) == 0:
		return invalid(msgIndexesEmpty("GlobalSecondaryIndexes"))
	case len(d.LocalSecondaryIndexes) > 0 && len(d.KeySchema) < 2:
		return invalid(msgLocalNeedsRange)
	}
	names, included := map[string]bool{}, 0
	for i, ix := range slices.Concat(d.LocalSecondaryIndexes, d.GlobalSecondaryIndexes) {
		if f := d.checkIndex(ix, i < len(d.LocalSecondaryIndexes), used); f != nil {
			return f
		}
		if names[*ix.IndexName] {
			return invalid(msgIndexDuplicate(*ix.IndexName))
		}
		names[*ix.IndexName] = true
		included += len(ix.Projection.NonKeyAttributes)
	}
	switch {
	case len(d.LocalSecondaryIndexes) > localIndexesMax:
		return invalid(msgTooManyLocal)
	case len(d.GlobalSecondaryIndexes) > globalIndexesMax:
		return invalid(msgTooManyGlobal)
	case included > includedMax:
		return invalid(msgTooManyIncluded)
	}
	return nil
}

func (d *definition) checkIndex(ix indexDefinition, local bool, used map[string]bool) *failure {
	if f := checkKeyTypes(ix.KeySchema); f != nil {
		return f
	}
	kinds := d.kinds()
	var missing []string
	for _, k := range ix.KeySchema {
		if _, ok := kinds[*k.AttributeName]; !ok {
			missing = append(missing, *k.AttributeName)
		}
		used[*k.AttributeName] = true
	}
	if missing != nil {
		return invalid(msgIndexKeysUndefined(missing, sortedKeys(kinds)))
	}
	if f := checkProjection(ix.Projection); f != nil {
		return f
	}
	if local {
		return d.checkLocalIndex(ix)
	}
	if d.onDemand() && ix.ProvisionedThroughput != nil {
		return invalid(msgIndexThroughputOnDemand(*ix.IndexName))
	}
	if !d.onDemand() && ix.ProvisionedThroughput == nil {
		return invalid(msgIndexThroughputNone(*ix.IndexName))
	}
	return nil
}

func checkProjection(p *projectionDefinition) *failure {
	switch {
	case p.ProjectionType == nil:
		return invalid(msgProjectionUnknown())
	case *p.ProjectionType == projectInclude && len(p.NonKeyAttributes) == 0:
		return invalid(msgIncludeMissing)
	case *p.ProjectionType != projectInclude && len(p.NonKeyAttributes) > 0:
		return invalid(msgProjectionExtra(*p.ProjectionType))
	}
	for i, name := range p.NonKeyAttributes {
		if slices.Contains(p.NonKeyAttributes[:i], name) {
			return invalid(msgProjectedTwice(name))
		}
	}
	return nil
}

func (d *definition) checkLocalIndex(ix indexDefinition) *failure {
	tableHash, indexHash := *d.KeySchema[0].AttributeName, *ix.KeySchema[0].AttributeName
	if tableHash != indexHash {
		return invalid(msgLocalHash(*ix.IndexName, indexHash, tableHash))
	}
	if len(ix.KeySchema) < 2 {
		return invalid(msgLocalRange(*ix.IndexName))
	}
	return nil
}
