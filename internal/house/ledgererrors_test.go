package house

import (
	"time"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

func ledgerErrors() []errorCase {
	const tenant = "acme"
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	cash := ledger.Place{Tenant: tenant, Account: "cash-7", Asset: "USD"}
	some := money.MustParse("12345.67 USD")
	return []errorCase{
		{&ledger.InvalidError{What: "transaction", ID: "pay-1", Field: "Postings", Reason: "are fewer than two", Err: errBelow}, ledger.ErrInvalid, []string{"pay-1", "Postings"}},
		{&ledger.UnbalancedError{Tenant: tenant, Transaction: "pay-1", Asset: "USD", Sum: some}, ledger.ErrUnbalanced, []string{"pay-1", "USD"}},
		{&ledger.DuplicateError{What: "transaction", Tenant: tenant, ID: "pay-1", Same: true}, ledger.ErrDuplicate, []string{"pay-1", "this very one"}},
		{&ledger.RefusedError{Tenant: tenant, Transaction: "pay-1", Reason: "no funds", At: at}, ledger.ErrRefused, []string{"pay-1", "no funds"}},
		{&ledger.RefusedError{Tenant: tenant, Reservation: "r-1", Reason: "no funds", At: at}, ledger.ErrRefused, []string{"reservation", "r-1", "no funds"}},
		{&ledger.NotFoundError{What: "transaction", Tenant: tenant, ID: "pay-1"}, ledger.ErrNotFound, []string{"pay-1"}},
		{&ledger.NotFoundError{What: "asset", Tenant: tenant, ID: "cash-7", Asset: "EUR"}, ledger.ErrNotFound, []string{"cash-7", "EUR"}},
		{&ledger.StatusError{Place: cash, Status: ledger.StatusClosed}, ledger.ErrClosed, []string{"cash-7"}},
		{&ledger.StatusError{Place: cash, Status: ledger.StatusFrozen}, ledger.ErrFrozen, []string{"cash-7"}},
		{&ledger.ScaleError{Place: cash, Scale: 3, Stored: 2}, ledger.ErrScale, []string{"cash-7", "3", "2"}},
		{&ledger.SideError{Place: cash, Side: ledger.CreditSide}, ledger.ErrSide, []string{"cash-7", "credit"}},
		{&ledger.PeriodClosedError{Place: cash, Month: "2026-09", ClosedThrough: "2026-10"}, ledger.ErrPeriodClosed, []string{"cash-7", "2026-09", "2026-10"}},
		{&ledger.VersionError{What: "reservation", ID: "r-1", Expected: 3, Stored: 4}, ledger.ErrVersion, []string{"r-1", "3", "4"}},
		{&ledger.EndedError{Tenant: tenant, Reservation: "r-1", State: ledger.StateExpired}, ledger.ErrEnded, []string{"r-1", "EXPIRED"}},
		{&ledger.ExceedsError{What: "transaction", Tenant: tenant, ID: "pay-1", Line: 2, Asked: some, Left: some}, ledger.ErrExceeds, []string{"pay-1", "line 2"}},
		{&ledger.InsufficientError{Place: cash, Available: some, Need: some}, ledger.ErrInsufficient, []string{"cash-7"}},
		{&ledger.NotEmptyError{Place: cash, Reservations: 2}, ledger.ErrNotEmpty, []string{"cash-7", "2"}},
		{&ledger.LimitError{What: "transaction", ID: "pay-1", Limit: "writes", Max: 100}, ledger.ErrLimit, []string{"pay-1", "writes", "100"}},
		{&ledger.CapError{Place: cash, Month: "2026-11", Buckets: 8, Slots: 250_000}, ledger.ErrCap, []string{"cash-7", "2026-11", "8"}},
		{&ledger.RolledError{Place: cash, Month: "2026-11", Bucket: 1}, ledger.ErrRolled, []string{"cash-7", "2026-11", "1"}},
		{&ledger.RecordError{Record: "posting x", Attribute: "amount"}, ledger.ErrCorrupt, []string{"posting x", "amount"}},
		{ledger.ErrRead, ledger.ErrRead, nil},
		{&ledger.CursorError{What: "statement", Tenant: tenant, ID: "cash-7", Reason: "was changed"}, ledger.ErrCursor, []string{"statement", "acme", "cash-7", "was changed"}},
		{&ledger.UnprovedError{Place: cash, Findings: 3, First: ledger.Finding{
			Kind: ledger.MissingPostings, Month: "2026-11", Detail: "2 of 5 postings are missing", Expected: ledger.Totals{Sum: some},
		}}, ledger.ErrUnproved, []string{"cash-7", "3 findings", "2026-11", "2 of 5"}},
		{&ledger.MovedError{What: "verification", Tenant: tenant, ID: "cash-7", Tries: 3}, ledger.ErrMoved, []string{"cash-7", "3 tries"}},
		{&ledger.QueueFullError{Tenant: tenant, Transaction: "pay-1", Max: 100}, ledger.ErrQueueFull, []string{"pay-1", "100"}},
		{&ledger.AbandonedError{Tenant: tenant, Transaction: "pay-1", Sent: true, Err: errBelow}, ledger.ErrAbandoned, []string{"pay-1", "on its way", "from below"}},
		{ledger.ErrBatcherClosed, ledger.ErrBatcherClosed, nil},
		{ledger.ErrPanic, ledger.ErrPanic, nil},
		{&ledger.PanicError{Value: errBelow, Stack: []byte("goroutine 7")}, ledger.ErrPanic, []string{"from below", "goroutine 7"}},
	}
}
