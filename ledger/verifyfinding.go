package ledger

// Finding placeholder
type Finding struct{}

func (Finding) String() string { return "" }
