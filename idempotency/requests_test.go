package idempotency_test

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

func TestInvalidInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	change := func(f func(*idempotency.Request)) idempotency.Request {
		r := order("10")
		f(&r)
		return r
	}
	for _, c := range []struct {
		field   string
		config  idempotency.Config
		request idempotency.Request
		result  idempotency.Result
	}{
		{"Request.Tenant", idempotency.Config{}, change(func(r *idempotency.Request) { r.Tenant = "" }), idempotency.Result{}},
		{"Request.Tenant", idempotency.Config{}, change(func(r *idempotency.Request) { r.Tenant = "\xff" }), idempotency.Result{}},
		{"Request.Key", idempotency.Config{}, change(func(r *idempotency.Request) { r.Key = "" }), idempotency.Result{}},
		{"Request.Key", idempotency.Config{}, change(func(r *idempotency.Request) { r.Key = "\xff" }), idempotency.Result{}},
		{"Request", idempotency.Config{}, change(func(r *idempotency.Request) { r.Key = strings.Repeat("k", 2049) }), idempotency.Result{}},
		{"Request.Operation", idempotency.Config{}, change(func(r *idempotency.Request) { r.Operation = "" }), idempotency.Result{}},
		{"Request.SchemaVersion", idempotency.Config{}, change(func(r *idempotency.Request) { r.SchemaVersion = -1 }), idempotency.Result{}},
		{"Request.Command", idempotency.Config{}, change(func(r *idempotency.Request) { r.Command = nil }), idempotency.Result{}},
		{"Result.Kind", idempotency.Config{}, order("10"), idempotency.Result{Kind: 2}},
		{"Result.Code", idempotency.Config{}, order("10"), idempotency.Result{Code: "\xff"}},
		{"Result.Effect", idempotency.Config{}, order("10"), idempotency.Result{Effect: map[string]string{"": "x"}}},
		{"Result.Effect", idempotency.Config{}, order("10"), idempotency.Result{Effect: map[string]string{"x": "\xff"}}},
		{"Config.Table", idempotency.Config{Table: txn.Table{SK: txn.NoSortKey}}, order("10"), idempotency.Result{}},
		{"Config.Table", idempotency.Config{Table: txn.Table{PK: "state"}}, order("10"), idempotency.Result{}},
		{"Config.Table", idempotency.Config{Table: txn.Table{PK: "k", SK: "k"}}, order("10"), idempotency.Result{}},
		{"Config.ReplayHorizon", idempotency.Config{ReplayHorizon: time.Hour - 1}, order("10"), idempotency.Result{}},
		{"Config.Retention", idempotency.Config{Retention: -2}, order("10"), idempotency.Result{}},
		{"Config.RecordBytesMax", idempotency.Config{RecordBytesMax: -1}, order("10"), idempotency.Result{}},
		{"Config.RecordBytesMax", idempotency.Config{RecordBytesMax: capacity.MaxItemBytes + 1}, order("10"), idempotency.Result{}},
		{"Config.Owner", idempotency.Config{Owner: "\xff"}, order("10"), idempotency.Result{}},
		{"Config.Now", idempotency.Config{Now: at(time.Time{})}, order("10"), idempotency.Result{}},
		{"Config.Now", idempotency.Config{Now: at(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))}, order("10"), idempotency.Result{}},
		{"Config.Now", idempotency.Config{Now: at(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), Retention: idempotency.KeepForever}, order("10"), idempotency.Result{}},
	} {
		err := refused(t, idempotency.New(c.config).Once(c.request, c.result))
		var invalid *idempotency.InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, idempotency.ErrInvalid) || invalid.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	err := refused(t, idempotency.New(idempotency.Config{}).Once(change(func(r *idempotency.Request) { r.Command.Decimal("x", "1/3") }), idempotency.Result{}))
	if !errors.Is(err, idempotency.ErrCommand) {
		t.Errorf("a command without a fingerprint: %v", err)
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	t.Parallel()
	if err := (idempotency.Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	err := idempotency.Config{ReplayHorizon: 2 * time.Hour, Retention: time.Hour, RecordBytesMax: -1}.Validate()
	for _, field := range []string{"Config.Retention is 1h0m0s, shorter than the replay horizon of 2h0m0s", "Config.RecordBytesMax"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%q is not in %v", field, err)
		}
	}
	if _, got := idempotency.New(idempotency.Config{Retention: 1}).Lookup(t.Context(), &shelf{}, order("10")); !errors.Is(got, idempotency.ErrInvalid) {
		t.Errorf("Lookup with an invalid configuration: %v", got)
	}
}

// TestRetentionStandsAtOrBeyondTheReplayHorizon tries the limit and its neighbours, in the unit of the configuration.
func TestRetentionStandsAtOrBeyondTheReplayHorizon(t *testing.T) {
	t.Parallel()
	const horizon = 48 * time.Hour
	for offset, want := range map[time.Duration]error{-1: idempotency.ErrInvalid, 0: nil, 1: nil} {
		err := idempotency.Config{ReplayHorizon: horizon, Retention: horizon + offset}.Validate()
		if !errors.Is(err, want) {
			t.Errorf("horizon%+d: %v", offset, err)
		}
	}
	long := idempotency.Config{ReplayHorizon: 1000 * 24 * time.Hour}
	if err := long.Validate(); err != nil || long.WithDefaults().Retention != long.ReplayHorizon {
		t.Errorf("a long horizon: retention %v, %v", long.WithDefaults().Retention, err)
	}
}

// TestExpiresAtIsEpochSecondsNeverBeforeTheRetention stands at a full second, a nanosecond before and one after.
func TestExpiresAtIsEpochSecondsNeverBeforeTheRetention(t *testing.T) {
	t.Parallel()
	end := noon.Add(idempotency.RetentionDefault).Unix()
	for offset, want := range map[time.Duration]int64{-1: end, 0: end, 1: end + 1, time.Second - 1: end + 1, time.Second: end + 1} {
		put := written(t, idempotency.New(idempotency.Config{Now: at(noon.Add(offset))}).Once(order("10"), idempotency.Result{}))
		got := put.Item["expiresAt"].(*types.AttributeValueMemberN).Value
		if got != strconv.FormatInt(want, 10) {
			t.Errorf("completed at noon%+v: expires at %s, want %d", offset, got, want)
		}
	}
	put := written(t, idempotency.New(idempotency.Config{Retention: idempotency.KeepForever}).Once(order("10"), idempotency.Result{}))
	if _, ok := put.Item["expiresAt"]; ok {
		t.Error("a record that is kept for ever has an expiry")
	}
}

// TestResultsBeyondTheLimitAreRefused stands at the limit and one byte beside it, for the default and a lower one.
func TestResultsBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1024, capacity.MaxItemBytes} {
		requests := idempotency.New(idempotency.Config{RecordBytesMax: limit, Now: at(noon)})
		body := func(n int) idempotency.Result { return idempotency.Result{Body: make([]byte, n)} }
		var tooLarge *idempotency.TooLargeError
		if err := refused(t, requests.Once(order("10"), body(limit))); !errors.As(err, &tooLarge) || !errors.Is(err, idempotency.ErrTooLarge) {
			t.Fatalf("limit %d: %v", limit, err)
		}
		fits := limit - (tooLarge.Bytes - limit)
		put := written(t, requests.Once(order("10"), body(fits)))
		longest := len(txn.MarkAttribute) + 36
		if size := capacity.ItemSize(put.Item) - len(txn.MarkAttribute+"mark-1") + longest; size != limit {
			t.Errorf("the largest record within %d bytes has %d", limit, size)
		}
		err := refused(t, requests.Once(order("10"), body(fits+1)))
		want := &idempotency.TooLargeError{Tenant: order("10").Tenant, Key: order("10").Key, Bytes: limit + 1, BytesMax: limit}
		if !errors.As(err, &tooLarge) || !reflect.DeepEqual(tooLarge, want) {
			t.Errorf("one byte more: %v", err)
		}
	}
}

// TestChangesAfterTheCallChangeNothing changes everything that was handed to Once before its part is committed.
func TestChangesAfterTheCallChangeNothing(t *testing.T) {
	t.Parallel()
	requests := idempotency.New(idempotency.Config{Now: at(noon)})
	want := wire(t, written(t, requests.Once(order("10"), accepted("ord-1"))).Item)

	document := []byte(`{"quantity":10}`)
	request, result := order("10"), accepted("ord-1")
	part := requests.Once(request, result)
	request.Key, request.Operation = "other", "other"
	request.Command.String("late", "field")
	result.Body[0] = 'X'
	result.Effect["orderId"] = "ord-2"
	result.Effect["late"] = "x"
	if got := wire(t, written(t, part).Item); got != want {
		t.Errorf("the part changed:\n%s", got)
	}
	command := idempotency.JSON(document)
	before := fingerprint(t, idempotency.Request{Tenant: "t", Key: "k", Operation: "o", Command: command})
	copy(document, `{"quantity":99}`)
	if after := fingerprint(t, idempotency.Request{Tenant: "t", Key: "k", Operation: "o", Command: command}); after != before {
		t.Error("the JSON command changed with its document")
	}
}
