package fault

// Codes of package schema.
var (
	SchemaInvalid = Code{"DFN-1701", "schema.ErrInvalid",
		"A table, a deployment or a role is described in a way that DynamoDB or IAM would refuse, or that the primitives cannot work on.",
		"Fix the field that the error names; all faults are reported at once.", RetryNever}
	SchemaRead = Code{"DFN-1702", "schema.ErrRead",
		"A table's description could not be read.",
		"Look at the AWS error inside; reading again is harmless.", RetrySafe}
	SchemaRegion = Code{"DFN-1703", "schema.ErrRegion",
		"A request was not sent because it would have gone to a Region that is not the home of the tables.",
		"Give the client the home Region; other Regions hold copies that must not be written.", RetryNever}
	SchemaEnsure = Code{"DFN-1704", "schema.ErrEnsure",
		"A table could not be created, did not become active, or its TTL could not be turned on.",
		"Look at the AWS error inside; calling Ensure again is harmless.", RetrySafe}
)

// Schema lists the codes of package schema.
var Schema = []Code{SchemaInvalid, SchemaRead, SchemaRegion, SchemaEnsure}
