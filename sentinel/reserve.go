package sentinel

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/txn"
)

// Reserve returns the part that takes a name which nobody holds (AP17). If somebody does, the Commit fails with a
// [TakenError] that names the owner; that costs no read.
//
// Commit it together with the write that creates the owner: see the package documentation for why, and for what a
// repeated Reserve may do without it. A claim that breaks a rule makes the Commit fail with an [InvalidError].
//
// Cost: one item of at most 1 KiB, 2 write units.
func (n *Names) Reserve(c Claim) txn.Part {
	const label = "AP17.reserve"
	write, err := n.reserve(c)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

// reserve is an update and not a put, because the version of a name that was released before goes on rising.
// The condition also asks for the record's format: a record of an unknown format is not ours to change.
func (n *Names) reserve(c Claim) (txn.Write, error) {
	key, err := n.claimKey(c)
	if err != nil {
		return txn.Write{}, err
	}
	at, err := n.timestamp(c)
	if err != nil {
		return txn.Write{}, err
	}
	if err := n.checkSize(c, key, at); err != nil {
		return txn.Write{}, err
	}
	names := substitutions(attrCommand, attrReserved, attrReleased)
	names["#pk"] = n.table.PK
	return txn.Write{
		Action: txn.ActionUpdate,
		Table:  n.table,
		Key:    n.table.Key(key.PK, key.SK),
		Update: "SET #v = :v, #version = if_not_exists(#version, :zero) + :one, " +
			"#owner = :owner, #command = :command, #reservedAt = :at REMOVE #releasedAt",
		Condition: "attribute_not_exists(#pk) OR (#v = :v AND attribute_not_exists(#owner))",
		Names:     names,
		Values: map[string]types.AttributeValue{
			":v": format, ":zero": number(0), ":one": number(1),
			":owner": text(c.Owner), ":command": text(c.Command), ":at": text(at),
		},
		Explain: func(old txn.Item) error {
			h, held, err := decode(c.Tenant, c.Kind, c.Name, old)
			if err != nil || !held {
				return err
			}
			return &TakenError{c.Tenant, c.Kind, c.Name, h.Owner, h.Command == c.Command}
		},
	}, nil
}
