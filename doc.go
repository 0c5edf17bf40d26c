// Package dynafin is the root of a family of reusable financial primitives on Amazon DynamoDB. It holds no code;
// import the packages below it:
//
//   - txn composes one transaction out of parts of several primitives and the caller's own writes;
//   - idempotency, sentinel and outbox are the primitives of the accepted-order route;
//   - money is exact amounts; shardmap places keys on shards; capacity is the cost model;
//   - dynamosim is the embedded DynamoDB that the tests and examples run on.
package dynafin
