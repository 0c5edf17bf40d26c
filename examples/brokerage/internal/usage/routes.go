package usage

import "strings"

// Route is a way to the data.
type Route struct {
	// ID names it, for example "IDX01". Pattern is the access pattern that it serves, and Reads the one of its reads if that is
	// another.
	ID, Pattern, Reads string
	// Index is the index, "" for the table itself.
	Index string
	// PK and SK are the keys: words as they are, and {} for a component.
	PK, SK string
}

// Brokerage are the routes of the case, and those that the library adds for its own records.
func Brokerage() []Route {
	return []Route{
		{ID: "IDX01", Pattern: "AP01", PK: "TEN#{}#ORDER#{}", SK: "META"},
		{ID: "IDX02", Pattern: "AP02", Index: "GSI1", PK: "TEN#{}#ACCT#{}", SK: "ORD#{}#{}"},
		{ID: "IDX03", Pattern: "AP03", Index: "GSI2", PK: "TEN#{}#ACCT#{}#STATUS#{}", SK: "ORD#{}#{}"},
		{ID: "IDX04", Pattern: "AP04", PK: "TEN#{}#ORDER#{}", SK: "TRADE#{}#{}"},
		{ID: "IDX05", Pattern: "AP05", Index: "GSI1", PK: "TEN#{}#ACCT#{}", SK: "TRADE#{}#{}"},
		{ID: "IDX06", Pattern: "AP06", Index: "GSI2", PK: "TEN#{}#SYM#{}", SK: "TRADE#{}#{}"},
		{ID: "IDX07", Pattern: "AP07", PK: "TEN#{}#ACCT#{}", SK: "POS#{}"},
		{ID: "IDX07", Pattern: "AP07", PK: "TEN#{}#ACCT#{}#NS#{}", SK: "POS#{}"},
		{ID: "IDX08", Pattern: "AP08", PK: "TEN#{}#REQ#{}", SK: "REQUEST"},
		{ID: "IDX09", Pattern: "AP09", PK: "CONSUMER#{}#V#{}#SHARD#{}", SK: "EVENT#{}"},
		{ID: "IDX10", Pattern: "AP10", Reads: "AP11", PK: "TEN#{}#ACCT#{}#MONTH#{}#BKT#{}", SK: "POST#{}#{}#{}"},
		{ID: "IDX11", Pattern: "AP12", PK: "TEN#{}#ACCT#{}", SK: "AUTH#{}#{}"},
		{ID: "IDX12", Pattern: "AP13", PK: "PROJ#{}#V#{}#SHARD#{}", SK: "SOURCE#{}"},
		{ID: "IDX13", Pattern: "AP14", PK: "TEN#{}#RECON#{}", SK: "BATCH#{}"},
		{ID: "IDX14", Pattern: "AP15", PK: "TEN#{}#RECON#{}", SK: "BREAK#{}"},
		{ID: "IDX15", Pattern: "AP15", Index: "GSI1", PK: "TEN#{}#BREAK#{}#{}", SK: "DUE#{}#{}#{}"},
		{ID: "IDX16", Pattern: "AP16", PK: "OUTBOX#{}", SK: "EVENT"},
		{ID: "IDX17", Pattern: "AP16", Index: "GSI3", PK: "SERVICE#{}#READY#{}", SK: "DUE#{}#{}"},
		{ID: "IDX18", Pattern: "AP17", PK: "TEN#{}#CLIENTORDER#{}", SK: "UNIQUE"},
		{ID: "IDX19", Pattern: "AP18", Index: "GSI1", PK: "TEN#{}#REPAIR#{}", SK: "DUE#{}#{}"},

		{ID: "LED01", Pattern: "AP12", PK: "TEN#{}#ACCT#{}", SK: "ACCOUNT"},
		{ID: "LED02", Pattern: "AP10", Reads: "AP11", PK: "TEN#{}#TXN#{}", SK: "HEADER"},
		{ID: "LED03", Pattern: "AP10", Reads: "AP11", PK: "TEN#{}#TXN#{}", SK: "LINKS"},
		{ID: "LED04", Pattern: "AP12", PK: "TEN#{}#RESERVATION#{}", SK: "RESERVATION"},
		{ID: "LED05", Pattern: "AP12", Index: "DUE", PK: "TEN#{}#EXPIRY#{}", SK: "DUE#{}#{}"},
		{ID: "LED06", Pattern: "AP12", Index: "HELD", PK: "TEN#{}#ACCT#{}#RESERVED", SK: "DUE#{}#{}"},
		{ID: "LED07", Pattern: "AP11", PK: "TEN#{}#ACCT#{}", SK: "SEAL#{}#{}#{}"},
		{ID: "LED08", Pattern: "AP12", PK: "TEN#{}#ACCT#{}#STRIPE#{}", SK: "AUTH#{}#{}"},
		{ID: "LED09", Pattern: "AP10", Reads: "AP11", PK: "TEN#{}#ACCT#{}#STRIPE#{}#LANE#{}#MONTH#{}#BKT#{}", SK: "POST#{}#{}#{}"},
		{ID: "LED10", Pattern: "AP11", PK: "TEN#{}#ACCT#{}#STRIPE#{}", SK: "SEAL#{}#{}#{}"},
		{ID: "OUT01", Pattern: "AP16", Index: "GSI3", PK: "SERVICE#{}#PARKED#{}", SK: "AT#{}#{}"},
		{ID: "OUT02", Pattern: "AP16", PK: "SERVICE#{}#CLAIMS", SK: "LEASE#{}#{}"},
		{ID: "OUT03", Pattern: "AP16", PK: "OUTBOX#{}", SK: "AUDIT#{}"},
		{ID: "OUT04", Pattern: "AP16", PK: "SERVICE#{}#SWITCH", SK: "RELAYS"},
		{ID: "REQ01", Pattern: "AP18", Index: "GSI1", PK: "TEN#{}#ESCALATED#{}", SK: "AT#{}#{}"},
		{ID: "REQ02", Pattern: "AP18", PK: "TEN#{}#REQ#{}", SK: "AUDIT#{}"},
		{ID: "PRJ01", Pattern: "AP13", PK: "PROJ#{}#V#{}#SHARD#{}", SK: "GAP#{}"},
		{ID: "PRJ02", Pattern: "AP13", PK: "PROJ#{}#V#{}#SHARD#{}", SK: "PARKED#{}#{}"},
		{ID: "PRJ03", Pattern: "AP13", PK: "PROJ#{}#V#{}#SHARD#{}", SK: "FORCED#{}#{}"},
		{ID: "PRJ04", Pattern: "AP13", PK: "PROJ#{}", SK: "ALIAS"},
		{ID: "PRJ05", Pattern: "AP13", PK: "PROJ#{}", SK: "BUILD#{}"},
		{ID: "PRJ06", Pattern: "AP13", PK: "PROJ#{}", SK: "RUNBOOK#{}"},

		{ID: "ROUTE", Pattern: "AP09", PK: "TEN#{}#ORDER#{}", SK: "ROUTE"},           // what the receipt of an accepted order protects
		{ID: "REFUSED", Pattern: "AP04", PK: "TEN#{}#ORDER#{}", SK: "REFUSED#{}#{}"}, // fills that are more than the order
	}
}

// takes says whether a key is of the route. A query may give only the beginning of the sort key.
func (r Route) takes(index, pk, sk string, query bool) bool {
	return r.Index == index && fits(r.PK, pk, false) && fits(r.SK, sk, query)
}

// fits compares a key with its form, segment by segment.
func fits(form, key string, beginning bool) bool {
	forms, segments := strings.Split(form, "#"), strings.Split(key, "#")
	if beginning && key == "" {
		return true
	}
	if len(segments) > len(forms) || len(segments) < len(forms) && !beginning {
		return false
	}
	for i, segment := range segments {
		last := beginning && i == len(segments)-1
		if forms[i] != "{}" && forms[i] != segment && !(last && strings.HasPrefix(forms[i], segment)) {
			return false
		}
	}
	return true
}
