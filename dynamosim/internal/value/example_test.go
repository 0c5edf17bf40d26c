package value_test

import (
	"fmt"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

func Example() {
	a, err := value.DecodeItem([]byte(`{"tags":{"SS":["b","a"]},"n":{"N":"0042"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := value.DecodeItem([]byte(`{"n":{"N":"4.2E1"},"tags":{"SS":["a","b"]}}`))
	fmt.Println(a == b, a.Size(), string(a.AppendJSON(nil)))
	// Output: true 9 {"n":{"N":"42"},"tags":{"SS":["a","b"]}}
}
