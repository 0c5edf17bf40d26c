// Package invariant tries to break promises. It runs several workers of a service against a DynamoDB that conflicts,
// throttles, loses answers, applies requests after their clients gave up, and against crashes and clocks that are off. It
// makes every choice by one seed, so a history that breaks an invariant can be repeated, and shrinks to a short one. It is
// for this library's own tests and for every service that imports it: give it your handler and your invariant.
//
//	func TestEveryPaymentHappensOnce(t *testing.T) {
//		invariant.Check(t, invariant.Config{}, func(w *invariant.World) {
//			w.Table("Payments")
//			w.Command("pay-1", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
//				return payments.New(p.Client(), p.Now).Pay(ctx, "pay-1", 100)
//			})
//			w.Run()    // bad weather
//			w.Settle() // faults stop: everything must finish; then every command is sent once more
//			w.Check("one answer", invariant.SameAnswers(w.Answers()))
//			w.Check("one payment", invariant.OneEffect(paymentsIn(w.Client()), []string{"pay-1"}))
//		})
//	}
//
// # The vocabulary
//
//	Worker      work that goes on through crashes until it has finished; each life is a Process
//	Command     clients ask for something, once or several at a time, until they have an answer
//	Crash       a worker dies where it stands; Run lets others die by chance
//	Skew        a worker's clock is off; chance sets every clock to begin with
//	Advance     time passes, requests that wait go on waiting
//	Run         safety: everything goes on in bad weather
//	Settle      liveness: the faults stop, and what is unfinished must finish within a bound
//	Always      an invariant after every request that may have changed something
//	Check       an invariant now
//	Sometimes   something rare that must have been tried
//
// # The driver
//
//	     ┌────────────────────────────────────────────────────────────────┐
//	     ▼                                                                │
//	synctest.Wait: every worker waits at the gate, for time, or has ended │
//	     │                                                                │
//	     ▼                                                                │
//	Gate.Pending: the requests, by worker and number                      │
//	     │                                                                │
//	     ├── none, workers wait for time ── let time run ─────────────────┤
//	     ├── none, all have finished ────── end                           │
//	     ▼                                                                │
//	chance: which request? ── then: which fate?                           │
//	     │                                                                │
//	     ├── deliver, lose, lose the answer, throttle, conflict, ...      │
//	     ├── tell the client it is lost and keep it: it lands later ──────┤
//	     ├── delay it: time passes, others go first ──────────────────────┤
//	     └── kill its worker, before or after the commit or in between ───┤
//	                                                                      │
//	     one request reaches the database; then the invariants ───────────┘
//
// Exactly one request is released at a time, on the driver's goroutine, so the order of events is the driver's. Time is
// virtual (testing/synctest): minutes of backoff and leases take no time, and time.Sleep, timers and contexts in your
// handler work as they are.
//
// # Four ways to run a story
//
//	Check      rapid draws the histories and shrinks a failing one; the test prints it and how to replay it
//	EachFault  every request of the story times every fault, crash and late commit; leaves nothing to chance
//	Run        one history from one seed
//	Find       histories from consecutive seeds until one fails, and History.Shrink; to see a harness find a known fault
//
// Check fails, too, if a fault that could have happened never did (after [Config.SometimesAfter] histories): a
// property that was never in trouble has proved nothing.
//
//	go test ./...                                             100 histories each
//	go test ./invariant -rapid.checks=10000 -timeout 12h      a soak
//
// # Linearizability
//
// What processes note with [Process.Begin] can be checked against a [Model]: [OneWinner] for claims, [Names] for unique
// names, [Balances], [Authority] for the balances of a ledger with their reservations, or your own. An operation that got no answer may have happened at any later time or never; that is
// what its caller knows. A failing history is drawn as an HTML page, which the failure names.
//
// # Books
//
// [ReadBooks] reads a whole ledger as it is stored, and [Books.Check] holds its records against one another: every
// asset adds up to zero, nothing is below its minimum, reservations are what is reserved, postings are what headers say, and
// count, sum and digest of the postings are what every balance says. It costs little enough for [World.Always].
//
// # What it does not model
//
//   - Workers that run at the same time. Requests are atomic and one worker moves at a time, so data races inside a
//     process are for the race detector. Two timers of the same instant are the exception; their workers must share
//     nothing but the database.
//   - Time inside the database, but for Config.IndexLag and [Config.Staleness]: heat and TTL are knobs of dynamosim, not
//     drawn here. A throttled or conflicting request meets an answer, not a cause.
//   - Part of a batch: BatchWriteItem and BatchGetItem succeed or fail as a whole.
//   - Page limits: queries stop where they ask to.
//   - Corrupted messages, a database that forgets, two Regions.
//   - Crashes between two requests: nothing outside the process changes there, so a crash at the next request stands for
//     them. Deferred functions of a dying process do run, but cannot reach the database.
//   - Goroutines that a handler starts and that never ask the database keep running when their process dies, until its context
//     ends. One that does not heed that either makes the test fail, which then names it.
//   - Reads that are lost and reads whose answer is lost are one fate.
//
// Determinism is yours to keep inside a handler: take time from [Process.Now], identifiers from [Process.NewID], jitter
// from [Process.Jitter], and do not let the order of a map decide what is sent.
package invariant
