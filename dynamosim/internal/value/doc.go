// Package value holds DynamoDB's attribute values and items in one immutable, compact form, and knows everything
// about a value that does not need an expression: its wire JSON, order, equality, size, number arithmetic and key bytes.
//
// An item is one string. Nothing in it points anywhere, so an item costs little more memory than DynamoDB would charge
// for it, a million items are no work for the garbage collector, and whoever holds an item can never see it change.
//
//	item    = map
//	map     = "" | count { name-length name entry }     sorted by name, each name once
//	list    = "" | count { entry }
//	set     = "" | count { length element }             sorted, each element once
//	entry   = kind length payload
//	number  = its order-preserving key bytes (key.go)
//
// Counts and lengths are unsigned varints. The form is canonical: two values are equal exactly if their bytes are, set
// order and the spelling of numbers included.
//
// Smallest use:
//
//	item, err := value.DecodeItem([]byte(`{"PK":{"S":"a"},"n":{"N":"0042"}}`))
//	n, ok := item.Get("n") // n.Text() == "42"
//
// What it does not do: table schemas, the 400 KB gate and key length limits belong to the engine.
package value
