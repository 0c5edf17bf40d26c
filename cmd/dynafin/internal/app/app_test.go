package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/money"
)

func TestAnIDIsShortenedInTheMiddleAndNothingElseIs(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"", ""}, {"order-1", "order-1"}, {"0123456789abcdef", "0123456789abcdef"}, {"0123456789abcdefg", "01234567…abcdefg"},
		{"äöüäöüäöüäöüäöüäöü", "äöüäöüäö…üäöüäöü"},
	} {
		if got := Short(c.id); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.id, got, c.want)
		}
	}
}

func TestWhatIsStoredCannotDrawOnATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "stored")
		shown := Printable(text)
		if strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) || strings.ContainsAny(shown, "\u2028\u2029") {
			t.Fatalf("%q is shown as %q", text, shown)
		}
	})
	if got := Printable("plain – text"); got != "plain – text" {
		t.Errorf("%q", got)
	}
}

func TestAgesHaveTheirTwoLargestUnits(t *testing.T) {
	now := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 41*time.Minute + 5*time.Second: "41m5s", 3*time.Hour + 12*time.Minute + 9*time.Second: "3h12m",
		24 * time.Hour: "1d", 50 * time.Hour: "2d2h", 25*time.Hour + time.Minute: "1d1h", -5 * time.Minute: "in 5m",
	} {
		if got := Age(now, now.Add(-d)); got != want {
			t.Errorf("%v ago is %q, want %q", d, got, want)
		}
	}
	if got := Age(now, time.Time{}); got != "" {
		t.Errorf("never is %q", got)
	}
}

func TestCountsHaveSeparators(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20001: "20,001", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestMoneyIsTextInJSON(t *testing.T) {
	if m := AsMoney(money.MustParse("1204.55 USD")); *m != (Money{"120455", "USD", "1204.55 USD"}) {
		t.Errorf("%+v", m)
	}
	if m := AsMoney(money.Amount{}); m != nil {
		t.Errorf("no amount is %+v", m)
	}
}

func TestErrorsDecideTheExitCodeThroughAnyWrapping(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, ExitOK}, {errors.New("broken"), ExitFailed}, {fmt.Errorf("call: %w", Usage("what %s", "is it")), ExitUsage},
		{fmt.Errorf("look: %w", Findings("7 events")), ExitFindings}, {errors.Join(errors.New("save"), Findings("7 events")), ExitFindings},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.code)
		}
	}
}

// metered is a database behind a meter whose clock moves only when it sleeps.
func metered(t *testing.T, maxRead int) (*dynamodb.Client, *Meter, *time.Duration) {
	t.Helper()
	now, slept := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC), time.Duration(0)
	m := &Meter{now: func() time.Time { return now }, maxRead: maxRead, sleep: func(_ context.Context, d time.Duration) error {
		now, slept = now.Add(d), slept+d
		return nil
	}}
	db := dynamosim.New(t)
	if err := db.CreateTable("Things"); err != nil {
		t.Fatal(err)
	}
	return db.Client(m.install), m, &slept
}

func key(i int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "thing"}, "SK": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}}
}

func TestAMeterCountsEveryUnitAndKeepsToItsRate(t *testing.T) {
	client, m, slept := metered(t, 10)
	for i := range 50 {
		if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Things"), Key: key(i), ConsistentRead: aws.Bool(true)}); err != nil {
			t.Fatal(err)
		}
	}
	// 50 units at 10 a second, of which one second may be used at once, and the last need not be waited for.
	if *slept < 3800*time.Millisecond || *slept > 4*time.Second || m.String() != "50 RCU" {
		t.Errorf("slept %v for %s", *slept, m)
	}
	if m.wrote {
		t.Error("reading counts as writing")
	}
	for i := range 5 {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Things"), Item: key(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if !m.wrote || m.String() != "50 RCU, 5 WCU" {
		t.Errorf("after writing: %s, %v", m, m.wrote)
	}
}

func TestAMeterStopsWithItsContext(t *testing.T) {
	client, m, _ := metered(t, 1)
	m.sleep = func(ctx context.Context, _ time.Duration) error { return context.Canceled }
	var err error
	for i := 0; i < 10 && err == nil; i++ {
		_, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Things"), Key: key(i), ConsistentRead: aws.Bool(true)})
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
