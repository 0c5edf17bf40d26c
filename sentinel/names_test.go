package sentinel_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

func TestReserveTakesTheNameForItsOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.free(t, "C-1")
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")), b.order("order-1"))
	held := b.lookup(t, "C-1")
	if held.Claim != claim("C-1", "order-1") || held.Version != 1 || !held.Since.Equal(day) {
		t.Errorf("look up: %+v", held)
	}
}

func TestTakenNamesTheOwnerAndTheCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")), b.order("order-1"))

	for _, c := range []struct {
		command string
		same    bool
	}{{"req-other", false}, {"req-order-1", true}} {
		again := claim("C-1", "order-2")
		again.Command = c.command
		_, err := impatient(b.client).Commit(t.Context(), b.names.Reserve(again), b.order("order-2"))
		var taken *sentinel.TakenError
		if !errors.As(err, &taken) || !errors.Is(err, sentinel.ErrTaken) {
			t.Fatalf("command %s: %v, want a TakenError", c.command, err)
		}
		want := sentinel.TakenError{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "order-1", SameCommand: c.same}
		if *taken != want {
			t.Errorf("command %s: %+v, want %+v", c.command, *taken, want)
		}
	}
}

func TestNamesOfOtherTenantsKindsAndSpellingsAreOtherNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := claim("Ann", "o-1")
	for i, change := range []func(*sentinel.Claim){
		func(*sentinel.Claim) {},
		func(c *sentinel.Claim) { c.Tenant = "apex" },
		func(c *sentinel.Claim) { c.Kind = "EMAIL" },
		func(c *sentinel.Claim) { c.Name = "ann" },
		func(c *sentinel.Claim) { c.Name = "Ann " },
		func(c *sentinel.Claim) { c.Name = "\u00e9" },
		func(c *sentinel.Claim) { c.Name = "e\u0301" },
		func(c *sentinel.Claim) { c.Name = "Ann#UNIQUE" },
	} {
		c := base
		change(&c)
		if _, err := impatient(b.client).Commit(t.Context(), b.names.Reserve(c)); err != nil {
			t.Errorf("claim %d: %v", i, err)
		}
	}
}

func TestOfManyOrdersWithOneClientOrderIDOneWins(t *testing.T) {
	t.Parallel()
	const rivals = 32
	b := setup(t)
	errs := make([]error, rivals)
	var all sync.WaitGroup
	for i := range rivals {
		all.Add(1)
		go func() {
			defer all.Done()
			id := "order-" + string(rune('A'+i))
			_, errs[i] = impatient(b.client).Commit(t.Context(), b.names.Reserve(claim("C-1", id)), b.order(id))
		}()
	}
	all.Wait()
	owner, winners := b.lookup(t, "C-1").Owner, 0
	for i, err := range errs {
		var taken *sentinel.TakenError
		switch {
		case err == nil:
			winners++
			if id := "order-" + string(rune('A'+i)); id != owner {
				t.Errorf("%s won, but the name belongs to %s", id, owner)
			}
		case !errors.As(err, &taken):
			t.Errorf("rival %d: %v, want a TakenError", i, err)
		case taken.Owner != owner:
			t.Errorf("rival %d was told that %s owns the name; %s does", i, taken.Owner, owner)
		}
	}
	if winners != 1 {
		t.Errorf("%d winners", winners)
	}
}

func TestAnotherItemsFailedConditionIsNoCollision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.order("order-1"))
	_, err := impatient(b.client).Commit(t.Context(), b.names.Reserve(claim("C-1", "order-1")), b.order("order-1"))
	if !errors.Is(err, txn.ErrCanceled) || errors.Is(err, sentinel.ErrTaken) {
		t.Errorf("%v, want a cancellation that is no collision", err)
	}
	b.free(t, "C-1")
}

func TestReleaseFreesTheNameForAnybody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	b.commit(t, b.names.Release(b.lookup(t, "C-1")))
	b.free(t, "C-1")
	b.commit(t, b.names.Reserve(claim("C-1", "order-2")))
	if held := b.lookup(t, "C-1"); held.Owner != "order-2" || held.Version != 3 {
		t.Errorf("look up: %+v", held)
	}
}

func TestReleaseNamesOwnerAndVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	read := b.lookup(t, "C-1")
	never := read
	never.Name = "C-2"
	other := read
	other.Owner = "order-2"
	b.commit(t, b.names.Release(read))
	b.commit(t, b.names.Reserve(claim("C-1", "order-1"))) // the same owner, a later version
	before := b.item(t, "C-1")

	for _, c := range []struct {
		what string
		held sentinel.Held
		want error
	}{
		{"a name that nobody reserved", never, &sentinel.NotFoundError{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-2"}},
		{"another owner", other, &sentinel.NotOwnedError{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "order-2", Version: 1, Holder: "order-1", HolderVersion: 3}},
		{"an earlier version", read, &sentinel.NotOwnedError{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "order-1", Version: 1, Holder: "order-1", HolderVersion: 3}},
	} {
		_, err := impatient(b.client).Commit(t.Context(), b.names.Release(c.held))
		if !sameFailure(err, c.want) {
			t.Errorf("release of %s: %v, want %v", c.what, err, c.want)
		}
		if now := b.item(t, "C-1"); !equalItems(now, before) {
			t.Errorf("release of %s changed the record: %v", c.what, now)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what       string
		to         sentinel.Claim
		name       string // held afterwards
		owner      string
		version    int64
		freed      string
		baseUnits  int
		wantFailed error
	}{
		{what: "to a free name", to: claim("C-2", "order-1"), name: "C-2", owner: "order-1", version: 1, freed: "C-1", baseUnits: 4},
		{what: "to a free name of another owner", to: claim("C-2", "order-9"), name: "C-2", owner: "order-9", version: 1, freed: "C-1", baseUnits: 4},
		{what: "to the same name and owner", to: claim("C-1", "order-1"), name: "C-1", owner: "order-1", version: 2, baseUnits: 2},
		{what: "of the same name to another owner", to: claim("C-1", "order-9"), name: "C-1", owner: "order-9", version: 2, baseUnits: 2},
		{what: "to a taken name", to: claim("C-3", "order-1"), name: "C-1", owner: "order-1", version: 1,
			wantFailed: &sentinel.TakenError{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-3", Owner: "order-3"}},
	} {
		b := setup(t)
		b.commit(t, b.names.Reserve(claim("C-1", "order-1")), b.names.Reserve(claim("C-3", "order-3")))
		read := b.lookup(t, "C-1")
		receipt, err := impatient(b.client).Commit(t.Context(), b.names.Move(read, c.to))
		if c.wantFailed == nil && err != nil || c.wantFailed != nil && !sameFailure(err, c.wantFailed) {
			t.Errorf("move %s: %v, want %v", c.what, err, c.wantFailed)
			continue
		}
		if held := b.lookup(t, c.name); held.Owner != c.owner || held.Version != c.version {
			t.Errorf("move %s: %+v", c.what, held)
		}
		if c.freed != "" {
			b.free(t, c.freed)
		}
		if got := receipt.Base(); got != capacity.Whole(c.baseUnits) {
			t.Errorf("move %s: %s units, want %d", c.what, got, c.baseUnits)
		}
	}
}

func TestMoveOfANameThatChangedSinceItWasReadChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	read := b.lookup(t, "C-1")
	b.commit(t, b.names.Move(read, claim("C-1", "order-2")))
	for _, to := range []sentinel.Claim{claim("C-2", "order-1"), claim("C-1", "order-1"), claim("C-1", "order-3")} {
		_, err := impatient(b.client).Commit(t.Context(), b.names.Move(read, to))
		if !errors.Is(err, sentinel.ErrNotOwned) {
			t.Errorf("move to %s of %s: %v, want ErrNotOwned", to.Name, to.Owner, err)
		}
	}
	b.free(t, "C-2")
	if held := b.lookup(t, "C-1"); held.Owner != "order-2" || held.Version != 2 {
		t.Errorf("look up: %+v", held)
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := claim(strings.Repeat("n", 300), strings.Repeat("o", 200))
	for _, c := range []struct {
		what string
		part func() txn.Part
	}{
		{"reserve", func() txn.Part { return b.names.Reserve(long) }},
		{"release", func() txn.Part { return b.names.Release(b.lookup(t, long.Name)) }},
		{"reserve a released name", func() txn.Part { return b.names.Reserve(long) }},
	} {
		receipt := b.commit(t, c.part())
		if receipt.Items != 1 || receipt.Base() != capacity.Whole(2) || receipt.Index() != 0 {
			t.Errorf("%s: %d items, %s base, %s index units; want 1, 2, 0", c.what, receipt.Items, receipt.Base(), receipt.Index())
		}
	}
	meter := &readMeter{client: b.client}
	if _, err := b.names.Lookup(t.Context(), meter, "acme", sentinel.ClientOrder, long.Name); err != nil {
		t.Fatal(err)
	}
	if meter.units != 1 || meter.calls != 1 {
		t.Errorf("look up: %v units in %d calls, want 1 in 1", meter.units, meter.calls)
	}
}

func TestADamagedRecordIsNotGivenOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	whole := b.item(t, "C-1")
	delete(whole, txn.UpdateMarkAttribute)
	for attr, value := range map[string]types.AttributeValue{
		"v":          &types.AttributeValueMemberS{Value: "1"},
		"version":    &types.AttributeValueMemberN{Value: "0"},
		"owner":      &types.AttributeValueMemberN{Value: "1"},
		"command":    &types.AttributeValueMemberS{Value: ""},
		"reservedAt": &types.AttributeValueMemberS{Value: "today"},
	} {
		item := maps.Clone(whole)
		item[attr] = value
		b.commit(t, txn.Put(b.reserved, item))
		_, err := b.names.Lookup(t.Context(), b.client, "acme", sentinel.ClientOrder, "C-1")
		if !errors.Is(err, sentinel.ErrCorrupt) || !strings.Contains(err.Error(), strconv.Quote(attr)) {
			t.Errorf("bad %s: %v, want an ErrCorrupt that names it", attr, err)
		}
	}
}

func TestAFailedLookupKeepsItsCause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.names.Lookup(ctx, b.client, "acme", sentinel.ClientOrder, "C-1")
	if !errors.Is(err, sentinel.ErrRead) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want ErrRead with its cause", err)
	}
}

func TestARecordOfAnotherFormatIsNeverTouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	foreign := b.reserved.Key("TEN#acme#CLIENTORDER#C-1", "UNIQUE")
	foreign["v"] = &types.AttributeValueMemberN{Value: "2"}
	foreign["version"] = &types.AttributeValueMemberN{Value: "1"}
	b.commit(t, txn.Put(b.reserved, foreign))
	before := b.item(t, "C-1")
	held := sentinel.Held{Claim: claim("C-1", "order-1"), Version: 1}
	for _, part := range []txn.Part{
		b.names.Reserve(held.Claim), b.names.Release(held), b.names.Move(held, claim("C-2", "order-1")), b.names.Move(held, claim("C-1", "order-2")),
	} {
		_, err := impatient(b.client).Commit(t.Context(), part)
		if !errors.Is(err, sentinel.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", part.Label(), err)
		}
	}
	if _, err := b.names.Lookup(t.Context(), b.client, "acme", sentinel.ClientOrder, "C-1"); !errors.Is(err, sentinel.ErrCorrupt) {
		t.Errorf("look up: %v, want ErrCorrupt", err)
	}
	if now := b.item(t, "C-1"); !equalItems(now, before) {
		t.Errorf("the record changed: %v", now)
	}
}
