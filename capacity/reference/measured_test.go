package reference_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/capacity/reference"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// measured says how each scenario is done with the real code.
var measured = map[string]struct {
	do func(m *market)
	// beyond is what the code writes besides the scenario, and why says what for.
	beyond capacity.Units
	why    string
}{
	"AMP01": {do: (*market).createOrder},
	"AMP02": {do: (*market).changeStatus},
	"AMP03": {do: (*market).writeTrade},
	"AMP04": {do: (*market).updateView},
	"AMP05": {do: (*market).claimRequestAndName},
	"AMP06": {do: (*market).receive},
	"AMP07": {do: (*market).post, beyond: capacity.Whole(2), why: "the header, which makes the transaction's identifier unique whatever month it lands in"},
	"AMP08": {do: (*market).readLedger},
	"AMP09": {do: (*market).moveCheckpoint},
	"AMP10": {do: (*market).createBatch},
	"AMP11": {do: (*market).findBreak},
	"AMP12": {do: (*market).createEvent},
	"AMP13": {do: (*market).handToRepair},
	"AMP14": {do: (*market).accept},
	"AMP15": {do: func(m *market) { m.relayStep(nil, 0) }},
	"AMP16": {do: func(m *market) { m.relayStep(nil, 1) }},
	"AMP17": {do: func(m *market) { m.relayStep(errors.New("the broker is down"), 1) }},
	"AMP18": {do: (*market).reschedule},
}

func TestScenariosCostWhatThePlanSays(t *testing.T) {
	t.Parallel()
	all, err := reference.Amplifications()
	if err != nil {
		t.Fatal(err)
	}
	if len(measured) != len(all) {
		t.Errorf("%d of %d scenarios are measured", len(measured), len(all))
	}
	for _, a := range all {
		scenario, ok := measured[a.ID]
		if !ok {
			t.Errorf("%s is not measured", a.ID)
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			m := newMarket(t)
			scenario.do(m)
			table, index := writes(m.meter.calls)
			wantTable := capacity.Whole(a.Base*a.BaseMultiplier) + scenario.beyond
			if wantIndex := capacity.Whole(a.Index * a.IndexMultiplier); table != wantTable || index != wantIndex {
				t.Errorf("%s: %s table and %s index units, want %s and %s: %+v", a.Name, table, index, wantTable, wantIndex, m.meter.calls)
			}
			if (scenario.beyond != 0) != (scenario.why != "") {
				t.Errorf("%s units more than planned, because %q", scenario.beyond, scenario.why)
			}
		})
	}
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const tenant = "acme"

// market is the reference's tables, with the primitives on them. What counts is what is sent after a scenario's start.
type market struct {
	*testing.T
	db                      *dynamosim.DB
	client                  *dynamodb.Client
	meter                   meter
	orders, execution, view txn.Table
	events                  *outbox.Outbox
	book                    *ledger.Ledger
}

func newMarket(t *testing.T) *market {
	now := func() time.Time { return noon }
	m := &market{T: t, db: dynamosim.New(t), orders: txn.Table{Name: "Orders"}, execution: txn.Table{Name: "Execution"}, view: txn.Table{Name: "Portfolio"}}
	m.events = outbox.New(outbox.Config{Service: "orders", Table: m.orders})
	m.book = ledger.New(ledger.Config{Now: now})
	m.client = m.db.Client(m.meter.on)
	include := func(name string, attributes ...string) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{IndexName: &name,
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(name + "PK"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(name + "SK"), KeyType: types.KeyTypeRange}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: attributes}}
	}
	for name, indexes := range map[string][]types.GlobalSecondaryIndex{
		"Orders":    {include("GSI1", "summary"), include("GSI2", "badge"), m.events.Index()},
		"Execution": {include("GSI1", "summary"), include("GSI2", "badge")},
		"Portfolio": nil, idempotency.TableName: {idempotency.New(idempotency.Config{}).Index()}, inbox.DefaultTable: nil, projection.DefaultTable: nil,
		ledger.DefaultTable: m.book.Indexes(), reconcile.DefaultTable: {m.desk().Index()},
	} {
		if err := m.db.CreateTable(name, indexes...); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *market) start() { m.meter.calls = nil }

func (m *market) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *market) commit(parts ...txn.Part) {
	m.Helper()
	_, err := txn.Commit(m.Context(), m.client, parts...)
	m.must(err)
}

// item is an item of planned size: what the indexes project, and the rest as a document. The mark of a transaction counts.
func item(table txn.Table, key keys.Key, bytes int, indexed map[string]string) txn.Item {
	item := table.WithDefaults("").Key(key.PK, key.SK)
	for name, value := range indexed {
		item[name] = text(value)
	}
	item["document"] = text("")
	item["document"] = text(padding(bytes - capacity.ItemSize(item) - len(txn.MarkAttribute) - 22))
	return item
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// write is a plain write of the caller's own.
func (m *market) write(table txn.Table, item txn.Item) {
	m.Helper()
	_, err := m.client.PutItem(m.Context(), &dynamodb.PutItemInput{TableName: &table.Name, Item: item})
	m.must(err)
}

// at is the planned size of hundredths of a KiB.
func at(hundredths int) int { return hundredths * 1024 / 100 }

func (m *market) order(id, status string) txn.Item {
	key, err := keys.Order(tenant, id)
	m.must(err)
	of, err := keys.AccountOrder(tenant, "account-1", noon, id)
	m.must(err)
	by, err := keys.StatusOrder{Tenant: tenant, Account: "account-1", Status: status, At: noon, Order: id}.Key()
	m.must(err)
	return item(m.orders, key, at(120), map[string]string{"GSI1PK": of.PK, "GSI1SK": of.SK, "GSI2PK": by.PK, "GSI2SK": by.SK,
		"summary": padding(250), "badge": padding(150)})
}

func (m *market) createOrder() {
	one := m.order("order-1", "OPEN")
	delete(one, "GSI2PK") // in no list by status yet
	m.start()
	m.write(m.orders, one)
}

func (m *market) changeStatus() {
	m.write(m.orders, m.order("order-1", "OPEN"))
	m.start()
	m.write(m.orders, m.order("order-1", "FILLED"))
}

func (m *market) writeTrade() {
	key, err := keys.OrderTrade(tenant, "order-1", noon, "trade-1")
	m.must(err)
	of, err := keys.AccountTrade(tenant, "account-1", noon, "trade-1")
	m.must(err)
	by, err := keys.SymbolTrade(tenant, "ACME", noon, "trade-1")
	m.must(err)
	m.start()
	m.write(m.execution, item(m.execution, key, at(90), map[string]string{"GSI1PK": of.PK, "GSI1SK": of.SK, "GSI2PK": by.PK, "GSI2SK": by.SK,
		"summary": padding(250), "badge": padding(150)}))
}

func (m *market) updateView() {
	key, err := keys.Position(tenant, "account-1", "ACME")
	m.must(err)
	m.write(m.view, item(m.view, key, at(80), nil))
	m.start()
	m.write(m.view, item(m.view, key, at(80), map[string]string{"quantity": "10"}))
}

func (m *market) claims(key string) (request, name txn.Part) {
	requests := idempotency.New(idempotency.Config{RecordBytesMax: capacity.WriteUnitBytes, Now: func() time.Time { return noon }})
	names := sentinel.New(sentinel.Config{Table: m.orders, Now: func() time.Time { return noon }})
	return requests.Once(idempotency.Request{Tenant: tenant, Key: key, Operation: "order.accept",
			Command: idempotency.NewFields().String("symbol", "ACME").Decimal("price", "19.99")},
			idempotency.Result{Code: "201", Body: []byte(padding(300)), Effect: map[string]string{"orderId": "order-1"}}),
		names.Reserve(sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: "C-77", Owner: "order-1", Command: key})
}

func (m *market) handToRepair() {
	requests := idempotency.New(idempotency.Config{Now: func() time.Time { return noon }})
	request := idempotency.Request{Tenant: tenant, Key: "key-1", Operation: "order.accept", Command: idempotency.NewFields().String("symbol", "ACME")}
	claim, err := requests.Begin(m.Context(), m.client, request, idempotency.Transactional)
	m.must(err)
	m.start()
	m.must(claim.Repair(m.Context(), m.client, idempotency.Evidence{Reason: "nobody knows"}))
}

func (m *market) claimRequestAndName() {
	request, name := m.claims("key-1")
	m.start()
	m.commit(request, name)
}

// event is one whose record has the planned 1.6 KiB.
func (m *market) event() outbox.Event {
	e := outbox.Event{Tenant: tenant, AggregateType: "Order", AggregateID: "order-1", AggregateVersion: 1, Type: "OrderAccepted",
		SchemaVersion: 1, OccurredAt: noon.AddDate(-1, 0, 0), Payload: []byte(padding(1000))}
	e.ID = e.StableID()
	return e
}

func (m *market) createEvent() {
	m.start()
	m.commit(m.events.Create(m.event()))
}

func (m *market) accept() {
	request, name := m.claims("key-1")
	m.start()
	m.commit(request, name, txn.Put(m.orders, m.order("order-1", "OPEN"), txn.IfAbsent()), m.events.Create(m.event()))
}

// relayStep publishes one event and keeps one of the two updates that a relay makes for it: the claim, and what follows.
func (m *market) relayStep(refusal error, step int) {
	m.commit(m.events.Create(m.event()))
	m.start()
	bus := &outbox.Memory{Refuse: func(outbox.Message) outbox.Result { return outbox.Result{Err: refusal} }}
	_, err := outbox.NewRelay(m.events, m.client, bus, outbox.RelayConfig{}).Once(m.Context())
	m.must(err)
	steps := only("UpdateItem", m.meter.calls)
	if len(steps) != 2 {
		m.Fatalf("%+v", m.meter.calls)
	}
	m.meter.calls = steps[step : step+1]
}

func (m *market) reschedule() {
	e := m.event()
	m.commit(m.events.Create(e))
	record, err := m.events.Get(m.Context(), m.client, e.ID)
	m.must(err)
	m.start()
	m.must(m.events.Reschedule(m.Context(), m.client, record, noon))
}

func (m *market) receive() {
	received := inbox.New(inbox.Config{Consumer: "portfolio", Now: func() time.Time { return noon }})
	key, err := keys.Position(tenant, "account-1", "ACME")
	m.must(err)
	e := inbox.Event{ID: "event-1", Type: "OrderFilled", Source: "acme/Order/order-1", SourceVersion: 3}
	m.start()
	_, err = received.Process(m.Context(), txn.New(m.client, txn.Config{}), e, nil, txn.Put(m.view, item(m.view, key, 1024, nil)))
	m.must(err)
}

// transfer is one with two postings on one balance, as AMP07 has it.
func (m *market) transfer() ledger.Transaction {
	usd, err := money.ISO("USD")
	m.must(err)
	amount, err := money.Parse("5.00", usd)
	m.must(err)
	m.commit(m.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "bank", Side: ledger.DebitSide}, ledger.Asset{Currency: usd, NoMinimum: true}))
	return ledger.Transaction{Tenant: tenant, ID: "tx-1", EffectiveAt: noon,
		Postings: []ledger.Posting{ledger.Debit("bank", amount), ledger.Credit("bank", amount)}}
}

func (m *market) post() {
	tx := m.transfer()
	m.start()
	m.commit(m.book.Post(tx))
}

func (m *market) readLedger() {
	tx := m.transfer()
	m.commit(m.book.Post(tx))
	m.start()
	page, err := m.book.StatementPage(m.Context(), m.client, ledger.StatementQuery{Tenant: tenant, Account: "bank", Month: ledger.MonthOf(noon)}, "", 10)
	m.must(err)
	if len(page.Lines) != 2 {
		m.Errorf("read %d lines", len(page.Lines))
	}
}

func (m *market) desk() *reconcile.Reconciler {
	return reconcile.New(m.client, reconcile.Config{Now: func() time.Time { return noon }})
}

func (m *market) createBatch() {
	m.start()
	m.must(m.desk().Create(m.Context(), reconcile.Manifest{Tenant: tenant, Date: "2026-11-29", Batch: "cash-1", Rules: "r",
		Window: reconcile.Window{Cutoff: noon}, Left: reconcile.Input{Name: "ledger export"}, Right: reconcile.Input{Name: "statement"}}))
}

// findBreak runs a batch with one discrepancy, and keeps what that one was charged.
func (m *market) findBreak() {
	m.createBatch()
	usd, err := money.ISO("USD")
	m.must(err)
	amount, err := money.Parse("5.00", usd)
	m.must(err)
	posting := func(yield func(reconcile.Row, error) bool) {
		yield(reconcile.Row{ID: "posting-1", Key: "pay-1", Amount: amount, At: noon.Add(-time.Hour)}, nil)
	}
	m.start()
	_, err = m.desk().Run(m.Context(), tenant, "2026-11-29", "cash-1", reconcile.Job{Worker: "nightly", Rules: reconcile.Rules{Name: "r"},
		Left: posting, Right: func(func(reconcile.Row, error) bool) {},
		Assign: func(reconcile.Outcome) reconcile.Assignment {
			return reconcile.Assignment{Owner: "finance-ops", Due: noon}
		}})
	m.must(err)
	m.meter.calls = only("PutItem", m.meter.calls)
}

func (m *market) moveCheckpoint() {
	view := projection.New(m.client, projection.Config{Name: "portfolio", Now: func() time.Time { return noon },
		View: func(context.Context, int, projection.Event) ([]txn.Part, error) { return nil, nil }}).Namespace(1)
	for version := range int64(2) {
		m.start()
		_, err := view.Apply(m.Context(), projection.Event{Source: "acme/Order/order-1", Version: version + 1, OccurredAt: noon})
		m.must(err)
	}
}

// The items of the scenarios have the planned sizes, up to a tenth; else equal units would be luck.
func TestItemsHaveThePlannedSizes(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.accept()
	m.receive()
	m.moveCheckpoint()
	want := map[string]int{"META": 120, "REQUEST": 70, "UNIQUE": 20, "EVENT": 160, "EVENT#event-1": 35, "SOURCE#acme/Order/order-1": 30}
	for _, table := range []string{"Orders", idempotency.TableName, inbox.DefaultTable, projection.DefaultTable} {
		out, err := m.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		m.must(err)
		for _, one := range out.Items {
			sk := one["SK"].(*types.AttributeValueMemberS).Value
			size, planned := capacity.ItemSize(one), at(want[sk])
			if capacity.WriteUnits(size) != capacity.WriteUnits(planned) || size > planned+planned/10 {
				t.Errorf("%s has %d bytes, the plan has %d", sk, size, planned)
			}
			delete(want, sk)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", slices.Sorted(maps.Keys(want)))
	}
}
