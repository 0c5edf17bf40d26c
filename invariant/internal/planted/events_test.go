package planted

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
)

func events() []bug {
	return []bug{
		{name: "event written after the fact", label: "O1", within: 100,
			lesson: "a crash between order and event, and nobody is ever told", story: eventAfterFact},
		{name: "late commit ignored", label: "E1, E3", within: 500,
			lesson: "one read sees nothing, a second payment is made, and then the first one lands", story: lateCommitIgnored},
		{name: "cursor as done marker", label: "P3, O4", within: 100,
			lesson: "the cursor moves first, and the event it passed is never applied", story: cursorFirst},
		{name: "cursor moved past a failure", label: "P6, O4", within: 100,
			lesson: "the next event succeeds and takes the cursor past the one that failed", story: cursorPastFailure},
		{name: "stale index trusted", label: "O3", within: 100,
			lesson: "two relays list one event, and both handle it", story: staleIndex},
		{name: "state not in the condition", label: "E3", within: 200,
			lesson: "a late duplicate of an earlier request undoes what came after it", story: lateDuplicate},
	}
}

func eventAfterFact(w *invariant.World, broken bool) {
	w.Worker("accept", func(ctx context.Context, p *invariant.Process) error {
		order, event := create("ORDER", nil), create("EVENT", nil)
		var err error
		if broken {
			err = of(p).do(ctx, order)
			if err == nil {
				err = of(p).do(ctx, event)
			}
		} else {
			err = of(p).together(ctx, "", order, event)
		}
		_, old := refused(err)
		_, _, cancelled := failedAt(err)
		if old || cancelled {
			return nil // accepted before
		}
		return err
	})
	w.Run()
	w.Settle()
	order, err1 := behind(w).get(w.Context(), "ORDER")
	event, err2 := behind(w).get(w.Context(), "EVENT")
	w.Check("read", errors.Join(err1, err2))
	if order == nil || event == nil {
		w.Check("an order has its event", fmt.Errorf("order %v, event %v", order, event))
	}
}

func lateCommitIgnored(w *invariant.World, broken bool) {
	w.Worker("pay", func(ctx context.Context, p *invariant.Process) error {
		for attempt := range 10 {
			id := fmt.Sprint("PAY#", attempt)
			if !broken {
				id = "PAY#0"
			}
			err := of(p).do(ctx, create(id, nil))
			if _, ok := refused(err); ok || err == nil {
				return nil
			}
			paid, err := of(p).get(ctx, id)
			if err != nil {
				return err
			}
			if paid != nil {
				return nil
			}
		}
		return errors.New("given up")
	})
	w.Run()
	w.Settle()
	payments := 0
	for attempt := range 10 {
		paid, err := behind(w).get(w.Context(), fmt.Sprint("PAY#", attempt))
		w.Check("read", err)
		if paid != nil {
			payments++
		}
	}
	if payments != 1 {
		w.Check("one payment", fmt.Errorf("%d payments", payments))
	}
}

const lastEvent = 3

// consume brings a consumer to the last event, by a cursor that it keeps. next does one step from a cursor.
func consume(w *invariant.World, next func(ctx context.Context, s store, cursor int) error) {
	w.Worker("consumer", func(ctx context.Context, p *invariant.Process) error {
		for {
			stored, err := of(p).get(ctx, "CURSOR")
			if err != nil || number(stored["pos"]) >= lastEvent {
				return err
			}
			if err := next(ctx, of(p), number(stored["pos"])); err != nil {
				return err
			}
		}
	})
	w.Run()
	w.Settle()
	for n := 1; n <= lastEvent; n++ {
		applied, err := behind(w).get(w.Context(), fmt.Sprint("APPLIED#", n))
		w.Check("read", err)
		if applied == nil {
			w.Check("every event is applied", fmt.Errorf("event %d is not", n))
		}
	}
}

func apply(ctx context.Context, s store, n int) error {
	return s.do(ctx, put(fmt.Sprint("APPLIED#", n), nil)) // the same whenever it happens
}

// move moves the cursor on; a cursor that somebody moved already is as good.
func move(ctx context.Context, s store, to int) error {
	err := s.do(ctx, update("CURSOR", "SET pos = :to", values{"to": to}).If("attribute_not_exists(PK) OR pos < :to", nil))
	if _, ok := refused(err); ok {
		return nil
	}
	return err
}

func cursorFirst(w *invariant.World, broken bool) {
	consume(w, func(ctx context.Context, s store, cursor int) error {
		if broken {
			if err := move(ctx, s, cursor+1); err != nil {
				return err
			}
			return apply(ctx, s, cursor+1)
		}
		if err := apply(ctx, s, cursor+1); err != nil {
			return err
		}
		return move(ctx, s, cursor+1)
	})
}

func cursorPastFailure(w *invariant.World, broken bool) {
	consume(w, func(ctx context.Context, s store, cursor int) error {
		done := cursor
		for n := cursor + 1; n <= lastEvent; n++ {
			if err := apply(ctx, s, n); err == nil {
				done = n
			} else if !broken {
				break
			}
		}
		if done == cursor {
			return errors.New("nothing done")
		}
		return move(ctx, s, done)
	})
}

func staleIndex(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("JOB", values{"st": "READY", "RPK": "READY", "RSK": "1", "runs": 0})))
	for _, name := range []string{"one", "two"} {
		w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
			listed, err := p.Client().Query(ctx, &dynamodb.QueryInput{TableName: aws.String(table), IndexName: aws.String("ready"),
				KeyConditionExpression: aws.String("RPK = :ready"), ExpressionAttributeValues: map[string]types.AttributeValue{":ready": text("READY")}})
			if err != nil {
				return err
			}
			for range listed.Items {
				handle := update("JOB", "SET st = :done, runs = runs + :one REMOVE RPK, RSK", values{"done": "DONE", "one": 1})
				if !broken {
					handle = handle.If("st = :ready", values{"ready": "READY"})
				}
				err = of(p).do(ctx, handle)
				if _, ok := refused(err); ok {
					err = nil
				}
			}
			return err
		})
	}
	w.Run()
	w.Settle()
	job, err := behind(w).get(w.Context(), "JOB")
	w.Check("read", err)
	if job["runs"] != "1" {
		w.Check("an event is handled once", fmt.Errorf("%s times", job["runs"]))
	}
}

// lateDuplicate opens an account and closes it. A copy of the request to open it must not open it again.
func lateDuplicate(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"st": "NEW"})))
	w.Worker("owner", func(ctx context.Context, p *invariant.Process) error {
		for _, step := range [][2]string{{"NEW", "OPEN"}, {"OPEN", "CLOSED"}} {
			change := update("ACCT", "SET st = :to", values{"to": step[1]})
			if !broken {
				change = change.If("st = :from", values{"from": step[0]})
			}
			err := of(p).do(ctx, change)
			if _, ok := refused(err); ok {
				continue // done before
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	w.Run()
	w.Settle()
	account, err := behind(w).get(w.Context(), "ACCT")
	w.Check("read", err)
	if account["st"] != "CLOSED" {
		w.Check("closed stays closed", fmt.Errorf("it is %s", account["st"]))
	}
}
