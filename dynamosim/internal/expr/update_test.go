package expr_test

import (
	"strings"
	"testing"

	"github.com/dynafin/dynafin/dynamosim/internal/expr"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

const before = `{"PK":{"S":"p"},"n":{"N":"10"},"s":{"S":"x"},"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]},
	"m":{"M":{"x":{"N":"1"},"y":{"M":{"k":{"S":"v"}}}}},"ss":{"SS":["a","b"]},"ns":{"NS":["1"]}}`

func parseUpdate(t testing.TB, src string) (*expr.Update, error) {
	t.Helper()
	return expr.ParseUpdate(src, expr.NewSubs(names, item(t, values)))
}

// Each line: an update of the item above, => the attributes it changes as they are afterwards, - for one that is gone.
func TestUpdates(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		SET a = :one => a {"N":"1"}
		set #s = :s => s {"S":"hello"}
		SET a = n, n = :one => a {"N":"10"}; n {"N":"1"}
		SET n = n + :one => n {"N":"11"}
		SET n = n - :two => n {"N":"8"}
		SET n = :one - n => n {"N":"-9"}
		SET n = (n - :one) + :two => n {"N":"11"}
		SET n = (n + :one) => n {"N":"11"}
		SET a = if_not_exists(a, :one) + :two => a {"N":"3"}
		SET n = if_not_exists(n, :one) => n {"N":"10"}
		SET a = if_not_exists(b, m.x) => a {"N":"1"}
		SET a = if_not_exists(b, if_not_exists(c, :s)) => a {"S":"hello"}
		SET l = list_append(l, :l) => l {"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"1"},{"S":"x"}]}
		SET l = list_append(:l, l) => l {"L":[{"N":"1"},{"S":"x"},{"N":"0"},{"N":"1"},{"N":"2"}]}
		SET a = list_append(if_not_exists(a, :empty), :l) => a {"L":[{"N":"1"},{"S":"x"}]}
		SET m.x = :two => m {"M":{"x":{"N":"2"},"y":{"M":{"k":{"S":"v"}}}}}
		SET m.z = m.x, m.y.k = :s => m {"M":{"x":{"N":"1"},"y":{"M":{"k":{"S":"hello"}}},"z":{"N":"1"}}}
		SET m = :m => m {"M":{"x":{"N":"1"}}}
		SET l[1] = :s => l {"L":[{"N":"0"},{"S":"hello"},{"N":"2"}]}
		SET l[9] = :two, l[7] = :one => l {"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"1"},{"N":"2"}]}
		REMOVE n => n -
		REMOVE n, absent => n -
		REMOVE m.x, m.y.k => m {"M":{"y":{"M":{}}}}
		REMOVE m.nothing => m {"M":{"x":{"N":"1"},"y":{"M":{"k":{"S":"v"}}}}}
		REMOVE l[0], l[2], l[8] => l {"L":[{"N":"1"}]}
		SET l[1] = :s REMOVE l[0] => l {"L":[{"S":"hello"},{"N":"2"}]}
		REMOVE l[0], l[1], l[2] => l {"L":[]}
		ADD n :two => n {"N":"12"}
		ADD a :two => a {"N":"2"}
		ADD ss :ss => ss {"SS":["a","b"]}
		ADD a :ss => a {"SS":["a","b"]}
		ADD ns :ns => ns {"NS":["1","2"]}
		ADD m.x :one, m.c :one => m {"M":{"c":{"N":"1"},"x":{"N":"2"},"y":{"M":{"k":{"S":"v"}}}}}
		DELETE ss :ss => ss -
		DELETE ns :ns => ns -
		DELETE a :ss => 
		REMOVE s ADD n :one SET a = :s DELETE ss :ss => s -; n {"N":"11"}; a {"S":"hello"}; ss -
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " =>")
		update, err := parseUpdate(t, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got, err := update.Apply(item(t, before))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if expected := changed(t, want); got != expected {
			t.Errorf("%s gives %s\n want %s", src, got.AppendJSON(nil), expected.AppendJSON(nil))
		}
	}
}

// changed applies "a {value}; b -" to the item before.
func changed(t *testing.T, list string) value.Item {
	t.Helper()
	it := item(t, before)
	for _, change := range strings.Split(list, ";") {
		name, src, _ := strings.Cut(strings.TrimSpace(change), " ")
		switch {
		case name == "":
		case src == "-":
			it = it.Without(name)
		default:
			v, err := value.DecodeValue([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			it = it.With(name, v)
		}
	}
	return it
}

// Each line: an update, => and why its text is refused.
func TestUpdateRefusals(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		a = :one => Syntax error; token: "a", near: "a ="
		SET => Syntax error; token: "<EOF>", near: "SET"
		SET a => Syntax error; token: "<EOF>", near: "a"
		SET a = => Syntax error; token: "<EOF>", near: "="
		SET a = :one + => Syntax error; token: "<EOF>", near: "+"
		SET a = :one + :one + :one => Syntax error; token: "+", near: ":one + :one"
		SET a = :one, => Syntax error; token: "<EOF>", near: ","
		SET a = (:one => Syntax error; token: "<EOF>", near: ":one"
		SET :one = a => Syntax error; token: ":one", near: "SET :one ="
		SET a :one => Syntax error; token: ":one", near: "a :one"
		ADD a => Syntax error; token: "<EOF>", near: "a"
		ADD a b => Syntax error; token: "b", near: "a b"
		REMOVE a REMOVE b => The "REMOVE" section can only be used once in an update expression;
		SET a = :one SET b = :one => The "SET" section can only be used once in an update expression;
		SET name = :one => Attribute name is a reserved keyword; reserved keyword: name
		SET a = nope(b) => Invalid function name; function: nope
		SET a = #x => An expression attribute name used in the document path is not defined; attribute name: #x
		SET a = :x => An expression attribute value used in expression is not defined; attribute value: :x
		SET a = :x, b = #x => An expression attribute name used in the document path is not defined; attribute name: #x
		SET a = :one, a = :two => Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]
		SET a = :one REMOVE a.b => Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]
		SET a.b = :one REMOVE a[1] => Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]
		ADD a :s => Incorrect operand type for operator or function; operator: ADD, operand type: STRING
		ADD a :l => Incorrect operand type for operator or function; operator: ADD, operand type: LIST
		DELETE a :one => Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER
		SET a = b + :s => Incorrect operand type for operator or function; operator or function: +, operand type: S
		SET a = list_append(b, :one) => Incorrect operand type for operator or function; operator or function: list_append, operand type: N
		SET a = list_append(b) => Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1
		SET a = if_not_exists(:one, :two) => Operator or function requires a document path; operator or function: if_not_exists
		SET a = if_not_exists(b) => Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		_, err := parseUpdate(t, src)
		if err == nil || err.Error() != "Invalid UpdateExpression: "+want {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

// Each line: an update, => and why it cannot be applied to the item above.
func TestUpdatesThatDoNotFitTheItem(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(`
		SET a = b => The provided expression refers to an attribute that does not exist in the item
		SET a = m.nothing => The provided expression refers to an attribute that does not exist in the item
		SET a = b + :one => The provided expression refers to an attribute that does not exist in the item
		SET a = s + :one => An operand in the update expression has an incorrect data type
		SET a = list_append(s, :l) => An operand in the update expression has an incorrect data type
		ADD s :one => An operand in the update expression has an incorrect data type
		ADD ns :ss => An operand in the update expression has an incorrect data type
		ADD n :ns => An operand in the update expression has an incorrect data type
		DELETE n :ns => An operand in the update expression has an incorrect data type
		DELETE ss :ns => An operand in the update expression has an incorrect data type
		SET nothing.x = :one => The document path provided in the update expression is invalid for update
		SET m.nothing.x = :one => The document path provided in the update expression is invalid for update
		SET n.x = :one => The document path provided in the update expression is invalid for update
		SET m[0] = :one => The document path provided in the update expression is invalid for update
		SET l.x = :one => The document path provided in the update expression is invalid for update
		SET l[7].x = :one => The document path provided in the update expression is invalid for update
		ADD nothing.x :one => The document path provided in the update expression is invalid for update
		DELETE nothing.x :ss => The document path provided in the update expression is invalid for update
		REMOVE nothing.x => The document path provided in the update expression is invalid for update
		REMOVE s[0] => The document path provided in the update expression is invalid for update
	`), "\n") {
		src, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		update, err := parseUpdate(t, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if _, err := update.Apply(item(t, before)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

func TestUpdateRefusesSumsBeyondANumber(t *testing.T) {
	t.Parallel()
	subs := item(t, `{":a":{"N":"9E125"},":b":{"N":"1E50"},":c":{"N":"1"}}`)
	for _, src := range []string{"SET x = :a + :a", "SET x = :b + :c", "SET x = :b - :c"} {
		update, err := expr.ParseUpdate(src, expr.NewSubs(nil, subs))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := update.Apply(value.Item{}); err == nil || !strings.HasPrefix(err.Error(), "Number overflow.") {
			t.Errorf("%s: error = %v", src, err)
		}
	}
}

func TestUpdateRefusesTooDeepDocuments(t *testing.T) {
	t.Parallel()
	nest := func(levels int) value.Value {
		v := value.String("leaf")
		for range levels {
			v = value.Map(value.Attr{Name: "n", Value: v})
		}
		return v
	}
	update, err := expr.ParseUpdate("SET m.a = :v", expr.NewSubs(nil, value.NewItem(value.Attr{Name: ":v", Value: nest(31)})))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := update.Apply(item(t, `{"m":{"M":{}}}`)); err == nil || !strings.HasPrefix(err.Error(), "Nesting Levels have exceeded") {
		t.Errorf("error = %v", err)
	}
}

func TestUpdateStopsWritingBeyondTheLargestItem(t *testing.T) {
	t.Parallel()
	subs := value.NewItem(value.Attr{Name: ":v", Value: value.String(strings.Repeat("x", 250_000))})
	list := value.NewItem(value.Attr{Name: "l", Value: value.List(value.String(strings.Repeat("x", 250_000)))})
	for _, src := range []string{"SET a = :v, b = :v, c = :v", "SET l = list_append(l, list_append(l, list_append(l, l)))"} {
		update, err := expr.ParseUpdate(src, expr.NewSubs(nil, subs))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := update.Apply(list); err == nil || err.Error() != "Item size to update has exceeded the maximum allowed size" {
			t.Errorf("%s: error = %v", src, err)
		}
	}
}

func TestRemoveIntoNothingIsOnlyAllowedWhereNoItemIs(t *testing.T) {
	t.Parallel()
	key := item(t, `{"PK":{"S":"p"}}`)
	update, err := parseUpdate(t, "SET a = :one REMOVE x.y, z[0]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := update.Apply(key); err == nil {
		t.Error("Apply accepted a path into a absent attribute")
	}
	created, err := update.Create(key)
	if err != nil || created != item(t, `{"PK":{"S":"p"},"a":{"N":"1"}}`) {
		t.Errorf("Create = %s, %v", created.AppendJSON(nil), err)
	}
}

func TestUpdatedShowsOnlyWhatWasWritten(t *testing.T) {
	t.Parallel()
	update, err := parseUpdate(t, "SET m.x = :two, a = :one REMOVE s ADD n :one")
	if err != nil {
		t.Fatal(err)
	}
	old := item(t, before)
	after, err := update.Apply(old)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := update.Updated(old), item(t, `{"m":{"M":{"x":{"N":"1"}}},"n":{"N":"10"},"s":{"S":"x"}}`); got != want {
		t.Errorf("UPDATED_OLD = %s", got.AppendJSON(nil))
	}
	if got, want := update.Updated(after), item(t, `{"a":{"N":"1"},"m":{"M":{"x":{"N":"2"}}},"n":{"N":"11"}}`); got != want {
		t.Errorf("UPDATED_NEW = %s", got.AppendJSON(nil))
	}
	if got := strings.Join(update.Names(), " "); got != "a m n s" {
		t.Errorf("names = %q", got)
	}
}

func FuzzUpdate(f *testing.F) {
	for _, seed := range []string{
		"SET n = n + :one, m.x = if_not_exists(m.q, :s) REMOVE l[0], s ADD ns :ns DELETE ss :ss",
		"SET l = list_append(:l, l), a = (n - :one) + m.x", "REMOVE l[0], l[1], l[7]", "SET a.b = :one, a[0] = :two", "ADD x :ss SET",
	} {
		f.Add(seed)
	}
	it, subs := item(f, before), item(f, values)
	f.Fuzz(func(t *testing.T, src string) {
		update, err := expr.ParseUpdate(src, expr.NewSubs(names, subs))
		if err != nil {
			return
		}
		after, err := update.Apply(it)
		if err != nil {
			return
		}
		if again, err := value.DecodeItem(after.AppendJSON(nil)); err != nil || again != after {
			t.Errorf("%q makes an item that does not round-trip: %v", src, err)
		}
		touched := update.Names()
		if it.Merge(gone(touched)...) != after.Merge(gone(touched)...) {
			t.Errorf("%q changes more than %v", src, touched)
		}
	})
}

func gone(names []string) []value.Attr {
	attrs := make([]value.Attr, len(names))
	for i, name := range names {
		attrs[i].Name = name
	}
	return attrs
}

func BenchmarkUpdate(b *testing.B) {
	it, vals := item(b, before), item(b, `{":one":{"N":"1"},":s":{"S":"x"}}`)
	b.ReportAllocs()
	for b.Loop() {
		update, err := expr.ParseUpdate("SET #n = #n + :one, s = :s", expr.NewSubs(names, vals))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := update.Apply(it); err != nil {
			b.Fatal(err)
		}
	}
}
