package ledger_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// callable are the exported types of both packages whose methods somebody may call on a value that he made up, and the functions.
// TestNothingToCallIsForgotten keeps the list whole.
var callable = map[string]reflect.Value{
	"ledger.Credit": reflect.ValueOf(ledger.Credit), "ledger.Debit": reflect.ValueOf(ledger.Debit), "ledger.MonthOf": reflect.ValueOf(ledger.MonthOf),
	"ledger.New": reflect.ValueOf(ledger.New), "ledger.Repeated": reflect.ValueOf(ledger.Repeated),
	"money.Define": reflect.ValueOf(money.Define), "money.FromMinor": reflect.ValueOf(money.FromMinor), "money.FromNumber": reflect.ValueOf(money.FromNumber),
	"money.ISO": reflect.ValueOf(money.ISO), "money.ISOTable": reflect.ValueOf(money.ISOTable), "money.LargestRemainder": reflect.ValueOf(money.LargestRemainder),
	"money.NewRational": reflect.ValueOf(money.NewRational), "money.NewRegistry": reflect.ValueOf(money.NewRegistry), "money.Parse": reflect.ValueOf(money.Parse),
	"money.ParseMinor": reflect.ValueOf(money.ParseMinor), "money.ParsePercent": reflect.ValueOf(money.ParsePercent),
	"money.ParseRational": reflect.ValueOf(money.ParseRational), "money.RoundLines": reflect.ValueOf(money.RoundLines),
	"money.ToAccount": reflect.ValueOf(money.ToAccount), "money.ToFirst": reflect.ValueOf(money.ToFirst), "money.ToLast": reflect.ValueOf(money.ToLast),
	"money.ToPart": reflect.ValueOf(money.ToPart), "money.Zero": reflect.ValueOf(money.Zero),

	"ledger.AbandonedError": of[ledger.AbandonedError](), "ledger.Account": of[ledger.Account](), "ledger.Balance": of[ledger.Balance](),
	"ledger.BatchConfig": of[ledger.BatchConfig](), "ledger.Batcher": of[ledger.Batcher](), "ledger.CapError": of[ledger.CapError](),
	"ledger.Config": of[ledger.Config](), "ledger.CursorError": of[ledger.CursorError](), "ledger.Digest": of[ledger.Digest](),
	"ledger.DuplicateError": of[ledger.DuplicateError](), "ledger.EndedError": of[ledger.EndedError](), "ledger.Entry": of[ledger.Entry](),
	"ledger.ExceedsError": of[ledger.ExceedsError](), "ledger.Finding": of[ledger.Finding](), "ledger.InsufficientError": of[ledger.InsufficientError](),
	"ledger.InvalidError": of[ledger.InvalidError](), "ledger.Ledger": of[ledger.Ledger](), "ledger.LimitError": of[ledger.LimitError](),
	"ledger.Line": of[ledger.Line](), "ledger.Month": of[ledger.Month](), "ledger.MovedError": of[ledger.MovedError](),
	"ledger.NotEmptyError": of[ledger.NotEmptyError](), "ledger.NotFoundError": of[ledger.NotFoundError](), "ledger.PanicError": of[ledger.PanicError](),
	"ledger.PeriodClosedError": of[ledger.PeriodClosedError](), "ledger.Place": of[ledger.Place](), "ledger.Placed": of[ledger.Placed](),
	"ledger.QueueFullError": of[ledger.QueueFullError](), "ledger.RecordError": of[ledger.RecordError](), "ledger.RefusedError": of[ledger.RefusedError](),
	"ledger.Report": of[ledger.Report](), "ledger.Reservation": of[ledger.Reservation](), "ledger.RolledError": of[ledger.RolledError](),
	"ledger.ScaleError": of[ledger.ScaleError](), "ledger.Side": of[ledger.Side](), "ledger.SideError": of[ledger.SideError](),
	"ledger.StatusError": of[ledger.StatusError](), "ledger.Totals": of[ledger.Totals](), "ledger.TrialBalance": of[ledger.TrialBalance](),
	"ledger.UnbalancedError": of[ledger.UnbalancedError](), "ledger.UnprovedError": of[ledger.UnprovedError](), "ledger.VersionError": of[ledger.VersionError](),
	"money.AllocationError": of[money.AllocationError](), "money.Amount": of[money.Amount](), "money.Conversion": of[money.Conversion](),
	"money.Currency": of[money.Currency](), "money.DefinitionError": of[money.DefinitionError](), "money.Difference": of[money.Difference](),
	"money.DivisionError": of[money.DivisionError](), "money.EncodingError": of[money.EncodingError](), "money.InexactError": of[money.InexactError](),
	"money.Kind": of[money.Kind](), "money.MismatchError": of[money.MismatchError](), "money.RangeError": of[money.RangeError](),
	"money.Rate": of[money.Rate](), "money.RateError": of[money.RateError](), "money.Rational": of[money.Rational](), "money.Registry": of[money.Registry](),
	"money.ResidualPolicy": of[money.ResidualPolicy](), "money.Rounded": of[money.Rounded](), "money.Rounding": of[money.Rounding](),
	"money.RoundingError": of[money.RoundingError](), "money.SyntaxError": of[money.SyntaxError](), "money.UnknownCurrencyError": of[money.UnknownCurrencyError](),
}

func of[T any]() reflect.Value { return reflect.ValueOf((*T)(nil)) }

// Functions for constants, which say that they panic.
var panics = []string{"money.MustParse", "money.MustParseRational"}

// Whatever values somebody makes up, empty ones first of all, no function and no method of theirs panics.
func TestNoMadeUpValuePanics(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("t-1", "bank", "ann-", "5.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "1.00")))
	for name, what := range callable {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // who waits for ever is told
			defer cancel()
			m := &maker{t, ctx, b}
			if what.Kind() == reflect.Func {
				m.call(name, what)
				return
			}
			for i := range what.NumMethod() {
				m.call(name+"."+what.Type().Method(i).Name, m.value(what.Type(), 0).Method(i))
			}
		}))
	}
}

func TestNothingToCallIsForgotten(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "../money"} {
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
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
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() {
					continue
				}
				name := fn.Name.Name
				if fn.Recv != nil {
					name = receiverName(fn.Recv.List[0].Type)
				}
				name = file.Name.Name + "." + name
				if _, found := callable[name]; !found && ast.IsExported(strings.Split(name, ".")[1]) && !slices.Contains(panics, name) {
					t.Errorf("%s can be called, and no test calls it on made-up values", name)
				}
			}
		}
	}
}

func receiverName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, _ := e.(*ast.Ident)
	return name.Name
}

// maker makes up values.
type maker struct {
	*rapid.T
	ctx   context.Context
	store *bench
}

func (m *maker) call(name string, f reflect.Value) {
	in := make([]reflect.Value, f.Type().NumIn())
	for i := range in {
		in[i] = m.value(f.Type().In(i), 0)
	}
	defer func() {
		if p := recover(); p != nil {
			m.Fatalf("%s panics: %v\nwith %+v\n%s", name, p, in, debug.Stack())
		}
	}()
	var out []reflect.Value
	if f.Type().IsVariadic() {
		out = f.CallSlice(in)
	} else {
		out = f.Call(in)
	}
	for _, v := range out {
		m.use(v)
	}
}

// use does what callers do with a result: they print it, range over it, close it.
func (m *maker) use(v reflect.Value) {
	switch v := v.Interface().(type) {
	case *ledger.Batcher:
		if err := v.Close(m.Context()); err != nil {
			m.Error(err)
		}
	case *ledger.Ledger:
	default:
		_ = fmt.Sprintf("%v %+v", v, v)
	}
	if v.Kind() == reflect.Func && v.Type().CanSeq2() {
		n := 0
		for range v.Seq2() {
			if n++; n == 10 {
				break
			}
		}
	}
}

func oneOf[T any](m *maker, all ...T) reflect.Value {
	return reflect.ValueOf(rapid.SampledFrom(all).Draw(m.T, "value"))
}

// special makes values that have to come from somewhere.
func (m *maker) special(typ reflect.Type) (v reflect.Value, ok bool) {
	switch typ {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(m.ctx), true
	case reflect.TypeFor[ledger.Client](), reflect.TypeFor[ledger.CutClient](), reflect.TypeFor[txn.Client]():
		return reflect.ValueOf(m.store.client), true
	case reflect.TypeFor[*txn.Committer]():
		return reflect.ValueOf(impatient(m.store.client)), true
	case reflect.TypeFor[*ledger.Ledger]():
		return oneOf(m, m.store.book, &ledger.Ledger{}, ledger.New(m.value(reflect.TypeFor[ledger.Config](), 0).Interface().(ledger.Config))), true
	case reflect.TypeFor[*ledger.Batcher]():
		made := m.store.book.Batcher(m.ctx, impatient(m.store.client), m.value(reflect.TypeFor[ledger.BatchConfig](), 0).Interface().(ledger.BatchConfig))
		return oneOf(m, made, &ledger.Batcher{}), true
	case reflect.TypeFor[txn.Part]():
		return oneOf(m, txn.Part{}, txn.NewPart("made up", txn.Write{}), txn.BadPart("bad", ledger.ErrScale)), true
	case reflect.TypeFor[shardmap.Map]():
		return oneOf(m, shardmap.Map{}, shardmap.Map{Shards: -1}, shardmap.Fixed(math.MaxInt)), true
	case reflect.TypeFor[time.Time]():
		return oneOf(m, time.Time{}, day, day.AddDate(8000, 0, 0), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0)), true
	case reflect.TypeFor[money.Currency]():
		fine, err := money.Define("DUST", 18, money.KindSecurity)
		if err != nil {
			m.Fatal(err)
		}
		return oneOf(m, money.Currency{}, usd, eur, fine), true
	case reflect.TypeFor[money.Amount]():
		c := m.value(reflect.TypeFor[money.Currency](), 0).Interface().(money.Currency)
		a, err := money.ParseMinor(rapid.SampledFrom([]string{"0", "1", "-1", "500", "-500", strings.Repeat("9", 37), "-1" + strings.Repeat("0", 37), strings.Repeat("9", 38)}).Draw(m.T, "units"), c)
		if err != nil {
			return reflect.ValueOf(money.Amount{}), true
		}
		return reflect.ValueOf(a), true
	case reflect.TypeFor[money.Rational]():
		r, err := money.ParseRational(rapid.SampledFrom([]string{"0", "1/3", "-7", strings.Repeat("9", 300), "1/" + strings.Repeat("7", 300)}).Draw(m.T, "rational"))
		if err != nil {
			m.Fatal(err)
		}
		return oneOf(m, money.Rational{}, r), true
	case reflect.TypeFor[func(time.Duration, func()) func() bool]():
		return reflect.Zero(typ), true
	case reflect.TypeFor[error]():
		return oneOf[error](m, &ledger.DuplicateError{}, ledger.ErrScale, &txn.CanceledError{}), true
	case reflect.TypeFor[types.AttributeValue]():
		return oneOf[types.AttributeValue](m, &types.AttributeValueMemberN{Value: "1e125"}, &types.AttributeValueMemberS{}, &types.AttributeValueMemberM{}, &types.AttributeValueMemberN{}), true
	}
	return v, false
}

// value makes up a value of any type.
func (m *maker) value(typ reflect.Type, depth int) reflect.Value {
	if v, ok := m.special(typ); ok {
		return v.Convert(typ)
	}
	v := reflect.New(typ).Elem()
	if depth > 6 || rapid.IntRange(0, 9).Draw(m.T, "empty") == 0 && typ.Kind() != reflect.Pointer && typ.Kind() != reflect.Func {
		return v
	}
	inside := func(t reflect.Type) reflect.Value { return m.value(t, depth+1) }
	switch typ.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(m.T, "flag"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{-1, 1, 2, 100, math.MaxInt64, math.MinInt64}).Draw(m.T, "number"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(rapid.SampledFrom([]uint64{1, 2, 255, math.MaxUint64}).Draw(m.T, "number"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{tenant, "bank", "ann-", "t-1", "r-1", "x", "\xff", "#%00", "2026-11", "2026", "1", "D", "C", "OPEN", strings.Repeat("9", 300), "5.00 USD"}).Draw(m.T, "text"))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(inside(typ.Elem()))
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(m.T, "length") {
			v = reflect.Append(v, inside(typ.Elem()))
		}
	case reflect.Map:
		v = reflect.MakeMap(typ)
		v.SetMapIndex(inside(typ.Key()), inside(typ.Elem()))
	case reflect.Pointer:
		v = reflect.New(typ.Elem())
		v.Elem().Set(inside(typ.Elem()))
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				v.Field(i).Set(inside(typ.Field(i).Type))
			}
		}
	case reflect.Func:
		v = reflect.MakeFunc(typ, func([]reflect.Value) (out []reflect.Value) {
			for i := range typ.NumOut() {
				out = append(out, reflect.Zero(typ.Out(i)))
			}
			return out
		})
	}
	return v
}
