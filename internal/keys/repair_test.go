package keys_test

import "github.com/dynafin/dynafin/internal/keys"

// repairRoutes are the routes of the repair of requests beyond the chapter's. at is the text of the golden time.
func repairRoutes(at string) []route {
	escalated := route{name: "RepairEscalated", index: "REQ01", shape: "snts", pk: "TEN#s0#ESCALATED#0001", sk: "AT#" + at + "#s3"}
	escalated.write, escalated.read = queued(keys.RepairEscalated, keys.ParseRepairEscalated)
	audit := route{name: "RequestAudit", index: "REQ02", shape: "ssn", pk: "TEN#s0#REQ#s1", sk: "AUDIT#000000002",
		write: func(c []any) (keys.Key, error) { return keys.RequestAudit(str(c[0]), str(c[1]), num(c[2])) },
		read: func(k keys.Key) ([]any, error) {
			tenant, key, revision, err := keys.ParseRequestAudit(k)
			return []any{tenant, key, revision}, err
		}}
	return []route{escalated, audit}
}
