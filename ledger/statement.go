package ledger

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/keys"
)

// StatementQuery says which postings of an account a statement has.
type StatementQuery struct {
	// Tenant and Account say whose they are.
	Tenant, Account string
	// Asset chooses one asset by its code and kind. The zero Currency is all assets.
	Asset money
	// Month chooses one month. Or From and Until choose by effective time: at From or later, and before Until; the zero
	// Time is no bound.
	Month       Month
	From, Until time.Time
	// Stripes chooses stripes of a striped account. Empty for all.
	Stripes []int
}

// StatementPage is a part of a statement.
type StatementPage struct {
	// Lines are the postings, ascending by effective time, transaction (its bytes) and line.
	Lines []Line
	// Cursor continues behind them. It is empty at the end of the statement, and only there: a page may be short or empty
	// and have one.
	Cursor string
	// Usage is what reading the postings took. What finding their partitions took is not part of it.
	Usage fanout.Usage
}
