package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/dynamosim"
)

// changing are a command for each that changes data, each with what has happened before.
var changing = []struct{ seeds, command string }{
	{"parked audit", "outbox retry --where topic=trades --reason r"},
	{"parked audit", "outbox discard --where topic=trades --reason r"},
	{"ready audit", "outbox park --where topic=trades --reason r"},
	{"ready audit", "outbox pause --reason r"},
	{"requests books audit", "requests complete pay-escalated --effect ledger:pay-1 --code 201 --reason r"},
	{"requests books audit", "requests release pay-escalated --effect ledger:{key} --reason r"},
	{"receipts hours audit", "inbox forget 01J9K2Q4-trades-000000 01J9K2Q4-trades-000001 --reason r"},
	{"names audit", "sentinel repair CLIENTORDER/C-70 CLIENTORDER/C-71 --owner order-9 --reason r"},
	{"books audit", "ledger reverse pay-1 --reason r"},
	{"view audit", "projection resume --source acme/Position/INIT --reason r"},
	{"rebuild-failed rebuild-proved audit", "projection rebuild --cutover 2 --reason r"},
	{"breaks audit", "recon accept --where status=OPEN --reason r"},
	{"breaks audit", "recon run --batch cash-2 --left testdata/ours.csv --right testdata/theirs.csv --owner ops --reason r"},
}

// Whatever request of a changing command gets no answer, or is the last one that gets through, the state is as before, or the run can be
// resumed, or the command repeated; and in the end everything is as if nothing had happened, each item changed once.
func TestEveryChangingCommandSurvivesAnInterruptionAtAnyRequest(t *testing.T) {
	for _, c := range changing {
		t.Run(strings.Join(strings.Fields(c.command)[:2], " "), func(t *testing.T) {
			t.Parallel()
			whole, requests := interrupted(t, c.seeds, c.command, nil)
			resumed := 0
			for at := 1; at <= requests; at++ {
				for name, fate := range map[string]func(dynamosim.Call) dynamosim.Fate{
					"lost answer": func(call dynamosim.Call) dynamosim.Fate {
						if call.Sequence == at {
							return dynamosim.LoseAnswer
						}
						return dynamosim.Deliver
					},
					"crash": func(call dynamosim.Call) dynamosim.Fate {
						switch {
						case call.Sequence < at:
							return dynamosim.Deliver
						case call.Sequence == at:
							return dynamosim.LoseAnswer
						}
						return dynamosim.LoseRequest
					},
				} {
					if name == "crash" && strings.HasPrefix(c.command, "recon run") {
						continue // the batch waits in real time; package reconcile has its own test of every crash
					}
					state, _ := interrupted(t, c.seeds, c.command, fate)
					if !slices.Equal(state, whole) {
						t.Errorf("%s at request %d:\n%s\nwithout it:\n%s", name, at, without(state, whole), without(whole, state))
					}
					resumed++
				}
			}
			t.Logf("%d requests, %d interruptions", requests, resumed)
		})
	}
}

// seeded is a world in which something has happened, seen by an operator with a deployment file.
func seeded(t *testing.T, names string) *world {
	t.Helper()
	w := &world{now: start}
	w.db = dynamosim.Open(dynamosim.Options{Now: w.Now})
	env := map[string]string{"USER": "ann", "DYNAFIN_CONFIG": runbooks + "/brokerage.json"}
	w.env = func(name string) string { return env[name] }
	for _, name := range strings.Fields(names) {
		if err := seeds[name](t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// without are the lines of a that b does not have.
func without(a, b []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(a), func(line string) bool { return slices.Contains(b, line) }), "\n")
}

var resumeLine = regexp.MustCompile(`resume: dynafin (.*) --resume (\S+)`)

// interrupted runs a command on a network, then goes on with it, or repeats it, on a good one; it returns what is stored in the end, and how
// many requests the first run made.
func interrupted(t *testing.T, names, command string, fate func(dynamosim.Call) dynamosim.Fate) (state []string, requests int) {
	t.Helper()
	ctx, w := context.Background(), seeded(t, names)
	w.network = func(next aws.HTTPClient) aws.HTTPClient {
		return dynamosim.Faulty(next, func(call dynamosim.Call) dynamosim.Fate {
			if requests = call.Sequence; fate == nil {
				return dynamosim.Deliver
			}
			return fate(call)
		})
	}
	var out bytes.Buffer
	exit := w.run(ctx, append(strings.Fields(command), "--yes"), &out, &out)
	w.network = nil
	w.now = w.now.Add(time.Hour) // leases of whoever was interrupted have ended
	if exit != app.ExitOK {
		again := append(strings.Fields(command), "--yes")
		if found := resumeLine.FindStringSubmatch(out.String()); found != nil {
			again = append(strings.Fields(found[1]), "--resume", found[2])
		}
		out.Reset()
		if exit := w.run(ctx, again, &out, &out); exit != app.ExitOK && !strings.Contains(out.String(), "nothing changes") {
			t.Errorf("%v: exit %d\n%s", again, exit, &out)
		}
	}
	return stored(t, w), requests
}

var (
	instants = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)
	runs     = regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z-id-\d+`)
	// chance are attributes that depend on when, or on chance.
	chance = regexp.MustCompile(`^(txnMark|txnUpdate|expiresAt|fingerprint|lastClaim|[xy]\d{6})$`)
)

// stored is everything in the database but the headers of runs, without times and chance, sorted.
func stored(t *testing.T, w *world) (all []string) {
	t.Helper()
	client := w.db.Client()
	tables, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables.TableNames {
		items, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items.Items {
			line := table
			batch := strings.HasPrefix(change.Text(item["SK"]), "BATCH#")
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if !chance.MatchString(name) && !(batch && (name == "attempt" || name == "version")) { // a batch counts its restarts
					line += fmt.Sprintf(" %s=%s", name, change.Text(item[name]))
				}
			}
			if line = instants.ReplaceAllString(runs.ReplaceAllString(line, "RUN"), "T"); !strings.Contains(line, "OPERATOR#RUNS#") {
				all = append(all, line)
			}
		}
	}
	slices.Sort(all)
	return all
}
