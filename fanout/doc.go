// Package fanout reads many partitions as one ordered list: the shards of a queue, the buckets of a statement, the stripes of
// an account. The list is sorted, nothing that is there throughout is missing from it or in it twice, and it can be read
// in pages that a stateless service hands out one by one (AP06, AP11, AP13, AP16).
//
//	reader := fanout.New(client, fanout.Config{Secrets: [][]byte{secret}})
//	page, err := reader.Page(ctx, fanout.Query{
//		Name: "AP06.trades", Tenant: "acme", Table: "Trades", Descending: true,
//		Branches: []fanout.Branch{
//			{Name: "shard 0", Partition: fanout.Text("TEN#acme#SYM#X#SHARD#0000")},
//			{Name: "shard 1", Partition: fanout.Text("TEN#acme#SYM#X#SHARD#0001")},
//		},
//	}, cursor, 100)
//	// page.Items, page.Cursor, page.Usage.Units
//
// Within one process, [Reader.All] and a [Run] give the same list as an iterator and read nothing twice.
//
// # Merging
//
//	branch 0   a─────d──e─────h ┐
//	branch 1   ───b─────e──f─── ├─►  a b c d e f g h        one copy of e
//	branch 2   ──────c────────g ┘            ▲
//	                                       front
//
// Every branch is one Query in the order of its sort key. The next item of the list is known once the next item of
// every branch is; those are read at the same time, [Config.Concurrency] at most. Items are compared by their sort key, or by
// [Query.Order]. Equal items come in the order of the branches, and within one branch as DynamoDB returns them.
//
// Two items of equal order and equal [Query.Identity] are one: the first is given, its copies are dropped, over pages
// too. Of one order, the last [MaxTies] items are remembered for that.
//
// # While others write
//
// What is written behind the front is not shown, as in a Query of one partition; what is written before it is. An item whose order
// changes meanwhile may be shown at both of its places, or at none. Eventually consistent reads, and global indexes
// always, may be a moment behind; so what is new may be missing, but what the reader saw stays in order.
//
// # Cursor
//
// A cursor carries, for each branch, the key behind which to go on: a LastEvaluatedKey each. It is bound to the tenant, the
// name, the version, and everything that the query reads; for any other query, or if a byte of it was changed,
// it is a [CursorError] and nothing is read. It does not expire, and pages may differ in size and consistency.
//
// With [Config.Secrets] nobody else can make one. Without, it has a checksum, and whoever forges one can skip or repeat items
// of the very branches that the caller reads, no others: partitions come from the Query alone, and DynamoDB refuses a
// start outside the range. A cursor shows keys to whoever decodes it.
//
// # Cost
//
// A Query is charged for what it evaluates: half a read unit for each 4 KiB begun, one if strongly consistent, and at least
// that much for every branch, empty ones too. A page of L items over N branches first asks every branch for s + 2√s
// items, s = L/N rounded up: the even share of hashed keys, and a little more. A branch that runs out is asked for twice
// as many, but never for more than are still wanted. What is read ahead and not returned is read again for the next page;
// [Usage] tells exactly what was read.
//
//	100 items of 0.4 KiB on 13 shards   13 requests, 14 items of 5.6 KiB each, 13 read units; one partition would be 5
//	nothing on 13 shards                13 requests, 6.5 read units
//
// A page without items but with a continuation is followed, until there is an item, the end, or the context does.
//
// # Limits
//
// At most [MaxBranches] branches and [MaxLimit] items a page. A cursor grows with the branches, by about the size of their keys:
// 13 shards of an outbox take about 2.4 KB.
//
// # What it does not do
//
// It does not filter: that lowers no price, so leave items out in the loop. It does not join, and it has no total over branches
// that change at the same time: every branch is read at its own moment. It does not retry; the AWS client does.
package fanout
