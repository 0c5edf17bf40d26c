package shardmap

import (
	"math/big"
	"strings"
)

// maxFigure bounds a figure of a Load in bytes. Real figures have a dozen digits.
const maxFigure = 40

// Load is the planned load of one lane. Every figure is a positive plain decimal such as "5000" or "0.08", without sign
// or exponent, and is taken exactly.
type Load struct {
	// Rate is the number of operations a second.
	Rate string
	// UnitsPerOperation is the read or write units of one operation.
	UnitsPerOperation string
	// MaxKeyShare is the part of the load, at most 1, that falls on the partition key to be sharded: the hottest one, or 1
	// if the whole lane is one key.
	MaxKeyShare string
	// Target is the units a second that one shard shall carry, for example "800" of the 1,000 write units that a partition
	// key can take.
	Target string
}

// ShardsFor returns the number of shards that keeps each at or below its target, at least 1:
//
//	ceil(Rate * UnitsPerOperation * MaxKeyShare / Target)
//
// It assumes that the keys within the lane spread evenly. The error is an ErrLoad that names the figure.
func ShardsFor(load Load) (int, error) {
	demand := big.NewRat(1, 1)
	for _, f := range []struct{ name, text string }{
		{"Rate", load.Rate}, {"UnitsPerOperation", load.UnitsPerOperation}, {"MaxKeyShare", load.MaxKeyShare},
	} {
		figure, err := parseFigure(f.name, f.text)
		if err != nil {
			return 0, err
		}
		if f.name == "MaxKeyShare" && figure.Cmp(big.NewRat(1, 1)) > 0 {
			return 0, errLoad.Wrap(nil, "shardmap: shards for: MaxKeyShare is above 1")
		}
		demand.Mul(demand, figure)
	}
	target, err := parseFigure("Target", load.Target)
	if err != nil {
		return 0, err
	}
	quotient := demand.Quo(demand, target)
	shards, rest := new(big.Int).QuoRem(quotient.Num(), quotient.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		shards.Add(shards, big.NewInt(1))
	}
	if shards.Cmp(big.NewInt(MaxShards)) > 0 {
		return 0, errLoad.Wrap(nil, "shardmap: shards for: the load needs more than %d shards", MaxShards)
	}
	return int(shards.Int64()), nil
}

// parseFigure accepts digits with at most one decimal point between them. big.Rat alone would also take fractions,
// signs and exponents, and would expand those.
func parseFigure(name, text string) (*big.Rat, error) {
	whole, fraction, point := strings.Cut(text, ".")
	plain := whole != "" && (fraction != "" || !point) && strings.Trim(whole+fraction, "0123456789") == ""
	if len(text) > maxFigure || !plain {
		return nil, errLoad.Wrap(nil, "shardmap: shards for: %s is not a plain decimal of at most %d digits", name, maxFigure)
	}
	figure, ok := new(big.Rat).SetString(text)
	if !ok || figure.Sign() <= 0 {
		return nil, errLoad.Wrap(nil, "shardmap: shards for: %s is not positive", name)
	}
	return figure, nil
}
