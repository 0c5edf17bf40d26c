package storetest_test

import (
	"context"
	"fmt"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/storetest"
	"github.com/dynafin/dynafin/txn"
)

// A service keeps its names in a table from its own template. Does that table do? A second service has given its keys
// other names than its configuration says.
func ExampleSentinel() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	if _, err := client.CreateTable(ctx, newTable("acme-names", "partition", "sort", nil)); err != nil {
		fmt.Println(err)
	}
	right := sentinel.Config{Table: txn.Table{Name: "acme-names", PK: "partition", SK: "sort"}}
	fmt.Println("as it was made:", storetest.Sentinel(ctx, client, right))

	wrong := sentinel.Config{Table: txn.Table{Name: "acme-names"}}
	fmt.Println("with other keys:", storetest.Sentinel(ctx, client, wrong) != nil)
	// Output:
	// as it was made: <nil>
	// with other keys: true
}
