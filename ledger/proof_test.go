package ledger_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// Whatever is changed in a stored posting changes its digest: every attribute, the keys, and one that was not there.
func TestAChangedPostingHasAnotherDigest(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "fees")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "fees", "1.00")))
	for key, item := range b.dump(t) {
		if !strings.Contains(key, " / POST#") {
			continue
		}
		want, ok := b.book.PostingDigest(item)
		if !ok {
			t.Fatal("no digest")
		}
		for name, value := range item {
			changed := maps.Clone(item)
			switch v := value.(type) {
			case *types.AttributeValueMemberS:
				changed[name] = &types.AttributeValueMemberS{Value: v.Value + "x"}
			case *types.AttributeValueMemberN:
				changed[name] = &types.AttributeValueMemberN{Value: v.Value + "0"}
			}
			got, ok := b.book.PostingDigest(changed)
			if mark := name == txn.MarkAttribute; !ok || (got == want) != mark {
				t.Errorf("%s changed: digest %v, before %v", name, got, want)
			}
			delete(changed, name)
			if got, ok := b.book.PostingDigest(changed); ok && got == want && name != txn.MarkAttribute {
				t.Errorf("%s is gone, and the digest is the same", name)
			}
		}
		added := maps.Clone(item)
		added["note"] = &types.AttributeValueMemberS{Value: "hello"}
		if got, _ := b.book.PostingDigest(added); got == want {
			t.Error("an attribute more, and the digest is the same")
		}
		added["note"] = &types.AttributeValueMemberBOOL{Value: true}
		if _, ok := b.book.PostingDigest(added); ok {
			t.Error("a posting with a flag has a digest")
		}
	}
}

// Any program can recompute a digest from the documentation alone, of a posting with whatever attributes.
func TestTheDigestOfAPostingIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	plain := transfer("t-1", "bank", "ann-", "1.00")
	plain.Source = ""
	b.commit(t, b.book.Post(plain))
	b.commit(t, b.book.Post(transfer("t-2", "bank", "ann-", "2.00")))
	seen := 0
	for key, item := range b.dump(t) {
		if !strings.Contains(key, " / POST#") {
			continue
		}
		seen++
		odd := maps.Clone(item)
		odd["note"] = &types.AttributeValueMemberB{Value: []byte{0, 1}}
		for _, posting := range []txn.Item{item, odd} {
			names := []string{"PK", "SK"}
			for _, name := range slices.Sorted(maps.Keys(posting)) {
				if !slices.Contains([]string{"PK", "SK", txn.MarkAttribute, txn.UpdateMarkAttribute}, name) {
					names = append(names, name)
				}
			}
			text := []byte("dynafin.ledger.posting.1")
			add := func(s string) { text = append(binary.AppendUvarint(text, uint64(len(s))), s...) }
			for i, name := range names {
				if i > 1 {
					add(name)
				}
				switch v := posting[name].(type) {
				case *types.AttributeValueMemberS:
					text = append(text, 'S')
					add(v.Value)
				case *types.AttributeValueMemberN:
					text = append(text, 'N')
					add(v.Value)
				case *types.AttributeValueMemberB:
					text = append(text, 'B')
					add(string(v.Value))
				}
			}
			sum := sha256.Sum256(text)
			if d, ok := b.book.PostingDigest(posting); !ok || d != ledger.Digest(sum[:ledger.DigestBytes]) {
				t.Errorf("%s: %s, %v; the documentation says %x", key, d, ok, sum[:ledger.DigestBytes])
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d postings", seen)
	}
}

// Digests add up in any order and any grouping, and what is taken away again was never there.
func TestDigestsAreASum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Digest {
			return ledger.Digest(rapid.SliceOfN(rapid.Byte(), ledger.DigestBytes, ledger.DigestBytes).Draw(t, "bytes"))
		}), 1, 8).Draw(rt, "digests")
		var forward, backward ledger.Digest
		for _, d := range all {
			forward = forward.Add(d)
		}
		for _, d := range slices.Backward(all) {
			backward = d.Add(backward)
		}
		if forward != backward {
			rt.Fatalf("%s in one order, %s in the other", forward, backward)
		}
		for _, d := range all {
			backward = backward.Sub(d)
		}
		if backward != (ledger.Digest{}) {
			rt.Fatalf("%s is left", backward)
		}
	})
}

// A header that was changed behind the ledger's back is not given out, and a damaged record is named.
func TestDamagedRecordsAreNotGivenOut(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "10.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "1.00")))
	n, s := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }, func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	read := map[string]func() error{
		"TEN#acme#ACCT#ann- / ACCOUNT": func() error { _, err := b.book.Account(t.Context(), b.client, tenant, "ann-"); return err },
		"TEN#acme#ACCT#ann- / AUTH#CASH#USD": func() error {
			_, err := b.book.Balance(t.Context(), b.client, tenant, "ann-", usd)
			return err
		},
		"TEN#acme#TXN#t-1 / HEADER":              func() error { _, err := b.book.Transaction(t.Context(), b.client, tenant, "t-1"); return err },
		"TEN#acme#RESERVATION#r-1 / RESERVATION": func() error { _, err := b.book.Reservation(t.Context(), b.client, tenant, "r-1"); return err },
	}
	for key, damages := range map[string]map[string]types.AttributeValue{
		"TEN#acme#ACCT#ann- / ACCOUNT": {"v": n("2"), "side": s("X"), "status": n("1"), "openedAt": s("today"), "version": n("-1"), "stripes": n("0"), "lanes": n("1001")},
		"TEN#acme#ACCT#ann- / AUTH#CASH#USD": {
			"v": n("2"), "posted": n("1.5"), "asset": s("EUR"), "class": s("BOND"), "months": s("202611"), "n202611": s("1"), "x202611": n("-1"),
			"closed": s("2026-11"), "scale": n("19"), "side": s("B"), "r202611": n("0.5"), "lanes": n("0"), "b202611": n("100"),
		},
		"TEN#acme#TXN#t-1 / HEADER": {
			"v": n("2"), "state": s("MAYBE"), "effectiveAt": s("2026-11-29T14:18:00.000000001Z"), "source": s("another"), "lines": s("none"),
			"fingerprint": s("none"), "recordedAt": s("later"), "reverses": s("t-0"),
		},
		"TEN#acme#RESERVATION#r-1 / RESERVATION": {"v": n("2"), "state": s("MAYBE"), "left": s("1"), "reservation": s("r-2"), "version": n("1.5"), "createdAt": n("1")},
	} {
		whole := b.dump(t)[key]
		for attribute, value := range damages {
			damaged := maps.Clone(whole)
			delete(damaged, txn.UpdateMarkAttribute)
			damaged[attribute] = value
			b.commit(t, txn.Put(b.books, damaged))
			var record *ledger.RecordError
			if err := read[key](); !errors.As(err, &record) || record.Attribute == "" {
				t.Errorf("%s with another %s: %v", key, attribute, err)
			}
		}
		b.commit(t, txn.Put(b.books, whole))
		if err := read[key](); err != nil {
			t.Errorf("%s whole again: %v", key, err)
		}
	}
}

// An answer that is lost is not a refusal (E1), whatever request tokens do (E2): each way of writing recognises its own work.
func TestALostAnswerIsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, tokens := range anyTokenPolicy {
		for what, part := range map[string]func(b *bench) txn.Part{
			"open": func(b *bench) txn.Part {
				return b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "new", Side: ledger.DebitSide}, ledger.Asset{Currency: usd})
			},
			"post":    func(b *bench) txn.Part { return b.book.Post(transfer("t-1", "ann-", "bank", "10.00")) }, // all there is
			"refuse":  func(b *bench) txn.Part { return b.book.Refuse(transfer("t-1", "ann-", "bank", "10.00"), "no") },
			"reserve": func(b *bench) txn.Part { return b.book.Reserve(hold("r-2", "ann-", "10.00")) },
			"capture": func(b *bench) txn.Part {
				return b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "5.00")})
			},
			"release": func(b *bench) txn.Part { return b.book.Release(b.reservation(t, "r-1")) },
			"reverse": func(b *bench) txn.Part {
				return b.book.Reverse(b.entry(t, "in-2"), ledger.Reversal{ID: "v-1", EffectiveAt: day})
			},
			"close": func(b *bench) txn.Part { return b.book.ClosePeriod(b.balance(t, "ann-"), "2026-11") },
		} {
			b := setup(t, ledger.Config{}, stores.Options{Tokens: tokens})
			b.open(t, "bank", "ann-")
			b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "5.00")))
			b.commit(t, b.book.Reserve(hold("r-1", "ann-", "5.00")))
			b.commit(t, b.book.Post(transfer("in-2", "bank", "ann-", "10.00")))
			losing := b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
				if call.Sequence == 1 {
					return dynamosim.LoseAnswer
				}
				return dynamosim.Deliver
			})
			receipt, err := impatient(losing).Commit(t.Context(), part(b))
			if err != nil || !receipt.Recovered {
				t.Errorf("%s with token policy %v: %+v, %v", what, tokens, receipt, err)
			}
		}
	}
}
