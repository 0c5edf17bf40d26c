package ledger

import (
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Posting is one line of a transaction.
type Posting struct {
	// Account is the account's identifier.
	Account string
	// Amount is signed: a debit is positive, a credit negative. It is not zero.
	Amount money.Amount
	// Stripe is the authority, of an account that has several, from 0. Which one does not change the books:
	// [Account.Spread] chooses by the transaction's identifier.
	Stripe int
	// Lane is the partition of the posting, of an account whose postings are spread, from 0.
	Lane int
}

// Debit returns a posting that debits an account with an amount, usually a positive one.
func Debit(account string, amount money.Amount) Posting {
	return Posting{Account: account, Amount: amount}
}

// Credit returns a posting that credits an account with an amount, usually a positive one.
func Credit(account string, amount money.Amount) Posting {
	return Posting{Account: account, Amount: amount.Neg()}
}

// Expected is the version of a balance on which the caller decided.
type Expected struct {
	// Account, Currency and Stripe say which balance it is.
	Account  string
	Currency money.Currency
	Stripe   int
	// Version is that of the [Balance] that was read.
	Version int64
}

// Transaction is a set of postings that happen together or not at all, once. It cannot be changed afterwards; what was
// wrong is put right by [Ledger.Reverse] and [Ledger.Correct].
type Transaction struct {
	Tenant string
	// ID is unique within the tenant. It comes from the business, so that a repeat has the same.
	ID string
	// EffectiveAt is when it counts. Its month in UTC is the period it belongs to. Required.
	EffectiveAt time.Time
	// Postings are the lines, at least two. For every asset they add up to zero. Two equal lines are two.
	Postings []Posting
	// Source is the identifier of what it is about, in the caller's system. Optional; every posting carries it.
	Source string
	// Metadata is kept with the transaction.
	Metadata map[string]string
	// Expect names the versions of balances on which the caller decided. Each must be of an account and asset that is
	// posted to. Empty for the commutative mode: whoever posts at the same time, only funds decide.
	Expect []Expected
}

func (tx *Transaction) invalid(field, reason string) error {
	return &InvalidError{What: "transaction", ID: tx.ID, Field: field, Reason: reason}
}

// check holds the transaction against every rule that needs no stored record.
func (tx *Transaction) check() error {
	if _, err := keys.Transaction(tx.Tenant, tx.ID); err != nil {
		return invalidKey("transaction", tx.ID, err)
	}
	switch {
	case tx.EffectiveAt.IsZero():
		return tx.invalid("EffectiveAt", "is not set")
	case tx.EffectiveAt.UTC().Year() < 1 || tx.EffectiveAt.UTC().Year() > 9999:
		return tx.invalid("EffectiveAt", "is outside the years 1 to 9999")
	case !utf8.ValidString(tx.Source):
		return tx.invalid("Source", "is not valid UTF-8")
	case len(tx.Source) > maxReasonBytes:
		return &LimitError{What: "transaction", ID: tx.ID, Limit: "bytes of a source", Max: maxReasonBytes}
	case len(tx.Postings) < 2:
		return tx.invalid("Postings", "are fewer than two")
	case len(tx.Postings) >= txn.MaxItems:
		return &LimitError{What: "transaction", ID: tx.ID, Limit: "writes, its header and balances included", Max: txn.MaxItems}
	}
	if err := checkMetadata("transaction", tx.ID, tx.Metadata); err != nil {
		return err
	}
	return tx.checkBalanced()
}

// checkBalanced adds up the postings of each asset. All amounts of an asset have one scale.
func (tx *Transaction) checkBalanced() error {
	var space [4]money.Amount
	sums := space[:0]
next:
	for i := range tx.Postings {
		p := &tx.Postings[i]
		if err := tx.checkPosting(p); err != nil {
			return err
		}
		c := p.Amount.Currency()
		for j := range sums {
			other := sums[j].Currency()
			if other.Code() != c.Code() || other.Kind() != c.Kind() {
				continue
			}
			if other != c {
				return &ScaleError{Place: Place{Tenant: tx.Tenant, Account: p.Account, Asset: c.Code()}, Scale: c.Scale(), Stored: other.Scale()}
			}
			sum, err := sums[j].Add(p.Amount)
			if err != nil {
				return &LimitError{What: "transaction", ID: tx.ID, Limit: "digits of a sum of postings", Max: money.MaxDigits}
			}
			sums[j] = sum
			continue next
		}
		sums = append(sums, p.Amount)
	}
	for _, sum := range sums {
		if !sum.IsZero() {
			return &UnbalancedError{Tenant: tx.Tenant, Transaction: tx.ID, Asset: sum.Currency().Code(), Sum: sum}
		}
	}
	return nil
}

func (tx *Transaction) checkPosting(p *Posting) error {
	switch {
	case p.Amount.Currency() == (money.Currency{}):
		return tx.invalid("Postings", "have an amount without a currency")
	case p.Amount.IsZero():
		return tx.invalid("Postings", "have an amount of zero")
	case p.Stripe < 0 || p.Stripe >= MaxStripes || p.Lane < 0 || p.Lane >= MaxLanes:
		return tx.invalid("Postings", "have a stripe or a lane that no account has")
	case tooLong(p.Amount):
		return &LimitError{What: "transaction", ID: tx.ID, Limit: "digits of an amount", Max: MaxDigits}
	}
	return nil
}
