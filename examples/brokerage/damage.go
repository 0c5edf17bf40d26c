package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// damage does, behind everybody's back, what must not happen and does: a script changes postings, a name is left by an order that never
// was, and the broker's log is not complete. What bank and venue get wrong is in their statement, and what the bus lost it lost
// during the day.
func (f *firm) damage(ctx context.Context, s *seeds) error {
	for i, tenant := range tenantsOf(f.accounts) {
		if err := f.leaveName(ctx, s, tenant); err != nil {
			return err
		}
		if i%2 == 0 {
			if err := f.changePosting(ctx, s, f.customerOf(tenant)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *firm) customerOf(tenant string) account {
	for _, of := range f.accounts {
		if of.tenant == tenant {
			return of
		}
	}
	return account{}
}

// leaveName takes a client order ID for an order that is never stored.
func (f *firm) leaveName(ctx context.Context, s *seeds, tenant string) error {
	claim := sentinel.Claim{Tenant: tenant, Kind: sentinel.ClientOrder, Name: "left-behind", Owner: "ord-never", Command: "script"}
	_, err := insist(ctx, f.service.committer, f.service.names.Reserve(claim))
	var taken *sentinel.TakenError
	if err != nil && !(errors.As(err, &taken) && taken.Owner == claim.Owner) {
		return err
	}
	s.plant(tenant, batchNames, "a name belongs to an order that never was", txn.JoinKey(tenant, claim.Kind, claim.Name))
	return nil
}

// changePosting adds a minor unit to the first posting of an account of this month, with a plain write.
func (f *firm) changePosting(ctx context.Context, s *seeds, of account) error {
	pk := fmt.Sprintf("%s#MONTH#%s#BKT#00", accountPK(of.tenant, of.id), ledger.MonthOf(dayOpens))
	key := expression.Key("PK").Equal(expression.Value(pk))
	query, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		return err
	}
	out, err := f.service.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(ledgerTable.Name), KeyConditionExpression: query.KeyCondition(), Limit: aws.Int32(1), ConsistentRead: aws.Bool(true),
		ExpressionAttributeNames: query.Names(), ExpressionAttributeValues: query.Values(),
	})
	if err != nil {
		return err
	}
	for _, item := range out.Items {
		amount, ok := new(big.Int).SetString(textOf(item, "amount"), 10)
		if !ok {
			return fmt.Errorf("posting %s: its amount is %q", textOf(item, "SK"), textOf(item, "amount"))
		}
		amount.Add(amount, big.NewInt(1))
		changed := txn.Item{}
		for name, value := range item {
			changed[name] = value
		}
		changed["amount"] = &types.AttributeValueMemberN{Value: amount.String()}
		if err := f.put(ctx, changed); err != nil {
			return err
		}
		balance := txn.JoinKey(of.tenant, of.id, textOf(item, "asset"), "0")
		s.postings[balance] = item
		s.plant(of.tenant, batchBooks, "somebody changed a posting", balance)
	}
	return nil
}

func (f *firm) put(ctx context.Context, posting txn.Item) error {
	_, err := f.service.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(ledgerTable.Name), Item: posting})
	return err
}

// brokerLog is what the broker says that it took of a tenant: all but a few events, and one that nobody sent.
func (f *firm) brokerLog(s *seeds, tenant string, x *tenantData) []ready.Receipt {
	sent := map[string]bool{}
	for _, r := range x.events {
		sent[r.Event.ID] = true
	}
	log := []ready.Receipt{{EventID: "event-of-nobody", Ack: "bus-event-of-nobody", At: dayOpens}}
	s.plant(tenant, batchBroker, "the broker has an event that nobody sent", log[0].EventID)
	f.office.faults.log.mu.Lock()
	defer f.office.faults.log.mu.Unlock()
	for _, r := range f.office.faults.log.taken {
		switch {
		case !sent[r.EventID]: // another tenant's
		case strings.HasPrefix(r.EventID, venuePrefix) && draw("log "+r.EventID)%400 == 0:
			s.plant(tenant, batchBroker, "the broker's log has lost an event", r.EventID)
		default:
			log = append(log, r)
		}
	}
	return log
}
