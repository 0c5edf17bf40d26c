package dynamosim

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Expired is an item whose time to live is over and that is still stored.
type Expired struct {
	// Table is the name of its table.
	Table string
	// Item is the whole item.
	Item map[string]types.AttributeValue
}

// SweepExpired deletes expired items now, all that choose accepts, or all there are if choose is nil, and returns how
// many. DynamoDB promises no moment for it, typically some days, so a test may pick the worst one, and the worst items.
//
// Such a deletion consumes no units. Indexes and streams hear of it as of any other; the stream's record names the
// service as its author. Items are offered by table, then in the order of a Scan. An item that is written while choose
// looks is deleted only if it is expired still.
func (db *DB) SweepExpired(choose func(Expired) bool) int {
	found := db.expired()
	chosen := found[:0]
	for _, item := range found {
		if choose == nil || choose(Expired{item.Table, value.ToSDK(item.Item)}) {
			chosen = append(chosen, item)
		}
	}
	now := db.now()
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.engine.Sweep(now, chosen)
}

func (db *DB) expired() []engine.Expired {
	now := db.now()
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.engine.Expired(now)
}
