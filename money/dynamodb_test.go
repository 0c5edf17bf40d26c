package money_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/money"
)

var (
	_ attributevalue.Marshaler   = money.Amount{}
	_ attributevalue.Unmarshaler = (*money.Amount)(nil)
)

func n(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
func m(a, c, scale types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": a, "c": c, "s": scale}}
}

// TestStoredFormIsTheGoldenFile guards a public format: a changed byte is a breaking change.
func TestStoredFormIsTheGoldenFile(t *testing.T) {
	t.Parallel()
	stored := map[string]map[string]any{}
	for _, text := range []string{"1.10 USD", "-1999 JPY", "0 KWD", "0.000000000000000001 ETH"} {
		amount := parse(t, text)
		encoded, err := amount.Encode()
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		for name, value := range encoded.Value {
			switch value := value.(type) {
			case *types.AttributeValueMemberN:
				fields[name] = map[string]string{"N": value.Value}
			case *types.AttributeValueMemberS:
				fields[name] = map[string]string{"S": value.Value}
			}
		}
		stored[amount.String()] = fields
	}
	got, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.TrimSuffix(string(want), "\n") {
		t.Errorf("the stored form is now\n%s", got)
	}
}

func TestStoredFormSurvivesTheStoresTrimming(t *testing.T) {
	t.Parallel()
	r, all := registry(t), currencies(t)
	rapid.Check(t, func(t *rapid.T) {
		a := amounts(t, currency(t, all), "amount")
		encoded, err := a.Encode()
		if err != nil {
			t.Fatalf("%v", err)
		}
		read, err := r.Decode(trim(encoded))
		if err != nil || !read.Equal(a) || read.String() != a.String() {
			t.Fatalf("%s came back as %v, %v", a, read, err)
		}
		value, err := money.FromNumber(trim(a.Number()), a.Currency())
		if err != nil || !value.Equal(a) {
			t.Fatalf("the number of %s came back as %v, %v", a, value, err)
		}
	})
}

func TestAmountIsAFieldOfAnSDKRecord(t *testing.T) {
	t.Parallel()
	type order struct {
		ID    string
		Price money.Amount
		Fee   *money.Amount
	}
	in := order{ID: "o-1", Price: parse(t, "1.10 USD")}
	item, err := attributevalue.MarshalMap(in)
	if err != nil {
		t.Fatal(err)
	}
	item["Price"] = trim(item["Price"])
	var out order
	if err := attributevalue.UnmarshalMap(item, &out); err != nil {
		t.Fatal(err)
	}
	if out.Price.String() != "1.10 USD" || out.Fee != nil {
		t.Errorf("got %+v", out)
	}
	if _, err := attributevalue.MarshalMap(order{}); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("a record without a price was stored: %v", err)
	}
}

func TestStoredScaleOutlivesTheTable(t *testing.T) {
	t.Parallel()
	// A row written when the krona had two places, and one in dinars as if they had two some day.
	old, err := money.Registry{}.Decode(m(n("1.5"), s("ISK"), n("2")))
	if err != nil || old.String() != "1.50 ISK" || old.MinorUnits() != "150" {
		t.Fatalf("got %v, %v", old, err)
	}
	today := parse(t, "2 ISK")
	if sum, err := old.Add(today); !errors.Is(err, money.ErrMismatch) {
		t.Errorf("two scales added up to %v, %v", sum, err)
	}
	if moved, err := old.Rescale(today.Currency()); !errors.Is(err, money.ErrInexact) {
		t.Errorf("half a krona became %v, %v", moved, err)
	}
	whole, err := money.Registry{}.Decode(m(n("3"), s("ISK"), n("2")))
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := whole.Rescale(today.Currency()); err != nil || moved.String() != "3 ISK" {
		t.Errorf("three kronur became %v, %v", moved, err)
	}
	if withdrawn, err := (money.Registry{}).Decode(m(n("1.1"), s("HRK"), n("2"))); err != nil || withdrawn.String() != "1.10 HRK" {
		t.Errorf("a withdrawn currency is read as %v, %v", withdrawn, err)
	}
}

func TestDecodeRefusesOtherShapes(t *testing.T) {
	t.Parallel()
	usd, two := s("USD"), n("2")
	tests := []struct {
		name string
		av   types.AttributeValue
		want error
	}{
		{"nil", nil, money.ErrEncoding},
		{"a nil map", (*types.AttributeValueMemberM)(nil), money.ErrEncoding},
		{"NULL", &types.AttributeValueMemberNULL{Value: true}, money.ErrEncoding},
		{"a bare number", n("19.99"), money.ErrEncoding},
		{"a string", s("19.99 USD"), money.ErrEncoding},
		{"an empty map", &types.AttributeValueMemberM{}, money.ErrEncoding},
		{"the amount as a string", m(s("19.99"), usd, two), money.ErrEncoding},
		{"the scale as a string", m(n("19.99"), usd, s("2")), money.ErrEncoding},
		{"nil members", m((*types.AttributeValueMemberN)(nil), usd, two), money.ErrEncoding},
		{"a fourth member", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"a": n("1"), "c": usd, "s": two, "k": usd}}, money.ErrEncoding},
		{"scale 19", m(n("1"), usd, n("19")), money.ErrEncoding},
		{"scale -1", m(n("1"), usd, n("-1")), money.ErrEncoding},
		{"scale 1.5", m(n("1"), usd, n("1.5")), money.ErrEncoding},
		{"an unknown code", m(n("1"), s("ZZZ"), two), money.ErrUnknownCurrency},
		{"a code in lower case", m(n("1"), s("usd"), two), money.ErrUnknownCurrency},
		{"finer than its own scale", m(n("1.234"), usd, two), money.ErrInexact},
		{"an exponent", m(n("1E2"), usd, two), money.ErrSyntax},
		{"more than 38 digits", m(n(strings.Repeat("9", 37)), usd, two), money.ErrRange},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := parse(t, "7 EUR")
			if err := a.UnmarshalDynamoDBAttributeValue(test.av); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if a.String() != "7.00 EUR" {
				t.Errorf("a failed decode changed the amount to %s", a)
			}
		})
	}
	if a, err := money.FromNumber(s("1"), currencies(t)["USD"]); !errors.Is(err, money.ErrEncoding) {
		t.Errorf("a string as a number: %v, %v", a, err)
	}
}

func TestStoredSizeIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"19.99 USD": 17,
		"-" + strings.Repeat("9", 36) + ".99 USD":  35,
		"-" + strings.Repeat("9", 35) + ".999 KWD": 36,
	} {
		encoded, err := parse(t, text).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got := capacity.ValueSize(encoded); got != want {
			t.Errorf("%s takes %d bytes, want %d", text, got, want)
		}
	}
}
