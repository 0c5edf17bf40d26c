package sentinel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/sentinel"
)

func TestInvalidClaimsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		field, reason string
		spoil         func(*sentinel.Claim)
	}{
		{"tenant", "is empty", func(c *sentinel.Claim) { c.Tenant = "" }},
		{"kind", "is empty", func(c *sentinel.Claim) { c.Kind = "" }},
		{"kind", "does not have the required form", func(c *sentinel.Claim) { c.Kind = "Client#Order" }},
		{"name", "is empty", func(c *sentinel.Claim) { c.Name = "" }},
		{"name", "is not valid UTF-8", func(c *sentinel.Claim) { c.Name = "\xff" }},
		{"partition key", "is longer than DynamoDB allows", func(c *sentinel.Claim) { c.Name = strings.Repeat("n", 2048) }},
		{"Owner", "is empty", func(c *sentinel.Claim) { c.Owner = "" }},
		{"Owner", "is not valid UTF-8", func(c *sentinel.Claim) { c.Owner = "\xff" }},
		{"Command", "is empty", func(c *sentinel.Claim) { c.Command = "" }},
		{"Command", "is not valid UTF-8", func(c *sentinel.Claim) { c.Command = "\xff" }},
		{"Claim", "makes a record of 1163 bytes; at most 1024 fit one write unit", func(c *sentinel.Claim) { c.Owner = strings.Repeat("o", 1000) }},
	} {
		bad := claim("C-1", "order-1")
		c.spoil(&bad)
		held := sentinel.Held{Claim: claim("C-1", "order-1"), Version: 1}
		held.Tenant, held.Kind = bad.Tenant, bad.Kind // a move compares these first
		errs := map[string]error{"reserve": b.names.Reserve(bad).Err(), "move": b.names.Move(held, bad).Err()}
		for what, err := range errs {
			var invalid *sentinel.InvalidError
			if !errors.As(err, &invalid) || !errors.Is(err, sentinel.ErrInvalid) || invalid.Field != c.field || invalid.Reason != c.reason {
				t.Errorf("%s with a bad %s: %v, want: %s %s", what, c.field, err, c.field, c.reason)
			}
		}
	}
}

func TestInvalidHeldNamesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		field string
		spoil func(*sentinel.Held)
	}{
		{"name", func(h *sentinel.Held) { h.Name = "" }},
		{"Owner", func(h *sentinel.Held) { h.Owner = "" }},
		{"Version", func(h *sentinel.Held) { h.Version = 0 }},
		{"Claim", func(h *sentinel.Held) { h.Tenant = "apex" }},
		{"Claim", func(h *sentinel.Held) { h.Kind = "EMAIL" }},
	} {
		held := sentinel.Held{Claim: claim("C-1", "order-1"), Version: 1}
		c.spoil(&held)
		errs := map[string]error{"move": b.names.Move(held, claim("C-2", "order-1")).Err()}
		if c.field != "Claim" { // only a move compares two
			errs["release"] = b.names.Release(held).Err()
		}
		for what, err := range errs {
			var invalid *sentinel.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("%s with a bad %s: %v", what, c.field, err)
			}
		}
	}
	if _, err := b.names.Lookup(t.Context(), b.client, "acme", sentinel.ClientOrder, ""); !errors.Is(err, sentinel.ErrInvalid) {
		t.Errorf("look up of nothing: %v, want ErrInvalid", err)
	}
}

func TestAHostileClaimMakesOneShortLineOfALog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hostile := strings.Repeat("x\n", 1<<19)
	for _, c := range []sentinel.Claim{
		{Tenant: hostile, Kind: sentinel.ClientOrder, Name: "C-1"}, {Tenant: "acme", Kind: hostile, Name: "C-1"},
		{Tenant: "acme", Kind: sentinel.ClientOrder, Name: hostile},
	} {
		c.Owner, c.Command = "order-1", "request-1"
		err := b.names.Reserve(c).Err()
		if !errors.Is(err, sentinel.ErrInvalid) || len(err.Error()) > 1024 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d bytes: %.200s", len(err.Error()), err)
		}
	}
}

func TestErrorsSurviveWrapping(t *testing.T) {
	t.Parallel()
	for want, err := range map[error]error{
		sentinel.ErrInvalid:  &sentinel.InvalidError{Tenant: "acme", Kind: "EMAIL", Name: "ann", Field: "Owner", Reason: "is empty"},
		sentinel.ErrTaken:    &sentinel.TakenError{Tenant: "acme", Kind: "EMAIL", Name: "ann", Owner: "o-1"},
		sentinel.ErrNotOwned: &sentinel.NotOwnedError{Tenant: "acme", Kind: "EMAIL", Name: "ann", Owner: "o-1", Version: 1, Holder: "o-2", HolderVersion: 3},
		sentinel.ErrNotFound: &sentinel.NotFoundError{Tenant: "acme", Kind: "EMAIL", Name: "ann"},
	} {
		wrapped := fmt.Errorf("accept: %w", fmt.Errorf("commit: %w", err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, want) || !errors.As(wrapped, &coded) {
			t.Errorf("%v: lost its kind or its code", err)
			continue
		}
		for _, text := range []string{"sentinel: ", "EMAIL", `"ann"`, `"acme"`, "[" + coded.Code() + "]", "retrying"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%v: does not say %s", err, text)
			}
		}
	}
}
