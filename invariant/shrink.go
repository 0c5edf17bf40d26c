package invariant

import (
	"slices"
	"testing"
)

// shrinkTriesMax bounds how many histories [History.Shrink] runs.
const shrinkTriesMax = 2000

// Shrink looks for a shorter history that breaks the same invariant, by leaving out choices and by making them simpler.
func (h *History) Shrink(t *testing.T) *History {
	t.Helper()
	best, tries := h, 0
	accept := func(choices []int) bool {
		if tries++; tries > shrinkTriesMax {
			return false
		}
		chance := &scripted{script: slices.Clone(choices)}
		smaller := run(t, h.config, chance, nil, h.story)
		if smaller.Failure == nil || smaller.Failure.Check != h.Failure.Check {
			return false
		}
		smaller.Seed, smaller.choices = h.Seed, choices[:len(choices)-len(chance.script)]
		best = smaller
		return true
	}
	for improved := true; improved && tries < shrinkTriesMax; {
		improved = false
		for span := len(best.choices) / 2; span > 0; span /= 2 { // leave out
			for at := 0; at+span <= len(best.choices); {
				if accept(slices.Delete(slices.Clone(best.choices), at, at+span)) {
					improved = true
				} else {
					at += span
				}
			}
		}
		for at := 0; at < len(best.choices); at++ { // make simpler
			for simpler := 0; simpler < best.choices[at]; simpler += max(1, (best.choices[at]-simpler+1)/2) {
				choices := slices.Clone(best.choices)
				choices[at] = simpler
				if accept(choices) {
					improved = true
					break
				}
			}
		}
	}
	return best
}
