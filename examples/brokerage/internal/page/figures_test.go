package page_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/examples/brokerage/internal/page"
	"github.com/dynafin/dynafin/money"
)

// figure is a number in a text, with its thousands apart or not.
var figure = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

func figures(text string) (found []string) {
	for _, f := range figure.FindAllString(text, -1) {
		found = append(found, strings.ReplaceAll(strings.TrimRight(f, ","), ",", ""))
	}
	return found
}

// collect gathers the figures of data, whatever their types.
func collect(v reflect.Value, into map[string]bool) {
	add := func(text string) {
		for _, f := range figures(text) {
			into[f] = true
		}
	}
	switch value := v.Interface().(type) {
	case money.Amount:
		add(value.Text())
		return
	case capacity.Units:
		add(value.String())
		return
	case time.Duration:
		add(value.String())
		return
	case time.Time:
		add(value.Format(time.DateTime))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			collect(v.Field(i), into)
		}
	case reflect.Slice:
		into[fmt.Sprint(v.Len())] = true // how many there are is a figure of the data, too
		for i := range v.Len() {
			collect(v.Index(i), into)
		}
	default:
		add(fmt.Sprint(v.Interface()))
	}
}

// derived are the figures that the page adds up: faults and requests in all, the most that waited, the sums of accounts.
func derived(d page.Data, into map[string]bool) {
	faults, outcomes, top := 0, 0, 0
	for _, f := range d.Faults {
		if !f.Came {
			faults += f.Times
		}
	}
	for _, o := range d.Outcomes {
		outcomes += o.Count
	}
	for _, b := range d.Flow.Backlog {
		top = max(top, b.Pending+b.Parked)
	}
	for _, n := range []int{faults, outcomes, top} {
		into[fmt.Sprint(n)] = true
	}
	debits, credits := map[string]money.Amount{}, map[string]money.Amount{}
	for _, a := range d.Accounts {
		code := a.Balance.Currency().Code()
		debits[code], _ = debits[code].Add(a.Debits)
		credits[code], _ = credits[code].Add(a.Credits)
	}
	for code := range debits {
		into[debits[code].Text()], into[credits[code].Text()] = true, true
	}
}

func TestEveryFigureOfThePageIsInTheData(t *testing.T) {
	d := sample()
	known := map[string]bool{}
	collect(reflect.ValueOf(d), known)
	derived(d, known)
	seen := 0
	decoder := xml.NewDecoder(strings.NewReader(written(t, d)))
	var path []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 && path[len(path)-1] == "style" {
				continue
			}
			for _, f := range figures(string(token)) {
				if seen++; !known[f] {
					t.Errorf("%s: %q has %s, which is not in the data", strings.Join(path, " "), strings.TrimSpace(string(token)), f)
				}
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d figures were found on the page", seen)
	}
}
