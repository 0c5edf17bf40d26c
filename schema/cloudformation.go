package schema

import (
	"maps"
	"slices"
)

// object is a JSON object; encoding/json writes its names sorted, so that templates are stable.
type object = map[string]any

// CloudFormation returns the tables as a CloudFormation template in JSON: AWS::DynamoDB::Table, or AWS::DynamoDB::GlobalTable if
// there are replicas. Deploy it in the home Region. Changing a table from one type to the other would replace it: import it
// under the new type instead. An update adds or removes one index at a time.
//
// Errors: [ErrInvalid], once for each fault of the deployment.
func (d Deployment) CloudFormation() ([]byte, error) {
	d, err := d.Plan()
	if err != nil {
		return nil, err
	}
	resources, outputs := object{}, object{}
	for _, t := range d.Tables {
		id := logicalID(t.Name)
		resource := object{"Type": "AWS::DynamoDB::Table", "Properties": d.table(t)}
		if len(d.Replicas) > 0 {
			resource = object{"Type": "AWS::DynamoDB::GlobalTable", "Properties": d.globalTable(t)}
		}
		if !d.Disposable {
			resource["DeletionPolicy"], resource["UpdateReplacePolicy"] = "Retain", "Retain"
		}
		resources[id] = resource
		outputs[id+"Arn"] = object{"Value": object{"Fn::GetAtt": []string{id, "Arn"}}}
		if t.Stream != "" {
			outputs[id+"StreamArn"] = object{"Value": object{"Fn::GetAtt": []string{id, "StreamArn"}}}
		}
	}
	return marshal(object{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "Tables of " + d.Name,
		"Resources":                resources,
		"Outputs":                  outputs,
	})
}

// common returns what both types of resource say alike.
func (d Deployment) common(t Table) object {
	properties := object{
		"TableName":            t.Name,
		"BillingMode":          "PAY_PER_REQUEST",
		"AttributeDefinitions": list(t.keyAttributes(), func(name string) any { return object{"AttributeName": name, "AttributeType": "S"} }),
		"KeySchema":            formationKeys(t.PK, t.SK),
	}
	if len(t.Indexes) > 0 {
		properties["GlobalSecondaryIndexes"] = list(t.Indexes, func(i Index) any {
			projection := object{"ProjectionType": i.projection().ProjectionType}
			if attributes := i.projection().NonKeyAttributes; len(attributes) > 0 {
				projection["NonKeyAttributes"] = attributes
			}
			return object{"IndexName": i.Name, "KeySchema": formationKeys(i.PK, i.SK), "Projection": projection}
		})
	}
	if t.TTL != "" {
		properties["TimeToLiveSpecification"] = object{"AttributeName": t.TTL, "Enabled": true}
	}
	if t.Stream != "" {
		properties["StreamSpecification"] = object{"StreamViewType": t.Stream}
	}
	return properties
}

func (d Deployment) table(t Table) object {
	properties := d.common(t)
	maps.Copy(properties, d.perReplica())
	return properties
}

// perReplica returns what a plain table says for itself and a global one for each replica.
func (d Deployment) perReplica() object {
	properties := object{
		"DeletionProtectionEnabled":        !d.Disposable,
		"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": d.RecoveryDays},
	}
	if len(d.Tags) > 0 {
		properties["Tags"] = list(slices.Sorted(maps.Keys(d.Tags)), func(key string) any { return object{"Key": key, "Value": d.Tags[key]} })
	}
	return properties
}

func (d Deployment) globalTable(t Table) object {
	properties := d.common(t)
	if d.Consistency == EventualConsistency {
		// Replication reads the stream.
		properties["StreamSpecification"] = object{"StreamViewType": StreamNewAndOld}
	}
	properties["MultiRegionConsistency"] = d.Consistency
	properties["Replicas"] = list(append([]string{d.HomeRegion}, d.Replicas...), func(region string) any {
		replica := d.perReplica()
		replica["Region"] = region
		return replica
	})
	return properties
}

func formationKeys(pk, sk string) []any {
	keys := []any{object{"AttributeName": pk, "KeyType": "HASH"}}
	if sk != "" {
		keys = append(keys, object{"AttributeName": sk, "KeyType": "RANGE"})
	}
	return keys
}

// list maps a slice; it is never null in JSON.
func list[T any](from []T, to func(T) any) []any {
	all := make([]any, 0, len(from))
	for _, one := range from {
		all = append(all, to(one))
	}
	return all
}
