package dynamosim

import (
	"io"

	"github.com/dynafin/dynafin/internal/fault"
)

var (
	// ErrClosed means that the test a database was made for has ended. DFN-1501.
	ErrClosed error = fault.New(fault.DynamosimClosed, "dynamosim: the test that owns this database has ended")
	// ErrLost is the error of a request that [Faulty] lost, or whose answer it lost: like any broken connection it does
	// not tell which, and errors.Is finds io.ErrUnexpectedEOF in it. DFN-1502.
	ErrLost error = errLost
	// ErrSaved means that [Load] was given something that [DB.Save] did not write. DFN-1503.
	ErrSaved error = errSaved

	errLost  = fault.New(fault.DynamosimLost, "dynamosim: connection lost")
	errSaved = fault.New(fault.DynamosimSaved, "dynamosim: unreadable saved database")
)

// lost is the error of one lost call.
func lost(call Call) error {
	return errLost.Wrap(io.ErrUnexpectedEOF, "dynamosim: connection lost during %s, call %d", call.Operation, call.Sequence)
}
