package house

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)

// anchors are the places in a document that a link can lead to: its headings, as the usual renderers of Markdown name them.
func anchors(f file) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(withoutFences(f), -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				name.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				name.WriteRune(r)
			}
		}
		names[name.String()] = true
	}
	return names
}

// checkAnchors returns the links of a document that lead to no heading.
func checkAnchors(f file, named func(path string) (file, bool)) (findings []string) {
	for _, found := range link.FindAllStringSubmatch(f.text, -1) {
		name, anchor, ok := strings.Cut(found[1], "#")
		if !ok || strings.Contains(name, ":") {
			continue
		}
		target := f
		if name != "" {
			if target, ok = named(path.Join(path.Dir(f.path), name)); !ok || !isMarkdown(target) {
				continue // another check says if it is not there
			}
		}
		if !anchors(target)[anchor] {
			findings = append(findings, fmt.Sprintf("%s links to %s, and there is no such heading", f.path, found[1]))
		}
	}
	return findings
}

func TestLinksLeadToHeadings(t *testing.T) {
	tr := checkout(t)
	for _, f := range tr.files {
		if isMarkdown(f) {
			report(t, checkAnchors(f, tr.named))
		}
	}
}

func TestAnchorCheckFindsLostHeadings(t *testing.T) {
	page := file{path: "docs/a.md", text: "# A\n## 13. Why an *outbox*, if not?\n[x](#13-why-an-outbox-if-not) [y](b.md#b) [z](b.md#c) [w](#code) [v](https://example.org/#q)\n```\n# code\n```\n"}
	other := file{path: "docs/b.md", text: "# B\n"}
	named := func(name string) (file, bool) { return other, name == other.path }
	mustFind(t, checkAnchors(page, named), "b.md#c", "#code")
}
