package schema

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// EnsureClient are the requests that Ensure makes. *dynamodb.Client has them.
type EnsureClient interface {
	CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, opts ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// How long Ensure waits for a table, and how often it looks.
const (
	activeWithin = 10 * time.Minute
	lookMin      = 200 * time.Millisecond
	lookMax      = 5 * time.Second
)

// Ensure creates the tables that are missing, waits until all are active, and turns TTL on where it is off. It is for local
// use and for tests: a deployed table comes from a template, with backups, which Ensure leaves alone. Calling it again does
// nothing more, and several processes may call it at the same time. A table that exists is not changed otherwise, whatever
// it looks like; [Deployment.Verify] finds what is wrong with it.
//
// Errors: [ErrInvalid], once for each fault of the deployment, and [ErrEnsure] with that of AWS.
//
// Cost: three requests for each table, a fourth where TTL was off, one more for each look at a table that is not active yet, and no units.
func (d Deployment) Ensure(ctx context.Context, client EnsureClient) error {
	creations, err := d.Create()
	if err != nil {
		return err
	}
	for _, c := range creations { // all of them, before the first wait
		_, err := client.CreateTable(ctx, c.CreateTable)
		var exists *types.ResourceInUseException
		if err != nil && !errors.As(err, &exists) {
			return errEnsure.Wrap(err, "schema: ensure: create table %s: %v", *c.CreateTable.TableName, err)
		}
	}
	for _, c := range creations {
		if err := c.settle(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for a table and turns its TTL on.
func (c Creation) settle(ctx context.Context, client EnsureClient) error {
	name := c.CreateTable.TableName
	wait := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = lookMin, lookMax })
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: name}, activeWithin); err != nil {
		return errEnsure.Wrap(err, "schema: ensure: wait for table %s: %v", *name, err)
	}
	if c.TimeToLive == nil || expires(ctx, client, *name) {
		return nil
	}
	// Who turns it on a second time is refused: another process was quicker.
	if _, err := client.UpdateTimeToLive(ctx, c.TimeToLive); err != nil && !expires(ctx, client, *name) {
		return errEnsure.Wrap(err, "schema: ensure: time to live of table %s: %v", *name, err)
	}
	return nil
}

// expires says whether TTL is known to be on, or about to be; if by another attribute than it should, Verify finds that.
func expires(ctx context.Context, client EnsureClient, name string) bool {
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil || out.TimeToLiveDescription == nil {
		return false
	}
	status := out.TimeToLiveDescription.TimeToLiveStatus
	return status == types.TimeToLiveStatusEnabled || status == types.TimeToLiveStatusEnabling
}
