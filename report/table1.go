package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/eval"
)

// A Comparison is the layout of the paper's Table 1: a row for each setting and
// model, and SP, FP, SPA and FPA by single-hop and multi-hop turns, and by
// single-turn and multi-turn conversations. FPA-arg stands beside FPA when it
// was scored.
type Comparison struct {
	Preset string          `json:"preset"`
	Unit   string          `json:"unit"` // "fraction"
	Rows   []ComparisonRow `json:"rows"`
	// Bolding says which values are bold and why; nil without [Options.Bold].
	Bolding *Bolding `json:"bolding,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// A ComparisonRow is one model under one setting.
type ComparisonRow struct {
	Setting  string        `json:"setting"`
	Model    string        `json:"model"`
	Runs     int           `json:"runs"`
	Coverage eval.Coverage `json:"coverage"` // summed over runs
	// Cells are means over runs; n counts the instances of one run.
	Cells eval.Cells `json:"cells"`
	// Bounds are the cells with missing cases wrong and right, means over
	// runs; nil at full coverage.
	Bounds *eval.Bounds `json:"bounds,omitempty"`
}

// Table1 compares runs in the layout of the paper's Table 1 (UniToolCall,
// section 4.2). The paper has one run for each row; several are averaged here,
// and their number is shown. Runs under different presets, and runs that are
// no repeats of one experiment, are refused: see [stats.CheckRuns].
func Table1(runs []Run, opt Options) (Comparison, error) {
	if err := opt.check(); err != nil {
		return Comparison{}, err
	}
	gs, err := onePreset(runs)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Preset: gs[0].preset, Unit: "fraction"}
	for _, g := range gs {
		c.Rows = append(c.Rows, comparisonRow(g))
	}
	c.Bolding = newBolding(gs, c.columns(), opt)
	c.Notes = unlike(gs)
	for _, e := range extremes(gs, c.columns()) {
		c.Notes = append(c.Notes, e.String())
	}
	c.Notes = append(c.Notes, c.Bolding.notes()...)
	for _, r := range c.Rows {
		if r.Coverage.Missing > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s, %s: %d of %d cases have no answer and count as wrong; see the bounds",
				r.Setting, r.Model, r.Coverage.Missing, r.Coverage.Planned))
		}
	}
	return c, nil
}

func comparisonRow(g group) ComparisonRow {
	row := ComparisonRow{Setting: g.setting, Model: g.model, Runs: len(g.runs)}
	var cells []eval.Cells
	for _, r := range g.runs {
		addCoverage(&row.Coverage, r.Scores.Coverage)
		cells = append(cells, r.Scores.Cells)
	}
	row.Cells, row.Bounds = meanCells(cells), g.bounds()
	return row
}

// bounds returns the cells of g with missing cases wrong and right, means over
// its runs; nil if nothing is missing.
func (g group) bounds() *eval.Bounds {
	var low, high []eval.Cells
	bounded := false
	for _, r := range g.runs {
		b := r.Scores.Bounds
		if b == nil {
			b = &eval.Bounds{Low: r.Scores.Cells, High: r.Scores.Cells}
		} else {
			bounded = true
		}
		low, high = append(low, b.Low), append(high, b.High)
	}
	if !bounded {
		return nil
	}
	return &eval.Bounds{Low: meanCells(low), High: meanCells(high)}
}

func addCoverage(sum *eval.Coverage, c eval.Coverage) {
	sum.Planned += c.Planned
	sum.Attempted += c.Attempted
	sum.Answered += c.Answered
	sum.Parsed += c.Parsed
	sum.Scored += c.Scored
	sum.Missing += c.Missing
}

// An Extreme is a column that cannot tell the models of a setting apart because
// all of them, or all but one and at least two, are at its floor or ceiling in
// every run.
type Extreme struct {
	Setting string `json:"setting"`
	Column
	At     int `json:"at"`     // 0 is the floor, 1 the ceiling
	Models int `json:"models"` // how many are there
	Of     int `json:"of"`     // how many have the column
}

// String says it in a sentence.
func (e Extreme) String() string {
	return fmt.Sprintf("%s, %s is at its %s for %d of %d models: it does not rank them",
		e.Setting, e.Column, [...]string{"floor (0)", "ceiling (100)"}[e.At], e.Models, e.Of)
}

// extremes lists those of each setting, column by column.
func extremes(gs []group, cols []Column) []Extreme {
	var out []Extreme
	for _, block := range blocksOf(gs) {
		for _, col := range cols {
			have, zeros, ones := 0, 0, 0
			for _, g := range block {
				if xs := overRuns(cellsOf(g), col); len(xs) > 0 {
					have++
					zeros += count(slices.Max(xs) == 0)
					ones += count(slices.Min(xs) == 1)
				}
			}
			for at, n := range []int{zeros, ones} {
				if n >= max(2, have-1) {
					out = append(out, Extreme{block[0].setting, col, at, n, have})
				}
			}
		}
	}
	return out
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blocks returns the rows of each setting.
func (c Comparison) blocks() [][]ComparisonRow {
	var out [][]ComparisonRow
	for i, r := range c.Rows {
		if i == 0 || r.Setting != c.Rows[i-1].Setting {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

// columns returns the columns that some row has, and the sixteen of the paper
// in any case.
func (c Comparison) columns() []Column {
	cols := columns(allCells)
	for _, r := range c.Rows {
		for _, col := range cols {
			if col.Metric == "FPA_arg" && value(r.Cells, col) != nil {
				return cols
			}
		}
	}
	return cols[:4*len(allCells)]
}

// JSON writes c as one object, in fractions.
func (c Comparison) JSON(w io.Writer) error { return encode(w, c) }

// Markdown writes c as tables in percent: coverage, the scores, the number of
// instances, and bounds where cases are missing.
func (c Comparison) Markdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "Preset %s. Percent; SH and MH are means over turns, ST and MT over conversations.\n\n", Escape(c.Preset)); err != nil {
		return err
	}
	for i, t := range []Table{c.coverage(), c.scores(), c.sizes(), c.bounds()} {
		if i == 3 && len(t.Rows) == 0 {
			break
		}
		title := [...]string{"Coverage, over all runs of a row:", "Scores:", "Instances:", "Scores with missing cases wrong and right:"}[i]
		if _, err := fmt.Fprintf(w, "%s\n\n", title); err != nil {
			return err
		}
		if err := t.Markdown(w); err != nil {
			return err
		}
		legend := "\n"
		if i == 1 {
			legend += legendLine(c.Bolding)
		}
		if _, err := io.WriteString(w, legend); err != nil {
			return err
		}
	}
	return lines(w, c.Notes)
}

// legendLine is the legend as a paragraph of Markdown, "" if there is none.
func legendLine(b *Bolding) string {
	if b.legend() == "" {
		return ""
	}
	return Escape(b.legend()) + "\n\n"
}

func (c Comparison) coverage() Table {
	t := Table{Header: coverageHeader(), Left: 2}
	for _, r := range c.Rows {
		t.Add(coverageRow(r.Setting, r.Model, r.Runs, r.Coverage)...)
	}
	return t
}

func coverageHeader() []string {
	return append(strings.Fields("Setting Model Runs Planned Attempted Answered Parsed Scored Missing"), "Answered of planned")
}

func coverageRow(setting, model string, runs int, c eval.Coverage) []string {
	row := []string{setting, model, strconv.Itoa(runs)}
	for _, n := range []int{c.Planned, c.Attempted, c.Answered, c.Parsed, c.Scored, c.Missing} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, shareText(c.Answered, c.Planned))
}

func (c Comparison) scores() Table {
	cols := c.columns()
	t := Table{Header: []string{"Setting", "Model", "Runs"}, Left: 2}
	for _, col := range cols {
		t.Header = append(t.Header, col.String())
	}
	for _, block := range c.blocks() {
		for _, r := range block {
			row := []string{r.Setting, r.Model, strconv.Itoa(r.Runs)}
			for _, col := range cols {
				row = append(row, percent(value(r.Cells, col)))
			}
			t.Add(row...)
			markRow(t, 3, cols, func(col Column) Mark { return c.Bolding.mark(r.Setting, r.Model, col) })
		}
	}
	return t
}

// markRow marks the last row of t, whose columns begin at first.
func markRow(t Table, first int, cols []Column, mark func(Column) Mark) {
	for j, col := range cols {
		t.Rows[len(t.Rows)-1][first+j].Mark = mark(col)
	}
}

func (c Comparison) sizes() Table {
	t := Table{Header: []string{"Setting", "Model", "SH turns", "MH turns", "ST conversations", "MT conversations"}, Left: 2}
	for _, r := range c.Rows {
		row := []string{r.Setting, r.Model}
		for _, name := range allCells {
			row = append(row, strconv.Itoa(cellOf(&r.Cells, name).N))
		}
		t.Add(row...)
	}
	return t
}

func (c Comparison) bounds() Table {
	t := boundsTable(c.columns())
	for _, r := range c.Rows {
		addBoundsRow(&t, r.Setting, r.Model, r.Bounds, c.columns())
	}
	return t
}

func boundsTable(cols []Column) Table {
	t := Table{Header: []string{"Setting", "Model"}, Left: 2}
	for _, col := range cols {
		t.Header = append(t.Header, col.String())
	}
	return t
}

// addBoundsRow adds a row of t, or none if there are no bounds.
func addBoundsRow(t *Table, setting, model string, b *eval.Bounds, cols []Column) {
	if b == nil {
		return
	}
	row := []string{setting, model}
	for _, col := range cols {
		row = append(row, span(value(b.Low, col), value(b.High, col)))
	}
	t.Add(row...)
}
