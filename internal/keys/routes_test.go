package keys_test

import (
	"slices"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
	"pgregory.net/rapid"
)

// route is one line of the grammar as a user sees it: write a key from its components, read them back. The
// components are in the order of the grammar; every kind has a letter in shape:
//
//	s text   k kind   t time   m month   d date   b bucket   n version, shard or line   p position
type route struct {
	name, index, shape string
	pk, sk             string // the golden key of the components of golden()
	write              func(c []any) (keys.Key, error)
	read               func(k keys.Key) ([]any, error)
}

func str(v any) string        { return v.(string) }
func num(v any) int           { return v.(int) }
func instant(v any) time.Time { return v.(time.Time) }

// two, three and four adapt the functions of routes whose components are all text.
func two(write func(a, b string) (keys.Key, error), read func(keys.Key) (string, string, error)) (func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
	return func(c []any) (keys.Key, error) { return write(str(c[0]), str(c[1])) },
		func(k keys.Key) ([]any, error) { a, b, err := read(k); return []any{a, b}, err }
}

func three(write func(a, b, c string) (keys.Key, error), read func(keys.Key) (string, string, string, error)) (func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
	return func(c []any) (keys.Key, error) { return write(str(c[0]), str(c[1]), str(c[2])) },
		func(k keys.Key) ([]any, error) { a, b, c, err := read(k); return []any{a, b, c}, err }
}

// listed adapts routes of two texts, a time and a text; placed those of a text, two numbers and a text; queued those
// of a text, a number, a time and a text.
func listed(write func(a, b string, at time.Time, c string) (keys.Key, error), read func(keys.Key) (string, string, time.Time, string, error)) (func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
	return func(c []any) (keys.Key, error) { return write(str(c[0]), str(c[1]), instant(c[2]), str(c[3])) },
		func(k keys.Key) ([]any, error) { a, b, at, c, err := read(k); return []any{a, b, at, c}, err }
}

func placed(write func(a string, version, shard int, b string) (keys.Key, error), read func(keys.Key) (string, int, int, string, error)) (func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
	return func(c []any) (keys.Key, error) { return write(str(c[0]), num(c[1]), num(c[2]), str(c[3])) },
		func(k keys.Key) ([]any, error) {
			a, version, shard, b, err := read(k)
			return []any{a, version, shard, b}, err
		}
}

func queued(write func(a string, shard int, due time.Time, b string) (keys.Key, error), read func(keys.Key) (string, int, time.Time, string, error)) (func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
	return func(c []any) (keys.Key, error) { return write(str(c[0]), num(c[1]), instant(c[2]), str(c[3])) },
		func(k keys.Key) ([]any, error) {
			a, shard, due, b, err := read(k)
			return []any{a, shard, due, b}, err
		}
}

func writeStatusOrder(c []any) (keys.Key, error) {
	return keys.StatusOrder{Tenant: str(c[0]), Account: str(c[1]), Status: str(c[2]), At: instant(c[3]), Order: str(c[4])}.Key()
}

func readStatusOrder(k keys.Key) ([]any, error) {
	s, err := keys.ParseStatusOrder(k)
	return []any{s.Tenant, s.Account, s.Status, s.At, s.Order}, err
}

func writePosting(c []any) (keys.Key, error) {
	return keys.Posting{Tenant: str(c[0]), Account: str(c[1]), Month: str(c[2]), Bucket: num(c[3]),
		At: instant(c[4]), Transaction: str(c[5]), Line: num(c[6])}.Key()
}

func readPosting(k keys.Key) ([]any, error) {
	p, err := keys.ParsePosting(k)
	return []any{p.Tenant, p.Account, p.Month, p.Bucket, p.At, p.Transaction, p.Line}, err
}

func writeBreakDue(c []any) (keys.Key, error) {
	return keys.BreakDue{Tenant: str(c[0]), Status: str(c[1]), Shard: num(c[2]), Due: instant(c[3]), Batch: str(c[4]), Break: str(c[5])}.Key()
}

func readBreakDue(k keys.Key) ([]any, error) {
	b, err := keys.ParseBreakDue(k)
	return []any{b.Tenant, b.Status, b.Shard, b.Due, b.Batch, b.Break}, err
}

func routes() []route {
	var all []route
	add := func(name, index, shape, pk, sk string) func(func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
		return func(write func([]any) (keys.Key, error), read func(keys.Key) ([]any, error)) {
			all = append(all, route{name, index, shape, pk, sk, write, read})
		}
	}
	const at = "2026-11-29T14:18:00.000000042Z"
	add("Order", "IDX01", "ss", "TEN#s0#ORDER#s1", "META")(two(keys.Order, keys.ParseOrder))
	add("AccountOrder", "IDX02", "ssts", "TEN#s0#ACCT#s1", "ORD#"+at+"#s3")(listed(keys.AccountOrder, keys.ParseAccountOrder))
	add("StatusOrder", "IDX03", "sssts", "TEN#s0#ACCT#s1#STATUS#s2", "ORD#"+at+"#s4")(writeStatusOrder, readStatusOrder)
	add("OrderTrade", "IDX04", "ssts", "TEN#s0#ORDER#s1", "TRADE#"+at+"#s3")(listed(keys.OrderTrade, keys.ParseOrderTrade))
	add("AccountTrade", "IDX05", "ssts", "TEN#s0#ACCT#s1", "TRADE#"+at+"#s3")(listed(keys.AccountTrade, keys.ParseAccountTrade))
	add("SymbolTrade", "IDX06", "ssts", "TEN#s0#SYM#s1", "TRADE#"+at+"#s3")(listed(keys.SymbolTrade, keys.ParseSymbolTrade))
	add("Position", "IDX07", "sss", "TEN#s0#ACCT#s1", "POS#s2")(three(keys.Position, keys.ParsePosition))
	add("Request", "IDX08", "ss", "TEN#s0#REQ#s1", "REQUEST")(two(keys.Request, keys.ParseRequest))
	add("Inbox", "IDX09", "snns", "CONSUMER#s0#V#0001#SHARD#0002", "EVENT#s3")(placed(keys.Inbox, keys.ParseInbox))
	add("Posting", "IDX10", "ssmbtsn", "TEN#s0#ACCT#s1#MONTH#2026-11#BKT#03", "POST#"+at+"#s5#0006")(writePosting, readPosting)
	add("CashAuthority", "IDX11", "sss", "TEN#s0#ACCT#s1", "AUTH#CASH#s2")(three(keys.CashAuthority, keys.ParseCashAuthority))
	add("SecurityAuthority", "IDX11", "sss", "TEN#s0#ACCT#s1", "AUTH#SEC#s2")(three(keys.SecurityAuthority, keys.ParseSecurityAuthority))
	add("Checkpoint", "IDX12", "snns", "PROJ#s0#V#0001#SHARD#0002", "SOURCE#s3")(placed(keys.Checkpoint, keys.ParseCheckpoint))
	add("Batch", "IDX13", "sds", "TEN#s0#RECON#2026-11-29", "BATCH#s2")(three(keys.Batch, keys.ParseBatch))
	add("Break", "IDX14", "sss", "TEN#s0#RECON#s1", "BREAK#s2")(three(keys.Break, keys.ParseBreak))
	add("BreakDue", "IDX15", "ssntss", "TEN#s0#BREAK#s1#0002", "DUE#"+at+"#s4#s5")(writeBreakDue, readBreakDue)
	add("Outbox", "IDX16", "s", "OUTBOX#s0", "EVENT")(
		func(c []any) (keys.Key, error) { return keys.Outbox(str(c[0])) },
		func(k keys.Key) ([]any, error) { event, err := keys.ParseOutbox(k); return []any{event}, err })
	add("OutboxReady", "IDX17", "snts", "SERVICE#s0#READY#0001", "DUE#"+at+"#s3")(queued(keys.OutboxReady, keys.ParseOutboxReady))
	add("Name", "IDX18", "sks", "TEN#s0#K1#s2", "UNIQUE")(three(keys.Name, keys.ParseName))
	add("RepairDue", "IDX19", "snts", "TEN#s0#REPAIR#0001", "DUE#"+at+"#s3")(queued(keys.RepairDue, keys.ParseRepairDue))
	return slices.Concat(all, ledgerRoutes(at), outboxRoutes(at), repairRoutes(at), projectionRoutes(), exportRoutes())
}

// golden returns plain components of a shape: the number of its place marks each.
func golden(shape string) []any {
	c := make([]any, len(shape))
	for i, kind := range shape {
		place := string(rune('0' + i))
		switch kind {
		case 's':
			c[i] = "s" + place
		case 'k':
			c[i] = "K" + place
		case 't':
			c[i] = time.Date(2026, 11, 29, 14, 18, 0, 42, time.UTC)
		case 'm':
			c[i] = "2026-11"
		case 'd':
			c[i] = "2026-11-29"
		case 'b', 'n':
			c[i] = i
		case 'p':
			c[i] = int64(i)
		}
	}
	return c
}

// texts holds the pieces with which one key could try to spell another's.
func texts() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"#", "%", "23", "25", "%23", "%25", "a", "é", "$", "\x00", "TEN", "ORDER", "ACCT", "STATUS", "META",
		"UNIQUE", "BREAK#OPEN", "0001", "2026-11-29", "CASH", "SEC"})
	return rapid.Custom(func(t *rapid.T) string {
		s := ""
		for _, p := range rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces") {
			s += p
		}
		return s
	})
}

func times() *rapid.Generator[time.Time] {
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	return rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(first, last).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	})
}

func components(shape string) *rapid.Generator[[]any] {
	return rapid.Custom(func(t *rapid.T) []any {
		c := make([]any, len(shape))
		for i, kind := range shape {
			switch kind {
			case 's':
				c[i] = texts().Draw(t, "text")
			case 'k':
				c[i] = rapid.SampledFrom([]string{"CLIENTORDER", "ORDER", "REQ", "ACCT", "BREAK", "RECON", "A", "K_9"}).Draw(t, "kind")
			case 't':
				c[i] = times().Draw(t, "time")
			case 'm':
				c[i] = times().Draw(t, "month").Format("2006-01")
			case 'd':
				c[i] = times().Draw(t, "date").Format("2006-01-02")
			case 'b':
				c[i] = rapid.IntRange(0, 99).Draw(t, "bucket")
			case 'n':
				c[i] = rapid.IntRange(0, 9999).Draw(t, "number")
			case 'p':
				c[i] = rapid.Int64Range(0, keys.MaxPosition).Draw(t, "position")
			}
		}
		return c
	})
}
