package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// console is what people see while the day runs: complaints about lines and, on a terminal only, one line of progress
// that is rewritten in place.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool // w is a terminal
	shown bool // a progress line stands there
}

func newConsole(w io.Writer) *console { return &console{w: w, live: isTerminal(w)} }

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// say prints a line of its own.
func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintf(c.w, format+"\n", args...)
}

func (c *console) progress(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprint(c.w, text)
	c.shown = true
}

// clear removes the progress line.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
}

func (c *console) wipe() {
	if c.shown {
		fmt.Fprint(c.w, "\r\x1b[K")
		c.shown = false
	}
}

// follow shows a line of progress four times a second until the returned function is called.
func (c *console) follow(line func(elapsed time.Duration) string) (stop func()) {
	if !c.live {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	started := time.Now()
	ticks := time.NewTicker(time.Second / 4)
	go func() {
		defer close(done)
		for {
			select {
			case <-ticks.C:
				c.progress(line(time.Since(started)))
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticks.Stop()
		close(quit)
		<-done
		c.clear()
	}
}

// progressLine says how far the day is. The share of the input that was read is in percent, negative if the size of
// the input is not known.
func progressLine(t tally, percent int, elapsed time.Duration) string {
	parts := []string{grouped(t.Read) + " orders", grouped(t.Outcomes[accepted]) + " accepted"}
	if seconds := elapsed.Milliseconds(); seconds > 0 {
		parts = append(parts, grouped(int(int64(t.Read)*1000/seconds))+"/s")
	}
	if percent >= 0 {
		parts = append(parts, fmt.Sprintf("%d%%", percent))
	}
	if 0 < percent && percent < 100 {
		left := elapsed * time.Duration(100-percent) / time.Duration(percent)
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return strings.Join(parts, "   ")
}

// grouped writes a number with thousands separators.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
