package engine

import "time"

// Service is how long requests take. The zero value is no time at all, so that no two requests ever meet.
//
// A request takes effect when it arrives, and its answer leaves when its time is over. In between its items are busy.
type Service struct {
	// Transaction, Write and Read are the times of a transaction (of either kind), of a single or batch write, and of a
	// single read, batch read or page.
	Transaction, Write, Read time.Duration
	// Linger is how much longer than its answer takes a transaction keeps its items busy. The service does not say.
	Linger time.Duration
	// BatchConflict is what BatchWriteItem does with an item that a transaction keeps busy. The service does not say.
	BatchConflict BatchConflict
}

// BatchConflict says what BatchWriteItem does with an item that a transaction keeps busy.
type BatchConflict int

const (
	// BatchUnprocessed returns it as unprocessed.
	BatchUnprocessed BatchConflict = iota
	// BatchRefused refuses the whole batch before anything is written.
	BatchRefused
)

// of is the time that an operation takes. The control plane takes none.
func (s *Service) of(operation string) time.Duration {
	switch operation {
	case "TransactWriteItems", "TransactGetItems":
		return s.Transaction
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
		return s.Write
	case "GetItem", "BatchGetItem", "Query", "Scan":
		return s.Read
	}
	return 0
}

// busy knows which items requests that still run have written.
type busy struct {
	items map[itemID]occupied
	// order lists the items as they were occupied, so that forgetting costs no search.
	order []itemID
}

type itemID struct {
	table *table
	key   string
}

// occupied tells until when an item is busy.
type occupied struct {
	transaction time.Time // with a transaction that writes or checks it
	write       time.Time // with any write, a transaction's too
}

func (o occupied) over(now time.Time) bool { return !o.transaction.After(now) && !o.write.After(now) }

// with returns whether a transaction, or any write, is running on an item.
func (b *busy) with(now time.Time, t *table, key string) (transaction, write bool) {
	o := b.items[itemID{t, key}]
	return o.transaction.After(now), o.write.After(now)
}

// occupy makes the item of an action busy for a time.
func (b *busy) occupy(now time.Time, a *action, transaction, write time.Duration) {
	if transaction <= 0 && write <= 0 {
		return
	}
	for len(b.order) > 0 && b.items[b.order[0]].over(now) {
		delete(b.items, b.order[0])
		b.order = b.order[1:]
	}
	id := itemID{a.table, a.key}
	o, known := b.items[id]
	if until := now.Add(transaction); transaction > 0 && until.After(o.transaction) {
		o.transaction = until
	}
	if until := now.Add(max(transaction, write)); until.After(o.write) {
		o.write = until
	}
	b.items[id] = o
	if !known {
		b.order = append(b.order, id)
	}
}

// conflict is what a write gets that meets a running transaction.
func conflict() *failure {
	return &failure{exception: transactionConflict, message: msgTransactionConflict}
}

// free refuses a write to an item that a running transaction keeps busy.
func (e *Engine) free(now time.Time, a *action) *failure {
	if inTransaction, _ := e.busy.with(now, a.table, a.key); inTransaction {
		return conflict()
	}
	return nil
}
