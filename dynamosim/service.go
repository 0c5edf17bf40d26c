package dynamosim

import (
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// ServiceTime is how long requests take. The zero value is no time at all: then no two requests ever meet, however many
// goroutines send them.
//
// A request takes effect when it arrives, and is answered when its time is over. In between a transaction keeps its items
// busy, those it only checks too:
//
//	arriving                      meets                           gets
//	PutItem, UpdateItem, Delete   TransactWriteItems              TransactionConflictException
//	BatchWriteItem, a member      TransactWriteItems              see BatchConflict
//	TransactWriteItems            TransactWriteItems              cancelled, TransactionConflict for each item they share
//	TransactGetItems              any write                       cancelled, the same
//	TransactWriteItems            itself, by its request token    TransactionInProgressException
//	GetItem, BatchGet, Query      anything                        its answer
//
// A cancelled transaction keeps nothing busy. Time passes by Options.Sleep, without a lock, so that a testing/synctest
// bubble drives it: as long as no two requests arrive at one moment, such a history is always the same. Behind a [Gate]
// nothing meets, because its driver waits for every answer; there, conflicts are a [Fate].
type ServiceTime struct {
	// Transaction is for TransactWriteItems and TransactGetItems, Write for the other writes, Read for the other reads.
	Transaction, Write, Read time.Duration
	// Linger is how much longer than its answer takes a transaction keeps its items busy. DynamoDB does not document
	// it, so test with some and with none.
	Linger time.Duration
	// BatchConflict is what BatchWriteItem does with a busy item. DynamoDB does not document it either.
	BatchConflict BatchConflict
}

// BatchConflict is what BatchWriteItem does with an item that a transaction keeps busy.
type BatchConflict int

const (
	// BatchUnprocessed writes the others and returns the busy ones as unprocessed.
	BatchUnprocessed BatchConflict = iota
	// BatchRefused answers with a TransactionConflictException and writes nothing.
	BatchRefused
)

func (s ServiceTime) engine() engine.Service {
	return engine.Service{
		Transaction: s.Transaction, Write: s.Write, Read: s.Read,
		Linger: s.Linger, BatchConflict: engine.BatchConflict(s.BatchConflict),
	}
}
