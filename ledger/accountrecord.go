package ledger

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

func accountName(tenant, id string) string {
	return "account " + strconv.Quote(id) + " of tenant " + strconv.Quote(tenant)
}

// accountWrite creates the record of an account.
func (l *Ledger) accountWrite(a Account, opened int) (txn.Write, error) {
	key, err := keys.Account(a.Tenant, a.ID)
	if err != nil {
		return txn.Write{}, invalidKey("account", a.ID, err)
	}
	at, err := l.timestamp()
	if err != nil {
		return txn.Write{}, err
	}
	item := l.config.Table.Key(key.PK, key.SK)
	item[attrFormat] = formatValue
	item[attrSide] = text(string(a.Side))
	item[attrStatus] = openValue
	item[attrAssets] = integer(int64(a.Assets))
	item[attrStripes] = integer(int64(a.Stripes))
	item[attrLanes] = integer(int64(a.Lanes))
	item[attrOpened] = integer(int64(opened))
	item[attrVersion] = oneValue
	item[attrOpenedAt] = text(at)
	if len(a.Metadata) > 0 {
		item[attrMetadata] = metadataValue(a.Metadata)
	}
	return txn.Write{
		Action: txn.ActionPut, Table: l.config.Table, Item: item,
		Condition: ifAbsent, Names: l.absent, Fence: true, Settles: true,
		Explain: func(old txn.Item) error {
			if old == nil {
				return nil
			}
			stored, err := decodeAccount(a.Tenant, a.ID, old)
			if err != nil {
				return err
			}
			same := stored.Side == a.Side && stored.Assets == a.Assets && stored.Stripes == a.Stripes && stored.Lanes == a.Lanes
			return &DuplicateError{What: "account", Tenant: a.Tenant, ID: a.ID, Same: same}
		},
	}, nil
}

// accountChange changes the record of an account as it was read: the version says all of it, and the rest is for accounts that
// somebody made up. set is one more assignment.
func (l *Ledger) accountChange(a Account, set string, values map[string]types.AttributeValue) (txn.Write, error) {
	key, err := keys.Account(a.Tenant, a.ID)
	switch {
	case err != nil:
		return txn.Write{}, invalidKey("account", a.ID, err)
	case a.Version < 1:
		return txn.Write{}, a.invalid("Version", "is not one that was read")
	}
	a = a.withDefaults()
	all := map[string]types.AttributeValue{
		":v": formatValue, ":one": oneValue, ":read": integer(a.Version), ":closed": text(string(StatusClosed)), ":side": text(string(a.Side)),
		":assets": integer(int64(a.Assets)), ":opened": integer(int64(a.Opened)), ":stripes": integer(int64(a.Stripes)), ":lanes": integer(int64(a.Lanes)),
	}
	for name, value := range values {
		all[name] = value
	}
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Update:    "SET version = version + :one, " + set,
		Condition: "v = :v AND version = :read AND #status <> :closed AND side = :side AND assets = :assets AND opened = :opened AND stripes = :stripes AND lanes = :lanes",
		Names:     statusName, Values: all, Fence: true,
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{What: "account", Tenant: a.Tenant, ID: a.ID}
			}
			stored, err := decodeAccount(a.Tenant, a.ID, old)
			switch {
			case err != nil:
				return err
			case stored.Status == StatusClosed:
				return &StatusError{Place: Place{Tenant: a.Tenant, Account: a.ID}, Status: StatusClosed}
			case stored.Version == a.Version && !stored.sameShape(a):
				return a.invalid("Account", "is not the one that is stored")
			case stored.Version == a.Version && stored.Status != StatusOpen:
				return &StatusError{Place: Place{Tenant: a.Tenant, Account: a.ID}, Status: stored.Status}
			case stored.Version == a.Version:
				return &LimitError{What: "account", ID: a.ID, Limit: "assets", Max: stored.Assets}
			}
			return &VersionError{What: "account", ID: strconv.Quote(a.ID), Expected: a.Version, Stored: stored.Version}
		},
	}, nil
}

// sameShape says whether two accounts can hold the same.
func (a Account) sameShape(b Account) bool {
	return a.Side == b.Side && a.Assets == b.Assets && a.Opened == b.Opened && a.Stripes == b.Stripes && a.Lanes == b.Lanes
}

func decodeAccount(tenant, id string, item txn.Item) (Account, error) {
	d := decode(accountName(tenant, id), item)
	a := Account{
		Tenant: tenant, ID: id, Side: Side(d.text(attrSide)), Status: Status(d.text(attrStatus)),
		Assets: int(d.count(attrAssets)), Stripes: int(d.count(attrStripes)), Lanes: int(d.count(attrLanes)),
		Opened: int(d.count(attrOpened)), Version: d.count(attrVersion), OpenedAt: d.time(attrOpenedAt), Metadata: d.metadata(),
	}
	if a.Side != DebitSide && a.Side != CreditSide {
		d.fail(attrSide)
	}
	if a.Stripes < 1 || a.Stripes > MaxStripes {
		d.fail(attrStripes)
	}
	if a.Lanes < 1 || a.Lanes > MaxLanes {
		d.fail(attrLanes)
	}
	return a, d.err
}

// SetStatus returns the part that freezes, thaws or closes an account as it was read, with all of its balances: one for each
// asset and stripe, as they were read. From its commit on, every posting finds the new status. If an asset was opened
// since, the Commit fails with a [VersionError]; if a balance of an account that is to be closed is not empty, with a
// [NotEmptyError]; if the account is closed, with a [StatusError].
//
// An account of more than 99 balances does not fit one transaction: set its balances one by one with
// [Ledger.SetBalanceStatus].
//
// Cost: 2 write units for the account and for each balance.
func (l *Ledger) SetStatus(a Account, to Status, balances ...Balance) txn.Part {
	const label = "AP12.status"
	writes, err := l.setStatus(a, to, balances)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, writes...)
}

func (l *Ledger) setStatus(a Account, to Status, balances []Balance) ([]txn.Write, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	if !to.valid() {
		return nil, a.invalid("status", "is not one of the three")
	}
	if want := a.Opened * max(a.Stripes, 1); len(balances) != want {
		return nil, a.invalid("balances", "are "+strconv.Itoa(len(balances))+", and the account has "+strconv.Itoa(want))
	}
	if len(balances) >= txn.MaxItems {
		return nil, &LimitError{What: "account", ID: a.ID, Limit: "balances whose status is set at once", Max: txn.MaxItems - 1}
	}
	account, err := l.accountChange(a, "#status = :to", map[string]types.AttributeValue{":to": text(string(to))})
	if err != nil {
		return nil, err
	}
	writes := []txn.Write{account}
	for _, b := range balances {
		if b.Tenant != a.Tenant || b.Account != a.ID {
			return nil, a.invalid("balances", "are not all of this account")
		}
		write, err := l.balanceStatus(b, to)
		if err != nil {
			return nil, err
		}
		writes = append(writes, write)
	}
	return writes, nil
}

// SetBalanceStatus returns the part that freezes, thaws or closes one balance. A balance that is to be closed must be empty,
// or the Commit fails with a [NotEmptyError]; a closed one stays closed.
//
// Cost: 2 write units.
func (l *Ledger) SetBalanceStatus(b Balance, to Status) txn.Part {
	const label = "AP12.status"
	write, err := l.balanceStatus(b, to)
	if err != nil {
		return txn.BadPart(label, err)
	}
	return txn.NewPart(label, write)
}

func (l *Ledger) balanceStatus(b Balance, to Status) (txn.Write, error) {
	r := b.ref()
	key, err := r.key()
	switch {
	case l.unusable() != nil:
		return txn.Write{}, l.unusable()
	case err != nil:
		return txn.Write{}, invalidKey("account", b.Account, err)
	case !to.valid():
		return txn.Write{}, &InvalidError{What: "account", ID: b.Account, Field: "status", Reason: "is not one of the three"}
	}
	condition := "v = :v AND #status <> :closed"
	values := map[string]types.AttributeValue{":v": formatValue, ":closed": text(string(StatusClosed)), ":to": text(string(to)), ":one": oneValue}
	if to == StatusClosed {
		condition += " AND posted = :zero AND reservations = :zero"
		values[":zero"] = zeroValue
	}
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Update: "SET #status = :to ADD version :one", Condition: condition,
		Names: statusName, Values: values,
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{What: "asset", Tenant: r.tenant, ID: r.account, Asset: r.code}
			}
			stored, err := decodeAuthority(r, old)
			switch {
			case err != nil:
				return err
			case stored.Status == StatusClosed:
				return &StatusError{Place: r.place(), Status: StatusClosed}
			}
			return &NotEmptyError{Place: r.place(), Reservations: stored.Reservations}
		},
	}, nil
}
