package invariant

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// chance makes every choice of a history. Choice 0 is always the simplest: shrinking goes there.
type chance interface {
	// choose returns a number from 0 to n-1.
	choose(label string, n int) int
}

// drawn lets rapid choose, so that rapid can shrink.
type drawn struct{ t *rapid.T }

func (d drawn) choose(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

// seeded chooses evenly from a seed, and keeps what it chose.
type seeded struct {
	source *rand.Rand
	chosen []int
}

func newSeeded(seed uint64) *seeded {
	return &seeded{source: rand.New(rand.NewPCG(seed, 0x64796e6166696e))}
}

func (s *seeded) choose(_ string, n int) int {
	choice := s.source.IntN(n)
	s.chosen = append(s.chosen, choice)
	return choice
}

// scripted repeats choices made before, and chooses the simplest where there are none.
type scripted struct{ script []int }

func (s *scripted) choose(_ string, n int) int {
	if len(s.script) == 0 {
		return 0
	}
	choice := s.script[0]
	s.script = s.script[1:]
	return min(choice, n-1)
}

// Draw draws a value for the workload of a history.
func Draw[V any](w *World, generator *rapid.Generator[V], label string) V {
	if d, ok := w.chance.(drawn); ok {
		return generator.Draw(d.t, label)
	}
	return generator.Example(w.Choose(label, 1<<16))
}
