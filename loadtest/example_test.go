package loadtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/loadtest"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// A service gives out handles. Everybody wants the same one on the day it is free.
func handles(s *loadtest.Stage) (loadtest.Do, error) {
	names := sentinel.New(sentinel.Config{Table: txn.Table{Name: "Handles"}, Now: s.Now})
	committer := txn.New(s.Client, s.Txn)
	return func(ctx context.Context, op loadtest.Op) error {
		_, err := committer.Commit(ctx, names.Reserve(sentinel.Claim{
			Tenant: "acme", Kind: "HANDLE", Name: fmt.Sprint("handle-", op.Key), Owner: fmt.Sprint("user-", op.N), Command: fmt.Sprint("claim-", op.N),
		}))
		if loadtest.Throttled(err) || loadtest.Conflict(err) {
			return err
		}
		return nil // it is theirs, or somebody else's: an answer
	}, s.DB.CreateTable("Handles")
}

func ExampleRun() {
	report, err := loadtest.Run(context.Background(), handles, loadtest.Load{Rate: 600, Keys: loadtest.HotKey(50, 0.90), Even: true, For: 2 * time.Second})
	if err != nil {
		panic(err)
	}
	fmt.Print(report)
	// Output:
	// 600 operations a second, 90.00 % on one of 50 keys, for 2s: the lane does not hold
	// answered  1120 of 1200, 560 a second; 163 attempts were throttled, 0 in conflict
	// waits     median 0s, 99 of 100 within 159.4ms, longest 397.8ms
	// hottest keys                             units/s  peak  limit  throttled
	// Handles TEN#acme#HANDLE#handle-0 WRITE   1000.0   1000  1000   163
	// Handles TEN#acme#HANDLE#handle-1 WRITE   3.0      4     1000   0
	// Handles TEN#acme#HANDLE#handle-10 WRITE  3.0      4     1000   0
}

func ExampleBreakingShare() {
	breaking, err := loadtest.BreakingShare(context.Background(), handles, loadtest.Load{Rate: 600, For: time.Second})
	if err != nil {
		panic(err)
	}
	fmt.Println(breaking)
	// Output: one key may take 84.3 % of it, not 84.4 %
}
