package toolset

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"assay/convert"
	"assay/plot"
)

// A Flow counts the tools of each origin before and after the stages of
// [Assemble] (UniToolCall, Figure 7).
type Flow struct {
	Stages []Stage `json:"stages"` // that ran, in order
	// Elements counts what was read, Unreadable those that hold no tool.
	Elements   int `json:"elements"`
	Unreadable int `json:"unreadable"`
	// Origins are in order of priority.
	Origins []OriginFlow `json:"origins"`
	Total   OriginFlow   `json:"total"`
	// Codes counts the removed tools by the code of why.
	Codes map[convert.Code]int `json:"codes"`
}

// An OriginFlow counts the tools of one origin.
type OriginFlow struct {
	Origin    string `json:"origin"`
	Protected bool   `json:"protected,omitempty"`
	Read      int    `json:"read"`
	// After holds how many are left after each stage, in step with
	// Flow.Stages. Read minus the first, and each minus the next, are those
	// that the stage removed.
	After []int `json:"after"`
}

// Kept returns how many tools are left in the end.
func (o OriginFlow) Kept() int {
	if len(o.After) == 0 {
		return o.Read
	}
	return o.After[len(o.After)-1]
}

// flow is a Flow in the making.
type flow struct {
	f       Flow
	index   map[string]int
	removed [][]int // by origin and stage
	// bad counts, by origin, the tools that could not be read with the stage
	// normalise off. They were never tools, so they count as not read.
	bad []int
}

func newFlow(opt AssembleOptions) *flow {
	return &flow{f: Flow{Stages: opt.running(), Codes: map[convert.Code]int{}}, index: map[string]int{}}
}

// read counts a tool of an origin.
func (f *flow) read(origin string) { f.f.Origins[f.origin(origin)].Read++ }

func (f *flow) origin(name string) int {
	i, ok := f.index[name]
	if !ok {
		i = len(f.f.Origins)
		f.index[name] = i
		f.f.Origins = append(f.f.Origins, OriginFlow{Origin: name})
		f.removed = append(f.removed, make([]int, len(f.f.Stages)))
		f.bad = append(f.bad, 0)
	}
	return i
}

// lost counts a tool that was removed.
func (f *flow) lost(r Removal) {
	f.f.Codes[r.Code]++
	i := f.origin(r.Origin)
	if s := slices.Index(f.f.Stages, r.Stage); s >= 0 {
		f.removed[i][s]++
		return
	}
	f.bad[i]++
}

// finished returns what was counted.
func (f *flow) finished(protect []string) Flow {
	out := f.f
	out.Total = OriginFlow{Origin: "total", After: make([]int, len(out.Stages))}
	for i := range out.Origins {
		o := &out.Origins[i]
		o.Protected = slices.Contains(protect, o.Origin)
		o.Read -= f.bad[i]
		left := o.Read
		for s, n := range f.removed[i] {
			left -= n
			o.After = append(o.After, left)
			out.Total.After[s] += left
		}
		out.Total.Read += o.Read
	}
	if out.Origins == nil {
		out.Origins = []OriginFlow{}
	}
	slices.SortStableFunc(out.Origins, func(a, b OriginFlow) int {
		switch {
		case a.Protected == b.Protected:
			return 0
		case a.Protected:
			return -1
		}
		return 1
	})
	return out
}

// WriteText writes the table for people: a row per origin, a column per stage.
func (f Flow) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(first string, cells []string) {
		fmt.Fprintf(t, "%s\t%s\t\n", first, strings.Join(cells, "\t")) // tabwriter keeps errors for Flush
	}
	head := []string{"read"}
	for _, s := range f.Stages {
		head = append(head, string(s))
	}
	row("origin", append(head, "kept"))
	for _, o := range append(slices.Clone(f.Origins), f.Total) {
		cells := []string{strconv.Itoa(o.Read)}
		for _, n := range o.After {
			cells = append(cells, strconv.Itoa(n))
		}
		share := "-"
		if o.Read > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(o.Kept())/float64(o.Read))
		}
		name := printableName(o.Origin)
		if o.Protected {
			name += " (protected)"
		}
		row(name, append(cells, share))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if f.Unreadable == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d of %d elements hold no tool\n", f.Unreadable, f.Elements)
	return err
}

// printableName returns the name of an origin, which a file may have given, as
// one word that is safe on a terminal.
func printableName(s string) string {
	if s == "" {
		return "(none)"
	}
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// Figure returns what became of the tools of each origin as a figure: shares
// removed by each stage, and the numbers left.
func (f Flow) Figure(title string) plot.Figure {
	origins := slices.DeleteFunc(slices.Clone(f.Origins), func(o OriginFlow) bool { return o.Read == 0 })
	if len(origins) == 0 {
		origins = []OriginFlow{f.Total}
	}
	names := make([]string, len(origins))
	kept := plot.Series{Name: "kept"}
	left := plot.Series{}
	for i, o := range origins {
		names[i] = printableName(o.Origin)
		if o.Protected {
			names[i] += " (protected)"
		}
		kept.Values = append(kept.Values, float64(o.Kept()))
		kept.Labels = append(kept.Labels, plot.Thousands(o.Kept()))
		left.Values = append(left.Values, float64(o.Kept()))
		left.Labels = append(left.Labels, fmt.Sprintf("%s of %s", plot.Thousands(o.Kept()), plot.Thousands(o.Read)))
	}
	series := []plot.Series{kept}
	for s := range slices.Backward(f.Stages) {
		lost := plot.Series{Name: string(f.Stages[s])}
		total := 0
		for _, o := range origins {
			before := o.Read
			if s > 0 {
				before = o.After[s-1]
			}
			n := before - o.After[s]
			total += n
			lost.Values = append(lost.Values, float64(n))
			lost.Labels = append(lost.Labels, plot.Thousands(n))
		}
		if total > 0 {
			series = append(series, lost)
		}
	}
	return plot.Figure{
		Title: title, Columns: 3,
		Subtitle: fmt.Sprintf("%s of %s tools are left", plot.Thousands(f.Total.Kept()), plot.Thousands(f.Total.Read)),
		Panels: []plot.Panel{
			{Title: "What became of the tools", Note: "shares of what was read: kept, or removed by a stage", Span: 2, Chart: plot.Bars{Categories: names, Series: series, Stack: true}},
			{Title: "Tools left", Note: "of those read", Chart: plot.Bars{Categories: names, Series: []plot.Series{left}, Level: true}},
		},
	}
}
