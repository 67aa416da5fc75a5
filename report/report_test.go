package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/benchdata/paper"
	"assay/eval"
	"assay/match"
	"assay/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what write writes with testdata/name.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./report -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got; -update rewrites it):\n%s", name, diff)
	}
}

// testRun makes a run of a model that gets a call right with probability
// skill: 24 conversations of one turn and 6 of two, from two data sets.
func testRun(model, setting, seed string, skill float64) Run {
	g := rand.New(rand.NewPCG(uint64(len(model)), uint64(1000*skill)))
	r := Run{
		Name: "runs/" + setting + "-" + model + "-" + seed, Model: model, Setting: setting, Seed: seed,
		Data: "d0", Candidates: "c-" + setting, Predictions: fmt.Sprint(model, setting, seed, skill),
	}
	for rec := range 30 {
		turns := 1 + rec/24
		it := eval.Item{ID: fmt.Sprintf("r%02d", rec), Dataset: []string{"bfcl", "seal-tools"}[rec%2], Turn: -1, Cell: []string{"ST", "MT"}[turns-1]}
		var all []match.Score
		for turn := range turns {
			calls := 1 + rec%3/2
			s := turnScore(g, calls, skill)
			all = append(all, s)
			r.Items = append(r.Items, eval.Item{ID: it.ID, Dataset: it.Dataset, Turn: turn, Cell: []string{"SH", "MH"}[calls-1], Gold: calls, Score: s})
		}
		it.Score = meanScores(all)
		r.Items = append(r.Items, it)
	}
	r.Scores = scoresOf(r.Items)
	return r
}

func turnScore(g *rand.Rand, calls int, skill float64) match.Score {
	var name, strict, flex float64
	for range calls {
		if g.Float64() < skill {
			name++
			if u := g.Float64(); u < 0.4 {
				strict, flex = strict+1, flex+1
			} else if u < 0.7 {
				flex++
			}
		}
	}
	n := float64(calls)
	s := match.Score{FP: name / n, SPA: strict / n, FPA: flex / n, FPAArg: (strict + flex) / 2 / n}
	if name == n {
		s.SP = 1
	}
	return s
}

func meanScores(all []match.Score) match.Score {
	m := match.Score{SP: 1}
	for _, s := range all {
		n := float64(len(all))
		m.SP = min(m.SP, s.SP)
		m.FP, m.SPA, m.FPA, m.FPAArg = m.FP+s.FP/n, m.SPA+s.SPA/n, m.FPA+s.FPA/n, m.FPAArg+s.FPAArg/n
	}
	return m
}

// scoresOf averages items, apart from the product's own averaging.
func scoresOf(items []eval.Item) eval.Scores {
	s := eval.Scores{
		Preset: "paper", Datasets: map[string]eval.Cells{},
		Coverage: eval.Coverage{Planned: 30, Attempted: 30, Answered: 30, Parsed: 29, Scored: 30},
		NoGold:   eval.NoGold{N: 3, Abstained: 2, Called: 1},
	}
	byDataset := map[string][]eval.Item{}
	for _, it := range items {
		byDataset[it.Dataset] = append(byDataset[it.Dataset], it)
	}
	s.Cells = averages(items)
	var sets []eval.Cells
	for _, name := range []string{"bfcl", "seal-tools"} {
		s.Datasets[name] = averages(byDataset[name])
		sets = append(sets, s.Datasets[name])
	}
	s.MeanOfDatasets = meanCells(sets)
	for _, name := range allCells {
		cellOf(&s.MeanOfDatasets, name).N = len(sets)
	}
	return s
}

func averages(items []eval.Item) eval.Cells {
	var cells eval.Cells
	for _, name := range allCells {
		for _, m := range metrics {
			var xs []float64
			for _, it := range items {
				if it.Cell == name {
					xs = append(xs, scoreOf(it.Score, m))
				}
			}
			c := cellOf(&cells, name)
			c.N = len(xs)
			*metricOf(c, m) = known(stats.Mean(xs))
		}
	}
	return cells
}

// testRuns are three models under two settings; the first has three seeds.
func testRuns() []Run {
	return []Run{
		testRun("tuned|8b\n<b>", "hybrid", "3", 0.93),
		testRun("tuned|8b\n<b>", "hybrid", "1", 0.9),
		testRun("tuned|8b\n<b>", "hybrid", "2", 0.91),
		testRun("base_8b", "hybrid", "1", 0.5),
		testRun("floor", "hybrid", "1", 0),
		testRun("tuned|8b\n<b>", "gt", "1", 0.97),
		testRun("base_8b", "gt", "1", 0.8),
	}
}

func TestTable1Golden(t *testing.T) {
	c, err := Table1(testRuns(), Options{Bold: BoldPaired, Resamples: 500, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "table1.md", c.Markdown)
	golden(t, "table1.json", c.JSON)
}

func TestSummaryGolden(t *testing.T) {
	s, err := Summarize(testRuns()[:4], Options{Resamples: 500, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.md", s.Markdown)
	golden(t, "summary.json", s.JSON)
}

func TestRankingGolden(t *testing.T) {
	r, err := Rank(testRuns(), Options{Resamples: 500, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "ranking.md", r.Markdown)
	golden(t, "ranking.json", r.JSON)
}

func TestScoreTextGolden(t *testing.T) {
	full := testRun("m", "gt", "1", 0.9).Scores
	part := testRun("m", "gt", "1", 0.7).Scores
	part.Preset, part.Aligned = "strict", true
	part.Coverage = eval.Coverage{Planned: 30, Attempted: 30, Answered: 28, Parsed: 20, Scored: 30, Missing: 2}
	part.Cells.MT = eval.Cell{}
	part.Bounds = &eval.Bounds{Low: part.Cells, High: full.Cells}
	part.Bounds.High.MT = eval.Cell{}
	part.Datasets = map[string]eval.Cells{"evil\x1b[31m\nset": part.Datasets["bfcl"]}
	part.Warnings = []string{"two tools share the normal form \"addmapping\""}
	golden(t, "scores.txt", func(w io.Writer) error { return ScoreText(w, []eval.Scores{full, part}) })
	golden(t, "scores-empty.txt", func(w io.Writer) error { return ScoreText(w, []eval.Scores{{Preset: "paper"}}) })
}

// paperRuns is the paper's Table 1 as runs, to see that our layout prints it
// digit for digit.
func paperRuns() []Run {
	rows, _ := paper.Table1()
	var runs []Run
	for _, row := range rows {
		r := Run{Name: row.Setting + "/" + row.Model, Model: row.Model, Setting: row.Setting, Scores: eval.Scores{Preset: "paper"}}
		for i, col := range paper.Columns() {
			c := cellOf(&r.Scores.Cells, col.Cell)
			c.N = 36
			*metricOf(c, col.Metric) = known(row.Percent[i] / 100)
		}
		runs = append(runs, r)
	}
	return runs
}

func TestTable1PrintsThePapersTable(t *testing.T) {
	c, err := Table1(paperRuns(), Options{Bold: BoldBest})
	if err != nil {
		t.Fatal(err)
	}
	table := c.scores()
	rows, _ := paper.Table1()
	if len(table.Rows) != len(rows) || len(table.Header) != 3+len(paper.Columns()) {
		t.Fatalf("%d rows and %d columns, want %d and %d", len(table.Rows), len(table.Header), len(rows), 3+16)
	}
	best := map[string]string{}
	for i, row := range rows {
		if got := table.Rows[i]; got[0].Text != row.Setting || got[1].Text != row.Model {
			t.Errorf("row %d is %s, %s, want %s, %s", i, got[0].Text, got[1].Text, row.Setting, row.Model)
		}
		for j, col := range paper.Columns() {
			cell := table.Rows[i][3+j]
			if want := fmt.Sprintf("%.1f", row.Percent[j]); cell.Text != want {
				t.Errorf("%s, %v: %s, want %s", row.Model, col, cell.Text, want)
			}
			if head := col.Metric + " " + col.Cell; table.Header[3+j] != head {
				t.Errorf("column %d is %q, want %q", j, table.Header[3+j], head)
			} else if cell.Mark != Plain {
				best[fmt.Sprint(head, " ", cell.Mark)] += row.Model
			}
		}
	}
	// What section 4.2 says of best and second best.
	for key, want := range map[string]string{
		"SP SH 1": "UniToolCall (Ours)", "SP ST 1": "UniToolCall (Ours)",
		"SP MH 1": "Claude 4.6 Sonnet", "SP MH 2": "UniToolCall (Ours)",
		"SPA ST 1": "UniToolCall (Ours)", "FPA ST 1": "UniToolCall (Ours)",
		"FP MH 1": "Claude 4.6 SonnetUniToolCall (Ours)", // both print 89.6
		"FP MH 2": "",
		"SP MT 1": "Qwen3-32B",
	} {
		if best[key] != want {
			t.Errorf("%s goes to %q, want %q", key, best[key], want)
		}
	}
	if want := []string{"Hybrid-20, SP MT is at its floor (0) for 7 of 8 models: it does not rank them"}; !reflect.DeepEqual(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
}

// Three runs at mean-SD, mean and mean+SD have exactly that mean and SD, so
// the paper's Tables 6 and 7 must come out digit for digit.
func TestSummaryPrintsThePapersTables6And7(t *testing.T) {
	var runs []Run
	for seed, sign := range []float64{-1, 0, 1} {
		for _, model := range []string{"Qwen3-8B (Vanilla)", "UniToolCall"} {
			r := Run{Name: fmt.Sprint(model, seed), Model: model, Setting: "hybrid", Seed: fmt.Sprint(seed), Scores: eval.Scores{Preset: "paper"}}
			for _, cell := range paper.Tables6And7() {
				if cell.Model == model {
					c := cellOf(&r.Scores.Cells, cell.Column.Cell)
					c.N = 100
					*metricOf(c, cell.Column.Metric) = known((cell.Mean + sign*cell.SD) / 100)
				}
			}
			runs = append(runs, r)
		}
	}
	s, err := Summarize(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]string{}
	for _, table := range []Table{s.repeated(hopCells), s.repeated(turnCells)} {
		for _, row := range table.Rows {
			for j := 3; j < len(row); j++ {
				printed[row[1].Text+" "+table.Header[j]] = row[j].Text
			}
		}
	}
	for _, cell := range paper.Tables6And7() {
		key := cell.Model + " " + cell.Column.Cell + " " + cell.Column.Metric
		if want := fmt.Sprintf("%.1f ± %.1f", cell.Mean, cell.SD); printed[key] != want {
			t.Errorf("%s: %q, want %q", key, printed[key], want)
		}
	}
	if got := printed["UniToolCall MT SP"]; got != "n/a" {
		t.Errorf("a cell that no run has is %q, want n/a", got)
	}
	col := s.Groups[0].column(Column{"SP", "SH"})
	if got := *col.Half / *col.SD; got < 2.48 || got > 2.49 {
		t.Errorf("half-width is %v SD, want 2.484", got)
	}
	if got := *col.SDHigh / *col.SD; got < 6.28 || got > 6.29 {
		t.Errorf("the SD's upper bound is %v SD, want 6.285", got)
	}
}

func TestRunsThatAreNoRepeatsAreRefused(t *testing.T) {
	tests := []struct {
		name    string
		change  func(r *Run)
		refusal bool
		want    string
	}{
		{"the same predictions twice", func(r *Run) { r.Predictions = testRuns()[0].Predictions }, true, "have the same prediction hash"},
		{"other candidates", func(r *Run) { r.Candidates = "other" }, true, "candidate hashes differ"},
		{"fewer items", func(r *Run) { r.Items = r.Items[1:] }, true, "item sets differ"},
		{"no items and other sizes", func(r *Run) { r.Items, r.Scores.Cells.SH.N = nil, 7 }, true, "lacks 1"},
		{"another preset", func(r *Run) { r.Scores.Preset = "strict" }, false, `"strict": want one preset`},
		{"another way to match conversations", func(r *Run) { r.Scores.Aligned = true }, false, `"paper, aligned": want one preset`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := testRuns()
			tt.change(&runs[1])
			_, errTable := Table1(runs, Options{})
			_, errSummary := Summarize(runs, Options{})
			for _, err := range []error{errTable, errSummary} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want one with %q", err, tt.want)
				}
				if _, ok := errors.AsType[*stats.Refusal](err); ok != tt.refusal {
					t.Errorf("error %v: refusal %v, want %v", err, ok, tt.refusal)
				}
			}
		})
	}
	if _, err := Summarize(nil, Options{}); err == nil {
		t.Error("no runs are accepted")
	}
	if _, err := Rank(nil, Options{}); err == nil {
		t.Error("no runs are ranked")
	}
	if _, err := Rank(testRuns(), Options{Level: 95}); err == nil || err.Error() != "level 95: want a number between 0 and 1, such as 0.95" {
		t.Errorf("level 95: error %v", err)
	}
	if _, err := Summarize(testRuns(), Options{Resamples: -1}); err == nil {
		t.Error("a negative number of resamples is accepted")
	}
	surplus := testRuns()
	surplus[1].Items = append(surplus[1].Items, eval.Item{ID: "r00", Turn: 9, Cell: eval.CellSurplus})
	if _, err := Summarize(surplus, Options{Resamples: 10}); err != nil {
		t.Errorf("a surplus turn, which the model makes, changes the item set: %v", err)
	}
}

// The order of runs, of items and the number of workers change nothing.
func TestReportsAreDeterministic(t *testing.T) {
	write := func(runs []Run, workers int) string {
		opt := Options{Resamples: 200, Workers: workers, Seed: 1}
		s, err := Summarize(runs, opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Rank(runs, opt)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, f := range []func(io.Writer) error{s.Markdown, s.JSON, r.Markdown, r.JSON} {
			if err := f(&b); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	want := write(testRuns(), 1)
	g := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		runs := testRuns()
		for i := range runs {
			g.Shuffle(len(runs[i].Items), reflect.Swapper(runs[i].Items))
		}
		g.Shuffle(3, reflect.Swapper(runs)) // the seeds of one model
		if diff := cmp.Diff(want, write(runs, 2)); diff != "" {
			t.Fatalf("another order of input changes the output:\n%s", diff)
		}
	}
}

func TestItemsThatDoNotFitTheScoresGiveNoIntervals(t *testing.T) {
	r := testRun("m", "gt", "1", 0.9)
	r.Items[0].Score.SP = 1 - r.Items[0].Score.SP
	s, err := Summarize([]Run{r}, Options{Resamples: 10})
	if err != nil {
		t.Fatal(err)
	}
	run := s.Groups[0].Runs[0]
	if run.Columns[0].BCa != nil || len(run.Warnings) == 0 || !strings.Contains(run.Warnings[0], "do not fit the scores") {
		t.Errorf("column %+v, warnings %q", run.Columns[0], run.Warnings)
	}
}

// Wilson is for independent instances: conversations, but not turns of
// conversations with more than one.
func TestWilsonOnlyWhereInstancesAreIndependent(t *testing.T) {
	s, err := Summarize([]Run{testRun("m", "gt", "1", 0.9)}, Options{Resamples: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Groups[0].Runs[0].Columns {
		want := c.Metric == "SP" && c.Records == c.Instances
		if (c.Wilson != nil) != want {
			t.Errorf("%v: Wilson %v with %d instances of %d records", c.Column, c.Wilson, c.Instances, c.Records)
		}
	}
}

func TestRankAcrossSeedsAndPresets(t *testing.T) {
	var runs []Run
	for i, model := range []string{"a", "b", "c", "d", "e"} {
		for _, seed := range []string{"1", "2"} {
			r := testRun(model, "hybrid", seed, 0.3+0.1*float64(i)+map[string]float64{"1": 0, "2": 0.02}[seed])
			runs = append(runs, r)
			r.Scores.Preset = "strict"
			runs = append(runs, r)
		}
	}
	r, err := Rank(runs, Options{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, a := range r.Agreement {
		kinds[a.Between]++
		if a.Models != 5 {
			t.Errorf("%+v correlates %d models, want 5", a, a.Models)
		}
		// Both presets have the same numbers here.
		if a.Between == "preset" && (a.Rho == nil || *a.Rho != 1 || *a.Tau != 1) {
			t.Errorf("%+v: want perfect agreement", a)
		}
	}
	// 2 presets × 4 cells × 7 pairs; 20 columns; 20 columns × 2 presets.
	if want := map[string]int{"metric": 56, "preset": 20, "seed": 40}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("agreements %v, want %v", kinds, want)
	}
	if len(r.Notes) != 0 {
		t.Errorf("notes %q about five models", r.Notes)
	}
	for _, o := range r.Orders {
		for i, m := range o.Models {
			if (m.AboveNext == nil) != (i == len(o.Models)-1) {
				t.Errorf("%v: model %s has P above next %v", o.Column, m.Model, m.AboveNext)
			}
		}
	}
}

// JSON holds what Markdown shows, in fractions, and no NaN.
func TestJSONIsReadBack(t *testing.T) {
	s, err := Summarize(testRuns(), Options{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Errorf("read back differs:\n%s", diff)
	}
}

// Coverage precedes every score: where answers are missing, each report says
// so and what they could change.
func TestMissingAnswersAreBoundedEverywhere(t *testing.T) {
	runs := testRuns()
	full := runs[1].Scores.Cells
	low, high := full, full
	wrong, right := 0.5, 1.0
	low.SH.SP, high.SH.SP = &wrong, &right
	runs[1].Scores.Coverage.Missing = 4
	runs[1].Scores.Cells, runs[1].Scores.Bounds = low, &eval.Bounds{Low: low, High: high}

	s, err := Summarize(runs, Options{Resamples: 10})
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, g := range s.Groups {
		if g.Bounds == nil {
			continue
		}
		bounded++
		// The other two runs are complete and count on both sides.
		others := *runs[0].Scores.Cells.SH.SP + *runs[2].Scores.Cells.SH.SP
		if got, want := *g.Bounds.Low.SH.SP, (others+0.5)/3; math.Abs(got-want) > 1e-12 {
			t.Errorf("low bound %v, want %v", got, want)
		}
		if got, want := *g.Bounds.High.SH.SP, (others+1)/3; math.Abs(got-want) > 1e-12 {
			t.Errorf("high bound %v, want %v", got, want)
		}
	}
	if bounded != 1 {
		t.Errorf("%d groups have bounds, want the one with a missing case", bounded)
	}
	r, err := Rank(runs, Options{Resamples: 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{"summary": s.Markdown, "ranking": r.Markdown} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "4 of 90 cases have no answer and count as wrong") {
			t.Errorf("the %s does not tell of missing answers:\n%s", name, b.String())
		}
		if name == "summary" && !strings.Contains(b.String(), "Means with missing cases wrong and right:") {
			t.Errorf("the summary has no bounds:\n%s", b.String())
		}
	}
}

func TestModelsAskedDifferentThingsAreTold(t *testing.T) {
	runs := func(change func(r *Run)) []Run {
		list := testRuns()
		for i := range list {
			list[i].Data, list[i].Candidates = "d", "lists of "+list[i].Setting
			if list[i].Model == "base_8b" && list[i].Setting == "hybrid" {
				change(&list[i])
			}
		}
		return list
	}
	const records, lists = "Hybrid-20, base_8b was asked other records than GT, ", "Hybrid-20, base_8b chose from other candidate lists than Hybrid-20, "
	tests := []struct {
		name      string
		change    func(r *Run)
		want, not string
	}{
		{"all alike", func(*Run) {}, "", "do not compare"},
		{"unknown hashes agree with any", func(r *Run) { r.Data, r.Candidates = "", "" }, "", "do not compare"},
		{"other records", func(r *Run) { r.Data, r.Candidates = "e", "x" }, records, lists},
		{"other lists", func(r *Run) { r.Candidates = "x" }, lists, records},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := runs(tt.change)
			c, err1 := Table1(list, Options{})
			s, err2 := Summarize(list, Options{Resamples: 10})
			r, err3 := Rank(list, Options{Resamples: 10})
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			for name, notes := range map[string][]string{"table": c.Notes, "summary": s.notes(allCells), "ranking": r.Notes} {
				text := strings.Join(notes, "\n")
				if !strings.Contains(text, tt.want) || strings.Contains(text, tt.not) {
					t.Errorf("notes of the %s:\n%s\nwant %q and not %q", name, text, tt.want, tt.not)
				}
			}
		})
	}
}
