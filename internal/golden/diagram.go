package golden

import (
	"maps"
	"os"
	"regexp"
	"strings"
)

// Arrow is one arrow of a state diagram: in a state, [*] before there is any, a call leads to another.
type Arrow struct{ From, Call, To string }

var arrow = regexp.MustCompile(`(?m)^ +(\S+) --> (\S+) : (.+)$`)

// Diagram compares the arrows that a test found, by trying every call in every state, with those that a page draws in
// Mermaid under a heading: no more and no fewer.
func Diagram(t TB, page, heading string, found map[Arrow]bool) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Errorf("%v", err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	drawn := map[Arrow]bool{}
	for _, m := range arrow.FindAllStringSubmatch(section, -1) {
		drawn[Arrow{From: m[1], Call: m[3], To: m[2]}] = true
	}
	for a := range found {
		if !drawn[a] {
			t.Errorf("%s does not draw %+v", page, a)
		}
	}
	maps.DeleteFunc(drawn, func(a Arrow, _ bool) bool { return found[a] })
	for a := range drawn {
		t.Errorf("%s draws %+v, which is not there", page, a)
	}
}
