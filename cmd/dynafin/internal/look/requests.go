package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/idempotency"
)

// Requests returns the verbs that read idempotency records.
func Requests(a *app.App) []*cobra.Command { return []*cobra.Command{requestsList(a), requestsShow(a)} }

type requestItem struct {
	Tenant      string            `json:"tenant"`
	Key         string            `json:"key"`
	State       string            `json:"state"`
	Stuck       bool              `json:"stuck"`
	Operation   string            `json:"operation,omitempty"`
	Owner       string            `json:"owner,omitempty"`
	Attempt     int               `json:"attempt,omitempty"`
	LeaseUntil  string            `json:"lease_until,omitempty"`
	Since       string            `json:"since"`
	Reason      string            `json:"reason,omitempty"`
	Created     string            `json:"created_at,omitempty"`
	Updated     string            `json:"updated_at,omitempty"`
	Mode        string            `json:"mode,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
	Revision    string            `json:"revision,omitempty"`
	ResultKind  string            `json:"result_kind,omitempty"`
	ResultCode  string            `json:"result_code,omitempty"`
	ResultBytes int               `json:"result_bytes,omitempty"`
	Effect      map[string]string `json:"effect,omitempty"`
	Evidence    map[string]string `json:"evidence,omitempty"`
	// SameBody and OtherBody are what a repeat would get now.
	SameBody  string     `json:"repeat_with_same_body"`
	OtherBody string     `json:"repeat_with_other_body"`
	Notes     []noteItem `json:"notes,omitempty"`

	since time.Time
}

// requestStuck derives from lease, attempts and age whether a request needs somebody: its stored state does not say so.
func requestStuck(r idempotency.Record, now time.Time) (stuck bool, since time.Time) {
	switch r.State {
	case idempotency.InProgress:
		if !now.Before(r.LeaseUntil) {
			return true, r.LeaseUntil
		}
	case idempotency.RepairRequired, idempotency.Escalated:
		return true, r.UpdatedAt
	}
	return false, r.UpdatedAt
}

func requestOf(r idempotency.Record, now time.Time) requestItem {
	item := requestItem{
		Tenant: r.Tenant, Key: r.Key, State: string(r.State), Operation: r.Operation, Owner: r.Owner, Attempt: r.Attempt,
		LeaseUntil: app.Stamp(r.LeaseUntil), Reason: r.Reason, Created: app.Stamp(r.CreatedAt), Updated: app.Stamp(r.UpdatedAt),
		Fingerprint: r.Fingerprint.String(), Effect: r.Result.Effect, Evidence: r.Evidence,
	}
	if item.Stuck, item.since = requestStuck(r, now); r.Mode != 0 {
		item.Mode, item.Revision = r.Mode.String(), strconv.FormatInt(r.Revision, 10)
	}
	item.Since = app.Stamp(item.since)
	item.OtherBody = codeOf(idempotency.ErrMismatch) + " mismatch"
	switch r.State {
	case idempotency.Completed:
		item.ResultKind, item.ResultCode, item.ResultBytes = r.Result.Kind.String(), r.Result.Code, len(r.Result.Body)
		item.SameBody = "replay of the stored result"
	case idempotency.InProgress:
		item.SameBody = inProgress(r, now)
	case idempotency.Released:
		item.SameBody = "runs: no attempt had an effect"
	default:
		item.SameBody = codeOf(idempotency.ErrRepairRequired) + " in repair: nobody knows whether it had its effect"
	}
	return item
}

func inProgress(r idempotency.Record, now time.Time) string {
	switch {
	case now.Before(r.LeaseUntil):
		return fmt.Sprintf("%s in progress; the lease ends in %s", codeOf(idempotency.ErrInProgress), app.Span(r.LeaseUntil.Sub(now)))
	case r.Mode == idempotency.External:
		return codeOf(idempotency.ErrRepairRequired) + " goes to repair: the lease of an external effect has ended"
	}
	return "takes it over and runs: the lease has ended"
}

// codeOf is the stable code of a kind of error.
func codeOf(kind error) string {
	var coded interface{ Code() string }
	if errors.As(kind, &coded) {
		return coded.Code()
	}
	return ""
}

// requestsFound lists what needs somebody, from the repair index: what is due, and what was escalated.
func requestsFound(ctx context.Context, a *app.App, requests *idempotency.Requests, tenants []string, bad *faults) (items []requestItem, err error) {
	store, err := a.Store(ctx)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	for _, tenant := range tenants {
		for listed, err := range requests.Due(ctx, store, tenant, now) {
			var r idempotency.Record
			if err == nil {
				r, err = requests.Get(ctx, store, listed.Tenant, listed.Key)
			}
			if err != nil {
				if err := bad.skip(err, idempotency.ErrRecord); err != nil && !errors.Is(err, idempotency.ErrNotFound) {
					return nil, err
				}
				continue
			}
			if stuck, _ := requestStuck(r, now); stuck {
				items = append(items, requestOf(r, now))
			}
		}
		for r, err := range requests.Escalated(ctx, store, tenant) {
			if err != nil {
				if err := bad.skip(err, idempotency.ErrRecord); err != nil {
					return nil, err
				}
				continue
			}
			items = append(items, requestOf(r, now))
		}
	}
	sortRequests(items)
	return items, nil
}

func sortRequests(items []requestItem) {
	slices.SortStableFunc(items, func(x, y requestItem) int {
		return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Key, y.Key))
	})
}

func requestsList(a *app.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "lists the requests that are stuck: in repair, escalated, or abandoned",
		Long: `Lists the requests that need somebody: external ones whose lease has ended, those in repair, and those that repair escalated. They
are listed in a sparse index, so the list is cheap and whole. With --all it lists every request, which takes a scan; abandoned
requests that the index does not list are found only so. Findings: stuck requests.`,
		Example: "  dynafin requests ls --tenant acme\n  dynafin requests ls --all --scan -o csv",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bad := &faults{a: a}
			table, items, err := listRequests(cmd.Context(), a, all, bad)
			if err != nil {
				return err
			}
			l := app.List[requestItem]{Schema: "requests.ls/v1", Table: table, Items: items, Columns: requestColumns(a.Now()), Empty: "no request is stuck"}
			stuck := 0
			for _, r := range items {
				if !r.Stuck {
					continue
				}
				if stuck++; stuck == 1 {
					l.Next = fmt.Sprintf("dynafin requests show --tenant %s %s", quoted(r.Tenant), quoted(r.Key))
				}
			}
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(stuck, "stuck request", "stuck requests")
			f.add(bad.n, "unreadable request", "unreadable requests")
			return f.err()
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list every request (needs --scan)")
	return cmd
}

func listRequests(ctx context.Context, a *app.App, all bool, bad *faults) (table string, items []requestItem, err error) {
	d, err := a.Deployment()
	if err != nil {
		return "", nil, err
	}
	requests, err := d.RequestStore()
	if err != nil {
		return "", nil, app.Usage("%v", err)
	}
	if !all {
		tenants, err := a.Tenants()
		if err != nil {
			return "", nil, err
		}
		items, err = requestsFound(ctx, a, requests, tenants, bad)
		return d.Requests.Table, items, err
	}
	rows, err := a.Scan(ctx, d.Requests.At(), ", or leave out --all")
	if err != nil {
		return "", nil, err
	}
	for item, err := range rows {
		if err != nil {
			return "", nil, err
		}
		r, ok, err := requests.Decode(item)
		switch {
		case err != nil:
			if err := bad.skip(err, idempotency.ErrRecord); err != nil {
				return "", nil, err
			}
		case ok && (len(d.Tenants) == 0 || slices.Contains(d.Tenants, r.Tenant)):
			items = append(items, requestOf(r, a.Now()))
		}
	}
	sortRequests(items)
	return d.Requests.Table, items, nil
}

func requestColumns(now time.Time) []app.Column[requestItem] {
	return []app.Column[requestItem]{
		text("tenant", app.Text, func(r requestItem) string { return r.Tenant }),
		text("key", app.ID, func(r requestItem) string { return r.Key }),
		{Name: "state", Value: func(r requestItem) string { return r.State }, Show: func(r requestItem) string {
			if r.Stuck && r.State == string(idempotency.InProgress) {
				return r.State + ", stuck"
			}
			return r.State
		}},
		text("operation", app.Text, func(r requestItem) string { return r.Operation }),
		text("owner", app.Text, func(r requestItem) string { return r.Owner }),
		text("attempt", app.Number, func(r requestItem) string { return strconv.Itoa(r.Attempt) }),
		age("since", "", now, func(r requestItem) time.Time { return r.since }),
		text("reason", app.Text, func(r requestItem) string { return r.Reason }),
		{Name: "stuck", Data: true, Value: func(r requestItem) string { return strconv.FormatBool(r.Stuck) }},
		{Name: "lease_until", Data: true, Value: func(r requestItem) string { return r.LeaseUntil }},
		{Name: "result_code", Data: true, Value: func(r requestItem) string { return r.ResultCode }},
	}
}

func requestsShow(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show KEY",
		Short: "shows one request, and what a repeat of it would get now",
		Long: `Shows one request: its state, owner and lease, its result and effect, what operators noted, and what a repeat would get now, with
the same body and with another one.`,
		Example: "  dynafin requests show --tenant acme key-7f3a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tenant, err := a.Tenant()
			if err != nil {
				return err
			}
			d, err := a.Deployment()
			if err != nil {
				return err
			}
			requests, err := d.RequestStore()
			if err != nil {
				return app.Usage("%v", err)
			}
			store, err := a.Store(cmd.Context())
			if err != nil {
				return err
			}
			r, err := requests.Get(cmd.Context(), store, tenant, args[0])
			if err != nil {
				return err
			}
			notes, err := requests.Audits(cmd.Context(), store, tenant, args[0])
			if err != nil {
				return err
			}
			item := requestOf(r, a.Now())
			for _, n := range notes {
				item.Notes = append(item.Notes, noteItem{n.Step, n.By, n.Reason, app.Stamp(n.At), n.Escalated})
			}
			return app.Print(a, shownRequest(a, d.Requests.Table, r, item))
		},
	}
}

func shownRequest(a *app.App, table string, r idempotency.Record, item requestItem) app.List[requestItem] {
	now := a.Now()
	word, lease := "", at(now, r.LeaseUntil)
	if item.Stuck {
		word = ", stuck"
	}
	result := ""
	if r.State == idempotency.Completed {
		result = fmt.Sprintf("%s %s, %d bytes", item.ResultKind, item.ResultCode, item.ResultBytes)
	}
	l := app.List[requestItem]{Schema: "requests.show/v1", Table: table, Items: []requestItem{item}}
	for _, c := range requestColumns(now) {
		c.Data = true
		l.Columns = append(l.Columns, c)
	}
	l.Head = fields(
		field{"key", r.Key}, field{"tenant", r.Tenant}, field{"operation", fmt.Sprintf("%s, schema version %d", r.Operation, r.SchemaVersion)},
		field{"state", item.State + word}, field{"reason", r.Reason}, field{"mode", item.Mode}, field{"owner", r.Owner},
		field{"attempt", strconv.Itoa(r.Attempt)}, field{"lease until", lease}, field{"first", at(now, r.CreatedAt)}, field{"last", at(now, r.UpdatedAt)},
		field{"fingerprint", item.Fingerprint}, field{"result", result}, field{"effect", pairs(r.Result.Effect)}, field{"evidence", pairs(r.Evidence)},
		field{"same body", item.SameBody}, field{"other body", item.OtherBody},
	)
	for _, n := range item.Notes {
		l.Head = append(l.Head, app.Printable(fmt.Sprintf("note  %s  %s by %s: %s", n.At, n.Step, n.By, n.Reason)))
	}
	switch {
	case r.State == idempotency.Escalated:
		l.Next = fmt.Sprintf("dynafin requests complete --tenant %s --key %s --code CODE --dry-run", quoted(r.Tenant), quoted(r.Key))
	default:
		l.Next = fmt.Sprintf("dynafin trace --tenant %s %s", quoted(r.Tenant), quoted(r.Key))
	}
	return l
}

// pairs writes a small map on one line, by name.
func pairs(m map[string]string) string {
	var all []string
	for name, value := range m {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
