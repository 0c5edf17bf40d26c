package keys_test

import (
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

func TestPostingBoundsSeparateToTheNanosecond(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 59, 59, 999_999_999, time.UTC)
	from, err := keys.PostingsFrom(at)
	if err != nil {
		t.Fatal(err)
	}
	through, err := keys.PostingsThrough(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		off               time.Duration
		id                string
		isBefore, isAfter bool
	}{
		{-1, "~", true, false}, {0, "!", false, false}, {0, "#", false, false}, {0, "~\U0010ffff", false, false}, {1, "!", false, true},
	} {
		key, err := keys.Posting{Tenant: "t", Account: "a", Month: "2026-11", At: at.Add(c.off), Transaction: c.id}.Key()
		if err != nil {
			t.Fatal(err)
		}
		if before, after := key.SK < from, key.SK > through; before != c.isBefore || after != c.isAfter {
			t.Errorf("%v %q: before %v, after %v", c.off, c.id, before, after)
		}
		if key.SK <= keys.FirstPosting || key.SK >= keys.LastPosting {
			t.Errorf("%q is outside the bounds of all postings", key.SK)
		}
	}
}

func TestAnAccountAndItsAuthoritiesAreOneRange(t *testing.T) {
	for _, c := range []struct {
		name string
		key  func() (keys.Key, error)
		in   bool
	}{
		{"account", func() (keys.Key, error) { return keys.Account("t", "a") }, true},
		{"cash", func() (keys.Key, error) { return keys.CashAuthority("t", "a", "~") }, true},
		{"security", func() (keys.Key, error) { return keys.SecurityAuthority("t", "a", "~") }, true},
		{"stripe", func() (keys.Key, error) { return keys.StripeAuthority("t", "a", 7, "SEC", "x#y") }, true},
		{"position", func() (keys.Key, error) { return keys.Position("t", "a", "!") }, false},
		{"seal", func() (keys.Key, error) {
			return keys.Seal{Tenant: "t", Account: "a", Class: "CASH", Asset: "USD", Month: "2026-11"}.Key()
		}, false},
	} {
		key, err := c.key()
		if err != nil {
			t.Fatal(err)
		}
		if in := key.SK >= keys.FirstAuthority && key.SK <= keys.LastAuthority; in != c.in {
			t.Errorf("%s %q: in the range: %v", c.name, key.SK, in)
		}
	}
}

func TestAnAuthorityIsToldFromItsKey(t *testing.T) {
	cash, _ := keys.CashAuthority("t", "a", "USD")
	security, _ := keys.SecurityAuthority("t", "a", "X#1")
	stripe, _ := keys.StripeAuthority("t", "a", 7, "SEC", "X#1")
	for key, want := range map[keys.Key]keys.Authority{
		cash:     {Tenant: "t", Account: "a", Class: "CASH", Asset: "USD"},
		security: {Tenant: "t", Account: "a", Class: "SEC", Asset: "X#1"},
		stripe:   {Tenant: "t", Account: "a", Stripe: 7, Class: "SEC", Asset: "X#1"},
	} {
		if got, err := keys.ParseAuthority(key); err != nil || got != want {
			t.Errorf("%v: %+v, %v", key, got, err)
		}
	}
	account, _ := keys.Account("t", "a")
	if got, err := keys.ParseAuthority(account); err == nil {
		t.Errorf("an account passes for %+v", got)
	}
}
