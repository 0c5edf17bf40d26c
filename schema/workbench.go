package schema

import "slices"

// workbenchDate stands for the dates that the program writes: always the same, so that a model changes with its tables alone.
const workbenchDate = "Jan 01, 2026, 12:00 AM"

// Workbench returns the tables as a data model of NoSQL Workbench in JSON, with a facet for each route of a table itself. The
// form is not documented; it follows what version 3 of the program exports.
//
// Errors: [ErrInvalid], once for each fault of the deployment.
func (d Deployment) Workbench() ([]byte, error) {
	d, err := d.Plan()
	if err != nil {
		return nil, err
	}
	return marshal(object{
		"ModelName": d.Name,
		"ModelMetadata": object{
			"Author": "dynafin", "DateCreated": workbenchDate, "DateLastModified": workbenchDate, "Description": "Tables of " + d.Name,
			"AWSService": "Amazon DynamoDB", "Version": "3.0",
		},
		"DataModel": list(d.Tables, func(t Table) any { return t.workbench() }),
	})
}

func (t Table) workbench() object {
	return object{
		"TableName":              t.Name,
		"KeyAttributes":          workbenchKeys(t.PK, t.SK),
		"NonKeyAttributes":       list(t.otherAttributes(), func(name string) any { return object{"AttributeName": name, "AttributeType": t.kind(name)} }),
		"TableFacets":            list(t.ownRoutes(), func(r Route) any { return r.facet() }),
		"GlobalSecondaryIndexes": list(t.Indexes, func(i Index) any { return i.workbench() }),
		"TableData":              []any{},
		"DataAccess":             object{"MySql": object{}},
		"BillingMode":            "PAY_PER_REQUEST",
	}
}

func (t Table) ownRoutes() []Route {
	return slices.DeleteFunc(slices.Clone(t.Routes), func(r Route) bool { return r.Index != "" })
}

func (r Route) facet() object {
	alias := object{"PartitionKeyAlias": r.PK}
	if r.SK != "" {
		alias["SortKeyAlias"] = r.SK
	}
	return object{
		"FacetName": r.Name, "KeyAttributeAlias": alias, "TableData": []any{}, "NonKeyAttributes": []any{},
		"DataAccess": object{"MySql": object{}},
	}
}

func (i Index) workbench() object {
	projection := object{"ProjectionType": i.projection().ProjectionType}
	if attributes := i.projection().NonKeyAttributes; len(attributes) > 0 {
		projection["NonKeyAttributes"] = attributes
	}
	return object{"IndexName": i.Name, "KeyAttributes": workbenchKeys(i.PK, i.SK), "Projection": projection}
}

func workbenchKeys(pk, sk string) object {
	keys := object{"PartitionKey": object{"AttributeName": pk, "AttributeType": "S"}}
	if sk != "" {
		keys["SortKey"] = object{"AttributeName": sk, "AttributeType": "S"}
	}
	return keys
}

// otherAttributes returns what is known of attributes that are no keys of the table: those of the indexes, and the TTL.
func (t Table) otherAttributes() []string {
	var names []string
	for _, i := range t.Indexes {
		names = append(append(names, i.PK, i.SK), i.Project...)
	}
	names = append(names, t.TTL)
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || name == t.PK || name == t.SK })
	slices.Sort(names)
	return slices.Compact(names)
}

func (t Table) kind(attribute string) string {
	if attribute == t.TTL {
		return "N"
	}
	return "S"
}
