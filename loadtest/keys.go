package loadtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// Keys is how operations spread over keys. Keys are numbers from 0; what they stand for is the lane's business. There is at
// least one key, whatever number is asked for.
type Keys struct {
	name string
	n    int
	// share is the part of the operations that is for key 0, the hottest.
	share float64
	draw  func(chance *rand.Rand, n int) int
}

// Count returns how many keys there are.
func (k Keys) Count() int { return k.n }

// Share returns the part of the operations that is for the hottest key, key 0, in the long run.
func (k Keys) Share() float64 { return k.share }

// String names the distribution.
func (k Keys) String() string { return k.name }

// Uniform draws each of n keys with the same chance.
func Uniform(n int) Keys {
	n = max(n, 1)
	return Keys{name: fmt.Sprintf("uniform over %d keys", n), n: n, share: 1 / float64(n),
		draw: func(chance *rand.Rand, _ int) int { return chance.IntN(n) }}
}

// InTurn takes n keys one after the other: the even spread that a formula assumes, without any chance.
func InTurn(n int) Keys {
	n = max(n, 1)
	return Keys{name: fmt.Sprintf("in turn over %d keys", n), n: n, share: 1 / float64(n),
		draw: func(_ *rand.Rand, i int) int { return i % n }}
}

// Zipf draws from n keys, key k with a chance in proportion to 1/(k+1)^exponent. With exponent 1 the second key gets half of
// what the first one gets, the tenth a tenth; 0 is uniform.
func Zipf(n int, exponent float64) Keys {
	n = max(n, 1)
	upTo, sum := make([]float64, n), 0.0
	for k := range upTo {
		sum += math.Pow(float64(k+1), -exponent)
		upTo[k] = sum
	}
	return Keys{name: fmt.Sprintf("Zipf %g over %d keys", exponent, n), n: n, share: 1 / sum,
		draw: func(chance *rand.Rand, _ int) int {
			return min(sort.SearchFloat64s(upTo, chance.Float64()*sum), n-1)
		}}
}

// HotKey gives key 0 its share, exactly and evenly: 0.25 is every fourth operation. The rest goes over the other n-1 keys in
// turn.
func HotKey(n int, share float64) Keys {
	n, share = max(n, 1), min(max(share, 0), 1)
	hot := func(i int) int { return int(float64(i) * share) }
	return Keys{name: fmt.Sprintf("%.2f %% on one of %d keys", 100*share, n), n: n, share: share,
		draw: func(_ *rand.Rand, i int) int {
			if n == 1 || hot(i+1) > hot(i) {
				return 0
			}
			return 1 + (i-hot(i))%(n-1)
		}}
}
