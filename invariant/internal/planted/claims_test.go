package planted

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/invariant"
)

func claims() []bug {
	return []bug{
		{name: "no condition", label: "I2, E4", within: 20,
			lesson: "the second to want a seat overwrites the first", story: noCondition},
		{name: "check, then put", label: "I2, U1", within: 100,
			lesson: "both looked before either wrote", story: checkThenPut},
		{name: "own conditional failure taken for a rival's", label: "E1", within: 100,
			lesson: "the write was applied, its answer lost, and the repeat meets its own record", story: ownFailure},
		{name: "mark not checked", label: "E1", within: 100,
			lesson: "the same in a transaction: the record found in its way is its own", story: markNotChecked},
		{name: "fingerprint ignored", label: "I1", within: 20,
			lesson: "another command under the same key gets the first one's result", story: fingerprintIgnored},
		{name: "result rebuilt on replay", label: "I8", within: 20,
			lesson: "the repeat is told what would be true now, not what it was told first", story: resultRebuilt},
		{name: "refusal not recorded", label: "I8, L7", within: 100,
			lesson: "a payment that was refused for good goes through when it is repeated after a deposit", story: refusalNotRecorded},
		{name: "no answer taken for a no", label: "E1, E7", within: 100,
			lesson: "the client is told that it failed, and it did not", story: noAnswerIsNo},
	}
}

// bookSeat lets two clients book one seat; everybody must be told who has it.
func bookSeat(w *invariant.World, book func(ctx context.Context, s store, client string) (string, error)) {
	for _, client := range []string{"ann", "bob"} {
		w.Command(client, func(ctx context.Context, p *invariant.Process) ([]byte, error) {
			holder, err := book(ctx, of(p), client)
			return []byte(holder), err
		})
	}
	w.Run()
	w.Settle()
	seat, err := behind(w).get(w.Context(), "SEAT")
	w.Check("read", err)
	for _, answer := range w.Answers() {
		if string(answer.Body) != seat["client"] {
			w.Check("everybody is told who has the seat", fmt.Errorf("%s was told %s, it is %s", answer.Worker, answer.Body, seat["client"]))
		}
	}
}

func noCondition(w *invariant.World, broken bool) {
	bookSeat(w, func(ctx context.Context, s store, client string) (string, error) {
		booking := create("SEAT", values{"client": client})
		if broken {
			booking = put("SEAT", values{"client": client})
		}
		err := s.do(ctx, booking)
		if old, ok := refused(err); ok {
			return old["client"], nil
		}
		return client, err
	})
}

func checkThenPut(w *invariant.World, broken bool) {
	bookSeat(w, func(ctx context.Context, s store, client string) (string, error) {
		seat, err := s.get(ctx, "SEAT")
		if err != nil || seat != nil {
			return seat["client"], err
		}
		booking := create("SEAT", values{"client": client})
		if broken {
			booking = put("SEAT", values{"client": client})
		}
		err = s.do(ctx, booking)
		if old, ok := refused(err); ok {
			return old["client"], nil
		}
		return client, err
	})
}

// takeAlone lets one worker claim what nobody else wants: it must never be told that somebody else has it.
func takeAlone(w *invariant.World, take func(ctx context.Context, s store, token string) (mine bool, err error)) {
	w.Worker("ann", func(ctx context.Context, p *invariant.Process) error {
		mine, err := take(ctx, of(p), "ann's")
		if err == nil && !mine {
			p.Fatalf("refused, and nobody else was there")
		}
		return err
	})
	w.Run()
	w.Settle()
}

func ownFailure(w *invariant.World, broken bool) {
	takeAlone(w, func(ctx context.Context, s store, token string) (bool, error) {
		err := s.do(ctx, create("SEAT", values{"token": token}))
		if old, ok := refused(err); ok {
			return !broken && old["token"] == token, nil
		}
		return true, err
	})
}

func markNotChecked(w *invariant.World, broken bool) {
	takeAlone(w, func(ctx context.Context, s store, mark string) (bool, error) {
		err := s.together(ctx, "", create("ORDER", values{"mark": mark}), create("AUDIT", values{"mark": mark}))
		if _, old, ok := failedAt(err); ok {
			return !broken && old["mark"] == mark, nil
		}
		return true, err
	})
}

func fingerprintIgnored(w *invariant.World, broken bool) {
	for _, amount := range []string{"5", "7"} {
		w.Command("pay "+amount, func(ctx context.Context, p *invariant.Process) ([]byte, error) {
			err := of(p).do(ctx, create("REQ#key", values{"fp": amount, "result": "paid " + amount}))
			old, ok := refused(err)
			switch {
			case ok && (broken || old["fp"] == amount):
				return []byte(old["result"]), nil
			case ok:
				return []byte("mismatch"), nil
			}
			return []byte("paid " + amount), err
		})
	}
	w.Run()
	w.Settle()
	for _, answer := range w.Answers() {
		if told := string(answer.Body); told != "mismatch" && told != "paid "+answer.Command[len("pay "):] {
			w.Check("nobody gets another's result", fmt.Errorf("%s was told %s", answer.Command, told))
		}
	}
}

func resultRebuilt(w *invariant.World, broken bool) {
	w.Command("pay", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		result := "receipt " + p.NewID()
		err := of(p).do(ctx, create("REQ#key", values{"result": result}))
		if old, ok := refused(err); ok && !broken {
			return []byte(old["result"]), nil
		} else if ok {
			return []byte(result), nil
		}
		return []byte(result), err
	})
	w.Run()
	w.Settle()
	w.Check("the same answer to everybody", invariant.SameAnswers(w.Answers()))
}

// pay takes 5 from an account, once, or refuses it for good.
func pay(ctx context.Context, s store, request string, record bool) ([]byte, error) {
	err := s.together(ctx, "", create(request, values{"result": "paid"}),
		update("ACCT", "SET bal = bal - :five", values{"five": 5}).If("bal >= :five", nil))
	at, old, failed := failedAt(err)
	switch {
	case failed && at == 0:
		return []byte(old["result"]), nil
	case failed && !record:
		return []byte("refused"), nil
	case failed:
		err = s.do(ctx, create(request, values{"result": "refused"}))
		if old, ok := refused(err); ok {
			return []byte(old["result"]), nil
		}
		return []byte("refused"), err
	}
	return []byte("paid"), err
}

func refusalNotRecorded(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"bal": 0})))
	w.Command("pay", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		return pay(ctx, of(p), "REQ#pay", !broken)
	})
	w.Worker("deposit", func(ctx context.Context, p *invariant.Process) error {
		return post(ctx, of(p), "deposit", 5)
	})
	w.Run()
	w.Settle()
	w.Check("the same answer to everybody", invariant.SameAnswers(w.Answers()))
}

func noAnswerIsNo(w *invariant.World, broken bool) {
	w.Command("pay", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		err := of(p).do(ctx, create("PAID", values{"by": "ann"}))
		if _, ok := refused(err); ok || err == nil {
			return []byte("paid"), nil
		}
		if broken {
			return []byte("failed: " + short(err)), nil
		}
		return nil, err
	})
	w.Run()
	w.Settle()
	paid, err := behind(w).get(w.Context(), "PAID")
	w.Check("read", err)
	for _, answer := range w.Answers() {
		if string(answer.Body) != "paid" && paid != nil {
			w.Check("a failure is a failure", fmt.Errorf("%s was told %q, and it is paid", answer.Worker, answer.Body))
		}
	}
}

func short(err error) string {
	if unwrapped := errors.Unwrap(err); unwrapped != nil {
		return short(unwrapped)
	}
	return err.Error()
}
