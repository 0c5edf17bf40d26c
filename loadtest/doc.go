// Package loadtest finds out what a lane holds before production does. It drives an operation of your service, with the
// real primitives through the real SDK client, against the simulator with partition heat on; under a distribution of keys
// that you choose; in virtual time. It reports the hottest key, throttles, how long callers wait, and the share of one key
// at which the lane breaks.
//
//	lane := func(s *loadtest.Stage) (loadtest.Do, error) {
//		book, committer := ledger.New(ledger.Config{Now: s.Now}), txn.New(s.Client, s.Txn)
//		... // create tables with s.DB, open accounts
//		return func(ctx context.Context, op loadtest.Op) error {
//			_, err := committer.Commit(ctx, book.Post(transfer(op.N, accounts[op.Key])))
//			return err
//		}, nil
//	}
//	report, err := loadtest.Run(ctx, lane, loadtest.Load{Rate: 1500, Keys: loadtest.Zipf(10_000, 1)})
//	fmt.Println(report) // does it hold?
//
//	breaking, err := loadtest.BreakingShare(ctx, lane, loadtest.Load{Rate: 1500})
//	fmt.Println(breaking) // up to which share of one key? BreakingRate: up to which rate?
//
// # Virtual time
//
// A run has a clock of its own. Operations start at their times of arrival, one goroutine runs at a time, and time goes on
// when it waits. So ten seconds of load take as long as their requests take to compute, on any machine, and one seed is one
// history, to the nanosecond. It works in tests and in programs alike.
//
//	arrivals, by Load.Rate and the seed ──┐
//	comes again, after a wait ────────────┤
//	Stage.Every: relays, sweepers ────────┼──► next in time ──► Do ──► answered
//	an answer is due (Load.Service) ──────┘                      │
//	                                                             └── throttled or in conflict: wait, come again
//
// Do makes one attempt. Stage.Client and Stage.Txn do not retry, because their waits would be real ones; the run does it,
// for whatever was throttled or in conflict, with the waits of package txn: drawn below 25 ms after a conflict and below
// 200 ms after throttling, doubled with every attempt, up to 2 s. So Do must be safe to repeat, and it says the same command
// with every attempt: take identifiers from Op.N. A refusal that is an answer, insufficient funds for example, is nil;
// every other error ends the run.
//
// # What holds
//
// A lane holds if at the end of the run no more than one in a hundred operations waits, of all and of those on the key that
// most are for. Above its limit a key falls behind by more with every second, so this finds an overload of one part in a
// hundred, whatever the run's length; a single throttle does not break a lane.
//
// # What it does not model
//
//   - Partitions that split or are shared by several keys, bursts unless Load.Heat has some, limits of the table and of
//     the account.
//   - Time, unless Load.Service has some; then transactions meet, and a hot item is held up by conflicts long before heat
//     does it. With a Service all requests of an operation must be sent by the goroutine that runs Do.
//   - Batching, and whatever else waits by itself: real timers stand still in virtual time. For those a testing/synctest
//     bubble does what this package does; the ledger's Batcher is measured in one.
package loadtest
