package schema

import (
	"slices"
	"strings"
)

// Terraform returns the tables as a Terraform file in JSON (main.tf.json): a resource aws_dynamodb_table each, for a provider
// hashicorp/aws that knows recovery_period_in_days. It has no provider block, so its Region is that of your provider: the home
// Region.
//
// Errors: [ErrInvalid], once for each fault of the deployment.
func (d Deployment) Terraform() ([]byte, error) {
	d, err := d.Plan()
	if err != nil {
		return nil, err
	}
	tables := object{}
	for _, t := range d.Tables {
		tables[terraformName(t.Name)] = d.terraformTable(t)
	}
	return marshal(object{
		"//":       "Tables of " + literal(d.Name) + ". The provider's Region has to be the home of the tables.",
		"resource": object{"aws_dynamodb_table": tables},
	})
}

func (d Deployment) terraformTable(t Table) object {
	table := object{
		"name":                        t.Name,
		"billing_mode":                "PAY_PER_REQUEST",
		"hash_key":                    t.PK,
		"attribute":                   list(t.keyAttributes(), func(name string) any { return object{"name": literal(name), "type": "S"} }),
		"deletion_protection_enabled": !d.Disposable,
		"point_in_time_recovery":      object{"enabled": true, "recovery_period_in_days": d.RecoveryDays},
	}
	if t.SK != "" {
		table["range_key"] = literal(t.SK)
	}
	if len(t.Indexes) > 0 {
		table["global_secondary_index"] = list(t.Indexes, terraformIndex)
	}
	if t.TTL != "" {
		table["ttl"] = object{"attribute_name": literal(t.TTL), "enabled": true}
	}
	stream := t.Stream
	if len(d.Replicas) > 0 {
		stream = StreamNewAndOld // replication reads it
		table["replica"] = list(d.Replicas, d.terraformReplica)
	}
	if stream != "" {
		table["stream_enabled"], table["stream_view_type"] = true, stream
	}
	if len(d.Tags) > 0 {
		tags := object{}
		for key, value := range d.Tags {
			tags[literal(key)] = literal(value)
		}
		table["tags"] = tags
	}
	if !d.Disposable {
		table["lifecycle"] = object{"prevent_destroy": true}
	}
	return table
}

func terraformIndex(i Index) any {
	index := object{"name": i.Name, "hash_key": literal(i.PK), "projection_type": i.projection().ProjectionType}
	if i.SK != "" {
		index["range_key"] = literal(i.SK)
	}
	if attributes := i.projection().NonKeyAttributes; len(attributes) > 0 {
		index["non_key_attributes"] = list(attributes, func(name string) any { return literal(name) })
	}
	return index
}

func (d Deployment) terraformReplica(region string) any {
	replica := object{"region_name": region, "point_in_time_recovery": true, "deletion_protection_enabled": !d.Disposable, "propagate_tags": true}
	if d.Consistency == StrongConsistency {
		replica["consistency_mode"] = d.Consistency
	}
	return replica
}

// literal writes text that Terraform would else take for a template.
func literal(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(text)
}

// terraformName makes a name for a resource: lower-case letters, digits and underscores, and no digit first.
func terraformName(table string) string {
	name := strings.Map(func(c rune) rune {
		if slices.Contains([]rune{'.', '-'}, c) {
			return '_'
		}
		return c
	}, strings.ToLower(table))
	if name[0] >= '0' && name[0] <= '9' {
		return "t" + name
	}
	return name
}
