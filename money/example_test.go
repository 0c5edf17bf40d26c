package money_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dynafin/dynafin/money"
)

func Example() {
	price := money.MustParse("19.99 USD")
	total, err := price.MulInt(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total, total.MinorUnits())

	// Binary floats cannot say this.
	sum, _ := money.MustParse("0.10 USD").Add(money.MustParse("0.20 USD"))
	fmt.Println(sum.Equal(money.MustParse("0.30 USD")))
	// Output:
	// 59.97 USD 5997
	// true
}

func ExampleParse() {
	usd, _ := money.ISO("USD")
	for _, text := range []string{"1234.50", "0.1", "1e3", "1,000", "0.001"} {
		amount, err := money.Parse(text, usd)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(amount)
	}
	// Output:
	// 1234.50 USD
	// 0.10 USD
	// money: parse: byte 1: exponents are not accepted; write the digits out; retrying cannot help [DFN-1101]
	// money: parse: byte 1: only a leading minus sign, digits 0 to 9 and a point are accepted; retrying cannot help [DFN-1101]
	// money: parse: the value needs 3 decimal places, USD has 2; retrying cannot help [DFN-1102]
}

func ExampleAmount_Add() {
	// The zero Amount is the empty sum, so a total needs no special first step.
	var total money.Amount
	for _, line := range []string{"9.99 EUR", "0.01 EUR", "-2.50 EUR"} {
		var err error
		if total, err = total.Add(money.MustParse(line)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(total)

	_, err := total.Add(money.MustParse("1.00 USD"))
	fmt.Println(errors.Is(err, money.ErrMismatch))
	// Output:
	// 7.50 EUR
	// true
}

func ExampleAmount_MarshalJSON() {
	type order struct {
		Price money.Amount `json:"price"`
	}
	text, _ := json.Marshal(order{Price: money.MustParse("1.10 USD")})
	fmt.Println(string(text))

	var read order
	fmt.Println(json.Unmarshal(text, &read), read.Price)
	err := json.Unmarshal([]byte(`{"price": 1.10}`), &read)
	fmt.Println(errors.Is(err, money.ErrEncoding))
	// Output:
	// {"price":"1.10 USD"}
	// <nil> 1.10 USD
	// true
}

func ExampleNewRegistry() {
	acme, err := money.Define("XNYS:ACME", 6, money.KindSecurity)
	if err != nil {
		fmt.Println(err)
		return
	}
	ether, err := money.Define("ETH", 18, money.KindSecurity)
	if err != nil {
		fmt.Println(err)
		return
	}
	registry, err := money.NewRegistry(acme, ether)
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, _ := registry.Parse("1.5 XNYS:ACME")
	gas, _ := registry.Parse("0.000000000000021 ETH")
	fmt.Println(shares, gas.MinorUnits())
	// Output:
	// 1.500000 XNYS:ACME 21000
}

func ExampleRegistry_Decode() {
	stored, _ := money.MustParse("1.10 USD").Encode()
	amount, err := money.Registry{}.Decode(stored)
	fmt.Println(amount, err)
	// Output:
	// 1.10 USD <nil>
}

func ExampleAmount_MinorUnits() {
	kwd, _ := money.ISO("KWD") // three decimal places
	amount, _ := money.Parse("1.5", kwd)
	fmt.Println(amount.MinorUnits())
	again, _ := money.ParseMinor("1500", kwd)
	fmt.Println(again)
	// Output:
	// 1500
	// 1.500 KWD
}
