package house

import (
	"errors"
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/schema"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// errorCase is one exported error: the kind that errors.Is finds, and what its message must say: which key, which fact.
type errorCase struct {
	err  error
	kind error
	says []string
}

// payload is what no message may repeat.
const payload = "SECRET-PAYLOAD"

var (
	stored   = txn.Item{"iban": &types.AttributeValueMemberS{Value: payload}}
	errBelow = errors.New("from below")
)

func txnErrors() []errorCase {
	key := txn.ItemKey{Table: "Orders", PK: "order-7", SK: "META"}
	condition := &txn.ConditionError{Part: "AP01.create", Action: txn.ActionPut, Key: key, Old: stored}
	return []errorCase{
		{&txn.InvalidError{Parts: []string{"AP01.create"}, Rule: "is broken", Err: errBelow}, txn.ErrInvalid, []string{"AP01.create", "is broken"}},
		{condition, txn.ErrCanceled, []string{"Put", "order-7", "the item is there"}},
		{&txn.CanceledError{Reasons: []txn.Reason{{Part: "AP01.create", Code: "ConditionalCheckFailed", Err: condition}}, Err: errBelow}, txn.ErrCanceled,
			[]string{"AP01.create", "order-7"}},
		{&txn.AmbiguousError{Parts: []string{"AP01.create"}, Attempts: 3, Err: errBelow}, txn.ErrAmbiguous, []string{"AP01.create", "3 attempts"}},
		{&txn.ContentionError{Parts: []string{"AP01.create"}, Attempts: 3, Err: errBelow}, txn.ErrContention, []string{"AP01.create", "3 attempts"}},
		{&txn.RefusedError{Parts: []string{"AP01.create"}, Tables: []string{"Orders"}, Err: errBelow}, txn.ErrRefused, []string{"AP01.create", "Orders", "from below"}},
		{txn.ErrNotSent, txn.ErrNotSent, []string{"not sent"}},
	}
}

func idempotencyErrors() []errorCase {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return []errorCase{
		{&idempotency.InvalidError{Field: "Request.Key", Reason: "is missing"}, idempotency.ErrInvalid, []string{"Request.Key", "is missing"}},
		{&idempotency.CommandError{Field: "price", Offset: 12, Reason: idempotency.Reason("is broken")}, idempotency.ErrCommand, []string{"price", "is broken"}},
		{&idempotency.TooLargeError{Tenant: "acme", Key: "key-1", Bytes: 2000, BytesMax: 1024}, idempotency.ErrTooLarge, []string{"key-1", "2000", "1024"}},
		{&idempotency.ReplayedError{Tenant: "acme", Key: "key-1", Result: idempotency.Result{Body: []byte(payload)}}, idempotency.ErrReplayed, []string{"acme", "key-1"}},
		{&idempotency.MismatchError{Tenant: "acme", Key: "key-1", Operation: "order.cancel", StoredOperation: "order.accept"}, idempotency.ErrMismatch, []string{"acme", "key-1"}},
		{&idempotency.InProgressError{Tenant: "acme", Key: "key-1", Owner: "worker-3", RetryAfter: 2 * time.Second, LeaseUntil: at}, idempotency.ErrInProgress, []string{"key-1", "worker-3", "2s"}},
		{&idempotency.RepairRequiredError{Tenant: "acme", Key: "key-1", Since: at}, idempotency.ErrRepairRequired, []string{"key-1"}},
		{&idempotency.VersionError{Tenant: "acme", Key: "key-1", Attribute: "v", Found: "9"}, idempotency.ErrVersion, []string{"key-1", "9"}},
		{&idempotency.RecordError{Tenant: "acme", Key: "key-1", Attribute: "state", Reason: "is missing"}, idempotency.ErrRecord, []string{"key-1", "state", "is missing"}},
		{&idempotency.NotFoundError{Tenant: "acme", Key: "key-1"}, idempotency.ErrNotFound, []string{"acme", "key-1"}},
		{idempotency.ErrRead, idempotency.ErrRead, []string{"not read"}},
		{&idempotency.LeaseLostError{Tenant: "acme", Key: "key-1", Step: "complete", Attempt: 1, StoredAttempt: 2, State: idempotency.InProgress, Owner: "worker-3",
			Replayed: &idempotency.ReplayedError{Result: idempotency.Result{Body: []byte(payload)}}}, idempotency.ErrLeaseLost, []string{"complete", "key-1", "attempt 2", "worker-3"}},
		{idempotency.ErrWrite, idempotency.ErrWrite, []string{"not written"}},
	}
}

func sentinelErrors() []errorCase {
	const tenant, kind, name = "acme", "CLIENTORDER", "C-77"
	return []errorCase{
		{&sentinel.InvalidError{Tenant: tenant, Kind: kind, Name: name, Field: "Owner", Reason: "is empty"}, sentinel.ErrInvalid, []string{"C-77", "Owner", "is empty"}},
		{&sentinel.TakenError{Tenant: tenant, Kind: kind, Name: name, Owner: "order-1"}, sentinel.ErrTaken, []string{"C-77", "order-1"}},
		{&sentinel.NotOwnedError{Tenant: tenant, Kind: kind, Name: name, Owner: "order-1", Holder: "order-2"}, sentinel.ErrNotOwned, []string{"C-77", "order-1", "order-2"}},
		{&sentinel.NotFoundError{Tenant: tenant, Kind: kind, Name: name}, sentinel.ErrNotFound, []string{"C-77"}},
		{sentinel.ErrCorrupt, sentinel.ErrCorrupt, nil},
		{sentinel.ErrRead, sentinel.ErrRead, nil},
	}
}

func fanoutErrors() []errorCase {
	return []errorCase{
		{&fanout.InvalidError{Query: "AP06.trades", Field: "Branches", Reason: "is empty"}, fanout.ErrInvalid, []string{"AP06.trades", "Branches", "is empty"}},
		{&fanout.CursorError{Query: "AP06.trades", Tenant: "acme", Reason: fanout.OtherTenant}, fanout.ErrCursor, []string{"AP06.trades", "acme", "another tenant"}},
		{&fanout.ReadError{Query: "AP06.trades", Tenant: "acme", Branch: "shard 3", Err: errBelow}, fanout.ErrRead, []string{"AP06.trades", "acme", "shard 3", "from below"}},
		{&fanout.ItemError{Query: "AP06.trades", Tenant: "acme", Branch: "shard 3", Reason: "has no order", Err: errors.New(payload)}, fanout.ErrItem,
			[]string{"AP06.trades", "acme", "shard 3", "has no order"}},
	}
}

func shardmapErrors() []errorCase {
	const lane = "inbox/portfolio"
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return []errorCase{
		{shardmap.ErrKey, shardmap.ErrKey, nil},
		{shardmap.ErrMap, shardmap.ErrMap, nil},
		{shardmap.ErrLoad, shardmap.ErrLoad, nil},
		{&shardmap.InvalidError{Lane: lane, Field: "by", Reason: "is missing"}, shardmap.ErrInvalid, []string{lane, "by", "is missing"}},
		{&shardmap.StepError{Lane: lane, Version: 2, Step: shardmap.StepAdmit, State: shardmap.Retired, Reason: "it is over"}, shardmap.ErrStep,
			[]string{lane, "ADMIT", "version 2", "RETIRED", "it is over"}},
		{&shardmap.StoredError{Lane: lane, Reason: "does not exist"}, shardmap.ErrStored, []string{"SHARDMAP#" + lane, "does not exist"}},
		{&shardmap.StaleError{Lane: lane, At: at, Reason: shardmap.TooOld, Err: errBelow}, shardmap.ErrStale, []string{lane, "2026-11-29T12:00", "from below"}},
		{&shardmap.RetiredError{Lane: lane, Version: 1, At: at}, shardmap.ErrRetired, []string{lane, "version 1", "2026-11-29T12:00"}},
		{&shardmap.WriteError{Lane: lane, Step: shardmap.StepDrain, Err: errBelow}, shardmap.ErrWrite, []string{lane, "DRAIN", "from below"}},
	}
}

func otherErrors() []errorCase {
	usd, _ := money.ISO("USD")
	eur, _ := money.ISO("EUR")
	return []errorCase{
		{&schema.InvalidError{Table: "Orders", Field: "TTL", Reason: "is a key attribute"}, schema.ErrInvalid, []string{"Orders", "TTL", "is a key attribute"}},
		{&schema.RegionError{Operation: "PutItem", Home: "eu-west-1", Region: "us-east-1"}, schema.ErrRegion, []string{"PutItem", "eu-west-1", "us-east-1"}},
		{schema.ErrRead, schema.ErrRead, []string{"not read"}},
		{schema.ErrEnsure, schema.ErrEnsure, []string{"not made"}},
		{&outbox.InvalidError{EventID: "event-1", Field: "Tenant", Reason: "is empty", Err: errBelow}, outbox.ErrInvalid, []string{"event-1", "Tenant", "is empty"}},
		{&outbox.DuplicateError{EventID: "event-1"}, outbox.ErrDuplicate, []string{"event-1", "other content"}},
		{&outbox.NotFoundError{EventID: "event-1"}, outbox.ErrNotFound, []string{"event-1"}},
		{&outbox.StaleError{EventID: "event-1", Step: "complete", State: outbox.Ready, Version: 4, Owner: "pod-1"}, outbox.ErrStale,
			[]string{"complete", "event-1", "READY", "version 4", "pod-1"}},
		{outbox.ErrWrite, outbox.ErrWrite, nil},
		{&outbox.PublishError{EventID: "event-1", Broker: "SQS", Reason: "is too large", Final: true}, outbox.ErrRefused, []string{"event-1", "SQS", "is too large"}},
		{&outbox.PublishError{EventID: "event-1", Broker: "SQS", Reason: "is throttled", Err: errors.New(payload)}, outbox.ErrUnpublished,
			[]string{"event-1", "SQS", "is throttled"}},
		{outbox.ErrCorrupt, outbox.ErrCorrupt, nil},
		{outbox.ErrRead, outbox.ErrRead, nil},
		{&money.SyntaxError{Offset: 3, Reason: "is no digit"}, money.ErrSyntax, []string{"byte 3", "is no digit"}},
		{&money.InexactError{Op: "parse", Currency: usd, Places: 3}, money.ErrInexact, []string{"parse", "USD", "3"}},
		{&money.RangeError{Op: "add", Currency: usd, Limit: "38 digits"}, money.ErrRange, []string{"add", "USD", "38 digits"}},
		{&money.MismatchError{Op: "add", A: usd, B: eur}, money.ErrMismatch, []string{"add", "USD", "EUR"}},
		{&money.UnknownCurrencyError{Code: "XQZ"}, money.ErrUnknownCurrency, []string{"XQZ"}},
		{&money.DefinitionError{Code: "ALL", Reason: "is taken"}, money.ErrDefinition, []string{"ALL", "is taken"}},
		{&money.EncodingError{Form: "Map", Reason: "has no a"}, money.ErrEncoding, []string{"Map", "has no a"}},
		{&money.AllocationError{Op: "allocate", Part: 2, Reason: "is negative"}, money.ErrAllocation, []string{"allocate", "2", "is negative"}},
		{&money.RoundingError{Reason: "is no mode"}, money.ErrRounding, []string{"is no mode"}},
		{&money.RateError{Source: "ECB", ID: "rate-1", Reason: "is zero"}, money.ErrRate, []string{"ECB", "rate-1", "is zero"}},
		{&money.DivisionError{Op: "ratio"}, money.ErrDivision, []string{"ratio"}},
		{&capacity.FigureError{Where: "lane L06: Share", Reason: "is above 1"}, capacity.ErrInventory, []string{"lane L06: Share", "is above 1"}},
		{dynamosim.ErrClosed, dynamosim.ErrClosed, nil},
		{dynamosim.ErrLost, dynamosim.ErrLost, nil},
		{dynamosim.ErrSaved, dynamosim.ErrSaved, nil},
	}
}

func everyError() []errorCase {
	var all []errorCase
	for _, cases := range [][]errorCase{txnErrors(), idempotencyErrors(), sentinelErrors(), fanoutErrors(), shardmapErrors(), ledgerErrors(), inboxErrors(),
		projectionErrors(), exportErrors(), reconcileErrors(), otherErrors()} {
		all = append(all, cases...)
	}
	return all
}

var codeInText = regexp.MustCompile(`\[DFN-\d{4}\]`)

// TestEveryErrorCanBeActedOn: each says what failed, for which key, whether a repeat can help, and its code, once; never the
// payload; and all of it survives wrapping.
func TestEveryErrorCanBeActedOn(t *testing.T) {
	advice := []string{string(fault.RetrySafe), string(fault.RetryLater), string(fault.RetryNever)}
	for _, c := range everyError() {
		text := c.err.Error()
		wrapped := fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", c.err))
		var coded interface{ Code() string }
		if !errors.Is(wrapped, c.kind) || !errors.As(wrapped, &coded) || !strings.HasSuffix(text, "["+coded.Code()+"]") {
			t.Errorf("%T: kind or code is lost in %q", c.err, text)
		}
		if n := len(codeInText.FindAllString(text, -1)); n != 1 {
			t.Errorf("%T has %d codes in %q", c.err, n, text)
		}
		advised := 0
		for _, a := range advice {
			advised += strings.Count(text, a)
		}
		if advised != 1 {
			t.Errorf("%T gives %d pieces of advice in %q", c.err, advised, text)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%T: %q does not say %q", c.err, text, want)
			}
		}
		if strings.Contains(text, payload) {
			t.Errorf("%T repeats the payload in %q", c.err, text)
		}
	}
}

// TestNoErrorIsMissingInTheTable: every exported error type, and every code, stands in the table above. Modules of their own
// cannot be imported here and have the same test.
func TestNoErrorIsMissingInTheTable(t *testing.T) {
	typed, codes := map[string]bool{}, map[string]bool{}
	for _, c := range everyError() {
		if kind := reflect.TypeOf(c.err).Elem(); kind.PkgPath() != modulePath+"/internal/fault" {
			typed[rel(kind.PkgPath())+"."+kind.Name()] = true
		}
		var coded interface{ Code() string }
		if errors.As(c.err, &coded) {
			codes[coded.Code()] = true
		}
	}
	tr := checkout(t)
	for _, p := range packagesOf(tr.files) {
		if !p.public() || tr.nested(p.path) {
			continue
		}
		for _, syntax := range p.code() {
			for _, name := range exportedErrorTypes(syntax) {
				if !typed[p.path+"."+name] {
					t.Errorf("%s.%s is missing in the table of internal/house/everyerror_test.go", p.path, name)
				}
			}
		}
	}
	for _, code := range fault.All() {
		if pkg, _, _ := strings.Cut(code.Name, "."); !codes[code.ID] && pkg != "keys" && !tr.nested(pkg) {
			t.Errorf("%s of %s is missing in the table of internal/house/everyerror_test.go", code.ID, code.Name)
		}
	}
}

func exportedErrorTypes(syntax *ast.File) (names []string) {
	for _, decl := range syntax.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			if typed, ok := spec.(*ast.TypeSpec); ok && typed.Name.IsExported() && strings.HasSuffix(typed.Name.Name, "Error") {
				names = append(names, typed.Name.Name)
			}
		}
	}
	return names
}
