package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/stats"
)

// smallSides are two seeds a side on nine records of one or two turns. Scores
// are halves, so sums are exact.
func smallSides() (a, b []Run) {
	for side, p := range []float64{.8, .35} {
		for seed := range 2 {
			g := rand.New(rand.NewPCG(uint64(side), uint64(seed)))
			r := Run{Name: fmt.Sprint(side, seed), Model: string(rune('a' + side)), Setting: "gt", Seed: fmt.Sprint(seed), Predictions: fmt.Sprint(side, seed)}
			r.Scores.Preset = "paper"
			var sum float64
			for i := range 9 {
				for turn := range 1 + i%2 {
					s := match.Score{SPA: float64(g.IntN(3)) / 2}
					if g.Float64() < p {
						s.SPA = 1
					}
					sum += s.SPA
					r.Items = append(r.Items, eval.Item{ID: fmt.Sprint("r", i), Turn: turn, Cell: "SH", Score: s})
				}
			}
			n := len(r.Items)
			r.Scores.Cells.SH = eval.Cell{N: n, SP: known(0), FP: known(0), SPA: known(sum / float64(n)), FPA: known(0)}
			if side == 0 {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
		}
	}
	return a, b
}

// The p-value, the interval and the differences over runs of one column from
// plain loops over items: all 2^9 exchanges of records, a bootstrap with
// another generator, and Welch's test of the means of runs.
func TestAComparedColumnFromPlainLoops(t *testing.T) {
	a, b := smallSides()
	p, err := Compare(a, b, PairOptions{Options: Options{Resamples: 40_000, Seed: 2}, Metrics: []string{"SPA"}, Cells: []string{"SH"}})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns[0]
	// Sum of the differences of each record, over turns and seeds.
	var sums, sizes [9]float64
	for seed := range a {
		for i, it := range a[seed].Items {
			at := int(it.ID[1] - '0')
			sums[at] += (it.Score.SPA - b[seed].Items[i].Score.SPA) / 2
			sizes[at] += .5
		}
	}
	var observed, n float64
	for i := range sums {
		observed += sums[i]
		n += sizes[i]
	}
	hits := 0
	for signs := range 1 << len(sums) {
		var sum float64
		for i, s := range sums {
			if signs>>i&1 == 1 {
				s = -s
			}
			sum += s
		}
		if math.Abs(sum) >= math.Abs(observed)-1e-9 {
			hits++
		}
	}
	if want := float64(hits) / float64(int(1)<<len(sums)); math.Abs(*c.Test.P-want) > 1e-9 || c.Test.Method != "sign flips exact" || *c.Holm != *c.Test.P {
		t.Errorf("%+v, over all exchanges of records p = %v", c.Test, want)
	}
	if math.Abs(*c.Difference-observed/n) > 1e-12 || c.Records != 9 || c.Instances != 13 {
		t.Errorf("difference %v of %d records and %d instances, want %v of 9 and 13", *c.Difference, c.Records, c.Instances, observed/n)
	}

	g := rand.New(rand.NewPCG(99, 1))
	means, above := make([]float64, 40_000), 0.0
	for r := range means {
		var sum, size float64
		for range sums {
			i := g.IntN(len(sums))
			sum, size = sum+sums[i], size+sizes[i]
		}
		means[r] = sum / size
		above += float64(count(sum > 0)+count(sum >= 0)) / 2 / float64(len(means)) // ties half
	}
	slices.Sort(means)
	low, high := means[len(means)/40], means[len(means)-len(means)/40]
	if math.Abs(c.Percentile.Low-low) > 1./13 || math.Abs(c.Percentile.High-high) > 1./13 || math.Abs(*c.Above-above) > .02 {
		t.Errorf("percentile interval %+v and P above %v, by a plain loop [%v, %v] and %v", *c.Percentile, *c.Above, low, high, above)
	}

	var meansA, meansB []float64
	for seed := range a {
		meansA, meansB = append(meansA, *a[seed].Scores.Cells.SH.SPA), append(meansB, *b[seed].Scores.Cells.SH.SPA)
	}
	w := stats.Welch(meansA, meansB, .95)
	if math.Abs(*c.OverRuns.P-w.P) > 1e-9 || math.Abs(*c.OverRuns.StdErr-w.StdErr) > 1e-12 {
		t.Errorf("over runs %+v, Welch of the means %+v", c.OverRuns, w)
	}
}

// What a summary says of one run, from its items by the formulas.
func TestARunsColumnByTheFormulas(t *testing.T) {
	r := testRun("m", "gt", "1", .7)
	s, err := Summarize([]Run{r}, Options{Resamples: 40_000, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Groups[0].Runs[0].Columns {
		byRecord := map[string][]float64{}
		for _, it := range r.Items {
			if it.Cell == c.Cell {
				byRecord[it.ID] = append(byRecord[it.ID], scoreOf(it.Score, c.Metric))
			}
		}
		// The linearised standard error of a ratio: sums less mean times size.
		var n, squares float64
		for _, xs := range byRecord {
			var dev float64
			for _, x := range xs {
				dev += x - *c.Mean
			}
			squares += dev * dev
			n += float64(len(xs))
		}
		k := float64(len(byRecord))
		se := math.Sqrt(k/(k-1)*squares) / n
		if math.Abs(*c.StdErr-se) > 1e-12 || c.Records != len(byRecord) || c.Instances != int(n) {
			t.Errorf("%v: standard error %v of %d records, want %v of %d", c.Column, *c.StdErr, c.Records, se, len(byRecord))
		}
		if half := stats.TFactor(len(byRecord), .95) * math.Sqrt(k) * se; math.Abs(c.T.High-*c.Mean-half) > 1e-9 {
			t.Errorf("%v: t interval %+v, want a half-width of %v", c.Column, *c.T, half)
		}
		if c.Wilson != nil && (c.Metric != "SP" || len(byRecord) != int(n)) {
			t.Errorf("%v has a Wilson interval", c.Column)
		}
		if k >= 20 && se > 0 && math.Abs((c.Percentile.High-c.Percentile.Low)/(2*1.96*se*math.Sqrt((k-1)/k))-1) > .12 {
			t.Errorf("%v: percentile interval %+v, the normal one is ± %v", c.Column, *c.Percentile, 1.96*se)
		}
	}
}

// McNemar's exact test is planned for where it would be used, and only there.
func TestPlansForMcNemar(t *testing.T) {
	all, half := "++++++++++++++++++++++++", "++++++++++++++++++------"
	a, b := boldRun("a", "1", all), boldRun("b", "1", half)
	inputs, err := PlanInputs([]Run{a}, []Run{b}, PairOptions{Metrics: []string{"SP"}})
	if err != nil || len(inputs) != 1 || inputs[0].Discordant != .25 || inputs[0].Items != 24 {
		t.Fatalf("inputs %+v, error %v, want a quarter of 24 items", inputs, err)
	}
	more, err := PlanInputs([]Run{a, boldRun("a", "2", half)}, []Run{b}, PairOptions{Metrics: []string{"SP"}})
	if err != nil || more[0].Discordant != 0 {
		t.Errorf("with two runs %+v, error %v, want no McNemar", more, err)
	}
	p, err := NewPlan(append(inputs, PlanInput{Name: "none", Items: 24, Discordant: .01}), PlanOptions{Want: .1})
	if err != nil {
		t.Fatal(err)
	}
	e := p.Columns[0].Exact
	if power := stats.McNemarPower(24, .25, .1, .05); e == nil || *e.Power != power || e.Pairs != 6 || e.Detectable != nil {
		t.Errorf("%+v, want a power of %v and 6 pairs, which find nothing four times in five", e, power)
	}
	n := *e.ItemsNeeded
	if stats.McNemarPower(n, .25, .1, .05) < .8 || stats.McNemarPower(n-3, .25, .1, .05) > .8 || math.Abs(*e.PairsNeeded-float64(n)/4) > 1e-9 {
		t.Errorf("%d items and %v pairs are not just enough", n, *e.PairsNeeded)
	}
	if e := p.Columns[1].Exact; e == nil || e.Power != nil || e.ItemsNeeded != nil {
		t.Errorf("a difference above the discordant share: %+v", e)
	}
	if _, err := NewPlan([]PlanInput{{Name: "x", Discordant: 1.5}}, PlanOptions{}); err == nil {
		t.Error("a share above 1 is taken")
	}
}
