package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestWelch(t *testing.T) {
	// Equal sizes and SDs: Student's test with 2n-2 degrees of freedom.
	d := Welch([]float64{1, 2, 3}, []float64{3, 4, 5}, .95)
	if !near(d.Diff, -2, 1e-12) || !near(d.DF, 4, 1e-12) || !near(d.StdErr, math.Sqrt(2./3), 1e-12) || !near(d.P, tTwoSided(-2/math.Sqrt(2./3), 4), 1e-9) {
		t.Errorf("%+v", d)
	}
	// A side without spread leaves one sample: TInterval.
	xs := []float64{1, 4, 2, 8}
	one, want := Welch(xs, []float64{0, 0, 0}, .9), TInterval(xs, .9)
	if !near(one.CI.Low, want.Low, 1e-9) || !near(one.CI.High, want.High, 1e-9) {
		t.Errorf("%+v, want the interval %+v", one, want)
	}
	for name, none := range map[string]Difference{
		"one value":  Welch([]float64{1}, xs, .95),
		"no spread":  Welch([]float64{1, 1}, []float64{2, 2}, .95),
		"no numbers": Welch([]float64{math.NaN(), 1}, xs, .95),
	} {
		if !math.IsNaN(none.P) || !math.IsNaN(none.CI.Low) {
			t.Errorf("%s: %+v, want no test and no interval", name, none)
		}
	}
}

// Runs that differ by training, on items that suit one side or the other: the
// intervals hold what they are about.
func TestGridDifferencesCover(t *testing.T) {
	g := rand.New(rand.NewPCG(11, 2))
	const tries, items, runs = 1200, 80, 4
	const seedSD, itemSD, suitSD, noise = .02, .3, .15, .25
	var inItems, inRuns, inBoth int
	for range tries {
		ids := numbered(items)
		suit := make([]float64, items)
		hard := make([]float64, items)
		var suits float64
		for i := range suit {
			suit[i], hard[i] = suitSD*g.NormFloat64(), itemSD*g.NormFloat64()
			suits += suit[i] / items
		}
		var sides [2][][]float64
		var trainings [2]float64
		for side := range sides {
			for range runs {
				e := seedSD * g.NormFloat64()
				trainings[side] += e / runs
				run := make([]float64, items)
				for i := range run {
					run[i] = e + hard[i] + noise*g.NormFloat64()
					if side == 0 {
						run[i] += suit[i]
					}
				}
				sides[side] = append(sides[side], run)
			}
		}
		d := CompareGrids(sides[0], sides[1], ids, .95)
		holds := func(iv Interval, x float64) int {
			if iv.Low <= x && x <= iv.High {
				return 1
			}
			return 0
		}
		inItems += holds(d.Items.CI, trainings[0]-trainings[1])
		inRuns += holds(d.Runs.CI, suits)
		inBoth += holds(d.Both.CI, 0)
	}
	for name, n := range map[string]int{"items": inItems, "runs": inRuns, "both": inBoth} {
		if share := float64(n) / tries; share < .93 || share > .97 {
			t.Errorf("%s: the 95 %% interval holds the truth in %.3f of tries", name, share)
		}
	}
}

func TestGridDifferenceOfSingleRuns(t *testing.T) {
	a, b := [][]float64{{1, 0, 1, 1}}, [][]float64{{0, 0, 1, 0}}
	ids := []string{"x", "x", "y", "z"}
	d := CompareGrids(a, b, ids, .95)
	diffs := []float64{1, 0, 0, 1}
	want := ClusterTInterval(diffs, ids, .95)
	if d.Clusters != 3 || !near(d.Items.Diff, .5, 1e-12) || !near(d.Items.CI.Low, want.Low, 1e-9) {
		t.Errorf("%+v, want the interval %+v", d, want)
	}
	if !math.IsNaN(d.Both.P) || !math.IsNaN(d.Runs.CI.High) || len(d.Warnings) != 1 {
		t.Errorf("one run a side says nothing of others: %+v", d)
	}
}
