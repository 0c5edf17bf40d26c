package ledger

import (
	"time"

	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Side is the side of the books on which an account normally has its balance.
type Side string

// The sides. A debit account (an asset, an expense) grows by debits, which are positive; a credit account (a liability,
// equity, income) by credits, which are negative.
const (
	DebitSide  Side = "D"
	CreditSide Side = "C"
)

// String returns "debit" or "credit".
func (s Side) String() string {
	switch s {
	case DebitSide:
		return "debit"
	case CreditSide:
		return "credit"
	}
	return "no side"
}

// own turns a signed amount into the side's own view, or back: positive is what the account has.
func (s Side) own(signed money.Amount) money.Amount {
	if s == CreditSide {
		return signed.Neg()
	}
	return signed
}

// Status says what an account takes.
type Status string

// The statuses of an account. A frozen account takes no postings and no reservations; what is reserved can be released.
// A closed account has no balance and stays closed.
const (
	StatusOpen   Status = "OPEN"
	StatusFrozen Status = "FROZEN"
	StatusClosed Status = "CLOSED"
)

func (s Status) valid() bool { return s == StatusOpen || s == StatusFrozen || s == StatusClosed }

// Asset is what an account may hold, and down to what.
type Asset struct {
	// Currency is the currency or security, with its scale.
	Currency money.Currency
	// Minimum is what must stay available, in the account's own view; negative for a credit line. The zero Amount is
	// none of the asset.
	Minimum money.Amount
	// NoMinimum lets the balance go anywhere: an account of the house. Minimum is then empty.
	NoMinimum bool
}

// Account says what an account is.
type Account struct {
	// Tenant and ID name it.
	Tenant, ID string
	// Side is the normal side. Required.
	Side Side
	// Assets is for how many assets the account has room: each gets an equal share of every bucket. It never changes.
	// Default: 1.
	Assets int
	// Stripes is over how many authorities each asset of an account without a minimum is spread. Default: 1. See
	// [Posting.Stripe].
	Stripes int
	// Lanes is over how many partitions the postings of each authority may be spread. Default: 1. See [Posting.Lane].
	Lanes int
	// Metadata is kept with the account.
	Metadata map[string]string

	// Status, Version, Opened and OpenedAt are filled in by [Ledger.Account]: Opened is how many assets are open.
	// Opening an account ignores them.
	Status   Status
	Version  int64
	Opened   int
	OpenedAt time.Time
}

func (a Account) withDefaults() Account {
	a.Assets = max(a.Assets, 1)
	a.Stripes = max(a.Stripes, 1)
	a.Lanes = max(a.Lanes, 1)
	return a
}

func (a Account) invalid(field, reason string) error {
	return &InvalidError{What: "account", ID: a.ID, Field: field, Reason: reason}
}

func (l *Ledger) checkAccount(a Account) error {
	switch {
	case l.unusable() != nil:
		return l.unusable()
	case a.Side != DebitSide && a.Side != CreditSide:
		return a.invalid("Side", "is neither DebitSide nor CreditSide")
	case a.Assets > l.config.BucketPostings:
		return &LimitError{What: "account", ID: a.ID, Limit: "assets, one slot of a bucket for each", Max: l.config.BucketPostings}
	case a.Stripes > MaxStripes:
		return &LimitError{What: "account", ID: a.ID, Limit: "stripes", Max: MaxStripes}
	case a.Lanes > MaxLanes:
		return &LimitError{What: "account", ID: a.ID, Limit: "lanes", Max: MaxLanes}
	}
	return checkMetadata("account", a.ID, a.Metadata)
}

func (a Account) checkAsset(asset Asset) error {
	c := asset.Currency
	switch {
	case c == (money.Currency{}):
		return a.invalid("Asset.Currency", "is empty")
	case asset.NoMinimum && asset.Minimum != (money.Amount{}):
		return a.invalid("Asset.Minimum", "is given, and NoMinimum as well")
	case asset.Minimum != (money.Amount{}) && asset.Minimum.Currency() != c:
		return a.invalid("Asset.Minimum", "is not in the asset's currency")
	case !asset.NoMinimum && a.Stripes > 1:
		return a.invalid("Stripes", "are for assets without a minimum")
	case tooLong(asset.Minimum):
		return &LimitError{What: "account", ID: a.ID, Limit: "digits of a minimum", Max: MaxDigits}
	}
	return nil
}

// OpenAccount returns the part that opens an account with its first assets. If the account exists, the Commit fails with a
// [DuplicateError]. More assets are opened with [Ledger.OpenAsset].
//
// Cost: 2 write units for the account, and 2 for each asset and stripe.
func (l *Ledger) OpenAccount(a Account, assets ...Asset) txn.Part {
	const label = "AP12.open"
	writes, err := l.openAccount(a.withDefaults(), assets)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (l *Ledger) openAccount(a Account, assets []Asset) ([]txn.Write, error) {
	if err := l.checkAccount(a); err != nil {
		return nil, err
	}
	if len(assets) > a.Assets {
		return nil, &LimitError{What: "account", ID: a.ID, Limit: "assets", Max: a.Assets}
	}
	account, err := l.accountWrite(a, len(assets))
	if err != nil {
		return nil, err
	}
	writes := []txn.Write{account}
	for _, asset := range assets {
		for stripe := range a.Stripes {
			if len(writes) == txn.MaxItems {
				return nil, &LimitError{What: "account", ID: a.ID, Limit: "records opened at once, further assets can be opened later", Max: txn.MaxItems}
			}
			authority, err := l.authorityWrite(a, asset, stripe)
			if err != nil {
				return nil, err
			}
			writes = append(writes, authority)
		}
	}
	return writes, nil
}

// OpenAsset returns the part that opens one more asset, all its stripes, in an account as it was read. If the account
// has changed since, the Commit fails with a [VersionError]; if the asset is open in it, with a [DuplicateError]; if there
// is no room for it, with a [LimitError]; if the account is frozen or closed, with a [StatusError].
//
// Cost: 2 write units for the account, and 2 for each stripe.
func (l *Ledger) OpenAsset(a Account, asset Asset) txn.Part {
	const label = "AP12.open"
	a = a.withDefaults()
	writes, err := l.openAsset(a, asset)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (l *Ledger) openAsset(a Account, asset Asset) ([]txn.Write, error) {
	if err := l.checkAccount(a); err != nil {
		return nil, err
	}
	change, err := l.accountChange(a, "opened = opened + :one", nil)
	if err != nil {
		return nil, err
	}
	// The condition asks for room, and not the caller: in a repeat the account is full of the asset that is asked for. And an
	// asset that is opened takes postings, which a frozen account must not.
	change.Condition += " AND opened < assets AND #status = :open"
	change.Values[":open"] = openValue
	writes := []txn.Write{change}
	for stripe := range a.Stripes {
		authority, err := l.authorityWrite(a, asset, stripe)
		if err != nil {
			return nil, err
		}
		writes = append(writes, authority)
	}
	return writes, nil
}
