package fault

import (
	"cmp"
	"slices"
)

// All returns the codes of every package, ordered by their identifiers. docs/errors.md is generated from it.
func All() []Code {
	all := slices.Concat(
		Keys,
		Shardmap,
		Capacity,
		Money,
		Txn,
		Idempotency,
		SentinelCodes,
		Dynamosim,
		Export,
		Outbox,
		Inbox,
		Projection,
		Fanout,
		Ledger,
		LedgerProof,
		Reconcile,
		Lambda,
		Schema,
	)
	slices.SortFunc(all, func(a, b Code) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
