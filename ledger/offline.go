package ledger

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// LineIn reads the posting that an item of the table is, from a table export for example. ok is false for every other record.
// Errors: ErrCorrupt.
func (l *Ledger) LineIn(item txn.Item) (line Line, ok bool, err error) {
	if _, ok = postingPlace(l.keyOf(item)); !ok {
		return Line{}, false, nil
	}
	line, err = l.decodePosting(item)
	return line, true, err
}

// BalanceIn reads the balance that an item of the table is. ok is false for every other record. Errors: ErrCorrupt.
func (l *Ledger) BalanceIn(item txn.Item) (b Balance, ok bool, err error) {
	at, parseErr := keys.ParseAuthority(l.keyOf(item))
	if parseErr != nil {
		return Balance{}, false, nil
	}
	b, err = decodeAuthority(authorityRef(at), item)
	return b, true, err
}

func authorityRef(at keys.Authority) ref {
	return ref{tenant: at.Tenant, account: at.Account, class: at.Class, code: at.Asset, stripe: at.Stripe}
}

// postingPlace reads the key of a posting, on a stripe or not.
func postingPlace(key keys.Key) (keys.StripePosting, bool) {
	at, err := keys.ParseStripePosting(key)
	if err != nil {
		at.Stripe, at.Lane = 0, 0
		at.Posting, err = keys.ParsePosting(key)
	}
	return at, err == nil
}

// sealPlace reads the key of a seal, on a stripe or not.
func sealPlace(key keys.Key) (ref, Month, bool) {
	at, err := keys.ParseStripeSeal(key)
	if err != nil {
		at.Stripe = 0
		at.Seal, err = keys.ParseSeal(key)
	}
	return ref{tenant: at.Tenant, account: at.Account, class: at.Class, code: at.Asset, stripe: at.Stripe}, Month(at.Month), err == nil
}

// VerifyAll proves every balance that the items of a table have, all of them and in any order: a table export. It does what
// [Ledger.Verify] does, and takes nothing from the table. The reports come in the order of tenants, accounts, assets and stripes; a posting, or a
// seal, without a balance is a finding of the balance that it should have.
//
// torn are the keys of items of transactions that are torn at the export's boundary, whether the export has those items or
// not. Months and seals of their accounts that are not proved are reported as moved, as Verify does with months that others post to:
// it may be that boundary, and the next export will tell.
//
// A posting's digest is over its text. DynamoDB returns whole numbers in plain digits; should an export ever write them in another
// way, which is not documented, every month would be found changed, never proved wrongly.
//
// Memory grows with the balances and their months, about 300 bytes for each month, not with the postings. A record that cannot be
// read is a finding if its key says whose it is. Errors: those of items.
func (l *Ledger) VerifyAll(items iter.Seq2[txn.Item, error], torn []txn.Item) ([]Report, error) {
	if l.err != nil {
		return nil, l.err
	}
	all := offline{ledger: l, books: map[ref]*offlineBook{}, torn: map[offlineAccount]bool{}}
	for _, key := range torn {
		all.tear(l.keyOf(key))
	}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all.add(item)
	}
	var reports []Report
	for _, r := range slices.SortedFunc(maps.Keys(all.books), compareRefs) {
		reports = append(reports, all.report(r))
	}
	return reports, nil
}

func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.account, b.account), cmp.Compare(a.class, b.class),
		cmp.Compare(a.code, b.code), cmp.Compare(a.stripe, b.stripe))
}

// offline is a verification of all balances from items in any order.
type offline struct {
	ledger *Ledger
	books  map[ref]*offlineBook
	torn   map[offlineAccount]bool
}

type offlineAccount struct{ tenant, account string }

// offlineBook is what was seen of one balance.
type offlineBook struct {
	balance *Balance
	months  map[Month]Totals
	seals   map[Month]Seal
	odd     []Finding
	more    int
}

func (o *offline) book(r ref) *offlineBook {
	if o.books[r] == nil {
		o.books[r] = &offlineBook{months: map[Month]Totals{}, seals: map[Month]Seal{}}
	}
	return o.books[r]
}

func (b *offlineBook) find(f Finding) {
	if len(b.odd) == MaxFindings {
		b.more++
		return
	}
	b.odd = append(b.odd, f)
}

// tear notes the account of an item of a torn transaction.
func (o *offline) tear(key keys.Key) {
	if at, ok := postingPlace(key); ok {
		o.torn[offlineAccount{at.Tenant, at.Account}] = true
	} else if r, _, ok := sealPlace(key); ok {
		o.torn[offlineAccount{r.tenant, r.account}] = true
	} else if at, err := keys.ParseAuthority(key); err == nil {
		o.torn[offlineAccount{at.Tenant, at.Account}] = true
	}
}

// add counts one item.
func (o *offline) add(item txn.Item) {
	key := o.ledger.keyOf(item)
	if at, ok := postingPlace(key); ok {
		o.addPosting(key, at, item)
	} else if r, month, ok := sealPlace(key); ok {
		seal, err := decodeSeal(r, month, item)
		if err != nil {
			o.book(r).find(Finding{Kind: BrokenSeal, Month: month, Record: key.PK + " / " + key.SK, Detail: "cannot be read"})
			return
		}
		o.book(r).seals[month] = seal
	} else if at, err := keys.ParseAuthority(key); err == nil {
		r := authorityRef(at)
		b, err := decodeAuthority(r, item)
		if err != nil {
			o.book(r).find(Finding{Kind: BrokenTotals, Record: key.PK + " / " + key.SK, Detail: "cannot be read"})
			return
		}
		o.book(r).balance = &b
	}
}

// addPosting counts a posting. One that does not say of which asset it is belongs to the account as such.
func (o *offline) addPosting(key keys.Key, at keys.StripePosting, item txn.Item) {
	class, code, ok := assetOf(item)
	r, month := ref{tenant: at.Tenant, account: at.Account, class: class, code: code, stripe: at.Stripe}, Month(at.Month)
	book := o.book(r)
	odd := func(detail string) {
		book.find(Finding{Kind: ChangedPostings, Month: month, Record: key.PK + " / " + key.SK, Transaction: at.Transaction, Line: at.Line, Detail: detail})
	}
	if !ok {
		odd("does not say of which asset it is")
		return
	}
	line, err := o.ledger.decodePosting(item)
	digest, ok := o.ledger.PostingDigest(item)
	seen, known := book.months[month]
	if !known && err == nil {
		seen.Sum = money.Zero(line.Amount.Currency())
	}
	sum := seen.Sum
	if err == nil {
		sum, err = sum.Add(line.Amount)
	}
	if err != nil || !ok {
		odd("cannot be read")
		sum = seen.Sum
	}
	book.months[month] = Totals{Count: seen.Count + 1, Sum: sum, Digest: seen.Digest.Add(digest)}
}

// report judges one balance.
func (o *offline) report(r ref) Report {
	book := o.books[r]
	v := verifier{ledger: o.ledger, ref: r}
	v.report = Report{Place: r.place(), Done: true, More: book.more}
	v.report.find(book.odd...)
	if book.balance == nil {
		for _, month := range slices.Sorted(maps.Keys(book.months)) {
			v.report.find(Finding{Kind: ExtraPostings, Month: month, Found: book.months[month], Detail: "there is no balance that it is part of"})
		}
		for _, month := range slices.Sorted(maps.Keys(book.seals)) {
			v.report.find(Finding{Kind: BrokenSeal, Month: month, Found: book.seals[month].Totals, Detail: "there is no balance that it is of"})
		}
		return v.report
	}
	v.balance = *book.balance
	v.report.Recomputed.Sum = money.Zero(v.balance.Currency)
	months := map[Month]bool{}
	for _, open := range v.balance.Open {
		months[open.Month] = true
	}
	for month := range book.months {
		months[month] = true
	}
	for month := range book.seals {
		months[month] = true
	}
	torn := o.torn[offlineAccount{r.tenant, r.account}]
	for _, month := range slices.Sorted(maps.Keys(months)) {
		o.judge(&v, book, month, torn)
	}
	v.checkBalance(v.balance) // one record, so nothing tears it
	seals := verifier{ledger: o.ledger, ref: r}
	_ = seals.checkSeals(v.balance, sealsOf(book.seals)) // what is in memory can be read
	for _, finding := range seals.report.Findings {
		if torn {
			v.report.Moved = append(v.report.Moved, finding.Month)
		} else {
			v.report.find(finding)
		}
	}
	return v.report
}

// judge holds what was seen of a month against its control totals.
func (o *offline) judge(v *verifier, book *offlineBook, month Month, torn bool) {
	want := v.balance.month(month).Totals
	if month <= v.balance.ClosedThrough {
		want = book.seals[month].Totals
	}
	zero := Totals{Sum: money.Zero(v.balance.Currency)}
	if want == (Totals{}) {
		want = zero
	}
	seen, ok := book.months[month]
	if !ok || seen.Count == 0 {
		seen = zero
	}
	outcome, finding := judgeMonth(want, want, seen)
	finding.Month = month
	switch {
	case outcome == monthProved:
		v.report.Months++
	case torn:
		v.report.Moved = append(v.report.Moved, month)
	default:
		v.report.find(finding)
	}
	if all, err := v.report.Recomputed.Add(seen); err == nil {
		v.report.Recomputed = all
	} else {
		v.report.find(Finding{Kind: ChangedPostings, Month: month, Expected: want, Found: seen, Detail: "its postings have another scale, or are out of range"})
	}
	v.report.Postings += seen.Count
}

// sealsOf are seals in the order of their months.
func sealsOf(seals map[Month]Seal) iter.Seq2[Seal, error] {
	return func(yield func(Seal, error) bool) {
		for _, month := range slices.Sorted(maps.Keys(seals)) {
			if !yield(seals[month], nil) {
				return
			}
		}
	}
}
