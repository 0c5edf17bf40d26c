package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/money"
)

var update = flag.Bool("update", false, "write the golden page instead of comparing with it")

func written(t *testing.T, d page.Data) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheSampleIsTheGoldenPage(t *testing.T) {
	got := written(t, sample())
	file := filepath.Join("testdata", "sample.html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page is not %s any more; look at it in a browser and run the test with -update", file)
	}
}

func TestTheSameDataGiveTheSameBytes(t *testing.T) {
	if first, second := written(t, sample()), written(t, sample()); first != second {
		t.Error("two pages of the same data differ")
	}
}

func TestThePageAsksNobodyForAnything(t *testing.T) {
	for element, attributes := range elements(t, written(t, sample())) {
		if element == "script" || element == "link" || element == "iframe" || element == "img" {
			t.Errorf("the page has an element %s", element)
		}
		for _, a := range attributes {
			switch {
			case strings.HasPrefix(a.Name.Local, "on"):
				t.Errorf("%s has a handler %s", element, a.Name.Local)
			case a.Name.Local == "src" || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#"):
				t.Errorf("%s refers to %q", element, a.Value)
			}
		}
	}
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`url\(|@import|http`).Match(style) {
		t.Error("the style sheet refers to something outside the page")
	}
}

// elements parses the page as XML, which is stricter than a browser: every element is closed where it must be, every attribute
// quoted. It gives each element with its attributes.
func elements(t *testing.T, text string) func(yield func(string, []xml.Attr) bool) {
	t.Helper()
	return func(yield func(string, []xml.Attr) bool) {
		decoder := xml.NewDecoder(strings.NewReader(text))
		decoder.Entity = map[string]string{"nbsp": "\u00a0"}
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Errorf("the page is not well formed: %v", err)
				return
			}
			if start, ok := token.(xml.StartElement); ok && !yield(start.Name.Local, start.Attr) {
				return
			}
		}
	}
}

func attribute(attributes []xml.Attr, name string) string {
	for _, a := range attributes {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestThePageIsLegibleToAScreenReader(t *testing.T) {
	text := written(t, sample())
	count, ids := map[string]int{}, map[string]int{}
	var targets []string
	for element, attributes := range elements(t, text) {
		count[element]++
		if id := attribute(attributes, "id"); id != "" {
			ids[id]++
		}
		if target := attribute(attributes, "href"); target != "" {
			targets = append(targets, strings.TrimPrefix(target, "#"))
		}
		switch element {
		case "th":
			if scope := attribute(attributes, "scope"); scope != "col" && scope != "row" {
				t.Errorf("a table header has the scope %q", scope)
			}
		case "html":
			if attribute(attributes, "lang") == "" {
				t.Error("the page does not say its language")
			}
		case "svg":
			if attribute(attributes, "aria-hidden") == "" && attribute(attributes, "role") != "img" {
				t.Error("a picture is neither an image nor hidden")
			}
		case "div":
			if attribute(attributes, "role") == "region" && (attribute(attributes, "aria-label") == "" || attribute(attributes, "tabindex") != "0") {
				t.Error("what scrolls must have a name and be reached by the keyboard")
			}
		}
	}
	for _, landmark := range []string{"header", "nav", "main", "footer", "h1"} {
		if count[landmark] != 1 {
			t.Errorf("%d elements %s, want one", count[landmark], landmark)
		}
	}
	for _, target := range targets {
		if ids[target] != 1 {
			t.Errorf("%d elements have the id %s", ids[target], target)
		}
	}
	if pictures, named := strings.Count(text, `role="img"`), len(regexp.MustCompile(`<svg [^>]*role="img"[^>]*><title>[^<]+</title>`).FindAllString(text, -1)); pictures != named || pictures < 7 {
		t.Errorf("%d pictures, %d of them with a title", pictures, named)
	}
	if sections := strings.Count(text, "<section id="); sections != 11 { // with the verdict and the tiles thirteen parts
		t.Errorf("%d sections, want 11", sections)
	}
}

func TestHostileTextStaysText(t *testing.T) {
	const hostile = `<script>alert(1)</script>"'&`
	d := sample()
	d.Title, d.Timeline.Order, d.Flow.Source = hostile, hostile, hostile
	d.Timeline.Lanes[0], d.Timeline.Steps[0].What, d.Timeline.Steps[1].Note = hostile, hostile, hostile
	d.Marks[0].Name, d.Outcomes[0].Name, d.Cost.Shards[0].Name, d.Books[0].Asset = hostile, hostile, hostile, hostile
	d.Items[0].PK, d.Invariants[0].Broken = hostile, hostile
	for element := range elements(t, written(t, d)) {
		if element == "script" {
			t.Fatal("a text of the data became an element")
		}
	}
}

func TestTheVerdictFollowsFromTheFigures(t *testing.T) {
	if text := written(t, sample()); !strings.Contains(text, "All 12 invariants held over 10,000 orders, 204 injected faults, seed 42") {
		t.Error("a day on which all held does not say so")
	}
	cent := money.MustParse("0.01 USD")
	for name, spoil := range map[string]func(*page.Data){
		"In order: it passed version 4":                   func(d *page.Data) { d.Invariants[6].Broken = "it passed version 4" },
		"The books add up to 0.01 USD.":                   func(d *page.Data) { d.Tiles.Sums[0] = cent },
		"Debits and credits of USD differ at step 0.":     func(d *page.Data) { d.Books[0].Points[0].Credits = cent },
		"The trial balance of USD is 0.01.":               func(d *page.Data) { d.Accounts[3].Balance = money.MustParse("-0.01 USD") },
		"The trial balance of ACME is 1.":                 func(d *page.Data) { d.Accounts[6].Balance = shares("-927999") },
		"Throttled changed the books by 0.01.":            func(d *page.Data) { d.Faults[2].Effect = cent },
		"found 3 of 4 planted differences, and 0":         func(d *page.Data) { d.Reconciliation.Found = 3 },
		"found 4 of 4 planted differences, and 1 that no": func(d *page.Data) { d.Reconciliation.False = 1 },
	} {
		d := sample()
		spoil(&d)
		text := written(t, d)
		if !strings.Contains(text, "1 promise did not hold") || !strings.Contains(text, name) || strings.Contains(text, "invariants held") {
			t.Errorf("%s: the verdict does not say it", name)
		}
	}
}

func TestAllSumsThatAreNotZeroAreShown(t *testing.T) {
	d := sample()
	d.Tiles.Sums[1] = money.MustParse("-0.05 EUR")
	if text := written(t, d); !strings.Contains(text, `<span class="wrong">−0.05 EUR</span>`) {
		t.Error("a sum that is not zero is not shown")
	}
	if text := written(t, sample()); !strings.Contains(text, "in each of 2 assets") || !strings.Contains(text, "1 security, zero in sum") {
		t.Error("assets that add up to zero are not counted")
	}
}

func TestADifferenceWithoutAnAmountIsADash(t *testing.T) {
	d := sample()
	d.Reconciliation.Breaks[0].Difference = money.Amount{}
	if text := written(t, d); !strings.Contains(text, `<td class="n"><span class="quiet">–</span></td>`) {
		t.Error("a break without an amount shows one")
	}
}

func TestBrokenInvariantsShowHowToRepeatThem(t *testing.T) {
	d := sample()
	d.Invariants[3].Broken, d.Invariants[3].Repeat = "order ord-1 has no event", "go run ./examples/brokerage -seed 43"
	if text := written(t, d); !strings.Contains(text, "<pre><code>go run ./examples/brokerage -seed 43</code></pre>") {
		t.Error("the command is not shown")
	}
}

func TestWriteRefusesWhatContradictsItself(t *testing.T) {
	for name, spoil := range map[string]func(*page.Data){
		"amounts of two assets":  func(d *page.Data) { d.Accounts[0].Debits = money.MustParse("1.00 EUR") },
		"books in two assets":    func(d *page.Data) { d.Books[0].Points[1].Credits = money.MustParse("1.00 EUR") },
		"a step outside lanes":   func(d *page.Data) { d.Timeline.Steps[0].To = 6 },
		"a step before any lane": func(d *page.Data) { d.Timeline.Steps[0].From = -1 },
	} {
		d := sample()
		spoil(&d)
		var out bytes.Buffer
		if err := page.Write(&out, d); err == nil || out.Len() > 0 {
			t.Errorf("%s: %d bytes were written, error %v", name, out.Len(), err)
		}
	}
}

func TestAPageHasAtMost300KB(t *testing.T) {
	if size := len(written(t, sample())); size > page.MaxBytes/3 {
		t.Errorf("the sample has %d bytes", size)
	}
	d := sample()
	for range 5000 {
		d.Reconciliation.Breaks = append(d.Reconciliation.Breaks, d.Reconciliation.Breaks[0])
	}
	var out bytes.Buffer
	if err := page.Write(&out, d); !errors.Is(err, page.ErrTooLarge) || out.Len() > 0 {
		t.Errorf("%d bytes were written, error %v", out.Len(), err)
	}
}

func TestADayWithoutAnythingIsAPage(t *testing.T) {
	for range elements(t, written(t, page.Data{Title: "nothing"})) {
	}
}
