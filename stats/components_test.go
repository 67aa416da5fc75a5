package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// planted draws a grid with the given SDs of its effects.
func planted(g *rand.Rand, a, b, n int, seed, repeat, item, inter, rest float64) [][][]float64 {
	items := make([]float64, n)
	for i := range items {
		items[i] = item * g.NormFloat64()
	}
	scores := make([][][]float64, a)
	for s := range scores {
		es := seed * g.NormFloat64()
		both := make([]float64, n)
		for i := range both {
			both[i] = inter * g.NormFloat64()
		}
		scores[s] = make([][]float64, b)
		for r := range scores[s] {
			er := repeat * g.NormFloat64()
			scores[s][r] = make([]float64, n)
			for i := range items {
				scores[s][r][i] = 0.5 + es + er + items[i] + both[i] + rest*g.NormFloat64()
			}
		}
	}
	return scores
}

func TestSplitVarianceFindsWhatWasPlanted(t *testing.T) {
	sds := [5]float64{.03, .02, .3, .15, .2}
	g := rand.New(rand.NewPCG(7, 1))
	const tries = 600
	inside, mean := [5]int{}, [5]float64{}
	for range tries {
		c := SplitVariance(planted(g, 3, 3, 60, sds[0], sds[1], sds[2], sds[3], sds[4]), .95)
		for k, p := range []Component{c.Seed, c.Repeat, c.Item, c.SeedItem, c.Residual} {
			v := sds[k] * sds[k]
			if p.CI.Low <= v && v <= p.CI.High {
				inside[k]++
			}
			mean[k] += p.Raw / tries / v
		}
	}
	for k, name := range []string{"seed", "repeat", "item", "seed×item", "residual"} {
		if share := float64(inside[k]) / tries; share < .93 || share > .985 {
			t.Errorf("%s: in %.3f of tries inside its interval, want about 0.95", name, share)
		}
		if math.Abs(mean[k]-1) > .12 {
			t.Errorf("%s: estimates are %.3f of the truth on average, want 1", name, mean[k])
		}
	}
}

// Without repeats the seed part contains theirs, and the other way round.
func TestSplitVarianceOfSmallerGrids(t *testing.T) {
	g := rand.New(rand.NewPCG(8, 1))
	const tries = 600
	inside := [4]int{}
	for range tries {
		one := SplitVariance(planted(g, 3, 1, 50, .03, .02, .3, .1, .2), .95)
		if !math.IsNaN(one.Repeat.Variance) || !math.IsNaN(one.Residual.Variance) || len(one.Warnings) == 0 {
			t.Fatalf("one repeat: repeat %v, residual %v, warnings %q", one.Repeat, one.Residual, one.Warnings)
		}
		same := SplitVariance(planted(g, 1, 4, 50, .03, .02, .3, .1, .2), .95)
		if !math.IsNaN(same.Seed.Variance) || !math.IsNaN(same.SeedItem.Variance) || len(same.Warnings) == 0 {
			t.Fatalf("one seed: seed %v, seed×item %v, warnings %q", same.Seed, same.SeedItem, same.Warnings)
		}
		for k, part := range []struct {
			ci   Interval
			want float64
		}{
			{one.Seed.CI, .03*.03 + .02*.02},
			{one.SeedItem.CI, .1*.1 + .2*.2},
			{same.Item.CI, .3*.3 + .1*.1},
			{same.Repeat.CI, .02 * .02},
		} {
			if part.ci.Low <= part.want && part.want <= part.ci.High {
				inside[k]++
			}
		}
	}
	for k, n := range inside {
		if share := float64(n) / tries; share < .93 || share > .985 {
			t.Errorf("part %d: inside its interval in %.3f of tries", k, share)
		}
	}
}

// A grid small enough to do by hand: two seeds, two repeats, two items.
func TestSplitVarianceByHand(t *testing.T) {
	c := SplitVariance([][][]float64{{{0, 4}, {2, 6}}, {{4, 4}, {4, 4}}}, .95)
	// Means: seeds 3 and 4, items 2.5 and 4.5, all 3.5. MS seed 2, repeat
	// (2·1+2·1)/2 = 2, item 8, seed×item 8, residual 0.
	for _, row := range []struct {
		name      string
		got, want float64
	}{
		{"mean", c.Mean, 3.5},
		{"residual", c.Residual.Raw, 0},
		{"repeat", c.Repeat.Raw, (2 - 0) / 2.},
		{"seed×item", c.SeedItem.Raw, (8 - 0) / 2.},
		{"item", c.Item.Raw, 0},
		{"seed", c.Seed.Raw, -2},
		{"seed, cut", c.Seed.Variance, 0},
		{"between repeats", c.BetweenRepeats, 1},
		{"between seeds", c.BetweenSeeds, math.Sqrt(.5)},
	} {
		if !near(row.got, row.want, 1e-12) {
			t.Errorf("%s = %v, want %v", row.name, row.got, row.want)
		}
	}
}

// The interval of one mean square is the chi-square interval of its SD.
func TestOneMeanSquareHasTheChiSquareInterval(t *testing.T) {
	xs := []float64{1, 4, 2, 8, 5}
	c := SplitVariance([][][]float64{{xs}}, .9)
	want := SDInterval(xs, .9)
	if !near(c.Item.SD, SD(xs), 1e-12) || !near(math.Sqrt(c.Item.CI.Low), want.Low, 1e-9) || !near(math.Sqrt(c.Item.CI.High), want.High, 1e-9) {
		t.Errorf("SD %v in %v, want %v in %v", c.Item.SD, c.Item.CI, SD(xs), want)
	}
}
