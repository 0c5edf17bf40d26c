package invariant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// Run lets the workers work in bad weather: requests are released one by one, in an order and with fates that chance
// chooses, until all workers have finished or [Config.Steps] requests were released.
func (w *World) Run() {
	for range w.config.Steps {
		if !w.step(true) {
			return
		}
	}
}

// Settle stops all faults and lets the workers finish. Late requests arrive, if they have not been lost. If the workers need
// more than [Config.SettleSteps] or [Config.SettleTime], the history fails: something is stuck. Afterwards every
// command is sent once more and answered, so that its answers can be compared.
func (w *World) Settle() {
	w.settled = true
	w.settle()
	w.again()
	w.settle()
}

func (w *World) settle() {
	deadline, from := now().Add(w.config.SettleTime), len(w.schedule.rows)
	for range w.config.SettleSteps {
		if !w.step(false) {
			return
		}
		if now().After(deadline) {
			w.fail("settle", fmt.Errorf("unfinished after %v without faults: %s", w.config.SettleTime, w.unfinished()))
		}
	}
	w.quiesce()
	w.fail("settle", fmt.Errorf("unfinished after %d steps without faults: %s; %s", w.config.SettleSteps, w.unfinished(), w.busiest(from)))
}

// busiest says which worker took most of the steps since a row of the schedule: one that polls eats up those of all others.
func (w *World) busiest(from int) string {
	steps, most := map[string]int{}, ""
	for _, r := range w.schedule.rows[from:] {
		if r.request == nil {
			continue
		}
		name := r.request.Worker
		steps[name]++
		if n := steps[name]; n > steps[most] || n == steps[most] && name < most {
			most = name
		}
	}
	if most == "" {
		return "all steps were waits; wait longer between tries or raise Config.SettleSteps"
	}
	return fmt.Sprintf("%s took %d of %d steps; poll less often or raise Config.SettleSteps", most, steps[most], w.config.SettleSteps)
}

// Advance lets time pass. Requests that wait go on waiting.
func (w *World) Advance(d time.Duration) {
	w.quiesce()
	sleep(d)
	w.quiesce()
}

// step releases one request, or lets time pass until there is one. It returns false when there is nothing left to do.
func (w *World) step(troubled bool) bool {
	w.quiesce()
	var waiting, late []*dynamosim.Pending
	for _, p := range w.gate.Pending() {
		if p.Late {
			late = append(late, p)
		} else {
			waiting = append(waiting, p)
		}
	}
	working := !w.finished()
	if len(waiting) == 0 && len(late) == 0 {
		if working {
			w.pass()
		}
		return working
	}
	if len(waiting) == 0 && working {
		waiting = []*dynamosim.Pending{nil} // let time pass
	}
	p := w.pick(waiting, late)
	if p == nil {
		w.pass()
		return true
	}
	w.release(p, w.fateOf(p, troubled))
	return true
}

// pick chooses the next request. One that is late comes late: the others are favoured, in some histories very much.
func (w *World) pick(waiting, late []*dynamosim.Pending) *dynamosim.Pending {
	if w.plan != nil {
		return w.plan.pick(append(waiting, late...))
	}
	if len(late) > 0 && (len(waiting) == 0 || w.Choose("late", w.lateness) == w.lateness-1) {
		return late[w.Choose("request", len(late))]
	}
	return waiting[w.Choose("request", len(waiting))]
}

// patience is how long a worker may wait for time, unless it has to settle.
const patience = 365 * 24 * time.Hour

// pass lets time run until a worker does something.
func (w *World) pass() {
	limit := patience
	if w.settled {
		limit = w.config.SettleTime
	}
	select {
	case <-w.wake: // of before
	default:
	}
	select {
	case <-w.wake:
	case <-after(limit):
		w.fail("blocked", fmt.Errorf("neither a request nor an end in %v: %s", limit, w.unfinished()))
	}
}

// fateOf decides what befalls a request.
func (w *World) fateOf(p *dynamosim.Pending, troubled bool) trouble {
	if w.plan != nil {
		return w.plan.fateOf(p, troubled)
	}
	if !troubled || w.faults >= w.config.Faults {
		return trouble{}
	}
	kinds := w.troubles(p)
	for _, kind := range kinds {
		w.counters.sometimes(kind.String(), false)
	}
	if w.Choose("trouble", w.calmness) < w.calmness-1 {
		return trouble{}
	}
	kind := kinds[w.Choose("fate", len(kinds))]
	w.counters.sometimes(kind.String(), true)
	w.faults++
	return kind
}

// pauses are how long a delayed request waits: nothing, a long moment, longer than a context, longer than a lease.
var pauses = []time.Duration{time.Millisecond, time.Second, 45 * time.Second, 15 * time.Minute}

// release lets a request meet its fate, and looks whether everything still holds.
func (w *World) release(p *dynamosim.Pending, kind trouble) {
	at, name, was := w.Elapsed(), fmt.Sprintf("%s.%d", p.Worker, p.Incarnation), kind.String()
	if p.Late {
		was = "late: " + was
	}
	var what dynamosim.Released
	switch {
	case kind.delay:
		pause := pauses[w.Choose("pause", len(pauses))]
		w.remark(name, fmt.Sprintf("waits for %v at %s", pause, p.Operation))
		sleep(pause)
		return
	case kind.crash:
		w.crashes++
		worker := w.worker(p.Worker)
		worker.life.Kill()
		w.quiesce()
		if kind.fate != dynamosim.LateCommit {
			what = w.gate.Release(p, kind.fate)
		}
		w.record(row{at: at, worker: name, request: p, text: was, result: what.Result})
		w.begin(worker, pauses[w.Choose("rest", len(pauses))])
	case kind.fate == dynamosim.MixedReasons:
		what = w.gate.Mix(p, w.mix(p)...)
		w.record(row{at: at, worker: name, request: p, text: was, result: what.Result})
	default:
		what = w.gate.Release(p, kind.fate)
		w.record(row{at: at, worker: name, request: p, text: was, result: what.Result})
	}
	if what.Err != nil {
		w.fail("database", what.Err)
	}
	if what.Reached && p.Writes() && len(w.always) > 0 {
		w.quiesce()
		for _, check := range w.always {
			w.Check(check.name, check.test())
		}
	}
}

func (w *World) record(r row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule.rows = append(w.schedule.rows, r)
}

// mix leaves one action of a transaction to the database, and has a conflict or throttling at the others.
func (w *World) mix(p *dynamosim.Pending) []string {
	codes := make([]string, p.Actions())
	judged := w.Choose("judged", len(codes)+1) - 1
	for i := range codes {
		if i != judged {
			codes[i] = []string{"TransactionConflict", "ThrottlingError"}[i%2]
		}
	}
	return codes
}

// finished says whether all workers have.
func (w *World) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, worker := range w.workers {
		if !worker.done {
			return false
		}
	}
	return true
}

// tableKeys asks the database for the keys of its tables.
func (w *World) tableKeys() tableKeys {
	keys := tableKeys{}
	tables, err := w.calm.ListTables(w.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		return nil
	}
	for _, name := range tables.TableNames {
		table, err := w.calm.DescribeTable(w.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			continue
		}
		var attributes []string
		for _, key := range table.Table.KeySchema {
			attributes = append(attributes, *key.AttributeName)
		}
		if !slices.Equal(attributes, []string{"PK", "SK"}) {
			keys[name] = attributes
		}
	}
	return keys
}

// unfinished names the workers that have not finished, and what they wait for.
func (w *World) unfinished() string {
	var names []string
	w.mu.Lock()
	for _, worker := range w.workers {
		if !worker.done {
			names = append(names, worker.name)
		}
	}
	w.mu.Unlock()
	keys := w.tableKeys()
	for _, p := range w.gate.Pending() {
		names = append(names, fmt.Sprintf("%s at %s", p.Worker, describe(p, keys)))
	}
	return strings.Join(names, ", ")
}
