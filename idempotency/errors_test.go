package idempotency_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/txn"
)

// TestErrorsKeepKindCodeAndFactsThroughWrapping also holds the messages: they name the request and never its content.
func TestErrorsKeepKindCodeAndFactsThroughWrapping(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, c := range []struct {
		err     error
		kind    error
		code    fault.Code
		message string
		settles bool
	}{
		{&idempotency.InvalidError{Field: "Request.Key", Reason: "is missing", Cause: cause}, idempotency.ErrInvalid, fault.IdempotencyInvalid,
			"idempotency: Request.Key is missing", false},
		{&idempotency.CommandError{Field: "body", Offset: 7, Reason: idempotency.ReasonDuplicate}, idempotency.ErrCommand, fault.IdempotencyCommand,
			`idempotency: command field "body": JSON at byte 7 is a duplicate`, false},
		{&idempotency.CommandError{Offset: 0, Reason: idempotency.ReasonSyntax}, idempotency.ErrCommand, fault.IdempotencyCommand,
			"idempotency: command: JSON at byte 0 is not well formed", false},
		{&idempotency.TooLargeError{Tenant: "t", Key: "k", Bytes: 1025, BytesMax: 1024}, idempotency.ErrTooLarge, fault.IdempotencyTooLarge,
			`idempotency: record of request "k" of tenant "t" would have 1025 bytes, at most 1024 are allowed`, false},
		{&idempotency.ReplayedError{Tenant: "t", Key: "k", CreatedAt: noon, Result: accepted("secret")}, idempotency.ErrReplayed, fault.IdempotencyReplayed,
			`idempotency: request "k" of tenant "t" was completed before, at 2026-11-29T12:00:00Z`, true},
		{&idempotency.MismatchError{Tenant: "t", Key: "k", Operation: "a", StoredOperation: "a", CreatedAt: noon}, idempotency.ErrMismatch, fault.IdempotencyMismatch,
			`idempotency: request "k" of tenant "t" was used for another command of "a" at 2026-11-29T12:00:00Z`, true},
		{&idempotency.MismatchError{Tenant: "t", Key: "k", Operation: "a", StoredOperation: "b", CreatedAt: noon}, idempotency.ErrMismatch, fault.IdempotencyMismatch,
			`idempotency: request "k" of tenant "t" was used for operation "b", not "a", at 2026-11-29T12:00:00Z`, true},
		{&idempotency.InProgressError{Tenant: "t", Key: "k", Owner: "o", Attempt: 2, LeaseUntil: noon, RetryAfter: time.Second}, idempotency.ErrInProgress, fault.IdempotencyInProgress,
			`idempotency: request "k" of tenant "t" is in progress: attempt 2 by "o" has it until 2026-11-29T12:00:00Z, 1s from now`, true},
		{&idempotency.InProgressError{Tenant: "t", Key: "k", Attempt: 1, LeaseUntil: noon, RetryAfter: time.Second}, idempotency.ErrInProgress, fault.IdempotencyInProgress,
			`idempotency: request "k" of tenant "t" is in progress: attempt 1 by (no owner set) has it until 2026-11-29T12:00:00Z, 1s from now`, true},
		{&idempotency.RepairRequiredError{Tenant: "t", Key: "k", Since: noon}, idempotency.ErrRepairRequired, fault.IdempotencyRepair,
			`idempotency: request "k" of tenant "t" waits for repair since 2026-11-29T12:00:00Z`, true},
		{&idempotency.VersionError{Tenant: "t", Key: "k", Attribute: "v", Found: "2"}, idempotency.ErrVersion, fault.IdempotencyVersion,
			`idempotency: record of request "k" of tenant "t" has v "2", which a newer writer must have written`, true},
		{&idempotency.RecordError{Tenant: "t", Key: "k", Attribute: "digest", Reason: "does not match the result"}, idempotency.ErrRecord, fault.IdempotencyRecord,
			`idempotency: record of request "k" of tenant "t": digest does not match the result`, true},
		{&idempotency.NotFoundError{Tenant: "t", Key: "k"}, idempotency.ErrNotFound, fault.IdempotencyNotFound,
			`idempotency: no record of request "k" of tenant "t"`, false},
	} {
		wrapped := fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", c.err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, c.kind) || !errors.As(wrapped, &coded) || coded.Code() != c.code.ID {
			t.Errorf("%T: kind or code is lost: %v", c.err, wrapped)
		}
		if want := c.code.Text("%s", c.message); c.err.Error() != want {
			t.Errorf("%T says %q, want %q", c.err, c.err.Error(), want)
		}
		if strings.Contains(c.err.Error(), "secret") {
			t.Errorf("%T gives content away", c.err)
		}
		var settler txn.Settler
		if errors.As(wrapped, &settler) != c.settles || c.settles && !settler.SettlesCommit() {
			t.Errorf("%T settles the Commit: %v, want %v", c.err, settler != nil, c.settles)
		}
	}
	if err := error(&idempotency.InvalidError{Cause: cause}); !errors.Is(err, cause) {
		t.Error("the cause of an InvalidError is lost")
	}
	if _, ok := idempotency.Replayed(idempotency.ErrReplayed); ok {
		t.Error("the bare kind has no result to replay")
	}
}
