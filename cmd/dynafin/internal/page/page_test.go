package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func sample() Page {
	return Page{
		Title: "books", Verdict: "2 events <b>stuck</b>", Note: `</style><script>alert(1)</script>`,
		Tiles: []Tile{{"orders & more", "1,000"}},
		Tables: []Table{
			{Title: "Trial", Columns: []Column{{Name: "account"}, {Name: "debit", Right: true}}, Rows: [][]string{{`<img>`, "19.99 USD"}}},
			{Title: "Gaps", Columns: []Column{{Name: "source"}}, Empty: "no gaps"},
		},
	}
}

func TestContentIsTextAndThePageAsksForNothing(t *testing.T) {
	text := string(sample().HTML())
	for _, never := range []string{"<script", "<img", "<b>", ` src=`, ` href=`, "url(", "@import"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %s", never)
		}
	}
	for _, want := range []string{"2 events &lt;b&gt;stuck&lt;/b&gt;", `class="verdict bad"`, `<td class="r">19.99 USD</td>`, "orders &amp; more", "no gaps", `<th scope="col" class="r">debit</th>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if !bytes.Equal(sample().HTML(), sample().HTML()) {
		t.Error("the same content gives other bytes")
	}
}

func TestThePageIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(sample().HTML()))
	d.Entity = xml.HTMLEntity
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
