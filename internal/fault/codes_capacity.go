package fault

// Codes of package capacity.
var (
	CapacityInventory = Code{"DFN-1021", "capacity.ErrInventory",
		"A figure of an inventory or of a list of prices is missing or impossible, or a name in it leads nowhere.",
		"Fix the figure that the error names; all faults are reported at once.", RetryNever}
)

// Capacity lists the codes of package capacity.
var Capacity = []Code{CapacityInventory}
