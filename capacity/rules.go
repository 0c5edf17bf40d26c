package capacity

import "slices"

// Bytes covered by one unit.
const (
	WriteUnitBytes = 1024
	ReadUnitBytes  = 4096
)

// Consistency is how a read is consistent, which sets its price. The zero value is DynamoDB's own default.
type Consistency int

const (
	// Eventual costs half a unit for each started 4,096 bytes.
	Eventual Consistency = iota
	// Strong costs one unit.
	Strong
	// Transactional costs two units. It exists for TransactGetItems, not for Query or Scan.
	Transactional
)

var consistencies = [...]string{"eventual", "strong", "transactional"}

// MarshalText writes the name: eventual, strong or transactional.
func (c Consistency) MarshalText() ([]byte, error) {
	if c < Eventual || c > Transactional {
		return nil, &FigureError{Where: "Consistency", Reason: "is unknown"}
	}
	return []byte(consistencies[c]), nil
}

// UnmarshalText reads the name, so that an inventory can be a JSON file.
func (c *Consistency) UnmarshalText(text []byte) error {
	n := slices.Index(consistencies[:], string(text))
	if n < 0 {
		return &FigureError{Where: "Consistency", Reason: "is neither eventual nor strong nor transactional"}
	}
	*c = Consistency(n)
	return nil
}

// ReadUnits returns the read units for a size: of one item, or of everything that one Query evaluated. Nothing found
// costs the same as one byte.
func ReadUnits(bytes int, c Consistency) Units {
	chunks := Units(started(bytes, ReadUnitBytes))
	switch c {
	case Strong:
		return 2 * chunks
	case Transactional:
		return 4 * chunks
	default:
		return chunks
	}
}

// WriteUnits returns the write units for an item of a size: one for each started 1,024 bytes, at least one.
func WriteUnits(bytes int) int { return started(bytes, WriteUnitBytes) }

// ItemWriteUnits returns the write units that a Put, Update or Delete charges to the base table: those of the larger of
// the item before and the item after. A size of 0 means no item. A transaction charges twice this.
func ItemWriteUnits(before, after int) int { return WriteUnits(max(before, after)) }

// IndexWriteUnits returns the write units that keeping one index entry in step charges to the index, in a transaction
// or not, for a global or a local index. Sizes are those of the projected entry (table keys, index keys, projected
// attributes) before and after; 0 means that there is no entry. keyMoved says that the entry's index key differs,
// changed that anything projected differs. At 0 units DynamoDB leaves the index out of its answer.
//
//	before    after     units
//	absent    absent    0
//	absent    present   those of after
//	present   absent    those of before
//	present   present   keyMoved: the sum of both; changed: the larger of both; else 0
func IndexWriteUnits(before, after int, keyMoved, changed bool) int {
	switch {
	case before <= 0 && after <= 0:
		return 0
	case before <= 0:
		return WriteUnits(after)
	case after <= 0:
		return WriteUnits(before)
	case keyMoved:
		return WriteUnits(before) + WriteUnits(after)
	case changed:
		return ItemWriteUnits(before, after)
	default:
		return 0
	}
}

// started returns how many chunks a size starts, at least one.
func started(bytes, chunk int) int { return (max(bytes, 1)-1)/chunk + 1 }
