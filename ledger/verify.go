package ledger

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/money"
)

// Verification says which balance is proved from its postings, and how.
type Verification struct {
	// Tenant, Account, Asset and Stripe name the balance. Every stripe is verified by itself.
	Tenant, Account string
	Asset           money.Currency
	Stripe          int
	// From and Through bound the months, both included. Empty for no bound.
	From, Through Month
	// Strays looks also where no posting should be: in every month from From through Through, both of which it needs, and in
	// every bucket that a month may have. Nobody who reads the ledger sees what is there.
	Strays bool
	// Locate reads a month that is not proved once more, as many postings as were counted, and holds each against its
	// transaction.
	Locate bool
	// PageSize is how many postings one step reads at most. Default: as many as 1 MiB has.
	PageSize int
	// Checkpoint continues a verification that was broken off: the Checkpoint of a [Progress] or a [Report]. It is text
	// that may be stored, and it is refused for any other verification.
	Checkpoint string
	// Progress is called after every step. If it returns an error, Verify ends with that error.
	Progress func(Progress) error
}

// Progress says how far a verification has come.
type Progress struct {
	// Checkpoint continues it from here.
	Checkpoint string
	// Month is the one that is being read, empty when all are.
	Month Month
	// Postings is how many postings were read and counted, Findings how many findings there are.
	Postings int64
	Findings int
	// Units are the read units so far.
	Units capacity.Units
}

const (
	// verifyPasses is how often a month is read from its beginning while others post to it.
	verifyPasses = 3
	// verifyTails is how often each time what is new behind the last posting is read.
	verifyTails = 16
)

// Verify recomputes a balance from its postings and compares count, sum and digest with the control totals that were
// kept when they were posted: month by month with the balance's record or the month's seal. Then it holds the seals against
// one another, and the record against them and itself. A posting that is missing, was added or changed makes a
// difference; how many are missing is certain, which ones is not, unless [Verification.Locate] finds changed ones.
//
// It only reads, and holds up nobody. A month that is posted to meanwhile is compared with its totals before and after. If it
// is neither, what is new at its end is read and compared again, 16 times, which is all it takes where transactions are effective
// when they are posted; then the month is read anew, three times at most. A month that was never caught is reported as moved,
// never as proved and never as broken. Closed months do not move. What is proved is a state that the balance had during the call.
//
// Memory does not grow with the postings. The error is nil if Verify came to its end, whatever it found: ask [Report.Err].
// After an error the report is what there is so far, with a checkpoint. Errors: ErrInvalid, ErrNotFound, ErrCursor,
// ErrCorrupt (the balance itself, or a seal, cannot be read), ErrRead.
//
// Cost: 2 read units for the balance, at the beginning and at the end, and 1 for each month: for its seal, or for the balance
// again; 1 for each 4 KiB of seals at the end; and the postings, of all assets that share the partitions, 1 for each 4 KiB
// begun of a page and for each partition at least. A posting has about 0.3 KiB, so 1,000 of them take about 75. Locate
// takes 1 more for each transaction of a month that is not proved.
func (l *Ledger) Verify(ctx context.Context, client Client, of Verification) (_ Report, err error) {
	ctx, op := l.watch.Begin(ctx, "AP14.verify")
	defer op.End(&err)
	v, err := l.verifier(client, of)
	if err != nil {
		return Report{}, err
	}
	if of.Checkpoint == "" {
		err = v.begin(ctx, "")
	} else {
		err = v.authority(ctx)
	}
	for err == nil && v.phase != verifyDone {
		if err = v.step(ctx); err == nil && of.Progress != nil {
			err = of.Progress(v.progress())
		}
	}
	return v.finalReport(), err
}

// verifyPhase is what the next step does.
type verifyPhase string

const (
	verifyRead   verifyPhase = "read"   // a page of the month's postings
	verifyLocate verifyPhase = "locate" // a page of them again, against their transactions
	verifyTotals verifyPhase = "totals" // seals and the record itself
	verifyDone   verifyPhase = "done"
)

// verifyPosition is how far a month was read: behind a sort key of a partition.
type verifyPosition struct {
	Bucket, Lane int
	Behind       string
	End          bool // no partition is left
}

// verifier is a verification under way. What is not in a verification or a checkpoint is read again when it continues.
type verifier struct {
	Verification
	ledger  *Ledger
	client  Client
	ref     ref
	balance Balance // as it was last read
	entry   Entry   // the transaction that Locate read last
	verifyState
}

// verifyState is what a checkpoint has.
type verifyState struct {
	phase        verifyPhase
	month        Month
	last         int  // bucket
	sealed       bool // its totals are those of a seal
	at           verifyPosition
	before, seen Totals
	odd          []Finding // about single postings in this pass
	pass, tails  int
	unlocated    int64 // postings that Locate has still to look at
	report       Report
}

func (l *Ledger) verifier(client Client, of Verification) (*verifier, error) {
	invalid := func(field, reason string) (*verifier, error) {
		return nil, &InvalidError{What: "verification", ID: of.Account, Field: field, Reason: reason}
	}
	v := &verifier{Verification: of, ledger: l, client: client, ref: refOf(of.Tenant, of.Account, of.Asset, of.Stripe)}
	_, err := v.ref.key()
	switch {
	case l.unusable() != nil:
		return nil, l.unusable()
	case err != nil:
		return nil, invalidKey("verification", of.Account, err)
	case of.From != "" && !of.From.Valid() || of.Through != "" && !of.Through.Valid():
		return invalid("From", `or Through is not a month such as "2026-11"`)
	case of.From != "" && of.Through != "" && of.From > of.Through:
		return invalid("Through", "is before From")
	case of.Strays && (of.From == "" || of.Through == ""):
		return invalid("Strays", "needs From and Through")
	case of.PageSize < 0 || of.PageSize > maxPageSize:
		return invalid("PageSize", "is negative, or above a million")
	}
	v.report.Place = v.ref.place()
	if of.Checkpoint != "" {
		err = v.restore(of.Checkpoint)
	}
	return v, err
}

const maxPageSize = 1_000_000

// step does one step, or nothing if it returns an error.
func (v *verifier) step(ctx context.Context) (err error) {
	before := v.verifyState
	switch v.phase {
	case verifyRead:
		err = v.readPage(ctx)
	case verifyLocate:
		err = v.locatePage(ctx)
	default:
		err = v.checkTotals(ctx)
	}
	if err != nil {
		before.report.Units = v.report.Units // what was read was charged
		v.verifyState = before
	}
	return err
}

// metered makes requests report what they take, and adds it up.
type metered struct {
	Client
	units *capacity.Units
}

func (m metered) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, in, opts...)
	if err == nil {
		*m.units += units(out.ConsumedCapacity)
	}
	return out, err
}

func (m metered) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.Query(ctx, in, opts...)
	if err == nil {
		*m.units += units(out.ConsumedCapacity)
	}
	return out, err
}

// reads is the client of a verification, which is not used concurrently.
func (v *verifier) reads() Client { return metered{v.client, &v.report.Units} }

// authority reads the balance.
func (v *verifier) authority(ctx context.Context) (err error) {
	v.balance, err = v.ledger.StripeBalance(ctx, v.reads(), v.Tenant, v.Account, v.Asset, v.Stripe)
	return err
}

func (v *verifier) progress() Progress {
	return Progress{
		Checkpoint: v.checkpoint(), Month: v.month, Postings: v.report.Postings + v.seen.Count,
		Findings: len(v.report.Findings) + v.report.More, Units: v.report.Units,
	}
}

func (v *verifier) finalReport() Report {
	r := v.report
	if r.Done = v.phase == verifyDone; !r.Done && v.phase != "" {
		r.Checkpoint = v.checkpoint()
	}
	return r
}
