// Package expr is DynamoDB's expression language: condition, filter, key condition, projection and update expressions.
//
// Parsing resolves every #name and :value at once, so a parsed expression is immutable, needs nothing but an item to be
// applied to, and may be shared between goroutines. Every refusal is an [Error] whose text is the service's own; of several
// faults the one is reported that the service reports (faults.go). Reading an expression, and applying it, takes time in
// proportion to its 4096 bytes and the item; nothing a request holds can make it panic or recurse without bound.
//
//	text -> lexer -> parser + Subs -> Condition    -> Eval
//	                                  KeyCondition -> Terms, Matches
//	                                  Projection   -> Apply
//	                                  Update       -> Apply, Create, Updated
//
// Smallest use:
//
//	subs := expr.NewSubs(map[string]string{"#s": "status"}, values) // values is an item: ":v" to value
//	err := subs.Check()                                             // before the first expression
//	cond, err := expr.ParseCondition(expr.ConditionExpression, "attribute_not_exists(PK) OR #s = :v", subs)
//	err = subs.Unused()        // after the last one
//	ok, err := cond.Eval(item) // the zero item stands for "no such item"
//
// What it does not do: key schemas, the size of whole items and transactions belong to the engine. A sum that needs more than 38
// digits is refused, as the service refuses it, never rounded.
package expr
