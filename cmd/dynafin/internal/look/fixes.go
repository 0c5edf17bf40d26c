package look

import "github.com/dynafin/dynafin/schema"

// fixes say what to do about each mistake in a table.
var fixes = map[schema.Mistake]string{
	schema.TableMissing:       "dynafin table create --dry-run",
	schema.TableNotActive:     "wait until it is ACTIVE, and look again",
	schema.WrongKeys:          "name its keys in the deployment file, pk and sk; or make a new table: keys cannot be changed",
	schema.WrongKeyType:       "make a new table: keys cannot be changed",
	schema.IndexMissing:       "add the index; dynafin table export has its definition",
	schema.IndexNotActive:     "wait until it is ACTIVE, and look again",
	schema.IndexWrongKeys:     "name its keys in the deployment file, indexPk and indexSk; or delete the index and add it again",
	schema.IndexWrongKeyType:  "delete the index and add it again; dynafin table export has its definition",
	schema.ProjectionMissing:  "delete the index and add it again with these attributes",
	schema.TTLOff:             "turn TTL on, by this attribute",
	schema.TTLWrongAttribute:  "turn TTL off; an hour later, on by the right attribute",
	schema.TTLUnexpected:      "turn TTL off: it deletes what must stay",
	schema.StreamOff:          "turn the stream on",
	schema.StreamWrongView:    "turn the stream off, and on with this view",
	schema.RecoveryOff:        "turn point-in-time recovery on",
	schema.RecoveryShort:      "lengthen the recovery period",
	schema.Unprotected:        "turn deletion protection on",
	schema.WrongConsistency:   "make a new table: its consistency cannot be changed",
	schema.WrongRegion:        "use --region with the home Region, or correct homeRegion in the deployment file",
	schema.ReplicaMissing:     "add the replica",
	schema.IndexUnexpected:    "delete it if nobody reads it: each write pays for it",
	schema.ProjectionTooWide:  "leave it, or delete the index and add it again without: each write pays for it",
	schema.LocalIndex:         "leave it out of the next table: it cannot be deleted, and limits a partition key to 10 GB",
	schema.Provisioned:        "change to on-demand capacity, or watch what is throttled",
	schema.ReplicaUnexpected:  "remove the replica, or see that nobody writes to it",
	schema.RareAccess:         "change to the standard table class",
	schema.RecoveryUnreadable: "nothing: this endpoint has no backups",
}
