package schema_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// own are the routes of records that a service writes itself: orders, trades and views.
var own = []string{"Order", "AccountOrder", "StatusOrder", "OrderTrade", "AccountTrade", "SymbolTrade", "Position"}

// Every route of the key grammar that a primitive writes is in the description of its table.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	d, err := newService().deployment().Plan()
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for _, table := range d.Tables {
		for _, r := range table.Routes {
			described[r.Name] = r.PK + " / " + r.SK
		}
	}
	grammar, err := os.ReadFile("../internal/keys/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	routes := 0
	for _, line := range strings.Split(string(grammar), "\n") {
		fields := strings.Fields(strings.TrimPrefix(line, "//"))
		if len(fields) != 4 || !strings.Contains(fields[2], "{") || slices.Contains(own, fields[1]) {
			continue
		}
		routes++
		if got, want := described[fields[1]], fields[2]+" / "+fields[3]; got != want {
			t.Errorf("%s is described as %q, the grammar has %s", fields[1], got, want)
		}
	}
	if routes < 30 {
		t.Errorf("only %d routes were compared", routes)
	}
}
