package txn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/dynafin/dynafin/txn"
)

// settled decides a whole transaction.
type settled struct{ error }

func (settled) SettlesCommit() bool { return true }

func TestOneOfSeveralCallersHasItsOwnReasons(t *testing.T) {
	mine, done := errors.New("mine"), settled{errors.New("done before")}
	reason := func(position int, code string, err error) txn.Reason {
		return txn.Reason{Part: "p", Position: position, Code: code, Err: err}
	}
	const failed = "ConditionalCheckFailed"
	all := &txn.CanceledError{Unsettled: true, Err: errors.New("with the items of all"), Reasons: []txn.Reason{
		reason(0, failed, done), reason(2, failed, mine), reason(3, "TransactionConflict", errors.New("busy")), reason(5, failed, errors.New("theirs")),
	}}
	first, second := all.Only(0, 2), all.Only(2, 5)
	if !errors.Is(first, done) || len(first.Reasons) != 1 {
		t.Errorf("the first has %v", first)
	}
	positions := []int{}
	for _, r := range second.Reasons {
		positions = append(positions, r.Position)
	}
	if !errors.Is(second, mine) || !errors.Is(second, txn.ErrCanceled) || errors.Is(second, done) || !second.Unsettled || second.Err != nil ||
		!slices.Equal(positions, []int{0, 1}) {
		t.Errorf("the second has %+v", second)
	}
	if rest := all.Only(6, 9); rest != nil {
		t.Errorf("who has no reason has %v", rest)
	}
}

// A reason says which write of the transaction it is about.
func TestAReasonHasThePositionOfItsWrite(t *testing.T) {
	_, _, _, err := commit(t, fenced(), cancels(none, reason("ConditionalCheckFailed", item("acct"))))
	var canceled *txn.CanceledError
	if !errors.As(err, &canceled) || len(canceled.Reasons) != 1 || canceled.Reasons[0].Position != 1 {
		t.Errorf("%+v", canceled)
	}
}
