package value_test

import (
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
	"pgregory.net/rapid"
)

// numberText draws decimal texts in many spellings; most are numbers, some are out of range or too long.
func numberText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`[0-9]{1,20}(\.[0-9]{0,20})?`).Draw(t, "digits")
		sign := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign")
		exp := ""
		if rapid.Bool().Draw(t, "hasExponent") {
			exp = fmt.Sprintf("e%d", rapid.IntRange(-140, 140).Draw(t, "exponent"))
		}
		return sign + digits + exp
	})
}

// number draws N values, many of them close to each other.
func number() *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		if rapid.Bool().Draw(t, "small") {
			return value.Int(int64(rapid.IntRange(-120, 120).Draw(t, "int")))
		}
		for {
			if v, err := value.Number(numberText().Draw(t, "text")); err == nil {
				return v
			}
		}
	})
}

// text draws short strings with zero bytes, quotes and wide characters in them.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\x00", "\x01", "é", "😀", `"`, `\`, "\n", "\u2028"}), 0, 6).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func binary() *rapid.Generator[value.Value] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 254, 255}), 0, 5), value.Binary)
}

// anyValue draws a value of any type, documents nested up to depth.
func anyValue(depth int) *rapid.Generator[value.Value] {
	scalars := []*rapid.Generator[value.Value]{
		rapid.Map(text(), value.String), number(), binary(),
		rapid.Map(rapid.Bool(), value.Bool), rapid.Just(value.Null()), anySet(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[value.Value] { return anyValue(depth - 1) }), 0, 4),
		func(elems []value.Value) value.Value { return value.List(elems...) })
	document := rapid.Map(anyItem(depth-1), value.Item.Value)
	return rapid.OneOf(append(scalars, list, document)...)
}

func anySet() *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		elem := rapid.SampledFrom([]*rapid.Generator[value.Value]{rapid.Map(text(), value.String), number(), binary()}).Draw(t, "elem")
		elems := rapid.SliceOfNDistinct(elem, 1, 5, rapid.ID[value.Value]).Draw(t, "elems")
		var set value.Value
		for _, e := range elems {
			single := value.SetOf(e)
			if set.IsZero() {
				set = single
			}
			set, _ = value.Union(set, single)
		}
		return set
	})
}

func anyItem(depth int) *rapid.Generator[value.Item] {
	return rapid.Custom(func(t *rapid.T) value.Item {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "PK", "é", `q"`}), 0, 5).Draw(t, "names")
		attrs := make([]value.Attr, len(names))
		for i, name := range names {
			attrs[i] = value.Attr{Name: name, Value: anyValue(depth).Draw(t, "value")}
		}
		return value.NewItem(attrs...)
	})
}
