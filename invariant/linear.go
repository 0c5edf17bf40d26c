package invariant

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// call is one operation on a shared object, as its caller saw it.
type call struct {
	input, output any
	begin, end    int64
	answered      bool
	worker        string
}

// Begin notes that the process asks for something of which a model knows how it behaves (see [Linearizable]). The
// process calls the function it gets with the answer, or with [NoEffect]. If it dies before, or never calls it, the model allows the
// operation to have happened at any later time, or never.
func (p *Process) Begin(input any) (answered func(output any)) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.calls)
	w.calls = append(w.calls, call{input: input, begin: w.tick(), worker: p.name()})
	return func(output any) {
		if p.life.Dead() {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		c := &w.calls[at]
		c.output, c.end, c.answered = output, w.tick(), true
	}
}

// tick counts the calls and answers.
func (w *World) tick() int64 {
	w.ticks++
	return w.ticks
}

// Linearizable checks the operations that processes noted with [Process.Begin] against a model: there must be an order
// of them, in which each happens between its call and its answer, that the model allows. The error names an HTML page
// on which porcupine draws the history.
func (w *World) Linearizable(model Model) error {
	w.mu.Lock()
	calls := slices.Clone(w.calls)
	w.mu.Unlock()
	var history []porcupine.Operation
	for lane, c := range calls {
		if !c.answered {
			c.output, c.end = unknown{}, math.MaxInt64
		}
		history = append(history, porcupine.Operation{ClientId: lane, Input: c.input, Call: c.begin, Output: c.output, Return: c.end, Metadata: c.worker})
	}
	described := model.porcupine()
	result, info := porcupine.CheckOperationsVerbose(described, history, 0)
	if result == porcupine.Ok {
		return nil
	}
	page := w.artifacts.page()
	if err := porcupine.VisualizePath(described, info, page); err != nil {
		return errors.Join(errNotLinearizable, err)
	}
	return fmt.Errorf("%w; drawn in %s", errNotLinearizable, page)
}

// errNotLinearizable means that no order of the operations explains their answers.
var errNotLinearizable = errors.New("invariant: no order of the operations explains their answers")

// NoEffect is the output of an operation of which the caller was told that it did not happen: refused for good, or given
// up with nothing written.
const NoEffect noEffect = 0

type noEffect int

func (noEffect) String() string { return "no effect" }

// unknown is the output of an operation whose caller never saw one.
type unknown struct{}

func (unknown) String() string { return "no answer" }

// Model says how a shared object behaves when it is used by one caller at a time.
type Model struct {
	// Key returns the part of the object that an input is about. Parts are checked one by one, which is much cheaper.
	// Nil: the object has one part.
	Key func(input any) string
	// Init is the state of a part at the beginning. States are compared with ==.
	Init any
	// Step applies an input to a state and returns the next state and the answer that must be given.
	Step func(state, input any) (next, output any)
}

// porcupine turns the model into one whose operations without answer may have happened, or not.
func (m Model) porcupine() porcupine.Model {
	n := porcupine.NondeterministicModel{
		Init: func() []any { return []any{m.Init} },
		Step: func(state, input, output any) []any {
			next, want := m.Step(state, input)
			switch {
			case output == unknown{}:
				return []any{state, next}
			case output == NoEffect:
				return []any{state}
			case output == want:
				return []any{next}
			default:
				return nil
			}
		},
		Equal: func(a, b any) bool { return a == b },
	}
	if m.Key != nil {
		n.Partition = func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[string][]porcupine.Operation{}
			for _, operation := range history {
				key := m.Key(operation.Input)
				parts[key] = append(parts[key], operation)
			}
			var all [][]porcupine.Operation
			for _, key := range sortedKeys(parts) {
				all = append(all, parts[key])
			}
			return all
		}
	}
	return n.ToModel()
}

// artifacts is where pages of failing histories go: where the test keeps its artifacts, else where temporary files go.
type artifacts struct{ t *testing.T }

// page returns the path of the page of this test; a smaller failing history overwrites the page of a larger one.
func (a artifacts) page() string {
	dir, name := os.TempDir(), "history"
	if a.t != nil && a.t.Name() != "" {
		name = regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(a.t.Name(), "_")
		keep := flag.Lookup("test.artifacts") // since Go 1.26; without the flag the directory ends with the test
		if keeper, ok := any(a.t).(interface{ ArtifactDir() string }); ok && keep != nil && keep.Value.String() == "true" {
			dir = keeper.ArtifactDir()
		}
	}
	return filepath.Join(dir, "dynafin-"+name+".html")
}
