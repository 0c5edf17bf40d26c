// Package batching hands messages to a broker in calls that the broker takes, and finds out what became of each one. What
// brokers have in common is here; what is special to one is in its own package.
package batching

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/dynafin/dynafin/outbox"
)

// Broker says how a broker takes messages.
type Broker struct {
	// Name is the kind of broker, for errors.
	Name string
	// Entries and Bytes limit one call, and EntryBytes one entry.
	Entries, Bytes, EntryBytes int
	// Ordered sends the messages of an aggregate in the order of their versions, one a call, and none after one that failed.
	Ordered bool
	// Unfit says of the code with which a whole call was refused, that it is about what an entry holds. Such a call is
	// halved until the entry stands alone, so that its neighbours do not share its fate.
	Unfit func(code string) bool
}

// Answer is what the broker said of one entry. With a Code it was refused, otherwise with an Ack it was taken, and with
// neither nobody knows.
type Answer struct {
	Ack, Code string
	// Final says of a refusal that it is about what the entry holds.
	Final bool
}

// Unfit is why a message can never be an entry.
type Unfit string

// Error returns the reason.
func (u Unfit) Error() string { return string(u) }

// Envelope is the body of a message unless the user chooses another.
func Envelope(e outbox.Event) ([]byte, error) { return e.Envelope(), nil }

// entry is a message as the broker takes it.
type entry[E any] struct {
	place int // of its message in the batch
	body  E
	bytes int
}

// sender is one Publish.
type sender[E any] struct {
	Broker
	batch   []outbox.Message
	results []outbox.Result
	call    func(context.Context, []E) ([]Answer, error)
}

// Publish makes an entry of each message, with its size in bytes, and hands the entries over in as few calls as limits and
// order allow, one after the other. Call returns one answer for each entry, in their order. Once the context has ended
// nothing more is sent; the results of what was sent before stand.
func Publish[E any](ctx context.Context, broker Broker, batch []outbox.Message,
	encode func(outbox.Event) (body E, bytes int, err error),
	call func(ctx context.Context, bodies []E) ([]Answer, error),
) []outbox.Result {
	s := &sender[E]{Broker: broker, batch: batch, results: make([]outbox.Result, len(batch)), call: call}
	for _, wave := range waves(batch, broker.Ordered) {
		var entries []entry[E]
		for _, turn := range wave {
			if turn.after >= 0 && s.results[turn.after].Err != nil {
				s.fail(turn.place, outbox.PublishError{Reason: "an earlier event of its aggregate was not published"})
				continue
			}
			body, bytes, err := encode(batch[turn.place].Event)
			if s.fits(turn.place, bytes, err) {
				entries = append(entries, entry[E]{turn.place, body, bytes})
			}
		}
		for _, chunk := range s.chunks(entries) {
			s.send(ctx, chunk)
		}
	}
	return s.results
}

// turn is a message in a wave: its place in the batch, and that of the message of its aggregate before it, or -1.
type turn struct{ place, after int }

// waves puts a batch in order: a wave is sent when the one before it is answered. Without order there is one wave.
func waves(batch []outbox.Message, ordered bool) (all [][]turn) {
	type aggregate struct{ tenant, kind, id string }
	places := make([]int, len(batch))
	for i := range places {
		places[i] = i
	}
	if ordered {
		slices.SortStableFunc(places, func(a, b int) int {
			return cmp.Compare(batch[a].Event.AggregateVersion, batch[b].Event.AggregateVersion)
		})
	}
	depth, last := map[aggregate]int{}, map[aggregate]int{}
	for _, place := range places {
		e, at := batch[place].Event, turn{place, -1}
		of, wave := aggregate{e.Tenant, e.AggregateType, e.AggregateID}, 0
		if ordered && depth[of] > 0 {
			wave, at.after = depth[of], last[of]
		}
		depth[of], last[of] = depth[of]+1, place
		if wave == len(all) {
			all = append(all, nil)
		}
		all[wave] = append(all[wave], at)
	}
	return all
}

// fits settles messages that can never be published.
func (s *sender[E]) fits(place, bytes int, err error) bool {
	var unfit Unfit
	switch {
	case errors.As(err, &unfit):
	case err != nil:
		unfit = "its body cannot be made"
	case bytes > min(s.EntryBytes, s.Bytes):
		unfit = Unfit("it has " + strconv.Itoa(bytes) + " bytes, of at most " + strconv.Itoa(min(s.EntryBytes, s.Bytes)))
	default:
		return true
	}
	s.fail(place, outbox.PublishError{Reason: string(unfit), Final: true, Err: err})
	return false
}

// chunks splits entries into calls, in their order.
func (s *sender[E]) chunks(entries []entry[E]) (all [][]entry[E]) {
	start, bytes := 0, 0
	for i, e := range entries {
		if i-start == s.Entries || bytes+e.bytes > s.Bytes {
			all, start, bytes = append(all, entries[start:i]), i, 0
		}
		bytes += e.bytes
	}
	if start < len(entries) {
		all = append(all, entries[start:])
	}
	return all
}

// send makes one call, or more if one entry spoils it for the others.
func (s *sender[E]) send(ctx context.Context, chunk []entry[E]) {
	if err := ctx.Err(); err != nil {
		for _, e := range chunk {
			s.fail(e.place, outbox.PublishError{Reason: "it was not sent: " + err.Error(), Err: err})
		}
		return
	}
	bodies := make([]E, len(chunk))
	for i, e := range chunk {
		bodies[i] = e.body
	}
	answers, err := s.call(ctx, bodies)
	if err != nil {
		code, reason := explain(err)
		unfit := tooLarge(err) || s.Unfit(code)
		if unfit && len(chunk) > 1 {
			s.send(ctx, chunk[:len(chunk)/2])
			s.send(ctx, chunk[len(chunk)/2:])
			return
		}
		for _, e := range chunk {
			s.fail(e.place, outbox.PublishError{Code: code, Reason: reason, Final: unfit, Err: err})
		}
		return
	}
	for i, e := range chunk {
		if len(answers) != len(chunk) { // whose is which?
			s.fail(e.place, outbox.PublishError{
				Reason: "the answer has " + strconv.Itoa(len(answers)) + " results for " + strconv.Itoa(len(chunk)) + " entries"})
			continue
		}
		s.settle(e.place, answers[i])
	}
}

// settle stores what the broker said of one entry. Of two answers that contradict one another the one that loses nothing
// counts.
func (s *sender[E]) settle(place int, a Answer) {
	switch {
	case a.Code != "":
		code := tidy(a.Code)
		s.fail(place, outbox.PublishError{Code: code, Reason: "it answers " + code, Final: a.Final && a.Ack == ""})
	case a.Ack != "":
		s.results[place] = outbox.Result{Ack: a.Ack}
	default:
		s.fail(place, outbox.PublishError{Reason: "the answer does not say what became of it"})
	}
}

func (s *sender[E]) fail(place int, err outbox.PublishError) {
	err.EventID, err.Broker = s.batch[place].Event.ID, s.Name
	s.results[place] = outbox.Result{Err: &err, Final: err.Final}
}
