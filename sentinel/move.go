package sentinel

import (
	"github.com/dynafin/dynafin/txn"
)

// Move returns the part that gives up one name and takes another, both or neither: a rename. The two must be of one
// tenant and kind. It fails as [Names.Release] does for the old name and as [Names.Reserve] does for the new one.
//
// Where both names are the same, the new claim replaces the old one in one write: another owner takes the name over,
// without a moment in which it is free; the same owner keeps it.
//
// Commit it together with the write that changes the name in the owner's own record.
//
// Cost: two items of at most 1 KiB, 4 write units; with the same name one item, 2 write units.
func (n *Names) Move(from Held, to Claim) txn.Part {
	const label = "AP17.move"
	writes, err := n.move(from, to)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (n *Names) move(from Held, to Claim) ([]txn.Write, error) {
	if to.Tenant != from.Tenant || to.Kind != from.Kind {
		return nil, &InvalidError{to.Tenant, to.Kind, to.Name, "Claim", "is of another tenant or kind than the name it replaces"}
	}
	if to.Name == from.Name {
		write, err := n.handOver(from, to)
		return []txn.Write{write}, err
	}
	take, err := n.reserve(to)
	if err != nil {
		return nil, err
	}
	leave, err := n.release(from)
	if err != nil {
		return nil, err
	}
	return []txn.Write{take, leave}, nil
}

// handOver replaces a claim by another on the same name. It is a write for the same owner too: a mere check costs as
// much, and is no fence for the transaction.
func (n *Names) handOver(from Held, to Claim) (txn.Write, error) {
	if _, err := n.heldKey(from); err != nil {
		return txn.Write{}, err
	}
	key, err := n.claimKey(to)
	if err != nil {
		return txn.Write{}, err
	}
	at, err := n.timestamp(to)
	if err != nil {
		return txn.Write{}, err
	}
	if err := n.checkSize(to, key, at); err != nil {
		return txn.Write{}, err
	}
	write := n.change(from, key)
	write.Update = "SET #version = :next, #owner = :owner, #command = :command, #reservedAt = :at"
	write.Names = substitutions(attrCommand, attrReserved)
	write.Values[":next"], write.Values[":owner"] = number(from.Version+1), text(to.Owner)
	write.Values[":command"], write.Values[":at"] = text(to.Command), text(at)
	return write, nil
}
