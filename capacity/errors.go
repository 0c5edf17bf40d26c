package capacity

import "github.com/dynafin/dynafin/internal/fault"

// ErrInventory is the kind of an inventory, or of a list of prices, that cannot be planned with. Every error of it is a
// *FigureError.
var ErrInventory error = fault.New(fault.CapacityInventory, "capacity: invalid inventory")

// FigureError says which figure of an inventory or of a list of prices cannot be used. Plan and Cost report all of them at
// once, joined.
type FigureError struct {
	// Where names the figure, such as "operation AP16.create: Rate".
	Where string
	// Reason says what is wrong with it.
	Reason string
}

func (e *FigureError) Error() string {
	return fault.CapacityInventory.Text("capacity: plan: %s %s", e.Where, e.Reason)
}

// Unwrap returns ErrInventory.
func (e *FigureError) Unwrap() error { return ErrInventory }
