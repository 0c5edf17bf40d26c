// Command attempts takes an order in four ways, three of which are common, and lets the process die behind every single
// step. The client repeats until it has an answer. Then it counts orders and what the warehouse heard.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var (
	noon   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	orders = txn.Table{Name: "Orders"}
	events = outbox.New(outbox.Config{Service: "shop", Table: orders})
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes every attempt, without trouble and with a death behind each of its steps.
func run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%-23s%-17s%-8s%-11s%s\n", "ATTEMPT", "DIES BEHIND", "ORDERS", "WAREHOUSE", "THE CLIENT IS TOLD")
	for _, a := range []struct {
		name  string
		take  attempt
		relay bool
	}{
		{"1 write, then publish", writeThenPublish, false},
		{"2 the key first", keyFirst, false},
		{"3 the key last", keyLast, false},
		{"4 one transaction", oneTransaction, true},
	} {
		smooth, err := story(ctx, a.take, a.relay, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-23s%-17s%s\n", a.name, "-", smooth)
		for step := range smooth.did {
			broken, err := story(ctx, a.take, a.relay, step+1)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%-23s%-17s%s\n", "", smooth.did[step], broken)
		}
	}
	return nil
}

// outcome is what is there in the end.
type outcome struct {
	orders int
	heard  []string // by the warehouse
	told   string
	did    []string
}

func (o outcome) String() string {
	wrong := ""
	if different(o.heard) != 1 || o.orders != 1 {
		wrong = "WRONG"
	}
	heard := fmt.Sprint(different(o.heard))
	if repeats := len(o.heard) - different(o.heard); repeats > 0 {
		heard += ", twice"
	}
	return strings.TrimRight(fmt.Sprintf("%-8d%-11s%-20s%s", o.orders, heard, cmp.Or(o.told, "nothing"), wrong), " ")
}

// different counts the different ones.
func different(ids []string) int {
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	return len(seen)
}

// story has a client send one command until it has an answer. The first process dies behind a step, or never if that is 0; the
// next ones begin a minute and two minutes later.
func story(ctx context.Context, take attempt, relay bool, diesBehind int) (outcome, error) {
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable(orders.Name, events.Index()); err != nil {
		return outcome{}, err
	}
	var told string
	var bus []string
	first := newProcess(db, &bus, "a", noon, diesBehind)
	second := newProcess(db, &bus, "b", noon.Add(time.Minute), 0)
	third := newProcess(db, &bus, "c", noon.Add(2*time.Minute), 0)
	for _, p := range []*process{first, second, third} {
		if told == "" {
			if answer, err := take(ctx, p, "key-1"); err == nil {
				told = answer
			} else if p != first {
				return outcome{}, err
			}
		}
		if relay {
			if err := p.relay(ctx); err != nil && p != first {
				return outcome{}, err
			}
		}
	}
	stored := 0
	for _, id := range []string{"order-a1", "order-b1"} {
		is, err := third.has(ctx, "ORDER#"+id)
		if err != nil {
			return outcome{}, err
		}
		if is {
			stored++
		}
	}
	return outcome{orders: stored, heard: bus, told: told, did: first.did}, nil
}
