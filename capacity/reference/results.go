package reference

import (
	"fmt"
	"math/big"

	"github.com/dynafin/dynafin/capacity"
)

// Bounds of a ledger: postings of one account and month, and what one bucket takes of them.
const (
	postingsOfMonth  = 2_000_000
	postingsOfBucket = 250_000
	bucketBytes      = 150_000 << 10
)

// Result is one named figure.
type Result struct {
	// ID says what it is and in which unit.
	ID string
	// Value is the figure, exact.
	Value *big.Rat
}

// Results returns the named results, computed from the inventory and the scenarios.
//
// An error says that inventory and scenarios do not fit together; those of this package do.
func Results() ([]Result, error) {
	c, err := newCalculation()
	if err != nil {
		return nil, err
	}
	c.rounding()
	c.acceptedOrder()
	c.symbolTrades()
	c.receipts()
	c.checkpoints()
	c.outboxSteps()
	c.ledgerBuckets()
	return c.results, c.err
}

// calculation collects results and the first error.
type calculation struct {
	inventory      capacity.Inventory
	plan           *capacity.Plan
	amplifications map[string]Amplification
	results        []Result
	err            error
}

func newCalculation() (*calculation, error) {
	c := &calculation{inventory: Inventory(), amplifications: map[string]Amplification{}}
	plan, err := c.inventory.Plan()
	if err != nil {
		return nil, err
	}
	c.plan = plan
	all, err := Amplifications()
	for _, a := range all {
		c.amplifications[a.ID] = a
	}
	return c, err
}

func (c *calculation) add(id string, value *big.Rat) {
	c.results = append(c.results, Result{ID: id, Value: value})
}

func (c *calculation) count(id string, value int) { c.add(id, new(big.Rat).SetInt64(int64(value))) }

// price adds what accesses cost together.
func (c *calculation) price(id string, accesses ...capacity.Access) {
	table, index, err := c.inventory.Units(capacity.Operation{Name: id, Accesses: accesses})
	c.keep(err)
	c.add(id, big.NewRat(int64(table+index), int64(capacity.Whole(1))))
}

func (c *calculation) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *calculation) lane(id string) capacity.PlannedLane {
	lane, ok := c.plan.Lane(id)
	if !ok {
		c.keep(fmt.Errorf("there is no lane %s", id))
	}
	return lane
}

// bytes is what an access reads or writes.
func (c *calculation) bytes(a capacity.Access) *big.Rat {
	bytes, err := a.Bytes()
	c.keep(err)
	return bytes.Rat()
}

// rounding shows the rules: writes by 1 KiB, reads by 4 KiB, a Query once for its page, a batch for each item.
func (c *calculation) rounding() {
	const tenKiB = "10KiB"
	c.price("standard_write_units", write(capacity.Insert, "IDX01", order))
	c.count("base_plus_index_units", c.amplifications["AMP01"].Total)
	c.count("moved_index_units", c.amplifications["AMP02"].Total)
	c.price("strong_read_units", get("IDX01", tenKiB, capacity.Strong))
	c.price("eventual_read_units", get("IDX01", tenKiB, capacity.Eventual))
	c.price("transactional_read_units", get("IDX01", tenKiB, capacity.Transactional))
	c.price("query_eventual_units", query("IDX01", 1, "24000B", capacity.Eventual))
	c.price("batch_eventual_units", get("IDX01", "5KiB", capacity.Eventual), get("IDX01", "1KiB", capacity.Eventual))
}

func (c *calculation) acceptedOrder() {
	accepted := c.amplifications["AMP14"]
	c.count("accepted_order_v1_base_txn_units", accepted.Base*accepted.BaseMultiplier)
	c.count("accepted_order_v1_gsi_units", accepted.Index*accepted.IndexMultiplier)
	c.count("accepted_order_v1_total_units", accepted.Total)
}

func (c *calculation) symbolTrades() {
	lane := c.lane("L06")
	page := c.bytes(query("IDX06", 100, tradeOfSymbol, capacity.Eventual))
	c.add("ap06_page_kib", page.Quo(page, big.NewRat(1<<10, 1)))
	c.add("ap06_eventual_rru_per_page", big.NewRat(int64(lane.Units), int64(capacity.Whole(1))))
	c.add("ap06_aggregate_rru_s", lane.Demand.Rat())
	c.add("ap06_top_symbol_rru_s", lane.KeyDemand.Rat())
	c.count("ap06_shards", lane.Shards)
}

func (c *calculation) receipts() {
	lane := c.lane("L09A")
	c.count("ap09_atomic_path_wru_per_event", count(lane.Units+c.lane("L09B").Units))
	c.count("ap09_receipt_wru_per_event", count(lane.Units))
	c.add("ap09_receipt_aggregate_wru_s", lane.Demand.Rat())
	c.count("ap09_receipt_shards", lane.Shards)
	c.add("ap09_receipt_per_shard_wru_s", lane.Load.Rat())
	c.add("ap09_receipt_headroom_percent", lane.Headroom.Rat())
}

func (c *calculation) checkpoints() {
	lane := c.lane("L13")
	c.count("ap13_checkpoint_wru_per_event", count(lane.Units))
	c.add("ap13_checkpoint_aggregate_wru_s", lane.Demand.Rat())
	c.count("ap13_checkpoint_shards", lane.Shards)
	c.add("ap13_checkpoint_per_shard_wru_s", lane.Load.Rat())
	c.add("ap13_checkpoint_headroom_percent", lane.Headroom.Rat())
}

func (c *calculation) outboxSteps() {
	base, index := c.lane("L16A"), c.lane("L16B")
	for _, step := range []struct{ operation, base, index string }{
		{"create", "ap16_create_base_wru_s", "ap16_ready_create_insert_wru_s"},
		{"claim", "ap16_claim_base_wru_s", "ap16_ready_claim_delete_wru_s"},
		{"complete", "ap16_complete_base_wru_s", ""}, // is in no index
		{"retry", "ap16_retry_base_wru_s", "ap16_ready_retry_insert_wru_s"},
		{"move", "ap16_reschedule_base_wru_s", "ap16_ready_reschedule_move_wru_s"},
	} {
		c.add(step.base, c.load(base, step.operation).Demand.Rat())
		if step.index != "" {
			c.add(step.index, c.load(index, step.operation).Demand.Rat())
		}
	}
	c.add("ap16_base_total_wru_s", base.Demand.Rat())
	// Without retries and moves every event enters the index once and leaves it once.
	once := c.load(index, "create").Units + c.load(index, "claim").Units
	floor := c.load(index, "create").Rate.Rat()
	c.add("ap16_no_retry_move_floor_index_wru_s", floor.Mul(floor, big.NewRat(int64(once), int64(capacity.Whole(1)))))
	c.add("ap16_ready_index_wru_s", index.Demand.Rat())
	c.count("ap16_ready_shards", index.Shards)
	c.add("ap16_per_shard_wru_s", index.Load.Rat())
	c.add("ap16_headroom_percent", index.Headroom.Rat())
	total := base.Demand.Rat()
	c.add("ap16_total_lifecycle_wru_s", total.Add(total, index.Demand.Rat()))
}

// load is what one operation does to a lane.
func (c *calculation) load(lane capacity.PlannedLane, operation string) capacity.Load {
	for _, l := range lane.Loads {
		if l.Operation == operation {
			return l
		}
	}
	c.keep(fmt.Errorf("%s has no operation %s", lane.ID, operation))
	return capacity.Load{}
}

// ledgerBuckets: a month is cut into buckets by the number of postings and by their bytes, and both cuts agree.
func (c *calculation) ledgerBuckets() {
	month := c.bytes(capacity.Access{Route: "IDX10", Do: capacity.Insert, Items: postingsOfMonth, Size: posting})
	bucket := big.NewRat(bucketBytes, 1)
	buckets := max(ceil(new(big.Rat).Quo(month, bucket)), ceil(big.NewRat(postingsOfMonth, postingsOfBucket)))
	c.add("ledger_month_kib", new(big.Rat).Quo(month, big.NewRat(1<<10, 1)))
	c.count("ledger_sub_buckets", buckets)
	c.add("ledger_bucket_max_mib", bucket.Quo(bucket, big.NewRat(1<<20, 1)))
}

func ceil(r *big.Rat) int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return int(whole.Int64())
}
