package keys

import "time"

// The bounds of all postings of a partition (IDX10): every sort key of a posting is between them.
const (
	FirstPosting = "POST#"
	LastPosting  = "POST$" // $ is the byte after #
)

// PostingsFrom is a bound between postings (IDX10): every sort key with an effective time before at sorts before it, and
// every one at that time or later after it. No posting has it.
func PostingsFrom(at time.Time) (string, error) {
	text, err := Time(at)
	if err != nil {
		return "", err
	}
	return FirstPosting + text, nil
}

// PostingsThrough is the bound behind every posting at that effective time or earlier. No posting has it.
func PostingsThrough(at time.Time) (string, error) {
	from, err := PostingsFrom(at)
	if err != nil {
		return "", err
	}
	return from + "$", nil
}

// The bounds of what [Account] and the authorities of an account have in one partition (LED01, IDX11): the account's own
// record sorts first.
const (
	FirstAuthority = "ACCOUNT"
	LastAuthority  = "AUTH$"
)

// Authority says which balance a key of [CashAuthority], [SecurityAuthority] or [StripeAuthority] is of.
type Authority struct {
	Tenant, Account string
	Stripe          int
	Class, Asset    string
}

// ParseAuthority reads a key of any of the three.
func ParseAuthority(k Key) (a Authority, err error) {
	if a.Tenant, a.Account, a.Stripe, a.Class, a.Asset, err = ParseStripeAuthority(k); err == nil {
		return a, nil
	}
	a.Stripe = 0
	if a.Tenant, a.Account, a.Asset, err = ParseCashAuthority(k); err == nil {
		a.Class = "CASH"
		return a, nil
	}
	a.Tenant, a.Account, a.Asset, err = ParseSecurityAuthority(k)
	a.Class = "SEC"
	return a, err
}
