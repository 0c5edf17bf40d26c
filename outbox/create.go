package outbox

import (
	"bytes"

	"github.com/dynafin/dynafin/txn"
)

// Create returns the part that stores an event in state READY (AP16): commit it together with the writes that make the
// fact true, and the fact and its event are there both or neither. If the event's ID is stored already, the Commit fails
// with a [DuplicateError] that says whether it is the same event; that costs no read. An event that breaks a rule makes
// the Commit fail with an [InvalidError] for every such field.
//
// Cost: 2 write units for each KiB begun of the record, which is the payload and about 0.6 KiB, and 1 unit for each KiB
// begun of its index entry, which is about 0.3 KiB.
func (o *Outbox) Create(e Event) txn.Part {
	const label = "AP16.create"
	write, err := o.create(e)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

func (o *Outbox) create(e Event) (txn.Write, error) {
	digest := e.digest()
	item, err := o.newRecord(e, digest[:])
	if err != nil {
		return txn.Write{}, err
	}
	return txn.Write{
		Action:    txn.ActionPut,
		Table:     o.config.Table,
		Item:      item,
		Condition: "attribute_not_exists(#pk)",
		Names:     map[string]string{"#pk": o.config.Table.PK},
		Fence:     true,
		Explain: func(old txn.Item) error {
			in := reader{id: e.ID, item: old}
			in.format()
			stored := in.binary(attrDigest)
			if in.err != nil {
				return in.err
			}
			return &DuplicateError{EventID: e.ID, Same: bytes.Equal(stored, digest[:])}
		},
	}, nil
}
