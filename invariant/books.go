package invariant

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// Books are all records of a ledger's table at one moment. They are read attribute by attribute, as the documentation of
// package ledger has them, and not by the code that wrote them, so that a mistake in it does not vouch for itself.
//
// ReadBooks scans the table: it is for the small tables of a history, between two requests.
type Books struct {
	authorities  map[authorityKey]*authority
	postings     []posting
	headers      map[transactionKey]*header
	links        map[transactionKey]txn.Item
	reservations map[transactionKey]*hold
	seals        map[sealKey]totals
	faults       []error
}

// authorityKey names a balance. It is an account in one asset, on one stripe.
type authorityKey struct {
	tenant, account, class, asset string
	stripe                        int
}

func (k authorityKey) String() string {
	if k.stripe == 0 {
		return k.account + " in " + k.asset
	}
	return fmt.Sprintf("%s in %s, stripe %d", k.account, k.asset, k.stripe)
}

// transactionKey names a transaction or a reservation.
type transactionKey struct{ tenant, id string }

type sealKey struct {
	authorityKey
	month string
}

// totals are control totals.
type totals struct {
	count  int64
	sum    *big.Int
	digest ledger.Digest
}

func (t totals) add(other totals) totals {
	if t.sum == nil {
		t.sum = new(big.Int)
	}
	return totals{t.count + other.count, new(big.Int).Add(t.sum, other.sum), t.digest.Add(other.digest)}
}

func (t totals) equal(other totals) bool {
	return t.count == other.count && t.digest == other.digest && plus(t.sum).Cmp(plus(other.sum)) == 0
}

func (t totals) String() string {
	return fmt.Sprintf("%d postings of %s (%s)", t.count, plus(t.sum), t.digest)
}

// plus adds up, nil being nothing.
func plus(addends ...*big.Int) *big.Int {
	sum := new(big.Int)
	for _, n := range addends {
		if n != nil {
			sum.Add(sum, n)
		}
	}
	return sum
}

type authority struct {
	credit                      bool
	minimum                     *big.Int // nil without one
	posted, reserved, available *big.Int
	open                        int64
	closed                      string // last closed month, six digits
	base                        totals
	months                      map[string]totals // by six digits
}

// own turns a signed amount into the account's own view.
func (a *authority) own(signed *big.Int) *big.Int {
	if a.credit {
		return new(big.Int).Neg(signed)
	}
	return signed
}

type posting struct {
	authorityKey
	month, transaction string
	line               int
	amount             *big.Int
	digest             ledger.Digest
}

type header struct {
	posted             bool
	effective          string
	lines              []posting // without digest and month
	reverses, captures string
}

type hold struct {
	authorityKey
	amount, left     *big.Int
	state            ledger.ReservationState
	capturedBy       []string
	expires, endedAt time.Time
}

// ReadBooks reads the whole table of a ledger, strongly consistent. What else is in the table is passed over.
func ReadBooks(ctx context.Context, client *dynamodb.Client, table txn.Table, book *ledger.Ledger) (*Books, error) {
	table = table.WithDefaults(ledger.DefaultTable)
	b := &Books{
		authorities: map[authorityKey]*authority{}, headers: map[transactionKey]*header{}, links: map[transactionKey]txn.Item{},
		reservations: map[transactionKey]*hold{}, seals: map[sealKey]totals{},
	}
	in := &dynamodb.ScanInput{TableName: &table.Name, ConsistentRead: aws.Bool(true)}
	for {
		out, err := client.Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, item := range out.Items {
			b.read(keys.Key{PK: textOf(item, table.PK), SK: textOf(item, table.SK)}, item, book)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return b, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// read files one record by the kind that its key says.
func (b *Books) read(k keys.Key, item txn.Item, book *ledger.Ledger) {
	var err error
	kind, _, _ := strings.Cut(k.SK, "#")
	switch kind {
	case "AUTH":
		err = b.readAuthority(k, item)
	case "SEAL":
		err = b.readSeal(k, item)
	case "POST":
		err = b.readPosting(k, item, book)
	case "HEADER":
		err = b.readHeader(k, item)
	case "LINKS":
		var of transactionKey
		of.tenant, of.id, err = keys.ParseLinks(k)
		b.links[of] = item
	case "RESERVATION":
		err = b.readReservation(k, item)
	}
	if err != nil {
		b.faults = append(b.faults, fmt.Errorf("record %s / %s: %w", k.PK, k.SK, err))
	}
}

func authorityOf(k keys.Key) (key authorityKey, err error) {
	if key.tenant, key.account, key.asset, err = keys.ParseCashAuthority(k); err == nil {
		key.class = "CASH"
		return key, nil
	}
	if key.tenant, key.account, key.asset, err = keys.ParseSecurityAuthority(k); err == nil {
		key.class = "SEC"
		return key, nil
	}
	key.tenant, key.account, key.stripe, key.class, key.asset, err = keys.ParseStripeAuthority(k)
	return key, err
}

func (b *Books) readAuthority(k keys.Key, item txn.Item) error {
	key, err := authorityOf(k)
	if err != nil {
		return err
	}
	a := &authority{
		credit: textOf(item, "side") == "C", posted: numberOf(item, "posted"), reserved: numberOf(item, "reserved"),
		available: numberOf(item, "available"), open: numberOf(item, "reservations").Int64(), closed: textOf(item, "closed"),
		base: totalsOf(item, "baseCount", "baseSum", "baseX", "baseY"), months: map[string]totals{},
	}
	if _, limited := item["minimum"]; limited {
		a.minimum = numberOf(item, "minimum")
	}
	for _, m := range setOf(item, "months") {
		a.months[m] = totalsOf(item, "n"+m, "s"+m, "x"+m, "y"+m)
	}
	b.authorities[key] = a
	return nil
}

func (b *Books) readSeal(k keys.Key, item txn.Item) error {
	s, err := keys.ParseSeal(k)
	stripe := 0
	if err != nil {
		var striped keys.StripeSeal
		striped, err = keys.ParseStripeSeal(k)
		s, stripe = striped.Seal, striped.Stripe
	}
	of := authorityKey{s.Tenant, s.Account, s.Class, s.Asset, stripe}
	b.seals[sealKey{of, strings.Replace(s.Month, "-", "", 1)}] = totalsOf(item, "count", "sum", "x", "y")
	return err
}

func (b *Books) readPosting(k keys.Key, item txn.Item, book *ledger.Ledger) error {
	at, err := keys.ParseStripePosting(k)
	if err != nil {
		at.Posting, err = keys.ParsePosting(k)
		at.Stripe = 0
	}
	if err != nil {
		return err
	}
	digest, ok := book.PostingDigest(item)
	if !ok {
		return fmt.Errorf("a posting with an attribute that no posting has")
	}
	b.postings = append(b.postings, posting{
		authorityKey: authorityKey{at.Tenant, at.Account, textOf(item, "class"), textOf(item, "asset"), at.Stripe},
		month:        strings.Replace(at.Month, "-", "", 1), transaction: at.Transaction, line: at.Line, amount: numberOf(item, "amount"), digest: digest,
	})
	return nil
}

func (b *Books) readHeader(k keys.Key, item txn.Item) error {
	var of transactionKey
	var err error
	of.tenant, of.id, err = keys.ParseTransaction(k)
	h := &header{posted: textOf(item, "state") == "POSTED", effective: textOf(item, "effectiveAt"), reverses: textOf(item, "reverses"), captures: textOf(item, "captures")}
	if list, ok := item["lines"].(*types.AttributeValueMemberL); ok {
		for i, value := range list.Value {
			m, ok := value.(*types.AttributeValueMemberM)
			if !ok {
				return fmt.Errorf("line %d is no map", i)
			}
			h.lines = append(h.lines, posting{
				authorityKey: authorityKey{of.tenant, textOf(m.Value, "account"), textOf(m.Value, "class"), textOf(m.Value, "asset"), int(numberOf(m.Value, "stripe").Int64())},
				transaction:  of.id, line: i, amount: numberOf(m.Value, "amount"),
			})
		}
	}
	b.headers[of] = h
	return err
}

func (b *Books) readReservation(k keys.Key, item txn.Item) error {
	var of transactionKey
	var err error
	of.tenant, of.id, err = keys.ParseReservation(k)
	h := &hold{
		authorityKey: authorityKey{of.tenant, textOf(item, "account"), textOf(item, "class"), textOf(item, "asset"), int(numberOf(item, "stripe").Int64())},
		amount:       numberOf(item, "amount"), left: numberOf(item, "left"), state: ledger.ReservationState(textOf(item, "state")), capturedBy: setOf(item, "capturedBy"),
	}
	if _, expires := item["expires"]; expires && err == nil {
		h.expires, err = keys.ParseTime(textOf(item, "expires"))
	}
	if _, ended := item["endedAt"]; ended && err == nil {
		h.endedAt, err = keys.ParseTime(textOf(item, "endedAt"))
	}
	b.reservations[of] = h
	return err
}

func textOf(item txn.Item, name string) string {
	if s, ok := item[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberOf(item txn.Item, name string) *big.Int {
	n := new(big.Int)
	if stored, ok := item[name].(*types.AttributeValueMemberN); ok {
		n.SetString(stored.Value, 10)
	}
	return n
}

func setOf(item txn.Item, name string) []string {
	if set, ok := item[name].(*types.AttributeValueMemberSS); ok {
		return set.Value
	}
	return nil
}

func totalsOf(item txn.Item, count, sum, x, y string) totals {
	t := totals{count: numberOf(item, count).Int64(), sum: numberOf(item, sum)}
	half := new(big.Int).Lsh(big.NewInt(1), 8*ledger.DigestBytes/2)
	new(big.Int).Mod(numberOf(item, x), half).FillBytes(t.digest[:ledger.DigestBytes/2])
	new(big.Int).Mod(numberOf(item, y), half).FillBytes(t.digest[ledger.DigestBytes/2:])
	return t
}
