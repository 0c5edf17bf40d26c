package schema_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/schema"
)

// A service that creates its own tables may be started again, twice at once, and on a network that loses answers.
func TestEnsureMakesWhatIsMissingHoweverOftenAndByHowMany(t *testing.T) {
	t.Parallel()
	d := orderTables()
	d.Disposable = true
	for _, fate := range []dynamosim.Fate{dynamosim.Deliver, dynamosim.LoseAnswer} {
		db := dynamosim.New(t, dynamosim.Options{Region: "eu-west-1"})
		client := db.Client(func(o *dynamodb.Options) {
			o.HTTPClient = dynamosim.Faulty(db, func(call dynamosim.Call) dynamosim.Fate {
				if call.Attempt == 1 {
					return fate
				}
				return dynamosim.Deliver
			})
		})
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := d.Ensure(t.Context(), client); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		before := db.Stats().Requests["UpdateTimeToLive"]
		if err := d.Ensure(t.Context(), client); err != nil || db.Stats().Requests["UpdateTimeToLive"] != before {
			t.Errorf("again: %v, %d requests to turn TTL on, before it %d", err, db.Stats().Requests["UpdateTimeToLive"], before)
		}
		findings, err := d.Verify(t.Context(), client)
		if err != nil || len(findings) != 1 || findings[0].Mistake != schema.RecoveryUnreadable {
			t.Errorf("%v, %v", findings, err)
		}
	}
}

func TestEnsureSaysWhatFailed(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"CreateTable", "DescribeTable", "UpdateTimeToLive"} {
		db := dynamosim.New(t, dynamosim.Options{Region: "eu-west-1"})
		client := db.Client(func(o *dynamodb.Options) {
			o.RetryMaxAttempts = 1
			o.HTTPClient = dynamosim.Faulty(db, func(call dynamosim.Call) dynamosim.Fate {
				if call.Operation == operation {
					return dynamosim.LoseRequest
				}
				return dynamosim.Deliver
			})
		})
		if err := orderTables().Ensure(t.Context(), client); !errors.Is(err, schema.ErrEnsure) {
			t.Errorf("%s: got %v", operation, err)
		}
	}
	if err := (schema.Deployment{}).Ensure(t.Context(), dynamosim.New(t).Client()); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("no tables: got %v", err)
	}
}

// A program for a laptop makes its tables when it starts; what it verifies is then as it should be.
func ExampleDeployment_Ensure() {
	d := orderTables()
	d.Disposable = true // for Verify, too
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{Region: "eu-west-1"}).Client()
	for range 2 { // again is nothing more
		if err := d.Ensure(ctx, client); err != nil {
			fmt.Println(err)
		}
	}
	findings, err := d.Verify(ctx, client)
	fmt.Println(findings, err)
	// Output:
	// [warning: Orders: RECOVERY_UNREADABLE: want point-in-time recovery over 35 days, got an endpoint that cannot say] <nil>
}
