package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"pgregory.net/rapid"
)

func TestRanks(t *testing.T) {
	tests := []struct {
		name     string
		xs, want []float64
	}{
		{"nothing", nil, []float64{}},
		{"in order of value", []float64{0.3, 0.1, 0.2}, []float64{3, 1, 2}},
		{"two ties share the mean", []float64{1, 2, 2, 3}, []float64{1, 2.5, 2.5, 4}},
		{"all equal", []float64{7, 7, 7}, []float64{2, 2, 2}},
		{"infinities have a place", []float64{inf, 0, -inf}, []float64{3, 2, 1}},
		{"minus zero ties with zero", []float64{math.Copysign(0, -1), 0}, []float64{1.5, 1.5}},
		{"a NaN has none", []float64{1, nan}, []float64{nan, nan}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Ranks(tt.xs); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("Ranks(%v) = %v, want %v", tt.xs, got, tt.want)
			}
		})
	}
}

func TestRankCorrelations(t *testing.T) {
	tests := []struct {
		name          string
		x, y          []float64
		rho, tau      float64
		rhoP, tauP    float64
		method, tauBy string
	}{
		{"same order", []float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1, 1, 2. / 24, 2. / 24, "exact", "exact"},
		{"opposite order", []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1, -1, 2. / 24, 2. / 24, "exact", "exact"},
		{"one swap of four", []float64{1, 2, 3, 4}, []float64{1, 2, 4, 3}, 0.8, 4. / 6, 8. / 24, 8. / 24, "exact", "exact"},
		{"two values are no evidence", []float64{1, 2}, []float64{5, 6}, 1, 1, 1, 1, "exact", "exact"},
		// By hand: doubled centred ranks -3 -1 1 3 and -3 0 0 3, so 18/sqrt(20·18).
		{"a tie", []float64{1, 2, 3, 4}, []float64{1, 2, 2, 3}, 18 / math.Sqrt(360), 5 / math.Sqrt(30), 4. / 24, 4. / 24, "exact", "exact"},
		{"a constant side", []float64{1, 2, 3}, []float64{5, 5, 5}, nan, nan, nan, nan, "exact", "exact"},
		{"a NaN", []float64{1, 2, nan}, []float64{1, 2, 3}, nan, nan, nan, nan, "exact", "exact"},
		{"one value", []float64{1}, []float64{1}, nan, nan, nan, nan, "exact", "exact"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, k := SpearmanTest(tt.x, tt.y), KendallTest(tt.x, tt.y)
			if !near(r.Value, tt.rho, 1e-15) || !near(r.P, tt.rhoP, 1e-15) || r.Method != tt.method {
				t.Errorf("SpearmanTest = %+v, want %v, p %v", r, tt.rho, tt.rhoP)
			}
			if !near(k.Value, tt.tau, 1e-15) || !near(k.P, tt.tauP, 1e-15) || k.Method != tt.tauBy {
				t.Errorf("KendallTest = %+v, want %v, p %v", k, tt.tau, tt.tauP)
			}
			if math.IsNaN(tt.rho) && (len(r.Warnings) == 0 || len(k.Warnings) == 0) {
				t.Error("NaN comes without a warning")
			}
		})
	}
}

// scores draws values with many ties.
func scores(n int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5), func(i int) float64 { return float64(i) / 5 }), n, n)
}

func TestSpearmanIsPearsonOfRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		x, y := scores(n).Draw(t, "x"), scores(n).Draw(t, "y")
		if got, want := Spearman(x, y), stat.Correlation(Ranks(x), Ranks(y), nil); !near(got, want, 1e-12) {
			t.Fatalf("Spearman = %v, want %v", got, want)
		}
		if a, b := Spearman(x, y), Spearman(y, x); !near(a, b, 0) {
			t.Fatalf("not symmetric: %v and %v", a, b)
		}
		up := make([]float64, n)
		for i, v := range y {
			up[i] = math.Exp(3 * v)
		}
		if a, b := Spearman(x, y), Spearman(x, up); !near(a, b, 0) {
			t.Fatalf("changes under a growing function: %v and %v", a, b)
		}
		if a, b := Kendall(x, y), Kendall(x, up); !near(a, b, 0) {
			t.Fatalf("tau changes under a growing function: %v and %v", a, b)
		}
	})
}

// Without ties gonum's tau-a and tau-b agree, and so does the short cut of
// Spearman.
func TestWithoutTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		y := rapid.Permutation(x).Draw(t, "y")
		var d2 float64
		for i := range x {
			d2 += (x[i] - y[i]) * (x[i] - y[i])
		}
		fn := float64(n)
		if got, want := Spearman(x, y), 1-6*d2/(fn*fn*fn-fn); !near(got, want, 1e-12) {
			t.Fatalf("Spearman = %v, the short cut says %v", got, want)
		}
		if got, want := Kendall(x, y), stat.Kendall(x, y, nil); !near(got, want, 1e-12) {
			t.Fatalf("Kendall = %v, gonum says %v", got, want)
		}
	})
}

// The exact p-values against a plain enumeration of permutations that computes
// each coefficient in floats.
func TestExactPByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		x, y := scores(n).Draw(t, "x"), scores(n).Draw(t, "y")
		rho, tau := Spearman(x, y), Kendall(x, y)
		if math.IsNaN(rho) {
			return
		}
		var rhoHits, tauHits float64
		perms := combin.Permutations(n, n)
		if len(perms) != factorial(n) {
			t.Fatalf("%d permutations of %d", len(perms), n)
		}
		for _, p := range perms {
			z := make([]float64, n)
			for i, j := range p {
				z[i] = y[j]
			}
			if math.Abs(Spearman(x, z)) >= math.Abs(rho)-1e-9 {
				rhoHits++
			}
			if math.Abs(Kendall(x, z)) >= math.Abs(tau)-1e-9 {
				tauHits++
			}
		}
		total := float64(len(perms))
		if got := SpearmanTest(x, y).P; !near(got, rhoHits/total, 1e-12) {
			t.Fatalf("Spearman p = %v, counted %v", got, rhoHits/total)
		}
		if got := KendallTest(x, y).P; !near(got, tauHits/total, 1e-12) {
			t.Fatalf("Kendall p = %v, counted %v", got, tauHits/total)
		}
	})
}

// Critical values as books print them (J. H. Zar, Biostatistical Analysis,
// table B.20; M. G. Kendall, Rank Correlation Methods, appendix table 1): the
// value is significant on two sides, and the next smaller possible one is not.
func TestExactPsAtPublishedCriticalValues(t *testing.T) {
	for _, row := range []struct {
		alpha, critical float64
		at, below       []float64 // orders that have it, and the next smaller
	}{
		{.05, 1, []float64{1, 2, 3, 4, 5}, []float64{2, 1, 3, 4, 5}},
		{.05, .886, []float64{2, 1, 4, 3, 5, 6}, []float64{2, 1, 4, 3, 6, 5}},
		{.05, .786, []float64{3, 2, 1, 5, 4, 7, 6}, []float64{3, 2, 1, 5, 6, 4, 7}},
		{.05, .738, []float64{4, 2, 3, 1, 6, 5, 8, 7}, []float64{4, 3, 2, 1, 6, 5, 8, 7}},
		{.05, .700, []float64{4, 2, 3, 1, 8, 6, 7, 5, 9}, []float64{4, 3, 2, 1, 8, 6, 7, 5, 9}},
		{.01, 1, []float64{1, 2, 3, 4, 5, 6}, []float64{2, 1, 3, 4, 5, 6}},
		{.01, .929, []float64{2, 1, 4, 3, 5, 6, 7}, []float64{2, 1, 4, 3, 6, 5, 7}},
		{.01, .881, []float64{3, 2, 1, 5, 4, 6, 7, 8}, []float64{3, 2, 1, 5, 4, 7, 6, 8}},
		{.01, .833, []float64{4, 2, 3, 1, 6, 5, 7, 8, 9}, []float64{4, 2, 3, 1, 6, 5, 8, 7, 9}},
	} {
		natural := slices.Sorted(slices.Values(row.at))
		at, below := SpearmanTest(natural, row.at), SpearmanTest(natural, row.below)
		if !near(at.Value, row.critical, .0005) || at.P > row.alpha || below.Value >= at.Value || below.P <= row.alpha {
			t.Errorf("n = %d: rho %.4f has p %.4f, %.4f has %.4f; want %v to be the critical value at %v",
				len(natural), at.Value, at.P, below.Value, below.P, row.critical, row.alpha)
		}
	}
	for _, row := range []struct {
		n, discordant int
		below, p      float64 // one-sided chance of so few discordant pairs, as printed
	}{
		{4, 1, .375, .167}, {5, 1, .117, .042}, {6, 3, .136, .068}, {7, 3, .035, .015}, {8, 5, .031, .016}, {9, 8, .038, .022},
	} {
		natural := make([]float64, row.n)
		for i := range natural {
			natural[i] = float64(i)
		}
		order := inverted(row.n, row.discordant)
		if got := KendallTest(natural, order); !near(got.P/2, row.p, .0005) || got.Method != "exact" {
			t.Errorf("n = %d, %d discordant: %+v, want half of p to be %v", row.n, row.discordant, got, row.p)
		}
		if got := KendallTest(natural, inverted(row.n, row.discordant+1)); !near(got.P/2, row.below, .0005) {
			t.Errorf("n = %d, %d discordant: %+v, want half of p to be %v", row.n, row.discordant+1, got, row.below)
		}
	}
}

// inverted returns an order of 0 to n-1 with that many inversions.
func inverted(n, inversions int) []float64 {
	var out []float64
	for i := range n {
		at := max(0, len(out)-inversions)
		inversions -= len(out) - at
		out = slices.Insert(out, at, float64(i))
	}
	return out
}

// The number of orders of n with k inversions follows a recurrence: the last
// value adds 0 to n-1 of them. It gives the exact p of Kendall's test without
// going through any order, up to the nine values that are enumerated.
func TestExactPOfKendallByRecurrence(t *testing.T) {
	ways := []int{1}
	for n := 2; n <= 9; n++ {
		next := make([]int, len(ways)+n-1)
		for k, w := range ways {
			for more := range n {
				next[k+more] += w
			}
		}
		ways = next
		natural := make([]float64, n)
		for i := range natural {
			natural[i] = float64(i)
		}
		pairs := n * (n - 1) / 2
		for k := range pairs/2 + 1 {
			hits := 0
			for j, w := range ways {
				if max(pairs-2*j, 2*j-pairs) >= pairs-2*k {
					hits += w
				}
			}
			if got, want := KendallTest(natural, inverted(n, k)).P, float64(hits)/float64(factorial(n)); !near(got, want, 1e-12) {
				t.Errorf("n = %d, %d inversions: p = %v, want %v", n, k, got, want)
			}
		}
	}
}

// At n = 9 both the exact and the approximate p-values can be had; and the
// variance of C-D is that over all orders, ties included.
func TestApproximatePs(t *testing.T) {
	x := []float64{1, 2, 2, 3, 4, 5}
	y := []float64{1, 1, 1, 2, 3, 3}
	dx, dy, _ := centredRanks(x, y)
	var sum, n float64
	for _, p := range combin.Permutations(len(y), len(y)) {
		z := make([]int, len(y))
		for i, j := range p {
			z[i] = dy[j]
		}
		c := float64(concordance(dx, z))
		sum += c * c // its mean is 0
		n++
	}
	if got := concordanceVariance(dx, dy); !near(got, sum/n, 1e-9) {
		t.Errorf("variance of C-D = %v, over all orders %v", got, sum/n)
	}

	// Of the 45 pairs below, 11 are discordant, so C-D = 23, of variance 125.
	x = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	y = []float64{3, 1, 6, 2, 4, 9, 10, 5, 7, 8}
	r := SpearmanTest(x, y)
	df := 8.0
	tt := r.Value * math.Sqrt(df/(1-r.Value*r.Value))
	if want := tTwoSided(tt, df); r.Method != "t" || !near(r.P, want, 1e-6) {
		t.Errorf("SpearmanTest = %+v, want p %v by integration", r, want)
	}
	if k := KendallTest(x, y); k.Method != "normal" || !near(k.P, math.Erfc(23./math.Sqrt(125)/math.Sqrt2), 1e-12) || concordanceOf(x, y) != 23 {
		t.Errorf("KendallTest = %+v with C-D = %d", k, concordanceOf(x, y))
	}
	same := SpearmanTest(x, x)
	if want := 2. / float64(factorial(10)); same.Value != 1 || !near(same.P/want, 1, 1e-12) {
		t.Errorf("perfect correlation of ten: %+v, want p %v", same, want)
	}
}

func concordanceOf(x, y []float64) int {
	dx, dy, _ := centredRanks(x, y)
	return concordance(dx, dy)
}

// tTwoSided integrates the density of Student's t by Simpson's rule.
func tTwoSided(t, df float64) float64 {
	lg1, _ := math.Lgamma((df + 1) / 2)
	lg2, _ := math.Lgamma(df / 2)
	norm := math.Exp(lg1-lg2) / math.Sqrt(df*math.Pi)
	density := func(x float64) float64 { return norm * math.Pow(1+x*x/df, -(df+1)/2) }
	const steps = 2000
	h := math.Abs(t) / steps
	sum := density(0) + density(math.Abs(t))
	for i := 1; i < steps; i++ {
		sum += density(float64(i)*h) * float64(2+2*(i%2))
	}
	return 1 - 2*sum*h/3
}

func TestFewPairsWarn(t *testing.T) {
	if w := SpearmanTest([]float64{1, 2, 3}, []float64{1, 2, 3}).Warnings; !slices.Equal(w, []string{"3 values: the smallest possible p-value is 0.33, so no order can be significant"}) {
		t.Errorf("warnings %q", w)
	}
	if w := SpearmanTest([]float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}).Warnings; w != nil {
		t.Errorf("five values: warnings %q, want none", w)
	}
}

func BenchmarkExactP(b *testing.B) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	y := []float64{3, 1, 2, 6, 4, 9, 5, 7, 8}
	b.Run("spearman", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			SpearmanTest(x, y)
		}
	})
	b.Run("kendall", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			KendallTest(x, y)
		}
	})
}
