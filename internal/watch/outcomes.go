package watch

import (
	"context"
	"errors"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/observe"
)

// byOutcome says how an operation ended that returns an error of a code. What is in no list has failed.
var byOutcome = map[observe.Outcome][]fault.Code{
	observe.Replayed: {fault.IdempotencyReplayed, fault.InboxDuplicate, fault.LedgerDuplicate, fault.OutboxDuplicate},
	observe.NotFound: {fault.IdempotencyNotFound, fault.SentinelNotFound, fault.OutboxNotFound, fault.InboxNotFound,
		fault.LedgerNotFound, fault.ReconcileNotFound},
	observe.Stale: {fault.IdempotencyLeaseLost, fault.IdempotencyInProgress, fault.OutboxStale, fault.LedgerVersion, fault.LedgerRolled,
		fault.ProjectionState, fault.ReconcileState, fault.ExportRun},
	observe.Rejected: {fault.TxnCanceled, fault.IdempotencyMismatch, fault.IdempotencyRepair, fault.SentinelTaken, fault.SentinelNotOwned,
		fault.InboxMismatch, fault.LedgerRefused, fault.LedgerClosed, fault.LedgerFrozen, fault.LedgerScale, fault.LedgerInsufficient,
		fault.LedgerPeriodClosed, fault.LedgerCap, fault.LedgerLimit, fault.LedgerSide, fault.LedgerEnded, fault.LedgerExceeds,
		fault.LedgerNotEmpty, fault.LedgerUnproved, fault.ProjectionMismatch, fault.ProjectionView, fault.ProjectionUnproved,
		fault.ProjectionOverflow, fault.ReconcileControl, fault.ReconcileExists, fault.ShardmapStep, fault.ShardmapRetired},
	observe.Abandoned: {fault.TxnNotSent},
	observe.Busy:      {fault.TxnContention, fault.ProjectionBusy, fault.LedgerQueueFull, fault.LedgerMoved},
	observe.Ambiguous: {fault.TxnAmbiguous, fault.IdempotencyWrite, fault.OutboxWrite, fault.ProjectionWrite, fault.ReconcileWrite,
		fault.ShardmapWrite, fault.LedgerAbandoned, fault.ExportCheckpoint},
	observe.Invalid: {fault.KeysInvalid, fault.ShardmapKey, fault.ShardmapMap, fault.ShardmapInvalid, fault.TxnInvalid,
		fault.IdempotencyInvalid, fault.IdempotencyCommand, fault.IdempotencyTooLarge, fault.SentinelInvalid, fault.OutboxInvalid,
		fault.InboxInvalid, fault.LedgerInvalid, fault.LedgerUnbalanced, fault.LedgerCursor, fault.LedgerBatcherClosed,
		fault.ProjectionInvalid, fault.ReconcileInvalid, fault.FanoutInvalid, fault.FanoutCursor, fault.ExportInvalid},
}

// outcomes is byOutcome by code.
var outcomes = func() map[string]observe.Outcome {
	all := map[string]observe.Outcome{}
	for outcome, codes := range byOutcome {
		for _, code := range codes {
			all[code.ID] = outcome
		}
	}
	return all
}()

// outcomeOf reads an error by the first code in it, which is that of the most telling one: a cancelled transaction unwraps
// to its reasons first.
func outcomeOf(err error) observe.Outcome {
	var duplicate interface{ Mismatch() bool } // a duplicate of something else is no replay
	if errors.As(err, &duplicate) && duplicate.Mismatch() {
		return observe.Rejected
	}
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		if outcome, ok := outcomes[coded.Code()]; ok {
			return outcome
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return observe.Abandoned
	}
	return observe.Failed
}
