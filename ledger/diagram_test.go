package ledger_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	stored "github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// calls is everything that can be done with a reservation, by the words of its arrow in docs/ledger.md.
var calls = map[string]func(b *bench, r ledger.Reservation) txn.Part{
	"Reserve":           func(b *bench, r ledger.Reservation) txn.Part { return b.book.Reserve(held(b)) },
	"RefuseReservation": func(b *bench, r ledger.Reservation) txn.Part { return b.book.RefuseReservation(held(b), "no") },
	"Capture of a part": func(b *bench, r ledger.Reservation) txn.Part {
		return b.book.Capture(r, ledger.Capture{Transaction: transfer("capture", "payer-", "bank", "30")})
	},
	"Capture of the rest": func(b *bench, r ledger.Reservation) txn.Part {
		return b.book.Capture(r, ledger.Capture{Transaction: transfer("capture", "payer-", "bank", "80")})
	},
	"Capture, final": func(b *bench, r ledger.Reservation) txn.Part {
		return b.book.Capture(r, ledger.Capture{Transaction: transfer("capture", "payer-", "bank", "30"), Final: true})
	},
	"Release": func(b *bench, r ledger.Reservation) txn.Part { return b.book.Release(r) },
	"Expire, when its time has come": func(b *bench, r ledger.Reservation) txn.Part {
		b.now = day.Add(2 * time.Hour)
		return b.book.Expire(r)
	},
}

// held is the reservation that is tried, as it is asked for.
func held(b *bench) ledger.Reservation {
	return ledger.Reservation{Tenant: tenant, ID: "order", Account: "payer-", Amount: dollars("80"), ExpiresAt: day.Add(time.Hour)}
}

// waysInto are the calls that lead to each state from nothing.
var waysInto = map[ledger.ReservationState][]string{
	"[*]":                nil,
	ledger.StateOpen:     {"Reserve"},
	ledger.StateRefused:  {"RefuseReservation"},
	ledger.StateCaptured: {"Reserve", "Capture of the rest"},
	ledger.StateReleased: {"Reserve", "Release"},
	ledger.StateExpired:  {"Reserve", "Expire, when its time has come"},
}

// Every call is tried in every state. Those that succeed are the arrows of the diagram, no more and no fewer.
func TestTheDiagramOfAReservationShowsEveryWayAndNoOther(t *testing.T) {
	t.Parallel()
	found := map[stored.Arrow]bool{}
	for from, way := range waysInto {
		for call := range calls {
			b := setup(t, ledger.Config{})
			b.open(t, "payer-", "bank")
			b.commit(t, b.book.Post(transfer("deposit", "bank", "payer-", "100")))
			var r ledger.Reservation
			for _, step := range way {
				b.commit(t, calls[step](b, r))
				r = b.reservation(t, "order")
			}
			b.now = day // so that nothing is refused for the time alone; Expire moves on to its own
			if _, err := b.try(t, calls[call](b, r)); err == nil {
				found[stored.Arrow{From: string(from), Call: call, To: string(b.reservation(t, "order").State)}] = true
			}
		}
	}
	stored.Diagram(t, "../docs/ledger.md", "The states of a reservation", found)
}

// Every key of the package documentation's table is in the picture of the records.
func TestThePictureOfTheRecordsHasEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^//\t.*TEN#.*$`).FindAllString(string(text), -1)
	if len(rows) < 9 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	picture := document(t)
	for _, row := range rows {
		for _, key := range regexp.MustCompile(`\S*#\S+`).FindAllString(row, -1) {
			if !regexp.MustCompile(regexp.QuoteMeta(key) + `\b`).MatchString(picture) {
				t.Errorf("%s is missing", key)
			}
		}
	}
}

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
