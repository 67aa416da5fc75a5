package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/plot"
)

// A Sheet is one table of a paper in every form that a person or a program may
// want: Markdown, CSV, LaTeX, JSON and an SVG figure.
type Sheet struct {
	Title string
	// Caption says what the numbers are: unit, n and method.
	Caption string
	Table   Table
	// Legend says what bold and underlined values are, "" if there are none.
	Legend string
	Notes  []string

	data   any // of the JSON form, in fractions
	figure plot.Figure
}

// SheetFormats are the forms of [Sheet.Write].
func SheetFormats() []string { return []string{"md", "csv", "latex", "json", "svg"} }

// Write writes s in one of the [SheetFormats]. An SVG figure shows more models
// than [plot.MostSeries] in blocks of panels.
func (s Sheet) Write(w io.Writer, format string) error {
	switch format {
	case "md":
		return s.Markdown(w)
	case "csv":
		return s.Table.CSV(w)
	case "latex":
		return s.LaTeX(w)
	case "json":
		return encode(w, s.data)
	case "svg":
		return s.figure.WriteSVG(w)
	}
	return fmt.Errorf("format %q: want one of %s", format, strings.Join(SheetFormats(), ", "))
}

// Markdown writes title, caption, table, legend and notes.
func (s Sheet) Markdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "**%s.** %s\n\n", Escape(s.Title), Escape(s.Caption)); err != nil {
		return err
	}
	if err := s.Table.Markdown(w); err != nil {
		return err
	}
	if s.Legend != "" {
		if _, err := fmt.Fprintf(w, "\n%s\n", Escape(s.Legend)); err != nil {
			return err
		}
	}
	if len(s.Notes) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return lines(w, s.Notes)
}

// shortName is how many characters of a model's name are surely shown beside
// the bars of one column.
const shortName = 17

// Sheet returns c as the paper's Table 1.
func (c Comparison) Sheet() Sheet {
	s := Sheet{
		Title:   "Comparison of models",
		Caption: fmt.Sprintf("Preset %s. Percent; SH and MH are means over turns, ST and MT over conversations.", c.Preset),
		Table:   c.scores(), Legend: c.Bolding.legend(), Notes: c.Notes, data: c,
	}
	f := newFigure(s)
	span := 1
	for _, r := range c.Rows {
		if utf8.RuneCountInString(r.Model) > shortName {
			span = 2
		}
	}
	for _, block := range c.blocks() {
		var models []string
		for _, r := range block {
			models = append(models, r.Model)
		}
		for i, metric := range metrics[:4] {
			panel := plot.Panel{Title: metricLabel(metric) + ", percent", Span: span}
			if i == 0 {
				panel.Heading = block[0].Setting
			}
			panel.Chart = barsOf(models, allCells, func(model, cell int) *float64 {
				return value(block[model].Cells, Column{Metric: metric, Cell: allCells[cell]})
			})
			f.Panels = append(f.Panels, panel)
		}
	}
	s.figure = f
	return s
}

// HopSheet returns s as the paper's Table 6: mean ± sample SD over runs at hop
// level, by single-hop and multi-hop turns.
func (s Summary) HopSheet() Sheet {
	return s.sheet("Hop level", "Single-hop (SH) and multi-hop (MH) turns", hopCells)
}

// TurnSheet returns s as the paper's Table 7, its turn level, which is by
// single-turn and multi-turn conversations.
func (s Summary) TurnSheet() Sheet {
	return s.sheet("Turn level", "Single-turn (ST) and multi-turn (MT) conversations", turnCells)
}

func (s Summary) sheet(title, what string, cells []string) Sheet {
	type row struct {
		Setting string     `json:"setting"`
		Model   string     `json:"model"`
		Columns []OverRuns `json:"columns"`
	}
	data := struct {
		Preset  string   `json:"preset"`
		Unit    string   `json:"unit"`
		Rows    []row    `json:"rows"`
		Bolding *Bolding `json:"bolding,omitempty"`
	}{s.Preset, s.Unit, []row{}, s.Bolding.of(cells)}
	out := Sheet{
		Title:   title,
		Caption: fmt.Sprintf("%s; percent, mean ± sample standard deviation over runs. Preset %s.", what, s.Preset),
		Table:   s.repeated(cells), Legend: data.Bolding.legend(), Notes: s.notes(cells),
	}
	f := newFigure(out)
	cols := columns(cells)
	for _, g := range s.Groups {
		r := row{Setting: g.Setting, Model: g.Model, Columns: []OverRuns{}}
		for _, col := range cols {
			if c := g.column(col); c.Mean != nil {
				r.Columns = append(r.Columns, c)
			}
		}
		data.Rows = append(data.Rows, r)
	}
	for _, metric := range metrics[:4] {
		var names []string
		for _, g := range s.Groups {
			names = append(names, g.Model+", "+g.Setting)
		}
		p := plot.Panel{Title: metricLabel(metric) + ", percent", Chart: barsOf(names, cells, func(g, cell int) *float64 {
			return s.Groups[g].column(Column{Metric: metric, Cell: cells[cell]}).Mean
		})}
		p.Span = 2
		f.Panels = append(f.Panels, p)
	}
	out.data, out.figure = data, f
	return out
}

func newFigure(s Sheet) plot.Figure {
	return plot.Figure{Title: cleanLine(s.Title), Subtitle: cleanLine(s.Caption), Columns: 4}
}

// barsOf returns bars in percent on a scale to 100, a row for each category and
// a bar for each series.
func barsOf(categories, series []string, value func(category, series int) *float64) plot.Bars {
	b := plot.Bars{Top: 100}
	for _, c := range categories {
		b.Categories = append(b.Categories, clean(c))
	}
	for j, name := range series {
		one := plot.Series{Name: clean(name)}
		for i := range categories {
			v, label := 0.0, "n/a"
			if f := value(i, j); f != nil {
				v, label = 100**f, strconv.FormatFloat(100**f, 'f', 1, 64)
			}
			one.Values, one.Labels = append(one.Values, v), append(one.Labels, label)
		}
		b.Series = append(b.Series, one)
	}
	return b
}
