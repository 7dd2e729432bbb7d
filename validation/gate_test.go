package validation

import (
	"math"
	"math/rand/v2"
	"testing"
)

func items(n int) []Item {
	out := make([]Item, n)
	for i := range out {
		out[i] = Item{ID: string(rune('a' + i)), Weight: 1}
	}
	return out
}

// measured gives item i the verdicts of its string: p pass, f fail, m missing.
func measured(verdicts ...string) Measured {
	m := Measured{Items: items(len(verdicts))}
	for i, s := range verdicts {
		for trial, c := range s {
			m.Verdicts = append(m.Verdicts, Verdict{Item: m.Items[i].ID, Trial: trial, State: map[rune]State{'p': Pass, 'f': Fail, 'm': Missing}[c]})
		}
	}
	return m
}

func TestStrictGate(t *testing.T) {
	for name, c := range map[string]struct {
		parent, candidate Measured
		want              string
	}{
		"one gained, none lost":             {measured("p", "f"), measured("p", "p"), Accepted},
		"a tie is not an improvement":       {measured("p", "f"), measured("p", "f"), Rejected},
		"one gained, one lost":              {measured("p", "f", "f"), measured("f", "p", "p"), Rejected},
		"a missing verdict decides nothing": {measured("p", "f"), measured("p", "m"), Indecisive},
		"missing in the parent, too":        {measured("m", "f"), measured("p", "p"), Indecisive},
		"no verdict at all":                 {measured("f", "f"), Measured{Items: items(2)}, Indecisive},
		"worse":                             {measured("p", "p"), measured("p", "f"), Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			if d := Strict(c.parent, c.candidate); d.Outcome != c.want {
				t.Errorf("%s (%s), want %s", d.Outcome, d.Reason, c.want)
			}
		})
	}
}

func TestAMissingVerdictIsNeverAZero(t *testing.T) {
	if s := measured("p", "m").Score(); s != nil {
		t.Errorf("score %v of an incomplete measurement", *s)
	}
	if s := measured("f", "f").Score(); s == nil || *s != 0 {
		t.Errorf("a zero is a score: %v", s)
	}
	if s := (Measured{}).Score(); s != nil {
		t.Errorf("score %v of nothing", *s)
	}
}

func TestAdoptGate(t *testing.T) {
	own := map[string][]string{"e1": {"a"}, "e2": {"b"}}
	held := measured("p", "f")
	for name, c := range map[string]struct {
		before, after, heldAfter Measured
		want                     string
	}{
		"both pass anew":                    {measured("f", "f"), measured("p", "p"), held, Accepted},
		"one does not make its own pass":    {measured("f", "f"), measured("p", "f"), held, Rejected},
		"all passed before":                 {measured("p", "p"), measured("p", "p"), held, Rejected},
		"something held out is lost":        {measured("f", "f"), measured("p", "p"), measured("f", "f"), Rejected},
		"an own item without verdict":       {measured("f", "f"), measured("p", "m"), held, Indecisive},
		"a held-out item without a verdict": {measured("f", "f"), measured("p", "p"), measured("p", "m"), Indecisive},
	} {
		t.Run(name, func(t *testing.T) {
			if d := AdoptGate(c.before, c.after, held, c.heldAfter, own, true, nil); d.Outcome != c.want {
				t.Errorf("%s (%s), want %s", d.Outcome, d.Reason, c.want)
			}
		})
	}
}

func TestAdoptMeasuresAFallAgainBeforeItCounts(t *testing.T) {
	own := map[string][]string{"e1": {"a"}}
	before, after := measured("fff"), measured("ppp")
	held, fell := measured("ppp", "fff"), measured("fff", "fff")
	if d := AdoptGate(before, after, held, fell, own, false, nil); d.Outcome != Indecisive {
		t.Errorf("a fall that was not measured again: %s", d.Outcome)
	}
	for verdicts, want := range map[string]string{"ppp": Accepted, "fff": Rejected, "mmm": Indecisive} {
		again := Again{measured("ppp"), measured(verdicts)}
		if d := AdoptGate(before, after, held, fell, own, false, &again); d.Outcome != want {
			t.Errorf("measured again as %s: %s (%s), want %s", verdicts, d.Outcome, d.Reason, want)
		}
	}
}

// bruteForce is the definition: all sign patterns, counted.
func bruteForce(d []float64) float64 {
	var observed float64
	var x []float64
	for _, v := range d {
		observed += v
		if v != 0 {
			x = append(x, v)
		}
	}
	n, c := 1<<len(x), 0
	for mask := range n {
		var s float64
		for i, v := range x {
			if mask>>i&1 == 1 {
				v = -v
			}
			s += v
		}
		if s >= observed-1e-9 {
			c++
		}
	}
	return float64(c) / float64(n)
}

func TestSignFlipIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := make([]float64, 1+rng.IntN(12))
		for i := range d {
			d[i] = float64(rng.IntN(7)-3) / 3 * []float64{1, 1, 2, 2.585}[rng.IntN(4)]
		}
		p, ok := SignFlip(d, 1)
		if !ok {
			continue
		}
		if want := bruteForce(d); math.Abs(p-want) > 1e-12 {
			t.Fatalf("%v: p %v, want %v", d, p, want)
		}
	}
}

// The three ways to compute it agree where more than one is possible.
func TestSignFlipByConvolutionAndByDrawsAgreesWithEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 50 {
		var lattice, free []float64
		var sumL, sumF float64
		for range 16 {
			v := float64(rng.IntN(3)+1) / 3
			if rng.IntN(3) == 0 {
				v = -v
			}
			lattice = append(lattice, math.Abs(v))
			sumL += v
			w := v * (1 + rng.Float64())
			free = append(free, w)
			sumF += w
		}
		exact := enumerate(lattice, sumL-1e-9)
		got, ok := convolve(lattice, sumL)
		if !ok || math.Abs(got-exact) > 1e-9 {
			t.Fatalf("convolution %v, enumeration %v", got, exact)
		}
		// 25 differences off any lattice are sampled; compare with the same padded by nothing that matters.
		many := append(append([]float64{}, free...), 1e-7, 2.3e-7, 3.1e-7, 4.7e-7, 5.3e-7, 6.1e-7, 7.9e-7)
		p, _ := SignFlip(many, 9)
		small := make([]float64, len(free))
		for i, v := range free {
			small[i] = math.Abs(v)
		}
		if want := enumerate(small, sumF-1e-6); math.Abs(p-want) > 0.02 {
			t.Fatalf("draws %v, enumeration %v", p, want)
		}
	}
}

func TestSignFlipOfNothingProvesNothing(t *testing.T) {
	if p, ok := SignFlip([]float64{0, 0}, 1); ok || p != 1 {
		t.Errorf("p %v, ok %v", p, ok)
	}
}

// However many looks are made over a skill's life, they never spend more than alpha together.
func TestAlphaIsSpentOnceForAllLooks(t *testing.T) {
	for _, planned := range []int{1, 3, 12, 40} {
		sum := 0.0
		for look := range 5000 {
			a := AlphaFor(0.05, planned, look)
			if a <= 0 && look < planned*20 {
				t.Fatalf("look %d of blocks of %d may spend nothing", look, planned)
			}
			sum += a
		}
		if sum > 0.05+1e-12 {
			t.Errorf("blocks of %d spend %v", planned, sum)
		}
		if first := AlphaFor(0.05, planned, 0); first < 0.039/float64(planned) {
			t.Errorf("the first look of %d may spend %v only", planned, first)
		}
	}
}

// One item that passes now and did not before proves nothing about others.
func TestAnIntervalOfFewItemsReachesZero(t *testing.T) {
	for n, excludes := range map[int]bool{1: false, 3: false, 4: false, 5: true, 12: true} {
		var before, after []string
		for range n {
			before, after = append(before, "f"), append(after, "p")
		}
		up := Interval(measured(before...), measured(after...), 1)
		down := Interval(measured(after...), measured(before...), 1)
		if (up[0] > 0) != excludes || (down[1] < 0) != excludes || up[1] != 1 || down[0] != -1 {
			t.Errorf("%d items gained: %v, lost: %v", n, *up, *down)
		}
	}
}

func TestIntervalIsOfTheDifference(t *testing.T) {
	iv := Interval(measured("f", "f", "p", "f"), measured("p", "p", "p", "f"), 1)
	if iv == nil || iv[0] > 0.5 || iv[1] < 0.5 || iv[0] < 0 || iv[1] > 1 {
		t.Errorf("interval %v around a difference of 0.5", iv)
	}
	if Interval(measured("f"), measured("m"), 1) != nil {
		t.Error("an interval without evidence")
	}
}
