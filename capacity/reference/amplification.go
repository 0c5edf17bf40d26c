package reference

import (
	"fmt"

	"github.com/dynafin/dynafin/capacity"
)

// Scenario is one logical write and everything that it writes.
type Scenario struct {
	// ID is AMP01 to AMP18.
	ID string
	// Patterns are the access patterns that it serves.
	Patterns []string
	Name     string
	// Accesses are its writes, and for AMP08 its read.
	Accesses []capacity.Access
}

// Amplification is what a scenario costs in write units.
type Amplification struct {
	Scenario
	// Base is rounded per item, as if written alone; a transaction multiplies it by BaseMultiplier.
	Base, BaseMultiplier int
	// Index is the maintenance of index entries; nothing multiplies it.
	Index, IndexMultiplier int
	// Total is all of it.
	Total int
}

// Scenarios returns the scenarios.
func Scenarios() []Scenario {
	const insert, update, move = capacity.Insert, capacity.Update, capacity.Move
	accepted := []capacity.Access{
		inTransaction(insert, "IDX01", order), inTransaction(insert, "IDX08", request), inTransaction(insert, "IDX18", clientOrder),
		inTransaction(insert, "IDX02", orderSummary), inTransaction(insert, "IDX03", orderStatus),
	}
	of := func(id string, patterns []string, name string, accesses ...capacity.Access) Scenario {
		return Scenario{ID: id, Patterns: patterns, Name: name, Accesses: accesses}
	}
	return []Scenario{
		of("AMP01", []string{"AP01", "AP02"}, "create an order", write(insert, "IDX01", order), write(insert, "IDX02", orderSummary)),
		of("AMP02", []string{"AP03"}, "change the status of an order", write(update, "IDX01", order), write(move, "IDX03", orderStatus)),
		of("AMP03", []string{"AP04", "AP05", "AP06"}, "write a trade", write(insert, "IDX04", trade),
			write(insert, "IDX05", tradeOfAccount), write(insert, "IDX06", tradeOfSymbol)),
		of("AMP04", []string{"AP07"}, "update a view", write(update, "IDX07", position)),
		of("AMP05", []string{"AP08", "AP17"}, "claim a request and a name", inTransaction(insert, "IDX08", request), inTransaction(insert, "IDX18", clientOrder)),
		of("AMP06", []string{"AP09"}, "receive an event", inTransaction(insert, "IDX09", receipt), inTransaction(update, unbound, protected)),
		of("AMP07", []string{"AP10", "AP12"}, "post two lines to one balance", inTransaction(insert, "IDX10", posting), inTransaction(insert, "IDX10", posting),
			inTransaction(update, "IDX11", authority)),
		of("AMP08", []string{"AP11"}, "read a ledger", query("IDX10", 1, posting, capacity.Strong)),
		of("AMP09", []string{"AP13"}, "move a checkpoint", write(update, "IDX12", checkpoint)),
		of("AMP10", []string{"AP14"}, "write the metadata of a batch", write(update, "IDX13", batchMetadata)),
		of("AMP11", []string{"AP15"}, "record a discrepancy", write(insert, "IDX14", discrepancy), write(insert, "IDX15", discrepancy)),
		of("AMP12", []string{"AP16"}, "create an event", outboxCreate()...),
		of("AMP13", []string{"AP18"}, "hand a request to repair", write(update, "IDX08", request), write(insert, "IDX19", repair)),
		of("AMP14", []string{"AP01", "AP02", "AP03", "AP08", "AP16", "AP17"}, "accept an order", append(accepted, outboxCreate()...)...),
		of("AMP15", []string{"AP16"}, "claim an event", outboxClaim()...),
		of("AMP16", []string{"AP16"}, "complete an event", outboxComplete()...),
		of("AMP17", []string{"AP16"}, "return an event for another attempt", outboxRetry()...),
		of("AMP18", []string{"AP16"}, "reschedule an event", outboxMove()...),
	}
}

// Amplifications returns what each scenario costs.
//
// An error says that inventory and scenarios do not fit together; those of this package do.
func Amplifications() ([]Amplification, error) {
	var all []Amplification
	for _, s := range Scenarios() {
		a, err := s.amplification(Inventory())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.ID, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// amplification prices the writes as they are, and each alone outside of a transaction: the ratio is the multiplier.
func (s Scenario) amplification(i capacity.Inventory) (Amplification, error) {
	var writes, alone []capacity.Access
	for _, a := range s.Accesses {
		if a.Do.Kind() == capacity.Writes {
			writes = append(writes, a)
			a.Consistency = capacity.Eventual
			alone = append(alone, a)
		}
	}
	table, index, err := i.Units(capacity.Operation{Name: s.Name, Accesses: writes})
	if err != nil {
		return Amplification{}, err
	}
	baseAlone, indexAlone, err := i.Units(capacity.Operation{Name: s.Name, Accesses: alone})
	if err != nil {
		return Amplification{}, err
	}
	return Amplification{
		Scenario: s,
		Base:     count(baseAlone), BaseMultiplier: multiplier(table, baseAlone),
		Index: count(indexAlone), IndexMultiplier: multiplier(index, indexAlone),
		Total: count(table + index),
	}, nil
}

// count is a number of write units, which are always whole.
func count(u capacity.Units) int { return int(u / capacity.Whole(1)) }

func multiplier(together, alone capacity.Units) int {
	if alone == 0 {
		return 1
	}
	return int(together / alone)
}
