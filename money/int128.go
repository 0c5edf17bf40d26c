package money

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
)

// int128 is a signed integer in two's complement. Every amount fits, since 10^38 < 2^127, and so no operation on
// amounts needs an allocation.
type int128 struct {
	hi int64
	lo uint64
}

// uint128 is the magnitude of an int128.
type uint128 struct{ hi, lo uint64 }

// bound is 10^38: one more than the largest magnitude of an amount.
var bound = tenTo(MaxDigits)

const (
	tenTo19  = 10_000_000_000_000_000_000 // the largest power of ten in 64 bits
	digits19 = 19
)

// tenTo returns 10^n for n from 0 to 38.
func tenTo(n int) uint128 {
	hi, lo := bits.Mul64(tenTo64(min(n, digits19)), tenTo64(max(n-digits19, 0)))
	return uint128{hi, lo}
}

// tenTo64 returns 10^n for n from 0 to 19.
func tenTo64(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}

func fromInt64(n int64) int128 { return int128{hi: n >> 63, lo: uint64(n)} }

// fromBig returns n, and whether it is within the bound.
func fromBig(n *big.Int) (int128, bool) {
	if n.BitLen() > 127 {
		return int128{}, false
	}
	abs := new(big.Int).Abs(n)
	lo := abs.Uint64()
	x := uint128{hi: abs.Rsh(abs, 64).Uint64(), lo: lo}
	return x.signed(n.Sign() < 0), x.less(bound)
}

func (x int128) isInt64() bool { return x.hi == int64(x.lo)>>63 }

func (x int128) sign() int {
	if x.hi != 0 {
		return cmp.Compare(x.hi, 0)
	}
	return cmp.Compare(x.lo, 0)
}

func (x int128) cmp(y int128) int {
	if x.hi != y.hi {
		return cmp.Compare(x.hi, y.hi)
	}
	return cmp.Compare(x.lo, y.lo)
}

// add returns x + y, and whether it is within the bound.
func (x int128) add(y int128) (int128, bool) {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(uint64(x.hi), uint64(y.hi), carry)
	sum := int128{hi: int64(hi), lo: lo}
	wrapped := (x.hi^sum.hi)&(y.hi^sum.hi) < 0
	return sum, !wrapped && sum.abs().less(bound)
}

func (x int128) neg() int128 {
	lo, borrow := bits.Sub64(0, x.lo, 0)
	hi, _ := bits.Sub64(0, uint64(x.hi), borrow)
	return int128{hi: int64(hi), lo: lo}
}

func (x int128) abs() uint128 {
	if x.hi < 0 {
		x = x.neg()
	}
	return uint128{hi: uint64(x.hi), lo: x.lo}
}

func (x int128) big() *big.Int {
	n := x.abs().big()
	if x.hi < 0 {
		n.Neg(n)
	}
	return n
}

func (x int128) append(b []byte) []byte {
	if x.isInt64() {
		return strconv.AppendInt(b, int64(x.lo), 10)
	}
	if x.hi < 0 {
		b = append(b, '-')
	}
	return x.abs().append(b)
}

// signed returns x or -x, for x below 2^127.
func (x uint128) signed(negative bool) int128 {
	n := int128{hi: int64(x.hi), lo: x.lo}
	if negative {
		return n.neg()
	}
	return n
}

func (x uint128) less(y uint128) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

func (x uint128) cmp(y uint128) int {
	if x.hi != y.hi {
		return cmp.Compare(x.hi, y.hi)
	}
	return cmp.Compare(x.lo, y.lo)
}

// plus returns x + y, which the caller knows to fit.
func (x uint128) plus(y uint128) uint128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	return uint128{hi: x.hi + y.hi + carry, lo: lo}
}

// minus returns x - y, which the caller knows not to be negative.
func (x uint128) minus(y uint128) uint128 {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	return uint128{hi: x.hi - y.hi - borrow, lo: lo}
}

// times returns x * n, and whether it is within the bound.
func (x uint128) times(n uint64) (uint128, bool) {
	carried, lo := bits.Mul64(x.lo, n)
	over, middle := bits.Mul64(x.hi, n)
	hi, carry := bits.Add64(middle, carried, 0)
	product := uint128{hi: hi, lo: lo}
	return product, over == 0 && carry == 0 && product.less(bound)
}

// quoRem64 returns the quotient and the remainder of a division by d, which is not zero.
func (x uint128) quoRem64(d uint64) (quotient uint128, remainder uint64) {
	hi, remainder := x.hi/d, x.hi%d
	lo, remainder := bits.Div64(remainder, x.lo, d)
	return uint128{hi: hi, lo: lo}, remainder
}

// quoRem returns the quotient and the remainder of a division by d, which is not zero.
func (x uint128) quoRem(d uint128) (quotient, remainder uint128) {
	if d.hi == 0 {
		quotient, rest := x.quoRem64(d.lo)
		return quotient, uint128{lo: rest}
	}
	// The quotient of so large a divisor fits 64 bits, and a divisor of more than 19 digits is rare enough for math/big.
	q := new(big.Int).Quo(x.big(), d.big()).Uint64()
	product, _ := d.times(q)
	return uint128{lo: q}, x.minus(product)
}

func (x uint128) big() *big.Int {
	n := new(big.Int).SetUint64(x.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.lo))
}

// append writes x, which is below the bound: at most two halves of 19 digits.
func (x uint128) append(b []byte) []byte {
	head, tail := x.quoRem64(tenTo19)
	if head.lo == 0 {
		return strconv.AppendUint(b, tail, 10)
	}
	b = strconv.AppendUint(b, head.lo, 10)
	end := len(b) + digits19
	b = append(b, "0000000000000000000"...)
	for i := end - 1; tail > 0; i-- {
		b[i] = byte('0' + tail%10)
		tail /= 10
	}
	return b
}
