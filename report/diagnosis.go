package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/eval"
)

// DiagnosisText writes a diagnosis for people: coverage and scores, the errors
// by cell, what is no error of a single call apart, the errors of each data
// set, scores by trait, and examples. Shares are percent of the lines.
func DiagnosisText(w io.Writer, d eval.Diagnosis) error { return diagnosis(w, d, textDocument) }

// DiagnosisMarkdown writes the same as Markdown.
func DiagnosisMarkdown(w io.Writer, d eval.Diagnosis) error { return diagnosis(w, d, markdownDocument) }

// DiagnosisJSON writes d as one object, in fractions.
func DiagnosisJSON(w io.Writer, d eval.Diagnosis) error { return encode(w, d) }

// A document is how headings, paragraphs, tables and list items are written.
type document struct {
	heading func(string) string
	line    func(string) string
	item    func(string) string
	table   func(Table, io.Writer) error
}

var (
	textDocument = document{
		heading: func(s string) string { return cleanLine(s) + "\n\n" },
		line:    func(s string) string { return cleanLine(s) + "\n" },
		item:    func(s string) string { return "  " + cleanLine(s) + "\n" },
		table:   Table.Text,
	}
	markdownDocument = document{
		heading: func(s string) string { return "### " + Escape(s) + "\n\n" },
		line:    func(s string) string { return Escape(s) + "\n" },
		item:    func(s string) string { return "- " + Escape(s) + "\n" },
		table:   Table.Markdown,
	}
)

func diagnosis(w io.Writer, d eval.Diagnosis, doc document) error {
	var b strings.Builder
	b.WriteString(doc.line("preset "+presetLabel(d.Scores)) + "\n" + doc.line(coverageLine(d.Scores.Coverage)))
	b.WriteString("\n" + doc.heading("Errors by cell"))
	if err := doc.table(errorTable(&d.All), &b); err != nil {
		return err
	}
	b.WriteString("\n" + doc.line("A line is a gold call with the predicted call it is compared with, or one of them alone; percent is of the lines. "+
		"Instances that abstained, that are malformed (no call parsed) or that have no prediction are counted apart: their calls are in no line. "+
		"SH, MH, no_gold and surplus count turns, ST and MT the same calls by conversation."))
	if err := datasetErrors(&b, d, doc); err != nil {
		return err
	}
	if err := breakdownTables(&b, d, doc); err != nil {
		return err
	}
	if len(d.Examples) > 0 {
		b.WriteString("\n" + doc.heading("Examples"))
		for _, e := range examplesByClass(d.Examples) {
			b.WriteString(doc.item(exampleLine(e)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// errorTable has a row for each class and for what is apart, and columns for
// each cell that holds an instance.
func errorTable(cells *eval.ErrorCells) Table {
	t := Table{Header: []string{""}, Left: 1}
	var used []*eval.ErrorTable
	for _, name := range eval.ErrorCellNames() {
		if c := cells.Cell(name); c.N > 0 {
			used = append(used, c)
			t.Header = append(t.Header, name, "%")
		}
	}
	row := func(title string, of func(*eval.ErrorTable) (n int, share string)) {
		line := []string{title}
		empty := true
		for _, c := range used {
			n, share := of(c)
			empty = empty && n == 0
			line = append(line, strconv.Itoa(n), share)
		}
		if !empty {
			t.Add(line...)
		}
	}
	row("instances", func(c *eval.ErrorTable) (int, string) { return c.N, "" })
	for _, apart := range []struct {
		title string
		n     func(*eval.ErrorTable) int
	}{
		{"abstained", func(c *eval.ErrorTable) int { return c.Abstained }},
		{"malformed", func(c *eval.ErrorTable) int { return c.Malformed }},
		{"no prediction", func(c *eval.ErrorTable) int { return c.Missing }},
	} {
		row("  "+apart.title, func(c *eval.ErrorTable) (int, string) { return apart.n(c), "" })
	}
	row("lines", func(c *eval.ErrorTable) (int, string) { return c.Lines, "" })
	row("  right", func(c *eval.ErrorTable) (int, string) { return c.Right, bareShare(c.Right, c.Lines) })
	for _, class := range eval.ErrorClasses() {
		row("  "+string(class), func(c *eval.ErrorTable) (int, string) {
			n := c.Count(class).N
			return n, bareShare(n, c.Lines)
		})
	}
	return t
}

// bareShare is shareText without the unit.
func bareShare(k, n int) string { return strings.TrimSuffix(shareText(k, n), " %") }

// datasetErrors has a line for each data set, with its commonest errors.
func datasetErrors(b *strings.Builder, d eval.Diagnosis, doc document) error {
	if len(d.Datasets) < 2 {
		return nil
	}
	t := Table{Header: []string{"data set", "cell", "commonest errors", "lines", "right %"}, Left: 3}
	for _, name := range slices.Sorted(maps.Keys(d.Datasets)) {
		for _, cell := range eval.ErrorCellNames() {
			c := d.Datasets[name].Cell(cell)
			if c.Lines == 0 || cell == eval.CellST || cell == eval.CellMT {
				continue
			}
			worst := slices.Clone(c.Classes)
			slices.SortStableFunc(worst, func(x, y eval.ClassCount) int { return cmp.Compare(y.N, x.N) })
			var list []string
			for _, k := range worst[:min(3, len(worst))] {
				list = append(list, fmt.Sprintf("%s %s", k.Class, bareShare(k.N, c.Lines)))
			}
			t.Add(name, cell, strings.Join(list, ", "), strconv.Itoa(c.Lines), bareShare(c.Right, c.Lines))
		}
	}
	b.WriteString("\n" + doc.heading("Errors by data set"))
	return doc.table(t, b)
}

func breakdownTables(b *strings.Builder, d eval.Diagnosis, doc document) error {
	t := Table{Header: []string{"by", "", "n"}, Left: 2}
	for _, m := range metrics {
		t.Header = append(t.Header, metricLabel(m))
	}
	for _, by := range d.Breakdowns {
		title := by.By
		for _, bin := range by.Bins {
			row := []string{title, bin.Label, strconv.Itoa(bin.N)}
			for _, m := range metrics {
				row = append(row, percent(*metricOf(&bin.Cell, m)))
			}
			t.Add(row...)
			title = ""
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	b.WriteString("\n" + doc.heading("Scores of turns with a gold call, in percent"))
	return doc.table(t, b)
}

// shownExamples is how many examples of a class a text shows; JSON has all.
const shownExamples = 3

// examplesByClass returns the first examples of each class.
func examplesByClass(list []eval.ErrorExample) []eval.ErrorExample {
	var out []eval.ErrorExample
	for _, class := range eval.ErrorClasses() {
		n := 0
		for _, e := range list {
			if e.Class == class && n < shownExamples {
				out = append(out, e)
				n++
			}
		}
	}
	return out
}

func exampleLine(e eval.ErrorExample) string {
	return fmt.Sprintf("%s: %s, repeat %d, turn %d: gold %s; predicted %s; %s",
		e.Class, e.ID, e.Repeat, e.Turn, cmp.Or(e.Gold, "nothing"), cmp.Or(e.Pred, "nothing"), e.Why)
}
