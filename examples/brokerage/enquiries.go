package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// asked is what people wanted to know after the close, and whether what the lists said was so.
type asked struct {
	Orders    int `json:"orders_listed"`      // AP02: of all accounts
	Open      int `json:"open_orders_listed"` // AP03: those that are open, each read again before it counts (AP01)
	Stale     int `json:"open_orders_stale"`  // AP03: listed, and open no more
	Fills     int `json:"order_trades_read"`  // AP04: of open orders; they add up to what the order has filled
	Trades    int `json:"trades_listed"`      // AP05: of all accounts
	BySymbol  int `json:"symbol_trades_listed"`
	Statement int `json:"statement_lines"` // AP11: of one account of each tenant
}

// pageSize is how many entries a list shows at a time.
const pageSize = 100

// enquire answers what customers, traders and supervisors ask at the end of a day. Lists come from indexes, so they may be behind; what
// decides anything is read from the record itself.
func (f *firm) enquire(ctx context.Context) error {
	if err := f.office.wait(ctx, f.office.lag); err != nil {
		return err
	}
	for i, of := range f.accounts {
		orders, err := f.list(ctx, ordersTable, "GSI1", "account", accountPK(of.tenant, of.id), "ORD#")
		if err != nil {
			return err
		}
		f.asked.Orders += len(orders)
		for _, status := range openStatuses {
			listed, err := f.list(ctx, ordersTable, "GSI2", "status", statusPK(of.tenant, of.id, status), "ORD#")
			if err != nil {
				return err
			}
			if err := f.lookAtOpen(ctx, of, listed); err != nil {
				return err
			}
		}
		trades, err := f.list(ctx, executionTable, "GSI1", "account", accountPK(of.tenant, of.id), "TRADE#")
		if err != nil {
			return err
		}
		f.asked.Trades += len(trades)
		if i == 0 || f.accounts[i-1].tenant != of.tenant {
			if err := f.askForTenant(ctx, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// askForTenant reads the tape of each symbol (AP06) and the statement of one account (AP11).
func (f *firm) askForTenant(ctx context.Context, of account) error {
	for _, l := range listed {
		tape, err := f.list(ctx, executionTable, "GSI2", "symbol", "TEN#"+of.tenant+"#SYM#"+l.symbol, "TRADE#")
		if err != nil {
			return err
		}
		f.asked.BySymbol += len(tape)
	}
	for _, err := range f.service.books.ledger.Statement(ctx, f.service.client, ledger.StatementQuery{
		Tenant: of.tenant, Account: of.id, Month: ledger.MonthOf(marketCloses),
	}) {
		if err != nil {
			return err
		}
		f.asked.Statement++
	}
	return nil
}

// list reads an index from the newest entry on, to its end, page by page (AP02, AP03, AP05, AP06).
func (f *firm) list(ctx context.Context, table txn.Table, index, name, value, prefix string) (items []txn.Item, err error) {
	key := expression.Key(name + "Pk").Equal(expression.Value(value)).And(expression.Key(name + "Sk").BeginsWith(prefix))
	query, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		return nil, err
	}
	pages := dynamodb.NewQueryPaginator(f.service.client, &dynamodb.QueryInput{
		TableName: aws.String(table.Name), IndexName: aws.String(index), KeyConditionExpression: query.KeyCondition(),
		ExpressionAttributeNames: query.Names(), ExpressionAttributeValues: query.Values(),
		ScanIndexForward: aws.Bool(false), Limit: aws.Int32(pageSize),
	})
	for pages.HasMorePages() {
		one, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		items = append(items, one.Items...)
	}
	return items, nil
}

// lookAtOpen reads listed orders and their trades again, strongly (AP01, AP04): what is filled is what the trades add up to.
func (f *firm) lookAtOpen(ctx context.Context, of account, listed []txn.Item) error {
	for _, entry := range listed {
		w := working{Tenant: of.tenant, OrderID: textOf(entry, "orderId")}
		at, err := f.office.execution.standing(ctx, w)
		if err != nil {
			return err
		}
		if at.ended() {
			f.asked.Stale++
			continue
		}
		f.asked.Open++
		n, sum, err := f.office.execution.traded(ctx, w, money.Zero(at.filled.Currency()))
		if err != nil {
			return err
		}
		f.asked.Fills += n
		if sum != at.filled {
			return fmt.Errorf("order %s has %s filled, its trades are %s: %w", w.OrderID, at.filled, sum, errDisagree)
		}
	}
	return nil
}

// traded adds up the trades of an order, read strongly (AP04): 1 read unit for each 4 KiB begun.
func (x *execution) traded(ctx context.Context, w working, none money.Amount) (n int, sum money.Amount, err error) {
	key := expression.Key("PK").Equal(expression.Value(orderPK(w.Tenant, w.OrderID))).And(expression.Key("SK").BeginsWith("TRADE#"))
	query, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		return 0, none, err
	}
	out, err := x.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(executionTable.Name), KeyConditionExpression: query.KeyCondition(), ConsistentRead: aws.Bool(true),
		ExpressionAttributeNames: query.Names(), ExpressionAttributeValues: query.Values(),
	})
	if err != nil {
		return 0, none, err
	}
	sum = none
	for _, trade := range out.Items {
		quantity, notRead := x.market.registry.Decode(trade["quantity"])
		next, notAdded := sum.Add(quantity)
		if err := errors.Join(notRead, notAdded); err != nil {
			return n, sum, err
		}
		n, sum = n+1, next
	}
	return n, sum, nil
}
