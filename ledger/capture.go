package ledger

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Capture says what is captured of a reservation.
type Capture struct {
	// Transaction posts what was reserved: on the reservation's account, asset and stripe it has the sign of the
	// reservation and takes at most what is left. It may have other postings.
	Transaction Transaction
	// Final ends the reservation and gives back what the transaction does not take. A capture of all that is left ends it
	// anyway.
	Final bool
}

// Capture returns the part that posts what was reserved, or a part of it, as the reservation was read. What is
// captured needs no funds: they are reserved. The Commit fails with the errors of [Ledger.Post], with an [EndedError] if the
// reservation has ended or its time has come, and with a [VersionError] if it changed since it was read. A transaction
// that takes more than is left is an [ExceedsError] before anything is sent. A repeat is a [DuplicateError], also when the
// reservation was read again in between.
//
// Cost: that of [Ledger.Post], 2 write units for the reservation, and 1 for each of its index entries.
func (l *Ledger) Capture(r Reservation, c Capture) txn.Part {
	const label = "AP12.capture"
	if slices.Contains(r.CapturedBy, c.Transaction.ID) {
		write, err := l.captured(r, &c.Transaction)
		if err != nil {
			return txn.BadPart(label, err)
		}
		return txn.NewPart(label, write)
	}
	p, err := l.capture(r, c)
	return l.part(label, p, err)
}

// captured is the write of a transaction that captured the reservation before it was read. What is left now says nothing
// about it; its header does, which is there and refuses the write, whose condition never holds.
func (l *Ledger) captured(r Reservation, tx *Transaction) (txn.Write, error) {
	switch {
	case l.unusable() != nil:
		return txn.Write{}, l.unusable()
	case tx.Tenant != r.Tenant:
		return txn.Write{}, tx.invalid("Tenant", "is not that of the reservation")
	}
	if err := tx.check(); err != nil {
		return txn.Write{}, err
	}
	t, err := l.times(tx)
	if err != nil {
		return txn.Write{}, err
	}
	write, err := l.headerWrite(tx, origin{captures: r.ID}, headerPosted, "", t, make([]int, len(tx.Postings)), newValues(headerTexts, 0))
	write.Condition += " AND attribute_exists(#pk)"
	return write, err
}

func (l *Ledger) capture(r Reservation, c Capture) (*plan, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	tx := &c.Transaction
	if tx.Tenant != r.Tenant {
		return nil, tx.invalid("Tenant", "is not that of the reservation")
	}
	if err := r.checkRead(); err != nil {
		return nil, err
	}
	sum, found, err := tx.signedSum(r.ref())
	switch {
	case err != nil:
		return nil, &LimitError{What: "transaction", ID: tx.ID, Limit: "digits of an amount", Max: MaxDigits}
	case found && sum.Currency() != r.Left.Currency():
		return nil, &ScaleError{Place: r.ref().place(), Scale: sum.Currency().Scale(), Stored: r.Left.Currency().Scale()}
	case !found || sum.Sign() != r.Left.Sign():
		return nil, tx.invalid("Postings", "do not take what was reserved")
	case len(r.CapturedBy) >= MaxLinks:
		return nil, &LimitError{What: "reservation", ID: r.ID, Limit: "captures", Max: MaxLinks}
	}
	rest, err := r.Left.Sub(sum)
	if err != nil || rest.Sign() == -r.Left.Sign() {
		return nil, &ExceedsError{What: "reservation", Tenant: r.Tenant, ID: r.ID, Asked: sum, Left: r.Left}
	}
	p, err := l.plan(tx, origin{captures: r.ID})
	if err != nil {
		return nil, err
	}
	of := p.change(r.ref())
	end := StateOpen
	of.reserved = sum.Neg()
	if c.Final || rest.IsZero() {
		end, of.reserved, of.opened = StateCaptured, r.Left.Neg(), -1
	}
	write, err := l.reservationChange(r, end, rest, tx.ID)
	p.extra = []txn.Write{write}
	return p, err
}

// Release returns the part that gives back what is left of a reservation, as it was read, and ends it. The Commit fails with
// an [EndedError] if it has ended or its time has come, and with a [VersionError] if it changed since it was read.
//
// Cost: 4 write units, and 1 for each of its index entries.
func (l *Ledger) Release(r Reservation) txn.Part { return l.giveBack("AP12.release", r, StateReleased) }

// Expire returns the part that gives back what is left of a reservation whose time has come by the record and by this
// ledger's clock. It takes a reservation as it was read, or as [Ledger.Due] listed it. The Commit fails with an [EndedError] if it
// has ended or its time has not come, and with a [VersionError] if it changed since.
//
// Cost: 4 write units, and 1 for each of its index entries.
func (l *Ledger) Expire(r Reservation) txn.Part { return l.giveBack("AP12.expire", r, StateExpired) }

func (l *Ledger) giveBack(label string, r Reservation, end ReservationState) txn.Part {
	if err := l.unusable(); err != nil {
		return txn.BadPart(label, err)
	}
	record, err := l.reservationChange(r, end, r.Left, "")
	if err != nil {
		return txn.BadPart(label, err)
	}
	authority, err := l.write(&change{ref: r.ref(), currency: r.Left.Currency(), reserved: r.Left.Neg(), opened: -1, anytime: true}, newValues(changeTexts, changeNumbers))
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, record, authority)
}

// checkRead reports a reservation that was not read while it was open. One that was read after its end ended for ever.
func (r Reservation) checkRead() error {
	switch {
	case r.Version < 1 || r.State == "":
		return r.invalid("Version", "is not one that was read")
	case r.State != StateOpen:
		return &EndedError{Tenant: r.Tenant, Reservation: r.ID, State: r.State}
	case r.Left.IsZero():
		return r.invalid("Left", "is zero in an open reservation")
	case r.Amount.Currency() != (money.Currency{}) && r.Amount.Currency() != r.Left.Currency(): // that of an index entry has none
		return r.invalid("Amount", "is of another currency than what is left of it")
	}
	return nil
}

// reservationChange moves a reservation, as it was read, to another state, with what then is left of it.
func (l *Ledger) reservationChange(r Reservation, to ReservationState, left money.Amount, capturedBy string) (txn.Write, error) {
	if err := r.checkRead(); err != nil {
		return txn.Write{}, err
	}
	key, err := keys.Reservation(r.Tenant, r.ID)
	if err != nil {
		return txn.Write{}, invalidKey("reservation", r.ID, err)
	}
	now, err := l.timestamp()
	if err != nil {
		return txn.Write{}, err
	}
	set, remove := "SET #state = :to, #left = :left, version = version + :one", ""
	// The version says all of a reservation that was read. The rest names what the balance's write relies on, so that one that was made
	// up cannot give back what another account holds.
	condition := "v = :v AND #state = :open AND version = :read AND account = :account AND asset = :asset AND #class = :class AND scale = :scale AND #left = :held"
	c := r.Left.Currency()
	values := map[string]types.AttributeValue{
		":v": formatValue, ":one": oneValue, ":open": text(string(StateOpen)), ":to": text(string(to)), ":read": integer(r.Version),
		":account": text(r.Account), ":asset": text(c.Code()), ":class": text(classOf(c)), ":scale": integer(int64(c.Scale())),
		":held": amount(r.Left), ":left": amount(left), ":now": text(now),
	}
	if r.Stripe == 0 {
		condition += " AND attribute_not_exists(stripe)"
	} else {
		condition += " AND stripe = :stripe"
		values[":stripe"] = integer(int64(r.Stripe))
	}
	if to == StateExpired {
		condition += " AND expires <= :now"
	} else {
		condition += " AND (attribute_not_exists(expires) OR expires > :now)"
	}
	if to != StateOpen {
		set += ", endedAt = :now"
		remove = " REMOVE duePk, dueSk, heldPk, heldSk"
	}
	if capturedBy != "" {
		remove += " ADD capturedBy :by"
		values[":by"] = &types.AttributeValueMemberSS{Value: []string{capturedBy}}
	}
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Update: set + remove, Condition: condition,
		Names:  map[string]string{"#state": attrState, "#left": attrLeft, "#class": attrClass},
		Values: values, Fence: true,
		Explain: func(old txn.Item) error { return l.explainReservation(r, old) },
	}, nil
}

// explainReservation says why a change of a reservation was refused.
func (l *Ledger) explainReservation(r Reservation, old txn.Item) error {
	if old == nil {
		return &NotFoundError{What: "reservation", Tenant: r.Tenant, ID: r.ID}
	}
	stored, err := decodeReservation(r.Tenant, r.ID, old)
	switch {
	case err != nil:
		return err
	case stored.State != StateOpen:
		return &EndedError{Tenant: r.Tenant, Reservation: r.ID, State: stored.State}
	case stored.Version != r.Version:
		return &VersionError{What: "reservation", ID: strconv.Quote(r.ID), Expected: r.Version, Stored: stored.Version}
	}
	if stored.ref() != r.ref() || stored.Left != r.Left {
		return r.invalid("Reservation", "is not the one that is stored")
	}
	return &EndedError{Tenant: r.Tenant, Reservation: r.ID, State: stored.StateAt(l.config.Now())}
}
