package census

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/plot"
)

// figureSources is how many sources a figure shows: those with most records.
const figureSources = 30

// WriteSVG draws the census as one figure of small panels, after UniToolCall,
// Figure 8: histograms of calls, messages, turns and tools per record, of
// calls per turn, characters and tokens, and the classes of records and turns;
// where tools name them, the domains and categories; and, with more than one
// source, the sources side by side, of which it shows the 30 with most
// records. The title is "" for one that says what is counted.
//
// To draw the histograms of one source, draw c.Sources[name]. The same records
// give the same bytes, in whatever order they were added.
func (c *Census) WriteSVG(w io.Writer, title string) error {
	if title == "" {
		title = "Records by shape and size"
	}
	f := plot.Figure{
		Title:    title,
		Subtitle: c.inShort(),
		Foot:     "Tokens are estimated as bytes / 3.5 of queries, calls, observations and answers. Messages are queries, calls, observations and answers. The lighter bar holds all larger values.",
	}
	f.Panels = append(c.sizes(), c.names()...)
	if len(c.Sources) > 1 {
		f.Panels = append(f.Panels, c.bySource()...)
	}
	return f.WriteSVG(w)
}

// inShort returns the counts in one line.
func (c *Census) inShort() string {
	parts := []string{some(c.Records, "record"), some(c.Turns, "turn"), some(c.Calls, "call")}
	if len(c.Sources) > 0 { // a source knows of no others
		parts = append(parts, some(len(c.Sources), "source"))
	}
	return strings.Join(append(parts, "serial:parallel "+ratio(c.SerialTurns, c.ParallelTurns)+" (multi-hop turns)"), " · ")
}

// some returns n with its unit.
func some(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return plot.Thousands(n) + " " + unit
}

// sizes returns the histograms and the classes.
func (c *Census) sizes() []plot.Panel {
	histogram := func(title, unit string, d *Dist, h plot.Histogram) plot.Panel {
		note := "no values"
		if d.N > 0 {
			note = fmt.Sprintf("mean %s · median %s · max %s", mean(d), plot.Thousands(d.Quantile(.5)), plot.Thousands(d.Max))
		}
		h.Y = unit
		if h.Log {
			h.Y += ", over bins on a log scale"
		}
		return plot.Panel{Title: title, Note: note, Chart: h}
	}
	linear := func(title, unit string, d *Dist) plot.Panel {
		return histogram(title, unit, d, plot.Histogram{Bins: d.Histogram(jsonBins)})
	}
	log := func(title, unit string, d *Dist) plot.Panel {
		return histogram(title, unit, d, plot.Histogram{Bins: d.LogHistogram(), Log: true})
	}
	return []plot.Panel{
		linear("Calls per record", "records", &c.CallsPerRecord),
		log("Tokens per record (estimate)", "records", &c.Tokens),
		log("Characters per record", "records", &c.Characters),
		c.classes(),
		histogram("Messages per record", "records", &c.Messages, plot.Histogram{Bins: pairs(&c.Messages)}),
		linear("Turns per record", "records", &c.TurnsPerRecord),
		linear("Calls per turn", "turns", &c.CallsPerTurn),
		linear("Tools on offer per record", "records", &c.ToolsPerRecord),
	}
}

// pairs returns the histogram of a number that is always even, without the
// bins that would always be empty.
func pairs(d *Dist) []plot.Bin {
	bins := d.histogram(jsonBins, 2)
	for i, b := range bins {
		if b.To == b.From+1 && !b.Tail {
			bins[i].To = b.From
		}
	}
	return bins
}

// mean returns the mean of d in three digits or more.
func mean(d *Dist) string {
	m := d.Mean()
	switch {
	case m >= 100:
		return plot.Thousands(int(math.Round(m)))
	case m >= 10:
		return fmt.Sprintf("%.1f", m)
	}
	return fmt.Sprintf("%.2f", m)
}

// classes returns the shares of turn classes, hop classes and strategies, each
// in its own whole.
func (c *Census) classes() plot.Panel {
	b := plot.Bars{Series: []plot.Series{{}}, Groups: []int{2, 5}, Top: 100}
	share := func(name string, part, whole int) {
		p := percent(part, whole)
		b.Categories = append(b.Categories, name)
		b.Series[0].Values = append(b.Series[0].Values, p)
		b.Series[0].Labels = append(b.Series[0].Labels, fmt.Sprintf("%.1f %%", p))
	}
	share("single-turn", c.SingleTurn, c.Records)
	share("multi-turn", c.MultiTurn, c.Records)
	share("no call", c.NoCall, c.Turns)
	share("single-hop", c.SingleHop, c.Turns)
	share("multi-hop", c.MultiHop, c.Turns)
	share("serial", c.SerialTurns, c.MultiHop)
	share("parallel", c.ParallelTurns, c.MultiHop)
	return plot.Panel{
		Title: "Structure",
		Note:  "share of records, turns, multi-hop turns",
		Chart: b,
	}
}

// names returns the most frequent domains and categories, where there are any.
func (c *Census) names() []plot.Panel {
	var panels []plot.Panel
	for _, t := range []struct {
		title string
		tally *Tally
	}{{"Domains of tools", &c.Domains}, {"Categories of tools", &c.Categories}} {
		if t.tally.Named == 0 {
			continue
		}
		b := plot.Bars{Series: []plot.Series{{}}}
		rest := t.tally.Named
		for _, n := range t.tally.Top(topNames) {
			b.Categories = append(b.Categories, n.Name)
			b.Series[0].Values = append(b.Series[0].Values, float64(n.N))
			rest -= n.N
		}
		note := fmt.Sprintf("%s; %s of %s tools on offer carry one", some(t.tally.Names(), "name"),
			plot.Thousands(t.tally.Named), plot.Thousands(t.tally.Named+t.tally.Unnamed))
		if rest > 0 {
			note += fmt.Sprintf("; %s with a name not shown", plot.Thousands(rest))
		}
		panels = append(panels, plot.Panel{Title: t.title, Note: note, Span: 2, Chart: b})
	}
	if len(panels) > 0 {
		panels[0].Heading = "What the tools are for"
	}
	return panels
}

// bySource returns the sources side by side.
func (c *Census) bySource() []plot.Panel {
	names := slices.Sorted(maps.Keys(c.Sources))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(c.Sources[b].Records, c.Sources[a].Records)
	})
	heading := "By source"
	if len(names) > figureSources {
		heading = fmt.Sprintf("By source (the %d of %d with most records)", figureSources, len(names))
		names = names[:figureSources]
	}
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = label(name)
	}
	series := func(name string, of func(*Census) float64) plot.Series {
		s := plot.Series{Name: name}
		for _, name := range names {
			s.Values = append(s.Values, of(c.Sources[name]))
		}
		return s
	}
	means := func(title string, of func(*Census) *Dist) plot.Panel {
		s := series("", func(s *Census) float64 { return of(s).Mean() })
		for _, name := range names {
			s.Labels = append(s.Labels, mean(of(c.Sources[name])))
		}
		return plot.Panel{Title: title, Note: "mean", Chart: plot.Bars{Categories: labels, Series: []plot.Series{s}}}
	}
	shares := func(title, note string, s ...plot.Series) plot.Panel {
		return plot.Panel{Title: title, Note: note, Chart: plot.Bars{Categories: labels, Series: s, Stack: true}}
	}
	records := plot.Panel{
		Heading: heading, Title: "Records", Note: "the most first; the other panels keep the order",
		Chart: plot.Bars{Categories: labels, Level: true, Series: []plot.Series{series("", func(s *Census) float64 { return float64(s.Records) })}},
	}
	return []plot.Panel{
		records,
		shares("Turn classes", "share of records",
			series("single-turn", func(s *Census) float64 { return float64(s.SingleTurn) }),
			series("multi-turn", func(s *Census) float64 { return float64(s.MultiTurn) })),
		shares("Hop classes", "share of turns",
			series("single-hop", func(s *Census) float64 { return float64(s.SingleHop) }),
			series("multi-hop", func(s *Census) float64 { return float64(s.MultiHop) }),
			series("no call", func(s *Census) float64 { return float64(s.NoCall) })),
		shares("Strategies", "share of multi-hop turns",
			series("serial", func(s *Census) float64 { return float64(s.SerialTurns) }),
			series("parallel", func(s *Census) float64 { return float64(s.ParallelTurns) })),
		means("Calls per record", func(s *Census) *Dist { return &s.CallsPerRecord }),
		means("Messages per record", func(s *Census) *Dist { return &s.Messages }),
		means("Tools on offer per record", func(s *Census) *Dist { return &s.ToolsPerRecord }),
		means("Tokens per record (estimate)", func(s *Census) *Dist { return &s.Tokens }),
	}
}
