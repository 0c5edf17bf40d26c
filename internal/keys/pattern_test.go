package keys

import (
	"os"
	"strings"
	"testing"
)

// Every route that the documentation lists can be named, with the grammar that it has there.
func TestEveryRouteHasATemplate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(strings.TrimPrefix(line, "//"))
		if len(fields) != 4 || !strings.Contains(fields[2], "{") {
			continue
		}
		found++
		if got := Template(fields[1]); got.PK != fields[2] || got.SK != fields[3] {
			t.Errorf("%s is %v, documented as %s / %s", fields[1], got, fields[2], fields[3])
		}
	}
	if found != len(routes) {
		t.Errorf("%d routes are documented, %d can be named", found, len(routes))
	}
}

func TestPatternsFixWhatIsKnown(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"TEN#*#REQ#*":                Pattern("Request"),
		"TEN#acme#REQ#*":             Pattern("Request", "acme"),
		"TEN#*#CLIENTORDER#*":        Pattern("Name", "", "CLIENTORDER"),
		"SERVICE#orders#READY#*":     Pattern("OutboxReady", "orders"),
		"CONSUMER#a%23b#V#*#SHARD#*": Pattern("Inbox", "a#b"),
		"PROJ#${*}${?}${$}{x}":       Pattern("Alias", "*?${x}"),
		"SERVICE#orders#CLAIMS":      Pattern("OutboxClaims", "orders", "more", "than", "there are"),
		"":                           Pattern("Nowhere", "acme"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
