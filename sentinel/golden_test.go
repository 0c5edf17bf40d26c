package sentinel_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	stored "github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// The shapes of stored records are a public format: programs of other versions read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	golden(t, "held", b.item(t, "C-1"))
	b.commit(t, b.names.Release(b.lookup(t, "C-1")))
	golden(t, "free", b.item(t, "C-1"))
	b.commit(t, b.names.Reserve(claim("C-1", "order-2")))
	golden(t, "held_again", b.item(t, "C-1"))
}

func golden(t *testing.T, name string, item txn.Item) {
	t.Helper()
	stored.Item(t, name, item, txn.UpdateMarkAttribute)
}

func equalItems(a, b txn.Item) bool { return reflect.DeepEqual(a, b) }

// sameFailure says whether err holds an error of want's type with want's content.
func sameFailure(err, want error) bool {
	switch want := want.(type) {
	case *sentinel.TakenError:
		var got *sentinel.TakenError
		return errors.As(err, &got) && *got == *want
	case *sentinel.NotOwnedError:
		var got *sentinel.NotOwnedError
		return errors.As(err, &got) && *got == *want
	case *sentinel.NotFoundError:
		var got *sentinel.NotFoundError
		return errors.As(err, &got) && *got == *want
	}
	return false
}

// readMeter counts what reads cost.
type readMeter struct {
	client *dynamodb.Client
	calls  int
	units  float64
}

func (m *readMeter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	asked := *in
	asked.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.client.GetItem(ctx, &asked, opts...)
	if err == nil {
		m.calls++
		m.units += *out.ConsumedCapacity.CapacityUnits
	}
	return out, err
}
