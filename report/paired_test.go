package report

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/audit"
	"assay/eval"
	"assay/match"
	"assay/stats"
)

// sides are three trainings of one model against three of another.
func sides() (a, b []Run) {
	for i, skill := range []float64{.93, .9, .91} {
		a = append(a, testRun("tuned|8b\n<b>", "hybrid", string('1'+rune(i)), skill))
		b = append(b, testRun("base_8b", "hybrid", string('1'+rune(i)), skill-.4))
	}
	return a, b
}

func TestComparisonGolden(t *testing.T) {
	a, b := sides()
	p, err := Compare(a, b, PairOptions{Options: Options{Resamples: 400, Seed: 7}, Datasets: true})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "paired.txt", p.Text)
	golden(t, "paired.md", p.Markdown)
	single, err := Compare(a[:1], b[:1], PairOptions{Options: Options{Resamples: 400, Seed: 7}, Metrics: []string{"SP", "FPA_arg"}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "paired.json", single.JSON)
}

func TestGateAndPlanGolden(t *testing.T) {
	a, b := sides()
	g, err := Gate(a, b, GateOptions{PairOptions: PairOptions{Options: Options{Resamples: 400}, Metrics: []string{"FP", "SPA"}}, MinGain: .1})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "gate.txt", g.Text)
	golden(t, "gate.md", g.Markdown)
	inputs, err := PlanInputs(a, b, PairOptions{Metrics: []string{"SPA"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(append(inputs, PlanInput{Name: "given", Items: 200, ItemSD: math.Sqrt(.2)}), PlanOptions{Want: .02})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.txt", p.Text)
	golden(t, "plan.json", p.JSON)
}

// Each number of a column, computed another way.
func TestComparedColumnsAnotherWay(t *testing.T) {
	a, b := sides()
	p, err := Compare(a, b, PairOptions{Options: Options{Resamples: 200}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Family != 16 || len(p.Columns) != 16 {
		t.Fatalf("%d columns and a family of %d, want 16", len(p.Columns), p.Family)
	}
	var ps []float64
	for _, c := range p.Columns {
		var want float64
		for i := range a {
			want += (*value(a[i].Scores.Cells, c.Column) - *value(b[i].Scores.Cells, c.Column)) / 3
		}
		if math.Abs(*c.Difference-want) > 1e-12 || math.Abs(*c.MeanA-*c.MeanB-want) > 1e-12 {
			t.Errorf("%s: difference %v, want %v from the scores", c.Name(), *c.Difference, want)
		}
		if n := cellOf(&a[0].Scores.Cells, c.Cell).N; c.Instances != n || c.Better+c.Worse > n {
			t.Errorf("%s: %d instances, %d better, %d worse, want %d", c.Name(), c.Instances, c.Better, c.Worse, n)
		}
		if c.BCa == nil || c.BCa.Low > want || c.BCa.High < want || c.OverBoth == nil || len(c.Blocks) != 3 {
			t.Errorf("%s: %+v", c.Name(), c)
		}
		var blocks float64
		for _, blk := range c.Blocks {
			blocks += *blk.Difference / 3
		}
		if math.Abs(blocks-want) > 1e-12 {
			t.Errorf("%s: blocks differ by %v on average, want %v", c.Name(), blocks, want)
		}
		ps = append(ps, *c.Test.P)
	}
	for i, q := range stats.Holm(ps) {
		if *p.Columns[i].Holm != q || *p.Columns[i].BH > q {
			t.Errorf("%s: Holm %v, want %v and a BH not above it", p.Columns[i].Name(), *p.Columns[i].Holm, q)
		}
	}
	changed := 0
	for _, c := range p.FlipCounts {
		if c.Gained+c.Lost+c.Unstable+c.KeptRight+c.KeptWrong != c.N {
			t.Errorf("flips of %s do not add up: %+v", c.Cell, c)
		}
		changed += c.Gained + c.Lost + c.Unstable
	}
	if changed != len(p.Flips) || changed == 0 {
		t.Errorf("%d flips listed, %d counted", len(p.Flips), changed)
	}
}

// With one run a side, one instance a record and scores of 0 and 1, the test
// is McNemar's, and flips are what it counts.
func TestOneRunASideIsMcNemar(t *testing.T) {
	a, b := sides()
	p, err := Compare(a[:1], b[:1], PairOptions{Options: Options{Resamples: 100}, Metrics: []string{"SP"}, FlipMetric: "SP"})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := p.Column(Column{"SP", "ST"})
	if !ok || c.Test.Method != "mcnemar exact" || c.OverBoth != nil || c.Blocks != nil {
		t.Fatalf("%+v", c)
	}
	i := slices.IndexFunc(p.FlipCounts, func(f FlipCount) bool { return f.Cell == "ST" })
	if f := p.FlipCounts[i]; f.Gained != c.Better || f.Lost != c.Worse || f.Unstable != 0 {
		t.Errorf("flips %+v, compared %d better and %d worse", f, c.Better, c.Worse)
	}
	if want := stats.McNemar(c.Better, c.Worse).P; *c.Test.P != want {
		t.Errorf("p = %v, want %v", *c.Test.P, want)
	}
	// The two turns of a conversation are no independent items.
	turns, _ := p.Column(Column{"SP", "SH"})
	if turns.Records < turns.Instances && turns.Test.Method == "mcnemar exact" {
		t.Errorf("%d turns of %d records are tested as if they were independent", turns.Instances, turns.Records)
	}
}

func TestFlipsOfRepeats(t *testing.T) {
	for _, row := range []struct {
		a, b FlipSide
		want eval.Change
	}{
		{FlipSide{3, 3, 1}, FlipSide{0, 3, 0}, eval.Gained},
		{FlipSide{0, 3, 0}, FlipSide{2, 2, 1}, eval.Lost},
		{FlipSide{3, 3, 1}, FlipSide{1, 3, .3}, eval.Unstable},
		{FlipSide{1, 3, .3}, FlipSide{0, 3, 0}, eval.Unstable},
		{FlipSide{3, 3, 1}, FlipSide{1, 1, 1}, eval.KeptRight},
		{FlipSide{0, 3, .5}, FlipSide{0, 1, 0}, eval.KeptWrong},
	} {
		if got := change(row.a, row.b); got != row.want {
			t.Errorf("A %+v, B %+v: %s, want %s", row.a, row.b, got, row.want)
		}
	}
}

func TestSidesThatDoNotCompareAreRefused(t *testing.T) {
	for _, row := range []struct {
		name, want string
		refusal    bool
		change     func(a, b []Run)
	}{
		{"other records", "data hashes differ", true, func(_, b []Run) { b[0].Data, b[1].Data, b[2].Data = "d1", "d1", "d1" }},
		{"other candidates under one setting", "candidate hashes differ", true, func(_, b []Run) { b[0].Candidates, b[1].Candidates, b[2].Candidates = "x", "x", "x" }},
		{"fewer items on both", "item sets differ", false, func(_, b []Run) {
			for i := range b {
				b[i].Items = b[i].Items[2:]
			}
		}},
		{"a run twice", "same prediction hash", true, func(a, _ []Run) { a[1].Predictions = a[0].Predictions }},
		{"two models on a side", "want one model", false, func(a, _ []Run) { a[1].Model = "other" }},
		{"no items", "score it again", false, func(_, b []Run) { b[2].Items = nil }},
		{"another preset", "presets differ", true, func(_, b []Run) {
			for i := range b {
				b[i].Scores.Preset = "strict"
			}
		}},
	} {
		a, b := sides()
		row.change(a, b)
		_, err := Compare(a, b, PairOptions{})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error %v, want one with %q", row.name, err, row.want)
			continue
		}
		if _, ok := errors.AsType[*stats.Refusal](err); ok != row.refusal {
			t.Errorf("%s: error %v: refusal %v, want %v", row.name, err, ok, row.refusal)
		}
	}
	a, b := sides()
	for want, opt := range map[string]PairOptions{
		`metric "BLEU": want one of SP`: {Metrics: []string{"BLEU"}},
		`cell "XX": want one of SH`:     {Cells: []string{"XX"}},
		`level 95: want`:                {Options: Options{Level: 95}},
	} {
		if _, err := Compare(a, b, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Compare(a, nil, PairOptions{}); err == nil {
		t.Error("no second side is accepted")
	}
	gt := a
	for i := range gt {
		gt[i].Setting, gt[i].Candidates = "gt", "c-gt"
	}
	p, err := Compare(gt, b, PairOptions{Options: Options{Resamples: 50}})
	if err != nil || !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "difference is that of settings") }) {
		t.Errorf("two settings: error %v, notes %q", err, p.Notes)
	}
}

func TestComparisonsAreDeterministic(t *testing.T) {
	var want string
	for workers := 1; workers <= 3; workers++ {
		a, b := sides()
		if workers == 2 {
			slices.Reverse(a)
			for i := range b {
				slices.Reverse(b[i].Items)
			}
		}
		p, err := Compare(a, b, PairOptions{Options: Options{Resamples: 100, Workers: workers}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := p.JSON(&out); err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			want = out.String()
		} else if out.String() != want {
			t.Errorf("%d workers, or another order, change the result", workers)
		}
	}
}

// flatRun is a run of n conversations that are right with probability p.
func flatRun(g *rand.Rand, model, seed string, n int, p float64) Run {
	r := Run{Name: model + seed, Model: model, Setting: "gt", Seed: seed, Predictions: model + seed}
	for i := range n {
		var s match.Score
		if g.Float64() < p {
			s = match.Score{SP: 1, FP: 1, SPA: 1, FPA: 1}
		}
		r.Items = append(r.Items, eval.Item{ID: "r" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Turn: -1, Cell: "ST", Score: s})
	}
	r.Scores = scoresOf(r.Items)
	return r
}

func TestGateVerdicts(t *testing.T) {
	g := rand.New(rand.NewPCG(4, 4))
	for _, row := range []struct {
		name string
		a, b float64
		gain float64
		runs int
		want Verdict
	}{
		{"far better", .9, .3, .01, 1, Go},
		{"far worse", .3, .9, .01, 1, NoGo},
		{"too near to tell", .62, .6, .01, 1, Inconclusive},
		{"far better, three seeds", .9, .3, .1, 3, Go},
		{"not as much better as asked", .7, .6, .5, 3, NoGo},
		{"alike, and a loss is borne", .9, .9, -.3, 3, Go},
		{"no difference at all, and none asked", 1, 1, 0, 1, Go},
		{"no difference at all, and one asked", 1, 1, .01, 1, NoGo},
	} {
		var a, b []Run
		for i := range row.runs {
			a = append(a, flatRun(g, "a", string('1'+rune(i)), 120, row.a))
			b = append(b, flatRun(g, "b", string('1'+rune(i)), 120, row.b))
		}
		if row.a == 1 {
			for i := range a {
				a[i].Predictions, b[i].Predictions = "", ""
			}
		}
		res, err := Gate(a, b, GateOptions{PairOptions: PairOptions{Options: Options{Resamples: 500}}, MinGain: row.gain})
		if err != nil {
			t.Fatal(err)
		}
		if res.Verdict != row.want || res.Why != res.Checks[0].Why {
			t.Errorf("%s: %s (%s), want %s", row.name, res.Verdict, res.Why, row.want)
		}
	}
	few, other := flatRun(g, "a", "1", 5, 1), flatRun(g, "b", "1", 5, 0)
	if res, err := Gate([]Run{few}, []Run{other}, GateOptions{}); err != nil || res.Verdict != Inconclusive {
		t.Errorf("five records of one kind: %v, %s (%s)", err, res.Verdict, res.Why)
	}
	for want, opt := range map[string]GateOptions{
		"alpha 0.7: want":         {Alpha: .7},
		"minimum gain 5: want":    {MinGain: 5},
		"SPA MH: no instance":     {PairOptions: PairOptions{Cells: []string{"MH"}}},
		`metric "x": want one of`: {PairOptions: PairOptions{Metrics: []string{"x"}}},
	} {
		if _, err := Gate([]Run{few}, []Run{other}, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A gate at the border of what is asked errs as often as alpha says.
func TestGateErrsAsOftenAsItSays(t *testing.T) {
	g := rand.New(rand.NewPCG(6, 6))
	const tries = 400
	wrong := map[Verdict]int{}
	for range tries {
		a, b := flatRun(g, "a", "1", 80, .6), flatRun(g, "b", "1", 80, .5)
		res, err := Gate([]Run{a}, []Run{b}, GateOptions{PairOptions: PairOptions{Options: Options{Resamples: 200, Seed: g.Uint64()}}, MinGain: .1})
		if err != nil {
			t.Fatal(err)
		}
		wrong[res.Verdict]++
	}
	for _, v := range []Verdict{Go, NoGo} {
		if share := float64(wrong[v]) / tries; share > .09 || share < .015 {
			t.Errorf("%s in %.3f of tries at the border, want about 0.05", v, share)
		}
	}
}

func TestPlans(t *testing.T) {
	p, err := NewPlan([]PlanInput{{Name: "x", SDA: .013, SDB: .01, RunsA: 3, RunsB: 3}}, PlanOptions{Want: .02})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns[0]
	want := stats.Design{SDA: .013, SDB: .01, RunsA: 3, RunsB: 3, Alpha: .05}.Detectable(.8)
	if *c.Detectable != want || c.BySeeds[1] != (SeedRow{3, want}) || c.RunsNeeded == nil || *c.RunsNeeded < 4 || c.ItemsNeeded != nil {
		t.Errorf("%+v, want %v for three seeds", c, want)
	}
	for want, in := range map[string]PlanInput{"SD 2: want": {SDA: 2}, "want no negative number": {SDA: .1, RunsA: -1}} {
		if _, err := NewPlan([]PlanInput{in}, PlanOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, opt := range map[string]PlanOptions{"alpha 0.6": {Alpha: .6}, "power 0.01": {Power: .01}, "wanted difference 2": {Want: 2}} {
		if _, err := NewPlan(nil, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	a, _ := sides()
	inputs, err := PlanInputs(a, nil, PairOptions{})
	if err != nil || len(inputs) != 16 || inputs[0].SDA != inputs[0].SDB || inputs[0].Items != 0 {
		t.Errorf("one side: %v, %+v", err, inputs)
	}
	if _, err := PlanInputs(a[:1], nil, PairOptions{}); err == nil {
		t.Error("one run is enough to plan from")
	}
}

// Repeats inside runs are told from seeds, and holes are.
func TestSplitOfRunsWithRepeats(t *testing.T) {
	g := rand.New(rand.NewPCG(2, 2))
	var runs []Run
	for _, seed := range []string{"1", "2", "3"} {
		r := flatRun(g, "m", seed, 60, .7)
		again := flatRun(g, "m", seed, 60, .7)
		for _, it := range again.Items {
			it.Repeat = 1
			r.Items = append(r.Items, it)
		}
		r.Scores = scoresOf(r.Items)
		runs = append(runs, r)
	}
	s, err := Summarize(runs, Options{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	split := s.Groups[0].Split
	if len(split) == 0 || split[0].Seeds != 3 || split[0].Repeats != 2 || split[0].Instances != 60 || split[0].Repeat == nil || split[0].Residual == nil {
		t.Fatalf("%+v", split)
	}
	grid := make([][][]float64, 3)
	for i, r := range runs {
		grid[i] = make([][]float64, 2)
		for _, it := range itemsByCell(r.Items)["ST"] {
			grid[i][it.Repeat] = append(grid[i][it.Repeat], it.Score.SP)
		}
	}
	want := stats.SplitVariance(grid, .95)
	if math.Abs(split[0].Residual.Variance-want.Residual.Variance) > 1e-12 || math.Abs(*split[0].ItemStdErr-want.ItemStdErr) > 1e-12 {
		t.Errorf("%+v, want %+v", split[0], want)
	}
	one := flatRun(g, "m", "4", 60, .7)
	_, warnings := group{runs: []Run{runs[0], one}}.splits(Options{})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "grid with holes") {
		t.Errorf("two repeats and one: %q", warnings)
	}
}

func TestAuditIsPrinted(t *testing.T) {
	a := Audit{audit.Report{
		Tables: []string{"t|1"}, Rules: []string{"range 0 100"}, Numbers: 3,
		Findings: []audit.Finding{{Severity: audit.Contradiction, Rule: "range", Table: "t|1", Row: "a", Column: "SP", Found: "101", Wanted: "0 to 100", Message: "a, SP is 101: want 0 to 100"}},
	}}
	for want, write := range map[string]func(io.Writer) error{
		"3 numbers of t|1 under 1 rules: 1 contradiction, 0 odd things, 0 notes": a.Text,
		`t\|1, range: a, SP is 101: want 0 to 100`:                               a.Markdown,
		`"severity": "contradiction"`:                                            a.JSON,
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, %s, want %q", err, out.String(), want)
		}
	}
}
