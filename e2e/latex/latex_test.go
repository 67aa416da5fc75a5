//go:build e2e

package latex

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
	"assay/report"
)

// A name is what somebody called a model, and the lines that a reader of the
// page finds.
type name struct {
	model string
	lines []string
}

var long = strings.Repeat("very-long-name-", 6)

var names = []name{
	{"plain-7b", []string{"plain-7b"}},
	{`a_b & 50% \input{x} $x$ #1 {~^}`, []string{`a_b & 50% \input{x} $x$ #1 {~^}`}},
	{`*"q" 'p' |b| <i> a--b a---b [z] x,,y`, []string{`*"q" 'p' |b| <i> a--b a---b [z] x,,y`}},
	{`[2pt] \end{tabular} \newpage`, []string{`[2pt] \end{tabular} \newpage`}},
	{"Łódź ÿ ñ ß “q” – —", []string{"Łódź ÿ ñ ß “q” – —"}},
	{"通义千问-7B", []string{"[U+901A 4E49 5343 95EE]-7B"}},
	{"نموذج", []string{"[U+0646 0645 0648 0630 062C]"}},
	{"rocket 🚀 \u202e\x1b", []string{"rocket [U+1F680] ??"}},
	{long, []string{"very-long-name-very-long-name-very-", "long-name-very-long-name-very-long-", "name-very-long-name-"}},
}

func runOf(i int, model string) report.Run {
	cell := func(v float64) eval.Cell {
		return eval.Cell{N: 12, SP: new(v), FP: new(v), SPA: new(v / 2), FPA: new(v)}
	}
	r := report.Run{Name: fmt.Sprint("run", i), Model: model, Setting: "gt", Predictions: fmt.Sprint(i)}
	cells := eval.Cells{SH: cell(0.5), MH: cell(0.25), ST: cell(0.5), MT: cell(float64(i) / 16)}
	r.Scores = eval.Scores{Preset: "paper", Cells: cells, Datasets: map[string]eval.Cells{"bfcl_v3": cells, `\data_set{%`: cells}}
	for k := range 12 {
		score := match.Score{FP: 0.5}
		if k > 3 {
			score = match.Score{SP: 1, FP: 1, SPA: 1, FPA: 1}
		}
		r.Items = append(r.Items, eval.Item{ID: fmt.Sprint(k), Dataset: `\data_set{%`, Cell: eval.CellMH, Gold: 2, Pred: 2, Score: score})
	}
	return r
}

// sheets returns every sheet that "report --table" writes, named as there.
func sheets(t *testing.T) map[string]report.Sheet {
	t.Helper()
	var runs []report.Run
	for i, n := range names {
		runs = append(runs, runOf(i, n.model))
	}
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	table1, err := report.Table1(runs, report.Options{Bold: report.BoldBest})
	fatal(err)
	sum, err := report.Summarize(runs, report.Options{})
	fatal(err)
	figure4, err := report.ByDataset(runs)
	fatal(err)
	strategy := func(id string, _ int) qaoa.Strategy {
		if len(id) == 1 && id[0] < '4' {
			return qaoa.Serial
		}
		return qaoa.Parallel
	}
	figure5, err := report.ParallelShare(runs, strategy, report.ShareOptions{Samples: 5, Ratios: []int{0, 2}, Dataset: `\data_set{%`})
	fatal(err)
	return map[string]report.Sheet{"table1": table1.Sheet(), "table6": sum.HopSheet(), "table7": sum.TurnSheet(), "figure4": figure4, "figure5": figure5}
}

// set runs pdflatex twice, for the list of tables, and returns the log and the
// text of the pages.
func set(t *testing.T, class, body string) (log, text string) {
	t.Helper()
	dir := t.TempDir()
	doc := "\\documentclass" + class + "\n\\usepackage{cmap}\n" +
		"\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\usepackage[T1]{fontenc}\n\\usepackage{textcomp}\n" +
		"\\begin{document}\n\\listoftables\n" + body + "\\end{document}\n"
	if err := os.WriteFile(filepath.Join(dir, "doc.tex"), []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for range 2 {
		cmd := exec.CommandContext(ctx, "pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "doc.tex")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("pdflatex: %v\n%s\n%s", err, out[max(0, len(out)-3000):], body)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, "doc.log"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := exec.CommandContext(ctx, "pdftotext", "-layout", "-enc", "UTF-8", filepath.Join(dir, "doc.pdf"), "-").Output()
	if err != nil {
		t.Fatalf("pdftotext: %v", err)
	}
	if keep := os.Getenv("ASSAY_E2E_PAGES"); keep != "" {
		pdf, err := os.ReadFile(filepath.Join(dir, "doc.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(keep, filepath.Base(t.Name())+".pdf"), pdf, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return string(written), string(pages)
}

// squeeze drops blanks: how many a page has between letters is a matter of taste.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func TestTables(t *testing.T) {
	if os.Getenv("ASSAY_E2E_LATEX") != "on" {
		t.Skip("no pdflatex is said to be there; run e2e/latex/run.sh, which installs it")
	}
	for what, s := range sheets(t) {
		for _, class := range []string{"[onecolumn]{article}", "[twocolumn]{article}"} {
			t.Run(what+" "+class[1:10], func(t *testing.T) {
				t.Parallel()
				var b bytes.Buffer
				if err := s.Write(&b, "latex"); err != nil {
					t.Fatal(err)
				}
				log, text := set(t, class, b.String())
				for _, bad := range []string{"Missing character", "Overfull \\hbox", "undefined", "LaTeX Warning: Float too large"} {
					if i := strings.Index(log, bad); i >= 0 {
						t.Errorf("the log says: %s", log[i:min(len(log), i+200)])
					}
				}
				text = squeeze(text)
				for _, n := range names {
					for _, line := range n.lines {
						if !strings.Contains(text, squeeze(line)) {
							t.Errorf("the page does not show %q of %q:\n%s", line, n.model, text)
						}
					}
				}
			})
		}
	}
}
