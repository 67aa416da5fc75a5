package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// JSON writes s as one object, in fractions.
func (s Summary) JSON(w io.Writer) error { return encode(w, s) }

// Markdown writes s in percent: coverage, mean ± sample SD over runs in the
// layout of the paper's Table 6 (hop level) and Table 7 (its "turn level",
// which is by conversation), the intervals behind them, and each run by
// itself.
func (s Summary) Markdown(w io.Writer) error {
	level := strconv.FormatFloat(100*s.Level, 'g', 6, 64)
	if err := s.head(w); err != nil {
		return err
	}
	sections := []struct {
		title, legend string
		table         Table
	}{
		{"Hop level (instances are turns), mean ± sample SD over runs:", legendLine(s.Bolding.of(hopCells)), s.repeated(hopCells)},
		{"Turn level (instances are conversations), mean ± sample SD over runs:", legendLine(s.Bolding.of(turnCells)), s.repeated(turnCells)},
		{"Means with missing cases wrong and right:", "", s.bounds()},
		{"Over runs: " + level + " % interval of the mean by Student's t, and of the SD by chi-square:", "", s.overRuns()},
		{"Spread by training seed, decoding repeat and item (SD, and " + level + " % interval of that of seeds; shares of variance in percent):", "", s.splitTable()},
		{"Within each run: standard error and " + level + " % intervals over instances, whole records at a time " +
			fmt.Sprintf("(bootstrap of %d resamples, seed %d; Wilson for SP where each record is one instance):", s.Resamples, s.Seed), "", s.withinRuns()},
	}
	for _, sec := range sections {
		if len(sec.table.Rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", sec.title); err != nil {
			return err
		}
		if err := sec.table.Markdown(w); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"+sec.legend); err != nil {
			return err
		}
	}
	return lines(w, s.notes(allCells))
}

func (s Summary) head(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "Preset %s. Percent.\n\nCoverage:\n\n", Escape(s.Preset)); err != nil {
		return err
	}
	t := Table{Header: coverageHeader(), Left: 2}
	for _, g := range s.Groups {
		t.Add(coverageRow(g.Setting, g.Model, len(g.Runs), g.Coverage)...)
	}
	if err := t.Markdown(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// repeated returns a row for each group and a column for each metric and cell:
// "93.9 ± 1.0".
func (s Summary) repeated(cells []string) Table {
	cols := columns(cells)
	t := Table{Header: []string{"Setting", "Model", "Runs"}, Left: 2}
	for _, col := range cols {
		t.Header = append(t.Header, col.Cell+" "+metricLabel(col.Metric))
	}
	for _, g := range s.Groups {
		row := []string{g.Setting, g.Model, strconv.Itoa(len(g.Runs))}
		for _, col := range cols {
			row = append(row, plusMinus(g.column(col)))
		}
		t.Add(row...)
		markRow(t, 3, cols, func(col Column) Mark { return s.Bolding.mark(g.Setting, g.Model, col) })
	}
	return t
}

// bounds returns a row for each group that lacks answers.
func (s Summary) bounds() Table {
	cols := columns(allCells)
	t := boundsTable(cols)
	for _, g := range s.Groups {
		addBoundsRow(&t, g.Setting, g.Model, g.Bounds, cols)
	}
	return t
}

// column returns the summary of a column of g.
func (g Group) column(col Column) OverRuns {
	for _, c := range g.Columns {
		if c.Column == col {
			return c
		}
	}
	return OverRuns{Column: col}
}

func plusMinus(c OverRuns) string {
	if c.Mean == nil {
		return "n/a"
	}
	return percent(c.Mean) + " ± " + percent(c.SD)
}

func (s Summary) overRuns() Table {
	t := Table{Header: []string{"Setting", "Model", "Column", "Instances", "Runs", "Mean", "SD", "Std. error", "t interval", "Half-width", "SD interval"}, Left: 3}
	for _, g := range s.Groups {
		for _, c := range g.Columns {
			if c.Mean == nil {
				continue
			}
			t.Add(g.Setting, g.Model, c.String(), strconv.Itoa(c.Instances), strconv.Itoa(c.Runs),
				percent(c.Mean), percent(c.SD), percent(c.StdErr), span(c.Low, c.High), percent(c.Half), span(c.SDLow, c.SDHigh))
		}
	}
	return t
}

func (s Summary) withinRuns() Table {
	t := Table{Header: []string{"Setting", "Model", "Run", "Seed", "Column", "Instances", "Records", "Mean", "Std. error", "t", "BCa", "Percentile", "Wilson"}, Left: 5}
	for _, g := range s.Groups {
		for _, r := range g.Runs {
			for _, c := range r.Columns {
				if c.StdErr == nil {
					continue
				}
				t.Add(g.Setting, g.Model, r.Name, r.Seed, c.String(), strconv.Itoa(c.Instances), strconv.Itoa(c.Records),
					percent(c.Mean), percent(c.StdErr), c.T.text(), c.BCa.text(), c.Percentile.text(), c.Wilson.text())
			}
		}
	}
	return t
}

// text returns the interval in percent, "n/a" for nil.
func (iv *Interval) text() string {
	if iv == nil {
		return "n/a"
	}
	return span(&iv.Low, &iv.High)
}

// notes returns the warnings of groups and runs, with their place, and what
// there is to say of columns of some cells.
func (s Summary) notes(cells []string) []string {
	out := slices.Clone(s.Notes)
	for _, e := range s.Extremes {
		if slices.Contains(cells, e.Cell) {
			out = append(out, e.String())
		}
	}
	out = append(out, s.Bolding.of(cells).notes()...)
	for _, g := range s.Groups {
		place := g.Setting + ", " + g.Model + ": "
		for _, w := range g.Warnings {
			out = append(out, place+w)
		}
		if g.Coverage.Missing > 0 {
			out = append(out, fmt.Sprintf("%s%d of %d cases have no answer and count as wrong; see the bounds", place, g.Coverage.Missing, g.Coverage.Planned))
		}
		for _, r := range g.Runs {
			for _, w := range r.Warnings {
				out = append(out, place+"run "+r.Name+": "+w)
			}
		}
	}
	return out
}
