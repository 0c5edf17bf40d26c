package page

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynafin/dynafin/money"
)

// MaxBytes is how large a page may be.
const MaxBytes = 300_000

// ErrTooLarge says that a page would be larger than MaxBytes: it was given too many entries, breaks or points.
var ErrTooLarge = errors.New("page: larger than 300 KB")

//go:embed page.gohtml
var layout string

//go:embed style.css
var style string

var document = template.Must(template.New("page").Funcs(template.FuncMap{
	"n":      grouped,
	"amount": amountText,
	"took":   took,
	"text":   grouping,
	"bar":    bar,
	"parts":  keyParts,
	"series": func(i int) int { return i % seriesMax },
}).Parse(layout))

// Write writes the page. The same data give the same bytes. It writes nothing if the data contradict themselves, such as
// amounts of two assets in one sum, or give too large a page.
func Write(w io.Writer, d Data) error {
	v, err := viewOf(d)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := document.Execute(&out, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if out.Len() > MaxBytes {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, out.Len())
	}
	_, err = w.Write(out.Bytes())
	return err
}

// view is what the layout shows: the data, what follows from them, and the pictures.
type view struct {
	Data
	Style    template.CSS
	Injected int      // faults in all, without those that came by themselves
	Requests int      // outcomes in all
	Broken   []string // what is wrong, in sentences; the verdict
	Repeat   string   // how to see the first broken invariant again
	Trial    []trialView

	// SumShown is the sum that is shown first, SumsOff are those that are not zero.
	SumShown       *money.Amount
	SumsOff        []money.Amount
	Securities     int
	SecuritiesZero bool

	TimelineChart template.HTML
	BookCharts    []booksView
	Backlog       plot
	Checkpoints   plot
	DelayTop      int
	OutcomeBar    template.HTML
	Heat          template.HTML
}

// plot is a stretched picture with its labels, which the page writes beside it.
type plot struct {
	Chart            template.HTML
	First, Last, Top int
}

// trialView is the trial balance of one asset.
type trialView struct {
	Asset                    string
	Security                 bool
	Accounts                 []Account
	Debits, Credits, Balance money.Amount
}

func viewOf(d Data) (v view, err error) {
	v = view{
		Data: d, Style: template.CSS(style),
		Backlog: backlogChart(d.Flow.Backlog), Checkpoints: checkpointChart(d.Flow), OutcomeBar: stackedBar(d.Outcomes), Heat: heat(d.Cost.Shards),
	}
	for _, f := range d.Faults {
		if !f.Came {
			v.Injected += f.Times
		}
	}
	for _, o := range d.Outcomes {
		v.Requests += o.Count
	}
	for _, b := range d.Flow.Delays {
		v.DelayTop = max(v.DelayTop, b.Count)
	}
	for _, b := range d.Books {
		chart, err := booksChart(b, d.Marks)
		if err != nil {
			return v, err
		}
		v.BookCharts = append(v.BookCharts, chart)
	}
	if v.TimelineChart, err = timelineChart(d.Timeline); err != nil {
		return v, err
	}
	if v.Trial, err = trialOf(d.Accounts); err != nil {
		return v, err
	}
	v.SecuritiesZero = true
	for _, t := range v.Trial {
		if t.Security {
			v.Securities++
			v.SecuritiesZero = v.SecuritiesZero && t.Balance.IsZero()
		}
	}
	for i, sum := range d.Tiles.Sums {
		if i == 0 {
			v.SumShown = &d.Tiles.Sums[i]
		}
		if !sum.IsZero() {
			v.SumsOff = append(v.SumsOff, sum)
		}
	}
	v.judge()
	return v, nil
}

// trialOf sums up the accounts of each asset.
func trialOf(accounts []Account) (all []trialView, err error) {
	for _, a := range accounts {
		asset := a.Balance.Currency().Code()
		if len(all) == 0 || all[len(all)-1].Asset != asset {
			zero := money.Zero(a.Balance.Currency())
			all = append(all, trialView{Asset: asset, Security: a.Balance.Currency().Kind() != money.KindCash, Debits: zero, Credits: zero, Balance: zero})
		}
		of := &all[len(all)-1]
		of.Accounts = append(of.Accounts, a)
		for _, sum := range []struct {
			to  *money.Amount
			add money.Amount
		}{{&of.Debits, a.Debits}, {&of.Credits, a.Credits}, {&of.Balance, a.Balance}} {
			if *sum.to, err = sum.to.Add(sum.add); err != nil {
				return nil, fmt.Errorf("page: trial balance of %s: %w", asset, err)
			}
		}
	}
	return all, nil
}

// judge finds what is wrong. Nothing else makes the verdict.
func (v *view) judge() {
	for _, i := range v.Invariants {
		if i.Broken != "" {
			v.Broken = append(v.Broken, i.Name+": "+i.Broken)
			if v.Repeat == "" {
				v.Repeat = i.Repeat
			}
		}
	}
	for _, sum := range v.Tiles.Sums {
		if !sum.IsZero() {
			v.Broken = append(v.Broken, "The books add up to "+amountText(sum)+" "+sum.Currency().Code()+".")
		}
	}
	for _, b := range v.BookCharts {
		if len(b.Off) > 0 {
			v.Broken = append(v.Broken, "Debits and credits of "+b.Asset+" differ at step "+grouped(b.Off[0].Step)+".")
		}
	}
	for _, t := range v.Trial {
		if !t.Balance.IsZero() {
			v.Broken = append(v.Broken, "The trial balance of "+t.Asset+" is "+amountText(t.Balance)+".")
		}
	}
	for _, f := range v.Faults {
		if !f.Effect.IsZero() {
			v.Broken = append(v.Broken, f.Name+" changed the books by "+amountText(f.Effect)+".")
		}
	}
	if r := v.Reconciliation; r.Found != r.Planted || r.False != 0 {
		v.Broken = append(v.Broken, fmt.Sprintf("Reconciliation found %s of %s planted differences, and %s that nobody made.",
			grouped(r.Found), grouped(r.Planted), grouped(r.False)))
	}
}

// grouped is a count with its thousands apart.
func grouped(n int) string { return grouping(strconv.Itoa(n)) }

func amountText(a money.Amount) string { return grouping(a.Text()) }

// grouping sets the thousands of a decimal apart.
func grouping(text string) string {
	sign, rest := "", text
	if strings.HasPrefix(text, "-") {
		sign, rest = "−", text[1:]
	}
	whole, fraction, point := strings.Cut(rest, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if point {
		return sign + b.String() + "." + fraction
	}
	return sign + b.String()
}

// took is a duration with its units apart: 62 ms, 1.9 s, 1 h 35 min.
func took(d time.Duration) string {
	if d < time.Minute {
		text := d.String()
		digits := strings.TrimRight(text, "nµms")
		return digits + "\u00a0" + text[len(digits):]
	}
	text := ""
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / unit.of; n > 0 {
			text, d = text+fmt.Sprintf(" %d\u00a0%s", n, unit.name), d-n*unit.of
		}
	}
	return strings.TrimSpace(text)
}

// words are those of the key grammar; what else is in a key is somebody's value.
var words = strings.Fields("ACCOUNT ACCT AUDIT AUTH AT BATCH BKT BREAK CASH CLIENTORDER CLAIMS CONSUMER DUE ESCALATED EVENT GAP HEADER LEASE LINKS META MONTH " +
	"ORD ORDER OUTBOX PARKED POS POST PROJ READY RECON REFUSED REPAIR REQ REQUEST RESERVATION RESERVED ROUTE SEAL SEC SERVICE SHARD SOURCE STATUS SYM TEN TRADE TXN UNIQUE V")

// keyPart is a part of a key: a word of the key grammar, or a value.
type keyPart struct {
	Text string
	Word bool
}

// keyParts takes a key apart at its # signs.
func keyParts(key string) (parts []keyPart) {
	for i, text := range strings.Split(key, "#") {
		word := slices.Contains(words, text)
		if i > 0 {
			text = "#" + text
		}
		parts = append(parts, keyPart{text, word})
	}
	return parts
}
