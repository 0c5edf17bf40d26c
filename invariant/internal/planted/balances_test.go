package planted

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/invariant"
)

func balances() []bug {
	return []bug{
		{name: "read-modify-write of a balance", label: "L2, L8", within: 100,
			lesson: "two deposits read the same balance, and one is lost", story: readModifyWrite},
		{name: "blind retry of ADD", label: "E1, E3", within: 100,
			lesson: "the answer was lost, the amount is added twice", story: blindAdd},
		{name: "the SDK's own retry of ADD", label: "E1", within: 120, config: invariant.Config{SDKAttempts: 3},
			lesson: "nobody wrote a retry, and the SDK sends an unconditional write again by itself", story: silentRepeat},
		{name: "token trusted as the record", label: "E2", within: 100,
			lesson: "after ten minutes the request token is forgotten, and the repeat is a second posting", story: tokenAsRecord},
		{name: "version checked, own write not recognised", label: "E1", within: 100,
			lesson: "the version moved because of the caller's own lost write; it reads again and adds again", story: versionWithoutMark},
		{name: "a new identity for every attempt", label: "I6", within: 100,
			lesson: "the retry is another posting to everybody who could have noticed", story: newIdentity},
		{name: "receipt before effect", label: "P2", within: 100,
			lesson: "a crash between the two, and the repeat believes the receipt", story: receiptFirst},
		{name: "effect before receipt", label: "P1", within: 100,
			lesson: "a crash between the two, and the effect happens again", story: effectFirst},
		{name: "funds checked by a read", label: "L3", within: 100,
			lesson: "two withdrawals both saw enough", story: fundsByRead},
		{name: "hold ended without its state", label: "L4", within: 100,
			lesson: "captured and released, the hold pays twice", story: holdEndedTwice},
		{name: "only reason 0 is read", label: "E7", within: 100,
			lesson: "the failed condition stands at another position, so the repeat is never recognised and never ends", story: reasonZero},
		{name: "contention taken for a refusal", label: "E7", within: 300,
			lesson: "the account has enough and was only busy", story: conflictIsRefusal},
	}
}

// post adds an amount to the account, once: the posting has an identity, and its record and the balance change together.
func post(ctx context.Context, s store, id string, amount int) error {
	err := s.together(ctx, "", create("POST#"+id, values{"amount": amount}), update("ACCT", "ADD bal :n", values{"n": amount}))
	if at, _, failed := failedAt(err); failed && at == 0 {
		return nil // an earlier attempt
	}
	return err
}

// deposits lets two workers deposit 5 and 7 and wants 12.
func deposits(w *invariant.World, deposit func(ctx context.Context, p *invariant.Process, amount int) error) {
	for _, amount := range []int{5, 7} {
		w.Worker(fmt.Sprint("deposit", amount), func(ctx context.Context, p *invariant.Process) error { return deposit(ctx, p, amount) })
	}
	w.Run()
	w.Settle()
	wantBalance(w, 12)
}

func wantBalance(w *invariant.World, want int) {
	account, err := behind(w).get(w.Context(), "ACCT")
	w.Check("read", err)
	if got := number(account["bal"]); got != want {
		w.Check("every amount counts once", fmt.Errorf("the balance is %d, not %d", got, want))
	}
}

// good is the twin of most: a posting whose identity is the worker.
func good(ctx context.Context, p *invariant.Process, amount int) error {
	return post(ctx, of(p), p.Name(), amount)
}

func readModifyWrite(w *invariant.World, broken bool) {
	if !broken {
		deposits(w, good)
		return
	}
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		account, err := of(p).get(ctx, "ACCT")
		if err != nil {
			return err
		}
		return of(p).do(ctx, put("ACCT", values{"bal": number(account["bal"]) + amount}))
	})
}

func blindAdd(w *invariant.World, broken bool) {
	if !broken {
		deposits(w, good)
		return
	}
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		return of(p).do(ctx, update("ACCT", "ADD bal :n", values{"n": amount}))
	})
}

// silentRepeat has a worker that tries once and then looks whether its entry is there: careful, but not careful enough.
func silentRepeat(w *invariant.World, broken bool) {
	if !broken {
		deposits(w, good)
		return
	}
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		account, err := of(p).get(ctx, "ACCT")
		if err != nil || account[p.Name()] != "" {
			return err
		}
		set := update("ACCT", "SET "+p.Name()+" = :one ADD bal :n", values{"n": amount, "one": 1})
		return of(p).do(ctx, set)
	})
}

func tokenAsRecord(w *invariant.World, broken bool) {
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		if broken {
			return of(p).together(ctx, p.Name(), update("ACCT", "ADD bal :n", values{"n": amount}))
		}
		return good(ctx, p, amount)
	})
}

func versionWithoutMark(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"bal": 0, "ver": 1})))
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		if !broken {
			return good(ctx, p, amount)
		}
		account, err := of(p).get(ctx, "ACCT")
		if err != nil {
			return err
		}
		return of(p).do(ctx, update("ACCT", "SET bal = bal + :n, ver = ver + :one", values{"n": amount, "one": 1}).
			If("ver = :seen", values{"seen": number(account["ver"])}))
	})
}

func newIdentity(w *invariant.World, broken bool) {
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		if broken {
			return post(ctx, of(p), p.NewID(), amount)
		}
		return good(ctx, p, amount)
	})
}

func receiptFirst(w *invariant.World, broken bool) {
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		if !broken {
			return good(ctx, p, amount)
		}
		err := of(p).do(ctx, create("RECEIPT#"+p.Name(), nil))
		if _, ok := refused(err); ok {
			return nil // seen before
		}
		if err != nil {
			return err
		}
		return of(p).do(ctx, update("ACCT", "ADD bal :n", values{"n": amount}))
	})
}

func effectFirst(w *invariant.World, broken bool) {
	deposits(w, func(ctx context.Context, p *invariant.Process, amount int) error {
		if !broken {
			return good(ctx, p, amount)
		}
		receipt, err := of(p).get(ctx, "RECEIPT#"+p.Name())
		if err != nil || receipt != nil {
			return err
		}
		if err := of(p).do(ctx, update("ACCT", "ADD bal :n", values{"n": amount})); err != nil {
			return err
		}
		return of(p).do(ctx, put("RECEIPT#"+p.Name(), nil))
	})
}

func fundsByRead(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"bal": 10})))
	w.Always("never below zero", func() error {
		account, err := behind(w).get(w.Context(), "ACCT")
		if n := number(account["bal"]); n < 0 {
			return fmt.Errorf("the balance is %d", n)
		}
		return err
	})
	for _, name := range []string{"one", "two"} {
		w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
			account, err := of(p).get(ctx, "ACCT")
			if err != nil || number(account["bal"]) < 7 {
				return err
			}
			withdraw := update("ACCT", "SET bal = bal - :n", values{"n": 7})
			if !broken {
				withdraw = withdraw.If("bal >= :n", nil)
			}
			err = of(p).together(ctx, "", create("POST#"+name, nil), withdraw)
			if _, _, failed := failedAt(err); failed {
				return nil
			}
			return err
		})
	}
	w.Run()
	w.Settle()
}

// holdEndedTwice: 5 of 10 are held; one worker captures the hold, another releases it.
func holdEndedTwice(w *invariant.World, broken bool) {
	w.Check("prepare", errors.Join(behind(w).do(w.Context(), put("ACCT", values{"avail": 5, "held": 5, "paid": 0})),
		behind(w).do(w.Context(), put("HOLD", values{"st": "OPEN"}))))
	for _, end := range [][2]string{{"capture", "SET held = held - :n, paid = paid + :n"}, {"release", "SET held = held - :n, avail = avail + :n"}} {
		name, change := end[0], end[1]
		w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
			ends := update("HOLD", "SET st = :new", values{"new": name})
			if !broken {
				ends = ends.If("st = :open", values{"open": "OPEN"})
			} else if hold, err := of(p).get(ctx, "HOLD"); err != nil || hold["st"] != "OPEN" {
				return err
			}
			err := of(p).together(ctx, "", ends, update("ACCT", change, values{"n": 5}))
			if _, _, failed := failedAt(err); failed {
				return nil
			}
			return err
		})
	}
	w.Run()
	w.Settle()
	account, err := behind(w).get(w.Context(), "ACCT")
	w.Check("read", err)
	if account["held"] != "0" {
		w.Check("a hold ends once", fmt.Errorf("held is %s, available %s, paid %s", account["held"], account["avail"], account["paid"]))
	}
}

func reasonZero(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"bal": 100})))
	w.Worker("pay", func(ctx context.Context, p *invariant.Process) error {
		err := of(p).together(ctx, "", update("ACCT", "SET bal = bal - :n", values{"n": 5}).If("bal >= :n", nil), create("POST#pay", nil))
		codes, _ := reasons(err)
		switch {
		case codes == nil:
			return err
		case codes[0] == conditionFailed:
			return nil // refused
		case !broken && codes[1] == conditionFailed:
			return nil // an earlier attempt
		}
		return err
	})
	w.Run()
	w.Settle()
	wantBalance(w, 95)
}

func conflictIsRefusal(w *invariant.World, broken bool) {
	w.Check("prepare", behind(w).do(w.Context(), put("ACCT", values{"bal": 100})))
	w.Worker("pay", func(ctx context.Context, p *invariant.Process) error {
		err := of(p).together(ctx, "", create("POST#pay", nil), update("ACCT", "SET bal = bal - :n", values{"n": 5}).If("bal >= :n", nil))
		codes, _ := reasons(err)
		at, _, failed := failedAt(err)
		switch {
		case failed && at == 0:
			return nil // an earlier attempt
		case failed && at == 1, broken && codes != nil:
			p.Fatalf("refused, and the account has enough")
		}
		return err
	})
	w.Run()
	w.Settle()
	wantBalance(w, 95)
}
