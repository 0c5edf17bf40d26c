package look

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/outbox"
)

// ages are the bounds of the age matrix: the quickest picture of new or old trouble.
var ages = []struct {
	name  string
	until time.Duration
}{{"<1h", time.Hour}, {"<6h", 6 * time.Hour}, {"<1d", 24 * time.Hour}, {">1d", 0}}

type outboxGroup struct {
	Group   string         `json:"group"`
	Service string         `json:"service"`
	Topic   string         `json:"topic"`
	Cause   string         `json:"cause"`
	Events  int            `json:"events"`
	ByAge   map[string]int `json:"by_age"`
	First   string         `json:"first_at"`
	Last    string         `json:"last_at"`
	// MinAttempts and MaxAttempts are after how many attempts they were parked.
	MinAttempts string `json:"min_attempts"`
	MaxAttempts string `json:"max_attempts"`
	// Sample is one of them.
	Sample string `json:"sample_event_id"`

	first, last time.Time
	low, high   int64
}

func outboxGroups(a *app.App) *cobra.Command {
	e := &events{a: a}
	return e.flag(&cobra.Command{
		Use:   "groups",
		Short: "groups parked events by topic and cause, with their ages",
		Long: `Groups parked events by topic and by why they failed, the largest group first, with how old the failures are. The name of a
group follows from topic and cause, so it is the same tomorrow and in every process. Findings: any group.`,
		Example: "  dynafin outbox groups\n  dynafin outbox ls --group 5ca1ab1e",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			bad := &faults{a: a}
			groups, n, err := e.groups(cmd.Context(), bad)
			if err != nil {
				return err
			}
			l := app.List[outboxGroup]{
				Schema: "outbox.groups/v1", Table: e.tables(), Items: groups, Columns: groupColumns(a.Now()), Empty: "no event is parked",
			}
			if len(groups) > 0 {
				g := groups[0]
				l.Foot = []string{
					"look at them:  " + a.Where("dynafin outbox ls --group "+g.Group),
					"try one:       " + a.Where(fmt.Sprintf("dynafin outbox retry --service %s --id %s", quoted(g.Service), quoted(g.Sample))),
				}
				l.Next = fmt.Sprintf("dynafin outbox retry --service %s --group %s --dry-run", quoted(g.Service), g.Group)
			}
			var f found
			f.add(n, "parked event", "parked events")
			f.add(bad.n, "unreadable event", "unreadable events")
			if err := app.Print(a, l); err != nil {
				return err
			}
			return f.err()
		},
	})
}

// groups reads every parked event, however many there are.
func (e *events) groups(ctx context.Context, bad *faults) (groups []outboxGroup, total int, err error) {
	byName := map[string]*outboxGroup{}
	now := e.a.Now()
	for _, s := range e.services {
		for r, err := range s.Parked(ctx, e.store) {
			if err != nil {
				if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
					return nil, 0, err
				}
				continue
			}
			total++
			g, ok := byName[s.Name+"#"+r.Group()]
			if !ok {
				g = &outboxGroup{Group: r.Group(), Service: s.Name, Topic: r.Event.Type, Cause: r.Cause(), ByAge: map[string]int{},
					Sample: r.Event.ID, low: r.Attempt}
				byName[s.Name+"#"+r.Group()] = g
			}
			g.take(now, r)
		}
	}
	for _, g := range byName {
		g.First, g.Last = app.Stamp(g.first), app.Stamp(g.last)
		g.MinAttempts, g.MaxAttempts = strconv.FormatInt(g.low, 10), strconv.FormatInt(g.high, 10)
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(x, y outboxGroup) int {
		return cmp.Or(cmp.Compare(y.Events, x.Events), x.first.Compare(y.first), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Group, y.Group))
	})
	return groups, total, nil
}

func (g *outboxGroup) take(now time.Time, r outbox.Record) {
	g.Events++
	g.ByAge[bucket(now.Sub(r.FailedAt))]++
	if g.first = oldest(g.first, r.FailedAt); r.FailedAt.After(g.last) {
		g.last = r.FailedAt
	}
	g.low, g.high = min(g.low, r.Attempt), max(g.high, r.Attempt)
	if r.Event.ID < g.Sample {
		g.Sample = r.Event.ID
	}
}

func bucket(age time.Duration) string {
	for _, b := range ages {
		if age < b.until {
			return b.name
		}
	}
	return ages[len(ages)-1].name
}

func groupColumns(now time.Time) []app.Column[outboxGroup] {
	columns := []app.Column[outboxGroup]{
		{Name: "group", Value: func(g outboxGroup) string { return g.Group }},
		{Name: "service", Value: func(g outboxGroup) string { return g.Service }},
		{Name: "topic", Value: func(g outboxGroup) string { return g.Topic }},
		{Name: "cause", Value: func(g outboxGroup) string { return g.Cause }},
	}
	for _, b := range ages {
		columns = append(columns, number(b.name, func(g outboxGroup) int { return g.ByAge[b.name] }))
	}
	return append(columns,
		number("total", func(g outboxGroup) int { return g.Events }),
		age("first_at", "first", now, func(g outboxGroup) time.Time { return g.first }),
		age("last_at", "last", now, func(g outboxGroup) time.Time { return g.last }),
		app.Column[outboxGroup]{Name: "tries", Kind: app.Number, Value: func(g outboxGroup) string {
			if g.low == g.high {
				return g.MaxAttempts
			}
			return g.MinAttempts + "-" + g.MaxAttempts
		}},
		app.Column[outboxGroup]{Name: "sample_event_id", Data: true, Value: func(g outboxGroup) string { return g.Sample }},
	)
}

type outboxEvent struct {
	ID        string `json:"event_id"`
	Service   string `json:"service"`
	State     string `json:"state"`
	Topic     string `json:"topic"`
	Tenant    string `json:"tenant"`
	Aggregate string `json:"aggregate"`
	Version   string `json:"aggregate_version"`
	Attempts  string `json:"attempts"`
	Due       string `json:"due_at,omitempty"`
	Failed    string `json:"failed_at,omitempty"`
	Cause     string `json:"cause,omitempty"`
	Group     string `json:"group,omitempty"`
	Failure   string `json:"failure,omitempty"`
	Owner     string `json:"owner,omitempty"`
	LeaseEnds string `json:"lease_until,omitempty"`

	since time.Time
}

func eventItem(s deployment.Service, r outbox.Record) outboxEvent {
	item := outboxEvent{
		ID: r.Event.ID, Service: s.Name, State: string(r.State), Topic: r.Event.Type, Tenant: r.Event.Tenant,
		Aggregate: r.Event.AggregateType + " " + r.Event.AggregateID, Version: strconv.FormatInt(r.Event.AggregateVersion, 10),
		Attempts: attempts(r), Due: app.Stamp(r.Event.Due), Failed: app.Stamp(r.FailedAt), Failure: r.Failure, Owner: r.Owner,
		LeaseEnds: app.Stamp(r.LeaseUntil),
	}
	if r.Failure != "" {
		item.Cause, item.Group = r.Cause(), r.Group()
	}
	return item
}

func outboxList(a *app.App) *cobra.Command {
	e := &events{a: a}
	var state, group string
	cmd := e.flag(&cobra.Command{
		Use:   "ls",
		Short: "lists events that are parked, stuck, or ready",
		Long: `Lists events that are not published: parked (given up, with a reason), stuck (taken by a relay whose lease has ended), or ready
(wait for a relay). All of them are listed. Findings: parked or stuck events.`,
		Example: "  dynafin outbox ls --group 5ca1ab1e\n  dynafin outbox ls --state stuck -o jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{"parked", "stuck", "ready"}, state) {
				return app.Usage("--state %q is none of parked, stuck, ready", state)
			}
			if group != "" && state != "parked" {
				return app.Usage("--group is about parked events")
			}
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			return e.list(cmd.Context(), state, group)
		},
	})
	cmd.Flags().StringVar(&state, "state", "parked", "parked, stuck, or ready")
	cmd.Flags().StringVar(&group, "group", "", "only the events of one `GROUP` of dynafin outbox groups")
	return cmd
}

func (e *events) list(ctx context.Context, state, group string) error {
	bad := &faults{a: e.a}
	l := app.List[outboxEvent]{Schema: "outbox.ls/v1", Table: e.tables(), Columns: eventColumns(e.a.Now()), Empty: "no event is " + state}
	for _, s := range e.services {
		items, err := e.in(ctx, s, state, group, bad)
		if err != nil {
			return err
		}
		l.Items = append(l.Items, items...)
	}
	slices.SortStableFunc(l.Items, func(x, y outboxEvent) int { return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.ID, y.ID)) })
	if len(l.Items) > 0 {
		l.Next = "dynafin outbox show " + quoted(l.Items[0].ID)
	}
	var f found
	if state != "ready" {
		f.add(len(l.Items), state+" event", state+" events")
	}
	f.add(bad.n, "unreadable event", "unreadable events")
	if err := app.Print(e.a, l); err != nil {
		return err
	}
	return f.err()
}

// in lists the events of one service in a state.
func (e *events) in(ctx context.Context, s deployment.Service, state, group string, bad *faults) (items []outboxEvent, err error) {
	if state == "ready" {
		return e.ready(ctx, s, bad)
	}
	all := s.Parked(ctx, e.store)
	if state == "stuck" {
		all = s.Stuck(ctx, e.store, e.a.Now())
	}
	for r, err := range all {
		if err != nil {
			if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
				return nil, err
			}
			continue
		}
		if group != "" && r.Group() != group {
			continue
		}
		item := eventItem(s, r)
		if item.since = r.FailedAt; state == "stuck" {
			item.since = r.LeaseUntil
		}
		items = append(items, item)
	}
	return items, nil
}

func (e *events) ready(ctx context.Context, s deployment.Service, bad *faults) (items []outboxEvent, err error) {
	for shard := range s.Shards() {
		for r, err := range s.Ready(ctx, e.store, shard, far, 0) {
			if err != nil {
				if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
					return nil, err
				}
				continue
			}
			items = append(items, outboxEvent{
				ID: r.EventID, Service: s.Name, State: string(outbox.Ready), Topic: r.Type, Tenant: r.Tenant,
				Aggregate: r.AggregateType + " " + r.AggregateID, Version: strconv.FormatInt(r.AggregateVersion, 10),
				Attempts: strconv.FormatInt(r.Attempt, 10), Due: app.Stamp(r.Due), since: r.Due,
			})
		}
	}
	return items, nil
}

func eventColumns(now time.Time) []app.Column[outboxEvent] {
	return []app.Column[outboxEvent]{
		text("event_id", app.ID, func(e outboxEvent) string { return e.ID }),
		text("service", app.Text, func(e outboxEvent) string { return e.Service }),
		text("state", app.Text, func(e outboxEvent) string { return e.State }),
		text("topic", app.Text, func(e outboxEvent) string { return e.Topic }),
		text("tenant", app.Text, func(e outboxEvent) string { return e.Tenant }),
		text("aggregate", app.Text, func(e outboxEvent) string { return e.Aggregate }),
		text("aggregate_version", app.Number, func(e outboxEvent) string { return e.Version }).Titled("version"),
		text("attempts", app.Number, func(e outboxEvent) string { return e.Attempts }),
		age("since", "", now, func(e outboxEvent) time.Time { return e.since }),
		text("cause", app.Text, func(e outboxEvent) string { return e.Cause }),
		data("group", func(e outboxEvent) string { return e.Group }),
		data("failure", func(e outboxEvent) string { return e.Failure }),
		data("owner", func(e outboxEvent) string { return e.Owner }),
		data("lease_until", func(e outboxEvent) string { return e.LeaseEnds }),
	}
}

type noteItem struct {
	Step    string `json:"step"`
	By      string `json:"by"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
	Failure string `json:"failure,omitempty"`
}

type eventRecord struct {
	outboxEvent
	Shard     int        `json:"shard"`
	Record    string     `json:"record_version"`
	Occurred  string     `json:"occurred_at"`
	Causation string     `json:"causation_id,omitempty"`
	Trace     string     `json:"trace_id,omitempty"`
	Ack       string     `json:"ack,omitempty"`
	Completed string     `json:"completed_at,omitempty"`
	Passed    string     `json:"passed_at,omitempty"`
	Bytes     int        `json:"payload_bytes"`
	Payload   string     `json:"payload,omitempty"`
	Notes     []noteItem `json:"notes,omitempty"`
}

// shownEvent lays out one event. Next is what helps it.
func shownEvent(a *app.App, s deployment.Service, r outbox.Record, notes []outbox.Audit, payload bool) app.List[eventRecord] {
	item := eventRecord{
		outboxEvent: eventItem(s, r), Shard: r.Placement.Shard, Record: strconv.FormatInt(r.Version, 10), Occurred: app.Stamp(r.Event.OccurredAt),
		Causation: r.Event.CausationID, Trace: r.Event.TraceID, Ack: r.Ack, Completed: app.Stamp(r.CompletedAt), Passed: app.Stamp(r.PassedAt),
		Bytes: len(r.Event.Payload),
	}
	if payload {
		item.Payload = string(r.Event.Payload)
	}
	for _, n := range notes {
		item.Notes = append(item.Notes, noteItem{n.Step, n.By, n.Reason, app.Stamp(n.At), n.Failure})
	}
	now := a.Now()
	l := app.List[eventRecord]{Schema: "outbox.show/v1", Table: s.Table, Items: []eventRecord{item}}
	word := ""
	switch {
	case r.State == outbox.Parked:
		word = ", needs a decision"
		l.Next = fmt.Sprintf("dynafin outbox retry --service %s --id %s", quoted(s.Name), quoted(r.Event.ID))
	case r.State == outbox.InFlight && !now.Before(r.LeaseUntil):
		word = ", stuck: the lease has ended; any relay takes it over"
		l.Next = "dynafin outbox watch"
	case r.Event.CausationID != "":
		l.Next = "dynafin trace " + quoted(r.Event.CausationID)
	}
	l.Columns = recordColumns()
	l.Head = fields(
		field{"event", r.Event.ID}, field{"state", string(r.State) + word}, field{"service", s.Name}, field{"topic", r.Event.Type},
		field{"tenant", r.Event.Tenant}, field{"aggregate", fmt.Sprintf("%s, version %d", item.Aggregate, r.Event.AggregateVersion)},
		field{"occurred", at(now, r.Event.OccurredAt)}, field{"due", at(now, r.Event.Due)}, field{"attempts", item.Attempts},
		field{"failed", at(now, r.FailedAt)}, field{"failure", r.Failure}, field{"group", item.Group},
		field{"owner", r.Owner}, field{"lease until", at(now, r.LeaseUntil)}, field{"ack", r.Ack}, field{"completed", at(now, r.CompletedAt)},
		field{"passed", at(now, r.PassedAt)}, field{"caused by", r.Event.CausationID}, field{"trace", r.Event.TraceID},
		field{"stored", fmt.Sprintf("shard %d, record version %d, payload %d bytes", r.Placement.Shard, r.Version, len(r.Event.Payload))},
		field{"payload", item.Payload},
	)
	for _, n := range item.Notes {
		l.Head = append(l.Head, app.Printable(fmt.Sprintf("note  %s  %s by %s: %s", n.At, n.Step, n.By, n.Reason)))
	}
	return l
}

// recordColumns are those of a CSV line; a record that is shown alone is no table.
func recordColumns() (columns []app.Column[eventRecord]) {
	for _, c := range eventColumns(time.Time{}) {
		columns = append(columns, app.Column[eventRecord]{Name: c.Name, Data: true, Value: func(e eventRecord) string { return c.Value(e.outboxEvent) }})
	}
	return append(columns, app.Column[eventRecord]{Name: "notes", Data: true, Value: func(e eventRecord) string {
		var notes []string
		for _, n := range e.Notes {
			notes = append(notes, n.Step+" by "+n.By+": "+n.Reason)
		}
		return strings.Join(notes, "; ")
	}})
}
