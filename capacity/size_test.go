package capacity_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/dynafin/dynafin/capacity"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

type (
	str   = types.AttributeValueMemberS
	num   = types.AttributeValueMemberN
	bin   = types.AttributeValueMemberB
	list  = types.AttributeValueMemberL
	dict  = types.AttributeValueMemberM
	item  = map[string]types.AttributeValue
	value = types.AttributeValue
)

// Measured on DynamoDB to the byte, at the largest item it stores.
func TestNumbersHaveTheSizesMeasuredOnDynamoDB(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0": 1, "-0": 1, "1": 2, "12": 2, "15": 2, "123": 3, "1234": 3, "12345": 4, "1234567": 5, "123456789": 6,
		"12345678912": 7, "1234567891234567891": 11, "12345678912345678912345678912345678912": 20, "0042": 2, "100": 2,
		"1010": 3, "0.0000001": 2, "1E125": 2, "1E-100": 2, "0.15": 2, "1.5": 3, "1.200": 3, "1.234": 4, "3.14159": 5,
		"100.5": 4, "-42": 3, "-12345": 5, "-0.15": 3, "-1E125": 3,
	} {
		if got := capacity.NumberSize(text); got != want || !capacity.IsNumber(text) {
			t.Errorf("NumberSize(%q) = %d, want %d; is a number: %t", text, got, want, capacity.IsNumber(text))
		}
	}
}

func TestTheNotationOfANumberDoesNotChangeItsSize(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"0", "+0", "0.000", "-0.0", "0E5", "000", "0e-99"},
		{"42", "+42", "042", "42.0", "4.2e1", "4.2E+1", "0.42e2", "420E-1", "42."},
		{"0.05", ".05", "5e-2", "0.0500", "00.05", "0.5E-1"},
		{"1.0001", "10001E-4", "0.00010001e4"},
	} {
		for _, text := range same {
			if got, want := capacity.NumberSize(text), capacity.NumberSize(same[0]); got != want {
				t.Errorf("NumberSize(%q) = %d, but NumberSize(%q) = %d", text, got, same[0], want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := decimal.New(rapid.Int64().Draw(t, "digits"), int32(rapid.IntRange(-40, 40).Draw(t, "exponent")))
		scientific := d.Coefficient().String() + "e" + strconv.Itoa(int(d.Exponent()))
		if plain := d.String(); capacity.NumberSize(plain) != sizeByDefinition(plain) || capacity.NumberSize(scientific) != sizeByDefinition(plain) {
			t.Fatalf("%s has %d bytes, %s has %d, by definition %d", plain, capacity.NumberSize(plain), scientific,
				capacity.NumberSize(scientific), sizeByDefinition(plain))
		}
	})
}

// sizeByDefinition counts the digits of plain notation, zeros trimmed on both sides.
func sizeByDefinition(plain string) int {
	unsigned := strings.TrimPrefix(plain, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		fraction = strings.TrimLeft(fraction, "0")
	}
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	if whole+fraction == "" {
		return 1
	}
	return 1 + (len(whole)+1)/2 + (len(fraction)+1)/2 + len(plain) - len(unsigned)
}

func TestTextThatIsNoNumberCountsItsBytes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "-", ".", "e5", "1e", "1e+", "1.2.3", "12x", "1 ", "0x10", "NaN", "Infinity", "1_000", "1e5x", "--1"} {
		if got := capacity.NumberSize(text); got != len(text) || capacity.IsNumber(text) {
			t.Errorf("NumberSize(%q) = %d, want %d; is a number: %t", text, got, len(text), capacity.IsNumber(text))
		}
	}
	if got := capacity.NumberSize("1e" + strings.Repeat("9", 1000)); got != 2 {
		t.Errorf("an endless exponent gives %d", got)
	}
	if got := capacity.NumberSize("1e-" + strings.Repeat("9", 1000)); got != 2 {
		t.Errorf("an endless negative exponent gives %d", got)
	}
}

func FuzzNumberSize(f *testing.F) {
	for _, text := range []string{"0", "-12.50e-3", "1e", "..", "+007", "9e999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := capacity.NumberSize(text); got < 0 || got > len(text)+2 {
			t.Fatalf("NumberSize(%q) = %d", text, got)
		}
	})
}

func TestSizingANumberDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"-12345678912345678912345678912345678912", "1.5E-100", "no number"} {
		if n := testing.AllocsPerRun(100, func() { capacity.NumberSize(text) }); n != 0 {
			t.Errorf("NumberSize(%q) allocates %v times", text, n)
		}
	}
}

func TestEveryTypeOfValueHasItsSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		v    value
		want int
	}{
		{"S", &str{Value: "héllo"}, 6},
		{"empty S", &str{}, 0},
		{"N", &num{Value: "-42"}, 3},
		{"B", &bin{Value: []byte{0, 1, 2}}, 3},
		{"BOOL", &types.AttributeValueMemberBOOL{}, 1},
		{"NULL", &types.AttributeValueMemberNULL{Value: true}, 1},
		{"SS", &types.AttributeValueMemberSS{Value: []string{"a", "bcd"}}, 4},
		{"NS", &types.AttributeValueMemberNS{Value: []string{"1", "-42"}}, 5},
		{"BS", &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}}, 3},
		{"empty L", &list{}, 3},
		{"L", &list{Value: []value{&str{Value: "abc"}, &num{Value: "1"}}}, 3 + 1 + 3 + 1 + 2},
		{"empty M", &dict{}, 3},
		{"M", &dict{Value: item{"key": &str{Value: "abc"}, "é": &num{Value: "0"}}}, 3 + 1 + 3 + 3 + 1 + 2 + 1},
		{"L in M in L", &list{Value: []value{&dict{Value: item{"k": &list{}}}}}, 3 + 1 + 3 + 1 + 1 + 3},
		{"nil", nil, 0},
		{"a nil pointer", (*str)(nil), 0},
		{"a nil pointer to a map in a list", &list{Value: []value{(*dict)(nil)}}, 4},
		{"unknown", &types.UnknownUnionMember{Tag: "X"}, 0},
	} {
		if got := capacity.ValueSize(c.v); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
	guide := item{"shirt-color": &str{Value: "R"}, "shirt-size": &str{Value: "M"}}
	if got := capacity.ItemSize(guide); got != 23 {
		t.Errorf("the guide's item has %d bytes, want 23", got)
	}
}

func BenchmarkNumberSize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if capacity.NumberSize("-1234567891234567.89") == math.MaxInt {
			b.Fatal("unreachable size")
		}
	}
}
