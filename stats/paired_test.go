package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMcNemar(t *testing.T) {
	for _, row := range []struct {
		name         string
		gained, lost int
		want         float64
	}{
		{"nothing differs", 0, 0, 1},
		{"as many gained as lost", 7, 7, 1},
		{"five and none: 2/32", 5, 0, 2. / 32},
		{"six and none: 2/64", 6, 0, 2. / 64},
		{"order does not matter", 0, 6, 2. / 64},
		{"nine and one: 2·11/1024", 9, 1, 22. / 1024},
		{"four and two: 2·22/64", 4, 2, 44. / 64},
	} {
		if got := McNemar(row.gained, row.lost); !near(got.P, row.want, 1e-12) || got.N != row.gained+row.lost {
			t.Errorf("%s: %+v, want p = %v", row.name, got, row.want)
		}
	}
	if w := McNemar(3, 1).Warnings; len(w) != 1 {
		t.Errorf("four units cannot be significant, warnings %q", w)
	}
}

// All 2^m signs, one by one.
func enumerate(sums []float64) float64 {
	var total float64
	for _, s := range sums {
		total += s
	}
	hits := 0
	for signs := range 1 << len(sums) {
		var sum float64
		for i, s := range sums {
			if signs>>i&1 == 1 {
				sum += s
			} else {
				sum -= s
			}
		}
		if math.Abs(sum) >= math.Abs(total)-1e-9 {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<len(sums))
}

func TestSignFlipsAgainstAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		diffs := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, -.5, -1. / 3, 0, .25, 1. / 3, .7, 1}), 1, 12).Draw(t, "diffs")
		cluster := rapid.SliceOfN(rapid.IntRange(0, 5), len(diffs), len(diffs)).Draw(t, "cluster")
		r := SignFlips(diffs, cluster, BootstrapOptions{})
		sums := map[int]float64{}
		for i, d := range diffs {
			sums[cluster[i]] += d
		}
		var list []float64
		for k := range 6 {
			list = append(list, sums[k])
		}
		if want := enumerate(list); r.Method != "sign flips exact" || !near(r.P, want, 1e-9) {
			t.Fatalf("%+v, want exact p = %v of sums %v", r, want, list)
		}
	})
}

// Differences of -1, 0 and 1 make the permutation test McNemar's.
func TestSignFlipsOfBinaryScoresAreMcNemar(t *testing.T) {
	for _, n := range [][2]int{{12, 3}, {1, 0}, {400, 330}, {3000, 2900}} {
		var diffs []float64
		for i := range n[0] + n[1] + 500 {
			switch {
			case i < n[0]:
				diffs = append(diffs, 1)
			case i < n[0]+n[1]:
				diffs = append(diffs, -1)
			default:
				diffs = append(diffs, 0)
			}
		}
		got, want := SignFlips(diffs, numbered(len(diffs)), BootstrapOptions{}), McNemar(n[0], n[1])
		if got.N != want.N || !near(got.P, want.P, 1e-9) {
			t.Errorf("%v: flips %+v, McNemar %+v", n, got, want)
		}
	}
}

func numbered(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// Classes large and small, tossed and drawn.
func TestSignFlipsOfLargeClassesByChance(t *testing.T) {
	f := flips{classes: []class{{unit: unit{1, 1}, count: 900}, {unit: unit{.3, 1}, count: 500}, {unit: unit{.7, 1}, count: 70}}}
	// Σ count·size² is the variance of the sum, and the sum is near normal.
	f.edge = 1.5 * math.Sqrt(900+500*.09+70*.49)
	const draws = 40_000
	got := float64(f.hits(draws, BootstrapOptions{Seed: 9})) / draws
	if want := 2 * normalCDF(-1.5); math.Abs(got-want) > .008 {
		t.Errorf("%v of the sums lie beyond 1.5 SDs, want %v", got, want)
	}
}

func TestSignFlipsByChanceComeNearTheExactOnes(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 5))
	diffs := make([]float64, 16) // 2^16 outcomes: exact
	for i := range diffs {
		diffs[i] = g.NormFloat64() + .5
	}
	exact := SignFlips(diffs, numbered(16), BootstrapOptions{})
	f := flips{classes: flipClasses(clusterUnits(diffs, numbered(16)))}
	f.edge = math.Abs(exact.Statistic)*16 - 1e-9
	const draws = 40_000
	got := float64(f.hits(draws, BootstrapOptions{Seed: 3})) / draws
	if math.Abs(got-exact.P) > 4*math.Sqrt(exact.P*(1-exact.P)/draws) {
		t.Errorf("by chance %v, exact %v", got, exact.P)
	}
	many := make([]float64, 3000)
	for i := range many {
		many[i] = g.NormFloat64() + .03
	}
	one := SignFlips(many, numbered(len(many)), BootstrapOptions{Seed: 1, Workers: 1})
	if one.Method != "sign flips" || one.Draws != DefaultResamples || one.P < 1./(DefaultResamples+1) {
		t.Errorf("many values: %+v", one)
	}
	if three := SignFlips(many, numbered(len(many)), BootstrapOptions{Seed: 1, Workers: 3}); three.P != one.P {
		t.Errorf("three workers give %v, one gives %v", three.P, one.P)
	}
	// Against the z test, which it approaches.
	z := math.Abs(Mean(many)) / StdErr(many)
	if want := 2 * normalCDF(-z); math.Abs(one.P-want) > .02 {
		t.Errorf("p = %v, z test %v", one.P, want)
	}
}

func TestAdjustedPs(t *testing.T) {
	nan := math.NaN()
	for _, row := range []struct {
		name         string
		ps, holm, bh []float64
	}{
		{"none", nil, nil, nil},
		{"one is itself", []float64{.03}, []float64{.03}, []float64{.03}},
		{
			"four in any order",
			[]float64{.04, .01, .03, .005},
			[]float64{.06, .03, .06, .02},
			[]float64{.04, .02, .04, .02},
		},
		{"capped at 1", []float64{.6, .7}, []float64{1, 1}, []float64{.7, .7}},
		{"not tested, not counted", []float64{.02, nan, .03}, []float64{.04, nan, .04}, []float64{.03, nan, .03}},
		{
			"the fifteen of Benjamini and Hochberg (1995), table 1: four are found",
			[]float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .324, .4262, .5719, .6528, .759, 1},
			[]float64{.0015, .0056, .0247, .114, .2211, .278, .278, .278, .3213, 1, 1, 1, 1, 1, 1},
			[]float64{.0015, .003, .0095, .035625, .0603, .06385714, .06385714, .0645, .0765, .486, .58118, .714875, .75323, .81321, 1},
		},
	} {
		for i, got := range [][]float64{Holm(row.ps), BenjaminiHochberg(row.ps)} {
			want := [][]float64{row.holm, row.bh}[i]
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return near(a, b, 2e-5) }) {
				t.Errorf("%s, %s: %v, want %v", row.name, []string{"Holm", "BH"}[i], got, want)
			}
		}
	}
}

// Holm decides as its stepwise rule does, and BH as its.
func TestAdjustedPsDecideLikeTheSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Float64Range(0, .2), 1, 12).Draw(t, "ps")
		const alpha = .05
		sorted := slices.Sorted(slices.Values(ps))
		m := len(ps)
		holm, bh := 0, 0
		for i, p := range sorted {
			if holm == i && p <= alpha/float64(m-i) {
				holm++
			}
			if p <= alpha*float64(i+1)/float64(m) {
				bh = i + 1
			}
		}
		for name, row := range map[string]struct {
			got  []float64
			want int
		}{"Holm": {Holm(ps), holm}, "BH": {BenjaminiHochberg(ps), bh}} {
			n := 0
			for _, p := range row.got {
				if p <= alpha {
					n++
				}
			}
			if n != row.want {
				t.Fatalf("%s calls %d of %v real, want %d", name, n, ps, row.want)
			}
		}
	})
}
