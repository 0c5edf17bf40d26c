package look

import (
	"os"
	"regexp"
	"testing"

	"github.com/dynafin/dynafin/schema"
)

func TestEveryMistakeInATableHasAFix(t *testing.T) {
	source, err := os.ReadFile("../../../../schema/verify.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^\t\w+ +Mistake = "(\w+)"$`).FindAllSubmatch(source, -1)
	if len(all) != len(fixes) {
		t.Errorf("%d mistakes and %d fixes", len(all), len(fixes))
	}
	for _, m := range all {
		if fixes[schema.Mistake(m[1])] == "" {
			t.Errorf("doctor does not say what to do about %s", m[1])
		}
	}
}
