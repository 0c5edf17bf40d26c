package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	stored "github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

var anyTokenPolicy = []dynamosim.TokenPolicy{dynamosim.HonorTokens, dynamosim.IgnoreTokens, dynamosim.MismatchOnRepeat}

// world is a ledger behind a bad network, and its model.
type world struct {
	*bench
	ctx    context.Context
	wire   *wire
	faulty *dynamodb.Client
	model  *model
	posted []ledger.Transaction
	ids    int
	asked  []ledger.Reservation // whatever became of them
	ids2   []string             // of those that were made
	known  map[string]ledger.Reservation
	stands map[string]string // what never changes, as it was first seen
	seen   map[string]int
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	const slots, buckets = 4, 2
	config := ledger.Config{BucketPostings: 2 * slots, BucketKiB: 1 << 20, MonthlyCap: 2 * slots * buckets}
	b := setup(t, config, stores.Options{
		Tokens:             rapid.SampledFrom(anyTokenPolicy).Draw(rt, "tokens"),
		CanceledKeepsToken: rapid.Bool().Draw(rt, "canceled keeps token"),
	})
	w := &world{bench: b, ctx: t.Context(), known: map[string]ledger.Reservation{}, stands: map[string]string{}, seen: map[string]int{}, model: &model{
		accounts: map[string]*modelAccount{}, transactions: map[string]*modelTransaction{}, refused: map[string]bool{},
		reservations: map[string]*modelReservation{}, slots: slots, buckets: buckets,
	}}
	b.open(t, "bank", "ann-", "cash+") // with room for two assets each, so half of the slots
	b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "line-", Side: ledger.CreditSide, Assets: 2},
		ledger.Asset{Currency: usd, Minimum: dollars("-20.00")}))
	for _, name := range []string{"bank", "ann-", "cash+", "line-"} {
		w.model.accounts[name] = &modelAccount{
			credit: strings.HasSuffix(name, "-"), unlimited: name == "bank", held: map[string]int64{},
			months: map[ledger.Month]*modelMonth{}, version: 1,
		}
	}
	w.model.accounts["line-"].minimum = -2000
	w.wire = &wire{store: b.store, seen: w.seen}
	w.wire.lossy = dynamosim.Faulty(b.store, func(dynamosim.Call) dynamosim.Fate { return w.wire.next() })
	w.faulty = b.store.Client(func(o *dynamodb.Options) { o.HTTPClient = w.wire })
	return w
}

func (w *world) read(rt *rapid.T, account string) ledger.Balance {
	b, err := w.book.Balance(w.ctx, w.client, tenant, account, usd)
	if err != nil {
		rt.Fatal(err)
	}
	return b
}

// scan returns everything that is stored.
func (w *world) scan() []txn.Item {
	var all []txn.Item
	in := &dynamodb.ScanInput{TableName: &w.books.Name, ConsistentRead: aws.Bool(true)}
	for {
		out, err := w.client.Scan(w.ctx, in)
		if err != nil {
			panic(err) // the calm client does not fail
		}
		all = append(all, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return all
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// text is everything that is stored, to compare.
func (w *world) text() string {
	var lines []string
	for _, item := range w.scan() {
		lines = append(lines, fmt.Sprint(stored.Wire(&types.AttributeValueMemberM{Value: item})))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// standing holds what never changes against what it was before: postings, headers, seals, and reservations that have ended.
func (w *world) standing(rt *rapid.T) {
	now := map[string]string{}
	for _, item := range w.scan() {
		pk, sk := item["PK"].(*types.AttributeValueMemberS).Value, item["SK"].(*types.AttributeValueMemberS).Value
		state, _ := item["state"].(*types.AttributeValueMemberS)
		switch {
		case strings.HasPrefix(sk, "POST#"), strings.HasPrefix(sk, "SEAL#"), sk == "HEADER", sk == "RESERVATION" && state.Value != "OPEN":
			now[pk+" / "+sk] = fmt.Sprint(stored.Wire(&types.AttributeValueMemberM{Value: item}))
		}
	}
	for key, was := range w.stands {
		if now[key] != was {
			rt.Fatalf("%s was\n%s\nand is\n%s", key, was, now[key])
		}
	}
	w.stands = now
}

// agree holds everything that is stored against the model, and the totals against the stored postings.
func (w *world) agree(rt *rapid.T) {
	w.standing(rt)
	proved := w.recount(rt)
	sum := int64(0)
	for name, a := range w.model.accounts {
		b := w.read(rt, name)
		reserved := int64(0)
		for _, held := range a.held {
			reserved += max(held, -held)
		}
		if cents(b.Signed) != a.posted || cents(b.Reserved) != reserved || cents(b.Available) != a.available() ||
			b.Reservations != int64(len(a.held)) || b.Version != a.version {
			rt.Fatalf("%s: %+v is stored, the model has %+v", name, b, a)
		}
		if !a.unlimited && b.Available.Sign() < 0 {
			rt.Fatalf("%s: %s available", name, b.Available)
		}
		sum += a.posted
		w.agreeOnTotals(rt, b, a, proved[name])
	}
	if sum != 0 {
		rt.Fatalf("all accounts together have %d cents", sum)
	}
}

// agreeOnTotals holds the totals of one balance against what was counted, month by month and all together.
func (w *world) agreeOnTotals(rt *rapid.T, b ledger.Balance, a *modelAccount, counted map[ledger.Month]ledger.Totals) {
	all := ledger.Totals{Sum: money.Zero(usd)}
	var closed ledger.Totals
	for month, totals := range counted {
		var err error
		if all, err = all.Add(totals); err != nil {
			rt.Fatal(err)
		}
		if month <= b.ClosedThrough {
			if closed, err = closed.Add(totals); err != nil {
				rt.Fatal(err)
			}
			seal, err := w.book.Seal(w.ctx, w.client, b, month)
			if err != nil || seal.Totals != totals {
				rt.Fatalf("%s: the seal of %s is %+v, %v; the postings give %+v", b.Account, month, seal, err, totals)
			}
		}
	}
	for _, m := range b.Open {
		now := a.months[m.Month]
		if m.Totals != counted[m.Month] || m.Count != now.postings || m.Bucket != now.bucket || m.Room != now.room || now.sealed {
			rt.Fatalf("%s: %+v is stored of %s; the model has %+v and the postings give %+v", b.Account, m, m.Month, now, counted[m.Month])
		}
	}
	if b.Totals() != all || b.Closed.Count != closed.Count || b.Closed.Digest != closed.Digest {
		rt.Fatalf("%s: totals %+v and of closed months %+v; the postings give %+v and %+v", b.Account, b.Totals(), b.Closed, all, closed)
	}
}

// recount computes totals from nothing but the stored postings, and checks that no bucket is too full.
func (w *world) recount(rt *rapid.T) map[string]map[ledger.Month]ledger.Totals {
	all := map[string]map[ledger.Month]ledger.Totals{}
	full := map[string]int64{}
	for _, item := range w.scan() {
		pk, sk := item["PK"].(*types.AttributeValueMemberS).Value, item["SK"].(*types.AttributeValueMemberS).Value
		if !strings.HasPrefix(sk, "POST#") {
			continue
		}
		if full[pk]++; full[pk] > w.model.slots {
			rt.Fatalf("%s has %d postings", pk, full[pk])
		}
		part := strings.Split(pk, "#")
		account, month := part[3], ledger.Month(part[5])
		digest, ok := w.book.PostingDigest(item)
		amount, err := money.ParseMinor(item["amount"].(*types.AttributeValueMemberN).Value, usd)
		if !ok || err != nil {
			rt.Fatalf("%v: %v, %v", item, ok, err)
		}
		if all[account] == nil {
			all[account] = map[ledger.Month]ledger.Totals{}
		}
		if all[account][month], err = all[account][month].Add(ledger.Totals{Count: 1, Sum: amount, Digest: digest}); err != nil {
			rt.Fatal(err)
		}
	}
	return all
}

// wire records every transaction that is sent, and lets some fail.
type wire struct {
	store *stores.Store
	lossy aws.HTTPClient
	fates []dynamosim.Fate
	sent  []*sent
	seen  map[string]int
}

// sent is one attempt. applied says that its command was done.
type sent struct {
	request *http.Request
	body    []byte
	applied bool
	command command
}

// trouble chooses what befalls the first attempts of the next command.
func (w *wire) trouble(rt *rapid.T) {
	w.fates = rapid.SliceOfN(rapid.SampledFrom([]dynamosim.Fate{
		dynamosim.Deliver, dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.Throttle, dynamosim.Conflict, dynamosim.InProgress,
		dynamosim.InternalErrorBefore, dynamosim.InternalErrorAfter,
	}), 0, 3).Draw(rt, "fates")
}

func (w *wire) next() dynamosim.Fate {
	if len(w.fates) == 0 {
		return dynamosim.Deliver
	}
	fate := w.fates[0]
	w.fates = w.fates[1:]
	switch fate {
	case dynamosim.LoseAnswer, dynamosim.InternalErrorAfter:
		w.seen["lost answer"]++
	case dynamosim.LoseRequest:
		w.seen["lost request"]++
	}
	return fate
}

// Do implements aws.HTTPClient.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	w.sent = append(w.sent, &sent{request: request.Clone(context.WithoutCancel(request.Context())), body: body})
	request.Body = io.NopCloser(bytes.NewReader(body))
	return w.lossy.Do(request)
}

// again delivers a recorded attempt once more, past all faults.
func (w *wire) again(rt *rapid.T, s *sent) {
	s.request.Body = io.NopCloser(bytes.NewReader(s.body))
	response, err := w.store.Do(s.request)
	if err != nil {
		rt.Fatalf("deliver a copy: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		rt.Fatalf("deliver a copy: %v", err)
	}
}
