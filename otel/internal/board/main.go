// Board writes the dashboard and the alert rules in the directory grafana from the data in this package.
//
//go:generate go run .
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// target is the directory of what is written.
const target = "../../grafana"

func main() {
	for name, content := range files() {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func files() map[string][]byte {
	return map[string][]byte{"dashboard.json": dashboard(), "alerts.yaml": rules()}
}
