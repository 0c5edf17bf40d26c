package observe_test

import (
	"context"
	"testing"
	"time"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func TestEveryCommitReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table("Orders")
	orders := txn.Table{Name: "Orders"}
	commits := txn.New(d.client, txn.Config{Observer: d, Now: d.clock})
	order := txn.Put(orders, orders.Key("ORDER#1", "META"), txn.IfAbsent(), txn.Label("AP01.accept"))
	commit := func(parts ...txn.Part) func() error {
		return func() error { _, err := commits.Commit(t.Context(), parts...); return err }
	}
	d.once("AP01.commit", observe.OK, commit(order))
	d.once("AP01.commit", observe.Rejected, commit(order))
	d.once("commit", observe.Invalid, commit())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d.once("AP01.commit", observe.Abandoned, func() error { _, err := commits.Commit(ended, order); return err })
	missing := txn.Table{Name: "Missing"}
	d.once("commit", observe.Failed, commit(txn.Put(missing, missing.Key("A", "B"))))
}

func TestEveryReadOfBranchesReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table("Orders")
	orders := txn.Table{Name: "Orders"}
	for _, branch := range []string{"A", "B"} {
		for _, sk := range []string{"1", "2", "3"} {
			d.commit(txn.Put(orders, orders.Key(branch, sk)))
		}
	}
	reader := fanout.New(d.client, fanout.Config{Observer: d, Now: d.clock})
	query := fanout.Query{Name: "AP06.trades", Table: "Orders",
		Branches: []fanout.Branch{{Name: "a", Partition: fanout.Text("A")}, {Name: "b", Partition: fanout.Text("B")}}}
	d.once("AP06.trades", observe.OK, func() error { _, err := reader.Page(t.Context(), query, "", 4); return err })
	d.once("AP06.trades", observe.Invalid, func() error { _, err := reader.Page(t.Context(), query, "junk", 4); return err })
	d.once("AP06.trades", observe.OK, func() error { return drained(reader.All(t.Context(), query)) })
	run, err := reader.Start(query, "")
	if err != nil {
		t.Fatal(err)
	}
	d.once("AP06.trades", observe.OK, func() error {
		for _, err := range run.Items(t.Context()) {
			return err // the loop is left
		}
		return nil
	})
}

func TestEveryOperationOfAStoredMapReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table(shardmap.DefaultTable)
	store := shardmap.NewStore(d.client, shardmap.Config{Observer: d, Now: d.clock})
	d.once("load", observe.Failed, func() error { _, err := store.Load(t.Context(), "lane"); return err })
	d.once("create", observe.OK, func() error {
		_, err := store.Create(t.Context(), "lane", shardmap.Fixed(3), shardmap.Rules{}, "ann")
		return err
	})
	d.once("load", observe.OK, func() error { _, err := store.Load(t.Context(), "lane"); return err })
	d.once("propose", observe.OK, func() error {
		_, err := store.Propose(t.Context(), "lane", shardmap.Proposal{Shards: 5, From: d.now.Add(24 * time.Hour)}, "ann")
		return err
	})
	d.once("withdraw", observe.OK, func() error { _, err := store.Withdraw(t.Context(), "lane", 2, "ann"); return err })
	d.once("admit", observe.Rejected, func() error { _, err := store.Admit(t.Context(), "lane", 2, "ann"); return err })
	d.once("load", observe.OK, func() error { _, err := store.Loader("lane").Versions(t.Context()); return err })
}

func TestEveryScanReportsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.table("Orders")
	d.table(export.DefaultCheckpoints)
	orders := txn.Table{Name: "Orders"}
	for _, pk := range []string{"A", "B", "C", "D", "E"} {
		d.commit(txn.Put(orders, orders.Key(pk, "META")))
	}
	scan, err := export.NewScan(d.client, export.ScanConfig{Table: "Orders", Name: "audit", Segments: 2, PageSize: 2, Observer: d, Now: d.clock,
		Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	d.once("progress", observe.Stale, func() error { _, err := scan.Run(t.Context()); return err }) // it was not started
	d.once("scan", observe.OK, func() error {
		return scan.ForEach(t.Context(), func(ctx context.Context, page []export.Record) error {
			_, err := d.db.Client().GetItem(ctx, get("Orders", "A"))
			return err // what the caller reads is the caller's
		})
	})
	d.once("scan", observe.OK, func() error { return drained(scan.Records(t.Context())) })
	d.once("progress", observe.OK, func() error { _, err := scan.Run(t.Context()); return err })
}
