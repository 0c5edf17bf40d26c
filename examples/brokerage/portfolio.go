package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// portfolio keeps the positions of every account as a view of the trades (AP07). It is rebuildable and behind, and authorises
// nothing.
type portfolio struct {
	client *dynamodb.Client
	market market
	view   *projection.Projection
	reads  int // the namespace that is kept and read; a rebuild makes another one
}

func newPortfolio(client *dynamodb.Client, pace txn.Config, m market) *portfolio {
	p := &portfolio{client: client, market: m, reads: 1}
	p.view = projection.New(client, projection.Config{
		Name: "portfolio", Table: portfolioTable, View: p.change, Txn: pace,
		First: firstVersion + 1, // the first version of an order is its acceptance, which changes no position
	})
	return p
}

// follow finds out which namespace readers are to use.
func (p *portfolio) follow(ctx context.Context) error {
	alias, err := p.view.Alias(ctx)
	if err == nil {
		p.reads = alias.Namespace
	}
	return err
}

func (p *portfolio) namespace() *projection.Namespace { return p.view.Namespace(p.reads) }

// apply takes the event of a trade. The source is the order, whose versions have no holes; an event that comes before the one
// before it waits in the database, and is listed as a gap meanwhile.
func (p *portfolio) apply(ctx context.Context, e outbox.Event) (projection.Outcome, error) {
	return p.namespace().Apply(ctx, versionOf(e))
}

// versionOf is an event as one version of its order.
func versionOf(e outbox.Event) projection.Event {
	return projection.Event{
		Source: txn.JoinKey(e.Tenant, e.AggregateType, e.AggregateID), Version: e.AggregateVersion,
		ID: e.ID, Type: e.Type, OccurredAt: e.OccurredAt, Payload: e.Payload,
	}
}

// change is what a trade changes in the view, in the transaction that moves the order's checkpoint: the receipt of the
// event, and the position (CS06). The version stops what is old, the receipt stops another event under a known ID.
func (p *portfolio) change(_ context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
	if e.Type == orderClosed {
		return nil, nil // a version that changes no position
	}
	var t tradePayload
	if err := json.Unmarshal(e.Payload, &t); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.ID, err)
	}
	quantity, err := p.market.registry.Parse(t.Quantity)
	if err != nil {
		return nil, fmt.Errorf("event %s: quantity: %w", e.ID, err)
	}
	amount, err := p.market.registry.Parse(t.Amount)
	if err != nil {
		return nil, fmt.Errorf("event %s: amount: %w", e.ID, err)
	}
	if t.Side == "sell" {
		quantity, amount = quantity.Neg(), amount.Neg()
	}
	received := inbox.New(inbox.Config{Consumer: fmt.Sprintf("portfolio@%d", namespace), Table: portfolioTable})
	return []txn.Part{
		received.Receive(
			inbox.Event{ID: e.ID, Type: e.Type, Source: e.Source, SourceVersion: e.Version, Payload: e.Payload},
			map[string]string{"position": t.Symbol},
		),
		txn.Update(portfolioTable, positionKey(namespace, t.Tenant, t.Account, t.Symbol), positionChange(t, quantity, amount, e), txn.Label("AP07.apply")),
	}, nil
}

// positionKey is the route IDX07. A rebuild's view stands beside the first one.
func positionKey(namespace int, tenant, account, symbol string) txn.Item {
	return portfolioTable.Key(positionsPK(namespace, tenant, account), positionPrefix+symbol)
}

func positionsPK(namespace int, tenant, account string) string {
	if namespace == 1 {
		return accountPK(tenant, account)
	}
	return accountPK(tenant, account) + fmt.Sprintf("#NS#%d", namespace)
}

const positionPrefix = "POS#"

// positionChange adds the trade to a position, exactly: DynamoDB adds decimal numbers of 38 digits. Beside the sums stands
// which version of which order was the last to change them.
func positionChange(t tradePayload, quantity, amount money.Amount, e projection.Event) expression.UpdateBuilder {
	set := func(u expression.UpdateBuilder, name string, value any) expression.UpdateBuilder {
		return u.Set(expression.Name(name), expression.Value(value))
	}
	change := expression.Add(expression.Name("quantity"), expression.Value(quantity.Number())).
		Add(expression.Name("cost"), expression.Value(amount.Number())).
		Add(expression.Name("trades"), expression.Value(1))
	change = set(change, "v", 1)
	change = set(change, "symbol", t.Symbol)
	change = set(change, "currency", amount.Currency().Code())
	change = set(change, "source", e.Source)
	change = set(change, "sourceVersion", e.Version)
	return set(change, "asOf", timestamp(e.OccurredAt))
}

// account is whose positions are read.
type account struct{ tenant, id string }

func (a account) compare(b account) int {
	return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.id, b.id))
}

// position is what an account has of a security, and what it paid for it in sum. SourceVersion is the version of the order
// Source whose trade was the last one to change it.
type position struct {
	Quantity, Cost money.Amount
	Trades         string
	Source         string
	SourceVersion  string
}

// positions reads the portfolio of an account, by symbol (AP07): half a read unit for each 4 KiB begun.
func (p *portfolio) positions(ctx context.Context, of account) (list []position, err error) {
	return p.positionsIn(ctx, p.reads, of)
}

func (p *portfolio) positionsIn(ctx context.Context, namespace int, of account) (list []position, err error) {
	key := expression.Key("PK").Equal(expression.Value(positionsPK(namespace, of.tenant, of.id))).And(expression.Key("SK").BeginsWith(positionPrefix))
	query, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		return nil, err
	}
	pages := dynamodb.NewQueryPaginator(p.client, &dynamodb.QueryInput{
		TableName: aws.String(portfolioTable.Name), KeyConditionExpression: query.KeyCondition(),
		ExpressionAttributeNames: query.Names(), ExpressionAttributeValues: query.Values(),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			one, err := p.readPosition(item)
			if err != nil {
				return nil, fmt.Errorf("account %s: %w", of.id, err)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

func (p *portfolio) readPosition(item txn.Item) (one position, err error) {
	text := func(name string) string { return textOf(item, name) }
	in, ok := p.market.instruments[text("symbol")]
	if !ok {
		return one, fmt.Errorf("a position of %q, which is not listed here", text("symbol"))
	}
	if one.Quantity, err = money.FromNumber(item["quantity"], in.security); err != nil {
		return one, err
	}
	one.Cost, err = money.FromNumber(item["cost"], in.currency)
	one.Trades, one.Source, one.SourceVersion = text("trades"), text("source"), text("sourceVersion")
	return one, err
}

// survey is what accounts have: how many positions, a digest that is equal for equal portfolios, and the largest of these.
type survey struct {
	count   int
	digest  string
	largest account
	has     []position
}

func (p *portfolio) survey(ctx context.Context, accounts []account) (found survey, err error) {
	accounts = slices.SortedFunc(slices.Values(accounts), account.compare)
	sum := sha256.New()
	for _, one := range accounts {
		list, err := p.positions(ctx, one)
		if err != nil {
			return found, err
		}
		found.count += len(list)
		if len(list) > len(found.has) {
			found.largest, found.has = one, list
		}
		for _, has := range list {
			fmt.Fprintln(sum, one.tenant, one.id, has.Quantity, has.Cost, has.Trades)
		}
	}
	found.digest = hex.EncodeToString(sum.Sum(nil)[:8])
	return found, nil
}

// gaps counts the orders of which a version is missing, and the events that wait for it (AP13).
func (p *portfolio) gaps(ctx context.Context) (open int, waiting int, err error) {
	for gap, err := range p.namespace().Gaps(ctx) {
		if err != nil {
			return open, waiting, err
		}
		open++
		waiting += int(gap.Parked)
	}
	return open, waiting, nil
}
