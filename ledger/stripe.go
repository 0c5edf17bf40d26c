package ledger

import (
	"slices"

	"github.com/dynafin/dynafin/shardmap"
)

// Spread returns the transaction with its postings on this account placed on one of the account's stripes and lanes.
// Which one follows from the transaction's identifier alone, so every repeat of it, by any process, goes there too, and
// many transactions are spread evenly. The account is as [Ledger.Account] read it or as it was opened: stripes and lanes never
// change. Where a posting is placed does not make another transaction of it. [Ledger.Total] adds the stripes up.
func (a Account) Spread(tx Transaction) Transaction {
	a = a.withDefaults()
	place, err := shardmap.Shard(shardmap.HashV1, tx.ID, a.Stripes*a.Lanes)
	if err != nil || tx.Tenant != a.Tenant {
		return tx // an identifier without a place is one that Post refuses
	}
	tx.Postings = slices.Clone(tx.Postings)
	for i := range tx.Postings {
		if p := &tx.Postings[i]; p.Account == a.ID {
			p.Stripe, p.Lane = place/a.Lanes, place%a.Lanes
		}
	}
	return tx
}
