package keys_test

import (
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

// ledgerRoutes are the routes of the ledger beyond the chapter's. at is the text of the golden time.
func ledgerRoutes(at string) []route {
	var all []route
	add := func(name, index, shape, pk, sk string) func(func([]any) (keys.Key, error), func(keys.Key) ([]any, error)) {
		return func(write func([]any) (keys.Key, error), read func(keys.Key) ([]any, error)) {
			all = append(all, route{name, index, shape, pk, sk, write, read})
		}
	}
	add("Account", "LED01", "ss", "TEN#s0#ACCT#s1", "ACCOUNT")(two(keys.Account, keys.ParseAccount))
	add("Transaction", "LED02", "ss", "TEN#s0#TXN#s1", "HEADER")(two(keys.Transaction, keys.ParseTransaction))
	add("Links", "LED03", "ss", "TEN#s0#TXN#s1", "LINKS")(two(keys.Links, keys.ParseLinks))
	add("Reservation", "LED04", "ss", "TEN#s0#RESERVATION#s1", "RESERVATION")(two(keys.Reservation, keys.ParseReservation))
	add("ReservationDue", "LED05", "snts", "TEN#s0#EXPIRY#0001", "DUE#"+at+"#s3")(queued(keys.ReservationDue, keys.ParseReservationDue))
	add("AccountReservation", "LED06", "ssts", "TEN#s0#ACCT#s1#RESERVED", "DUE#"+at+"#s3")(
		listed(keys.AccountReservation, keys.ParseAccountReservation))
	add("Seal", "LED07", "ssksm", "TEN#s0#ACCT#s1", "SEAL#K2#s3#2026-11")(
		func(c []any) (keys.Key, error) {
			return keys.Seal{Tenant: str(c[0]), Account: str(c[1]), Class: str(c[2]), Asset: str(c[3]), Month: str(c[4])}.Key()
		},
		func(k keys.Key) ([]any, error) {
			s, err := keys.ParseSeal(k)
			return []any{s.Tenant, s.Account, s.Class, s.Asset, s.Month}, err
		})
	add("StripeAuthority", "LED08", "ssnks", "TEN#s0#ACCT#s1#STRIPE#0002", "AUTH#K3#s4")(
		func(c []any) (keys.Key, error) {
			return keys.StripeAuthority(str(c[0]), str(c[1]), num(c[2]), str(c[3]), str(c[4]))
		},
		func(k keys.Key) ([]any, error) {
			tenant, account, stripe, class, asset, err := keys.ParseStripeAuthority(k)
			return []any{tenant, account, stripe, class, asset}, err
		})
	add("StripePosting", "LED09", "ssnnmbtsn", "TEN#s0#ACCT#s1#STRIPE#0002#LANE#0003#MONTH#2026-11#BKT#05", "POST#"+at+"#s7#0008")(
		writeStripePosting, readStripePosting)
	add("StripeSeal", "LED10", "ssnksm", "TEN#s0#ACCT#s1#STRIPE#0002", "SEAL#K3#s4#2026-11")(
		func(c []any) (keys.Key, error) {
			seal := keys.Seal{Tenant: str(c[0]), Account: str(c[1]), Class: str(c[3]), Asset: str(c[4]), Month: str(c[5])}
			return keys.StripeSeal{Seal: seal, Stripe: num(c[2])}.Key()
		},
		func(k keys.Key) ([]any, error) {
			s, err := keys.ParseStripeSeal(k)
			return []any{s.Tenant, s.Account, s.Stripe, s.Class, s.Asset, s.Month}, err
		})
	return all
}

func writeStripePosting(c []any) (keys.Key, error) {
	p := keys.StripePosting{Stripe: num(c[2]), Lane: num(c[3])}
	p.Tenant, p.Account, p.Month, p.Bucket = str(c[0]), str(c[1]), str(c[4]), num(c[5])
	p.At, p.Transaction, p.Line = instant(c[6]), str(c[7]), num(c[8])
	return p.Key()
}

func readStripePosting(k keys.Key) ([]any, error) {
	p, err := keys.ParseStripePosting(k)
	return []any{p.Tenant, p.Account, p.Stripe, p.Lane, p.Month, p.Bucket, p.At, p.Transaction, p.Line}, err
}

func TestAReservationThatExpiresAtTheCutoffIsDue(t *testing.T) {
	t.Parallel()
	cutoff := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	bound, err := keys.DueThrough(cutoff)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		due   bool
	}{{-1, true}, {0, true}, {1, false}} {
		k, err := keys.ReservationDue("acme", 3, cutoff.Add(c.after), "r-1")
		if err != nil || (k.SK < bound) != c.due {
			t.Errorf("%v after the cutoff: %q against %q, %v; want due %v", c.after, k.SK, bound, err, c.due)
		}
	}
}
