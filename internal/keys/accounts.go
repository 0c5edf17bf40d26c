package keys

import "time"

var (
	orderTradeRoute        = newRoute("OrderTrade", "TEN#{tenant}#ORDER#{order}", "TRADE#{at}#{trade}")
	accountTradeRoute      = newRoute("AccountTrade", "TEN#{tenant}#ACCT#{account}", "TRADE#{at}#{trade}")
	symbolTradeRoute       = newRoute("SymbolTrade", "TEN#{tenant}#SYM#{symbol}", "TRADE#{at}#{trade}")
	positionRoute          = newRoute("Position", "TEN#{tenant}#ACCT#{account}", "POS#{symbol}")
	postingRoute           = newRoute("Posting", "TEN#{tenant}#ACCT#{account}#MONTH#{month}#BKT#{bucket}", "POST#{at}#{transaction}#{line}")
	cashAuthorityRoute     = newRoute("CashAuthority", "TEN#{tenant}#ACCT#{account}", "AUTH#CASH#{currency}")
	securityAuthorityRoute = newRoute("SecurityAuthority", "TEN#{tenant}#ACCT#{account}", "AUTH#SEC#{symbol}")
)

// OrderTrade is the key of a fill in its order's item collection (IDX04, AP04).
func OrderTrade(tenant, order string, at time.Time, trade string) (Key, error) {
	return orderTradeRoute.key(text(tenant), text(order), instant(at), text(trade))
}

// ParseOrderTrade reads a key of [OrderTrade].
func ParseOrderTrade(k Key) (tenant, order string, at time.Time, trade string, err error) {
	d := orderTradeRoute.read(k)
	tenant, order, at, trade = d.text(), d.text(), d.instant(), d.text()
	return tenant, order, at, trade, d.err
}

// OrderPartition is the partition of an order, and of its fills.
func OrderPartition(tenant, order string) (string, error) {
	return orderTradeRoute.partition(text(tenant), text(order))
}

// AccountTrade is the index key that lists an account's trades by time (IDX05, AP05).
func AccountTrade(tenant, account string, at time.Time, trade string) (Key, error) {
	return accountTradeRoute.key(text(tenant), text(account), instant(at), text(trade))
}

// ParseAccountTrade reads a key of [AccountTrade].
func ParseAccountTrade(k Key) (tenant, account string, at time.Time, trade string, err error) {
	d := accountTradeRoute.read(k)
	tenant, account, at, trade = d.text(), d.text(), d.instant(), d.text()
	return tenant, account, at, trade, d.err
}

// SymbolTrade is the index key that lists a symbol's trades by time (IDX06, AP06).
func SymbolTrade(tenant, symbol string, at time.Time, trade string) (Key, error) {
	return symbolTradeRoute.key(text(tenant), text(symbol), instant(at), text(trade))
}

// ParseSymbolTrade reads a key of [SymbolTrade].
func ParseSymbolTrade(k Key) (tenant, symbol string, at time.Time, trade string, err error) {
	d := symbolTradeRoute.read(k)
	tenant, symbol, at, trade = d.text(), d.text(), d.instant(), d.text()
	return tenant, symbol, at, trade, d.err
}

// SymbolPartition is the partition of [SymbolTrade].
func SymbolPartition(tenant, symbol string) (string, error) {
	return symbolTradeRoute.partition(text(tenant), text(symbol))
}

// Position is the key of one line of an account's portfolio view (IDX07, AP07).
func Position(tenant, account, symbol string) (Key, error) {
	return positionRoute.key(text(tenant), text(account), text(symbol))
}

// ParsePosition reads a key of [Position].
func ParsePosition(k Key) (tenant, account, symbol string, err error) {
	d := positionRoute.read(k)
	tenant, account, symbol = d.text(), d.text(), d.text()
	return tenant, account, symbol, d.err
}

// Posting is the key of a ledger posting in its month and bucket (IDX10, AP10, AP11). The month is the caller's
// statement of the period, for example "2026-11"; it is not derived from At.
type Posting struct {
	Tenant, Account, Month string
	Bucket                 int
	At                     time.Time
	Transaction            string
	Line                   int
}

// Key writes the key.
func (p Posting) Key() (Key, error) {
	return postingRoute.key(text(p.Tenant), text(p.Account), calendar(p.Month, monthLayout), number(p.Bucket, bucketDigits),
		instant(p.At), text(p.Transaction), number(p.Line, lineDigits))
}

// ParsePosting reads a key of [Posting].
func ParsePosting(k Key) (Posting, error) {
	d := postingRoute.read(k)
	p := Posting{Tenant: d.text(), Account: d.text(), Month: d.calendar(monthLayout), Bucket: d.number(bucketDigits),
		At: d.instant(), Transaction: d.text(), Line: d.number(lineDigits)}
	return p, d.err
}

// PostingPartition is the partition of [Posting].
func PostingPartition(tenant, account, month string, bucket int) (string, error) {
	return postingRoute.partition(text(tenant), text(account), calendar(month, monthLayout), number(bucket, bucketDigits))
}

// CashAuthority is the key of an account's balance in a currency (IDX11, AP12).
func CashAuthority(tenant, account, currency string) (Key, error) {
	return cashAuthorityRoute.key(text(tenant), text(account), text(currency))
}

// ParseCashAuthority reads a key of [CashAuthority].
func ParseCashAuthority(k Key) (tenant, account, currency string, err error) {
	d := cashAuthorityRoute.read(k)
	tenant, account, currency = d.text(), d.text(), d.text()
	return tenant, account, currency, d.err
}

// SecurityAuthority is the key of an account's holding of a security (IDX11, AP12).
func SecurityAuthority(tenant, account, symbol string) (Key, error) {
	return securityAuthorityRoute.key(text(tenant), text(account), text(symbol))
}

// ParseSecurityAuthority reads a key of [SecurityAuthority].
func ParseSecurityAuthority(k Key) (tenant, account, symbol string, err error) {
	d := securityAuthorityRoute.read(k)
	tenant, account, symbol = d.text(), d.text(), d.text()
	return tenant, account, symbol, d.err
}
