package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/sentinel"
)

// traced is one record that belongs to what is followed.
type traced struct {
	Stage  string `json:"stage"`
	ID     string `json:"id"`
	State  string `json:"state"`
	Stuck  bool   `json:"stuck"`
	At     string `json:"at,omitempty"`
	Detail string `json:"detail,omitempty"`
	// From is the ID that led here.
	From string `json:"from,omitempty"`

	at   time.Time
	next string
}

// stages are the way of a fact, in its order.
var stages = []string{"request", "name", "entry", "reservation", "outbox", "inbox", "projection", "recon"}

// idsMax bounds how many IDs one trace follows: each costs a read or two in every part.
const idsMax = 50

const traceHelp = `Follows one business ID through everything that the deployment has: the request, the names it took, entries and reservations of the ledger,
events, their receipts at consumers, checkpoints of projections, breaks. What a record refers to is followed, too: a request's effect, an event's
cause, a name's owner. It reads by keys only, a read unit or two for each ID and part. Findings: a record on the way that is stuck.`

// Trace is the command that follows an ID.
func Trace(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "trace ID", Short: "follows one business ID: request, entry, event, receipt, projection, break", Long: traceHelp,
		Example: "  dynafin --config brokerage.json trace req-7f3a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := openTracer(cmd.Context(), a)
			if err != nil {
				return err
			}
			if err := t.follow(cmd.Context(), args[0]); err != nil {
				return err
			}
			return t.print(args[0])
		},
	}
}

type tracer struct {
	a      *app.App
	d      *deployment.Deployment
	store  *app.Store
	tenant string
	queue  []lead
	known  map[string]bool
	found  []traced
	breaks []breakItem
}

// lead is an ID to follow, and the one that led to it.
type lead struct{ id, from string }

func openTracer(ctx context.Context, a *app.App) (t *tracer, err error) {
	t = &tracer{a: a, known: map[string]bool{}}
	if t.tenant, err = a.Tenant(); err != nil {
		return nil, err
	}
	if t.d, err = a.Deployment(); err != nil {
		return nil, err
	}
	if t.store, err = a.Store(ctx); err != nil {
		return nil, err
	}
	if t.d.Reconcile != nil {
		desk, err := openDesk(ctx, a)
		if err != nil {
			return nil, err
		}
		t.breaks, err = desk.open(ctx, reconcile.StatusOpen, reconcile.StatusEscalated)
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add notes an ID to follow, once.
func (t *tracer) add(from string, ids ...string) {
	for _, id := range ids {
		if id != "" && !t.known[id] && len(t.known) < idsMax {
			t.known[id] = true
			t.queue = append(t.queue, lead{id, from})
		}
	}
}

func (t *tracer) hit(l lead, r traced) {
	r.ID, r.From, r.At = first(r.ID, l.id), l.from, app.Stamp(r.at)
	t.found = append(t.found, r)
}

func (t *tracer) follow(ctx context.Context, id string) error {
	t.add("", id)
	for len(t.queue) > 0 {
		l := t.queue[0]
		t.queue = t.queue[1:]
		for _, look := range []func(context.Context, lead) error{t.request, t.names, t.books, t.events, t.receipts, t.open} {
			if err := look(ctx, l); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(t.found, func(x, y traced) int { return slices.Index(stages, x.Stage) - slices.Index(stages, y.Stage) })
	return nil
}

func (t *tracer) request(ctx context.Context, l lead) error {
	if t.d.Requests == nil {
		return nil
	}
	requests, err := t.d.RequestStore()
	if err != nil {
		return err
	}
	r, err := requests.Get(ctx, t.store, t.tenant, l.id)
	if ignorable(err, idempotency.ErrNotFound, idempotency.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	stuck, _ := requestStuck(r, t.a.Now())
	t.hit(l, traced{Stage: "request", State: string(r.State), Stuck: stuck, at: r.UpdatedAt,
		Detail: strings.Trim(r.Operation+"; "+pairs(r.Result.Effect), "; "), next: "dynafin requests show " + quoted(l.id)})
	for _, name := range sorted(r.Result.Effect) {
		t.add(l.id, r.Result.Effect[name])
	}
	return nil
}

// ignorable says that an ID is not known here, or cannot be an ID here.
func ignorable(err error, kinds ...error) bool {
	return err != nil && slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

func (t *tracer) names(ctx context.Context, l lead) error {
	if t.d.Names == nil {
		return nil
	}
	names, err := t.d.NameStore()
	if err != nil {
		return err
	}
	for _, kind := range t.d.Names.Kinds {
		h, err := names.Lookup(ctx, t.store, t.tenant, kind, l.id)
		if ignorable(err, sentinel.ErrNotFound, sentinel.ErrInvalid) {
			continue
		}
		if err != nil {
			return err
		}
		t.hit(l, traced{Stage: "name", State: "HELD", at: h.Since, Detail: kind + " of " + h.Owner, next: fmt.Sprintf("dynafin sentinel check %s %s", quoted(kind), quoted(l.id))})
		t.add(l.id, h.Owner, h.Command)
	}
	return nil
}

func (t *tracer) books(ctx context.Context, l lead) error {
	if t.d.Ledger == nil {
		return nil
	}
	books, err := t.d.Books()
	if err != nil {
		return err
	}
	entry, err := books.Transaction(ctx, t.store, t.tenant, l.id)
	switch {
	case ignorable(err, ledger.ErrNotFound, ledger.ErrInvalid):
	case errors.Is(err, ledger.ErrRefused):
		t.hit(l, traced{Stage: "entry", State: "REFUSED", Detail: firstLine(err)})
	case err != nil:
		return err
	default:
		var lines []string
		for i, p := range entry.Postings {
			line := lineOf(entry.ID, i, p)
			lines = append(lines, fmt.Sprintf("%s %s %s", strings.ToLower(line.Side), line.Account, line.Amount.Text))
		}
		t.hit(l, traced{Stage: "entry", State: "POSTED", at: entry.RecordedAt, Detail: strings.Join(lines, ", "), next: "dynafin ledger show " + quoted(l.id)})
		t.add(l.id, entry.Source, entry.Reverses, entry.Corrects, entry.Captures)
	}
	r, err := books.Reservation(ctx, t.store, t.tenant, l.id)
	if ignorable(err, ledger.ErrNotFound, ledger.ErrInvalid, ledger.ErrRefused) {
		return nil
	}
	if err != nil {
		return err
	}
	t.hit(l, traced{Stage: "reservation", State: string(r.StateAt(t.a.Now())), at: r.CreatedAt, Detail: fmt.Sprintf("%s of %s, %s left", r.Amount, r.Account, r.Left)})
	t.add(l.id, r.CapturedBy...)
	return nil
}

func (t *tracer) events(ctx context.Context, l lead) error {
	if len(t.d.Outbox) == 0 {
		return nil
	}
	services, err := t.d.Outboxes()
	if err != nil {
		return err
	}
	e := &events{a: t.a, store: t.store, services: services}
	r, s, err := e.find(ctx, l.id)
	if ignorable(err, outbox.ErrNotFound, outbox.ErrInvalid) {
		return nil
	}
	if err != nil {
		return err
	}
	stuck := r.State == outbox.Parked || r.State == outbox.InFlight && !t.a.Now().Before(r.LeaseUntil)
	t.hit(l, traced{Stage: "outbox", State: string(r.State), Stuck: stuck, at: r.Event.OccurredAt,
		Detail: strings.Trim(fmt.Sprintf("%s of %s %s, version %d; %s", r.Event.Type, r.Event.AggregateType, r.Event.AggregateID, r.Event.AggregateVersion, r.Cause()), "; "),
		next:   fmt.Sprintf("dynafin outbox show --service %s %s", quoted(s.Name), quoted(l.id))})
	t.add(l.id, r.Event.CausationID, r.Event.AggregateID)
	return t.checkpoints(ctx, l, r.Event)
}

// checkpoints looks where projections stand with the event's aggregate, under the names that sources usually have.
func (t *tracer) checkpoints(ctx context.Context, l lead, event outbox.Event) error {
	if len(t.d.Projections) == 0 {
		return nil
	}
	all, err := views(ctx, t.a, nil)
	if err != nil {
		return err
	}
	for _, v := range all {
		alias, err := v.Alias(ctx)
		if err != nil {
			return err
		}
		for _, source := range []string{event.AggregateKey(), event.Tenant + "/" + event.AggregateType + "/" + event.AggregateID} {
			c, err := v.Namespace(alias.Namespace).Checkpoint(ctx, source)
			if err != nil {
				return err
			}
			if c.Events+c.Parked == 0 {
				continue
			}
			state := "APPLIED"
			if c.Version < event.AggregateVersion {
				state = "BEHIND"
			}
			t.hit(l, traced{Stage: "projection", ID: source, State: state, Stuck: c.Parked > 0 && state == "BEHIND", at: c.UpdatedAt,
				Detail: fmt.Sprintf("%s at version %s, %s parked", v.Name, strconv.FormatInt(c.Version, 10), strconv.FormatInt(c.Parked, 10)),
				next:   "dynafin projection gaps " + quoted(v.Name)})
			break
		}
	}
	return nil
}

func (t *tracer) receipts(ctx context.Context, l lead) error {
	if len(t.d.Inbox) == 0 {
		return nil
	}
	consumers, err := t.d.Inboxes()
	if err != nil {
		return err
	}
	for _, in := range consumers {
		r, err := in.Get(ctx, t.store, l.id)
		if ignorable(err, inbox.ErrNotFound, inbox.ErrInvalid) {
			continue
		}
		if err != nil {
			return err
		}
		t.hit(l, traced{Stage: "inbox", State: "PROCESSED", at: r.ProcessedAt, Detail: strings.Trim(in.Name+"; "+pairs(r.Effect), "; "), next: "dynafin inbox show " + quoted(l.id)})
		for _, name := range sorted(r.Effect) {
			t.add(l.id, r.Effect[name])
		}
	}
	return nil
}

// open looks for breaks about the ID.
func (t *tracer) open(_ context.Context, l lead) error {
	for _, b := range t.breaks {
		if b.Tenant == t.tenant && (b.Key == l.id || b.ID == l.id) {
			t.hit(l, traced{Stage: "recon", ID: b.ID, State: b.Status, Stuck: b.Overdue, at: b.created, Detail: fmt.Sprintf("%s in batch %s, owner %s", b.Kind, b.Batch, b.Owner),
				next: fmt.Sprintf("dynafin recon show %s %s", quoted(b.Batch), quoted(b.ID))})
		}
	}
	return nil
}

func (t *tracer) print(id string) error {
	if len(t.found) == 0 {
		return fmt.Errorf("no part of the deployment knows %q of tenant %q: an ID is the key of a request, a name, "+
			"a transaction, a reservation, an event, or the key or ID of an open break; an aggregate or an account is not looked up", id, t.tenant)
	}
	l := app.List[traced]{Schema: "trace/v1", Table: t.d.Name, Items: t.found, Next: t.found[0].next}
	stuck := 0
	for _, r := range t.found {
		if r.Stuck {
			if stuck++; stuck == 1 {
				l.Next = r.next
			}
		}
	}
	l.Columns = []app.Column[traced]{
		{Name: "stage", Value: func(r traced) string { return r.Stage }},
		{Name: "id", Kind: app.ID, Value: func(r traced) string { return r.ID }},
		{Name: "state", Value: func(r traced) string { return r.State }, Show: func(r traced) string {
			if r.Stuck {
				return r.State + ", stuck"
			}
			return r.State
		}},
		age("at", "age", t.a.Now(), func(r traced) time.Time { return r.at }),
		{Name: "detail", Value: func(r traced) string { return r.Detail }},
		{Name: "from", Kind: app.ID, Value: func(r traced) string { return r.From }},
	}
	if err := app.Print(t.a, l); err != nil {
		return err
	}
	var f found
	f.add(stuck, "stuck record on its way", "stuck records on its way")
	return f.err()
}
