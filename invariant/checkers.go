package invariant

import (
	"bytes"
	"errors"
	"fmt"
)

// SameAnswers checks that every command was answered the same to everybody who sent it, byte for byte.
func SameAnswers(answers []Answer) error {
	var faults []error
	first := map[string]Answer{}
	for _, answer := range answers {
		before, known := first[answer.Command]
		switch {
		case !known:
			first[answer.Command] = answer
		case !bytes.Equal(before.Body, answer.Body):
			faults = append(faults, fmt.Errorf("command %s: %s was told %q, %s before %q",
				answer.Command, answer.Worker, short(string(answer.Body)), before.Worker, short(string(before.Body))))
		}
	}
	return errors.Join(faults...)
}

// OneEffect checks that every command in wanted has exactly one effect, and that no other has any. effects names the command of
// every effect that is stored; wanted are the commands that were answered with success.
func OneEffect(effects, wanted []string) error {
	var faults []error
	count := map[string]int{}
	for _, command := range effects {
		count[command]++
	}
	want := map[string]bool{}
	for _, command := range wanted {
		want[command] = true
	}
	for _, command := range sortedKeys(want) {
		if n := count[command]; n != 1 {
			faults = append(faults, fmt.Errorf("command %s was answered with success and has %d effects", command, n))
		}
	}
	for _, command := range sortedKeys(count) {
		if !want[command] {
			faults = append(faults, fmt.Errorf("command %s has %d effects and no success", command, count[command]))
		}
	}
	return errors.Join(faults...)
}

// Bijection checks that every name points to the owner that points to it, and every owner to the name that points to it.
func Bijection(ownerOf, nameOf map[string]string) error {
	var faults []error
	for _, name := range sortedKeys(ownerOf) {
		if owner := ownerOf[name]; nameOf[owner] != name {
			faults = append(faults, fmt.Errorf("name %q belongs to %q, whose name is %q", name, owner, nameOf[owner]))
		}
	}
	for _, owner := range sortedKeys(nameOf) {
		if name := nameOf[owner]; ownerOf[name] != owner {
			faults = append(faults, fmt.Errorf("owner %q has the name %q, which belongs to %q", owner, name, ownerOf[name]))
		}
	}
	return errors.Join(faults...)
}

// Commands returns the commands whose answer satisfies the condition, each once.
func Commands(answers []Answer, when func(body []byte) bool) []string {
	chosen := map[string]bool{}
	for _, answer := range answers {
		if when(answer.Body) {
			chosen[answer.Command] = true
		}
	}
	return sortedKeys(chosen)
}

// SameSet checks that two lists name the same things, however often and in whatever order: what is stored against what
// clients were told, for example.
func SameSet(got, want []string) error {
	var faults []error
	g, w := map[string]bool{}, map[string]bool{}
	for _, name := range got {
		g[name] = true
	}
	for _, name := range want {
		w[name] = true
	}
	for _, name := range sortedKeys(w) {
		if !g[name] {
			faults = append(faults, fmt.Errorf("%s is missing", name))
		}
	}
	for _, name := range sortedKeys(g) {
		if !w[name] {
			faults = append(faults, fmt.Errorf("%s should not be there", name))
		}
	}
	return errors.Join(faults...)
}
