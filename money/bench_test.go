package money_test

import (
	"encoding/json"
	"testing"

	"github.com/dynafin/dynafin/money"
)

// Each operation runs on an amount that fits 64 bits and on one that does not.
var sizes = []struct{ name, text string }{
	{"small", "1234567.89 USD"},
	{"wide", "12345678901234567890123456.78 USD"},
}

func BenchmarkParse(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			a := parse(b, size.text)
			text, c := a.Text(), a.Currency()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := money.Parse(text, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			x, y := parse(b, size.text), parse(b, "0.01 USD")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Add(y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkString(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			a := parse(b, size.text)
			b.ReportAllocs()
			for b.Loop() {
				_ = a.String()
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	data, err := json.Marshal(parse(b, "1234567.89 USD"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		a := parse(b, "1234567.89 USD")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var a money.Amount
			if err := a.UnmarshalJSON(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncodeDecode(b *testing.B) {
	a := parse(b, "1234567.89 USD")
	b.ReportAllocs()
	for b.Loop() {
		encoded, err := a.Encode()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := (money.Registry{}).Decode(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAllocate(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			a := parse(b, size.text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Allocate(money.LargestRemainder(), 50, 30, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMulRound(b *testing.B) {
	tax := money.MustParseRational("0.0825")
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			a := parse(b, size.text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.MulRound(tax, money.HalfEven); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRound(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			a := parse(b, size.text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Round(1, money.HalfEven); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
