package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

// found is what an investigation says about a break: why it can be closed, the proof, and what must be written together with that.
// Without a proof the break stays open.
type found struct {
	note, proof string
	parts       []txn.Part
}

// resolve works through what is due of a tenant (AP15). The list comes from an index, so every break is read again before anything is
// decided; and it is looked into as if nobody knew what was planted.
func (n *night) resolve(ctx context.Context, tenant string) error {
	investigate := map[string]func(context.Context, reconcile.Break) (found, error){
		batchStreet: n.askVenue, batchBooks: n.restore, batchBroker: n.lookForEffect, batchPortfolio: n.lookAtRebuilt, batchNames: n.freeName,
	}
	for listed, err := range n.desk.Due(ctx, tenant, reconcile.StatusOpen, n.clock.now().AddDate(0, 0, 2)) {
		if err != nil {
			return err
		}
		b, err := n.desk.Break(ctx, tenant, listed.Batch, listed.ID)
		if err != nil {
			return err
		}
		if b.Status != reconcile.StatusOpen {
			continue
		}
		what, err := investigate[b.Batch](ctx, b)
		if err != nil {
			return fmt.Errorf("%s %s: %w", b.Batch, b.Key, err)
		}
		if what.proof == "" {
			n.recon.Open++
			continue
		}
		parts := append(what.parts, n.desk.Resolve(b, reconcile.Evidence{By: "finance-ops", Note: what.note, Reference: what.proof}))
		unsure, err := insist(ctx, n.service.committer, parts...)
		if err != nil && unsure { // an attempt that had no answer may have closed it
			b, err = n.desk.Break(ctx, tenant, listed.Batch, listed.ID)
			if err == nil && b.Status != reconcile.StatusResolved {
				err = fmt.Errorf("%s %s is %s", b.Batch, b.Key, b.Status)
			}
		}
		if err != nil {
			return err
		}
		n.count(b.Batch, func(c *batchCount) { c.Resolved++ })
		n.closedBreak(b, what)
	}
	return nil
}

// askVenue holds a line that differs against what execution has of the order, read strongly (AP04), and asks the venue once more.
func (n *night) askVenue(ctx context.Context, b reconcile.Break) (found, error) {
	id, _, _ := strings.Cut(b.Key, "/")
	f, known := n.confirmed(b.Tenant, id)
	if !known {
		return found{note: "the venue knows no such fill and withdraws the line", proof: "venue, inquiry " + id}, nil
	}
	recorded, err := n.read(ctx, executionTable, f.tradeKey())
	if err != nil {
		return found{}, err
	}
	if recorded != nil {
		if textOf(recorded, "tradeId") != f.ID || b.Kind == reconcile.Unexpected {
			return found{}, nil
		}
		return found{note: "the venue confirms the trade as it is booked, and corrects its statement", proof: "trade " + f.ID}, nil
	}
	refused, err := n.read(ctx, executionTable, f.refusalKey())
	if err != nil || refused == nil || b.Kind != reconcile.Unexpected {
		return found{}, err
	}
	return found{note: textOf(refused, "reason") + "; the venue busts the fill", proof: "refusal " + f.ID}, nil
}

// confirmed is what the venue says about an ID when it is asked.
func (n *night) confirmed(tenant, id string) (fill, bool) {
	if n.reported == nil {
		n.reported = map[string]fill{}
		for _, x := range n.x.tenants {
			for _, w := range x.accepted {
				list, err := fills(w)
				for _, f := range list {
					if err == nil {
						n.reported[txn.JoinKey(f.Order.Tenant, f.ID)] = f
					}
				}
			}
		}
	}
	f, known := n.reported[txn.JoinKey(tenant, id)]
	return f, known
}

func (n *night) read(ctx context.Context, table txn.Table, key txn.Item) (txn.Item, error) {
	out, err := n.service.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table.Name), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// restore puts a posting back as the backup has it, and proves the balance anew.
func (n *night) restore(ctx context.Context, b reconcile.Break) (found, error) {
	original := n.seeds.postings[b.Key]
	if original == nil {
		return found{}, nil
	}
	if err := n.put(ctx, original); err != nil {
		return found{}, err
	}
	asset, err := n.service.books.market.registry.Currency(textOf(original, "asset"))
	if err != nil {
		return found{}, err
	}
	report, err := n.service.books.ledger.Verify(ctx, n.service.client, ledger.Verification{
		Tenant: b.Tenant, Account: textOf(original, "account"), Asset: asset, Locate: true,
	})
	if err != nil || report.Err() != nil {
		return found{}, errors.Join(err, report.Err())
	}
	n.restored = append(n.restored, b.Key)
	return found{
		note:  "a posting was changed by hand; it is restored from the backup, and the balance is proved",
		proof: fmt.Sprintf("%s, %d postings", textOf(original, "SK"), report.Postings),
	}, nil
}

// lookForEffect finds out whether an event that the broker does not know had its effect all the same, and whether one that nobody has
// sent is in an outbox.
func (n *night) lookForEffect(ctx context.Context, b reconcile.Break) (found, error) {
	for _, events := range []*outbox.Outbox{n.service.events, n.office.execution.events} {
		r, err := events.Get(ctx, n.service.client, b.Key)
		switch {
		case errors.Is(err, outbox.ErrNotFound):
			continue
		case err != nil || b.Kind != reconcile.Missing:
			return found{}, err
		}
		if r.Event.Type == orderAccepted {
			route, err := n.read(ctx, executionTable, executionTable.Key(orderPK(r.Event.Tenant, r.Event.AggregateID), routeSK))
			if err != nil || route == nil {
				return found{}, err
			}
			return found{note: "execution has the event; the broker's log is not complete", proof: "route of " + r.Event.AggregateID}, nil
		}
		at, err := n.office.settled.versions.Namespace(1).Checkpoint(ctx, versionOf(r.Event).Source)
		if err != nil || at.Version < r.Event.AggregateVersion {
			return found{}, err
		}
		return found{note: "the books have the event; the broker's log is not complete", proof: fmt.Sprintf("checkpoint %s at %d", at.Source, at.Version)}, nil
	}
	if b.Kind != reconcile.Unexpected {
		return found{}, nil
	}
	return found{note: "no outbox has such an event, and no consumer takes it", proof: "lookup of " + b.Key}, nil
}

// lookAtRebuilt holds an order against the view that was rebuilt.
func (n *night) lookAtRebuilt(ctx context.Context, b reconcile.Break) (found, error) {
	tenant, orderID := orderOf(b.Key)
	order, err := n.read(ctx, ordersTable, ordersTable.Key(orderPK(tenant, orderID), "META"))
	if err != nil {
		return found{}, err
	}
	at, err := n.office.portfolio.namespace().Checkpoint(ctx, b.Key)
	if err != nil || fmt.Sprint(at.Version) != textOf(order, "version") {
		return found{}, err
	}
	return found{note: "the view was rebuilt from an export and has the version", proof: fmt.Sprintf("namespace %d at %d", n.office.portfolio.reads, at.Version)}, nil
}

// freeName gives up a name whose order is not stored, together with closing the break.
func (n *night) freeName(ctx context.Context, b reconcile.Break) (found, error) {
	components := strings.Split(b.Key, "#")
	held, err := n.service.names.Lookup(ctx, n.service.client, components[0], components[1], components[2])
	if err != nil {
		return found{}, err
	}
	order, err := n.read(ctx, ordersTable, ordersTable.Key(orderPK(held.Tenant, held.Owner), "META"))
	if err != nil || order != nil {
		return found{}, err
	}
	return found{note: "no order has the name; it is free again", proof: "no order " + held.Owner, parts: []txn.Part{n.service.names.Release(held)}}, nil
}
