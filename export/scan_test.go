package export_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/internal/golden"
)

// table is a table of orders beside one for checkpoints.
type table struct {
	db    *dynamosim.DB
	items int
}

func newTable(t interface {
	dynamosim.TB
	TB
}, items int) *table {
	t.Helper()
	db := dynamosim.New(t)
	for _, name := range []string{"Orders", export.DefaultCheckpoints} {
		if err := db.CreateTable(name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range items {
		item := order(i)
		item["SK"] = text("META")
		if _, err := db.Client().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return &table{db, items}
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (s *table) config() export.ScanConfig {
	return export.ScanConfig{Table: "Orders", Name: "rebuild", Segments: 3, PageSize: 4, Sleep: noSleep, Now: func() time.Time { return day }}
}

func (s *table) scan(t TB, client export.ScanClient, config export.ScanConfig) *export.Scan {
	t.Helper()
	scan, err := export.NewScan(client, config)
	if err != nil {
		t.Fatal(err)
	}
	return scan
}

// handled counts which orders were handled.
type handled struct {
	mu    sync.Mutex
	times map[string]int
}

func (h *handled) add(r export.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.times == nil {
		h.times = map[string]int{}
	}
	h.times[r.New["PK"].(*types.AttributeValueMemberS).Value]++
}

func TestAScanGivesEveryItemOnceIfNothingFails(t *testing.T) {
	t.Parallel()
	for _, items := range []int{0, 1, 4, 50} {
		s := newTable(t, items)
		var last export.ScanProgress
		config := s.config()
		config.Progress = func(p export.ScanProgress) { last = p }
		scan := s.scan(t, s.db.Client(), config)
		if _, err := scan.Run(t.Context()); !errors.Is(err, export.ErrRun) {
			t.Errorf("before it was started: %v", err)
		}
		var h handled
		for r, err := range scan.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			h.add(r)
			if r.At.Source != "rebuild" || r.At.File >= 3 || r.At.Line < 1 {
				t.Errorf("%+v", r.At)
			}
		}
		run, err := scan.Run(t.Context())
		if err != nil || len(h.times) != items || !run.Done || run.Items != int64(items) || run.Segments != 3 || run.Table != "Orders" || !run.StartedAt.Equal(day) {
			t.Errorf("%d of %d items, %+v, %v", len(h.times), items, run, err)
		}
		if last.Done != 3 || last.Items != int64(items) || last.Units < 3 {
			t.Errorf("%+v", last)
		}
		for id, times := range h.times {
			if times != 1 {
				t.Errorf("%s was given %d times", id, times)
			}
		}
		for r, err := range scan.Records(t.Context()) {
			t.Errorf("a finished run gives %v, %v", r, err)
		}
	}
}

// Whatever fails, and wherever: runs under one name, one after the other, handle every item, because no checkpoint is ahead of what
// was handled; and what is handled twice was in a page whose checkpoint was not written.
func TestNoRestartSkipsAnItem(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		s := newTable(rt, rapid.IntRange(0, 40).Draw(rt, "items"))
		var h handled
		var mu sync.Mutex
		broken := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 8).Draw(rt, "broken") // runs end at so many requests or pages
		fates := rapid.SampledFrom([]dynamosim.Fate{dynamosim.LoseRequest, dynamosim.LoseAnswer, dynamosim.InternalErrorAfter, dynamosim.LateCommit, dynamosim.Throttle})
		once := func(limit int, fate dynamosim.Fate, byCaller, loop bool) error {
			n := 0
			step := func() bool { mu.Lock(); defer mu.Unlock(); n++; return n == limit }
			client := s.db.Client(func(o *dynamodb.Options) {
				o.Retryer = aws.NopRetryer{}
				o.HTTPClient = dynamosim.Faulty(s.db, func(dynamosim.Call) dynamosim.Fate {
					if !byCaller && step() {
						return fate
					}
					return dynamosim.Deliver
				})
			})
			scan := s.scan(rt, client, s.config())
			give := func(r export.Record) error {
				if byCaller && step() {
					return errBelow
				}
				h.add(r)
				return nil
			}
			if loop {
				for r, err := range scan.Records(context.Background()) {
					if err != nil {
						return err
					}
					if err := give(r); err != nil {
						return err
					}
				}
				return nil
			}
			return scan.ForEach(context.Background(), func(_ context.Context, page []export.Record) error {
				for _, r := range page {
					if err := give(r); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for _, limit := range broken {
			fate := fates.Draw(rt, "fate")
			err := once(limit, fate, rapid.Bool().Draw(rt, "by the caller"), rapid.Bool().Draw(rt, "loop"))
			var checkpoint *export.CheckpointError
			switch {
			case err == nil:
				seen["finished"]++
			case errors.Is(err, errBelow):
				seen["caller"]++
			case errors.As(err, &checkpoint):
				seen["checkpoint"]++
			case errors.Is(err, export.ErrScan):
				seen["page"]++
			default:
				rt.Fatalf("%v", err)
			}
		}
		if err := once(0, dynamosim.Deliver, false, true); err != nil {
			rt.Fatal(err)
		}
		again := 0
		for _, times := range h.times {
			again += times - 1
		}
		if len(h.times) != s.items || again > len(broken)*3*4 {
			rt.Fatalf("%d of %d items, %d again", len(h.times), s.items, again)
		}
		if again > 0 {
			seen["again"]++
		}
	}, "finished", "caller", "checkpoint", "page", "again")
}

// The SDK repeats a save whose answer was lost; the record that it finds is its own.
func TestALostAnswerOfASaveIsNoTakeover(t *testing.T) {
	t.Parallel()
	for lost := 1; lost <= 20; lost++ {
		s := newTable(t, 20)
		client := s.db.Client(func(o *dynamodb.Options) {
			o.Retryer = noWait{o.Retryer}
			o.HTTPClient = dynamosim.Faulty(s.db, func(c dynamosim.Call) dynamosim.Fate {
				if c.Sequence == lost {
					return dynamosim.LoseAnswer
				}
				return dynamosim.Deliver
			})
		})
		var h handled
		err := s.scan(t, client, s.config()).ForEach(t.Context(), func(_ context.Context, page []export.Record) error {
			for _, r := range page {
				h.add(r)
			}
			return nil
		})
		if err != nil || len(h.times) != 20 {
			t.Errorf("answer %d lost: %d items, %v", lost, len(h.times), err)
		}
	}
}

// noWait is a retryer that does not wait.
type noWait struct{ aws.Retryer }

func (noWait) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
func (noWait) MaxAttempts() int                             { return 3 }

// Of two runners in one segment, the one that writes a page down first goes on, and the other one ends.
func TestARunIsTakenOver(t *testing.T) {
	t.Parallel()
	s := newTable(t, 40)
	config := s.config()
	config.Segments = 1
	first := s.scan(t, s.db.Client(), config)
	var h handled
	n := 0
	var taken *export.RunError
	for r, err := range first.Records(t.Context()) {
		if err != nil {
			if !errors.As(err, &taken) || taken.Segment != 0 || taken.Name != "rebuild" {
				t.Error(err)
			}
			break
		}
		h.add(r)
		if n++; n == 6 { // one page is written down
			for r, err := range s.scan(t, s.db.Client(), config).Records(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				h.add(r)
			}
		}
	}
	again := 0
	for _, times := range h.times {
		again += times - 1
	}
	if taken == nil || len(h.times) != 40 || again != 4 {
		t.Errorf("%d items, %d again, %v", len(h.times), again, taken)
	}
	config.Segments = 2
	if _, err := read(s.scan(t, s.db.Client(), config).Records(t.Context())); !errors.Is(err, export.ErrRun) {
		t.Errorf("in other segments: %v", err)
	}
}

// Over any time, a Scan takes no more units than it may, and one page of each segment. The clock is that of the bubble.
func TestAScanIsThrottled(t *testing.T) {
	for _, c := range []struct{ segments, perSecond, page int }{{1, 1, 10}, {3, 5, 7}, {8, 50, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := newTable(t, 120)
			began := time.Now()
			var units capacity.Units
			config := export.ScanConfig{Table: "Orders", Segments: c.segments, PageSize: c.page, UnitsPerSecond: c.perSecond, Consistent: true}
			config.Progress = func(p export.ScanProgress) {
				units = p.Units
				allowed := capacity.Units(2*int64(time.Since(began))*int64(c.perSecond)/int64(time.Second)) + capacity.Units(2*c.segments)
				if p.Units > allowed {
					t.Errorf("%+v: %v units after %v", c, p.Units, time.Since(began))
				}
			}
			all, err := read(s.scan(t, s.db.Client(), config).Records(t.Context()))
			if err != nil || len(all) != 120 {
				t.Errorf("%d items, %v", len(all), err)
			}
			slowest := time.Duration(units) * time.Second / time.Duration(2*c.perSecond)
			if elapsed := time.Since(began); elapsed > slowest {
				t.Errorf("%+v: %v units took %v", c, units, elapsed)
			}
		})
	}
}

// A table without capacity is left alone for longer and longer; if that does not help, the run ends and can go on later.
func TestAScanYieldsToAThrottledTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t, 10)
		for _, refused := range []int{3, 100} {
			n := 0
			client := s.db.Client(func(o *dynamodb.Options) {
				o.Retryer = aws.NopRetryer{}
				o.HTTPClient = dynamosim.Faulty(s.db, func(call dynamosim.Call) dynamosim.Fate {
					if n++; call.Operation == "Scan" && n <= refused {
						return dynamosim.Throttle
					}
					return dynamosim.Deliver
				})
			})
			began := time.Now()
			_, err := read(s.scan(t, client, export.ScanConfig{Table: "Orders", Segments: 1}).Records(t.Context()))
			if (err == nil) != (refused == 3) || err != nil && !errors.Is(err, export.ErrScan) {
				t.Errorf("%d refused: %v", refused, err)
			}
			if elapsed := time.Since(began); elapsed < 7*time.Second {
				t.Errorf("%d refused: it took %v", refused, elapsed)
			}
		}
	})
}

func TestARunsRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	s := newTable(t, 30)
	config := s.config()
	config.NewID = func() string { return "runner-1" }
	check := func(name, sk string) {
		t.Helper()
		out, err := s.db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(export.DefaultCheckpoints),
			Key: export.Item{"PK": text("SCAN#rebuild"), "SK": text(sk)}})
		if err != nil {
			t.Fatal(err)
		}
		golden.Item(t, name, out.Item)
	}
	config.Segments = 1
	n := 0
	for range s.scan(t, s.db.Client(), config).Records(t.Context()) {
		if n++; n == 5 {
			break
		}
	}
	check("scan_run", "RUN")
	check("scan_segment_reading", "SEGMENT#0000")
	if _, err := read(s.scan(t, s.db.Client(), config).Records(t.Context())); err != nil {
		t.Fatal(err)
	}
	check("scan_segment_done", "SEGMENT#0000")
}

func TestAnUnreadableRecordEndsARun(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(item export.Item){
		"v":        func(item export.Item) { item["v"] = number(2) },
		"state":    func(item export.Item) { item["state"] = text("LOST") },
		"position": func(item export.Item) { delete(item, "position") },
		"revision": func(item export.Item) { item["revision"] = number(0) },
		"owner":    func(item export.Item) { delete(item, "owner") },
		"items":    func(item export.Item) { item["items"] = text("1") },
	} {
		s := newTable(t, 0)
		item := export.Item{"PK": text("SCAN#rebuild"), "SK": text("SEGMENT#0001"), "v": number(1), "state": text("READING"), "revision": number(1),
			"owner": text("x"), "items": number(1), "position": &types.AttributeValueMemberM{Value: export.Item{"PK": text("a"), "SK": text("META")}}}
		change(item)
		if _, err := s.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(export.DefaultCheckpoints), Item: item}); err != nil {
			t.Fatal(err)
		}
		var record *export.RecordError
		_, err := read(s.scan(t, s.db.Client(), s.config()).Records(t.Context()))
		if !errors.As(err, &record) || record.Attribute != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWrongScanIsRefused(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]export.ScanConfig{
		"Table": {}, "Segments": {Table: "t", Segments: -1}, "UnitsPerSecond": {Table: "t", UnitsPerSecond: -1}, "PageSize": {Table: "t", PageSize: -1},
		"SK": {Table: "t", PK: "k", SK: "k"}, "Name": {Table: "t", Name: "\xff"},
	} {
		var invalid *export.InvalidError
		if _, err := export.NewScan(nil, config); !errors.As(err, &invalid) || invalid.Field != "ScanConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	s := newTable(t, 3)
	config := s.config()
	config.Now = func() time.Time { return time.Time{}.AddDate(-1, 0, 0) }
	if _, err := read(s.scan(t, s.db.Client(), config).Records(t.Context())); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
	config = s.config()
	config.Name = ""
	scan := s.scan(t, s.db.Client(), config)
	if _, err := scan.Run(t.Context()); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
	if all, err := read(scan.Records(t.Context())); err != nil || len(all) != 3 {
		t.Error(len(all), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(scan.Records(ctx)); !errors.Is(err, context.Canceled) {
		t.Error(fmt.Sprint(err))
	}
}
