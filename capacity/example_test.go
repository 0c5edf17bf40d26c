package capacity_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/dynafin/dynafin/capacity"
)

func ExampleItemSize() {
	fmt.Println(capacity.ItemSize(map[string]types.AttributeValue{
		"PK":    &types.AttributeValueMemberS{Value: "TEN#acme#ORDER#1"}, // 2 + 16
		"price": &types.AttributeValueMemberN{Value: "19.99"},            // 5 + 3
	}))
	// Output: 26
}

func ExampleReadUnits() {
	const size = 10 * 1024
	fmt.Println(capacity.ReadUnits(size, capacity.Eventual))
	fmt.Println(capacity.ReadUnits(size, capacity.Strong))
	fmt.Println(capacity.ReadUnits(size, capacity.Transactional))
	// Output:
	// 1.5
	// 3
	// 6
}

// An order whose status moves within a sparse index: the table pays for the larger image, the index for both entries.
func ExampleIndexWriteUnits() {
	table := capacity.ItemWriteUnits(1230, 1230)
	index := capacity.IndexWriteUnits(360, 360, true, true)
	fmt.Println(table, index)
	// Output: 2 2
}

// A service writes down what it does at its peak, and the plan says what that needs. Of the wallets nothing is known but
// that they are many: no average can say whether the hottest one fits.
func ExampleInventory_Plan() {
	service := capacity.Inventory{
		Routes: []capacity.Route{
			{ID: "wallets", Table: "Wallets", StoredItems: "1000000", StoredSize: "0.4KiB"},
			{ID: "due", Table: "Wallets", Index: "GSI3"},
		},
		Operations: []capacity.Operation{
			{Pattern: "P1", Name: "transfer", Rate: "1800", Accesses: []capacity.Access{
				{Route: "wallets", Do: capacity.Update, Consistency: capacity.Transactional, Items: 2, Size: "0.4KiB"},
				{Route: "due", Do: capacity.Insert, Size: "0.45KiB"},
			}},
			{Pattern: "P2", Name: "publish", Rate: "1800", Accesses: []capacity.Access{
				{Route: "due", Do: capacity.Remove, Size: "0.45KiB"},
			}},
		},
		Lanes: []capacity.Lane{
			{ID: "L1", Route: "wallets", Kind: capacity.Writes, Evidence: "the share of the hottest wallet is not measured"},
			{ID: "L2", Route: "due", Kind: capacity.Writes, Share: "1", Evidence: "one service is one key"},
		},
		Mean: "0.2",
	}
	plan, err := service.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan)
	cost, err := plan.Cost(capacity.Prices{Currency: "XTS", MillionWrites: "1", GiBMonth: "0.5"}) // the prices of your contract
	fmt.Println(cost, err)
	// Output:
	// lane  pattern  route    units/s of  rate/s  units  share  demand/s  shards  needed  per shard  target  headroom  state
	// L1    P1       wallets  WRITE         1800      4      -      7200       -       -          -     800         -  LOAD_TEST_REQUIRED
	// L2    P1,P2    due      WRITE         3600      1      1      3600       5       5        720     800    10.00%  FEASIBLE_PLANNING
	//
	// At the peak: 0 read units and 10800 write units a second.
	// 1 of 2 lanes need a load test before they can be trusted:
	//   L1: the share of the hottest wallet is not measured; it holds while no key gets more than 11.11% of it
	//
	// a month          amount      XTS
	// read units            0     0.00
	// write units  5676480000  5676.48
	// GiB stored         0.47     0.24
	// total                    5676.72
	//  <nil>
}
