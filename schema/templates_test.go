package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/dynafin/dynafin/schema"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// deployments are what the golden files show.
func deployments() map[string]schema.Deployment {
	plain := newService().deployment()
	plain.Tags = map[string]string{"context": "brokerage", "literal": "${not} a %{template}"}
	copied := newService().deployment()
	copied.Replicas, copied.RecoveryDays = []string{"eu-central-1"}, 14
	passing := schema.Deployment{Name: "tests", Disposable: true, Tables: []schema.Table{{
		Name: "Local", PK: "id", Stream: schema.StreamNew,
		Indexes: []schema.Index{{Name: "ByOwner", PK: "owner", SK: "since", All: true}, {Name: "ByState", PK: "state"}},
	}}}
	return map[string]schema.Deployment{"brokerage": plain, "copied": copied, "disposable": passing}
}

func TestTemplatesMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, d := range deployments() {
		for kind, make := range map[string]func() ([]byte, error){
			"cloudformation": d.CloudFormation, "terraform": d.Terraform, "workbench": d.Workbench,
		} {
			got, err := make()
			if err != nil {
				t.Fatalf("%s %s: %v", name, kind, err)
			}
			compareGolden(t, name+"."+kind+".json", got)
		}
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if !json.Valid(got) {
		t.Errorf("%s is not JSON", name)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Error(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: if it is meant, write it with -update. Got\n%s", file, got)
	}
}
