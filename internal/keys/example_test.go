package keys_test

import (
	"fmt"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

func ExampleOutboxReady() {
	k, err := keys.OutboxReady("orders", 7, time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), "evt-1")
	fmt.Println(k.PK)
	fmt.Println(k.SK, err)
	// Output:
	// SERVICE#orders#READY#0007
	// DUE#2026-11-29T14:18:00.000000000Z#evt-1 <nil>
}

// A tenant cannot spell another's key.
func ExampleName() {
	k, _ := keys.Name("acme#EMAIL#bob", "EMAIL", "ann@example.com")
	fmt.Println(k.PK, k.SK)
	_, _, _, err := keys.ParseName(keys.Key{PK: "TEN#acme#EMAIL#", SK: "UNIQUE"})
	fmt.Println(err)
	// Output:
	// TEN#acme%23EMAIL%23bob#EMAIL#ann@example.com UNIQUE
	// keys: Name: name is empty; retrying cannot help [DFN-1001]
}
