package expr_test

import (
	"testing"

	ddb "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// subsOf turns a built expression into the substitutions of a request.
func subsOf(t *testing.T, built ddb.Expression) *expr.Subs {
	t.Helper()
	vals, err := value.FromSDK(built.Values())
	if err != nil {
		t.Fatal(err)
	}
	subs := expr.NewSubs(built.Names(), vals)
	if err := subs.Check(); err != nil {
		t.Fatal(err)
	}
	return subs
}

// Each case: a condition of the SDK's builder, with every function and method of it, and whether it holds for the stored item.
func TestEveryConditionOfTheBuilder(t *testing.T) {
	t.Parallel()
	n, s, m := ddb.Name("n"), ddb.Name("s"), ddb.Name("m.y.k")
	one, two, hello := ddb.Value(1), ddb.Value(2), ddb.Value("hello")
	holds := map[bool][]ddb.ConditionBuilder{
		true: {
			ddb.Equal(n, one), n.Equal(one), one.Equal(n), ddb.Name("l[0]").Equal(one), ddb.Size(s).Equal(ddb.Value(5)),
			ddb.NotEqual(n, two), n.NotEqual(two), ddb.LessThan(n, two), n.LessThan(two), ddb.Size(s).LessThan(ddb.Value(9)),
			ddb.LessThanEqual(n, one), n.LessThanEqual(one), ddb.GreaterThan(two, n), ddb.Size(s).GreaterThan(n),
			ddb.GreaterThanEqual(n, one), n.GreaterThanEqual(one),
		},
		false: {ddb.Equal(n, two), s.Equal(one), m.Equal(hello)},
	}
	holds[true] = append(holds[true],
		ddb.And(n.Equal(one), s.Equal(hello)), ddb.And(n.Equal(one), s.Equal(hello), n.LessThan(two)), n.Equal(one).And(s.Equal(hello)),
		ddb.Or(n.Equal(two), s.Equal(hello)), n.Equal(two).Or(n.Equal(two), n.Equal(one)),
		ddb.Not(n.Equal(two)), n.Equal(two).Not(), ddb.Not(ddb.Not(n.Equal(one))),
		ddb.Between(n, one, two), n.Between(one, two), ddb.Size(s).Between(one, ddb.Value(5)),
		ddb.In(n, two, one), n.In(two, one), n.In(one), ddb.Size(s).In(ddb.Value(5)),
		ddb.AttributeExists(n), n.AttributeExists(), ddb.AttributeNotExists(ddb.Name("gone")), ddb.Name("gone.x[1].y").AttributeNotExists(),
		ddb.AttributeType(n, ddb.Number), s.AttributeType(ddb.String), ddb.Name("ss").AttributeType(ddb.StringSet),
		ddb.Name("ns").AttributeType(ddb.NumberSet), ddb.Name("bs").AttributeType(ddb.BinarySet), ddb.Name("b").AttributeType(ddb.Binary),
		ddb.Name("t").AttributeType(ddb.Boolean), ddb.Name("z").AttributeType(ddb.Null), ddb.Name("l").AttributeType(ddb.List), ddb.Name("m").AttributeType(ddb.Map),
		ddb.BeginsWith(s, "he"), s.BeginsWith("he"), ddb.Contains(s, "ell"), s.Contains("ell"), ddb.Name("ss").Contains("a"), ddb.Name("l").Contains(1),
		ddb.NameNoDotSplit("a.b").Equal(ddb.Value("dotted")), ddb.Name("status").Equal(ddb.Value("OPEN")),
	)
	it := item(t, stored)
	for want, conditions := range holds {
		for i, condition := range conditions {
			built, err := ddb.NewBuilder().WithCondition(condition).WithFilter(condition).Build()
			if err != nil {
				t.Fatalf("%t %d: %v", want, i, err)
			}
			subs := subsOf(t, built)
			for kind, src := range map[expr.Kind]*string{expr.ConditionExpression: built.Condition(), expr.FilterExpression: built.Filter()} {
				cond, err := expr.ParseCondition(kind, *src, subs)
				if err != nil {
					t.Errorf("%s: %v", *src, err)
					continue
				}
				if got, err := cond.Eval(it); err != nil || got != want {
					t.Errorf("%s is %t, %v", *src, got, err)
				}
			}
			if err := subs.Unused(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Each case: a key condition of the SDK's builder and how many terms it has.
func TestEveryKeyConditionOfTheBuilder(t *testing.T) {
	t.Parallel()
	pk, sk, v, w := ddb.Key("PK"), ddb.Key("SK"), ddb.Value(1), ddb.Value(2)
	hash := pk.Equal(ddb.Value("p"))
	for i, tc := range []struct {
		keys  ddb.KeyConditionBuilder
		terms int
	}{
		{hash, 1},
		{ddb.KeyEqual(pk, v), 1},
		{hash.And(sk.Equal(v)), 2},
		{ddb.KeyAnd(hash, sk.LessThan(v)), 2},
		{ddb.KeyAnd(hash, ddb.KeyLessThan(sk, v)), 2},
		{hash.And(sk.LessThanEqual(v)), 2},
		{hash.And(ddb.KeyLessThanEqual(sk, v)), 2},
		{hash.And(sk.GreaterThan(v)), 2},
		{hash.And(ddb.KeyGreaterThan(sk, v)), 2},
		{hash.And(sk.GreaterThanEqual(v)), 2},
		{hash.And(ddb.KeyGreaterThanEqual(sk, v)), 2},
		{hash.And(sk.Between(v, w)), 2},
		{hash.And(ddb.KeyBetween(sk, v, w)), 2},
		{hash.And(sk.BeginsWith("x")), 2},
		{hash.And(ddb.KeyBeginsWith(sk, "x")), 2},
	} {
		built, err := ddb.NewBuilder().WithKeyCondition(tc.keys).Build()
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		subs := subsOf(t, built)
		keys, err := expr.ParseKeyCondition(*built.KeyCondition(), subs)
		if err != nil {
			t.Errorf("%s: %v", *built.KeyCondition(), err)
			continue
		}
		if len(keys.Terms) != tc.terms || keys.Terms[0].Name != "PK" {
			t.Errorf("%s has terms %+v", *built.KeyCondition(), keys.Terms)
		}
		if err := subs.Unused(); err != nil {
			t.Error(err)
		}
	}
}

// Each case: an update of the SDK's builder, with every function and method of it, and the item before as it changes.
func TestEveryUpdateOfTheBuilder(t *testing.T) {
	t.Parallel()
	n, l := ddb.Name("n"), ddb.Name("l")
	for i, tc := range []struct {
		update ddb.UpdateBuilder
		want   string
	}{
		{ddb.Set(n, ddb.Value(1)), `n {"N":"1"}`},
		{ddb.Set(n, ddb.Plus(n, ddb.Value(1))), `n {"N":"11"}`},
		{ddb.Set(n, n.Plus(ddb.Value(1))), `n {"N":"11"}`},
		{ddb.Set(n, ddb.Minus(n, ddb.Value(1))), `n {"N":"9"}`},
		{ddb.Set(n, ddb.Value(1).Minus(n)), `n {"N":"-9"}`},
		{ddb.Set(ddb.Name("c"), ddb.Plus(ddb.IfNotExists(ddb.Name("c"), ddb.Value(0)), ddb.Value(1))), `c {"N":"1"}`},
		{ddb.Set(n, n.IfNotExists(ddb.Value(0))), `n {"N":"10"}`},
		{ddb.Set(l, ddb.ListAppend(l, ddb.Value([]int{3}))), `l {"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}`},
		{ddb.Set(l, l.ListAppend(ddb.Value([]int{3}))), `l {"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}`},
		{ddb.Set(ddb.Name("l[1]"), ddb.Value("x")).Remove(ddb.Name("l[0]")), `l {"L":[{"S":"x"},{"N":"2"}]}`},
		{ddb.Remove(ddb.Name("m.y")).Remove(n), `n -; m {"M":{"x":{"N":"1"}}}`},
		{ddb.Add(n, ddb.Value(5)).Set(ddb.Name("name"), ddb.Name("s")), `n {"N":"15"}; name {"S":"x"}`},
		{ddb.Delete(ddb.Name("ss"), ddb.Value(value.ToSDK(item(t, `{"x":{"SS":["a"]}}`))["x"])), `ss {"SS":["b"]}`},
	} {
		built, err := ddb.NewBuilder().WithUpdate(tc.update).Build()
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		subs := subsOf(t, built)
		update, err := expr.ParseUpdate(*built.Update(), subs)
		if err != nil {
			t.Errorf("%s: %v", *built.Update(), err)
			continue
		}
		got, err := update.Apply(item(t, before))
		if want := changed(t, tc.want); err != nil || got != want {
			t.Errorf("%s gives %s, %v\nwant %s", *built.Update(), got.AppendJSON(nil), err, want.AppendJSON(nil))
		}
		if err := subs.Unused(); err != nil {
			t.Error(err)
		}
	}
}

func TestProjectionsOfTheBuilder(t *testing.T) {
	t.Parallel()
	names := ddb.NamesList(ddb.Name("status"), ddb.Name("l[0]"), ddb.Name("m.x")).AddNames(ddb.NameNoDotSplit("a.b"))
	built, err := ddb.NewBuilder().WithProjection(ddb.AddNames(names, ddb.Name("n"))).Build()
	if err != nil {
		t.Fatal(err)
	}
	projection, err := expr.ParseProjection(*built.Projection(), subsOf(t, built))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a.b":{"S":"dotted"},"l":{"L":[{"N":"1"}]},"m":{"M":{"x":{"N":"1"}}},"n":{"N":"1"},"status":{"S":"OPEN"}}`
	if got := string(projection.Apply(item(t, stored)).AppendJSON(nil)); got != want {
		t.Errorf("%s leaves %s", *built.Projection(), got)
	}
}
