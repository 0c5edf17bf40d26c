package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/schema"
)

// access is what IAM would see of a request to the audit table.
type access struct {
	action   schema.Action
	key      string
	together bool // in a transaction
}

// The roles of the audit table are what changing commands and audit ls send, no less and no more.
func TestOperatorsMayDoWhatTheirCommandsDoAndNothingElse(t *testing.T) {
	roles := (&deployment.Audit{Place: deployment.Place{Table: "Operator"}}).Schema().Roles
	if len(roles) != 2 || roles[0].Name != "operator.change" || roles[1].Name != "operator.audit" {
		t.Fatalf("the roles are %v", roles)
	}
	var changes, audits []access
	for _, c := range changing {
		changed, read := accesses(t, c.seeds, c.command)
		changes, audits = append(changes, changed...), append(audits, read...)
	}
	for role, seen := range map[*schema.Role][]access{&roles[0]: changes, &roles[1]: audits} {
		for _, a := range seen {
			if !slices.ContainsFunc(role.Grants, func(g schema.Grant) bool { return grants(g, a) }) {
				t.Errorf("%s: denied: %s of %s", role.Name, a.action, a.key)
			}
		}
		for _, g := range role.Grants {
			for _, action := range g.Actions {
				g.Actions = []schema.Action{action}
				if !slices.ContainsFunc(seen, func(a access) bool { return grants(g, a) }) {
					t.Errorf("%s does not need %s of %v", role.Name, action, g.Keys)
				}
			}
		}
	}
}

func grants(g schema.Grant, a access) bool {
	return slices.Contains(g.Actions, a.action) && g.InTransaction == a.together && slices.ContainsFunc(g.Keys, func(pattern string) bool {
		ok, err := path.Match(pattern, a.key)
		return ok && err == nil
	})
}

// accesses returns what a changing command asks of the audit table, breaking off once and going on, and what reading about it then asks.
func accesses(t *testing.T, names, command string) (changed, read []access) {
	t.Helper()
	ctx, w := t.Context(), seeded(t, names)
	into := &changed
	w.network = func(next aws.HTTPClient) aws.HTTPClient {
		return doer(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			_, action, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
			*into = append(*into, asked(t, action, body)...)
			return next.Do(req)
		})
	}
	var out bytes.Buffer
	if exit := w.run(ctx, append(strings.Fields(command), "--yes"), &out, &out); exit != 0 {
		t.Fatalf("%s: exit %d\n%s", command, exit, &out)
	}
	run := runs.FindString(out.String())
	w.now = w.now.Add(time.Hour)
	if exit := w.run(ctx, append(strings.Fields(command)[:2], "--yes", "--resume", run), &out, &out); exit == 2 {
		t.Fatalf("%s --resume %s: exit %d\n%s", command, run, exit, &out)
	}
	into = &read
	for _, args := range [][]string{{"audit", "ls"}, {"audit", "ls", "--run", run}} {
		if exit := w.run(ctx, args, &out, &out); exit != 0 {
			t.Fatalf("%v: exit %d\n%s", args, exit, &out)
		}
	}
	return changed, read
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

var partition = regexp.MustCompile(`"S":"(OPERATOR#RUNS?#[^"]*)"`)

// asked takes a request apart. Only the keys of the audit table begin as they do.
func asked(t *testing.T, action string, body []byte) []access {
	t.Helper()
	if action != "TransactWriteItems" {
		if m := partition.FindSubmatch(body); m != nil {
			return []access{{schema.Action(action), string(m[1]), false}}
		}
		return nil
	}
	var in struct {
		TransactItems []map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatal(err)
	}
	var all []access
	for _, item := range in.TransactItems {
		for kind, text := range item {
			if m := partition.FindSubmatch(text); m != nil {
				all = append(all, access{schema.Action(kind + "Item"), string(m[1]), true})
			}
		}
	}
	return all
}
