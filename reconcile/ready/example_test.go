package ready_test

import (
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/reconcile/ready"
)

// A statement becomes one side of a comparison. What cannot be read is an error that names the line.
func ExampleCSV() {
	const statement = "Line,Reference,Amount,Ccy,Date\n1,pay-1,19.99,USD,2026-11-29\n2,pay-2,1e3,USD,2026-11-29\n"
	columns := ready.Columns{ID: "Line", Key: "Reference", Amount: "Amount", Currency: "Ccy", At: "Date"}
	for row, err := range ready.CSV(strings.NewReader(statement), columns) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(row.ID, row.Key, row.Amount)
	}
	// Output:
	// 1 pay-1 19.99 USD
	// ready: statement, line 3, column "Amount": is no plain decimal of its currency's places; retrying cannot help [DFN-2611]
}
