package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
	"assay/report"
)

// written returns a sheet in one form.
func written(t *testing.T, s report.Sheet, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shareRun is a run with four serial turns that all fail and eight parallel
// ones that all hold, as their ids say.
func shareRun(wrong ...string) report.Run {
	r := report.Run{Name: "m", Model: "m", Setting: "gt", Predictions: "m"}
	r.Scores = eval.Scores{Preset: "paper", Datasets: map[string]eval.Cells{}}
	for i := range 12 {
		id, score := fmt.Sprintf("parallel%d", i), match.Score{SP: 1, FP: 1, SPA: 1, FPA: 1, FPAArg: 1}
		if i < 4 {
			id, score = fmt.Sprintf("serial%d", i), match.Score{FP: 0.5}
		}
		for _, w := range wrong {
			if strings.HasPrefix(id, w) {
				score = match.Score{}
			}
		}
		r.Items = append(r.Items, eval.Item{ID: id, Dataset: "bfcl", Cell: eval.CellMH, Gold: 2, Pred: 2, Score: score})
	}
	return r
}

func strategyOf(id string, _ int) qaoa.Strategy {
	if strings.HasPrefix(id, "serial") {
		return qaoa.Serial
	}
	return qaoa.Parallel
}

// TestParallelShare compares the sampled means with the closed form: with
// strata of one score each, every draw has it exactly.
func TestParallelShare(t *testing.T) {
	s, err := report.ParallelShare([]report.Run{shareRun()}, strategyOf, report.ShareOptions{Samples: 5})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Points []report.SharePoint `json:"points"`
	}
	if err := json.Unmarshal([]byte(written(t, s, "json")), &got); err != nil {
		t.Fatal(err)
	}
	sizes := map[int][2]int{0: {4, 0}, 1: {4, 4}, 2: {4, 8}, 3: {2, 6}, 4: {2, 8}, 5: {1, 5}, 6: {1, 6}, 7: {1, 7}, 8: {1, 8}}
	if len(got.Points) != len(sizes) {
		t.Fatalf("%d points, want %d", len(got.Points), len(sizes))
	}
	for _, p := range got.Points {
		share := float64(p.Ratio) / float64(1+p.Ratio)
		if math.Abs(p.Mean["SPA"]-share) > 1e-12 || math.Abs(p.Mean["FP"]-(0.5+0.5*share)) > 1e-12 || p.SD["SPA"] > 1e-12 {
			t.Errorf("1:%d: SPA %v ± %v, FP %v; want SPA %v and FP %v", p.Ratio, p.Mean["SPA"], p.SD["SPA"], p.Mean["FP"], share, 0.5+0.5*share)
		}
		if [2]int{p.Serial, p.Parallel} != sizes[p.Ratio] {
			t.Errorf("1:%d draws %d and %d turns, want %v", p.Ratio, p.Serial, p.Parallel, sizes[p.Ratio])
		}
	}
}

// TestParallelShareApproachesTheClosedForm has scores that differ within a
// stratum.
func TestParallelShareApproachesTheClosedForm(t *testing.T) {
	run := shareRun("parallel4", "parallel5")
	s, err := report.ParallelShare([]report.Run{run}, strategyOf, report.ShareOptions{Samples: 4000, Seed: 3, Ratios: []int{3}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Points []report.SharePoint `json:"points"`
	}
	if err := json.Unmarshal([]byte(written(t, s, "json")), &got); err != nil {
		t.Fatal(err)
	}
	p := got.Points[0]
	want := (0 + 3*6.0/8) / 4
	if se := p.SD["SPA"] / math.Sqrt(4000); p.SD["SPA"] == 0 || math.Abs(p.Mean["SPA"]-want) > 5*se {
		t.Errorf("SPA %v ± %v, want %v within Monte Carlo error", p.Mean["SPA"], p.SD["SPA"], want)
	}
	again, err := report.ParallelShare([]report.Run{run}, strategyOf, report.ShareOptions{Samples: 4000, Seed: 3, Ratios: []int{3}})
	if err != nil || written(t, again, "json") != written(t, s, "json") {
		t.Errorf("the same seed gives other draws (%v)", err)
	}
}

func TestParallelShareRefuses(t *testing.T) {
	serial := func(string, int) qaoa.Strategy { return qaoa.Serial }
	if _, err := report.ParallelShare([]report.Run{shareRun()}, serial, report.ShareOptions{}); err == nil || !strings.Contains(err.Error(), "12 serial and 0 parallel") {
		t.Errorf("without a parallel turn: %v", err)
	}
	if _, err := report.ParallelShare([]report.Run{shareRun()}, strategyOf, report.ShareOptions{Ratios: []int{-1}}); err == nil {
		t.Error("a ratio of 1:-1 is taken")
	}
}

// TestFiguresOfManyModels has more models than one chart can tell apart.
func TestFiguresOfManyModels(t *testing.T) {
	var runs []report.Run
	for i := range 8 {
		r := shareRun()
		r.Name, r.Model, r.Predictions = fmt.Sprint("m", i), fmt.Sprint("m", i), fmt.Sprint(i)
		r.Scores.Cells, r.Scores.Datasets = cellsOf(0.5), map[string]eval.Cells{"bfcl": cellsOf(float64(i) / 8)}
		runs = append(runs, r)
	}
	share, err := report.ParallelShare(runs, strategyOf, report.ShareOptions{Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	byDataset, err := report.ByDataset(runs)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]report.Sheet{"figure5": share, "figure4": byDataset} {
		doc := strings.ToLower(written(t, s, "svg"))
		for _, want := range []string{"models 1 to 4 of 8", "models 5 to 8 of 8", ">m0, gt<", ">m7, gt<"} {
			if !strings.Contains(doc, want) {
				t.Errorf("%s does not show %q", name, want)
			}
		}
	}
	if doc := written(t, byDataset, "svg"); !strings.Contains(doc, "SP SH, m7, GT: 87.50 (87.5)") {
		t.Error("the last model of the second block has not its own values")
	}
}

// TestParallelShareFigure looks for the points of the lines.
func TestParallelShareFigure(t *testing.T) {
	half := func(id string, turn int) qaoa.Strategy { // two serial turns that fail, two that hold
		if id == "parallel4" || id == "parallel5" || id == "serial0" || id == "serial1" {
			return qaoa.Serial
		}
		if strings.HasPrefix(id, "serial") {
			return ""
		}
		return qaoa.Parallel
	}
	for _, test := range []struct {
		name     string
		strategy func(string, int) qaoa.Strategy
		want     []string
	}{
		{"strata of one score have no whiskers", strategyOf, []string{"<title>m, GT, 1 : 0: 0</title>", "<title>m, GT, 1 : 3: 75</title>", ">67 %<"}},
		{"others have", half, []string{"<title>m, GT, 1 : 0: 50</title>", "<title>m, GT, 1 : 2: 83.", `class="line l0 thin"`}},
	} {
		s, err := report.ParallelShare([]report.Run{shareRun()}, test.strategy, report.ShareOptions{Samples: 50, Ratios: []int{0, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		doc := written(t, s, "svg")
		for _, want := range test.want {
			if !strings.Contains(doc, want) {
				t.Errorf("%s: want %s in\n%s", test.name, want, doc)
			}
		}
	}
}

func cellsOf(v float64) eval.Cells {
	c := eval.Cell{N: 10, SP: new(v), FP: new(v), SPA: new(v), FPA: new(v)}
	return eval.Cells{SH: c, MH: c, ST: c}
}

// hostileRuns have names that would be markup, formulas or commands.
func hostileRuns() []report.Run {
	var runs []report.Run
	for i, name := range []string{`=HYPERLINK("x")`, `a_b & 50% \input{x} $x$ #1 {~^}`} {
		runs = append(runs, report.Run{Name: name, Model: name, Setting: "gt", Predictions: name, Scores: eval.Scores{
			Preset: "paper", Cells: cellsOf(float64(i+1) / 4), Datasets: map[string]eval.Cells{"bfcl": cellsOf(0.5), "|x|<b>": cellsOf(0.25)},
		}})
	}
	return runs
}

func TestSheetForms(t *testing.T) {
	c, err := report.Table1(hostileRuns(), report.Options{Bold: report.BoldBest})
	if err != nil {
		t.Fatal(err)
	}
	byDataset, err := report.ByDataset(hostileRuns())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]report.Sheet{"table1": c.Sheet(), "figure4": byDataset} {
		grid, err := csv.NewReader(strings.NewReader(written(t, s, "csv"))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := grid[1]; strings.HasPrefix(got[1], "=") || strings.HasPrefix(got[2], "=") {
			t.Errorf("%s: the CSV begins a cell with a formula: %q", name, got)
		}
		if !json.Valid([]byte(written(t, s, "json"))) {
			t.Errorf("%s: the JSON is none", name)
		}
		dec := xml.NewDecoder(strings.NewReader(written(t, s, "svg")))
		for {
			if _, err := dec.Token(); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: the SVG is no XML: %v", name, err)
				}
				break
			}
		}
		tex := written(t, s, "latex")
		for _, want := range []string{`\toprule`, `\midrule`, `\bottomrule`, `a\_b \& 50\% \textbackslash{}input\{x\} \$x\$ \#1 \{\textasciitilde{}\textasciicircum{}\}`} {
			if !strings.Contains(tex, want) {
				t.Errorf("%s: the LaTeX lacks %s:\n%s", name, want, tex)
			}
		}
		if err := s.Write(&bytes.Buffer{}, "pdf"); err == nil {
			t.Errorf("%s: a form that does not exist is taken", name)
		}
	}
	if tex := written(t, c.Sheet(), "latex"); !strings.Contains(tex, `\textbf{50.0}`) || !strings.Contains(tex, `\underline{25.0}`) {
		t.Errorf("the best value is not bold, or the second not underlined:\n%s", tex)
	}
}

func TestHopAndTurnSheets(t *testing.T) {
	var runs []report.Run
	for i := range 3 {
		runs = append(runs, report.Run{
			Name: fmt.Sprint(i), Model: "m", Setting: "hybrid", Seed: fmt.Sprint(i), Predictions: fmt.Sprint(i),
			Scores: eval.Scores{Preset: "paper", Cells: cellsOf(0.5 + 0.01*float64(i))},
		})
	}
	sum, err := report.Summarize(runs, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, sum.HopSheet(), "csv"); !strings.Contains(got, "Hybrid-20,m,3,51.0 ± 1.0") {
		t.Errorf("hop level: want 51.0 ± 1.0 in\n%s", got)
	}
	if got := written(t, sum.TurnSheet(), "latex"); !strings.Contains(got, `51.0 $\pm$ 1.0`) {
		t.Errorf("turn level: want a plus-minus in\n%s", got)
	}
}

func TestJUnit(t *testing.T) {
	wrong := match.Pair{Verdict: match.Verdict{Rule: match.RuleValue, Why: "/city: \"Oslo\" is not \"Rome\"\x1b[31m"}}
	s := report.Suite{Name: "score <paper>", Cases: []report.Case{
		report.ItemCase(eval.Item{ID: "x/1", Dataset: "x", Cell: "SH", Score: match.Score{SPA: 1}}),
		report.ItemCase(eval.Item{ID: "x/2", Dataset: "x", Cell: "SH", Turn: 1, Repeat: 2, Gold: 1, Pred: 1, Pairs: []match.Pair{wrong}}),
		report.ItemCase(eval.Item{ID: "x/3", Dataset: "x", Cell: "ST", Turn: -1, Missing: true}),
	}}
	var b bytes.Buffer
	if err := s.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Class   string `xml:"classname,attr"`
			Name    string `xml:"name,attr"`
			Failure *struct {
				Type    string `xml:"type,attr"`
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	if got.Tests != 3 || got.Failures != 2 || got.Cases[0].Failure != nil {
		t.Errorf("%d tests, %d failures; want 3 and 2:\n%s", got.Tests, got.Failures, &b)
	}
	if c := got.Cases[1]; c.Name != "x/2 turn 1 repeat 2" || c.Class != "x.SH" || c.Failure.Type != "value" || strings.Contains(c.Failure.Message, "\x1b") {
		t.Errorf("the wrong case is %+v %+v", c, c.Failure)
	}
	if c := got.Cases[2]; c.Failure.Type != "missing" {
		t.Errorf("the missing case is %+v", c.Failure)
	}
}

func TestGateSuiteFailsWhatIsNotGo(t *testing.T) {
	g := report.GateResult{Checks: []report.GateCheck{{Verdict: report.Go}, {Verdict: report.NoGo, Why: "worse"}, {Verdict: report.Inconclusive}}}
	var failed []string
	for _, c := range g.Suite().Cases {
		failed = append(failed, c.Failure)
	}
	if got := strings.Join(failed, ","); got != ",NO-GO,INCONCLUSIVE" {
		t.Errorf("failures %q, want those that are not GO", got)
	}
}
