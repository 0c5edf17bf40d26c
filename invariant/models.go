package invariant

// Claim is an operation on a key that somebody must win: By wants Key. Its answer is the winner.
type Claim struct{ Key, By string }

// OneWinner is the model of claims: the first claim of a key wins it for ever, and everybody is told who won. It fits
// idempotency keys, leases that are never given back, and create-if-absent of every kind. Inputs are [Claim]; the output
// is the winner, a string.
func OneWinner() Model {
	return Model{
		Key:  func(input any) string { return input.(Claim).Key },
		Init: "",
		Step: func(state, input any) (next, output any) {
			if state == "" {
				state = input.(Claim).By
			}
			return state, state
		},
	}
}

// NameOp is an operation on a unique name: Owner reserves it or, with Release, gives it up, or, with Look, asks who holds
// it.
type NameOp struct {
	Name, Owner   string
	Release, Look bool
}

// Names is the model of unique names, a register for each name. The output is the holder after the operation, "" for
// nobody: who reserves a name that is held learns the holder; who releases a name of somebody else changes nothing.
// Inputs are [NameOp]; outputs are strings.
func Names() Model {
	return Model{
		Key:  func(input any) string { return input.(NameOp).Name },
		Init: "",
		Step: func(state, input any) (next, output any) {
			op, holder := input.(NameOp), state.(string)
			switch {
			case op.Look:
			case op.Release && holder == op.Owner:
				holder = ""
			case !op.Release && holder == "":
				holder = op.Owner
			}
			return holder, holder
		},
	}
}

// Adjust is an operation on a balance: By is added to Account, unless that would take it below Floor.
type Adjust struct {
	Account   string
	By, Floor int64
}

// Balances is the model of single balances, in minor units. The output is the balance afterwards, an int64; of a
// refused adjustment it is the unchanged balance.
func Balances() Model {
	return Model{
		Key:  func(input any) string { return input.(Adjust).Account },
		Init: int64(0),
		Step: func(state, input any) (next, output any) {
			balance, op := state.(int64), input.(Adjust)
			if balance+op.By >= op.Floor {
				balance += op.By
			}
			return balance, balance
		},
	}
}
