package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// A history begins at midnight of 1 January 2000. What counts in the month before may find it closed.
var (
	january  = time.Date(2000, 1, 1, 9, 0, 0, 0, time.UTC)
	december = time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	expiry   = time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC)
)

// calmly commits for the story itself.
func calmly(w *invariant.World, what string) *txn.Committer {
	marks := 0
	return txn.New(w.Client(), txn.Config{Now: w.Now, NewMark: func() string { marks++; return fmt.Sprint(what, marks) }})
}

// openBank creates the table and the accounts, with what they have: opened by what was paid in before.
func openBank(w *invariant.World) *ledger.Ledger {
	book := newBook(w.Now)
	w.Table(books.Name, book.Indexes()...)
	var parts []txn.Part
	for _, id := range []string{"house", "ann", "bob", "till", "fees"} {
		k := kept[id]
		asset := ledger.Asset{Currency: dollar, NoMinimum: k.anything}
		if !k.anything {
			asset.Minimum = cents(k.minimum)
		}
		parts = append(parts, book.OpenAccount(ledger.Account{Tenant: bank, ID: id, Side: k.side}, asset))
	}
	commits := calmly(w, "opening")
	prepare := func(parts ...txn.Part) {
		_, err := commits.Commit(w.Context(), parts...)
		w.Check("open the bank", err)
	}
	prepare(parts...)
	prepare(book.Post(transaction("opening", december, []entry{{"house", 2500}, {"till", 800}, {"ann", -1300}, {"bob", -200}, {"fees", -1800}})))
	prepare(book.Post(transaction("paid", december, pays("ann", "bob", 300))))
	return book
}

// booksHold checks everything that the table promises at any moment (L3, L4, L5, L8).
func booksHold(w *invariant.World, book *ledger.Ledger) func() error {
	return func() error {
		b, err := invariant.ReadBooks(w.Context(), w.Client(), books, book)
		if err != nil {
			return err
		}
		return b.Check()
	}
}

// task is something that a client of the bank asks for.
type task struct {
	name string
	// forGood says that every client must be told the same, whenever it asks.
	forGood bool
	do      func(ctx context.Context, c *clerk) (string, error)
}

// routes are who pays whom: the house, a customer, out of the till, to one account twice.
var routes = [][]entry{
	pays("house", "ann", 400), pays("ann", "house", 700), pays("ann", "bob", 600), pays("bob", "till", 900), pays("ann", "till", 500),
	{{"ann", 300}, {"ann", 300}, {"bob", -590}, {"fees", -5}, {"fees", -5}},
	{{"bob", 800}, {"ann", -800}, {"till", -1}, {"house", 1}},
}

// drawTask chooses what is asked for. Holds, captures and reversals meet others of the same name.
func drawTask(w *invariant.World, i int) task {
	at := []time.Time{january, december}[w.Choose("month", 2)]
	id := fmt.Sprint("t", i)
	hold := []string{"h1", "h2"}[w.Choose("hold", 2)]
	account := map[string]string{"h1": "ann", "h2": "till"}[hold]
	out := func(n int64) ledger.Transaction {
		if account == "till" {
			return transaction(id, at, pays("house", "till", n))
		}
		return transaction(id, at, pays("ann", "fees", n))
	}
	switch w.Choose("task", 11) {
	default: // the usual thing
		forGood := w.Choose("for good", 2) == 1
		tx := transaction(id, at, routes[w.Choose("route", len(routes))])
		return task{id + " posts", forGood, func(ctx context.Context, c *clerk) (string, error) { return c.post(ctx, tx, forGood) }}
	case 1, 2:
		forGood := w.Choose("for good", 2) == 1
		return task{id + " holds " + hold, false, func(ctx context.Context, c *clerk) (string, error) {
			return c.reserve(ctx, hold, account, 600, expiry, forGood)
		}}
	case 3, 4, 5:
		release := w.Choose("release", 3) == 2
		first := w.Choose("hold first", 3) > 0
		n, final := []int64{200, 400, 600}[w.Choose("captured", 3)], w.Choose("final", 2) == 1
		return task{id + " ends " + hold, false, func(ctx context.Context, c *clerk) (string, error) {
			if first {
				if word, err := c.reserve(ctx, hold, account, 600, expiry, false); err != nil {
					return word, err
				}
			}
			if release {
				return c.release(ctx, hold, account)
			}
			return c.capture(ctx, hold, account, out(n), final)
		}}
	case 6:
		return task{id + " reverses", false, func(ctx context.Context, c *clerk) (string, error) { return c.reverse(ctx, "paid", id, 200, january) }}
	case 7:
		return task{id + " closes", false, func(ctx context.Context, c *clerk) (string, error) {
			return c.closePeriod(ctx, "ann", ledger.MonthOf(december))
		}}
	case 8:
		to := []ledger.Status{ledger.StatusFrozen, ledger.StatusOpen}[w.Choose("status", 2)]
		return task{id + " sets " + string(to), false, func(ctx context.Context, c *clerk) (string, error) { return c.setStatus(ctx, "ann", to) }}
	case 9:
		return task{id + " looks", false, func(ctx context.Context, c *clerk) (string, error) { return c.look(ctx, account) }}
	}
}

// runBank is the story of a bank.
func runBank(w *invariant.World) {
	book, clerks := openBank(w), newStaff()
	var tasks []task
	for i := range 3 + w.Choose("more tasks", 4) {
		t := drawTask(w, i)
		tasks = append(tasks, t)
		w.Command(t.name, func(ctx context.Context, p *invariant.Process) ([]byte, error) {
			word, err := t.do(ctx, clerks.clerk(p))
			return []byte(word), err
		})
	}
	w.Worker("sweeper", func(ctx context.Context, p *invariant.Process) error {
		if err := p.Sleep(ctx, expiry.Sub(p.Now())); err != nil {
			return err
		}
		return clerks.clerk(p).sweep(ctx)
	})
	w.Always("the books hold", booksHold(w, book))
	w.Run()
	w.Settle()
	answersHold(w, book, tasks)
	w.Check("each balance has one history", w.Linearizable(invariant.Authority()))
	nothingIsStuck(w, book)
	readsAgree(w, book)
}

var digits = regexp.MustCompile(`-?\d+ ?`)

// answersHold compares what clients were told with what is stored: who was told that it is posted finds it, and what
// was refused for good is not there and was told to everybody (L7).
func answersHold(w *invariant.World, book *ledger.Ledger, tasks []task) {
	stored, err := invariant.ReadBooks(w.Context(), w.Client(), books, book)
	w.Check("read the books", err)
	posted := stored.Posted()
	var lasting []invariant.Answer
	for _, a := range w.Answers() {
		id, _, _ := strings.Cut(a.Command, " ")
		there := slices.Contains(posted, id)
		w.Sometimes("told: "+strings.TrimRight(digits.ReplaceAllString(string(a.Body), ""), ": "), true)
		switch told := string(a.Body); {
		case told == invariant.AuthorityDone && strings.HasSuffix(a.Command, " posts") && !there:
			w.Check("what was confirmed is there", fmt.Errorf("%s was told %q", a.Worker, told))
		case strings.HasPrefix(told, "refused: ") && there:
			w.Check("what was refused is not there", fmt.Errorf("%s was told %q", a.Worker, told))
		}
		if slices.ContainsFunc(tasks, func(t task) bool { return t.forGood && t.name == a.Command }) {
			lasting = append(lasting, a)
		}
	}
	w.Check("the same answer to everybody", invariant.SameAnswers(lasting))
}

// readsAgree asks everything that the library has to read books with: statements, trial balance, balance as of the end of
// time and Verify say of every account what its balance says (L8). One history in four is audited, which costs as much as it.
func readsAgree(w *invariant.World, book *ledger.Ledger) {
	if w.Choose("audit", 4) < 3 {
		return
	}
	ctx, client := w.Context(), w.Client()
	trial, err := book.TrialBalance(ctx, client, bank, slices.Sorted(maps.Keys(kept))...)
	w.Check("trial balance", err)
	if !trial.Balanced() || len(trial.Rows) != len(kept) {
		w.Check("trial balance", fmt.Errorf("the sums are %v", trial.Sums))
	}
	for _, row := range trial.Rows {
		count, sum := int64(0), cents(0)
		for line, err := range book.Statement(ctx, client, ledger.StatementQuery{Tenant: bank, Account: row.Account}) {
			w.Check("statement", err)
			count++
			sum, err = sum.Add(line.Amount)
			w.Check("statement", err)
		}
		at, err := book.BalanceAt(ctx, client, bank, row.Account, dollar, ledger.AsOf{EffectiveAt: january.AddDate(1, 0, 0)})
		w.Check("balance as of", err)
		if count != row.Postings || sum != row.Signed || at.Signed != row.Signed || at.Postings != row.Postings {
			w.Check("statement, balance and trial balance agree", fmt.Errorf("%s: %d postings of %s, %d of %s, %d of %s", row.Account,
				count, sum, at.Postings, at.Signed, row.Postings, row.Signed))
		}
		report, err := book.Verify(ctx, client, ledger.Verification{Tenant: bank, Account: row.Account, Asset: dollar, Locate: true})
		w.Check("verify", errors.Join(err, report.Err()))
	}
}

// nothingIsStuck checks that what is still reserved can be swept, and then nothing is.
func nothingIsStuck(w *invariant.World, book *ledger.Ledger) {
	w.Advance(time.Until(expiry.Add(time.Hour)))
	commits := calmly(w, "sweeping")
	for shard := range book.Shards() {
		for r, err := range book.Due(w.Context(), w.Client(), bank, shard, w.Now()) {
			w.Check("list what is due", err)
			_, err = commits.Commit(w.Context(), book.Expire(r))
			w.Check("sweep what is due", err)
		}
	}
	for id := range kept {
		b, err := book.Balance(w.Context(), w.Client(), bank, id, dollar)
		w.Check("read a balance", err)
		if !b.Reserved.IsZero() || b.Reservations != 0 {
			w.Check("nothing stays reserved", fmt.Errorf("%s reserves %s in %d", id, b.Reserved, b.Reservations))
		}
	}
	w.Check("the books hold", booksHold(w, book)())
}

func TestTheLedgerHoldsWhateverHappens(t *testing.T) {
	t.Parallel()
	invariant.Check(t, invariant.Config{Timeout: 2 * time.Minute}, runBank)
}

// TestTheLedgerSurvivesEachFaultAtEachRequest: a hold is captured in two parts and taken back in two parts, and every
// request of it is lost, answered to nobody, late, and the last one that its process sends.
func TestTheLedgerSurvivesEachFaultAtEachRequest(t *testing.T) {
	t.Parallel()
	runs := invariant.EachFault(t, invariant.Config{}, func(w *invariant.World) {
		book, clerks := openBank(w), newStaff()
		steps := []func(ctx context.Context, c *clerk) (string, error){
			func(ctx context.Context, c *clerk) (string, error) {
				return c.reserve(ctx, "h1", "ann", 600, expiry.Add(time.Hour), false)
			},
			func(ctx context.Context, c *clerk) (string, error) {
				return c.capture(ctx, "h1", "ann", transaction("c1", january, pays("ann", "fees", 400)), false)
			},
			func(ctx context.Context, c *clerk) (string, error) {
				return c.capture(ctx, "h1", "ann", transaction("c2", january, pays("ann", "fees", 100)), true)
			},
			func(ctx context.Context, c *clerk) (string, error) { return c.reverse(ctx, "c1", "r1", 250, january) },
			func(ctx context.Context, c *clerk) (string, error) { return c.reverse(ctx, "c1", "r2", 150, january) },
		}
		w.Worker("clerk", func(ctx context.Context, p *invariant.Process) error {
			for i, step := range steps {
				word, err := step(ctx, clerks.clerk(p))
				if err != nil {
					return err
				}
				if word != invariant.AuthorityDone {
					p.Fatalf("step %d: %s", i+1, word)
				}
			}
			return nil
		})
		w.Always("the books hold", booksHold(w, book))
		w.Run()
		w.Settle()
		w.Check("each balance has one history", w.Linearizable(invariant.Authority()))
		b, err := book.Balance(w.Context(), w.Client(), bank, "ann", dollar)
		w.Check("read a balance", err)
		if b.Posted != cents(900) || !b.Reserved.IsZero() {
			w.Check("everything happened once", fmt.Errorf("ann has %s, %s reserved", b.Posted, b.Reserved))
		}
	})
	if runs < 45 {
		t.Errorf("%d runs", runs)
	}
}
