package engine

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// tokenWindow is how long a request token is remembered after its transaction completed.
const tokenWindow = 10 * time.Minute

// token identifies a request: what the client called it, and a digest of what it asks for.
type token struct {
	name   string
	digest [sha256.Size]byte
}

// tokenRecord is how the first request with a token ended.
type tokenRecord struct {
	digest [sha256.Size]byte
	// completes is when the first request's answer leaves, expires when its token is forgotten.
	completes time.Time
	expires   time.Time
	replay    *bills
	canceled  *failure
}

// tokens remembers the requests of the window.
type tokens struct {
	known map[string]tokenRecord
	// order holds the names as remembered, oldest first, so that forgetting costs no search.
	order []string
}

// token is the zero token if the request has none or the engine ignores them.
func (e *Engine) token(in *transactWriteInput) token {
	if in.ClientRequestToken == nil || e.config.Tokens == IgnoreTokens {
		return token{}
	}
	// The decoded request is a canonical form: members in a fixed order, maps and attributes sorted, numbers normalised.
	// It consists of strings and items, which always have a JSON form.
	canonical, _ := json.Marshal(in.TransactItems)
	return token{name: *in.ClientRequestToken, digest: sha256.Sum256(canonical)}
}

// find returns the record of a token that is still remembered.
func (ts *tokens) find(t token, now time.Time) (tokenRecord, bool) {
	record, ok := ts.known[t.name]
	return record, ok && now.Before(record.expires)
}

// remember keeps how a request ended, and forgets those whose window is over.
func (ts *tokens) remember(t token, record tokenRecord, now time.Time) {
	if t.name == "" {
		return
	}
	for len(ts.order) > 0 && !now.Before(ts.known[ts.order[0]].expires) {
		delete(ts.known, ts.order[0])
		ts.order = ts.order[1:]
	}
	record.digest = t.digest
	record.expires = record.completes.Add(tokenWindow)
	ts.known[t.name] = record
	ts.order = append(ts.order, t.name)
}

// repeat answers a request whose token is known.
func (e *Engine) repeat(now time.Time, in *transactWriteInput, t token, known tokenRecord) (*writer, *failure) {
	switch {
	case t.digest != known.digest || e.config.Tokens == MismatchOnRepeat:
		return nil, &failure{exception: idempotentMismatch, message: msgTokenMismatch}
	case now.Before(known.completes):
		return nil, &failure{exception: transactionInProgress, message: msgInProgress}
	case known.canceled != nil:
		return nil, known.canceled
	default:
		return in.answer(known.replay, nil), nil
	}
}
