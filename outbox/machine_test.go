package outbox_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/outbox"
)

// machine is the model of one event: what a step may find.
type machine struct {
	state   outbox.State
	version int64
	attempt int64
	claim   string
	lease   time.Time
}

// takes says whether a step that read such a record is applied, by the rules as people know them.
func (m machine) takes(rule outbox.Rule, read outbox.Record, lease time.Time) bool {
	same := m.state == rule.From && m.version == read.Version && m.attempt == read.Attempt
	switch rule.Step {
	case "complete", "retry", "park":
		return same && m.claim == read.Claim
	case "renew":
		return same && m.claim == read.Claim && lease.After(m.lease)
	case "recover", "give up":
		return same && m.claim == read.Claim && m.lease.Equal(read.LeaseUntil)
	}
	return same
}

func (m machine) after(rule outbox.Rule, token string, lease time.Time) machine {
	next := machine{state: rule.To, version: m.version + 1, attempt: m.attempt}
	switch rule.Step {
	case "claim":
		next.attempt, next.claim, next.lease = m.attempt+1, token, lease
	case "renew":
		next.version, next.claim, next.lease = m.version, m.claim, lease
	case "complete":
		next.claim = m.claim
	}
	return next
}

// Steps in any order, on records read long ago or just now, by owners and others, with answers lost on the way: an event
// does what the model does. What the model refuses changes nothing, and what it does is never reported as refused.
func TestAnEventDoesWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	lostAnswers, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		b := setup(rt)
		loses := false
		client := b.store.Faulty(func(c dynamosim.Call) dynamosim.Fate {
			if loses && c.Attempt == 1 {
				lostAnswers++
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		})
		o := client.Options()
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.RateLimiter, o.Backoff = ratelimit.None, retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
		client = dynamodb.New(o)
		e := accepted("order-1")
		b.commit(t, b.events.Create(e))
		model := machine{state: outbox.Ready, version: 1}
		reads := []outbox.Record{b.get(t, e.ID)}
		var rules []outbox.Rule
		for _, rule := range outbox.Rules() {
			if rule.Step != "create" && rule.Step != "redrive" && rule.Step != "pass" && rule.Step != "hold" {
				rules = append(rules, rule)
			}
		}
		for n := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			rule := rapid.SampledFrom(rules).Draw(rt, "step")
			read := reads[len(reads)-1-min(len(reads)-1, rapid.IntRange(0, 3).Draw(rt, "read before"))]
			if rapid.IntRange(0, 5).Draw(rt, "whose") == 0 {
				read.Claim = "somebody else's"
			}
			token, at := fmt.Sprint("claim-", n), day.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "minutes"))*time.Minute)
			loses = rapid.Bool().Draw(rt, "answer lost")
			before := b.item(t, e.ID)
			takes := model.takes(rule, read, at.Add(time.Minute))
			err := b.events.Take(t.Context(), client, rule.Step, read, token, at)
			loses = false
			after := b.item(t, e.ID)
			switch {
			case takes && err != nil:
				rt.Fatalf("%s of %+v, read as %+v: %v", rule.Step, model, read, err)
			case takes:
				model = model.after(rule, token, at.Add(time.Minute))
			case err != nil && !errors.Is(err, outbox.ErrStale):
				rt.Fatalf("%s of %+v: %v", rule.Step, model, err)
			case !reflect.DeepEqual(before, after):
				rt.Fatalf("%s of %+v, read as %+v, is late and changed the record", rule.Step, model, read)
			default:
				refused++
			}
			got := b.get(t, e.ID)
			if stored := (machine{got.State, got.Version, got.Attempt, got.Claim, got.LeaseUntil}); stored != model {
				rt.Fatalf("after %s: %+v, the model is %+v", rule.Step, stored, model)
			}
			reads = append(reads, got)
		}
	})
	if lostAnswers == 0 || refused == 0 {
		t.Errorf("%d lost answers and %d late steps were tried", lostAnswers, refused)
	}
}
