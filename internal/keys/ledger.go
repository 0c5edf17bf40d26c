package keys

import "time"

// The ledger's routes beside IDX10 and IDX11. A stripe above 0 of an account, and a lane of one, have partitions of
// their own; stripe 0 and lane 0 are IDX10 and IDX11 themselves.
var (
	accountRoute            = newRoute("Account", "TEN#{tenant}#ACCT#{account}", "ACCOUNT")
	transactionRoute        = newRoute("Transaction", "TEN#{tenant}#TXN#{transaction}", "HEADER")
	linksRoute              = newRoute("Links", "TEN#{tenant}#TXN#{transaction}", "LINKS")
	reservationRoute        = newRoute("Reservation", "TEN#{tenant}#RESERVATION#{reservation}", "RESERVATION")
	reservationDueRoute     = newRoute("ReservationDue", "TEN#{tenant}#EXPIRY#{shard}", "DUE#{due}#{reservation}")
	accountReservationRoute = newRoute("AccountReservation", "TEN#{tenant}#ACCT#{account}#RESERVED", "DUE#{due}#{reservation}")
	sealRoute               = newRoute("Seal", "TEN#{tenant}#ACCT#{account}", "SEAL#{class}#{asset}#{month}")
	stripeAuthorityRoute    = newRoute("StripeAuthority", "TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}", "AUTH#{class}#{asset}")
	stripeSealRoute         = newRoute("StripeSeal", "TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}", "SEAL#{class}#{asset}#{month}")
	stripePostingRoute      = newRoute("StripePosting",
		"TEN#{tenant}#ACCT#{account}#STRIPE#{stripe}#LANE#{lane}#MONTH#{month}#BKT#{bucket}", "POST#{at}#{transaction}#{line}")
)

// Account is the key of an account's own record (LED01).
func Account(tenant, account string) (Key, error) {
	return accountRoute.key(text(tenant), text(account))
}

// ParseAccount reads a key of [Account].
func ParseAccount(k Key) (tenant, account string, err error) {
	d := accountRoute.read(k)
	tenant, account = d.text(), d.text()
	return tenant, account, d.err
}

// Transaction is the key of a ledger transaction's header (LED02). It makes the identifier unique whatever month and
// bucket its postings are in.
func Transaction(tenant, transaction string) (Key, error) {
	return transactionRoute.key(text(tenant), text(transaction))
}

// ParseTransaction reads a key of [Transaction].
func ParseTransaction(k Key) (tenant, transaction string, err error) {
	d := transactionRoute.read(k)
	tenant, transaction = d.text(), d.text()
	return tenant, transaction, d.err
}

// Links is the key of what was reversed and corrected of a ledger transaction, beside its header (LED03).
func Links(tenant, transaction string) (Key, error) {
	return linksRoute.key(text(tenant), text(transaction))
}

// ParseLinks reads a key of [Links].
func ParseLinks(k Key) (tenant, transaction string, err error) {
	d := linksRoute.read(k)
	tenant, transaction = d.text(), d.text()
	return tenant, transaction, d.err
}

// Reservation is the key of a reservation of funds (LED04).
func Reservation(tenant, reservation string) (Key, error) {
	return reservationRoute.key(text(tenant), text(reservation))
}

// ParseReservation reads a key of [Reservation].
func ParseReservation(k Key) (tenant, reservation string, err error) {
	d := reservationRoute.read(k)
	tenant, reservation = d.text(), d.text()
	return tenant, reservation, d.err
}

// ReservationDue is the sparse index key that lists a tenant's open reservations by expiry (LED05).
func ReservationDue(tenant string, shard int, due time.Time, reservation string) (Key, error) {
	return reservationDueRoute.key(text(tenant), number(shard, shardDigits), instant(due), text(reservation))
}

// ParseReservationDue reads a key of [ReservationDue].
func ParseReservationDue(k Key) (tenant string, shard int, due time.Time, reservation string, err error) {
	d := reservationDueRoute.read(k)
	tenant, shard, due, reservation = d.text(), d.number(shardDigits), d.instant(), d.text()
	return tenant, shard, due, reservation, d.err
}

// ReservationDuePartition is the partition of [ReservationDue].
func ReservationDuePartition(tenant string, shard int) (string, error) {
	return reservationDueRoute.partition(text(tenant), number(shard, shardDigits))
}

// AccountReservation is the sparse index key that lists an account's open reservations by expiry (LED06).
func AccountReservation(tenant, account string, due time.Time, reservation string) (Key, error) {
	return accountReservationRoute.key(text(tenant), text(account), instant(due), text(reservation))
}

// ParseAccountReservation reads a key of [AccountReservation].
func ParseAccountReservation(k Key) (tenant, account string, due time.Time, reservation string, err error) {
	d := accountReservationRoute.read(k)
	tenant, account, due, reservation = d.text(), d.text(), d.instant(), d.text()
	return tenant, account, due, reservation, d.err
}

// AccountReservationPartition is the partition of [AccountReservation].
func AccountReservationPartition(tenant, account string) (string, error) {
	return accountReservationRoute.partition(text(tenant), text(account))
}

// Seal is the key of a closed month's control totals (LED07). Class is CASH or SEC, as in the key of the authority.
type Seal struct {
	Tenant, Account string
	Class, Asset    string
	Month           string
}

// Key writes the key.
func (s Seal) Key() (Key, error) {
	return sealRoute.key(text(s.Tenant), text(s.Account), word(s.Class), text(s.Asset), calendar(s.Month, monthLayout))
}

// ParseSeal reads a key of [Seal].
func ParseSeal(k Key) (Seal, error) {
	d := sealRoute.read(k)
	s := Seal{Tenant: d.text(), Account: d.text(), Class: d.word(), Asset: d.text(), Month: d.calendar(monthLayout)}
	return s, d.err
}

// StripeSeal is the key of [Seal] on one stripe (LED10). Stripe 0 has the key of [Seal].
type StripeSeal struct {
	Seal
	Stripe int
}

// Key writes the key.
func (s StripeSeal) Key() (Key, error) {
	return stripeSealRoute.key(text(s.Tenant), text(s.Account), number(s.Stripe, stripeDigits), word(s.Class), text(s.Asset),
		calendar(s.Month, monthLayout))
}

// ParseStripeSeal reads a key of [StripeSeal].
func ParseStripeSeal(k Key) (StripeSeal, error) {
	d := stripeSealRoute.read(k)
	var s StripeSeal
	s.Tenant, s.Account, s.Stripe = d.text(), d.text(), d.number(stripeDigits)
	s.Class, s.Asset, s.Month = d.word(), d.text(), d.calendar(monthLayout)
	return s, d.err
}

// StripeAuthority is the key of one stripe of an account's balance (LED08). Class is CASH or SEC. Stripe 0 has the key of
// [CashAuthority] or [SecurityAuthority].
func StripeAuthority(tenant, account string, stripe int, class, asset string) (Key, error) {
	return stripeAuthorityRoute.key(text(tenant), text(account), number(stripe, stripeDigits), word(class), text(asset))
}

// ParseStripeAuthority reads a key of [StripeAuthority].
func ParseStripeAuthority(k Key) (tenant, account string, stripe int, class, asset string, err error) {
	d := stripeAuthorityRoute.read(k)
	tenant, account, stripe, class, asset = d.text(), d.text(), d.number(stripeDigits), d.word(), d.text()
	return tenant, account, stripe, class, asset, d.err
}

// StripePartition is the partition of [StripeAuthority], and of the seals of that stripe.
func StripePartition(tenant, account string, stripe int) (string, error) {
	return stripeAuthorityRoute.partition(text(tenant), text(account), number(stripe, stripeDigits))
}

// StripePosting is the key of a ledger posting on a stripe or a lane (LED09). Stripe 0 and lane 0 together are [Posting].
type StripePosting struct {
	Posting
	Stripe, Lane int
}

// Key writes the key.
func (p StripePosting) Key() (Key, error) {
	return stripePostingRoute.key(text(p.Tenant), text(p.Account), number(p.Stripe, stripeDigits), number(p.Lane, stripeDigits),
		calendar(p.Month, monthLayout), number(p.Bucket, bucketDigits), instant(p.At), text(p.Transaction), number(p.Line, lineDigits))
}

// ParseStripePosting reads a key of [StripePosting].
func ParseStripePosting(k Key) (StripePosting, error) {
	d := stripePostingRoute.read(k)
	var p StripePosting
	p.Tenant, p.Account, p.Stripe, p.Lane = d.text(), d.text(), d.number(stripeDigits), d.number(stripeDigits)
	p.Month, p.Bucket = d.calendar(monthLayout), d.number(bucketDigits)
	p.At, p.Transaction, p.Line = d.instant(), d.text(), d.number(lineDigits)
	return p, d.err
}

// StripePostingPartition is the partition of [StripePosting].
func StripePostingPartition(tenant, account string, stripe, lane int, month string, bucket int) (string, error) {
	return stripePostingRoute.partition(text(tenant), text(account), number(stripe, stripeDigits), number(lane, stripeDigits),
		calendar(month, monthLayout), number(bucket, bucketDigits))
}
