// Package schema has the tables of a service as data: created, deployed, verified and permitted from one description.
//
// Each primitive describes its own table, under the names that it is configured with, and primitives that share a table are
// merged:
//
//	d := schema.Deployment{
//		Tables:     []schema.Table{requests.Schema(), names.Schema(sentinel.ClientOrder), events.Schema()},
//		HomeRegion: "eu-west-1",
//	}
//	template, err := d.CloudFormation()       // or Terraform, Create for the SDK, Workbench for a drawing
//	findings, err := d.Verify(ctx, client)    // what differs on the live tables, or is unsafe
//	err = d.Ensure(ctx, client)               // makes what is missing, for local use and for tests
//	policy, err := d.Policy(schema.Scope{Account: "123456789012"}, "outbox.relay")
//
// Descriptions live with the primitives because only they know their attributes and requests; this package knows none of
// them, so a service describes its own tables in the same way.
//
// # What is verified
//
// Keys, indexes and what they project, TTL, stream, point-in-time recovery, protection from deletion, Region, replicas and
// their consistency, capacity mode and class. A [Mistake] that breaks a promise is an error, one that costs money a
// warning. Verify only describes: it consumes no units and changes nothing.
//
// # Regions
//
// Transactions hold in the Region where they are written. With replicas the last writer wins item by item, so all writers
// work in one home Region; [HomeRegion] makes a client hold back everything else. Multi-Region strong consistency has neither
// transactions nor TTL, so a deployment with it is refused, and Verify finds such a table.
//
// # Policies
//
// A role is what one kind of program does: actions on the partition keys that it does them to (dynamodb:LeadingKeys), inside
// transactions only where the primitive does so. Tests send every request of every primitive through the policies: nothing
// that is needed is denied, no grant is unneeded. What a policy cannot say: that a Put must not replace an item; and its
// asterisk spans more than one part of a key, so prefer a table for each context, and [Scope] for a tenant.
//
// # What it does not do
//
// It creates nothing unless [Deployment.Ensure] is called, and changes no table that is there but to turn TTL on. It does not describe local indexes, which bound each partition key to 10 GB, or
// keys of several attributes, and it does not set provisioned capacity, encryption keys or alarms.
package schema
