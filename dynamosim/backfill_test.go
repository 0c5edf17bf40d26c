package dynamosim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
)

// An index that comes late, at any moment between any writes, and is built while writes go on, ends as the index that
// was there from the start.
func TestALateIndexEndsLikeOneThatWasAlwaysThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := newClock()
		db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return now.now }, UpdateStep: time.Minute})
		early := changing{backend{db.Client(), aws.String("early")}, now}
		late := changing{backend{db.Client(), aws.String("late")}, now}
		for _, c := range []changing{early, late} {
			if _, err := c.CreateTable(ctx, testTable(*c.table)); err != nil {
				t.Fatal(err)
			}
		}
		create := func(c changing) {
			if err := c.createIndex(); err != nil {
				t.Fatal(err)
			}
		}
		create(early)
		now.pass(2 * time.Minute)
		writes := rapid.IntRange(1, 40).Draw(t, "writes")
		start := rapid.IntRange(0, writes-1).Draw(t, "start")
		for i := range writes {
			if i == start {
				create(late)
			}
			pk := strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "pk"))
			other := rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "other")
			for _, c := range []changing{early, late} {
				if err := c.setOther(pk, other); err != nil {
					t.Fatal(err)
				}
			}
			now.pass(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
		}
		now.pass(2 * time.Minute)
		want, err := early.entries()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := late.entries(); err != nil || got != want {
			t.Fatalf("the late index holds %q, error %v, want %q", got, err, want)
		}
	})
}

// setOther gives an item the index's attribute; "" deletes the item.
func (c changing) setOther(pk, other string) error {
	if other != "" {
		return c.put(with(key(pk, "s"), "other", s(other)))
	}
	_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: c.table, Key: key(pk, "s")})
	return err
}

// A lagging index that is deleted and created again hears nothing of what was meant for the first.
func TestANewIndexHearsNothingMeantForItsPredecessor(t *testing.T) {
	now := newClock()
	db := dynamosim.New(t, dynamosim.Options{
		Now: func() time.Time { return now.now }, IndexLag: dynamosim.IndexLag{Max: time.Minute},
	})
	c := changing{backend{db.Client(), aws.String("tab")}, now}
	if _, err := c.CreateTable(ctx, testTable("tab")); err != nil {
		t.Fatal(err)
	}
	if err := c.createIndex(); err != nil {
		t.Fatal(err)
	}
	if err := c.setOther("p", "x"); err != nil {
		t.Fatal(err)
	}
	if err := c.deleteIndex("byOther"); err != nil {
		t.Fatal(err)
	}
	if err := c.setOther("p", ""); err != nil {
		t.Fatal(err)
	}
	if err := c.createIndex(); err != nil {
		t.Fatal(err)
	}
	now.pass(2 * time.Minute)
	if got, err := c.entries(); err != nil || got != "" {
		t.Errorf("the new index holds %q, error %v", got, err)
	}
}

// Deletions by the service reach a lagging index late, like any other.
func TestASweptItemStaysInALaggingIndexForAWhile(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{IndexLag: dynamosim.IndexLag{Max: time.Minute}})
	e.put(t, "s", seconds(e.clock.now.Add(-time.Hour)))
	e.clock.pass(time.Minute)
	e.db.SweepExpired(nil)
	index := dynamodb.ScanInput{IndexName: aws.String("byGroup")}
	if table, index := e.scan(t, dynamodb.ScanInput{}), e.scan(t, index); len(table) != 0 || len(index) != 1 {
		t.Errorf("the table holds %d, its index %d", len(table), len(index))
	}
	e.clock.pass(time.Minute)
	if left := e.scan(t, index); len(left) != 0 {
		t.Errorf("the index holds %d", len(left))
	}
}

func TestASweepConsumesNoUnits(t *testing.T) {
	e := newExpiring(t, dynamosim.Options{Heat: &dynamosim.Heat{}})
	e.put(t, "s", seconds(e.clock.now.Add(-time.Hour)))
	before := fmt.Sprint(e.db.Hottest(-1))
	if e.db.SweepExpired(nil) != 1 {
		t.Fatal("nothing swept")
	}
	if after := fmt.Sprint(e.db.Hottest(-1)); after != before {
		t.Errorf("heat is %s, before it was %s", after, before)
	}
}
