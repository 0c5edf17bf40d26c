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
