package expr

// rank orders the faults of an expression: of several, the service reports the one of the lowest rank, and of one rank
// the first in the text. A syntax error comes before them all and ends the reading at once.
type rank uint8

const (
	faultParens rank = iota
	faultReservedUpdate
	faultFunctionName
	faultMisused
	faultReserved
	faultSection
	faultSettled // the faults of the first condition that had any
	faultNameRef
	faultValueRef
	faultOverlap
	faultConflict
	faultOperand
	faultDistinct
	faultType
	faultLimit
	ranks
)

// faults keeps the first fault of each rank.
type faults [ranks]string

func (f *faults) add(r rank, message string) {
	if f[r] == "" {
		f[r] = message
	}
}

// settle closes one condition (a = :b): what is wrong inside it counts before what is wrong in any later one.
func (f *faults) settle() {
	for r := faultNameRef; r <= faultType; r++ {
		if f[r] != "" {
			f.add(faultSettled, f[r])
			return
		}
	}
}

func (f *faults) worst() string {
	for _, message := range f {
		if message != "" {
			return message
		}
	}
	return ""
}
