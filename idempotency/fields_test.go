package idempotency_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
)

// request returns a valid request for the command.
func request(command *idempotency.Fields) idempotency.Request {
	return idempotency.Request{Tenant: "acme", Key: "k-1", Operation: "order.accept", SchemaVersion: 1, Command: command}
}

func fingerprint(t testing.TB, r idempotency.Request) idempotency.Fingerprint {
	t.Helper()
	f, err := r.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fields() *idempotency.Fields { return idempotency.NewFields() }

func TestFingerprintV1IsFrozen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 14, 18, 0, 1, time.UTC)
	command := fields().String("symbol", "ACME").Strings("tags", "a", "b").Int("version", -7).Bool("margin", true).
		Bytes("nonce", []byte{0, 255}).Time("at", at).Decimal("quantity", "10.50").Amount("price", "19.99", "USD").
		List("legs", fields().String("side", "BUY"), fields()).JSON("extra", []byte(`{"b":1.0,"a":[null]}`))
	f := fingerprint(t, request(command))
	const want = "v1:f258d0ad51618e0c392029f1a1b921adc0b53dc98d6e56e35b9ff0df5d62f389"
	if f.String() != want {
		t.Errorf("fingerprint %s, want %s; a stored record of this command would now be a mismatch", f, want)
	}
	if f.HashVersion() != idempotency.HashV1 || len(f.Bytes()) != 32 || f.IsZero() || !(idempotency.Fingerprint{}).IsZero() {
		t.Errorf("fingerprint %+v", f)
	}
}

func TestFingerprintIsEqualForEqualCommands(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	zone := time.FixedZone("somewhere", 5*3600+1800)
	for name, pair := range map[string][2]*idempotency.Fields{
		"order of calls":     {fields().String("a", "1").Int("b", 2), fields().Int("b", 2).String("a", "1")},
		"decimal spelling":   {fields().Decimal("q", "1.10"), fields().Decimal("q", "11e-1")},
		"negative zero":      {fields().Decimal("q", "-0.00"), fields().Decimal("q", "0")},
		"amount spelling":    {fields().Amount("p", "100", "JPY"), fields().Amount("p", "1e2", "JPY")},
		"time zone":          {fields().Time("t", at), fields().Time("t", at.In(zone))},
		"nil bytes":          {fields().Bytes("b", nil), fields().Bytes("b", []byte{})},
		"JSON spelling":      {idempotency.JSON([]byte(`{"a":1,"b":[1.50]}`)), idempotency.JSON([]byte("{ \"b\":[15e-1],\n\"\\u0061\":1.0 }"))},
		"no list, no groups": {fields().List("l"), fields().Strings("l")},
	} {
		if a, b := fingerprint(t, request(pair[0])), fingerprint(t, request(pair[1])); a != b {
			t.Errorf("%s: %s and %s differ", name, a, b)
		}
	}
}

func TestFingerprintDiffersForDifferentCommands(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	commands := []*idempotency.Fields{
		fields(), fields().String("a", ""), fields().String("b", ""), fields().Bytes("a", nil), fields().Strings("a"), fields().Strings("a", ""),
		fields().Strings("a", "", ""), fields().Strings("a", "x", "y"), fields().Strings("a", "y", "x"), fields().Strings("a", "xy"), fields().String("a", "xy"),
		fields().String("a", "x").String("b", "y"), fields().String("a", "y").String("b", "x"), fields().String("ab", "xy"), fields().String("a", "xb").String("y", ""),
		fields().Int("a", 0), fields().Bool("a", false), fields().Bool("a", true), fields().Int("a", 1), fields().Decimal("a", "1"), fields().String("a", "1"),
		fields().Int("a", -1), fields().Int("a", math.MaxInt64), fields().Int("a", math.MinInt64), fields().Decimal("a", "9007199254740992"),
		fields().Decimal("a", "9007199254740993"), fields().Decimal("a", "-1"), fields().Decimal("a", "0.1"), fields().Decimal("a", "10"),
		fields().Amount("a", "1", "USD"), fields().Amount("a", "1", "EUR"), fields().Amount("a", "1", ""), fields().Amount("a", "0.01", "USD"),
		fields().Time("a", at), fields().Time("a", at.Add(1)), fields().Time("a", at.Add(time.Second)), fields().Time("a", time.Time{}),
		fields().List("a", fields()), fields().List("a", fields(), fields()), fields().List("a", fields().Int("b", 1)),
		fields().List("a", fields().Int("b", 1), fields().Int("b", 2)), fields().List("a", fields().Int("b", 2), fields().Int("b", 1)),
		fields().List("a", fields().Int("b", 1).Int("c", 2)), fields().List("a", fields().Int("b", 1), fields().Int("c", 2)),
		fields().JSON("a", []byte(`1`)), fields().JSON("a", []byte(`"1"`)), fields().JSON("a", []byte(`{}`)), fields().JSON("a", []byte(`null`)),
	}
	seen := map[idempotency.Fingerprint]int{}
	for i, command := range commands {
		f := fingerprint(t, request(command))
		if other, ok := seen[f]; ok {
			t.Errorf("commands %d and %d have one fingerprint", other, i)
		}
		seen[f] = i
	}
}

func TestTwoCopiesOfACommandGrowApart(t *testing.T) {
	base := *idempotency.NewFields().Int("a", 1).Int("b", 2).Int("c", 3)
	buy, sell := base, base
	buy.String("side", "BUY")
	sell.String("side", "SELL")
	if fingerprint(t, request(&buy)) == fingerprint(t, request(&sell)) {
		t.Error("the second copy has overwritten the first one's last field")
	}
}

func TestFingerprintCoversTenantOperationAndSchemaVersionButNotTheKey(t *testing.T) {
	t.Parallel()
	base := request(fields())
	for name, change := range map[string]func(*idempotency.Request){
		"tenant":         func(r *idempotency.Request) { r.Tenant = "other" },
		"operation":      func(r *idempotency.Request) { r.Operation = "order.cancel" },
		"schema version": func(r *idempotency.Request) { r.SchemaVersion = 2 },
		"shifted border": func(r *idempotency.Request) { r.Tenant, r.Operation = "acmeorder", ".accept" },
	} {
		changed := base
		change(&changed)
		if fingerprint(t, changed) == fingerprint(t, base) {
			t.Errorf("%s is not covered", name)
		}
	}
	other := base
	other.Key = "k-2"
	if fingerprint(t, other) != fingerprint(t, base) {
		t.Error("the key is covered")
	}
}

func TestFieldsReportsItsFirstFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command *idempotency.Fields
		want    idempotency.CommandError
	}{
		{fields().String("a", "1").Int("a", 1), idempotency.CommandError{Field: "a", Offset: -1, Reason: idempotency.ReasonDuplicate}},
		{fields().String("", "1"), idempotency.CommandError{Offset: -1, Reason: idempotency.ReasonMissing}},
		{fields().String("a", "\xff").Decimal("b", "x"), idempotency.CommandError{Field: "a", Offset: -1, Reason: idempotency.ReasonUTF8}},
		{fields().Strings("a", "x", "\xff"), idempotency.CommandError{Field: "a", Offset: -1, Reason: idempotency.ReasonUTF8}},
		{fields().Int("\xff", 1), idempotency.CommandError{Offset: -1, Reason: idempotency.ReasonUTF8}},
		{fields().Decimal("q", "1e1000000000"), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonNumber}},
		{fields().Decimal("q", strings.Repeat("9", 1001)), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonNumber}},
		{fields().Decimal("q", " 1"), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonSyntax}},
		{fields().Decimal("q", "1 "), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonSyntax}},
		{fields().Decimal("q", ""), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonSyntax}},
		{fields().Decimal("q", "NaN"), idempotency.CommandError{Field: "q", Offset: -1, Reason: idempotency.ReasonSyntax}},
		{fields().Amount("p", "1,5", "EUR"), idempotency.CommandError{Field: "p", Offset: -1, Reason: idempotency.ReasonSyntax}},
		{fields().Amount("p", "1", "\xff"), idempotency.CommandError{Field: "p", Offset: -1, Reason: idempotency.ReasonUTF8}},
		{fields().JSON("doc", []byte(`{"a":1,"a":2}`)), idempotency.CommandError{Field: "doc", Offset: 7, Reason: idempotency.ReasonDuplicate}},
		{idempotency.JSON([]byte(`[1`)), idempotency.CommandError{Field: "body", Offset: 2, Reason: idempotency.ReasonSyntax}},
		{fields().List("legs", fields(), nil), idempotency.CommandError{Field: "legs[1]", Offset: -1, Reason: idempotency.ReasonMissing}},
		{fields().List("legs", fields().Decimal("q", "-")), idempotency.CommandError{Field: "legs[0].q", Offset: -1, Reason: idempotency.ReasonSyntax}},
	} {
		_, err := request(c.command).Fingerprint()
		var got *idempotency.CommandError
		if !errors.As(err, &got) || !errors.Is(err, idempotency.ErrCommand) || *got != c.want {
			t.Errorf("error %v, want %v", err, &c.want)
		}
	}
}
