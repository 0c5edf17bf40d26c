package keys_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/dynafin/dynafin/internal/keys"
	"pgregory.net/rapid"
)

func TestEveryRouteHasItsExactText(t *testing.T) {
	t.Parallel()
	for _, r := range routes() {
		got, err := r.write(golden(r.shape))
		if want := (keys.Key{PK: r.pk, SK: r.sk}); got != want || err != nil {
			t.Errorf("%s %s: got %+v, %v; want %+v", r.index, r.name, got, err, want)
		}
	}
	got, err := keys.ClientOrder("acme", "c-1")
	if want := (keys.Key{PK: "TEN#acme#CLIENTORDER#c-1", SK: "UNIQUE"}); got != want || err != nil {
		t.Errorf("IDX18 ClientOrder: got %+v, %v; want %+v", got, err, want)
	}
}

func TestReadingAKeyGivesBackItsComponents(t *testing.T) {
	t.Parallel()
	for _, r := range routes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := components(r.shape).Draw(t, "components")
				k, err := r.write(want)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := r.read(k); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v was written from %v and read as %v, %v", k, want, got, err)
				}
			})
		})
	}
}

func TestTwoTuplesNeverShareAKeyWithinOrAcrossRoutes(t *testing.T) {
	t.Parallel()
	all := routes()
	rapid.Check(t, func(t *rapid.T) {
		one := all[rapid.IntRange(0, len(all)-1).Draw(t, "one")]
		k, err := one.write(components(one.shape).Draw(t, "of one"))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range all {
			if c, err := other.read(k); err == nil && other.name != one.name {
				t.Fatalf("%+v of %s is also the key of %s%v", k, one.name, other.name, c)
			}
		}
		left, right := components(one.shape).Draw(t, "left"), components(one.shape).Draw(t, "right")
		a, errA := one.write(left)
		b, errB := one.write(right)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if (a == b) != reflect.DeepEqual(left, right) {
			t.Fatalf("%v gives %+v and %v gives %+v", left, a, right, b)
		}
	})
}

// The words of one component may not slide into its neighbour: the classic way to spell another's key.
func TestNeighbouringComponentsCannotBeShifted(t *testing.T) {
	t.Parallel()
	a, errA := keys.Order("acme#ORDER#1", "2")
	b, errB := keys.Order("acme", "1#ORDER#2")
	c, errC := keys.Order("acme%23ORDER%231", "2")
	if errA != nil || errB != nil || errC != nil || a == b || a == c || b == c {
		t.Fatal(a, b, c, errA, errB, errC)
	}
	if want := "TEN#acme%23ORDER%231#ORDER#2"; a.PK != want {
		t.Errorf("got %q, want %q", a.PK, want)
	}
	if want := "TEN#acme%2523ORDER%25231#ORDER#2"; c.PK != want {
		t.Errorf("got %q, want %q", c.PK, want)
	}
}

func TestTheTextOfTimesAndNumbersSortsLikeTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := times().Draw(t, "a"), times().Draw(t, "b")
		textA, errA := keys.Time(a.In(time.FixedZone("east", 14*60*60)))
		textB, errB := keys.Time(b)
		if errA != nil || errB != nil || strings.Compare(textA, textB) != a.Compare(b) || len(textA) != 30 {
			t.Fatal(textA, textB, errA, errB)
		}
		if back, err := keys.ParseTime(textA); !back.Equal(a) || back.Location() != time.UTC || err != nil {
			t.Fatal(textA, back, err)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		const width = 9
		a, b := rapid.IntRange(0, 999_999_999).Draw(t, "a"), rapid.IntRange(0, 999_999_999).Draw(t, "b")
		textA, errA := keys.Number(a, width)
		textB, errB := keys.Number(b, width)
		if errA != nil || errB != nil || (textA < textB) != (a < b) || len(textA) != width {
			t.Fatal(textA, textB, errA, errB)
		}
		if back, err := keys.ParseNumber(textA, width); back != a || err != nil {
			t.Fatal(textA, back, err)
		}
	})
}

func TestDueThroughSeparatesDueFromLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		due := times().Draw(t, "due")
		cutoff := due.Add(time.Duration(rapid.SampledFrom([]int{-1, 0, 1}).Draw(t, "nanoseconds after due")))
		bound, err := keys.DueThrough(cutoff)
		if err != nil {
			return // the last nanosecond before year 1 or after year 9999
		}
		event := texts().Draw(t, "event")
		k, err := keys.OutboxReady("orders", 0, due, event)
		if err != nil || (k.SK < bound) != !due.After(cutoff) {
			t.Fatalf("%q against %q, %v", k.SK, bound, err)
		}
	})
}

func TestAPartitionIsThatOfItsKeys(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 14, 18, 0, 42, time.UTC)
	for name, partition := range map[string]func() (string, error){
		"OrderTrade":        func() (string, error) { return keys.OrderPartition("s0", "s1") },
		"AccountOrder":      func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"AccountTrade":      func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"Position":          func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"CashAuthority":     func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"SecurityAuthority": func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"StatusOrder":       func() (string, error) { return keys.StatusPartition("s0", "s1", "s2") },
		"SymbolTrade":       func() (string, error) { return keys.SymbolPartition("s0", "s1") },
		"Inbox":             func() (string, error) { return keys.InboxPartition("s0", 1, 2) },
		"Posting":           func() (string, error) { return keys.PostingPartition("s0", "s1", "2026-11", 3) },
		"Checkpoint":        func() (string, error) { return keys.CheckpointPartition("s0", 1, 2) },
		"Batch":             func() (string, error) { return keys.BatchPartition("s0", at.Format(time.DateOnly)) },
		"Break":             func() (string, error) { return keys.BreakPartition("s0", "s1") },
		"BreakDue":          func() (string, error) { return keys.BreakDuePartition("s0", "s1", 2) },
		"OutboxReady":       func() (string, error) { return keys.OutboxReadyPartition("s0", 1) },
		"RepairDue":         func() (string, error) { return keys.RepairDuePartition("s0", 1) },
		"RepairEscalated":   func() (string, error) { return keys.RepairEscalatedPartition("s0", 1) },

		"Account":            func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"Seal":               func() (string, error) { return keys.AccountPartition("s0", "s1") },
		"ReservationDue":     func() (string, error) { return keys.ReservationDuePartition("s0", 1) },
		"AccountReservation": func() (string, error) { return keys.AccountReservationPartition("s0", "s1") },
		"StripeAuthority":    func() (string, error) { return keys.StripePartition("s0", "s1", 2) },
		"StripeSeal":         func() (string, error) { return keys.StripePartition("s0", "s1", 2) },
		"StripePosting":      func() (string, error) { return keys.StripePostingPartition("s0", "s1", 2, 3, "2026-11", 5) },
	} {
		for _, r := range routes() {
			if r.name != name {
				continue
			}
			if got, err := partition(); got != r.pk || err != nil {
				t.Errorf("%s: got %q, %v; want %q", name, got, err, r.pk)
			}
		}
	}
}

func TestAttributesUseTheNamesOfTheTable(t *testing.T) {
	t.Parallel()
	k, err := keys.Outbox("evt-1")
	want := map[string]types.AttributeValue{
		"GSI1PK": &types.AttributeValueMemberS{Value: "OUTBOX#evt-1"},
		"GSI1SK": &types.AttributeValueMemberS{Value: "EVENT"},
	}
	if got := k.Attributes("GSI1PK", "GSI1SK"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// routeNumber is how the table numbers routes: the chapter's, the ledger's, the outbox's, those of repair and a projection's.
var routeNumber = regexp.MustCompile(`^(IDX|LED|OUT|INB|REQ|PRJ|EXP)\d\d$`)

// The table in the package documentation is what people read; it may not differ from what is written.
func TestTheDocumentedGrammarIsTheOneInUse(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for line := range strings.Lines(string(source)) {
		if f := strings.Fields(strings.TrimPrefix(line, "//")); len(f) == 4 && routeNumber.MatchString(f[0]) {
			documented[f[1]] = f
		}
	}
	all := routes()
	if len(documented) != len(all) {
		t.Errorf("%d routes are documented, %d exist", len(documented), len(all))
	}
	for _, r := range all {
		f := documented[r.name]
		k, err := r.write(golden(r.shape))
		if f == nil || err != nil || f[0] != r.index || !matches(f[2], k.PK) || !matches(f[3], k.SK) {
			t.Errorf("%s writes %+v (%v), documented as %v", r.name, k, err, f)
		}
	}
}

func matches(pattern, text string) bool {
	p, s := strings.Split(pattern, "#"), strings.Split(text, "#")
	for i := range p {
		if len(p) != len(s) || !strings.HasPrefix(p[i], "{") && p[i] != s[i] {
			return false
		}
	}
	return true
}

// A retention never ends early, and a clock that is broken gives no expiry.
func TestAnExpiryIsTheNextFullSecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end     string
		seconds int64
		ok      bool
	}{
		{"2026-11-29T14:18:00Z", 1795961880, true}, {"2026-11-29T14:17:59.000000001Z", 1795961880, true}, {"2000-01-01T00:00:00Z", 946684800, true},
		{"1999-12-31T23:59:59Z", 0, false}, {"9999-12-31T23:59:59Z", 253402300799, true}, {"9999-12-31T23:59:59.5Z", 0, false},
	} {
		end, err := time.Parse(time.RFC3339Nano, c.end)
		if err != nil {
			t.Fatal(err)
		}
		if seconds, err := keys.Expiry(end); seconds != c.seconds || (err == nil) != c.ok {
			t.Errorf("%s: %d, %v, want %d", c.end, seconds, err, c.seconds)
		}
	}
}
