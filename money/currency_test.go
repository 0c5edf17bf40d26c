package money_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/money"
)

// otherScales are all current codes of ISO 4217 whose scale is not 2, written down from the standard. Data for
// display (CLDR) has other digits for ALL, AFN, IQD, IRR, LAK, MMK, RSD and more.
var otherScales = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
	"UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

func TestISOTableHasTheScalesOfTheStandard(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, e := range money.ISOTable() {
		if e.Scale != 2 {
			found[e.Code] = e.Scale
		}
		if len(e.Code) != 3 || e.Code != strings.ToUpper(e.Code) || e.Numeric < 1 || e.Numeric > 999 {
			t.Errorf("malformed entry %+v", e)
		}
	}
	if !maps.Equal(found, otherScales) {
		t.Errorf("scales other than 2: %v\nwant %v", found, otherScales)
	}
}

func TestISOTableIsSortedWithoutRepeatsAndDated(t *testing.T) {
	t.Parallel()
	table := money.ISOTable()
	if !slices.IsSortedFunc(table, func(a, b money.ISOEntry) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("the table is not sorted, so that lookups miss")
	}
	codes, numbers := map[string]bool{}, map[int]string{}
	for _, e := range table {
		if codes[e.Code] {
			t.Errorf("%s occurs twice", e.Code)
		}
		codes[e.Code] = true
		if other := numbers[e.Numeric]; other != "" && !e.Withdrawn {
			t.Errorf("%s and %s share %03d", e.Code, other, e.Numeric)
		}
		if !e.Withdrawn {
			numbers[e.Numeric] = e.Code
		}
	}
	if _, err := time.Parse(time.DateOnly, money.ISOTableDate); err != nil || money.ISOTableSource == "" {
		t.Errorf("the table is not dated: %v", err)
	}
}

func TestISOTableIsACopy(t *testing.T) {
	t.Parallel()
	money.ISOTable()[0].Scale = 17
	if money.ISOTable()[0].Scale == 17 {
		t.Error("a caller can change the table")
	}
}

func TestEveryCurrentCodeResolves(t *testing.T) {
	t.Parallel()
	for _, e := range money.ISOTable() {
		c, err := money.ISO(e.Code)
		if e.Withdrawn {
			var unknown *money.UnknownCurrencyError
			if !errors.As(err, &unknown) || !unknown.Withdrawn || unknown.Code != e.Code {
				t.Errorf("withdrawn %s: %v, %v", e.Code, c, err)
			}
			continue
		}
		if err != nil || c.Code() != e.Code || c.Scale() != e.Scale || c.Kind() != money.KindCash {
			t.Errorf("%s: %v, %v", e.Code, c, err)
		}
	}
}

func TestWithdrawnCurrencyIsReadButTakesNoNewAmounts(t *testing.T) {
	t.Parallel()
	if _, err := money.ISO("BGN"); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("BGN for a new amount: %v", err)
	}
	old, err := money.Registry{}.Parse("12.50 BGN")
	if err != nil || old.String() != "12.50 BGN" {
		t.Errorf("an old amount: %v, %v", old, err)
	}
}

func TestUnknownCodesAreErrors(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "usd", "Usd", "US", "USDX", "XXX", "XTS", "XAU", "ZZZ", " USD", "USD ", strings.Repeat("A", 1<<20)} {
		c, err := money.ISO(code)
		var unknown *money.UnknownCurrencyError
		if !errors.As(err, &unknown) || unknown.Code != code || c != (money.Currency{}) {
			t.Errorf("%.20q: %v, %v", code, c, err)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%.20q: the error has %d bytes", code, len(err.Error()))
		}
	}
}

func TestDefineRefusesWhatWouldConfuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, code string
		scale      int
		kind       money.Kind
	}{
		{"no code", "", 2, money.KindCash},
		{"an ISO code", "USD", 2, money.KindCash},
		{"an ISO code as a ticker", "ALL", 0, money.KindSecurity},
		{"an ISO code in lower case", "usd", 2, money.KindCash},
		{"a withdrawn ISO code", "BGN", 2, money.KindCash},
		{"a space", "GOLD OZ", 2, money.KindCash},
		{"a key separator", "A#B", 2, money.KindCash},
		{"a leading mark", "-A", 2, money.KindCash},
		{"another script", "ΑCME", 2, money.KindCash},
		{"33 bytes", strings.Repeat("A", 33), 2, money.KindCash},
		{"scale 19", "ACME", 19, money.KindSecurity},
		{"scale -1", "ACME", -1, money.KindSecurity},
		{"no kind", "ACME", 2, 0},
		{"an unknown kind", "ACME", 2, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := money.Define(test.code, test.scale, test.kind)
			var definition *money.DefinitionError
			if !errors.As(err, &definition) || definition.Code != test.code || c != (money.Currency{}) {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
}

func TestDefineTakesTheCodesOfMarkets(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"ACME", "BRK.B", "XNYS:ALL", "US0378331005", "1INCH", "stETH", "EUR-PERP", "BTC/2026", strings.Repeat("A", 32)} {
		if _, err := money.Define(code, 18, money.KindSecurity); err != nil {
			t.Error(err)
		}
	}
}

func TestRegistryReportsEveryRepeat(t *testing.T) {
	t.Parallel()
	a, lower := define(t, "ACME", 0, money.KindSecurity), define(t, "acme", 0, money.KindSecurity)
	usd := currencies(t)["USD"]
	_, err := money.NewRegistry(a, lower, usd, money.Currency{})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 || !errors.Is(err, money.ErrDefinition) {
		t.Errorf("got %v", err)
	}
}

func TestRegistryResolvesItsOwnCodesAndISO(t *testing.T) {
	t.Parallel()
	r := registry(t)
	for code, want := range currencies(t) {
		if c, err := r.Currency(code); err != nil || c != want {
			t.Errorf("%s: %v, %v", code, c, err)
		}
	}
	if c, err := (money.Registry{}).Currency("ETH"); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("the zero registry knows ETH as %v", c)
	}
}

func TestRegistryParseReadsNumberSpaceCode(t *testing.T) {
	t.Parallel()
	r := registry(t)
	if a, err := r.Parse("1.5 ETH"); err != nil || a.String() != "1.500000000000000000 ETH" {
		t.Errorf("got %v, %v", a, err)
	}
	for text, want := range map[string]error{
		"":                                  money.ErrSyntax,
		"1.5":                               money.ErrSyntax,
		"1.5 ":                              money.ErrSyntax,
		"1.5  ETH":                          money.ErrSyntax,
		"1.5 ETH ":                          money.ErrSyntax,
		"ETH 1.5":                           money.ErrUnknownCurrency,
		"1.5\tETH":                          money.ErrSyntax,
		" USD":                              money.ErrSyntax,
		"1.5 DOGE":                          money.ErrUnknownCurrency,
		"1.5 eth":                           money.ErrUnknownCurrency,
		"1.555 USD":                         money.ErrInexact,
		strings.Repeat("9", 40) + " USD":    money.ErrRange,
		strings.Repeat("9", 1<<20) + " USD": money.ErrSyntax,
		"1 " + strings.Repeat("A", 1<<20):   money.ErrSyntax,
	} {
		if a, err := r.Parse(text); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, %v, want %v", text, a, err, want)
		}
	}
}
