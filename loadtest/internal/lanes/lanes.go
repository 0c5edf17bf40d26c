package lanes

import (
	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/capacity/reference"
	"github.com/dynafin/dynafin/loadtest"
)

// Lane is a lane of the reference whose hottest key is not known, as a load test.
type Lane struct {
	// ID is that of the reference, What an operation does, and Key what one key is.
	ID, What, Key string
	// Open makes the lane for n keys.
	Open func(n int) loadtest.Lane
	// Writes says that operations are transactions, which meet on a hot item.
	Writes bool
}

func of(lane loadtest.Lane) func(int) loadtest.Lane { return func(int) loadtest.Lane { return lane } }

// All are the lanes in the reference's order. L16A is not among them: no event is for a second command, so its share
// cannot be chosen; see Sharded.
func All() []Lane {
	return []Lane{
		{ID: "L01", What: "read an order", Key: "order", Open: orders.lane},
		{ID: "L02", What: "list 100 orders of an account", Key: "account", Open: accountOrders.lane},
		{ID: "L03", What: "list orders by status", Key: "account and status", Open: statusOrders.lane},
		{ID: "L04", What: "read 20 trades of an order", Key: "order", Open: orderTrades.lane},
		{ID: "L05", What: "list 100 trades of an account", Key: "account", Open: accountTrades.lane},
		{ID: "L07", What: "read a position", Key: "account", Open: positions.lane},
		{ID: "L08", What: "`Requests.Once`", Key: "client key", Open: of(requests), Writes: true},
		{ID: "L09B", What: "`Inbox.Process`, the state", Key: "position", Open: of(protected), Writes: true},
		{ID: "L10", What: "`Ledger.Post`", Key: "account", Open: postings, Writes: true},
		{ID: "L11", What: "`Ledger.StatementPage`", Key: "account", Open: statements},
		{ID: "L12", What: "`Ledger.Reserve`", Key: "account", Open: authorizations, Writes: true},
		{ID: "L14", What: "write a batch of 20 KiB", Key: "tenant and day", Open: of(batches)},
		{ID: "L15A", What: "`Reconciler.Breaks`", Key: "batch", Open: of(breaks(false))},
		{ID: "L15B", What: "`Reconciler.Due`", Key: "status and shard", Open: of(breaks(true))},
		{ID: "L17", What: "`Names.Reserve`", Key: "client order ID", Open: of(names), Writes: true},
		{ID: "L18", What: "`Requests.Due`", Key: "tenant and shard", Open: of(repairs)},
	}
}

// Sharded is a lane of one business key that is spread over shards.
type Sharded struct {
	ID, What string
	// Rate is operations a second at the peak.
	Rate int
	// Open makes the lane with so many shards.
	Open func(shards int, named naming) loadtest.Lane
	// Table and Index say where its keys are.
	Table, Index string
}

// AllSharded are the lanes whose number of shards comes from a formula.
func AllSharded() []Sharded {
	return []Sharded{
		{ID: "L09A", What: "`Inbox.Process`, the receipts", Rate: 5000, Open: receipts, Table: "Inbox"},
		{ID: "L13", What: "`Namespace.Apply`, the checkpoints", Rate: 5000, Open: checkpoints, Table: "Projection"},
		{ID: "L16B", What: "`outbox`, the READY index", Rate: 5000, Open: events, Table: "Orders", Index: "GSI3"},
	}
}

// Symbols is AP06, whose hottest symbol is planned to get a known share.
func Symbols(n int) loadtest.Lane { return symbolTrades.lane(n) }

// Planned returns a lane of the reference's plan.
func Planned(id string) (capacity.PlannedLane, error) {
	plan, err := reference.Inventory().Plan()
	if err != nil {
		return capacity.PlannedLane{}, err
	}
	lane, _ := plan.Lane(id)
	return lane, nil
}

// Hottest returns the hottest key of a table or an index.
func Hottest(r *loadtest.Report, table, index string) loadtest.KeyLoad {
	for _, k := range r.Hottest {
		if k.Table == table && k.Index == index {
			return k
		}
	}
	return loadtest.KeyLoad{}
}
