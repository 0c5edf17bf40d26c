package page_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// palettes reads the colours of the style sheet: of light first, of dark second.
func palettes(t *testing.T) (all []map[string]string) {
	t.Helper()
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile(`:root\{([^}]*)\}`).FindAllSubmatch(style, -1) {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--(\w+):#([0-9a-f]{6})`).FindAllSubmatch(block[1], -1) {
			colours[string(c[1])] = string(c[2])
		}
		all = append(all, colours)
	}
	return all
}

// luminance is the relative luminance of WCAG.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	rgb, err := strconv.ParseUint(colour, 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	channel := func(shift uint) float64 {
		c := float64(rgb>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// WCAG AA asks for 4.5 for text, and for 3 for what a picture needs to be understood.
func TestColoursHaveContrastInLightAndDark(t *testing.T) {
	found := palettes(t)
	if len(found) != 2 {
		t.Fatalf("%d palettes, want light and dark", len(found))
	}
	for i, colours := range found {
		scheme := []string{"light", "dark"}[i]
		check := func(front, back string, least float64) {
			t.Helper()
			if ratio := contrast(t, colours[front], colours[back]); ratio < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", scheme, front, back, ratio, least)
			}
		}
		for _, text := range []string{"ink", "muted", "accent", "good", "bad"} {
			check(text, "paper", 4.5)
		}
		for _, back := range []string{"wash", "goodwash", "badwash"} {
			check("ink", back, 4.5)
		}
		for _, back := range []string{"goodwash", "badwash"} {
			check("muted", back, 4.5)
		}
		for _, shape := range []string{"second", "s0", "s1", "s2", "s3", "s4", "s5"} {
			check(shape, "paper", 3)
		}
		check("s1", "wash", 3)
		check("second", "wash", 3)
	}
	if ratio := contrast(t, "000000", "ffffff"); math.Abs(ratio-21) > 1e-9 {
		t.Errorf("black on white has %v, want 21", ratio)
	}
}
