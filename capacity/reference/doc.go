// Package reference is the planned load of a brokerage on DynamoDB, as data: 18 access patterns on 19 routes, with sizes, peak
// rates and shares of the hottest keys, and every figure that follows from them, computed by package capacity.
//
//	plan, err := reference.Inventory().Plan()   // 21 lanes: units, shards, headroom, and what still needs a load test
//	table := reference.Amplifications()         // 18 scenarios: write units on tables and indexes
//	results := reference.Results()              // 46 named results
//
// No answer is typed in. The sizes and rates are planning inputs, not measurements, and a service replaces them with its
// own; the inventory is meant to be copied and changed. docs/sizing.md walks through it. The primitives of this module are
// built for these sizes, and a test measures every scenario on the real code.
package reference
