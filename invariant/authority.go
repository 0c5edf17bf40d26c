package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// AuthorityVerb is what an [AuthorityOp] does.
type AuthorityVerb string

// What is done to one balance of a ledger. A transaction of several balances is one operation on each of them.
const (
	AuthorityPost    AuthorityVerb = "post"    // By is posted under ID
	AuthorityHold    AuthorityVerb = "hold"    // By is reserved under Hold
	AuthorityCapture AuthorityVerb = "capture" // By is taken out of Hold and posted under ID, the last of it if Final
	AuthorityRelease AuthorityVerb = "release" // Hold gives back what is left, because it is released or expires
	AuthorityClose   AuthorityVerb = "close"   // every month through Month takes no postings any more
	AuthorityFreeze  AuthorityVerb = "freeze"  // nothing is taken but what gives back
	AuthorityThaw    AuthorityVerb = "thaw"
	AuthorityLook    AuthorityVerb = "look" // the balance is read
)

// The outputs of an [AuthorityOp], besides that of a refusal for funds and that of a look, see [Insufficient] and [Standing].
const (
	AuthorityDone    = "done"    // by this operation, or before under the same identifier
	AuthorityEnded   = "ended"   // the hold cannot be captured any more
	AuthorityExceeds = "exceeds" // less is left of the hold
	AuthorityFrozen  = "frozen"
	AuthorityClosed  = "period closed"
)

// Insufficient is the output of an operation for which less was available than it takes.
func Insufficient(available int64) string {
	return "insufficient: " + strconv.FormatInt(available, 10) + " available"
}

// Standing is the output of a look.
func Standing(posted, reserved int64) string {
	return fmt.Sprintf("%d posted, %d reserved", posted, reserved)
}

// AuthorityOp is an operation on one balance of a ledger, in minor units and in the account's own view: positive is what
// it gets.
type AuthorityOp struct {
	// Account names the balance.
	Account string
	Do      AuthorityVerb
	// ID is the transaction, Hold the reservation.
	ID, Hold string
	// By is the amount: of a posting with its sign, of a hold or a capture above zero.
	By    int64
	Final bool
	// Month is that of the posting, or the last one to close: "2026-11".
	Month string
	// Opening is what the account had before the history began. Floor is its minimum, unless NoFloor. They are the same in
	// all operations on it.
	Opening, Floor int64
	NoFloor        bool
}

// Authority is the model of single balances of a ledger, with reservations, closed periods and freezing. An operation has
// an identity and happens once, however often it is attempted; that a hold has ended is all that a release wants. Where
// several rules are broken, the operation says the first one in the order of the outputs above.
// Inputs are [AuthorityOp]; outputs are strings.
func Authority() Model {
	return Model{
		Key:  func(input any) string { return input.(AuthorityOp).Account },
		Init: standing{},
		Step: func(state, input any) (next, output any) { return state.(standing).step(input.(AuthorityOp)) },
	}
}

// standing is one balance. Its sets are text, so that standings can be compared.
type standing struct {
	moved, reserved int64  // since the beginning
	posts           string // " id id "
	holds           string // " id=left id= ", without a number for one that ended
	closed          string
	frozen          bool
}

func (s standing) has(id string) bool { return strings.Contains(s.posts, " "+id+" ") }

func (s standing) with(id string) standing {
	all := append(strings.Fields(s.posts), id)
	slices.Sort(all)
	s.posts = " " + strings.Join(all, " ") + " "
	return s
}

// left returns what a hold has left. It is not open if it has ended, and not known if it was never made.
func (s standing) left(id string) (left int64, open, known bool) {
	_, rest, known := strings.Cut(s.holds, " "+id+"=")
	text, _, _ := strings.Cut(rest, " ")
	left, err := strconv.ParseInt(text, 10, 64)
	return left, known && err == nil, known
}

func (s standing) hold(id string, left int64, open bool) standing {
	all := map[string]string{}
	for _, one := range strings.Fields(s.holds) {
		name, rest, _ := strings.Cut(one, "=")
		all[name] = rest
	}
	all[id] = ""
	if open {
		all[id] = strconv.FormatInt(left, 10)
	}
	text := " "
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += name + "=" + all[name] + " "
	}
	s.holds = text
	return s
}

func (s standing) step(op AuthorityOp) (standing, string) {
	switch op.Do {
	case AuthorityLook:
		return s, Standing(op.Opening+s.moved, s.reserved)
	case AuthorityFreeze, AuthorityThaw:
		s.frozen = op.Do == AuthorityFreeze
		return s, AuthorityDone
	case AuthorityClose:
		s.closed = max(s.closed, op.Month)
		return s, AuthorityDone
	case AuthorityRelease:
		if left, open, _ := s.left(op.Hold); open {
			s.reserved -= left
			s = s.hold(op.Hold, 0, false)
		}
		return s, AuthorityDone
	case AuthorityHold:
		return s.reserve(op)
	case AuthorityCapture:
		return s.capture(op)
	default:
		return s.post(op)
	}
}

// takes says why the balance does not take a posting of a month, "" if it does.
func (s standing) takes(month string) string {
	switch {
	case s.frozen:
		return AuthorityFrozen
	case month != "" && s.closed >= month:
		return AuthorityClosed
	}
	return ""
}

// short says how much is available if that is less than needed.
func (s standing) short(op AuthorityOp, need int64) string {
	available := op.Opening + s.moved - s.reserved - op.Floor
	if need > 0 && need > available && !op.NoFloor {
		return Insufficient(available)
	}
	return ""
}

func (s standing) post(op AuthorityOp) (standing, string) {
	if s.has(op.ID) {
		return s, AuthorityDone
	}
	if why := s.takes(op.Month); why != "" {
		return s, why
	}
	if why := s.short(op, -op.By); why != "" {
		return s, why
	}
	s.moved += op.By
	return s.with(op.ID), AuthorityDone
}

func (s standing) reserve(op AuthorityOp) (standing, string) {
	if _, _, known := s.left(op.Hold); known {
		return s, AuthorityDone
	}
	if why := s.takes(""); why != "" {
		return s, why
	}
	if why := s.short(op, op.By); why != "" {
		return s, why
	}
	s.reserved += op.By
	return s.hold(op.Hold, op.By, true), AuthorityDone
}

func (s standing) capture(op AuthorityOp) (standing, string) {
	left, open, _ := s.left(op.Hold)
	switch {
	case s.has(op.ID):
		return s, AuthorityDone
	case !open:
		return s, AuthorityEnded
	case op.By > left:
		return s, AuthorityExceeds
	}
	if why := s.takes(op.Month); why != "" {
		return s, why
	}
	s.moved -= op.By
	gone, ends := op.By, op.Final || op.By == left
	if ends {
		gone = left
	}
	s.reserved -= gone
	return s.with(op.ID).hold(op.Hold, left-op.By, !ends), AuthorityDone
}
