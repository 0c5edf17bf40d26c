package sentinel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

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

// golden compares a record with a file, all but the mark, which txn makes anew for every commit.
func golden(t *testing.T, name string, item txn.Item) {
	t.Helper()
	readable := map[string]map[string]string{}
	for attr, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			readable[attr] = map[string]string{"S": v.Value}
		case *types.AttributeValueMemberN:
			readable[attr] = map[string]string{"N": v.Value}
		default:
			t.Fatalf("%s: attribute %s is a %T", name, attr, value)
		}
	}
	if _, marked := readable[txn.UpdateMarkAttribute]; !marked {
		t.Errorf("%s: no mark", name)
	}
	readable[txn.UpdateMarkAttribute] = map[string]string{"S": "(mark)"}
	got, err := json.MarshalIndent(readable, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", "items", name+".json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; that breaks stored data. Got\n%s", file, got)
	}
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
