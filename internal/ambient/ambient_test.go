package ambient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynafin/dynafin/internal/ambient"
)

func TestIDsDifferAndWaitsStayBelowTheirLimit(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := ambient.ID()
		if len(id) != 22 || seen[id] {
			t.Fatalf("%q, again: %t", id, seen[id])
		}
		seen[id] = true
		if wait := ambient.Wait(3); wait < 0 || wait >= 3 {
			t.Fatal(wait)
		}
	}
	if ambient.Wait(0) != 0 || ambient.Wait(-time.Second) != 0 {
		t.Error("a wait below no limit")
	}
}

func TestSleepEndsWithItsTimeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := ambient.Sleep(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := ambient.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour+time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
