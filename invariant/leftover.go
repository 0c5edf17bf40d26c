package invariant

import (
	"bytes"
	"regexp"
	"runtime"
	"slices"
	"testing"
)

// A goroutine that outlives its history, because it neither ends with its worker's context nor sends anything, makes the
// bubble panic without a word about whose it is. The stacks tell: the runtime names the bubble in the first line of each.

var bubbleName = regexp.MustCompile(`^goroutine \d+ \[.*(synctest bubble \d+)[^\n]*\]:`)

// inBubble plays a history in a bubble, by a function that runs another one there, and names who is left behind.
func inBubble(t *testing.T, run func(history func()), history func()) {
	t.Helper()
	name, ended := "", false
	defer func() {
		if ended {
			return
		}
		if stacks := leftBehind(name); stacks != "" {
			t.Logf("these goroutines outlive the history, and do not heed the context of their worker:\n%s", stacks)
		}
	}()
	run(func() {
		name = bubble()
		history()
	})
	ended = true
}

// bubble names the bubble in which it is called, "" if there is none.
func bubble() string {
	line := make([]byte, 256)
	if name := bubbleName.FindSubmatch(line[:runtime.Stack(line, false)]); name != nil {
		return string(name[1])
	}
	return ""
}

// leftBehind returns the stacks of the goroutines in a bubble, but for the caller's own.
func leftBehind(bubble string) string {
	if bubble == "" {
		return ""
	}
	all := make([]byte, 1<<20)
	stacks := bytes.Split(all[:runtime.Stack(all, true)], []byte("\n\n"))
	stacks = slices.DeleteFunc(stacks[1:], func(stack []byte) bool {
		name := bubbleName.FindSubmatch(stack)
		return name == nil || string(name[1]) != bubble
	})
	return string(bytes.Join(stacks, []byte("\n\n")))
}
