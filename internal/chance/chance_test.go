package chance_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
)

// recorder is a test that may fail.
type recorder struct {
	*testing.T
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

// What is rarer than one history in the first hundred is waited for; what never happens fails the test.
func TestWhatWasNeverSeenFailsTheProperty(t *testing.T) {
	t.Parallel()
	histories := 0
	property := func(rt *rapid.T, seen chance.Seen) {
		rapid.Bool().Draw(rt, "something")
		histories++
		if histories == 150 {
			seen["rare"]++
		}
	}
	r := &recorder{T: t}
	if chance.Check(r, property, "rare"); r.failed || histories < 150 {
		t.Errorf("after %d histories: failed is %t", histories, r.failed)
	}
	if chance.Check(r, property, "impossible"); !r.failed {
		t.Error("the impossible was not missed")
	}
}
