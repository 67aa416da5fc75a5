package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/eval"
)

// JSON writes p as one object with every flip, in fractions.
func (p Paired) JSON(w io.Writer) error { return encode(w, p) }

// Text writes p for people: the sides, a line for each column, what several
// trainings say, and the first items that flipped. Values are percent.
func (p Paired) Text(w io.Writer) error { return p.write(w, textDocument) }

// Markdown writes the same as Markdown.
func (p Paired) Markdown(w io.Writer) error { return p.write(w, markdownDocument) }

func (p Paired) write(w io.Writer, doc document) error {
	var b strings.Builder
	level := strconv.FormatFloat(100*p.Level, 'g', 6, 64) + " %"
	b.WriteString(doc.line("A: "+sideLine(p.A)) + "\n" + doc.line("B: "+sideLine(p.B)) + "\n" +
		doc.line("preset "+p.Preset+", percent, A against B by item"))
	sections := []struct {
		title string
		table Table
	}{
		{fmt.Sprintf("Difference for these runs, %s BCa interval over records (%d resamples, seed %d), paired test, corrected for %d tests",
			level, p.Resamples, p.Seed, p.Family), p.columnTable()},
		{"Beyond these runs: " + level + " t interval over trainings, and over trainings and items", p.trainingTable()},
		{"Run by run, by seed", p.blockTable()},
		{fmt.Sprintf("Items by what became of them from B to A (right is %s = 1 in all runs and repeats)", metricLabel(p.FlipMetric)), p.flipTable()},
	}
	for _, s := range sections {
		if len(s.table.Rows) == 0 {
			continue
		}
		b.WriteString("\n" + doc.heading(s.title))
		if err := doc.table(s.table, &b); err != nil {
			return err
		}
	}
	for _, what := range []eval.Change{eval.Lost, eval.Gained, eval.Unstable} {
		p.flipList(&b, what, doc)
	}
	if len(p.Notes) > 0 {
		b.WriteString("\n" + doc.heading("Notes"))
	}
	for _, n := range p.Notes {
		b.WriteString(doc.item(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sideLine(s Side) string {
	seeds := ""
	if len(s.Seeds) > 1 {
		seeds = ", seeds " + strings.Join(s.Seeds, " ")
	}
	return fmt.Sprintf("%s, %d run%s%s; %s", s.Name(), len(s.Runs), plural(len(s.Runs)), seeds, coverageLine(s.Coverage))
}

func (p Paired) columnTable() Table {
	t := Table{Header: []string{"column", "unit", "n", "records", "A", "B", "A - B", "interval", "P(A > B)", "A better", "worse", "test", "p", "Holm", "BH"}, Left: 2}
	for _, c := range p.Columns {
		t.Add(c.Name(), c.Unit, strconv.Itoa(c.Instances), strconv.Itoa(c.Records), percent(c.MeanA), percent(c.MeanB),
			percent(c.Difference), c.BCa.text(), decimals(c.Above, 3), strconv.Itoa(c.Better), strconv.Itoa(c.Worse),
			c.Test.Method, pText(c.Test.P), pText(c.Holm), pText(c.BH))
	}
	return t
}

// trainingTable has a line for each column with several runs on both sides.
func (p Paired) trainingTable() Table {
	t := Table{Header: []string{"column", "runs A", "runs B", "A - B", "trainings", "df", "p", "trainings and items", "df", "p"}, Left: 1}
	for _, c := range p.Columns {
		if c.OverRuns == nil || c.OverBoth == nil || c.OverBoth.T == nil {
			continue
		}
		t.Add(c.Name(), strconv.Itoa(len(p.A.Runs)), strconv.Itoa(len(p.B.Runs)), percent(c.Difference),
			c.OverRuns.T.text(), decimals(c.OverRuns.DF, 1), pText(c.OverRuns.P),
			c.OverBoth.T.text(), decimals(c.OverBoth.DF, 1), pText(c.OverBoth.P))
	}
	return t
}

func (p Paired) blockTable() Table {
	t := Table{Header: []string{"column", "A", "B", "A - B", "A better", "worse", "test", "p"}, Left: 3}
	for _, c := range p.Columns {
		if c.Dataset != "" || c.Better+c.Worse == 0 {
			continue
		}
		for _, b := range c.Blocks {
			t.Add(c.Name(), b.A, b.B, percent(b.Difference), strconv.Itoa(b.Better), strconv.Itoa(b.Worse), b.Test.Method, pText(b.Test.P))
		}
		if s := c.Stratified; s != nil {
			t.Add(c.Name(), "all", "all", percent(c.Difference), "", "", s.Method, pText(s.P))
		}
	}
	return t
}

func (p Paired) flipTable() Table {
	t := Table{Header: []string{"cell", "n", "gained", "lost", "unstable", "kept right", "kept wrong"}, Left: 1}
	for _, c := range p.FlipCounts {
		t.Add(c.Cell, strconv.Itoa(c.N), strconv.Itoa(c.Gained), strconv.Itoa(c.Lost), strconv.Itoa(c.Unstable), strconv.Itoa(c.KeptRight), strconv.Itoa(c.KeptWrong))
	}
	return t
}

// flipList lists the first turns of a change; JSON has all.
func (p Paired) flipList(b *strings.Builder, what eval.Change, doc document) {
	n := 0
	for _, f := range p.Flips {
		if f.Change != what || f.Turn < 0 {
			continue
		}
		if n++; n > shownItems {
			continue
		}
		if n == 1 {
			b.WriteString("\n" + doc.heading(string(what)))
		}
		b.WriteString(doc.item(fmt.Sprintf("%s, turn %d: A right in %d of %d, B in %d of %d", f.ID, f.Turn, f.A.Right, f.A.Asked, f.B.Right, f.B.Asked)))
	}
	if n > shownItems {
		b.WriteString(doc.item(fmt.Sprintf("and %d more turns; JSON lists them all", n-shownItems)))
	}
}

// pText returns a p-value with four decimals, and does not round it to 0.
func pText(p *float64) string {
	if p != nil && *p < 0.00005 {
		return "< 0.0001"
	}
	return decimals(p, 4)
}
