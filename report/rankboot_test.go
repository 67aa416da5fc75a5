package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/eval"
	"assay/stats"
)

// rankRuns are models of rising skill under two settings, with two seeds of
// the first.
func rankRuns() []Run {
	var runs []Run
	for i, model := range []string{"a", "bb", "ccc", "dddd"} {
		skill := .45 + .12*float64(i)
		runs = append(runs,
			testRun(model, "hybrid", "1", skill), testRun(model, "hybrid", "2", skill+.03), testRun(model, "gt", "1", skill+.1))
	}
	return runs
}

// Every interval of a ranking, from a plain loop over records, instances and
// runs, on the same draws of records.
func TestRankIntervalsByAPlainLoop(t *testing.T) {
	opt := Options{Resamples: 60, Seed: 3, Level: .9}
	runs := rankRuns()
	r, err := Rank(runs, opt)
	if err != nil {
		t.Fatal(err)
	}
	looked := map[string]int{}
	for _, col := range columns(allCells) {
		var ids []string
		for _, it := range runs[0].Items {
			if it.Cell == col.Cell && !slices.Contains(ids, it.ID) {
				ids = append(ids, it.ID)
			}
		}
		slices.Sort(ids)
		draws := make([][]int, opt.Resamples)
		stats.Resample(len(ids), opt.bootstrap(), func() func(int, []int) {
			return func(r int, counts []int) { draws[r] = slices.Clone(counts) }
		})
		// mean of a model on a draw, over the runs that keep says.
		mean := func(draw []int, model, metric string, keep func(Run) bool) float64 {
			var xs []float64
			for _, run := range runs {
				for _, it := range run.Items {
					if run.Model == model && keep(run) && it.Cell == col.Cell {
						for range draw[slices.Index(ids, it.ID)] {
							xs = append(xs, scoreOf(it.Score, metric))
						}
					}
				}
			}
			return math.Round(stats.Mean(xs)*1e9) / 1e9
		}
		for _, a := range r.Agreement {
			var metA, metB string
			var keepA, keepB func(Run) bool
			in := func(setting, seed string) func(Run) bool {
				return func(r Run) bool {
					return SettingLabel(r.Setting) == setting && (seed == "" || r.Seed == seed)
				}
			}
			switch {
			case a.Between == "setting" && a.Where == "paper, "+col.String():
				metA, metB, keepA, keepB = col.Metric, col.Metric, in(a.A, ""), in(a.B, "")
			case a.Between == "seed" && a.Where == "paper, Hybrid-20, "+col.String():
				metA, metB, keepA, keepB = col.Metric, col.Metric, in("Hybrid-20", a.A), in("Hybrid-20", a.B)
			case a.Between == "metric" && a.Where == "paper, GT, "+col.Cell && a.A == metricLabel(col.Metric) && a.B != "FPA-arg":
				metA, metB, keepA, keepB = col.Metric, a.B, in("GT", ""), in("GT", "")
			default:
				continue
			}
			looked[a.Between]++
			var rho, tau []float64
			for _, draw := range draws {
				var x, y []float64
				for _, model := range []string{"a", "bb", "ccc", "dddd"} {
					x, y = append(x, mean(draw, model, metA, keepA)), append(y, mean(draw, model, metB, keepB))
				}
				if c := stats.Spearman(x, y); !math.IsNaN(c) {
					rho, tau = append(rho, c), append(tau, stats.KendallTest(x, y).Value)
				}
			}
			checkInterval(t, fmt.Sprintf("%s, %s, %s and %s: rho", a.Between, a.Where, a.A, a.B), a.RhoCI, rho, opt)
			checkInterval(t, fmt.Sprintf("%s, %s, %s and %s: tau", a.Between, a.Where, a.A, a.B), a.TauCI, tau, opt)
			if a.Records != len(ids) {
				t.Errorf("%s, %s: %d records, want %d", a.Between, a.Where, a.Records, len(ids))
			}
		}
	}
	if looked["setting"] != 20 || looked["seed"] != 20 || looked["metric"] != 24 {
		t.Errorf("looked at %v", looked)
	}
}

// checkInterval compares an interval with the quantiles of a list: the value
// in place q(B+1), interpolated.
func checkInterval(t *testing.T, what string, got *Interval, values []float64, opt Options) {
	t.Helper()
	if float64(opt.Resamples-len(values)) > (1-opt.Level)*float64(opt.Resamples) {
		if got != nil {
			t.Errorf("%s: %+v of %d draws, want none", what, *got, len(values))
		}
		return
	}
	slices.Sort(values)
	at := func(q float64) float64 {
		pos := q * float64(len(values)+1)
		k := int(pos)
		low, high := values[max(0, min(k, len(values))-1)], values[min(k, len(values)-1)]
		return low + (pos-float64(k))*(high-low)
	}
	if got == nil || math.Abs(got.Low-at((1-opt.Level)/2)) > 1e-9 || math.Abs(got.High-at((1+opt.Level)/2)) > 1e-9 {
		t.Errorf("%s: %+v, want [%v, %v]", what, got, at((1-opt.Level)/2), at((1+opt.Level)/2))
	}
}

// Models far apart come in one order on every draw; equal ones in none.
func TestRankIntervalsOfClearAndOfEqualModels(t *testing.T) {
	var clear, equal []Run
	for i, model := range []string{"a", "b", "c", "d", "e"} {
		for _, setting := range []string{"gt", "hybrid"} {
			g := rand.New(rand.NewPCG(uint64(i), uint64(len(setting))))
			clear = append(clear, flatRunIn(g, model, setting, 400, .1+.2*float64(i)))
			equal = append(equal, flatRunIn(g, model, setting, 400, .5))
		}
	}
	for name, runs := range map[string][]Run{"clear": clear, "equal": equal} {
		r, err := Rank(runs, Options{Resamples: 300, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		a := r.Agreement[slices.IndexFunc(r.Agreement, func(a Agreement) bool { return a.Between == "setting" && a.Where == "paper, SPA ST" })]
		if a.RhoCI == nil || a.TauCI == nil || a.Records != 400 {
			t.Fatalf("%s: no interval in %+v", name, a)
		}
		one := Interval{1, 1}
		if sure := *a.RhoCI == one && *a.TauCI == one; sure != (name == "clear") {
			t.Errorf("%s models: rho %+v, tau %+v", name, *a.RhoCI, *a.TauCI)
		}
		if name == "equal" && (a.RhoCI.Low > 0 || a.RhoCI.High-a.RhoCI.Low < .5) {
			t.Errorf("equal models correlate within %+v", *a.RhoCI)
		}
	}
}

func flatRunIn(g *rand.Rand, model, setting string, n int, p float64) Run {
	r := flatRun(g, model, "1", n, p)
	r.Setting, r.Name, r.Candidates, r.Predictions = setting, setting+r.Name, setting, setting+r.Name
	return r
}

func TestNoRankIntervalWithoutTheSameItems(t *testing.T) {
	base := rankRuns()
	for name, spoil := range map[string]func(r *Run){
		"no items":    func(r *Run) { r.Items = nil },
		"other items": func(r *Run) { r.Items = slices.DeleteFunc(r.Items, func(it eval.Item) bool { return it.ID == "r00" }) },
		"old scores":  func(r *Run) { r.Items = slices.Clone(r.Items); r.Items[0].Score.SP = 1 - r.Items[0].Score.SP },
	} {
		runs := slices.Clone(base)
		at := slices.IndexFunc(runs, func(r Run) bool { return r.Setting == "gt" })
		runs[at].Items = slices.Clone(runs[at].Items)
		cell := runs[at].Items[0].Cell
		spoil(&runs[at])
		if name != "old scores" {
			runs[at].Scores = scoresOf(cmpOr(runs[at].Items, base[at].Items))
		}
		r, err := Rank(runs, Options{Resamples: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Agreement {
			hit := a.Between == "setting" && a.Where == "paper, SP "+cell
			apart := a.Between == "seed" && a.Where == "paper, Hybrid-20, SP "+cell
			if hit && (a.RhoCI != nil || a.Records != 0 || a.Rho == nil) || apart && a.RhoCI == nil {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}

func cmpOr(a, b []eval.Item) []eval.Item {
	if a == nil {
		return b
	}
	return a
}

func TestRankIntervalsDoNotDependOnWorkers(t *testing.T) {
	var want Ranking
	for i, workers := range []int{1, 2, 7} {
		runs := rankRuns()
		slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Name, b.Name)) })
		r, err := Rank(runs, Options{Resamples: 101, Seed: 5, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = r
		} else if diff := gocmp.Diff(want, r); diff != "" {
			t.Errorf("%d workers give others than one:\n%s", workers, diff)
		}
	}
}

// The size of the paper's comparison: six models under two settings, three
// seeds each, on its test set.
func BenchmarkRank(b *testing.B) {
	var runs []Run
	for i := range 6 {
		for _, setting := range []string{"gt", "hybrid"} {
			for seed := range 3 {
				g := rand.New(rand.NewPCG(uint64(i), uint64(len(setting)+10*seed)))
				r := Run{Name: fmt.Sprint(i, setting, seed), Model: string(rune('a' + i)), Setting: setting, Seed: fmt.Sprint(seed), Predictions: fmt.Sprint(i, setting, seed)}
				for n := range 6163 {
					r.Items = append(r.Items, eval.Item{ID: fmt.Sprint(n), Turn: -1, Cell: "ST", Score: turnScore(g, 1+n%3, .4+.1*float64(i))})
				}
				r.Scores = scoresOf(r.Items)
				runs = append(runs, r)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Rank(runs, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
