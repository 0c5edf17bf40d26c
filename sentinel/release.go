package sentinel

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// Release returns the part that gives up a name as it was read by [Names.Lookup]. Afterwards the name is free for
// anybody. If the name is no longer held as it was read, the Commit fails with a [NotOwnedError] or, if nobody holds
// it, a [NotFoundError], and changes nothing.
//
// Commit it together with the write that ends the owner.
//
// Cost: one item of at most 1 KiB, 2 write units.
func (n *Names) Release(h Held) txn.Part {
	const label = "AP17.release"
	write, err := n.release(h)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

// release takes the owner out of the record and keeps the record. The version that stays behind makes every request
// that named an earlier one fail for ever, and the mark that txn leaves proves the release if its answer is lost: a
// deleted item could do neither.
func (n *Names) release(h Held) (txn.Write, error) {
	key, err := n.heldKey(h)
	if err != nil {
		return txn.Write{}, err
	}
	at, err := n.timestamp(h.Claim)
	if err != nil {
		return txn.Write{}, err
	}
	write := n.change(h, key)
	write.Update = "SET #version = :next, #releasedAt = :at REMOVE #owner, #command, #reservedAt"
	write.Names = substitutions(attrCommand, attrReserved, attrReleased)
	write.Values[":next"], write.Values[":at"] = number(h.Version+1), text(at)
	return write, nil
}

// change is an update of a name that is held as it was read; the caller adds what it sets.
func (n *Names) change(h Held, key keys.Key) txn.Write {
	return txn.Write{
		Action:    txn.ActionUpdate,
		Table:     n.table,
		Key:       n.table.Key(key.PK, key.SK),
		Condition: "#v = :v AND #owner = :holder AND #version = :read",
		Names:     substitutions(),
		Values: map[string]types.AttributeValue{
			":v": format, ":holder": text(h.Owner), ":read": number(h.Version),
		},
		Fence: true,
		Explain: func(old txn.Item) error {
			now, held, err := decode(h.Tenant, h.Kind, h.Name, old)
			switch {
			case err != nil:
				return err
			case !held:
				return &NotFoundError{h.Tenant, h.Kind, h.Name}
			}
			return &NotOwnedError{h.Tenant, h.Kind, h.Name, h.Owner, h.Version, now.Owner, now.Version}
		},
	}
}
