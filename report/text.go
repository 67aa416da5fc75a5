package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/eval"
)

// ScoreText writes scores for people, one block for each preset: coverage
// first, then the four cells, each data set, the mean of data sets, turns
// without a gold call, and what to be careful about. Values are percent.
func ScoreText(w io.Writer, scores []eval.Scores) error {
	for i, s := range scores {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := scoreText(w, s); err != nil {
			return err
		}
	}
	return nil
}

func scoreText(w io.Writer, s eval.Scores) error {
	if _, err := fmt.Fprintf(w, "preset    %s\n%s\n\n", clean(presetLabel(s)), coverageLine(s.Coverage)); err != nil {
		return err
	}
	if err := scoreTable(s).Text(w); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\npercent; SH and MH are means over turns, ST and MT over conversations;\n" +
		"mean of data sets: each data set weighs the same, n counts them\n")
	fmt.Fprintf(&b, "%s\n", noGoldLine(s.NoGold))
	for _, warning := range scoreWarnings(s) {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func coverageLine(c eval.Coverage) string {
	return fmt.Sprintf("coverage  planned %d, attempted %d, answered %d (%s), parsed %d (%s), scored %d, missing %d",
		c.Planned, c.Attempted, c.Answered, shareText(c.Answered, c.Planned), c.Parsed, shareText(c.Parsed, c.Planned), c.Scored, c.Missing)
}

// shareText returns k of n in percent. A share below 1 is not rounded up to
// 100.0, nor one above 0 down to 0.0: full coverage must be full.
func shareText(k, n int) string {
	if n == 0 {
		return "n/a"
	}
	s := strconv.FormatFloat(100*float64(k)/float64(n), 'f', 1, 64)
	switch {
	case k < n && s == "100.0":
		s = "> 99.9"
	case k > 0 && s == "0.0":
		s = "< 0.1"
	}
	return s + " %"
}

func noGoldLine(n eval.NoGold) string {
	return fmt.Sprintf("turns without a gold call: %d (abstained %d, called %d, malformed %d)",
		n.N, n.Abstained, n.Called, n.Malformed)
}

// scoreTable has a line for each cell of all instances, of each data set and
// of the mean of data sets, and for the bounds if there are some.
func scoreTable(s eval.Scores) Table {
	t := Table{Header: []string{"", "cell", "n"}, Left: 2}
	for _, m := range metrics {
		t.Header = append(t.Header, metricLabel(m))
	}
	addCells(&t, "all instances", s.Cells, true)
	if s.Bounds != nil {
		addBounds(&t, *s.Bounds)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Datasets)) {
		addCells(&t, name, s.Datasets[name], false)
	}
	addCells(&t, "mean of data sets", s.MeanOfDatasets, false)
	return t
}

// addCells adds a line for each cell, or for each that is not empty.
func addCells(t *Table, title string, cells eval.Cells, empty bool) {
	for _, name := range allCells {
		c := *cellOf(&cells, name)
		if c.N == 0 && !empty {
			continue
		}
		row := []string{title, name, strconv.Itoa(c.N)}
		for _, m := range metrics {
			row = append(row, percent(value(cells, Column{Metric: m, Cell: name})))
		}
		t.Add(row...)
		title = ""
	}
}

func addBounds(t *Table, b eval.Bounds) {
	title := "missing wrong to right"
	for _, name := range allCells {
		if c := *cellOf(&b.High, name); c.N > 0 {
			row := []string{title, name, strconv.Itoa(c.N)}
			for _, m := range metrics {
				col := Column{Metric: m, Cell: name}
				row = append(row, percent(value(b.Low, col))+"–"+percent(value(b.High, col)))
			}
			t.Add(row...)
			title = ""
		}
	}
}

// fewInstances is the number of instances below which a cell is flagged: one
// instance then moves it by more than 3 points.
const fewInstances = 30

// unparsedAlarm is the share of unparsed answers, in percent, above which the
// prompt or the parser is the likely fault, and not the model.
const unparsedAlarm = 20

// scoreWarnings says what to know before the scores are believed.
func scoreWarnings(s eval.Scores) []string {
	var out []string
	for _, w := range s.Warnings {
		out = append(out, cleanLine(w))
	}
	c := s.Coverage
	if c.Planned == 0 {
		out = append(out, "the gold files hold no record: nothing was scored")
	}
	if c.Missing > 0 {
		out = append(out, fmt.Sprintf("%d of %d cases have no answer and count as wrong; the bounds show what they could change; resume the run, or complete the prediction files", c.Missing, c.Planned))
	}
	if bad := c.Answered - c.Parsed; 100*bad > unparsedAlarm*c.Answered {
		out = append(out, fmt.Sprintf("%d of %d answers hold a call that did not parse; read some raw texts before you blame the model", bad, c.Answered))
	}
	for _, name := range allCells {
		if cell := *cellOf(&s.Cells, name); cell.N > 0 && cell.N < fewInstances {
			out = append(out, fmt.Sprintf("%s has %d instance%s: one of them is worth %.1f points", name, cell.N, plural(cell.N), 100/float64(cell.N)))
		}
	}
	return out
}

// plural returns what a regular noun gets after the number n.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
