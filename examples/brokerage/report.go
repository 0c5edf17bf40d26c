package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/dynafin/dynafin/capacity"
)

// report is what the day came to. The names of its JSON form are stable. OrdersRead is the sum of the six counts below
// it: every line that was read is in exactly one of them.
type report struct {
	OrdersRead int `json:"orders_read"`
	Accepted   int `json:"accepted"`
	Replayed   int `json:"replayed"`
	Mismatched int `json:"mismatched"`
	NameTaken  int `json:"name_taken"`
	Invalid    int `json:"invalid"`
	Unfinished int `json:"unfinished"`

	// OutboxReady counts the events that wait for a relay, by one keyed query for each READY shard.
	OutboxReady int `json:"outbox_ready"`
	// TransactionsSent counts requests on the wire, repeats after lost answers included; AnswersLost counts these.
	TransactionsSent int `json:"transactions_sent"`
	AnswersLost      int `json:"answers_lost"`
	// ReadsSent counts the requests that read an item while orders were decided. It stays 0.
	ReadsSent int `json:"reads_sent"`

	UnitsPerAccept units `json:"units_per_accept"`

	source          string
	passes, workers int
}

// units are the write units of one accepted order: the exact mean over the orders whose receipt came with the answer to
// the write itself, to three decimals if it has more. All are 0 if there is no such order.
type units struct {
	Base  json.Number `json:"base"`
	Index json.Number `json:"index"`
	Total json.Number `json:"total"`
}

func (r *report) fill(t tally) {
	r.OrdersRead, r.Unfinished = t.Read, t.Unfinished
	r.Accepted, r.Replayed, r.Mismatched = t.Outcomes[accepted], t.Outcomes[replayed], t.Outcomes[mismatched]
	r.NameTaken, r.Invalid = t.Outcomes[nameTaken], t.Outcomes[invalid]
	r.UnitsPerAccept = units{mean(t.Base, t.Measured), mean(t.Index, t.Measured), mean(t.Base+t.Index, t.Measured)}
}

// mean divides exactly; capacity counts in halves of a unit.
func mean(sum capacity.Units, n int) json.Number {
	if n == 0 {
		return "0"
	}
	text := big.NewRat(int64(sum), 2*int64(n)).FloatString(3)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

func (r *report) writeJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

func (r *report) writeTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "brokerage day: %s, %s, %s\n\n", r.source, plural(r.passes, "pass", "passes"), plural(r.workers, "worker", "workers"))
	row := func(name string, n int, meaning string) {
		fmt.Fprintf(&b, "%-12s %9s   %s\n", name, grouped(n), meaning)
	}
	fmt.Fprintf(&b, "%-12s %9s   %s\n", "OUTCOME", "ORDERS", "MEANING")
	row("accepted", r.Accepted, "order, client order ID, result and event committed together")
	row("replayed", r.Replayed, "decided before: the stored result came back")
	row("mismatched", r.Mismatched, "the request key belongs to another order")
	row("name taken", r.NameTaken, "another order has the client order ID")
	row("invalid", r.Invalid, "refused before anything was sent")
	if r.Unfinished > 0 {
		row("unfinished", r.Unfinished, "undecided when the day stopped: submit again")
	}
	row("read", r.OrdersRead, "every line is counted once")
	fmt.Fprintf(&b, "\noutbox       %9s   events ready, in 13 shards\n", grouped(r.OutboxReady))
	fmt.Fprintf(&b, "transactions %9s   requests sent; %s lost; reads: %s\n", grouped(r.TransactionsSent), plural(r.AnswersLost, "answer", "answers"), grouped(r.ReadsSent))
	u := r.UnitsPerAccept
	fmt.Fprintf(&b, "cost         %9s   write units for each accepted order: %s base + %s index\n", u.Total, u.Base, u.Index)
	_, err := io.WriteString(w, b.String())
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
