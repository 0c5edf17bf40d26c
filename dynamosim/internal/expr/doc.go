// Package expr is DynamoDB's expression language: condition, filter, key condition, projection and update expressions.
//
// Parsing resolves every #name and :value at once, so a parsed expression is immutable, needs nothing but an item to be
// applied to, and may be shared between goroutines. Every refusal is an [Error] whose text is the service's own.
//
// Smallest use:
//
//	subs := expr.NewSubs(map[string]string{"#n": "name"}, values) // values is an item: ":v" -> value
//	cond, err := expr.ParseCondition(expr.Condition, "attribute_not_exists(#n) OR #n = :v", subs)
//	err = subs.Unused()         // after all expressions of one request are parsed
//	ok, err := cond.Eval(item)  // the zero item stands for "no such item"
//
// What it does not do: key schemas, sizes and transactions belong to the engine.
package expr
