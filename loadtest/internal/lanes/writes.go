package lanes

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// requests is AP08: commands with an idempotency key, each key's repeated by an impatient client.
func requests(s *loadtest.Stage) (loadtest.Do, error) {
	claims := idempotency.New(idempotency.Config{RecordBytesMax: capacity.WriteUnitBytes, Now: s.Now})
	committer := txn.New(s.Client, s.Txn)
	return func(ctx context.Context, op loadtest.Op) error {
		key := name("key", op.Key)
		_, err := committer.Commit(ctx, claims.Once(
			idempotency.Request{Tenant: tenant, Key: key, Operation: "order.accept", Command: idempotency.NewFields().String("symbol", "ACME")},
			idempotency.Result{Code: "201", Body: []byte(padding(300)), Effect: map[string]string{"orderId": key}}))
		if _, replayed := idempotency.Replayed(err); replayed {
			return nil
		}
		return err
	}, s.DB.CreateTable(idempotency.TableName, claims.Index())
}

// names is AP17: everybody wants the same names.
func names(s *loadtest.Stage) (loadtest.Do, error) {
	reserved := sentinel.New(sentinel.Config{Table: txn.Table{Name: "Orders"}, Now: s.Now})
	committer := txn.New(s.Client, s.Txn)
	return func(ctx context.Context, op loadtest.Op) error {
		_, err := committer.Commit(ctx, reserved.Reserve(sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: name("C", op.Key),
			Owner: name("order", op.N), Command: name("key", op.N)}))
		var taken *sentinel.TakenError
		if errors.As(err, &taken) {
			return nil
		}
		return err
	}, s.DB.CreateTable("Orders")
}

// protected is AP09 from the side of the state that a consumer protects: a position of 1 KiB for each key.
func protected(s *loadtest.Stage) (loadtest.Do, error) {
	received := inbox.New(inbox.Config{Consumer: "portfolio", Now: s.Now})
	committer, table := txn.New(s.Client, s.Txn), txn.Table{Name: "Portfolio"}
	return func(ctx context.Context, op loadtest.Op) error {
		item := table.WithDefaults("").Key("TEN#"+tenant+"#ACCT#"+name("account", op.Key), "POS#ACME")
		item["document"] = text(padding(1024 - capacity.ItemSize(item) - len("document") - markBytes))
		_, err := received.Process(ctx, committer, inbox.Event{ID: name("event", op.N), Type: "OrderFilled", Source: name("acme/Order/order", op.N), SourceVersion: 3},
			nil, txn.Put(table, item))
		return err
	}, errors.Join(s.DB.CreateTable(inbox.DefaultTable), s.DB.CreateTable(table.Name))
}

// markBytes are those of the mark that every record of a transaction carries.
const markBytes = len(txn.MarkAttribute) + 22

// others is how many accounts stand on the other side of postings.
const others = 500

// book is a ledger with accounts of customers, one for each key, all with funds.
func book(s *loadtest.Stage, n int) (*ledger.Ledger, *txn.Committer, money.Currency, error) {
	usd, err := money.ISO("USD")
	if err != nil {
		return nil, nil, usd, err
	}
	l, committer := ledger.New(ledger.Config{Now: s.Now}), txn.New(s.Client, s.Txn)
	err = s.DB.CreateTable(ledger.DefaultTable, l.Indexes()...)
	open := func(id string) {
		if err == nil {
			_, err = committer.Commit(context.Background(), l.OpenAccount(ledger.Account{Tenant: tenant, ID: id, Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}))
		}
	}
	for i := range others {
		open(name("other", i))
	}
	for k := range n {
		open(name("account", k))
	}
	return l, committer, usd, err
}

// postings is AP10: transfers between the account of the key and one of many others.
func postings(n int) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		l, committer, usd, err := book(s, n)
		if err != nil {
			return nil, err
		}
		amount, err := money.Parse("5.00", usd)
		return func(ctx context.Context, op loadtest.Op) error {
			_, err := committer.Commit(ctx, l.Post(ledger.Transaction{Tenant: tenant, ID: name("tx", op.N), EffectiveAt: noon,
				Postings: []ledger.Posting{ledger.Debit(name("account", op.Key), amount), ledger.Credit(name("other", op.N%others), amount)}}))
			return err
		}, err
	}
}

// authorizations is AP12: reservations of buying power.
func authorizations(n int) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		l, committer, usd, err := book(s, n)
		if err != nil {
			return nil, err
		}
		amount, err := money.Parse("-5.00", usd)
		return func(ctx context.Context, op loadtest.Op) error {
			_, err := committer.Commit(ctx, l.Reserve(ledger.Reservation{Tenant: tenant, ID: name("hold", op.N), Account: name("account", op.Key), Amount: amount}))
			return err
		}, err
	}
}

// statements is AP11: the smallest page that answers, one posting.
func statements(n int) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		l, committer, usd, err := book(s, n)
		if err != nil {
			return nil, err
		}
		amount, err := money.Parse("5.00", usd)
		for k := 0; k < n && err == nil; k++ {
			_, err = committer.Commit(context.Background(), l.Post(ledger.Transaction{Tenant: tenant, ID: name("tx", k), EffectiveAt: noon,
				Postings: []ledger.Posting{ledger.Debit(name("account", k), amount), ledger.Credit(name("other", k%others), amount)}}))
		}
		return func(ctx context.Context, op loadtest.Op) error {
			_, err := l.StatementPage(ctx, s.Client, ledger.StatementQuery{Tenant: tenant, Account: name("account", op.Key), Month: ledger.MonthOf(noon)}, "", 10)
			return err
		}, err
	}
}

// batches is AP14: batches of 20 KiB, all of one tenant's day for each key.
func batches(s *loadtest.Stage) (loadtest.Do, error) {
	table := txn.Table{Name: reconcile.DefaultTable}
	return func(ctx context.Context, op loadtest.Op) error {
		item := table.WithDefaults("").Key("TEN#"+tenant+"#DATE#"+name("day", op.Key), "BATCH#"+name("batch", op.N))
		item["document"] = text(padding(20*1024 - capacity.ItemSize(item) - len("document")))
		_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table.Name, Item: item})
		return err
	}, s.DB.CreateTable(table.Name)
}

// breaks is AP15, both routes: the discrepancies of a batch, or what is due.
func breaks(due bool) loadtest.Lane {
	return func(s *loadtest.Stage) (loadtest.Do, error) {
		desk := reconcile.New(s.Client, reconcile.Config{Now: s.Now, Txn: s.Txn})
		if err := s.DB.CreateTable(reconcile.DefaultTable, desk.Index()); err != nil {
			return nil, err
		}
		return func(ctx context.Context, op loadtest.Op) error {
			if due {
				for _, err := range desk.Due(ctx, tenant, reconcile.StatusOpen, noon) {
					return err
				}
				return nil
			}
			for _, err := range desk.Breaks(ctx, tenant, name("batch", op.Key)) {
				return err
			}
			return nil
		}, nil
	}
}

// repairs is AP18: what a worker asks for.
func repairs(s *loadtest.Stage) (loadtest.Do, error) {
	claims := idempotency.New(idempotency.Config{Now: s.Now})
	return func(ctx context.Context, op loadtest.Op) error {
		for _, err := range claims.Due(ctx, s.Client, name("tenant", op.Key), noon.Add(time.Hour)) {
			return err
		}
		return nil
	}, s.DB.CreateTable(idempotency.TableName, claims.Index())
}
