package keys

import "time"

var (
	orderRoute        = newRoute("Order", "TEN#{tenant}#ORDER#{order}", "META")
	accountOrderRoute = newRoute("AccountOrder", "TEN#{tenant}#ACCT#{account}", "ORD#{at}#{order}")
	statusOrderRoute  = newRoute("StatusOrder", "TEN#{tenant}#ACCT#{account}#STATUS#{status}", "ORD#{at}#{order}")
	requestRoute      = newRoute("Request", "TEN#{tenant}#REQ#{key}", "REQUEST")
	repairDueRoute    = newRoute("RepairDue", "TEN#{tenant}#REPAIR#{shard}", "DUE#{due}#{key}")
	nameRoute         = newRoute("Name", "TEN#{tenant}#{kind}#{name}", "UNIQUE")
)

// The routes of repair beside IDX19.
var (
	repairEscalatedRoute = newRoute("RepairEscalated", "TEN#{tenant}#ESCALATED#{shard}", "AT#{at}#{key}")
	requestAuditRoute    = newRoute("RequestAudit", "TEN#{tenant}#REQ#{key}", "AUDIT#{revision}")
)

const clientOrderKind = "CLIENTORDER"

// Order is the key of an order (IDX01, AP01).
func Order(tenant, order string) (Key, error) {
	return orderRoute.key(text(tenant), text(order))
}

// ParseOrder reads a key of [Order].
func ParseOrder(k Key) (tenant, order string, err error) {
	d := orderRoute.read(k)
	tenant, order = d.text(), d.text()
	return tenant, order, d.err
}

// AccountOrder is the index key that lists an account's orders by time (IDX02, AP02).
func AccountOrder(tenant, account string, at time.Time, order string) (Key, error) {
	return accountOrderRoute.key(text(tenant), text(account), instant(at), text(order))
}

// ParseAccountOrder reads a key of [AccountOrder].
func ParseAccountOrder(k Key) (tenant, account string, at time.Time, order string, err error) {
	d := accountOrderRoute.read(k)
	tenant, account, at, order = d.text(), d.text(), d.instant(), d.text()
	return tenant, account, at, order, d.err
}

// AccountPartition is the partition of an account in every table that has one: its orders, trades, positions and
// authorities.
func AccountPartition(tenant, account string) (string, error) {
	return accountOrderRoute.partition(text(tenant), text(account))
}

// StatusOrder is the sparse index key that lists an account's orders of one status by time (IDX03, AP03).
type StatusOrder struct {
	Tenant, Account, Status string
	At                      time.Time
	Order                   string
}

// Key writes the key.
func (s StatusOrder) Key() (Key, error) {
	return statusOrderRoute.key(text(s.Tenant), text(s.Account), text(s.Status), instant(s.At), text(s.Order))
}

// ParseStatusOrder reads a key of [StatusOrder].
func ParseStatusOrder(k Key) (StatusOrder, error) {
	d := statusOrderRoute.read(k)
	s := StatusOrder{Tenant: d.text(), Account: d.text(), Status: d.text(), At: d.instant(), Order: d.text()}
	return s, d.err
}

// StatusPartition is the partition of [StatusOrder].
func StatusPartition(tenant, account, status string) (string, error) {
	return statusOrderRoute.partition(text(tenant), text(account), text(status))
}

// Request is the key of a durable idempotency record (IDX08, AP08).
func Request(tenant, key string) (Key, error) {
	return requestRoute.key(text(tenant), text(key))
}

// ParseRequest reads a key of [Request].
func ParseRequest(k Key) (tenant, key string, err error) {
	d := requestRoute.read(k)
	tenant, key = d.text(), d.text()
	return tenant, key, d.err
}

// RepairDue is the sparse index key that lists requests in need of repair by due time (IDX19, AP18).
func RepairDue(tenant string, shard int, due time.Time, key string) (Key, error) {
	return repairDueRoute.key(text(tenant), number(shard, shardDigits), instant(due), text(key))
}

// ParseRepairDue reads a key of [RepairDue].
func ParseRepairDue(k Key) (tenant string, shard int, due time.Time, key string, err error) {
	d := repairDueRoute.read(k)
	tenant, shard, due, key = d.text(), d.number(shardDigits), d.instant(), d.text()
	return tenant, shard, due, key, d.err
}

// RepairDuePartition is the partition of [RepairDue].
func RepairDuePartition(tenant string, shard int) (string, error) {
	return repairDueRoute.partition(text(tenant), number(shard, shardDigits))
}

// RepairEscalated is the sparse index key that lists requests on which an operator has to decide, by the time at which they
// were escalated (REQ01, AP18).
func RepairEscalated(tenant string, shard int, at time.Time, key string) (Key, error) {
	return repairEscalatedRoute.key(text(tenant), number(shard, shardDigits), instant(at), text(key))
}

// ParseRepairEscalated reads a key of [RepairEscalated].
func ParseRepairEscalated(k Key) (tenant string, shard int, at time.Time, key string, err error) {
	d := repairEscalatedRoute.read(k)
	tenant, shard, at, key = d.text(), d.number(shardDigits), d.instant(), d.text()
	return tenant, shard, at, key, d.err
}

// RepairEscalatedPartition is the partition of [RepairEscalated].
func RepairEscalatedPartition(tenant string, shard int) (string, error) {
	return repairEscalatedRoute.partition(text(tenant), number(shard, shardDigits))
}

// RequestAudit is the key of the note that an operator's decision on a request leaves beside its record: the decision that
// made this revision of the record (REQ02, AP18).
func RequestAudit(tenant, key string, revision int) (Key, error) {
	return requestAuditRoute.key(text(tenant), text(key), number(revision, revisionDigits))
}

// ParseRequestAudit reads a key of [RequestAudit].
func ParseRequestAudit(k Key) (tenant, key string, revision int, err error) {
	d := requestAuditRoute.read(k)
	tenant, key, revision = d.text(), d.text(), d.number(revisionDigits)
	return tenant, key, revision, d.err
}

// RequestAuditPrefix is what the sort keys of [RequestAudit] begin with.
const RequestAuditPrefix = "AUDIT#"

// Name is the key of the sentinel that makes a name unique among those of its kind in a tenant (IDX18, AP17). The kind
// is an upper-case word. No other route has its sort key, so a kind may be called like another route's literal.
func Name(tenant, kind, name string) (Key, error) {
	return nameRoute.key(text(tenant), word(kind), text(name))
}

// ParseName reads a key of [Name].
func ParseName(k Key) (tenant, kind, name string, err error) {
	d := nameRoute.read(k)
	tenant, kind, name = d.text(), d.word(), d.text()
	return tenant, kind, name, d.err
}

// ClientOrder is [Name] with the kind CLIENTORDER: the client's own order ID (IDX18, AP17).
func ClientOrder(tenant, id string) (Key, error) {
	return Name(tenant, clientOrderKind, id)
}

// ParseClientOrder reads a key of [ClientOrder].
func ParseClientOrder(k Key) (tenant, id string, err error) {
	tenant, kind, id, err := ParseName(k)
	if err == nil && kind != clientOrderKind {
		err = &Error{Route: "ClientOrder", Component: "kind", Reason: Malformed}
	}
	return tenant, id, err
}
