package main

import (
	"fmt"
	"maps"
	"runtime/debug"
	"strconv"

	bojanz "github.com/bojanz/currency"
	govalues "github.com/govalues/money"
)

// The pinned sources. A new version of either is a new table: change the line here with go.mod and regenerate.
var (
	// current carries ISO's own list of current currencies and funds, scales included (its generator reads the list
	// of the maintenance agency, not CLDR, whose digits are those of display habits).
	current = source{module: "github.com/bojanz/currency", version: "v1.5.1", released: "2026-11-14"}
	// earlier was made by hand from an older list. It cross-checks the scales and knows codes withdrawn since.
	earlier = source{module: "github.com/govalues/money", version: "v0.2.4", released: "2025-01-25"}
)

// disputes are the codes on which the two sources differ, each looked up in the standard. Any other difference fails.
var disputes = map[string]string{
	"ISK": "the standard has no minor unit since 2007; the earlier source still has two places",
}

// notMoney are codes of the earlier source for which the standard names no minor unit.
var notMoney = map[string]bool{"XTS": true, "XXX": true}

type source struct{ module, version, released string }

func (s source) String() string { return s.module + " " + s.version }

type entry struct {
	code           string
	numeric, scale int
	withdrawn      bool
}

// table merges the sources: current codes from the current one, and as withdrawn what only the earlier one knows.
func table() (map[string]entry, error) {
	if err := checkVersions(current, earlier); err != nil {
		return nil, err
	}
	now, err := readCurrent()
	if err != nil {
		return nil, err
	}
	before, err := readEarlier()
	if err != nil {
		return nil, err
	}
	return merge(now, before)
}

func merge(now, before map[string]entry) (map[string]entry, error) {
	merged := maps.Clone(now)
	for code, old := range before {
		e, both := now[code]
		_, disputed := disputes[code]
		switch {
		case !both && !notMoney[code]:
			old.withdrawn = true
			merged[code] = old
		case both && e == old && disputed:
			return nil, fmt.Errorf("%s: the sources agree now; drop it from the disputes", code)
		case both && e != old && !disputed:
			return nil, fmt.Errorf("%s: %v against %v; look it up in the standard", code, e, old)
		}
	}
	return merged, nil
}

func readCurrent() (map[string]entry, error) {
	found := map[string]entry{}
	for _, code := range bojanz.GetCurrencyCodes() {
		digits, known := bojanz.GetDigits(code)
		text, _ := bojanz.GetNumericCode(code)
		numeric, err := strconv.Atoi(text)
		if err != nil || !known {
			return nil, fmt.Errorf("%s: %s is incomplete: numeric code %q", current, code, text)
		}
		found[code] = entry{code: code, numeric: numeric, scale: int(digits)}
	}
	return found, nil
}

// readEarlier asks for every possible code, because that source offers no list.
func readEarlier() (map[string]entry, error) {
	found := map[string]entry{}
	for i := range 26 * 26 * 26 {
		code := string([]byte{byte('A' + i/676), byte('A' + i/26%26), byte('A' + i%26)})
		c, err := govalues.ParseCurr(code)
		if err != nil {
			continue
		}
		numeric, err := strconv.Atoi(c.Num())
		if err != nil {
			return nil, fmt.Errorf("%s: %s is incomplete: numeric code %q", earlier, code, c.Num())
		}
		found[code] = entry{code: code, numeric: numeric, scale: c.Scale()}
	}
	return found, nil
}

// checkVersions keeps the recorded versions equal to the linked ones.
func checkVersions(sources ...source) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("no build information: run inside the module")
	}
	linked := map[string]string{}
	for _, dep := range info.Deps {
		linked[dep.Path] = dep.Version
	}
	for _, s := range sources {
		if linked[s.module] != s.version {
			return fmt.Errorf("%s is recorded, %s is linked", s, linked[s.module])
		}
	}
	return nil
}
