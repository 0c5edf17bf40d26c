package txn

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// Receipt says what a Commit did and what DynamoDB charged for it.
type Receipt struct {
	// Mark is the mark that the Commit left on its records.
	Mark string
	// Attempts is how many requests were sent.
	Attempts int
	// Items is how many writes the transaction had.
	Items int
	// Recovered says that an earlier attempt had been applied and its answer lost: this receipt comes from the proof, and
	// the units of the write itself were never reported.
	Recovered bool
	// Tables holds the write units of each table, by name; empty for a recovered Commit.
	Tables []TableUnits
	// ReplayRead is what DynamoDB charged, in read units, for answering a repeated request token.
	ReplayRead capacity.Units
}

// TableUnits are the write units of one table.
type TableUnits struct {
	// Table is the table's name.
	Table string
	// Base is what the items cost.
	Base capacity.Units
	// Indexes is what each index that changed cost, by name.
	Indexes []IndexUnits
}

// IndexUnits are the write units of one index.
type IndexUnits struct {
	// Index is the index's name.
	Index string
	// Units is what its entries cost.
	Units capacity.Units
}

// Base returns the write units of all items.
func (r Receipt) Base() capacity.Units {
	var sum capacity.Units
	for _, t := range r.Tables {
		sum += t.Base
	}
	return sum
}

// Index returns the write units of all index entries.
func (r Receipt) Index() capacity.Units {
	var sum capacity.Units
	for _, t := range r.Tables {
		for _, i := range t.Indexes {
			sum += i.Units
		}
	}
	return sum
}

// Total returns all write units.
func (r Receipt) Total() capacity.Units { return r.Base() + r.Index() }

func (r *run) receiptOf(out *dynamodb.TransactWriteItemsOutput) Receipt {
	receipt := Receipt{Mark: r.mark, Attempts: r.attempts, Items: len(r.steps)}
	for i := range out.ConsumedCapacity {
		c := &out.ConsumedCapacity[i]
		if c.ReadCapacityUnits != nil { // only a repeated token is charged for reading
			receipt.Recovered = true
			receipt.ReplayRead += units(c.CapacityUnits)
			continue
		}
		table := TableUnits{Table: text(c.TableName), Base: units(c.CapacityUnits)}
		if c.Table != nil {
			table.Base = units(c.Table.CapacityUnits)
		}
		table.Indexes = append(indexUnits(c.GlobalSecondaryIndexes), indexUnits(c.LocalSecondaryIndexes)...)
		receipt.Tables = append(receipt.Tables, table)
	}
	slices.SortFunc(receipt.Tables, func(a, b TableUnits) int { return cmp.Compare(a.Table, b.Table) })
	return receipt
}

func indexUnits(all map[string]types.Capacity) []IndexUnits {
	if len(all) == 0 {
		return nil
	}
	list := make([]IndexUnits, 0, len(all))
	for name, c := range all {
		list = append(list, IndexUnits{Index: name, Units: units(c.CapacityUnits)})
	}
	slices.SortFunc(list, func(a, b IndexUnits) int { return cmp.Compare(a.Index, b.Index) })
	return list
}

func units(wire *float64) capacity.Units {
	if wire == nil {
		return 0
	}
	return capacity.FromWire(*wire)
}
