// Package ledger is the authority on who has how much: balanced transactions whose postings never change, balances that
// cannot be spent twice, and control totals that prove every balance from its postings (AP10, AP11, AP12). Everything that
// writes is a [txn.Part], so a posting commits with an idempotency result, an inbox receipt and an outbox event, or not at all.
//
//	book := ledger.New(ledger.Config{})
//	_, err := txn.Commit(ctx, client,
//		requests.Once(request, result),
//		book.Post(ledger.Transaction{
//			Tenant: "acme", ID: "pay-1", EffectiveAt: at,
//			Postings: []ledger.Posting{
//				ledger.Debit("customer-7", price),  // what the house owes the customer goes down
//				ledger.Credit("revenue", price),
//			},
//		}),
//		events.Create(paid),
//	)
//	var poor *ledger.InsufficientError
//	if errors.As(err, &poor) { ... } // poor.Available, poor.Need
//
// # What holds
//
//   - A transaction has at least two postings and adds up to zero for every asset, or it is refused before anything is sent.
//   - Every balance that a transaction touches changes in the transaction itself, credits included.
//   - What an account may spend never falls below its minimum, under any interleaving, without a read beforehand.
//   - An identifier names one transaction, whatever month or bucket it lands in. A repeat says so and changes nothing.
//   - A reservation ends once. Captures add up to at most what was reserved, reversals to at most the original, line by line.
//   - A closed period takes no posting any more, and its count, sum and digest stand.
//
// # Signs
//
// An amount is signed: a debit is positive, a credit negative, and a transaction adds up to zero. Whether a debit makes an
// account richer depends on its normal [Side]: cash in a bank is a debit account, what is owed to a customer a credit
// account. [Balance] shows both: Signed, with debits positive, for trial balances; and Posted, Reserved and
// Available as the account's own side sees them, positive for what it has.
//
// # Posting without a read
//
// The balance of one account in one asset is one record, its authority. All that decides about a posting is on it:
// status, scale, period, room in the bucket, funds. Each is a clause of the write's condition. When a clause fails, DynamoDB
// returns the record with the refusal, and [Ledger.Post]'s part says which rule it was:
//
//	                   Post: lines, sums, scales are checked
//	                                   │
//	                       one TransactWriteItems
//	     ┌─────────────────┬───────────┴───────────┬───────────────────┐
//	header, if absent   posting 1, 2, ...    authority of a      authority of b
//	     │ is there                               │ a condition fails
//	     ▼                                        ▼
//	DuplicateError   NotFoundError, ClosedError, FrozenError, ScaleError, PeriodClosedError, LimitError,
//	RefusedError     VersionError, InsufficientError, CapError, RolledError
//
// RolledError asks for the same part once more: the posting goes to another bucket by now, which the Ledger has just learned
// from the refusal. [Ledger.Commit] does that by itself.
//
// The clauses add up: two postings of one transaction on one account and asset become one write of its authority. The
// default mode is commutative: any number of writers post at once, each on condition that enough is available. With
// [Transaction.Expect] a posting happens only if the authority still has the version on which the caller decided.
//
// # Hot accounts
//
// One item takes one write at a time, so posted to one by one an account takes about 200 transactions a second. A
// [Batcher] commits many independent transactions with one write of each balance that they share; each keeps its own outcome,
// and may bring parts of its own. An account without a minimum can have stripes, each with a balance of its own,
// and any account can spread its postings over lanes; [Account.Spread] places a transaction by its identifier, and [Ledger.Total]
// adds the stripes up. docs/ledger-throughput.md measures what that gives, docs/decisions/0012-batches-of-the-ledger.md says why so.
//
// # States of a reservation
//
//	                     ┌───────────┐
//	no record ─────────► │   OPEN    │ ───┐ (2) capture of a part
//	            (1)      └───────────┘ ◄──┘
//	          reserve      │   │   │
//	 (3) capture of the    │   │   │ (5) expire: its time has come,
//	 rest, or a last one   │   │   │     by the record and the caller's clock
//	           ┌───────────┘   │   └────────────┐
//	           ▼          (4)  │ release        ▼
//	    ┌──────────┐      ┌────▼─────┐     ┌─────────┐
//	    │ CAPTURED │      │ RELEASED │     │ EXPIRED │
//	    └──────────┘      └──────────┘     └─────────┘
//
// Each is a write on condition of the state, the version and the amounts that were read, together with the authority's. From its
// expiry on, an open reservation counts as EXPIRED to every reader and to every capture; its funds come back when
// [Ledger.Expire] has swept it. A refusal for good, in place of the record, is the one other state: REFUSED.
//
// # Records
//
// One table holds them all, with the two indexes of [Ledger.Indexes]. A capital word in a key is literal.
//
//	account      TEN#t#ACCT#a                              ACCOUNT                    side, status, assets, stripes, lanes
//	authority    TEN#t#ACCT#a                              AUTH#CASH#usd AUTH#SEC#s   one for each asset (and stripe)
//	seal         TEN#t#ACCT#a                              SEAL#CASH#usd#yyyy-mm      a closed month's totals
//	posting      TEN#t#ACCT#a#MONTH#yyyy-mm#BKT#nn         POST#effective#txn#line    never changes
//	header       TEN#t#TXN#txn                             HEADER                     never changes; or a refusal
//	links        TEN#t#TXN#txn                             LINKS                      what was reversed and corrected
//	reservation  TEN#t#RESERVATION#id                      RESERVATION                changes only while OPEN
//
//	index DUE    TEN#t#EXPIRY#shard                        DUE#expiry#id              open reservations that expire
//	index HELD   TEN#t#ACCT#a#RESERVED                     DUE#expiry#id              open reservations of an account
//
// A stripe above 0 has its authority and seals in TEN#t#ACCT#a#STRIPE#nnnn, and postings on a stripe or a lane are in
// TEN#t#ACCT#a#STRIPE#nnnn#LANE#nnnn#MONTH#yyyy-mm#BKT#nn.
//
// The authority, amounts as whole minor units, debits positive:
//
//	v           N  format of the record, 1
//	asset       S  code of the currency or security
//	class       S  CASH or SEC
//	scale       N  its decimal places; a posting of another scale is refused
//	side        S  D or C, the account's normal side
//	status      S  OPEN, FROZEN, CLOSED
//	minimum     N  what must stay available, on the account's own side; absent for an account without a minimum
//	posted      N  sum of all postings: the control sum
//	reserved    N  what open reservations would post; its sign is that of the posting
//	available   N  posted + reserved - minimum (a credit account: + minimum); never crosses zero while there is a minimum
//	reservations N open reservations
//	version     N  rises with every change
//	slots       N  of this asset in every bucket
//	lanes       N  partitions over which each bucket may be spread; absent for one
//	months      SS the open months that have postings, yyyymm
//	closed      S  last closed month, yyyymm; absent if none is
//	baseCount, baseSum, baseX, baseY  N  control totals of all closed months
//	nyyyymm     N  of an open month: postings
//	syyyymm     N  of an open month: their sum
//	xyyyymm, yyyyymm  N  of an open month: the two halves of their digest
//	ryyyymm     N  of an open month: slots left in the current bucket
//	byyyymm     N  of an open month: the current bucket; absent while it is 0
//	txnMark, txnUpdate  S  marks of the transactions that created it and wrote it last
//
// docs/decisions/0008-ledger-records.md says why.
//
// # Control totals
//
// The authority counts its postings and adds up their amounts and a [Digest], in the transaction that writes them. The
// digest of a posting is SHA-256 over its whole record; the digest of many is a sum, so it does not depend on their order.
// A changed, missing or additional posting makes the recomputed totals differ. It is no signature: whoever
// can rewrite postings can rewrite totals.
//
// [Ledger.Verify] recomputes a balance from its postings, step by step and with a checkpoint, and says what is missing, extra or
// changed. Who posts meanwhile is not held up:
//
//	totals ─► postings, page by page ─► totals ─┬─ the postings are those of one of the two: proved
//	             ▲                              ├─ they cannot be: a finding
//	             └── the end, or all of them ◄──┴─ they are between the two: read on; in the end the month is reported as moved
//
// [Ledger.VerifyAll] does the same for all balances from a table export, without reading the table.
//
// # Reading
//
// A statement ([Ledger.Statement], [Ledger.StatementPage]) merges the partitions of a month, one for each bucket, stripe and
// lane in use, and goes on month by month. Balances and seals say which months and buckets there are, so nothing is
// searched for. Its cursor continues that very query and no other.
//
// Times are two: when a posting is effective, and when it was recorded. [Ledger.BalanceAt] answers for any pair. It begins with
// the last seal and the totals of open months, and reads the postings of one month at most, unless it is asked what was known.
//
// Every read of a record is strongly consistent, but that of many records is not one moment: a [Ledger.TrialBalance] while others
// post may have a transaction in one row only. [Ledger.TrialBalanceCut] is one moment, at twice the price; the past
// ([Ledger.TrialBalanceAt]) holds still by itself. Only the two lists of open reservations, [Ledger.Held] and [Ledger.Due], lag.
//
// # Cost
//
// Write units, with every record within 1 KiB:
//
//	Post                2 header + 2 for each posting + 2 for each account and asset touched; no read
//	                    two postings and one authority, the case of AMP07, are 6; two accounts and the header make it 10
//	Reserve             4, and 1 for each index entry: HELD, and DUE if it expires
//	Refuse, RefuseReservation   2
//	Capture             Post, 2 for the reservation, and 1 for each of its index entries
//	Release, Expire     4, and 1 for each index entry
//	Reverse, Correct    Post, 2 for the links, and 2 for the check that the original is stored as it was read
//	ClosePeriod         2 authority + 2 for each month that is sealed
//	OpenAccount         2 account + 2 for each asset and stripe; OpenAsset the same
//
//	Balance, Account, Reservation   1 read unit, strongly consistent
//	Transaction                     1 read unit for each 4 KiB begun of the header
//	Balances, TrialBalance          1 for each 4 KiB begun of an account's balances, and for each stripe at least
//	Statement                       Balances for each month, and 1 for each 4 KiB begun of postings: about 13 of them
//	BalanceAt                       3, and the postings of one month up to the time
//	Verify                          2, 1 for each month, and all postings
//
// An authority is about 0.5 KiB and 105 bytes for each open month with postings, so four open months fit one unit. A header is about 0.25 KiB
// and 0.08 KiB for each posting.
//
// # Limits
//
// A transaction takes 100 writes, the caller's own included. A month of an account takes [Config.MonthlyCap] postings
// in buckets of [Config.BucketPostings] or [Config.BucketKiB], whichever is full first; past that it is refused, never grown.
// An amount, a balance and a minimum have at most [MaxDigits] digits of minor units. At most [MaxOpenMonths] months with
// postings are open at a time.
//
// # A refused identifier
//
// A transaction's header decides what its identifier means, for ever. A transaction that is refused for funds, or for any other
// state of an account, writes nothing: its identifier stays free, and the same transaction sent again is judged anew. A
// caller to whom a refusal is final commits [Ledger.Refuse] instead: it puts the refusal in the header's place, every
// later attempt gets a [RefusedError], and a copy that is still under way cannot post any more. For a reservation
// [Ledger.RefuseReservation] does the same.
//
// Beside an idempotency part that is not needed: its stored rejection replays, and a copy of the first attempt, which has that
// part too, fails on it.
//
// # What it does not do
//
// It does not round, convert or value. It does not choose accounts: a transaction names them, and an unknown one is an error.
// It does not sweep by itself: some process calls [Ledger.Due] and [Ledger.Expire]. Freezing and closing an account of
// more than 99 authorities takes more than one transaction.
package ledger
