package ledger

import (
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// ReservationState says where a reservation stands. The package documentation draws the way from one to the next.
type ReservationState string

// The states of a reservation. All but the first are ends.
const (
	StateOpen     ReservationState = "OPEN"
	StateCaptured ReservationState = "CAPTURED"
	StateReleased ReservationState = "RELEASED"
	StateExpired  ReservationState = "EXPIRED"
	StateRefused  ReservationState = "REFUSED" // it never was: see [Ledger.RefuseReservation]
)

// Reservation holds part of an account for a posting that is still to come.
type Reservation struct {
	Tenant string
	// ID is unique within the tenant. It comes from the business, so that a repeat has the same.
	ID string
	// Account and Stripe say whose funds they are.
	Account string
	Stripe  int
	// Amount is what the posting to come would be, with its sign: negative, a credit, for a debit account, and positive, a
	// debit, for a credit account.
	Amount money.Amount
	// ExpiresAt is when it ends by itself. The zero Time is never.
	ExpiresAt time.Time
	// Metadata is kept with the reservation.
	Metadata map[string]string

	// The rest is filled in by reads; Reserve ignores it.

	// State is where it stands in the record; see [Reservation.StateAt].
	State ReservationState
	// Left is what was not captured, with the sign of Amount. While the reservation is open it is held; at the end it
	// was given back.
	Left money.Amount
	// Version rises with every change.
	Version int64
	// CapturedBy are the transactions that captured it or parts of it, sorted.
	CapturedBy []string
	// CreatedAt and EndedAt are by the writers' clocks.
	CreatedAt, EndedAt time.Time
	// Reason is why it was refused for good.
	Reason string
}

// StateAt is the state of the reservation at a time: an open one is expired from ExpiresAt on, swept or not.
func (r Reservation) StateAt(now time.Time) ReservationState {
	if r.State == StateOpen && !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt) {
		return StateExpired
	}
	return r.State
}

// ref names the balance. An entry of an index knows what is left, and not what it was of.
func (r Reservation) ref() ref {
	c := r.Amount.Currency()
	if c == (money.Currency{}) {
		c = r.Left.Currency()
	}
	return refOf(r.Tenant, r.Account, c, r.Stripe)
}

func (r Reservation) invalid(field, reason string) error {
	return &InvalidError{What: "reservation", ID: r.ID, Field: field, Reason: reason}
}

func (l *Ledger) checkReservation(r Reservation) error {
	switch {
	case l.unusable() != nil:
		return l.unusable()
	case r.Amount.Currency() == (money.Currency{}):
		return r.invalid("Amount", "has no currency")
	case r.Amount.IsZero():
		return r.invalid("Amount", "is zero")
	case tooLong(r.Amount):
		return &LimitError{What: "reservation", ID: r.ID, Limit: "digits of an amount", Max: MaxDigits}
	case r.Stripe < 0 || r.Stripe >= MaxStripes:
		return r.invalid("Stripe", "is one that no account has")
	}
	return checkMetadata("reservation", r.ID, r.Metadata)
}

// never is the expiry in keys of a reservation that does not expire.
var never = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)

// Reserve returns the part that reserves funds (AP12): they are no longer available from its commit on, and posted only
// when they are captured. It needs no read. The Commit fails with the errors of [Ledger.Post] for the account, with a
// [SideError] if the amount would add to it, with a [DuplicateError] if the identifier is in use, and with a [RefusedError] if
// it was refused for good.
//
// Cost: 4 write units, 1 for the entry in the account's index, and 1 for that in the due index if it expires.
func (l *Ledger) Reserve(r Reservation) txn.Part {
	const label = "AP12.reserve"
	writes, err := l.reserve(r)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (l *Ledger) reserve(r Reservation) ([]txn.Write, error) {
	if err := l.checkReservation(r); err != nil {
		return nil, err
	}
	if !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(l.config.Now()) {
		return nil, r.invalid("ExpiresAt", "is not in the future")
	}
	record, err := l.reservationWrite(r, StateOpen, "")
	if err != nil {
		return nil, err
	}
	takes := DebitSide
	if r.Amount.Sign() > 0 {
		takes = CreditSide
	}
	authority, err := l.write(&change{ref: r.ref(), currency: r.Amount.Currency(), reserved: r.Amount, opened: 1, takes: takes}, newValues(changeTexts+1, changeNumbers))
	return []txn.Write{record, authority}, err
}

// RefuseReservation returns the part that refuses a reservation for good, as [Ledger.Refuse] refuses a transaction: the refusal
// takes the place of the record, so neither a later attempt nor a copy that is still under way can reserve. Whoever
// tries gets a [RefusedError] with the reason, which people will read. If the reservation was made, the Commit fails with a
// [DuplicateError]; if it was refused before, with a RefusedError.
//
// Cost: 2 write units.
func (l *Ledger) RefuseReservation(r Reservation, reason string) txn.Part {
	const label = "AP12.refuse"
	write, err := l.refuseReservation(r, reason)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

func (l *Ledger) refuseReservation(r Reservation, reason string) (txn.Write, error) {
	if err := l.checkReservation(r); err != nil {
		return txn.Write{}, err
	}
	if err := checkReason("reservation", r.ID, reason); err != nil {
		return txn.Write{}, err
	}
	return l.reservationWrite(r, StateRefused, reason)
}

// reservationWrite creates the record: an open reservation, or a refusal in its place.
func (l *Ledger) reservationWrite(r Reservation, state ReservationState, reason string) (txn.Write, error) {
	key, err := keys.Reservation(r.Tenant, r.ID)
	if err != nil {
		return txn.Write{}, invalidKey("reservation", r.ID, err)
	}
	at, err := l.timestamp()
	if err != nil {
		return txn.Write{}, err
	}
	c := r.Amount.Currency()
	item := l.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = formatValue
	item[attrID] = text(r.ID)
	item[attrAccount] = text(r.Account)
	item[attrAsset], item[attrClass], item[attrScale] = text(c.Code()), text(classOf(c)), integer(int64(c.Scale()))
	item[attrAmount], item[attrLeft] = amount(r.Amount), amount(r.Amount)
	item[attrState] = text(string(state))
	item[attrVersion] = oneValue
	item[attrCreatedAt] = text(at)
	if r.Stripe > 0 {
		item[attrStripe] = integer(int64(r.Stripe))
	}
	if len(r.Metadata) > 0 {
		item[attrMetadata] = metadataValue(r.Metadata)
	}
	if err := l.listReservation(item, r); err != nil {
		return txn.Write{}, err
	}
	if state == StateRefused {
		item[attrEndedAt], item[attrReason] = text(at), text(reason)
		for _, listed := range [...]string{attrDuePK, attrDueSK, attrHeldPK, attrHeldSK} {
			delete(item, listed)
		}
	}
	return txn.Write{
		Action: txn.ActionPut, Table: l.config.Table, Item: item,
		Condition: ifAbsent, Names: l.absent, Fence: true, Settles: true,
		Explain: func(old txn.Item) error { return r.taken(old) },
	}, nil
}

// taken says what an identifier that is in use means for a reservation.
func (r Reservation) taken(old txn.Item) error {
	if old == nil {
		return nil
	}
	stored, err := decodeReservation(r.Tenant, r.ID, old)
	if err != nil {
		return err
	}
	same := stored.ref() == r.ref() && stored.Amount == r.Amount && stored.ExpiresAt.Equal(r.ExpiresAt)
	if same && stored.State == StateRefused {
		return &RefusedError{Tenant: r.Tenant, Reservation: r.ID, Reason: stored.Reason, At: stored.EndedAt}
	}
	return &DuplicateError{What: "reservation", Tenant: r.Tenant, ID: r.ID, Same: same}
}

// listReservation adds the keys of the indexes, which an open reservation is listed in.
func (l *Ledger) listReservation(item txn.Item, r Reservation) error {
	due := never
	if !r.ExpiresAt.IsZero() {
		due = r.ExpiresAt
		expires, err := keys.Time(due)
		if err != nil {
			return r.invalid("ExpiresAt", "is outside the years 1 to 9999")
		}
		place, err := l.config.DueMap.Place(r.ID)
		if err != nil {
			return r.invalid("ID", "cannot be placed on a shard")
		}
		key, err := keys.ReservationDue(r.Tenant, place.Shard, due, r.ID)
		if err != nil {
			return invalidKey("reservation", r.ID, err)
		}
		item[attrExpires], item[attrDuePK], item[attrDueSK] = text(expires), text(key.PK), text(key.SK)
	}
	key, err := keys.AccountReservation(r.Tenant, r.Account, due, r.ID)
	if err != nil {
		return invalidKey("reservation", r.ID, err)
	}
	item[attrHeldPK], item[attrHeldSK] = text(key.PK), text(key.SK)
	return nil
}

func reservationName(tenant, id string) string {
	return "reservation " + strconv.Quote(id) + " of tenant " + strconv.Quote(tenant)
}

func decodeReservation(tenant, id string, item txn.Item) (Reservation, error) {
	d := decode(reservationName(tenant, id), item)
	r := d.reservation(tenant, id)
	r.Amount = d.amount(attrAmount, r.Left.Currency())
	r.State = ReservationState(d.text(attrState))
	r.CreatedAt = d.time(attrCreatedAt)
	r.Metadata = d.metadata()
	if d.has(attrEndedAt) {
		r.EndedAt = d.time(attrEndedAt)
	}
	if set, ok := item[attrCapturedBy].(*types.AttributeValueMemberSS); ok {
		r.CapturedBy = slices.Sorted(slices.Values(set.Value))
	}
	r.Reason = d.optionalText(attrReason)
	if !slices.Contains([]ReservationState{StateOpen, StateCaptured, StateReleased, StateExpired, StateRefused}, r.State) {
		d.fail(attrState)
	}
	return r, d.err
}

// reservation reads what the record and the entries of the indexes have in common.
func (d *decoder) reservation(tenant, id string) Reservation {
	c := d.currency()
	r := Reservation{
		Tenant: tenant, ID: id, Account: d.text(attrAccount), Stripe: int(d.optionalCount(attrStripe)),
		Left: d.amount(attrLeft, c), Version: d.count(attrVersion),
	}
	if d.has(attrExpires) {
		r.ExpiresAt = d.time(attrExpires)
	}
	if d.text(attrID) != id {
		d.fail(attrID)
	}
	return r
}
