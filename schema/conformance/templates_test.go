// Package conformance reads the golden templates of package schema with the parsers of others. It is a module of its own, so
// that nobody who imports dynafin gets them, and it reads files, so that it needs nothing of dynafin.
package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/awslabs/goformation/v7"
	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

func golden(t *testing.T, kind string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "*."+kind+".json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d golden files of %s: %v", len(files), kind, err)
	}
	return files
}

func read(t *testing.T, file string) (text []byte, document map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return text, document
}

// newer are properties that AWS's specification has and the parser's copy of it does not have yet. They are looked at by name.
var newer = []string{"RecoveryPeriodInDays", "MultiRegionConsistency"}

// without takes the newer properties out, wherever they are.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range newer {
			delete(v, name)
		}
		for name := range v {
			v[name] = without(v[name])
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

// Every property of every resource is one that the typed resources of goformation, which are generated from AWS's own
// specification, keep: what they do not know, or have in another shape, does not come back.
func TestCloudFormationKnowsEveryProperty(t *testing.T) {
	for _, file := range golden(t, "cloudformation") {
		_, document := read(t, file)
		text, err := json.Marshal(without(document))
		if err != nil {
			t.Fatal(err)
		}
		template, err := goformation.ParseJSON(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		resources := document["Resources"].(map[string]any)
		if len(template.Resources) != len(resources) || len(resources) == 0 {
			t.Errorf("%s: %d of %d resources are known", file, len(template.Resources), len(resources))
		}
		for name, resource := range template.Resources {
			back, err := json.Marshal(resource)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(back, &got); err != nil {
				t.Fatal(err)
			}
			if want := resources[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s comes back as\n%v\nfrom\n%v", file, name, got, want)
			}
		}
	}
}

// Terraform reads every file as resources of one type, and no text in them as a template.
func TestTerraformReadsEveryValueAsItIs(t *testing.T) {
	labelled := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "//"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "resource", LabelNames: []string{"type", "name"}}},
	}
	for _, file := range golden(t, "terraform") {
		text, document := read(t, file)
		parsed, problems := hcljson.Parse(text, file)
		if problems.HasErrors() {
			t.Errorf("%s: %v", file, problems)
			continue
		}
		content, problems := parsed.Body.Content(labelled)
		tables := document["resource"].(map[string]any)["aws_dynamodb_table"].(map[string]any)
		if problems.HasErrors() || len(content.Blocks) != len(tables) {
			t.Errorf("%s: %d blocks for %d tables: %v", file, len(content.Blocks), len(tables), problems)
		}
		for _, block := range content.Blocks {
			attributes, problems := block.Body.JustAttributes()
			if problems.HasErrors() || block.Labels[0] != "aws_dynamodb_table" {
				t.Errorf("%s: %v: %v", file, block.Labels, problems)
			}
			for name, attribute := range attributes {
				value, problems := attribute.Expr.Value(&hcl.EvalContext{})
				if problems.HasErrors() {
					t.Errorf("%s: %s.%s: %v", file, block.Labels[1], name, problems)
				}
				if tags := value; name == "tags" && tags.Type().IsObjectType() && tags.Type().HasAttribute("literal") {
					if got := tags.GetAttr("literal"); got != cty.StringVal("${not} a %{template}") {
						t.Errorf("%s: a tag is read as %#v", file, got)
					}
				}
			}
		}
		if !strings.Contains(string(text), "$${not}") && strings.Contains(file, "brokerage") {
			t.Errorf("%s has no text that could be taken for a template", file)
		}
	}
}
