package mend

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// requests makes the operations on the escalated requests of one tenant.
type requests struct {
	*idempotency.Requests
	deploy *deployment.Deployment
	client idempotency.RepairReader
	tenant string
	now    func() time.Time
}

const effectHelp = "where the effect of a request is: ledger:TRANSACTION, or item:TABLE|PK|SK, with {key} for the request's key"

// RequestVerbs are the commands that decide escalated requests.
func RequestVerbs(a *app.App) []*cobra.Command {
	of := func(use, short string, operation func(requests) change.Operation, names ...string) *cobra.Command {
		var cmd *cobra.Command
		var keys []string
		cmd, _ = changing(a, use, short, "dynafin requests ls", func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			with := flagsOf(cmd, names...)
			r, err := requestsOf(a, store)
			with["tenant"] = r.tenant
			f.ids = append(f.ids, keys...)
			return operation(r), with, err
		})
		cmd.Flags().StringArrayVar(&keys, "key", nil, "`KEY` of a request, as --id")
		return cmd
	}
	release := of("release [KEY...]", "lets the client repeat an escalated request that has had no effect and will have none", requests.release, "effect", "vouch")
	release.Flags().String("effect", "", effectHelp+"; refused while it is there")
	release.Flags().String("vouch", "", "`HOW` it is known that there is no effect, where no --effect can be looked at")
	complete := of("complete [KEY...]", "gives an escalated request its result", requests.complete, "effect", "code", "body", "rejected")
	complete.Flags().String("effect", "", effectHelp+"; refused while it is missing")
	complete.Flags().String("code", "", "the result's `CODE`, for example 201; required")
	complete.Flags().String("body", "", "the result's body, as the client gets it")
	complete.Flags().String("rejected", "", "`WHY`: the result is a rejection")
	return []*cobra.Command{release, complete}
}

func requestsOf(a *app.App, store *app.Store) (requests, error) {
	d, err := a.Deployment()
	if err != nil {
		return requests{}, err
	}
	r, err := d.RequestStore()
	if err != nil {
		return requests{}, err
	}
	tenant, err := a.Tenant()
	return requests{r, d, store, tenant, a.Now}, err
}

func (r requests) operation(command, done string) change.Operation {
	return change.Operation{
		Command: command, One: "request", Many: "requests", Done: done,
		Fields: []string{"key", "operation", "mode", "attempt", "age", "reason"}, Select: r.selected,
		Now: func(ctx context.Context, item change.Item) (string, error) {
			rec, err := r.Get(ctx, r.client, r.tenant, item.ID)
			return describeRequest(rec), err
		},
	}
}

func describeRequest(rec idempotency.Record) string {
	switch rec.State {
	case idempotency.Completed:
		return "COMPLETED with " + rec.Result.Code
	case idempotency.Escalated:
		return "ESCALATED: " + rec.Reason
	default:
		return string(rec.State)
	}
}

func (r requests) selected(ctx context.Context, s change.Selection) iter.Seq2[change.Item, error] {
	return func(yield func(change.Item, error) bool) {
		for _, key := range s.IDs {
			rec, err := r.Get(ctx, r.client, r.tenant, key)
			if errors.Is(err, idempotency.ErrNotFound) {
				continue
			}
			if err != nil && !yield(change.Item{}, err) || err == nil && !yield(r.item(rec), nil) {
				return
			}
		}
		if len(s.IDs) > 0 {
			return
		}
		for rec, err := range r.Escalated(ctx, r.client, r.tenant) {
			if err != nil && !yield(change.Item{}, err) || err == nil && !rec.UpdatedAt.After(s.AsOf) && !yield(r.item(rec), nil) {
				return
			}
		}
	}
}

func (r requests) item(rec idempotency.Record) change.Item {
	item := change.Item{ID: rec.Key, Is: describeRequest(rec), Hold: rec, Fields: change.Fields{
		"key": rec.Key, "operation": rec.Operation, "mode": rec.Mode.String(), "attempt": strconv.Itoa(rec.Attempt),
		"age": r.now().Sub(rec.UpdatedAt).String(), "reason": rec.Reason,
	}}
	switch rec.State {
	case idempotency.Escalated:
	case idempotency.RepairRequired, idempotency.InProgress:
		item.Skip = "it is " + string(rec.State) + ": workers look after it until they escalate it"
	default:
		item.Skip = "it is " + string(rec.State) + ", not ESCALATED"
	}
	return item
}

// release frees requests, on condition that their effect is not there.
func (r requests) release() change.Operation {
	op := r.operation("requests release", "released")
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		rec := item.Hold.(idempotency.Record)
		audit := idempotency.Audit{By: note.By, Reason: note.Reason, At: note.At}
		if note.Args["effect"] == "" {
			if note.Args["vouch"] == "" {
				return nil, app.Usage("a request is released only if it has had no effect: name where its effect would be with --effect, or say with --vouch how that is known")
			}
			audit.Reason = cut(audit.Reason+"; no effect: "+note.Args["vouch"], idempotency.MaxReasonBytes)
			return []txn.Part{r.Free(rec, audit)}, nil
		}
		table, key, err := r.effect(note.Args["effect"], rec.Key)
		if err != nil {
			return nil, err
		}
		absent := txn.Check(table, key, txn.Label("effect"), txn.IfAbsent(), txn.Explain(func(txn.Item) error {
			return errors.New("the effect is there, " + expand(note.Args["effect"], rec.Key) + ": use dynafin requests complete")
		}))
		return []txn.Part{r.Free(rec, audit), absent}, nil
	}
	return op
}

// complete settles requests, on condition that the effect is there if one is named.
func (r requests) complete() change.Operation {
	op := r.operation("requests complete", "completed")
	op.Build = func(_ context.Context, item change.Item, note change.Note) ([]txn.Part, error) {
		rec, effect := item.Hold.(idempotency.Record), note.Args["effect"]
		if note.Args["code"] == "" {
			return nil, app.Usage("a result has a --code; its --body is what the client gets")
		}
		result := idempotency.Result{Kind: idempotency.Accepted, Code: note.Args["code"], Body: []byte(note.Args["body"])}
		if note.Args["rejected"] != "" {
			result.Kind = idempotency.Rejected
		}
		if effect != "" {
			result.Effect = map[string]string{"effect": expand(effect, rec.Key)}
		}
		parts := []txn.Part{r.Settle(rec, result, idempotency.Audit{By: note.By, Reason: note.Reason, At: note.At})}
		if effect == "" {
			return parts, nil
		}
		table, key, err := r.effect(effect, rec.Key)
		if err != nil {
			return nil, err
		}
		pk := expression.Name(table.WithDefaults("").PK)
		return append(parts, txn.Check(table, key, txn.Label("effect"), txn.If(expression.AttributeExists(pk)), txn.Explain(func(txn.Item) error {
			return errors.New("there is no " + expand(effect, rec.Key))
		}))), nil
	}
	return op
}

func expand(text, key string) string { return strings.ReplaceAll(text, "{key}", key) }

// effect is the item that an effect leaves.
func (r requests) effect(text, key string) (txn.Table, txn.Item, error) {
	kind, rest, _ := strings.Cut(text, ":")
	rest = expand(rest, key)
	switch kind {
	case "ledger":
		if r.deploy.Ledger == nil {
			return txn.Table{}, nil, r.deploy.Missing("ledger")
		}
		at, err := keys.Transaction(r.tenant, rest)
		if err != nil {
			return txn.Table{}, nil, app.Usage("--effect %q: %v", text, err)
		}
		table := r.deploy.Ledger.At().WithDefaults("")
		return table, table.Key(at.PK, at.SK), nil
	case "item":
		if parts := strings.Split(rest, "|"); len(parts) == 3 {
			table := txn.Table{Name: parts[0]}.WithDefaults("")
			return table, table.Key(parts[1], parts[2]), nil
		}
	}
	return txn.Table{}, nil, app.Usage("--effect %q: write %s", text, effectHelp)
}

// cut shortens what a note has no room for.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
