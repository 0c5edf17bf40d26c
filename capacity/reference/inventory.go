package reference

import "github.com/dynafin/dynafin/capacity"

// Sizes of items and of index entries, with names, keys and projected attributes.
const (
	order          = "1.2KiB"
	orderSummary   = "0.45KiB"
	orderStatus    = "0.35KiB"
	trade          = "0.9KiB"
	tradeOfAccount = "0.5KiB"
	tradeOfSymbol  = "0.4KiB"
	position       = "0.8KiB"
	request        = "0.7KiB"
	repair         = "0.3KiB"
	receipt        = "0.35KiB"
	protected      = "1KiB"
	posting        = "0.6KiB"
	authority      = "0.8KiB"
	checkpoint     = "0.3KiB"
	batch          = "20KiB"
	batchMetadata  = "1KiB"
	discrepancy    = "0.5KiB"
	event          = "1.6KiB"
	readyEntry     = "0.45KiB"
	clientOrder    = "0.2KiB"
)

// unbound stands for the state that an event consumer protects: its key belongs to another pattern.
const unbound = "PROTECTED_STATE_AP_REQUIRED"

// Inventory returns the planned load. Each call returns a copy of its own.
func Inventory() capacity.Inventory {
	return capacity.Inventory{Routes: routes(), Operations: operations(), Lanes: lanes()}
}

func routes() []capacity.Route {
	return []capacity.Route{
		{ID: "IDX01", Table: "Orders"},
		{ID: "IDX02", Table: "Orders", Index: "GSI1"},
		{ID: "IDX03", Table: "Orders", Index: "GSI2"},
		{ID: "IDX04", Table: "Execution"},
		{ID: "IDX05", Table: "Execution", Index: "GSI1"},
		{ID: "IDX06", Table: "Execution", Index: "GSI2"},
		{ID: "IDX07", Table: "Portfolio"},
		{ID: "IDX08", Table: "Idempotency"},
		{ID: "IDX09", Table: "Inbox"},
		{ID: "IDX10", Table: "Ledger"},
		{ID: "IDX11", Table: "Ledger"},
		{ID: "IDX12", Table: "Projection"},
		{ID: "IDX13", Table: "Reconciliation"},
		{ID: "IDX14", Table: "Reconciliation"},
		{ID: "IDX15", Table: "Reconciliation", Index: "GSI1"},
		{ID: "IDX16", Table: "Orders"},
		{ID: "IDX17", Table: "Orders", Index: "GSI3"},
		{ID: "IDX18", Table: "Orders"},
		{ID: "IDX19", Table: "Idempotency", Index: "GSI1"},
		{ID: unbound, Unbound: true},
	}
}

func get(route, size string, c capacity.Consistency) capacity.Access {
	return capacity.Access{Route: route, Do: capacity.Get, Consistency: c, Size: size}
}

func query(route string, items int, size string, c capacity.Consistency) capacity.Access {
	return capacity.Access{Route: route, Do: capacity.Query, Consistency: c, Items: items, Size: size}
}

func write(do capacity.Verb, route, size string) capacity.Access {
	return capacity.Access{Route: route, Do: do, Size: size}
}

// inTransaction is a write that commits together with others, or the change of an index entry that follows from one.
func inTransaction(do capacity.Verb, route, size string) capacity.Access {
	return capacity.Access{Route: route, Do: do, Consistency: capacity.Transactional, Size: size}
}

func operation(pattern, name, rate string, accesses ...capacity.Access) capacity.Operation {
	return capacity.Operation{Pattern: pattern, Name: name, Rate: rate, Accesses: accesses}
}

// operations are the patterns at their peak rates. A pattern whose page is not fixed is read with the smallest page that
// answers it: one position, one posting, one discrepancy. Resolving a discrepancy, with a strong read of 1 unit, is not
// planned for.
func operations() []capacity.Operation {
	const (
		eventual = capacity.Eventual
		strong   = capacity.Strong
	)
	move := outboxMove()
	return []capacity.Operation{
		operation("AP01", "get order", "2000", get("IDX01", order, strong)),
		operation("AP02", "list account orders", "1200", query("IDX02", 100, orderSummary, eventual)),
		operation("AP03", "list status orders", "400", query("IDX03", 1, orderStatus, eventual)),
		operation("AP04", "read order trades", "1500", query("IDX04", 20, trade, strong)),
		operation("AP05", "list account trades", "1000", query("IDX05", 100, tradeOfAccount, eventual)),
		operation("AP06", "list symbol trades", "2000", query("IDX06", 100, tradeOfSymbol, eventual)),
		operation("AP07", "read portfolio view", "3000", query("IDX07", 1, position, eventual)),
		operation("AP08", "claim request", "2000", inTransaction(capacity.Insert, "IDX08", request)),
		operation("AP09", "claim event", "5000", inTransaction(capacity.Insert, "IDX09", receipt), inTransaction(capacity.Update, unbound, protected)),
		operation("AP10", "append transaction", "1500", inTransaction(capacity.Insert, "IDX10", posting), inTransaction(capacity.Insert, "IDX10", posting),
			inTransaction(capacity.Update, "IDX10", authority)), // as if the authority shared the bucket's key: the worst case
		operation("AP11", "read ledger", "300", query("IDX10", 1, posting, strong)),
		operation("AP12", "authorize", "2000", inTransaction(capacity.Update, "IDX11", authority)),
		operation("AP13", "checkpoint", "5000", write(capacity.Update, "IDX12", checkpoint)),
		operation("AP14", "write batch", "20", write(capacity.Update, "IDX13", batch)),
		operation("AP15", "list due discrepancies", "200", query("IDX14", 1, discrepancy, eventual), query("IDX15", 1, discrepancy, eventual)),
		operation("AP16", "create", "5000", outboxCreate()...),
		operation("AP16", "claim", "5100", outboxClaim()...),
		operation("AP16", "complete", "5000", outboxComplete()...),
		operation("AP16", "retry", "100", outboxRetry()...),
		operation("AP16", "move", "20", move...),
		operation("AP17", "claim client order ID", "2000", inTransaction(capacity.Insert, "IDX18", clientOrder)),
		operation("AP18", "list due repairs", "100", query("IDX19", 1, repair, eventual)),
	}
}

// The steps of an event of the outbox: its item, and its entry in the sparse READY index.

func outboxCreate() []capacity.Access {
	return []capacity.Access{inTransaction(capacity.Insert, "IDX16", event), inTransaction(capacity.Insert, "IDX17", readyEntry)}
}

func outboxClaim() []capacity.Access {
	return []capacity.Access{write(capacity.Update, "IDX16", event), write(capacity.Remove, "IDX17", readyEntry)}
}

func outboxComplete() []capacity.Access {
	return []capacity.Access{write(capacity.Update, "IDX16", event)}
}

func outboxRetry() []capacity.Access {
	return []capacity.Access{write(capacity.Update, "IDX16", event), write(capacity.Insert, "IDX17", readyEntry)}
}

func outboxMove() []capacity.Access {
	return []capacity.Access{write(capacity.Update, "IDX16", event), write(capacity.Move, "IDX17", readyEntry)}
}

// lanes say how each load spreads. Only four shares are known.
func lanes() []capacity.Lane {
	const reads, writes = capacity.Reads, capacity.Writes
	return []capacity.Lane{
		{ID: "L01", Route: "IDX01", Kind: reads, Evidence: "the share of the hottest order is not measured"},
		{ID: "L02", Route: "IDX02", Kind: reads, Evidence: "the share of the hottest account is not measured"},
		{ID: "L03", Route: "IDX03", Kind: reads, Evidence: "neither the page nor the share of the hottest account and status is measured"},
		{ID: "L04", Route: "IDX04", Kind: reads, Evidence: "neither the share of the hottest order nor the number of its fills is measured"},
		{ID: "L05", Route: "IDX05", Kind: reads, Evidence: "the share of the hottest account is not measured"},
		{ID: "L06", Route: "IDX06", Kind: reads, Share: "0.08", Evidence: "planned: 8 % on the hottest symbol, one page a request"},
		{ID: "L07", Route: "IDX07", Kind: reads, Evidence: "how often one symbol or the whole account is read is not measured"},
		{ID: "L08", Route: "IDX08", Kind: writes, Evidence: "neither the hottest client key nor the mix of its states is measured"},
		{ID: "L09A", Route: "IDX09", Kind: writes, Share: "1", Evidence: "one consumer is one key, and the event ID spreads it over shards"},
		{ID: "L09B", Route: unbound, Kind: writes, Evidence: "the consumer has to name the lane of the state that it protects"},
		{ID: "L10", Route: "IDX10", Kind: writes, Evidence: "three items as in AMP07; neither the hottest account and month nor the number of postings is measured"},
		{ID: "L11", Route: "IDX10", Kind: reads, Evidence: "neither the hottest account nor the bytes of a page are measured"},
		{ID: "L12", Route: "IDX11", Kind: writes, Evidence: "the share of the hottest account and asset is not measured"},
		{ID: "L13", Route: "IDX12", Kind: writes, Share: "1", Evidence: "one projection is one key, and the source key spreads it over shards"},
		{ID: "L14", Route: "IDX13", Kind: writes, Evidence: "neither reads and writes apart nor the hottest tenant and date are measured"},
		{ID: "L15A", Route: "IDX14", Kind: reads, Evidence: "neither the mix with resolutions nor the bytes of a page are measured"},
		{ID: "L15B", Route: "IDX15", Kind: reads, Evidence: "neither the number of shards nor the hottest due queue is measured"},
		{ID: "L16A", Route: "IDX16", Kind: writes, Evidence: "events spread over their keys, but how these spread over partitions is not measured"},
		{ID: "L16B", Route: "IDX17", Kind: writes, Share: "1", Evidence: "one service is one key, and the event ID spreads all its steps over shards"},
		{ID: "L17", Route: "IDX18", Kind: writes, Evidence: "the share of the hottest client order ID is not measured"},
		{ID: "L18", Route: "IDX19", Kind: reads, Evidence: "neither the number of shards nor the hottest due queue is measured"},
	}
}
