package idempotency_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/txn"
)

// TestGoldenItems holds the stored shape: attribute names and encodings are a public format, read by older and newer
// builds alike.
func TestGoldenItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config  idempotency.Config
		request idempotency.Request
		result  idempotency.Result
	}{
		"accepted": {idempotency.Config{Owner: "orders-api-3"}, order("10.50"), accepted("ord-1")},
		"rejected": {idempotency.Config{}, order("10"), idempotency.Result{Kind: idempotency.Rejected, Code: "NAME_TAKEN", Body: []byte(`"taken"`)}},
		"empty":    {idempotency.Config{Retention: idempotency.KeepForever}, order("10"), idempotency.Result{Body: []byte{}, Effect: map[string]string{}}},
		"nothing": {idempotency.Config{Table: txn.Table{Name: "shared", PK: "pk", SK: "sk"}}, idempotency.Request{
			Tenant: "a#b", Key: "50%#", Operation: "ping", Command: idempotency.NewFields()}, idempotency.Result{}},
	} {
		c.config.Now = at(noon.Add(7).In(time.FixedZone("somewhere", -5*3600)))
		put := written(t, idempotency.New(c.config).Once(c.request, c.result))
		golden.Item(t, name, put.Item)
		replayed, err := idempotency.New(c.config).Lookup(t.Context(), &shelf{item: put.Item}, c.request)
		if err != nil || !reflect.DeepEqual(replayed, c.result) {
			t.Errorf("%s: read back as %+v, %v; want %+v", name, replayed, err, c.result)
		}
	}
}

func TestOnceIsOneConditionalFencedPut(t *testing.T) {
	t.Parallel()
	put := written(t, idempotency.New(idempotency.Config{}).Once(order("10"), accepted("ord-1")))
	if *put.TableName != "Idempotency" || *put.ConditionExpression != "attribute_not_exists(#pk)" || put.ExpressionAttributeNames["#pk"] != "PK" {
		t.Errorf("put %s if %s with %v", *put.TableName, *put.ConditionExpression, put.ExpressionAttributeNames)
	}
	if put.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
		t.Errorf("a loser would not get the record: %v", put.ReturnValuesOnConditionCheckFailure)
	}
	if size := capacity.ItemSize(put.Item); size > 717 { // 0.7 KiB, as planned
		t.Errorf("a record of the planned size has %d bytes", size)
	}
	bare := idempotency.Request{Tenant: "t", Key: "k", Operation: "o", Command: idempotency.NewFields()}
	const marks = 22 - len("mark-1") // a default mark is longer than the one here
	if size := capacity.ItemSize(written(t, idempotency.New(idempotency.Config{}).Once(bare, idempotency.Result{})).Item) + marks - len("tko"); size > 310 {
		t.Errorf("a record without content has %d bytes", size)
	}
}

// TestStoredRecordsAreJudgedInOneOrder changes a completed record in every way that matters and asks what it means.
func TestStoredRecordsAreJudgedInOneOrder(t *testing.T) {
	t.Parallel()
	requests := idempotency.New(idempotency.Config{Now: at(noon)})
	stored := written(t, requests.Once(order("10"), accepted("ord-1"))).Item
	lease := func(d time.Duration) types.AttributeValue {
		return text(noon.Add(d).Format("2006-01-02T15:04:05.000000000Z"))
	}
	result := stored["result"].(*types.AttributeValueMemberM).Value
	with := func(name string, value types.AttributeValue) txn.Item {
		return txn.Item{"result": &types.AttributeValueMemberM{Value: altered(result, txn.Item{name: value})}}
	}
	other := order("11")
	cancel := order("10")
	cancel.Operation = "order.cancel"
	raised := order("10")
	raised.SchemaVersion = 2
	type names struct{ Tenant, Key string }
	who := names{order("10").Tenant, order("10").Key}
	mismatch := func(asked string) error {
		return &idempotency.MismatchError{Tenant: who.Tenant, Key: who.Key, Operation: asked, StoredOperation: "order.accept", CreatedAt: noon}
	}
	version := func(attribute, found string) error {
		return &idempotency.VersionError{Tenant: who.Tenant, Key: who.Key, Attribute: attribute, Found: found}
	}
	damaged := func(attribute, reason string) error {
		return &idempotency.RecordError{Tenant: who.Tenant, Key: who.Key, Attribute: attribute, Reason: reason}
	}
	stuck := func(state idempotency.State) error {
		return &idempotency.RepairRequiredError{Tenant: who.Tenant, Key: who.Key, State: state, Since: noon}
	}
	inProgress := func(left time.Duration) error {
		return &idempotency.InProgressError{Tenant: who.Tenant, Key: who.Key, Owner: "w-1", Attempt: 2,
			LeaseUntil: noon.Add(left), RetryAfter: max(0, left)}
	}
	running := func(left time.Duration) txn.Item {
		return txn.Item{"state": text("IN_PROGRESS"), "attempt": number("2"), "attemptOwner": text("w-1"), "leaseUntil": lease(left), "result": nil, "effect": nil}
	}
	for name, c := range map[string]struct {
		request idempotency.Request
		changes txn.Item
		want    error
	}{
		"other content":               {other, nil, mismatch("order.accept")},
		"other operation":             {cancel, nil, mismatch("order.cancel")},
		"other schema version":        {raised, nil, mismatch("order.accept")},
		"other content, in progress":  {other, running(time.Second), mismatch("order.accept")},
		"other content, in repair":    {other, txn.Item{"state": text("REPAIR_REQUIRED")}, mismatch("order.accept")},
		"in progress":                 {order("10"), running(time.Second), inProgress(time.Second)},
		"lease a nanosecond from now": {order("10"), running(1), inProgress(1)},
		"lease ends now":              {order("10"), running(0), inProgress(0)},
		"lease over":                  {order("10"), running(-1), inProgress(-1)},
		"in progress without a lease": {order("10"), txn.Item{"state": text("IN_PROGRESS")}, stuck(idempotency.InProgress)},
		"in repair":                   {order("10"), txn.Item{"state": text("REPAIR_REQUIRED")}, stuck(idempotency.RepairRequired)},
		"newer format":                {other, txn.Item{"v": number("2"), "fingerprint": nil}, version("v", "2")},
		"newer hash":                  {order("10"), txn.Item{"hashVersion": number("2")}, version("hashVersion", "2")},
		"newer state":                 {order("10"), txn.Item{"state": text("PAUSED")}, version("state", "PAUSED")},
		"no format":                   {order("10"), txn.Item{"v": nil}, damaged("v", "is missing or not a number")},
		"format zero":                 {order("10"), txn.Item{"v": number("0")}, damaged("v", "is zero")},
		"format of another kind":      {order("10"), txn.Item{"v": text("1")}, damaged("v", "is missing or not a number")},
		"fractional format":           {order("10"), txn.Item{"v": number("1.5")}, damaged("v", "is not a whole number from zero")},
		"no fingerprint":              {order("10"), txn.Item{"fingerprint": nil}, damaged("fingerprint", "is missing or not a hash")},
		"short fingerprint":           {order("10"), txn.Item{"fingerprint": binary([]byte{1})}, damaged("fingerprint", "is missing or not a hash")},
		"no state":                    {order("10"), txn.Item{"state": nil}, damaged("state", "is missing or not a string")},
		"no operation":                {order("10"), txn.Item{"operation": nil}, damaged("operation", "is missing or not a string")},
		"odd time":                    {order("10"), txn.Item{"createdAt": text("2026-11-29T12:00:00Z")}, damaged("createdAt", "is not a time in UTC with nanoseconds")},
		"no result":                   {order("10"), txn.Item{"result": nil}, damaged("result", "is missing or not a map")},
		"changed body":                {order("10"), with("body", binary([]byte("x"))), damaged("digest", "does not match the result")},
		"lost body":                   {order("10"), with("body", nil), damaged("digest", "does not match the result")},
		"changed code":                {order("10"), with("code", text("200")), damaged("digest", "does not match the result")},
		"changed kind":                {order("10"), with("kind", text("REJECTED")), damaged("digest", "does not match the result")},
		"unknown kind":                {order("10"), with("kind", text("MAYBE")), damaged("kind", "is neither ACCEPTED nor REJECTED")},
		"lost digest":                 {order("10"), with("digest", nil), damaged("digest", "is missing or not a hash")},
		"lost effect":                 {order("10"), txn.Item{"effect": nil}, damaged("digest", "does not match the result")},
		"odd effect":                  {order("10"), txn.Item{"effect": text("x")}, damaged("effect", "is missing or not a map")},
		"odd reference": {order("10"), txn.Item{"effect": &types.AttributeValueMemberM{Value: txn.Item{"orderId": number("1")}}},
			damaged("orderId", "is missing or not a string")},
	} {
		got, err := requests.Lookup(t.Context(), &shelf{item: altered(stored, c.changes)}, c.request)
		if !reflect.DeepEqual(err, c.want) || !reflect.DeepEqual(got, idempotency.Result{}) {
			t.Errorf("%s: %+v, %v; want %v", name, got, err, c.want)
		}
	}
	// What a newer writer of the same format adds beside the known attributes is none of this build's business.
	if _, err := requests.Lookup(t.Context(), &shelf{item: altered(stored, txn.Item{"note": text("x")})}, order("10")); err != nil {
		t.Errorf("an unknown attribute: %v", err)
	}
}

func TestLookupReadsStronglyAndReportsWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	requests := idempotency.New(idempotency.Config{})
	stored := written(t, requests.Once(order("10"), accepted("ord-1"))).Item
	before := wire(t, stored)
	result, err := requests.Lookup(t.Context(), &shelf{item: stored}, order("10"))
	if err != nil {
		t.Fatal(err)
	}
	result.Body[0], result.Effect["orderId"] = 'X', "other"
	if after := wire(t, stored); after != before {
		t.Error("the result shares memory with the item")
	}
	empty := &shelf{}
	_, err = requests.Lookup(t.Context(), empty, order("10"))
	var notFound *idempotency.NotFoundError
	if !errors.As(err, &notFound) || *notFound != (idempotency.NotFoundError{Tenant: order("10").Tenant, Key: order("10").Key}) {
		t.Errorf("no record: %v", err)
	}
	if empty.read.ConsistentRead == nil || !*empty.read.ConsistentRead || *empty.read.TableName != idempotency.TableName {
		t.Errorf("read %+v", empty.read)
	}
	cause := errors.New("no route")
	if _, err := requests.Lookup(t.Context(), &shelf{err: cause}, order("10")); !errors.Is(err, idempotency.ErrRead) || !errors.Is(err, cause) {
		t.Errorf("failed read: %v", err)
	}
}
