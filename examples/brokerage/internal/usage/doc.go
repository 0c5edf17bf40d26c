// Package usage says what the access patterns of a program cost, and which routes to the data they took. It looks at every
// request on its way to DynamoDB, reads from the keys which route it takes, and adds up the units that DynamoDB reports:
//
//	meter := usage.New(db, usage.Brokerage(), sizes)
//	client := db.Client(func(o *dynamodb.Options) {
//		o.HTTPClient, o.APIOptions = meter, append(o.APIOptions, usage.Keep)
//	})
//	...
//	for _, p := range meter.Patterns() { ... } // p.ID, p.Operations, p.Requests, p.Read, p.Write
//
// It stands next to the database, below whatever loses answers, so that a commit counts whether its answer arrived or not.
//
// A transaction reports units for each table, not for each item. They are divided by the sizes of its items; what that does not
// explain is counted by [Meter.Unexplained], and is nothing unless items shrink or others write the same item meanwhile.
package usage
