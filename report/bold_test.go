package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/stats"
)

// boldRun is one run whose single-turn conversations are right as the text
// says: one letter an item, + is right.
func boldRun(model, seed, right string) Run {
	r := Run{Name: model + seed, Model: model, Setting: "hybrid", Seed: seed, Data: "d", Candidates: "c", Predictions: model + seed}
	r.Scores.Preset = "paper"
	sum := 0.0
	for i, c := range right {
		s := match.Score{}
		if c == '+' {
			s = match.Score{SP: 1, FP: 1, SPA: 1, FPA: 1}
		}
		sum += s.SP
		r.Items = append(r.Items, eval.Item{ID: fmt.Sprintf("r%02d", i), Turn: -1, Cell: "ST", Score: s})
	}
	n := float64(len(right))
	r.Scores.Cells.ST = eval.Cell{N: len(right), SP: known(sum / n), FP: known(sum / n), SPA: known(sum / n), FPA: known(sum / n)}
	return r
}

// boldOf returns the marks of column SP ST by model: "a B, b S".
func boldOf(t *testing.T, runs []Run, opt Options) (marks string, b *Bolding) {
	t.Helper()
	c, err := Table1(runs, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range c.Rows {
		if m := c.Bolding.mark(r.Setting, r.Model, Column{"SP", "ST"}); m != Plain {
			out = append(out, r.Model+" "+[...]string{"", "B", "S"}[m])
		}
	}
	return strings.Join(out, ", "), c.Bolding
}

func TestBoldWantsThePairedTest(t *testing.T) {
	all, none := strings.Repeat("+", 24), strings.Repeat("-", 24)
	for _, row := range []struct {
		name, want, why string
		family          int
		runs            []Run
	}{
		// 24 against 12 of 24: p = 2/2^12 = 0.0005, times 4 columns.
		{"a difference that is no chance", "a B, b S", "", 4, []Run{boldRun("a", "1", all), boldRun("b", "1", all[:12]+none[:12])}},
		// 24 against 19: p = 2/2^5 = 0.0625.
		{"the best may be so by chance", "b S", whyChance, 4, []Run{boldRun("a", "1", all), boldRun("b", "1", all[:19]+none[:5])}},
		// 24 against 17: p = 2/2^7 = 0.0156 alone, and 0.0625 as one of four.
		{"significant alone, and not as one of four columns", "b S", whyChance, 4, []Run{boldRun("a", "1", all), boldRun("b", "1", all[:17]+none[:7])}},
		{
			"the third does not matter", "a B, b S", "", 4,
			[]Run{boldRun("c", "1", none), boldRun("a", "1", all), boldRun("b", "1", all[:12]+none[:12])},
		},
		{
			"a rival that is as good as chance lets it", "b S", whyChance, 4,
			[]Run{boldRun("a", "1", all), boldRun("b", "1", all[:22]+none[:2]), boldRun("c", "1", none)},
		},
		{"a shared first place", "", whyTie, 0, []Run{boldRun("a", "1", all), boldRun("b", "1", all), boldRun("c", "1", none)}},
		{"no items", "b S", whyItemsGone, 0, []Run{boldRun("a", "1", all), withoutItems(boldRun("b", "1", none))}},
		{"other items", "b S", whyUnpaired, 0, []Run{boldRun("a", "1", all), boldRun("b", "1", none[:20])}},
		{"other data", "b S", whyUnpaired, 0, []Run{boldRun("a", "1", all), withData(boldRun("b", "1", none))}},
		{"items of an older scoring", "b S", whyStale, 0, []Run{boldRun("a", "1", all), withScore(boldRun("b", "1", none), .5)}},
		{"one model", "", "", 0, []Run{boldRun("a", "1", all)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, b := boldOf(t, row.runs, Options{Bold: BoldPaired, Resamples: 200})
			if got != row.want || b.Family != row.family {
				t.Errorf("marks %q of a family of %d, want %q of %d", got, b.Family, row.want, row.family)
			}
			for _, c := range b.Contests {
				if c.Column == (Column{"SP", "ST"}) && (c.Why != row.why || c.Bold != (row.why == "")) {
					t.Errorf("%+v: want the reason %q", c, row.why)
				}
			}
			if plain, _ := boldOf(t, row.runs, Options{Bold: BoldBest}); len(row.runs) > 1 && row.why != whyTie && !strings.Contains(plain, "a B") {
				t.Errorf("the plain habit marks %q", plain)
			}
			if off, b := boldOf(t, row.runs, Options{}); off != "" || b != nil {
				t.Errorf("without a rule %q is marked", off)
			}
		})
	}
}

func withoutItems(r Run) Run { r.Items = nil; return r }
func withData(r Run) Run     { r.Data = "other"; return r }

func withScore(r Run, v float64) Run {
	r.Scores.Cells.ST = eval.Cell{N: r.Scores.Cells.ST.N, SP: &v, FP: &v, SPA: &v, FPA: &v}
	return r
}

// The numbers behind the marks are those of a comparison of the two models,
// and Holm's steps by hand decide.
func TestBoldAgreesWithCompare(t *testing.T) {
	a, b := sides()
	weak := testRun("floor", "hybrid", "1", 0)
	opt := Options{Bold: BoldPaired, Resamples: 400, Seed: 7}
	c, err := Table1(slices.Concat(a, []Run{weak}, b), opt)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compare(a, b, PairOptions{Options: opt, Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	var ps []float64
	for _, k := range c.Bolding.Contests {
		col, ok := p.Column(k.Column)
		if !ok || !slices.Equal(k.Best, []string{a[0].Model}) || !slices.Equal(k.Second, []string{"base_8b"}) {
			t.Fatalf("%+v: want the first side against the second", k)
		}
		if *k.Test.P != *col.Test.P || k.Test.Method != "sign flips" && k.Test.Method != "sign flips exact" {
			t.Errorf("%v: %+v, compared %+v", k.Column, *k.Test, col.Test)
		}
		ps = append(ps, *k.Test.P)
	}
	sorted := slices.Sorted(slices.Values(ps))
	rejected := 0
	for rejected < len(sorted) && sorted[rejected] <= .05/float64(len(sorted)-rejected) {
		rejected++
	}
	bold := 0
	for i, k := range c.Bolding.Contests {
		bold += count(k.Bold)
		if want := rejected > 0 && ps[i] <= sorted[rejected-1]; k.Bold != want {
			t.Errorf("%v with p = %v: bold %v, want %v by Holm's steps", k.Column, ps[i], k.Bold, want)
		}
	}
	if bold == 0 || bold == len(ps) || c.Bolding.Family != 20 {
		t.Errorf("%d of %d are bold in a family of %d: want some of 20", bold, len(ps), c.Bolding.Family)
	}
	if holm := stats.Holm(ps); math.Abs(holm[0]-*c.Bolding.Contests[0].Holm) > 0 {
		t.Errorf("Holm %v, want %v", *c.Bolding.Contests[0].Holm, holm[0])
	}
}

func TestTheLegendSaysTheRule(t *testing.T) {
	all := strings.Repeat("+", 24)
	runs := []Run{boldRun("a", "1", all), boldRun("b", "1", all[:12]+strings.Repeat("-", 12))}
	for bold, want := range map[Bold]string{
		BoldPaired: "significant at 5 % (exact McNemar; Holm over 4 comparisons: all metrics, cells and settings)",
		BoldBest:   "whether or not the difference is more than chance",
	} {
		sum, err := Summarize(runs, Options{Bold: bold, Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Table1(runs, Options{Bold: bold, Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]Sheet{"table1": c.Sheet(), "turn": sum.TurnSheet()} {
			var md, tex bytes.Buffer
			if err := s.Write(&md, "md"); err != nil {
				t.Fatal(err)
			}
			if err := s.Write(&tex, "latex"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(md.String(), want) || !strings.Contains(md.String(), "**100.0") || !strings.Contains(md.String(), "<u>50.0") {
				t.Errorf("%s, %s: the Markdown lacks marks or %q:\n%s", name, bold, want, md.String())
			}
			if !strings.Contains(tex.String(), strings.ReplaceAll(want, "%", `\%`)) || !strings.Contains(tex.String(), `\textbf{100.0`) {
				t.Errorf("%s, %s: the LaTeX lacks marks or %q:\n%s", name, bold, want, tex.String())
			}
		}
	}
	c, err := Table1([]Run{runs[0], withoutItems(runs[1])}, Options{Bold: BoldPaired})
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Sheet().Legend; !strings.Contains(l, "no paired test of the two was possible") {
		t.Errorf("without items the legend is %q", l)
	}
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, whyItemsGone) }) {
		t.Errorf("notes %q do not say why nothing is bold", c.Notes)
	}
	if _, err := Table1(runs, Options{Bold: "boldest"}); err == nil || !strings.Contains(err.Error(), "want paired, best or none") {
		t.Errorf("a rule that is none: %v", err)
	}
}
