package page_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/money"
)

func amount(text string) money.Amount { return money.MustParse(text) }

// shares are an amount of a security.
func shares(text string) money.Amount {
	acme, err := money.Define("ACME", 0, money.KindSecurity)
	if err != nil {
		panic(err)
	}
	a, err := money.Parse(text, acme)
	if err != nil {
		panic(err)
	}
	return a
}

var nine = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)

// sample is a day as the brokerage may have it.
func sample() page.Data {
	d := page.Data{
		Title: "Brokerage: a day of orders on dynafin", Seed: 42, Orders: 10000,
		Facts: []page.Fact{
			{Name: "Day", Value: "2026-11-29"}, {Name: "Build", Value: "dynafin 0.9.0, commit 5563f38"},
			{Name: "Duration", Value: "6h 30m on the run's clock"}, {Name: "Workers", Value: "8, 3 relays, 4 consumers"},
		},
		Tiles: page.Tiles{Accepted: 9412, Absorbed: 1287, Delivered: 20518, Pending: 0, Parked: 2, Sums: []money.Amount{amount("0.00 USD"), amount("0.00 EUR")}},
	}
	d.Faults = []page.Fault{
		{Name: "Reply lost after commit", Times: 96, Replayed: 81, Retried: 15, Effect: amount("0.00 USD")},
		{Name: "Request lost", Times: 34, Retried: 34, Effect: amount("0.00 USD")},
		{Name: "Throttled", Times: 27, Retried: 27, Effect: amount("0.00 USD")},
		{Name: "Transaction conflict", Times: 22, Retried: 19, Refused: 3, Effect: amount("0.00 USD")},
		{Name: "Worker crashed before commit", Times: 9, Recovered: 9, Effect: amount("0.00 USD")},
		{Name: "Worker crashed after commit", Times: 11, Replayed: 7, Recovered: 4, Effect: amount("0.00 USD")},
		{Name: "Event delivered twice", Came: true, Times: 1287, Replayed: 1287, Effect: amount("0.00 USD")},
		{Name: "Time to live late", Times: 5, Refused: 5, Effect: amount("0.00 USD")},
	}
	d.Timeline = timeline()
	d.Books, d.Marks = books()
	d.Accounts = accounts()
	d.Flow = flow()
	d.Outcomes = []page.Outcome{
		{Name: "First", Count: 9412, Meaning: "order, client order ID, result and event were committed together"},
		{Name: "Replayed", Count: 1131, Meaning: "decided before: the stored result came back, byte for byte"},
		{Name: "In progress", Count: 44, Meaning: "another process had it; the client was told when to ask again"},
		{Name: "Conflict", Count: 61, Meaning: "the key belongs to another command; nothing was changed"},
		{Name: "Name taken", Count: 52, Meaning: "another order has the client order ID; this answer is stored, too"},
		{Name: "Expired", Count: 12, Meaning: "an attempt whose lease had ended was taken over"},
	}
	d.Reconciliation = page.Reconciliation{Rows: 18930, Matched: 18926, Planted: 4, Found: 4, False: 0, Breaks: []page.Break{
		{ID: "b-31f0c2", Kind: "MISSING", Ours: "trade t-004417", Theirs: "nothing", Difference: amount("-1204.55 USD"), Age: 2 * time.Hour, Owner: "ann@finops", Resolution: "the venue sent it the next morning"},
		{ID: "b-77aa19", Kind: "UNEXPECTED", Ours: "nothing", Theirs: "line 3318", Difference: amount("75.00 USD"), Age: 95 * time.Minute, Owner: "ann@finops", Resolution: "posted as fee-2291"},
		{ID: "b-90d1e4", Kind: "MISMATCHED", Ours: "249.50 USD", Theirs: "250.00 USD", Difference: amount("0.50 USD"), Age: 80 * time.Minute, Owner: "raj@finops", Resolution: "corrected by reversal of tx-8120"},
		{ID: "b-c5520b", Kind: "MISMATCHED", Ours: "3 rows", Theirs: "2 rows", Difference: amount("-12.00 EUR"), Age: 4 * time.Minute, Owner: "raj@finops", Resolution: "escalated; due at 18:00"},
	}}
	d.Cost, d.Items = cost(), items()
	d.Invariants = invariants()
	d.Again = page.Again{
		Command:  "go run ./examples/brokerage -seed 42 -lose-answers 0.2 -crash 0.05 -lag 5s -report out.html",
		Versions: []page.Fact{{Name: "Go", Value: "1.26"}, {Name: "aws-sdk-go-v2/service/dynamodb", Value: "1.74.0"}, {Name: "engine", Value: "dynamosim, in process"}},
		Missing: []string{"throughput of a whole table or account", "partitions that split by themselves", "signatures and permissions", "two Regions",
			"PartiQL, tags, backups", "corrupted messages, a database that forgets"},
		Where: "package dynamosim, What it does not model; docs/endpoints.md compares engines",
	}
	return d
}

func timeline() page.Timeline {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	const client, request, book, box, consumer, view = 0, 1, 2, 3, 4, 5
	return page.Timeline{
		Order: "ord-004417", Lanes: []string{"Client", "Request record", "Ledger", "Outbox", "Consumer", "Projection"},
		Steps: []page.Step{
			{At: ms(0), From: client, To: request, What: "POST /orders, key k-81c2"},
			{At: ms(7), From: request, To: request, What: "COMPLETED", Kind: page.Stored, Note: "request, order, name and event: one transaction, 15 write units"},
			{At: ms(7), From: request, To: book, What: "7,500.00 USD reserved", Kind: page.Stored},
			{At: ms(7), From: request, To: box, What: "OrderAccepted READY", Kind: page.Stored},
			{At: ms(9), From: request, To: client, What: "201", Kind: page.Lost, Note: "the reply is lost"},
			{At: ms(1009), From: client, To: request, What: "POST /orders, key k-81c2", Kind: page.Repeat},
			{At: ms(1014), From: request, To: client, What: "201, replayed: no second order"},
			{At: ms(1060), From: box, To: consumer, What: "OrderAccepted"},
			{At: ms(1061), From: box, To: box, What: "relay dies", Kind: page.Crashed, Note: "before it stores the acknowledgement"},
			{At: ms(1074), From: consumer, To: consumer, What: "receipt and trade", Kind: page.Stored},
			{At: ms(31080), From: box, To: consumer, What: "OrderAccepted, again", Kind: page.Repeat},
			{At: ms(31084), From: consumer, To: consumer, What: "known: no effect"},
			{At: ms(31110), From: consumer, To: book, What: "7,496.25 USD captured", Kind: page.Stored},
			{At: ms(31190), From: consumer, To: view, What: "TradeExecuted, version 2"},
			{At: ms(31192), From: view, To: view, What: "version 2", Kind: page.Stored},
		},
	}
}

func books() (all []page.Books, marks []page.Mark) {
	for _, asset := range []struct {
		code string
		unit int
	}{{"USD", 193017}, {"EUR", 41233}} {
		b := page.Books{Asset: asset.code}
		sum := 0
		for step := 0; step <= 12000; step += 120 {
			sum += asset.unit * (3 + (step/120*7)%5)
			total := amount(fmt.Sprintf("%d.%02d %s", sum/100, sum%100, asset.code))
			b.Points = append(b.Points, page.Point{Step: step, Debits: total, Credits: total})
		}
		all = append(all, b)
	}
	for step := 97; step < 12000; step += 389 {
		marks = append(marks, page.Mark{Step: step, Name: []string{"reply lost", "worker crashed", "throttled"}[step%3]})
	}
	return all, marks
}

func accounts() []page.Account {
	entries := func(code string) (list []page.Entry) {
		for i := range 4 {
			list = append(list, page.Entry{At: nine.Add(time.Duration(i*37) * time.Minute), ID: fmt.Sprintf("settle-%04d", 1207+i*31),
				What: "trade settled", Amount: amount(fmt.Sprintf("%d.%02d %s", 120+i*77, i*13, code))})
		}
		return list
	}
	return []page.Account{
		{Name: "Customers, cash", Debits: amount("4812300.18 USD"), Credits: amount("4950000.00 USD"), Balance: amount("-137699.82 USD"), Posted: 14230, Entries: entries("USD")},
		{Name: "Settlement bank", Debits: amount("4950000.00 USD"), Credits: amount("4807488.87 USD"), Balance: amount("142511.13 USD"), Posted: 611, Entries: entries("USD")},
		{Name: "Fees earned", Debits: amount("0.00 USD"), Credits: amount("4811.29 USD"), Balance: amount("-4811.29 USD"), Posted: 4711, Entries: entries("USD")},
		{Name: "Rounding differences", Debits: amount("0.31 USD"), Credits: amount("0.33 USD"), Balance: amount("-0.02 USD"), Posted: 64},
		{Name: "Customers, cash", Debits: amount("911020.40 EUR"), Credits: amount("950000.00 EUR"), Balance: amount("-38979.60 EUR"), Posted: 3120, Entries: entries("EUR")},
		{Name: "Settlement bank", Debits: amount("950000.00 EUR"), Credits: amount("911020.40 EUR"), Balance: amount("38979.60 EUR"), Posted: 207},
		{Name: "Customers", Debits: shares("12000"), Credits: shares("940000"), Balance: shares("-928000"), Posted: 388},
		{Name: "Custodian", Debits: shares("940000"), Credits: shares("12000"), Balance: shares("928000"), Posted: 388},
	}
}

func flow() page.Flow {
	f := page.Flow{
		P50: 62 * time.Millisecond, P99: 1900 * time.Millisecond, Max: 31080 * time.Millisecond, Source: "acme/Order/ord-000912",
		Gaps: []page.Gap{{From: 4300, Until: 6900, Missing: 4}},
		Checkpoints: []page.Checkpoint{{Step: 0, Version: 0}, {Step: 1200, Version: 1}, {Step: 2500, Version: 2}, {Step: 4100, Version: 3},
			{Step: 6900, Version: 7}, {Step: 9000, Version: 8}, {Step: 12000, Version: 8}},
	}
	for step := 0; step <= 12000; step += 100 {
		wave := (step/100*37)%60 + step/40*(12000-step)/6000
		parked := 0
		if step > 5200 && step < 9100 {
			parked = 2 + step%7
		}
		f.Backlog = append(f.Backlog, page.Backlog{Step: step, Pending: wave, Parked: parked})
	}
	for i, count := range []int{4120, 9830, 4022, 1630, 611, 202, 71, 30, 2} {
		f.Delays = append(f.Delays, page.Delay{UpTo: 25 * time.Millisecond << i, Count: count})
	}
	return f
}

func cost() page.Cost {
	c := page.Cost{
		ReadPerThousand: "3912.5", WritePerThousand: "41207", Price: "0.0262 USD", Lane: "IDX17, the READY queue",
		Rate: "On demand, us-east-1, as listed on 2026-11-01: 0.625 USD for a million write units, 0.125 USD for a million read units.",
	}
	units := capacity.Whole
	c.Patterns = []page.Pattern{
		{ID: "AP01", What: "order accepted, base and index", Operations: 9412, Requests: 9549, Write: units(141180), Chapter: "15", Measured: "15"},
		{ID: "AP01", What: "get order, strong", Operations: 5204, Requests: 5204, Read: units(5204), Chapter: "1", Measured: "1"},
		{ID: "AP02", What: "account's orders, a page", Operations: 311, Requests: 311, Read: units(933), Chapter: "6", Measured: "3", Note: "entries are half as large as planned"},
		{ID: "AP06", What: "symbol's trades, a page", Operations: 120, Requests: 120, Read: units(540), Chapter: "5", Measured: "4.5", Note: "the last page is not full"},
		{ID: "AP08", What: "request claimed, in the transaction", Operations: 9412, Requests: 9549, Write: units(18824), Chapter: "2", Measured: "2"},
		{ID: "AP10", What: "two postings with authority", Operations: 4711, Requests: 4742, Write: units(47110), Chapter: "6", Measured: "10", Note: "both authorities change, and a header makes the ID unique"},
		{ID: "AP13", What: "checkpoint with view and receipt", Operations: 9108, Requests: 9204, Write: units(54648), Measured: "6"},
		{ID: "AP16", What: "event claimed and completed", Operations: 20518, Requests: 41310, Write: units(102590), Chapter: "5", Measured: "5"},
	}
	for i := range 19 {
		c.Routes = append(c.Routes, page.Route{ID: fmt.Sprintf("IDX%02d", i+1), Requests: 120 + i*i*317%9000})
	}
	for i := range 13 {
		c.Shards = append(c.Shards, page.Shard{Name: fmt.Sprint(i), Peak: 610 + i*89%260, Limit: 1000})
	}
	return c
}

func items() (list []page.Item) {
	kinds := []page.Item{
		{Entity: "Order", PK: "TEN#acme#ORDER#ord-NNNN", SK: "META", Attributes: []page.Fact{{Name: "status", Value: "FILLED"}, {Name: "version", Value: "3"}}},
		{Entity: "Request", PK: "TEN#acme#REQ#k-NNNN", SK: "REQUEST", Attributes: []page.Fact{{Name: "state", Value: "COMPLETED"}, {Name: "code", Value: "201"}}},
		{Entity: "Client order", PK: "TEN#acme#CLIENTORDER#C-NNNN", SK: "UNIQUE", Attributes: []page.Fact{{Name: "owner", Value: "ord-0001"}}},
		{Entity: "Event", PK: "OUTBOX#e-NNNN", SK: "EVENT", Attributes: []page.Fact{{Name: "state", Value: "COMPLETED"}, {Name: "ack", Value: "bus-e-0001"}}},
		{Entity: "Receipt", PK: "CONSUMER#portfolio#V#1#SHARD#7", SK: "EVENT#e-NNNN", Attributes: []page.Fact{{Name: "effect", Value: "position ACME"}}},
		{Entity: "Posting", PK: "TEN#acme#ACCT#cust-NNNN#MONTH#2026-11#BKT#00", SK: "POST#2026-11-29T09:00:00.000000000Z#settle-1207#0001", Attributes: []page.Fact{{Name: "amount", Value: "-7496.25"}, {Name: "asset", Value: "USD"}}},
		{Entity: "Authority", PK: "TEN#acme#ACCT#cust-NNNN", SK: "AUTH#CASH#USD", Attributes: []page.Fact{{Name: "available", Value: "250375"}, {Name: "reserved", Value: "0"}, {Name: "version", Value: "12"}}},
		{Entity: "Checkpoint", PK: "PROJ#portfolio@1#V#1#SHARD#3", SK: "SOURCE#acme/Order/ord-NNNN", Attributes: []page.Fact{{Name: "version", Value: "2"}}},
		{Entity: "Position", PK: "TEN#acme#ACCT#cust-NNNN", SK: "POS#ACME", Attributes: []page.Fact{{Name: "quantity", Value: "100"}, {Name: "cost", Value: "7496.25"}}},
		{Entity: "Break", PK: "TEN#acme#RECON#venue-NNNN", SK: "BREAK#b-31f0c2", Attributes: []page.Fact{{Name: "state", Value: "RESOLVED"}}},
	}
	for i := range 20 {
		item := kinds[i%len(kinds)]
		number := fmt.Sprintf("%04d", 912+i*7)
		item.PK, item.SK = strings.Replace(item.PK, "NNNN", number, 1), strings.Replace(item.SK, "NNNN", number, 1)
		list = append(list, item)
	}
	return list
}

func invariants() (list []page.Invariant) {
	for i, one := range [][3]string{
		{"One order for each request", "A request key has at most one order, whatever was repeated.", "TestEveryRequestHasOneOrder"},
		{"The same answer", "All repeats of a request got the first one's answer, byte for byte.", "TestRepeatsGetTheFirstAnswer"},
		{"Names are unique", "No client order ID belongs to two orders.", "TestNamesAndOwnersAreABijection"},
		{"No order without its event", "Each accepted order has its event in the outbox, or published.", "TestCS01_NoAcceptedOrderLacksItsEvent"},
		{"Published", "Each event was acknowledged by the bus or is parked where operators look.", "TestEveryEventEndsCompletedOrParked"},
		{"Applied once", "Each event had its effect at each consumer exactly once.", "TestEveryEventHasOneEffect"},
		{"In order", "No projection passed a version that it had not seen.", "TestNoCheckpointPassesAGap"},
		{"Filled at most", "All fills of an order are at most the order.", "TestFillsNeverExceedTheOrder"},
		{"Zero", "All accounts add up to zero in every asset.", "TestBooksAddUpToZero"},
		{"Never below", "No balance was below its minimum, reservations included.", "TestAvailableNeverBelowMinimum"},
		{"Proved", "Every balance is the sum of its postings, by count, sum and digest.", "TestStatementEqualsAuthority"},
		{"Found", "Reconciliation found every planted difference, and no other.", "TestEveryPlantedBreakIsFound"},
	} {
		list = append(list, page.Invariant{Name: one[0], Sentence: one[1], Test: one[2], Checked: 11987 - i*131, LastStep: 12000})
	}
	return list
}
