// Package storetest says whether a store keeps what the primitives promise on it. Each function takes a client and the
// configuration of one primitive, does what the primitive is for, with rivals, repeats and lost answers, and returns
// every promise that was broken. The store may be DynamoDB with the tables of your own template, or another implementation
// that you test with:
//
//	func TestOurTables(t *testing.T) {
//		names := sentinel.Config{Table: txn.Table{Name: "acme-names", PK: "pk", SK: "sk"}}
//		if err := storetest.Sentinel(t.Context(), client, names); err != nil {
//			t.Error(err)
//		}
//	}
//
// What is tested where:
//
//	Txn          all or nothing, rivals, what a loser learns, lost answers, reported units     any table
//	Idempotency  one effect and one result, replays, mismatches, lost answers, Lookup          Config.Table
//	Repair       one claim, late losers, the repair index, repair                              Config.Table and its index
//	Sentinel     one winner, release, move, stale reads, lost answers                          Config.Table
//	Outbox       fact and event, the READY index, duplicates, lost answers                     Config.Table and its index
//	Inbox        one effect, repeats, mismatches, lost answers, Lookup                         Config.Table
//	Projection   order, repeats, gaps that fill, rivals, lost answers                          Config.Table
//
// A run costs a few hundred write units. It uses identities that no other run uses, and leaves its records behind, some
// of them READY events: give it tables that were made for the test, under the template of the real ones.
//
// Not tested: throttling, lag, what happens to a table over time. [github.com/dynafin/dynafin/invariant] tries to break
// the same promises in a simulated world, far more thoroughly; here it is the store that is on trial.
package storetest
