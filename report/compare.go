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

// CrossText writes presets side by side for people: the scores of each, how
// many instances every two disagree on, and the first items with what decides.
func CrossText(w io.Writer, c eval.CrossTable) error { return cross(w, c, textDocument) }

// CrossMarkdown writes the same as Markdown.
func CrossMarkdown(w io.Writer, c eval.CrossTable) error { return cross(w, c, markdownDocument) }

// CrossJSON writes c as one object, in fractions.
func CrossJSON(w io.Writer, c eval.CrossTable) error { return encode(w, c) }

func cross(w io.Writer, c eval.CrossTable, doc document) error {
	var b strings.Builder
	if len(c.Scores) > 0 {
		b.WriteString(doc.line(coverageLine(c.Scores[0].Coverage)))
	}
	b.WriteString("\n" + doc.heading("Scores by preset, in percent"))
	if err := doc.table(presetScores(c.Scores), &b); err != nil {
		return err
	}
	b.WriteString("\n" + doc.heading(fmt.Sprintf("Instances that one preset holds for right (%s is 1) and the other does not", metricLabel(c.Metric))))
	t := Table{Header: []string{"A", "B", "turns", "differ", "only A", "only B", "conversations", "differ", "only A", "only B"}, Left: 2}
	for _, p := range c.Pairs {
		row := []string{p.A, p.B}
		for _, d := range []eval.Disagreement{p.Turns, p.Conversations} {
			row = append(row, strconv.Itoa(d.N), strconv.Itoa(d.Differ()), strconv.Itoa(d.OnlyA), strconv.Itoa(d.OnlyB))
		}
		t.Add(row...)
	}
	if err := doc.table(t, &b); err != nil {
		return err
	}
	for _, p := range c.Pairs {
		if len(p.Items) == 0 {
			continue
		}
		b.WriteString("\n" + doc.line(fmt.Sprintf("%s and %s: %d of the %d turns they disagree on", p.A, p.B, len(p.Items), p.Turns.Differ())))
		for _, it := range p.Items {
			b.WriteString(doc.item(crossLine(p, it)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func crossLine(p eval.PresetPair, it eval.CrossItem) string {
	var calls string
	if it.Gold != "" {
		calls = fmt.Sprintf("gold %s; predicted %s; ", it.Gold, cmp.Or(it.Pred, "nothing"))
	}
	return fmt.Sprintf("%s, repeat %d, turn %d: %s%s %.3f: %s; %s %.3f: %s",
		it.ID, it.Repeat, it.Turn, calls, p.A, it.ValueA, it.WhyA, p.B, it.ValueB, it.WhyB)
}

// presetScores has a line for each preset and cell.
func presetScores(scores []eval.Scores) Table {
	t := Table{Header: []string{"preset", "cell", "n"}, Left: 2}
	for _, m := range metrics {
		t.Header = append(t.Header, metricLabel(m))
	}
	for _, s := range scores {
		addCells(&t, s.Preset, s.Cells, false)
	}
	return t
}

// shownItems is how many items of each change a text lists; JSON has all.
const shownItems = 10

// DiffText writes what changed between two prediction files for people: both
// scores, instances gained and lost by cell and data set, by class of error,
// and the first items of each kind.
func DiffText(w io.Writer, d eval.DiffResult) error { return diff(w, d, textDocument) }

// DiffMarkdown writes the same as Markdown.
func DiffMarkdown(w io.Writer, d eval.DiffResult) error { return diff(w, d, markdownDocument) }

// DiffJSON writes d as one object with every item, in fractions.
func DiffJSON(w io.Writer, d eval.DiffResult) error { return encode(w, d) }

func diff(w io.Writer, d eval.DiffResult, doc document) error {
	var b strings.Builder
	b.WriteString(doc.line("preset "+presetLabel(d.A)+", "+metricLabel(d.Metric)) +
		"\n" + doc.line("A: "+coverageLine(d.A.Coverage)) + "\n" + doc.line("B: "+coverageLine(d.B.Coverage)))
	b.WriteString("\n" + doc.heading("Scores, in percent"))
	a, z := d.A, d.B
	a.Preset, z.Preset = "A", "B"
	scores := presetScores([]eval.Scores{a, z})
	scores.Header[0] = "file"
	if err := doc.table(scores, &b); err != nil {
		return err
	}
	b.WriteString("\n" + doc.heading("Instances by what became of them"))
	if err := doc.table(changeTable(d), &b); err != nil {
		return err
	}
	if len(d.Classes) > 0 {
		b.WriteString("\n" + doc.heading("Turns by their first error"))
		t := Table{Header: []string{"class", "in A", "in B", "of A gained", "of B lost", "unstable"}, Left: 1}
		for _, c := range d.Classes {
			t.Add(string(c.Class), strconv.Itoa(c.A), strconv.Itoa(c.B), strconv.Itoa(c.Gained), strconv.Itoa(c.Lost), strconv.Itoa(c.Unstable))
		}
		if err := doc.table(t, &b); err != nil {
			return err
		}
	}
	for _, change := range []eval.Change{eval.Lost, eval.Gained, eval.Unstable} {
		changedItems(&b, d, change, doc)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changeTable has a line for each cell that holds an instance, of all data
// sets and of each.
func changeTable(d eval.DiffResult) Table {
	t := Table{Header: []string{"", "cell", "n", "gained", "lost", "unstable", "kept right", "kept wrong"}, Left: 2}
	add := func(title string, cells *eval.DiffCells) {
		for _, name := range eval.DiffCellNames() {
			c := cells.Cell(name)
			if c.N == 0 {
				continue
			}
			t.Add(title, name, strconv.Itoa(c.N), strconv.Itoa(c.Gained), strconv.Itoa(c.Lost), strconv.Itoa(c.Unstable),
				strconv.Itoa(c.KeptRight), strconv.Itoa(c.KeptWrong))
			title = ""
		}
	}
	add("all instances", &d.Cells)
	for _, name := range slices.Sorted(maps.Keys(d.Datasets)) {
		add(name, d.Datasets[name])
	}
	return t
}

func changedItems(b *strings.Builder, d eval.DiffResult, change eval.Change, doc document) {
	n := 0
	for _, it := range d.Items {
		if it.Change != change || it.Turn < 0 {
			continue
		}
		if n++; n > shownItems {
			continue
		}
		if n == 1 {
			b.WriteString("\n" + doc.heading(string(change)))
		}
		b.WriteString(doc.item(fmt.Sprintf("%s, turn %d: A %s; B %s", it.ID, it.Turn, sideText(it.A), sideText(it.B))))
	}
	if n > shownItems {
		b.WriteString(doc.item(fmt.Sprintf("and %d more turns; JSON lists them all", n-shownItems)))
	}
}

func sideText(s eval.DiffSide) string {
	text := fmt.Sprintf("right in %d of %d", s.Right, s.Repeats)
	if s.Class != "" {
		text += fmt.Sprintf(" (%s: %s)", s.Class, s.Why)
	}
	return text
}
