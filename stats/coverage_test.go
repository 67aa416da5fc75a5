package stats

import (
	"math/rand/v2"
	"testing"
)

// Bootstrap intervals of scores like ours hold the true mean as often as they
// say, by item and by conversation of two dependent turns.
func TestBootstrapIntervalsCover(t *testing.T) {
	g := rand.New(rand.NewPCG(21, 3))
	const tries, units, mean = 3000, 120, .55
	var bca, percentile, clustered int
	holds := func(iv Interval) int {
		if iv.Low <= mean && mean <= iv.High {
			return 1
		}
		return 0
	}
	for range tries {
		xs := make([]float64, units)
		var turns []float64
		var ids []int
		for i := range xs {
			// Right with a chance of 0.45, else half right with 0.2/0.55: mean 0.55.
			switch u := g.Float64(); {
			case u < .45:
				xs[i] = 1
			case u < .65:
				xs[i] = .5
			}
			turns, ids = append(turns, xs[i]), append(ids, i)
			if i%2 == 0 { // a second turn that mostly repeats the first
				again := xs[i]
				if g.Float64() < .3 {
					again = mean
				}
				turns, ids = append(turns, again), append(ids, i)
			}
		}
		opt := BootstrapOptions{Resamples: 400, Seed: g.Uint64()}
		b := Bootstrap(xs, opt)
		bca += holds(b.BCa)
		percentile += holds(b.Percentile)
		clustered += holds(BootstrapClusters(turns, ids, opt).BCa)
	}
	for name, n := range map[string]int{"BCa": bca, "percentile": percentile, "BCa of clusters": clustered} {
		if share := float64(n) / tries; share < .93 || share > .97 {
			t.Errorf("%s: the 95 %% interval holds the mean in %.3f of tries", name, share)
		}
	}
}
