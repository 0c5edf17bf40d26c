package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Programs in other languages. What is not installed is not measured, and the page says so.

// Scripts are in sources; they run in nodeDir, beside their packages.
const (
	sources = "node"
	nodeDir = "../bin/bench"
)

// hasNode puts the scripts beside their packages, which it installs if there is npm, and says whether they can run.
func hasNode(ctx context.Context) bool {
	if _, err := exec.LookPath("node"); err != nil {
		return false
	}
	_, installed := os.Stat(filepath.Join(nodeDir, "node_modules"))
	if err := copyScripts(); err != nil {
		return false
	}
	if installed == nil {
		return true
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
	install.Dir, install.Stderr = nodeDir, os.Stderr
	return install.Run() == nil
}

func copyScripts() error {
	if err := os.MkdirAll(nodeDir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "powertools.mjs", "dynalite.mjs"} {
		text, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(nodeDir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// powertools runs the commands in Node.js, and takes the time that they took there.
func powertools(url string) runner {
	return func(ctx context.Context, prefix string, first, count int) (time.Duration, error) {
		script := exec.CommandContext(ctx, "node", "powertools.mjs", url, prefix, strconv.Itoa(first), strconv.Itoa(count))
		var out, problems bytes.Buffer
		script.Dir, script.Stdout, script.Stderr = nodeDir, &out, &problems
		if err := script.Run(); err != nil {
			return 0, fmt.Errorf("powertools: %w: %s", err, problems.Bytes())
		}
		var answer struct {
			Nanoseconds int64
			Failed      int
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			return 0, fmt.Errorf("powertools: %w", err)
		}
		if answer.Failed > 0 {
			return 0, fmt.Errorf("powertools: %d commands failed: %s", answer.Failed, problems.Bytes())
		}
		return time.Duration(answer.Nanoseconds), nil
	}
}

// dynalite starts one and returns its URL.
func dynalite(ctx context.Context) (url string, stop func(), err error) {
	server := exec.CommandContext(ctx, "node", "dynalite.mjs")
	server.Dir, server.Stderr = nodeDir, os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { in.Close(); server.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("dynalite: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// dynoxideProgram finds the engine where cargo or make endpoint put it.
func dynoxideProgram() (string, bool) {
	home, _ := os.UserHomeDir()
	for _, root := range []string{os.Getenv("CARGO_HOME"), filepath.Join(home, ".cargo"), "../bin/endpoint"} {
		program := filepath.Join(root, "bin", "dynoxide")
		if _, err := os.Stat(program); root != "" && err == nil {
			return program, true
		}
	}
	return "", false
}

// dynoxide starts one and returns its URL.
func dynoxide(ctx context.Context) (url string, stop func(), err error) {
	program, ok := dynoxideProgram()
	if !ok {
		return "", nil, os.ErrNotExist
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free now
	if err != nil {
		return "", nil, err
	}
	address := listener.Addr().(*net.TCPAddr)
	listener.Close()
	server := exec.CommandContext(ctx, program, "--host", "127.0.0.1", "--port", strconv.Itoa(address.Port), "--log", "quiet")
	server.Stdout, server.Stderr = io.Discard, os.Stderr
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { server.Process.Kill(); server.Wait() }
	for range 100 {
		if connection, err := net.Dial("tcp", address.String()); err == nil {
			connection.Close()
			return "http://" + address.String(), stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("dynoxide does not answer")
}

// versionOf asks a program for its version, or says that it is not there.
func versionOf(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "not installed"
	}
	return strings.TrimSpace(string(out))
}
