package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// exportTable writes a table as DynamoDB's point-in-time export does, into a directory, and opens it. With DynamoDB itself that is
// ExportTableToPointInTime, and an fs.FS over the bucket; what reads it is the same. Nothing else in this program reads a whole table.
func exportTable(ctx context.Context, client *dynamodb.Client, table txn.Table, bucket string, at time.Time) (*export.Export, error) {
	scan, err := export.NewScan(client, export.ScanConfig{
		Table: table.Name, Segments: 1, PageSize: 5_000, UnitsPerSecond: 10_000_000, Consistent: true,
	})
	if err != nil {
		return nil, err
	}
	dir, err := export.Write(export.Directory(bucket), export.WriteConfig{Table: table.Name, ExportTime: at, Prefix: table.Name}, scan.Records(ctx))
	if err != nil {
		return nil, fmt.Errorf("export of %s: %w", table.Name, err)
	}
	return export.Open(os.DirFS(bucket), dir, export.Config{})
}

// exported is what the exports of a night have.
type exported struct {
	execution *export.Export
	tenants   map[string]*tenantData
	reports   []ledger.Report // every balance, proved from its postings

	// For the page, if there is one.
	told    bool
	lines   []ledger.Line
	samples samples
}

// tenantData is what they have of one tenant.
type tenantData struct {
	accepted []working         // all orders
	heads    []ready.Source    // their latest versions
	names    []sentinel.Held   // client order IDs in use
	owners   []ready.Owner     // and the orders that say that they have them
	events   []outbox.Record   // of orders and of execution
	balances []ledger.Balance  // of all accounts
	proofs   []ledger.Report   // what these are by their postings
	street   []ledger.Line     // what trades moved at bank and custodian
	orders   map[string]string // status by client order ID, with what is filled
}

func (x *exported) of(tenant string) *tenantData {
	if x.tenants[tenant] == nil {
		x.tenants[tenant] = &tenantData{orders: map[string]string{}}
	}
	return x.tenants[tenant]
}

// takeExports exports orders, execution and the books, and reads them.
func (f *firm) takeExports(ctx context.Context, bucket string) (*exported, error) {
	x := &exported{tenants: map[string]*tenantData{}, told: f.office.story != nil, samples: samples{}}
	now := f.clock.now()
	for _, one := range []struct {
		table txn.Table
		read  func(iter.Seq2[txn.Item, error]) error
	}{
		{ordersTable, func(items iter.Seq2[txn.Item, error]) error { return f.readOrders(x, items) }},
		{executionTable, func(items iter.Seq2[txn.Item, error]) error { return f.readEvents(x, f.office.execution.events, items) }},
		{ledgerTable, func(items iter.Seq2[txn.Item, error]) error { return f.readBooks(x, items) }},
	} {
		e, err := exportTable(ctx, f.service.client, one.table, bucket, now)
		if err != nil {
			return nil, err
		}
		if one.table == executionTable {
			x.execution = e
		}
		if err := one.read(x.sampling(export.Items(e.Records(ctx, export.Position{})))); err != nil {
			return nil, fmt.Errorf("export of %s: %w", one.table.Name, err)
		}
	}
	return x, nil
}

// sampling keeps some of the items for the page.
func (x *exported) sampling(items iter.Seq2[txn.Item, error]) iter.Seq2[txn.Item, error] {
	if !x.told {
		return items
	}
	return func(yield func(txn.Item, error) bool) {
		for item, err := range items {
			if err == nil {
				x.samples.take(item)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

func (f *firm) readOrders(x *exported, items iter.Seq2[txn.Item, error]) error {
	return f.readEvents(x, f.service.events, func(yield func(txn.Item, error) bool) {
		for item, err := range items {
			if err == nil {
				err = f.readOrder(x, item)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	})
}

func (f *firm) readOrder(x *exported, item txn.Item) error {
	if held, ok, err := f.service.names.Decode(item); ok || err != nil {
		if err == nil {
			x.of(held.Tenant).names = append(x.of(held.Tenant).names, held)
		}
		return err
	}
	if textOf(item, "SK") != "META" {
		return nil
	}
	at, err := f.service.books.market.readStanding(item)
	if err != nil {
		return err
	}
	tenant, id, name := textOf(item, "tenant"), textOf(item, "orderId"), textOf(item, "clientOrderId")
	of := x.of(tenant)
	of.orders[name] = fmt.Sprintf("%s %s %s %s", textOf(item, "account"), textOf(item, "side"), at.status, at.filled)
	of.owners = append(of.owners, ready.Owner{Tenant: tenant, Kind: sentinel.ClientOrder, Name: name, Owner: id})
	if at.version > firstVersion { // the first version is in no view
		of.heads = append(of.heads, ready.Source{Name: txn.JoinKey(tenant, orderAggregate, id), Version: at.version})
	}
	return nil
}

func (f *firm) readEvents(x *exported, events *outbox.Outbox, items iter.Seq2[txn.Item, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		r, ok, err := events.Decode(item)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		of := x.of(r.Event.Tenant)
		of.events = append(of.events, r)
		if r.Event.Type == orderAccepted {
			w, err := f.service.books.market.working(r.Event)
			if err != nil {
				return err
			}
			of.accepted = append(of.accepted, w)
		}
	}
	return nil
}

// readBooks proves every balance from its postings (AP11), and keeps balances and postings for the comparisons.
func (f *firm) readBooks(x *exported, items iter.Seq2[txn.Item, error]) (err error) {
	book := f.service.books.ledger
	x.reports, err = book.VerifyAll(func(yield func(txn.Item, error) bool) {
		for item, err := range items {
			if err == nil {
				err = readBook(x, book, item)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}, nil)
	for _, r := range x.reports {
		x.of(r.Place.Tenant).proofs = append(x.of(r.Place.Tenant).proofs, r)
	}
	return err
}

func readBook(x *exported, book *ledger.Ledger, item txn.Item) error {
	b, ok, err := book.BalanceIn(item)
	if ok && err == nil {
		x.of(b.Tenant).balances = append(x.of(b.Tenant).balances, b)
	}
	if ok || err != nil {
		return err
	}
	line, ok, err := book.LineIn(item)
	if ok && x.told && err == nil {
		x.lines = append(x.lines, line)
	}
	if ok && err == nil && line.Account == street && strings.HasPrefix(line.Source, venuePrefix) {
		x.of(line.Tenant).street = append(x.of(line.Tenant).street, line)
	}
	return err
}
