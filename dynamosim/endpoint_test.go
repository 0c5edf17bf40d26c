package dynamosim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/internal/stores"
)

// backend is a client and a fresh test table. The tests that use it say what DynamoDB does, so they run against the
// simulator and, when DYNAMODB_ENDPOINT is set, against whatever answers there.
type backend struct {
	*dynamodb.Client
	table *string
}

func newBackend(t testing.TB) backend {
	t.Helper()
	store := stores.Open(t)
	table := store.Table(t, testTable("Test"))
	return backend{store.Client(), &table}
}
