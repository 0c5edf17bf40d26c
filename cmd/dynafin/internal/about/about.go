// Package about has the commands that need no store: what an error code means, and which program this is.
package about

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/internal/fault"
)

type explained struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
	Action  string `json:"action"`
	Retry   string `json:"retry"`
}

// Explain is the command that says what an error code means.
func Explain(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE|PACKAGE...]",
		Short: "says what an error code means, what to do, and whether a retry is safe",
		Long: `Says what an error code of the library means, what to do, and whether a retry is safe; or those of a package. Without
either it lists the packages, and all codes with -o json, jsonl or csv. The letters are optional: 2104 is DFN-2104.`,
		Example: "  dynafin explain DFN-2104\n  dynafin explain outbox\n  dynafin explain -o csv",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return list(a)
			}
			if len(args) == 1 {
				if codes := ofPackage(args[0]); len(codes) > 0 {
					return app.Print(a, app.List[explained]{Schema: "explain/v1", Items: codes, Columns: columns(), Next: "dynafin explain " + codes[0].Code})
				}
			}
			var found []explained
			for _, arg := range args {
				e, err := find(arg)
				if err != nil {
					return err
				}
				found = append(found, e)
			}
			l := app.List[explained]{Schema: "explain/v1", Items: found}
			if a.Machine() {
				l.Columns = columns()
				return app.Print(a, l)
			}
			for i, e := range found {
				if i > 0 {
					l.Head = append(l.Head, "")
				}
				l.Head = append(l.Head, e.Code+"  "+e.Name, e.Meaning, "what to do: "+e.Action, "retry:      "+e.Retry)
			}
			return app.Print(a, l)
		},
	}
}

// pkg is the package that has the code.
func (e explained) pkg() string {
	name, _, _ := strings.Cut(e.Name, ".")
	return name
}

func columns() []app.Column[explained] {
	return []app.Column[explained]{
		{Name: "code", Value: func(e explained) string { return e.Code }},
		{Name: "name", Value: func(e explained) string { return e.Name }},
		{Name: "retry", Value: func(e explained) string { return e.Retry }},
		{Name: "meaning", Value: func(e explained) string { return e.Meaning }},
		{Name: "action", Data: true, Value: func(e explained) string { return e.Action }},
	}
}

// codes are all codes, in order.
func codes() (all []explained) {
	for _, c := range fault.All() {
		all = append(all, explain(c))
	}
	slices.SortStableFunc(all, func(x, y explained) int { return cmp.Compare(x.Code, y.Code) })
	return all
}

func ofPackage(name string) []explained {
	return slices.DeleteFunc(codes(), func(e explained) bool { return e.pkg() != name })
}

// family is what a package's codes are, for people.
type family struct {
	pkg, first, last string
	n                int
}

// list prints every code for a program, and for people which packages have which.
func list(a *app.App) error {
	all := codes()
	if a.Machine() {
		return app.Print(a, app.List[explained]{Schema: "explain/v1", Items: all, Columns: columns(), Next: "dynafin explain " + all[0].Code})
	}
	var families []family
	for _, e := range all {
		i := slices.IndexFunc(families, func(f family) bool { return f.pkg == e.pkg() })
		if i < 0 {
			families, i = append(families, family{pkg: e.pkg(), first: e.Code}), len(families)
		}
		families[i].last = e.Code
		families[i].n++
	}
	return app.Print(a, app.List[family]{Items: families, Next: "dynafin explain " + families[0].pkg,
		Head: []string{"a code: dynafin explain DFN-2104; those of a package: dynafin explain outbox; all: dynafin explain -o csv", ""},
		Columns: []app.Column[family]{
			{Name: "package", Value: func(f family) string { return f.pkg }},
			{Name: "codes", Kind: app.Number, Value: func(f family) string { return strconv.Itoa(f.n) }},
			{Name: "from", Value: func(f family) string { return f.first }},
			{Name: "to", Value: func(f family) string { return f.last }},
		}})
}

func explain(c fault.Code) explained {
	return explained{c.ID, c.Name, c.Meaning, c.Action, string(c.Retry)}
}

func find(text string) (explained, error) {
	id := strings.ToUpper(strings.Trim(text, "[]"))
	if !strings.HasPrefix(id, "DFN-") {
		id = "DFN-" + id
	}
	for _, c := range fault.All() {
		if c.ID == id {
			return explain(c), nil
		}
	}
	return explained{}, app.Usage("%q is no code of this library, and no package that has codes; dynafin explain lists those", text)
}

type build struct {
	Module  string `json:"module"`
	Version string `json:"version"`
}

// sdk begins the paths of modules whose versions must fit one another.
const sdk = "github.com/aws/aws-sdk-go-v2"

// Version is the command that says which program this is.
func Version(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "prints the versions of the program, of Go and of the AWS SDK",
		Args:    cobra.NoArgs,
		Example: "  dynafin version -o json",
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return fmt.Errorf("the program was built without module information")
			}
			items := []build{{info.Main.Path, cmp.Or(info.Main.Version, "(devel)")}, {"go", info.GoVersion}}
			for _, m := range info.Deps {
				if m.Path == sdk || strings.HasPrefix(m.Path, sdk+"/service/dynamodb") {
					items = append(items, build{m.Path, m.Version})
				}
			}
			return app.Print(a, app.List[build]{Schema: "version/v1", Items: items, Columns: []app.Column[build]{
				{Name: "module", Value: func(b build) string { return b.Module }},
				{Name: "version", Value: func(b build) string { return b.Version }},
			}})
		},
	}
}
