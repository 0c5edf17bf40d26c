package dynamosim_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// expiring is a database with the test table, whose items expire by the attribute "expires".
type expiring struct {
	backend
	db    *dynamosim.DB
	clock *clock
}

func newExpiring(t *testing.T, opts dynamosim.Options) expiring {
	t.Helper()
	now := newClock()
	opts.Now = func() time.Time { return now.now }
	db := dynamosim.New(t, opts)
	e := expiring{backend{db.Client(), aws.String("tab")}, db, now}
	if _, err := e.CreateTable(ctx, testTable("tab")); err != nil {
		t.Fatal(err)
	}
	if err := e.setting(true, "expires"); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e expiring) setting(enabled bool, attribute string) error {
	_, err := e.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: e.table, TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: &enabled, AttributeName: &attribute},
	})
	return err
}

// status shows what DescribeTimeToLive says.
func (e expiring) status(t *testing.T) string {
	t.Helper()
	out, err := e.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: e.table})
	d := must(t, out, err).TimeToLiveDescription
	return strings.TrimSpace(string(d.TimeToLiveStatus) + " " + aws.ToString(d.AttributeName))
}

func (e expiring) put(t *testing.T, sk string, expires types.AttributeValue) {
	t.Helper()
	e.alone(t, write{put: with(key("p", sk), "gk", s("g"), "gs", n("1"), "expires", expires)})
}

// left shows the sort keys of what is stored, in the table and in the global index.
func (e expiring) left(t *testing.T) string {
	t.Helper()
	shown := make([]string, 2)
	for i, in := range []dynamodb.ScanInput{{}, {IndexName: aws.String("byGroup")}} {
		var sks []string
		for _, item := range e.scan(t, in) {
			sks = append(sks, text(item["sk"]))
		}
		slices.Sort(sks)
		shown[i] = strings.Join(sks, " ")
	}
	if shown[0] != shown[1] {
		t.Errorf("the table holds %q, its index %q", shown[0], shown[1])
	}
	return shown[0]
}

func seconds(at time.Time) types.AttributeValue { return n(strconv.FormatInt(at.Unix(), 10)) }

func TestAnItemExpiresWhenItsSecondIsOver(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{})
	at := e.clock.now.Truncate(time.Second).Add(time.Hour)
	e.put(t, "s", seconds(at))
	for _, c := range []struct {
		now  time.Time
		want int
	}{
		{at.Add(-time.Second), 0}, {at, 0}, {at.Add(time.Second - time.Nanosecond), 0}, {at.Add(time.Second), 1},
	} {
		e.clock.now = c.now
		if e.left(t) != "s" {
			t.Fatal("an item was gone before anybody swept")
		}
		if got := e.db.SweepExpired(nil); got != c.want {
			t.Errorf("%s after its time %d items are swept, want %d", c.now.Sub(at), got, c.want)
		}
	}
	if left := e.left(t); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestOnlyTopLevelNumbersOfTheLastFiveYearsExpire(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{})
	now := e.clock.now
	for sk, expires := range map[string]types.AttributeValue{
		"past": seconds(now.Add(-time.Hour)), "fraction": n("1700000000.5"), "five years": seconds(now.AddDate(-5, 0, 0)),
		"older": seconds(now.AddDate(-5, 0, 0).Add(-time.Second)), "zero": n("0"), "negative": n("-1"), "huge": n("1E125"),
		"milliseconds": n(strconv.FormatInt(now.UnixMilli(), 10)), "text": s("1700000000"),
		"nested": &types.AttributeValueMemberM{Value: attrs{"expires": n("1700000000")}},
	} {
		e.put(t, sk, expires)
	}
	e.alone(t, write{put: key("p", "none")})
	if got := e.db.SweepExpired(nil); got != 3 {
		t.Errorf("%d items swept", got)
	}
	out, err := e.Query(ctx, &dynamodb.QueryInput{
		TableName: e.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attrs{":p": s("p")},
	})
	var sks []string
	for _, item := range must(t, out, err).Items {
		sks = append(sks, text(item["sk"]))
	}
	if got := strings.Join(sks, ","); got != "huge,milliseconds,negative,nested,none,older,text,zero" {
		t.Errorf("left: %s", got)
	}
}

// An expired item is an item: it is read, it costs, it can be written and saved from its fate.
func TestAnExpiredItemCanBeSaved(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{})
	e.put(t, "a", seconds(e.clock.now.Add(-time.Hour)))
	e.put(t, "b", seconds(e.clock.now.Add(-time.Hour)))
	seen := 0
	got := e.db.SweepExpired(func(x dynamosim.Expired) bool {
		seen++
		if text(x.Item["sk"]) == "a" { // just then a worker gives it more time
			e.put(t, "a", seconds(e.clock.now.Add(time.Hour)))
		}
		return x.Table == "tab"
	})
	if seen != 2 || got != 1 || e.left(t) != "a" {
		t.Errorf("offered %d, swept %d, left %s", seen, got, e.left(t))
	}
	if got := e.db.SweepExpired(func(dynamosim.Expired) bool { return false }); got != 0 {
		t.Errorf("swept %d that nobody chose", got)
	}
}

// With SweepWithin every item goes at a moment of its own, after its expiry and within the bound, the same for one seed.
func TestTheSweeperKeepsItsBound(t *testing.T) {
	const items, within = 50, 48 * time.Hour
	history := func(seed uint64) string {
		e := newExpiring(t, dynamosim.Options{Seed: seed, SweepWithin: within})
		at := e.clock.now.Truncate(time.Second).Add(time.Hour)
		for i := range items {
			e.put(t, strconv.Itoa(i), seconds(at))
		}
		e.clock.now = at.Add(999 * time.Millisecond)
		if left := len(strings.Fields(e.left(t))); left != items {
			t.Fatalf("%d items left before any expired", left)
		}
		var counts []string
		for range 49 {
			e.clock.pass(time.Hour)
			counts = append(counts, strconv.Itoa(len(strings.Fields(e.left(t)))))
		}
		if last := counts[len(counts)-1]; last != "0" || counts[23] == "0" || counts[23] == strconv.Itoa(items) {
			t.Errorf("seed %d: items left by the hour: %v", seed, counts)
		}
		return strings.Join(counts, " ")
	}
	if first, again := history(1), history(1); first != again || first == history(2) {
		t.Error("a seed does not decide when items go")
	}
}

func TestAScheduleFollowsItsItemsAndTheSetting(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{SweepWithin: time.Minute})
	at := e.clock.now.Add(30 * time.Minute)
	e.put(t, "kept", seconds(at))
	e.put(t, "kept", seconds(at.Add(time.Hour)))
	e.put(t, "released", seconds(at))
	e.put(t, "released", s("never"))
	e.put(t, "gone", seconds(at))
	e.clock.pass(40 * time.Minute)
	if left := e.left(t); left != "kept released" {
		t.Errorf("left: %s", left)
	}
	e.clock.pass(25 * time.Minute)
	if err := e.setting(false, "expires"); err != nil {
		t.Fatal(err)
	}
	e.clock.pass(2 * time.Hour)
	if left := e.left(t); left != "kept released" {
		t.Errorf("swept although disabled, left: %s", left)
	}
	if err := e.setting(true, "expires"); err != nil {
		t.Fatal(err)
	}
	if left := e.left(t); left != "released" {
		t.Errorf("after the setting came back, left: %s", left)
	}
}

func TestTheSettingChangesOnceAnHour(t *testing.T) {
	const minute = time.Minute
	e := newExpiring(t, dynamosim.Options{UpdateStep: minute})
	step := func(pass time.Duration, enabled bool, attribute, wantError, wantStatus string) {
		t.Helper()
		e.clock.pass(pass)
		err := e.setting(enabled, attribute)
		if wantError == "" && err != nil {
			t.Error(err)
		} else if wantError != "" {
			wantMessage(t, err, wantError)
		}
		if got := e.status(t); got != wantStatus {
			t.Errorf("status is %s, want %s", got, wantStatus)
		}
	}
	const tooSoon = "Time to live has been modified multiple times within a fixed interval"
	step(0, true, "expires", "TimeToLive is already enabled", "ENABLING expires")
	step(minute, true, "other", "TimeToLive is active on a different AttributeName: current AttributeName is expires", "ENABLED expires")
	step(58*minute, false, "expires", tooSoon, "ENABLED expires")
	step(minute, false, "expires", "", "DISABLING expires")
	step(minute, false, "expires", "TimeToLive is already disabled", "DISABLED")
	step(58*minute, true, "other", tooSoon, "DISABLED")
	step(minute, true, "other", "", "ENABLING other")
	step(minute, false, "expires", "TimeToLive is active on a different AttributeName: current AttributeName is other", "ENABLED other")
}

func TestNothingExpiresWhileTheSettingTakesEffect(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{UpdateStep: time.Hour})
	e.put(t, "s", seconds(e.clock.now.Add(-time.Hour)))
	if got := e.db.SweepExpired(nil); got != 0 {
		t.Errorf("swept %d", got)
	}
	e.clock.pass(time.Hour)
	if got := e.db.SweepExpired(nil); got != 1 {
		t.Errorf("swept %d", got)
	}
}

func TestTimeToLiveRefusesWhatDoesNotFit(t *testing.T) {
	const null = " failed to satisfy constraint: Member must not be null"
	db := rawDB(t)
	for _, c := range []struct{ operation, request, want string }{
		{"UpdateTimeToLive", `{"TableName":"tab"}`, "1 validation error detected: Value null at 'timeToLiveSpecification'" + null},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{}}`, "2 validation errors detected: Value null at " +
			"'timeToLiveSpecification.enabled'" + null + "; Value null at 'timeToLiveSpecification.attributeName'" + null},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":""}}`, "1 validation error " +
			"detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater " +
			"than or equal to 1"},
		{"UpdateTimeToLive", `{"TableName":"none","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"a"}}`,
			"Requested resource not found: Table: none not found"},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"a"}}`,
			"TimeToLive is already disabled"},
		{"DescribeTimeToLive", `{"TableName":"none"}`, "Requested resource not found: Table: none not found"},
	} {
		status, answer := post(t, db, c.operation, []byte(c.request))
		var got struct{ Message string }
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		if status != 400 || got.Message != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.request, answer, c.want)
		}
	}
}
