// Package capacity is DynamoDB's cost model as code: how many bytes an item has, how many read and write units a
// request consumes, and what a service needs that sends many of them. It is exact: sizes are whole bytes and units are
// whole halves; a float appears only where the DynamoDB API itself has one.
//
//	size := capacity.ItemSize(item)
//	write := capacity.WriteUnits(size)                       // 1 unit for each started 1,024 bytes
//	read := capacity.ReadUnits(size, capacity.Eventual)      // half a unit for each started 4,096 bytes
//
// # Sizes
//
// An item is the sum of its attributes: the UTF-8 length of the name plus the value.
//
//	S              UTF-8 bytes
//	B              raw bytes, not base64
//	BOOL, NULL     1
//	N              1, plus 1 for each started pair of significant digits on either side of the decimal point, plus 1 if
//	               negative; zero is 1
//	SS, NS, BS     the sum of the elements
//	L              3, plus 1 and the value for each element
//	M              3, plus 1, the name and the value for each entry
//
// # Reads
//
//	GetItem                ReadUnits(size, c); a missing item has size 0 and costs the minimum
//	BatchGetItem           the sum of ReadUnits over the items: each rounds alone
//	Query, Scan            ReadUnits of the summed size of all evaluated items: one rounding, before filter and projection
//	index Query, Scan      the same on the projected entries, charged to the index
//	TransactGetItems       the sum of ReadUnits(size, Transactional)
//
// # Writes
//
//	Put, Update, Delete    ItemWriteUnits(before, after)
//	in a transaction       twice that, for the base table alone
//	ConditionCheck         twice WriteUnits of the item it looked at; these are write units
//	each index, GSI or LSI IndexWriteUnits on the projected entries, never doubled
//	token replay           the sum of ReadUnits(max(before, after), Transactional); these are read units
//
// An unchanged write pays the table in full and no index. A failed condition is charged like the write it prevented, but
// DynamoDB does not report it; what a cancelled transaction costs is not documented, so plan with the full price.
//
// # Plans
//
// [Inventory.Plan] says from what a service does (rates, sizes, how the hottest key is hit) what each lane needs, and
// [Plan.Cost] what a month costs:
//
//	rate/s x units x share of the hottest key, over shards, against the target of 80 % of one partition key
//
// What is not measured stays unknown and is listed. The package reference below this one is a whole inventory, and
// docs/sizing.md walks through one.
//
// # What it does not do
//
// It does not validate items or count the 100 bytes of storage billed for each item. The private size rule by which
// UpdateItem refuses items within about 100 bytes of the limit is not modelled.
package capacity
