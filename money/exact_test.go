package money_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/money"
)

// exported is every exported function and type, by name. TestNoExportedNameIsForgotten keeps it whole.
var exported = map[string]reflect.Type{
	"Define":            reflect.TypeOf(money.Define),
	"FromMinor":         reflect.TypeOf(money.FromMinor),
	"FromNumber":        reflect.TypeOf(money.FromNumber),
	"ISO":               reflect.TypeOf(money.ISO),
	"ISOTable":          reflect.TypeOf(money.ISOTable),
	"LargestRemainder":  reflect.TypeOf(money.LargestRemainder),
	"MustParse":         reflect.TypeOf(money.MustParse),
	"MustParseRational": reflect.TypeOf(money.MustParseRational),
	"NewRational":       reflect.TypeOf(money.NewRational),
	"NewRegistry":       reflect.TypeOf(money.NewRegistry),
	"Parse":             reflect.TypeOf(money.Parse),
	"ParseMinor":        reflect.TypeOf(money.ParseMinor),
	"ParsePercent":      reflect.TypeOf(money.ParsePercent),
	"ParseRational":     reflect.TypeOf(money.ParseRational),
	"RoundLines":        reflect.TypeOf(money.RoundLines),
	"ToAccount":         reflect.TypeOf(money.ToAccount),
	"ToFirst":           reflect.TypeOf(money.ToFirst),
	"ToLast":            reflect.TypeOf(money.ToLast),
	"ToPart":            reflect.TypeOf(money.ToPart),
	"Zero":              reflect.TypeOf(money.Zero),

	"Allocation":           reflect.TypeFor[money.Allocation](),
	"AllocationError":      reflect.TypeFor[money.AllocationError](),
	"Amount":               reflect.TypeFor[money.Amount](),
	"Conversion":           reflect.TypeFor[money.Conversion](),
	"Currency":             reflect.TypeFor[money.Currency](),
	"DefinitionError":      reflect.TypeFor[money.DefinitionError](),
	"Difference":           reflect.TypeFor[money.Difference](),
	"DivisionError":        reflect.TypeFor[money.DivisionError](),
	"EncodingError":        reflect.TypeFor[money.EncodingError](),
	"ISOEntry":             reflect.TypeFor[money.ISOEntry](),
	"InexactError":         reflect.TypeFor[money.InexactError](),
	"Kind":                 reflect.TypeFor[money.Kind](),
	"MismatchError":        reflect.TypeFor[money.MismatchError](),
	"RangeError":           reflect.TypeFor[money.RangeError](),
	"Rate":                 reflect.TypeFor[money.Rate](),
	"RateError":            reflect.TypeFor[money.RateError](),
	"Rational":             reflect.TypeFor[money.Rational](),
	"Registry":             reflect.TypeFor[money.Registry](),
	"ResidualPolicy":       reflect.TypeFor[money.ResidualPolicy](),
	"Rounded":              reflect.TypeFor[money.Rounded](),
	"RoundedLines":         reflect.TypeFor[money.RoundedLines](),
	"Rounding":             reflect.TypeFor[money.Rounding](),
	"RoundingError":        reflect.TypeFor[money.RoundingError](),
	"SyntaxError":          reflect.TypeFor[money.SyntaxError](),
	"UnknownCurrencyError": reflect.TypeFor[money.UnknownCurrencyError](),
}

// TestNoFloatIsReachable is guarantee M1: no signature and no field, however deep, has a binary float.
func TestNoFloatIsReachable(t *testing.T) {
	t.Parallel()
	for name, typ := range exported {
		seen := map[reflect.Type]bool{}
		if path := floatIn(typ, name, seen); path != "" {
			t.Errorf("a float: %s", path)
		}
		if typ.Kind() == reflect.Func {
			continue
		}
		for i := range reflect.PointerTo(typ).NumMethod() {
			method := reflect.PointerTo(typ).Method(i)
			if path := floatIn(method.Type, name+"."+method.Name, seen); path != "" {
				t.Errorf("a float: %s", path)
			}
		}
	}
}

// floatIn returns the way to a float inside a type, or nothing.
func floatIn(typ reflect.Type, path string, seen map[reflect.Type]bool) string {
	if seen[typ] {
		return ""
	}
	seen[typ] = true
	var parts []reflect.Type
	switch typ.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return path + " " + typ.String()
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		parts = append(parts, typ.Elem())
	case reflect.Map:
		parts = append(parts, typ.Key(), typ.Elem())
	case reflect.Struct:
		for i := range typ.NumField() {
			parts = append(parts, typ.Field(i).Type)
		}
	case reflect.Func:
		for i := range typ.NumIn() {
			parts = append(parts, typ.In(i))
		}
		for i := range typ.NumOut() {
			parts = append(parts, typ.Out(i))
		}
	}
	for _, part := range parts {
		if found := floatIn(part, path+" > "+part.String(), seen); found != "" {
			return found
		}
	}
	return ""
}

func TestFloatSearchFindsFloats(t *testing.T) {
	t.Parallel()
	type deep map[string]struct{ Rates []*float32 }
	if floatIn(reflect.TypeFor[func(deep) error](), "f", map[reflect.Type]bool{}) == "" {
		t.Error("a float in a slice in a struct in a map in a parameter is not found")
	}
}

func TestNoExportedNameIsForgotten(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d source files, %v", len(sources), err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range exportedIn(file) {
			if _, found := exported[name]; !found {
				t.Errorf("%s is exported, and no test looks for floats in it", name)
			}
		}
	}
}

// exportedIn returns the exported functions and types of a file.
func exportedIn(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, spec.Name.Name)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) })
}
