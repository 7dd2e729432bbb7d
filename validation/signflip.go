package validation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// SignFlip is the p-value of the exact one-sided paired sign-flip (Fisher randomisation) test: the probability that the
// sum of d is at least as large as observed if every difference were as likely to have the other sign. Differences of
// zero say nothing and are left out. Up to 10 differences are enumerated; more are convolved when they lie on a common
// lattice of at most a few thousand points, else enumerated up to 20, and otherwise sampled with the seed, where
// p = (c+1)/(N+1), so that it is never zero. ok is false when no difference is left: there is nothing to test.
func SignFlip(d []float64, seed uint64) (p float64, ok bool) {
	var x []float64
	var observed float64
	for _, v := range d {
		if v != 0 {
			x = append(x, math.Abs(v))
			observed += v
		}
	}
	if len(x) == 0 {
		return 1, false
	}
	slices.Sort(x)
	const tolerance = 1e-9
	if len(x) > 10 { // where it is possible, it is quicker than two to the power of the number of differences
		if p, fine := convolve(x, observed); fine {
			return p, true
		}
	}
	if len(x) <= 20 {
		return enumerate(x, observed-tolerance), true
	}
	rng := rand.New(rand.NewPCG(seed, 0xbb67ae8584caa73b))
	const draws = 20000
	count := 0
	for range draws {
		var s float64
		for i := 0; i < len(x); {
			bits := rng.Uint64()
			for k := 0; k < 64 && i < len(x); k++ {
				if bits&1 == 0 {
					s += x[i]
				} else {
					s -= x[i]
				}
				bits >>= 1
				i++
			}
		}
		if s >= observed-tolerance {
			count++
		}
	}
	return float64(count+1) / float64(draws+1), true
}

func enumerate(x []float64, atLeast float64) float64 {
	// Gray code: each step flips one sign, so a sum costs one addition.
	var s float64
	for _, v := range x {
		s -= v
	}
	n := 1 << len(x)
	count := 0
	if s >= atLeast {
		count++
	}
	sign := make([]bool, len(x))
	for i := 1; i < n; i++ {
		j := 0
		for i>>j&1 == 0 {
			j++
		}
		if sign[j] {
			s -= 2 * x[j]
		} else {
			s += 2 * x[j]
		}
		sign[j] = !sign[j]
		if s >= atLeast {
			count++
		}
	}
	return float64(count) / float64(n)
}

// convolve computes the exact distribution of the sum when all values are multiples of one unit.
func convolve(x []float64, observed float64) (float64, bool) {
	unit := x[0]
	for _, div := range []float64{1, 2, 3, 4, 5, 6, 8, 10, 12} {
		u := unit / div
		total := 0
		fits := true
		ints := make([]int, len(x))
		for i, v := range x {
			k := math.Round(v / u)
			if math.Abs(v/u-k) > 1e-6 || k > 4096 {
				fits = false
				break
			}
			ints[i] = int(k)
			total += int(k)
		}
		if !fits || total > 1<<16 {
			continue
		}
		dist := make([]float64, 2*total+1)
		dist[total] = 1
		reach := 0
		for _, k := range ints {
			next := make([]float64, len(dist))
			for s := total - reach; s <= total+reach; s++ {
				if dist[s] == 0 {
					continue
				}
				next[s+k] += dist[s] / 2
				next[s-k] += dist[s] / 2
			}
			dist = next
			reach += k
		}
		at := int(math.Round(observed/u)) + total
		var p float64
		for s := max(at, 0); s < len(dist); s++ {
			p += dist[s]
		}
		return math.Min(p, 1), true
	}
	return 0, false
}

// SmallestP is the smallest p-value that n items could ever reach: all of them better.
func SmallestP(n int) float64 { return math.Pow(0.5, float64(n)) }
