package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// near reports whether a and b differ by at most tol, or are both NaN.
func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol || (math.IsNaN(a) && math.IsNaN(b)) || a == b
}

var nan, inf = math.NaN(), math.Inf(1)

func TestMoments(t *testing.T) {
	tests := []struct {
		name             string
		xs               []float64
		mean, sd, stdErr float64
	}{
		{"nothing has no mean", nil, nan, nan, nan},
		{"one value has a mean and no spread", []float64{0.5}, 0.5, nan, nan},
		{"two values", []float64{0, 1}, 0.5, math.Sqrt(0.5), 0.5},
		{"three values", []float64{1, 2, 3}, 2, 1, 1 / math.Sqrt(3)},
		{"eight values, by hand", []float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32. / 7), math.Sqrt(32. / 56)},
		{"equal values have a spread of exactly 0", []float64{0.1, 0.1, 0.1}, 0.1, 0, 0},
		{"a NaN spoils all", []float64{1, nan}, nan, nan, nan},
		{"an infinity spoils all", []float64{1, inf}, nan, nan, nan},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if m, s, e := Mean(tt.xs), SD(tt.xs), StdErr(tt.xs); !near(m, tt.mean, 0) || !near(s, tt.sd, 1e-15) || !near(e, tt.stdErr, 1e-15) {
				t.Errorf("Mean, SD, StdErr of %v = %v, %v, %v, want %v, %v, %v", tt.xs, m, s, e, tt.mean, tt.sd, tt.stdErr)
			}
		})
	}
}

func TestMomentsAgreeWithGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 50).Draw(t, "xs")
		m, s := stat.MeanStdDev(xs, nil)
		if !near(Mean(xs), m, 1e-14) || !near(SD(xs), s, 1e-12) {
			t.Fatalf("Mean, SD = %v, %v, gonum has %v, %v", Mean(xs), SD(xs), m, s)
		}
	})
}

func TestClusterStdErr(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 30).Draw(t, "xs")
		alone := make([]int, len(xs))
		for i := range alone {
			alone[i] = i
		}
		if got := ClusterStdErr(xs, alone); !near(got, StdErr(xs), 1e-12) {
			t.Fatalf("each value its own cluster: %v, want the plain %v", got, StdErr(xs))
		}
		if got, want := ClusterTInterval(xs, alone, 0.9), TInterval(xs, 0.9); !near(got.Low, want.Low, 1e-12) || !near(got.High, want.High, 1e-12) {
			t.Fatalf("each value its own cluster: %+v, want the plain %+v", got, want)
		}
		// Values repeated k times in a cluster are no new information.
		var tripled []float64
		var of []int
		for i, x := range xs {
			tripled, of = append(tripled, x, x, x), append(of, i, i, i)
		}
		if got := ClusterStdErr(tripled, of); !near(got, StdErr(xs), 1e-12) {
			t.Fatalf("each value three times: %v, want %v", got, StdErr(xs))
		}
	})
	if got := ClusterStdErr([]float64{1, 2}, []string{"a", "a"}); !math.IsNaN(got) {
		t.Errorf("one cluster: %v, want NaN", got)
	}
}

func TestFactorsOfFewRuns(t *testing.T) {
	tests := []struct {
		n            int
		t, low, high float64 // t tables and χ² tables, rounded
	}{
		{2, 12.7062 / math.Sqrt2, math.Sqrt(1 / 5.0239), math.Sqrt(1 / 0.00098207)},
		{3, 4.30265 / math.Sqrt(3), math.Sqrt(2 / 7.37776), math.Sqrt(2 / 0.0506356)},
		{5, 2.77645 / math.Sqrt(5), math.Sqrt(4 / 11.1433), math.Sqrt(4 / 0.484419)},
		{10, 2.26216 / math.Sqrt(10), math.Sqrt(9 / 19.0228), math.Sqrt(9 / 2.70039)},
	}
	for _, tt := range tests {
		low, high := SDFactors(tt.n, 0.95)
		if !near(TFactor(tt.n, 0.95), tt.t, 1e-4) || !near(low, tt.low, 1e-4) || !near(high/tt.high, 1, 1e-4) {
			t.Errorf("n = %d: TFactor %.4f, SDFactors %.4f %.4f, want %.4f, %.4f %.4f", tt.n, TFactor(tt.n, 0.95), low, high, tt.t, tt.low, tt.high)
		}
	}
	// What the reports print for three seeds.
	if f := TFactor(3, 0.95); math.Round(f*100) != 248 {
		t.Errorf("TFactor(3) = %v, want 2.48", f)
	}
	// The upper factor is 6.2847; tables rounded before the root make it 6.29.
	if low, high := SDFactors(3, 0.95); math.Round(low*100) != 52 || math.Round(high*100) != 628 {
		t.Errorf("SDFactors(3) = %v, %v, want 0.52, 6.28", low, high)
	}
	for _, n := range []int{0, 1} {
		if low, high := SDFactors(n, 0.95); !math.IsNaN(TFactor(n, 0.95)) || !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("n = %d has factors %v %v %v, want NaN", n, TFactor(n, 0.95), low, high)
		}
	}
}

// With df = 2, t and χ² have closed forms: t = q·sqrt(2/(4p(1-p))) for
// q = 2p-1, and χ² = -2 ln(1-p).
func TestFactorsOfThreeRunsInClosedForm(t *testing.T) {
	for _, level := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
		p := (1 + level) / 2
		tq := (2*p - 1) * math.Sqrt(2/(4*p*(1-p)))
		low, high := SDFactors(3, level)
		if got := TFactor(3, level); !near(got, tq/math.Sqrt(3), 1e-8) {
			t.Errorf("TFactor(3, %v) = %v, want %v", level, got, tq/math.Sqrt(3))
		}
		wantLow, wantHigh := math.Sqrt(2/(-2*math.Log(1-p))), math.Sqrt(2/(-2*math.Log(p)))
		if !near(low, wantLow, 1e-8) || !near(high, wantHigh, 1e-6) {
			t.Errorf("SDFactors(3, %v) = %v, %v, want %v, %v", level, low, high, wantLow, wantHigh)
		}
	}
}

func TestIntervalsCoverAsTheySay(t *testing.T) {
	// 10,000 samples of three normal values: the share of intervals that hold
	// the truth has a standard deviation of 0.0022, so 0.01 is over four of them.
	g := rand.New(rand.NewPCG(1, 2))
	var mean, sd int
	const samples = 10_000
	for range samples {
		xs := []float64{g.NormFloat64(), g.NormFloat64(), g.NormFloat64()}
		if iv := TInterval(xs, 0.95); iv.Low <= 0 && 0 <= iv.High {
			mean++
		}
		if iv := SDInterval(xs, 0.95); iv.Low <= 1 && 1 <= iv.High {
			sd++
		}
	}
	for what, hits := range map[string]int{"t": mean, "chi-square": sd} {
		if share := float64(hits) / samples; math.Abs(share-0.95) > 0.01 {
			t.Errorf("%s interval covers %.4f, want 0.95", what, share)
		}
	}
}

func TestWilson(t *testing.T) {
	tests := []struct {
		name      string
		k, n      int
		low, high float64
	}{
		{"none of ten still may be a quarter", 0, 10, 0, 0.2775},
		{"all of ten", 10, 10, 0.7225, 1},
		{"half of ten", 5, 10, 0.2366, 0.7634},
		{"3 of 36, the multi-turn SP of Table 1", 3, 36, 0.0287, 0.2183},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			iv := Wilson(tt.k, tt.n, 0.95)
			if !near(iv.Low, tt.low, 1e-4) || !near(iv.High, tt.high, 1e-4) {
				t.Errorf("Wilson(%d, %d) = [%.4f, %.4f], want [%.4f, %.4f]", tt.k, tt.n, iv.Low, iv.High, tt.low, tt.high)
			}
		})
	}
	if iv := Wilson(0, 0, 0.95); !math.IsNaN(iv.Low) || !math.IsNaN(iv.High) {
		t.Errorf("Wilson(0, 0) = %v, want NaN", iv)
	}
}

// The bounds are where the score test is just rejected.
func TestWilsonSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		level := rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		iv, z := Wilson(k, n, level), distuv.UnitNormal.Quantile((1+level)/2)
		share := float64(k) / float64(n)
		if iv.Low < 0 || iv.High > 1 || iv.Low > share || iv.High < share {
			t.Fatalf("Wilson(%d, %d, %v) = %v", k, n, level, iv)
		}
		for _, p := range []float64{iv.Low, iv.High} {
			if want := z * math.Sqrt(p*(1-p)/float64(n)); !near(math.Abs(share-p), want, 1e-9) {
				t.Fatalf("at the bound %v the distance is %v, want %v", p, math.Abs(share-p), want)
			}
		}
	})
}

func TestPanicsTellWhatIsWanted(t *testing.T) {
	tests := map[string]func(){
		"stats: want a level in (0,1), such as 0.95, have 95":      func() { TFactor(3, 95) },
		"stats: want a level in (0,1), such as 0.95, have NaN":     func() { Wilson(1, 2, nan) },
		"stats: Wilson: want 0 <= k <= n, have k = 3 and n = 2":    func() { Wilson(3, 2, 0.95) },
		"stats: want two lists of one length, have 1 and 0 values": func() { Spearman([]float64{1}, nil) },
		"stats: want two lists of one length, have 2 and 1 values": func() { ClusterStdErr([]float64{1, 2}, []int{1}) },
		"stats: want a number of resamples above 0, have -1":       func() { Bootstrap([]float64{1, 2}, BootstrapOptions{Resamples: -1}) },
		"stats: want a level in (0,1), such as 0.95, have 1":       func() { Bootstrap([]float64{1, 2}, BootstrapOptions{Level: 1}) },
		"stats: want two lists of one length, have 2 and 3 values": func() { KendallTest([]float64{1, 2}, []float64{1, 2, 3}) },
		"stats: want two lists of one length, have 3 and 0 values": func() { BootstrapClusters([]float64{1, 2, 3}, []string{}, BootstrapOptions{}) },
	}
	for want, f := range tests {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			f()
		})
	}
}

func TestSummarize(t *testing.T) {
	tests := []struct {
		name     string
		xs       []float64
		warnings string
	}{
		{"no run", nil, "no value: nothing to summarise"},
		{"one run", []float64{0.9}, "one value: no SD and no interval; repeat with other seeds"},
		{"three runs", []float64{0.93, 0.94, 0.95}, "3 values: the 95 % interval is mean ± 2.48·SD, and the SD itself is known only to 0.52–6.28 times its value"},
		{"equal runs", []float64{0.9, 0.9, 0.9}, "all 3 values are equal: an SD of 0 shows no spread, it does not prove that there is none"},
		{"a broken run", []float64{0.9, nan}, "a value is not a finite number: no summary"},
		{"five runs need no warning", []float64{0.1, 0.2, 0.3, 0.4, 0.5}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Summarize(tt.xs, 0.95)
			got := ""
			if len(s.Warnings) > 0 {
				got = s.Warnings[0]
			}
			if got != tt.warnings || len(s.Warnings) > 1 {
				t.Errorf("warnings %q, want %q", s.Warnings, tt.warnings)
			}
			if s.N != len(tt.xs) || !near(s.HalfWidth, (s.CI.High-s.CI.Low)/2, 1e-12) || !near(s.HalfWidth, TFactor(s.N, 0.95)*s.SD, 1e-12) {
				t.Errorf("summary %+v", s)
			}
		})
	}
}

// factorial is the second way to count permutations in these tests.
func factorial(n int) int { return combin.NumPermutations(n, n) }
