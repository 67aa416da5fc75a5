package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bars are horizontal bars, a row per category. With more than one series the
// bars of a category stand below each other, or, with Stack, end to end as
// shares of their sum.
type Bars struct {
	Categories []string
	Series     []Series
	Stack      bool
	// Groups are the indices of categories that start a group: a gap is left
	// above them.
	Groups []int
	// Level leaves the room of a legend even if there is none, so that the rows
	// stand level with those of a chart beside that has one.
	Level bool
	// Top is the value at the right end of the scale; 0 is the largest value.
	// It means nothing to a stack.
	Top float64
}

// A Series is one value per category, in the order of Bars.Categories.
type Series struct {
	Name   string    // in the legend; a single series needs none
	Values []float64 // finite, at least 0
	// Labels are written after the bars, or in them if they are stacked and
	// have the room; nil writes the values, or for a stack the shares.
	Labels []string
}

// The rows, in pixels.
const (
	barHeight    = 13
	barGap       = 6  // between categories
	groupGap     = 9  // more, above a group
	seriesGap    = 1  // between the bars of a category
	legendHeight = 18 // above the bars
	rowsTop      = 6
	mostNames    = 0.44 // of the width: what the names of categories may take
)

func (b Bars) check() error {
	if len(b.Series) == 0 {
		return fmt.Errorf("no series: give at least one")
	}
	if len(b.Series) > palette {
		return fmt.Errorf("%d series: only %d can be told apart", len(b.Series), palette)
	}
	for _, s := range b.Series {
		if len(s.Values) != len(b.Categories) {
			return fmt.Errorf("series %q has %d values for %d categories", s.Name, len(s.Values), len(b.Categories))
		}
		if s.Labels != nil && len(s.Labels) != len(s.Values) {
			return fmt.Errorf("series %q has %d labels for %d values", s.Name, len(s.Labels), len(s.Values))
		}
		for i, v := range s.Values {
			if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("series %q has %v for %q: want a finite number of at least 0", s.Name, v, b.Categories[i])
			}
		}
	}
	if b.Top < 0 || math.IsNaN(b.Top) || math.IsInf(b.Top, 0) {
		return fmt.Errorf("the scale ends at %v: want a finite number of at least 0", b.Top)
	}
	return nil
}

// bands returns how many bars a category has below each other.
func (b Bars) bands() int {
	if b.Stack {
		return 1
	}
	return len(b.Series)
}

func (b Bars) height(width float64) float64 {
	bands := float64(b.bands())
	h := rowsTop + b.head(width) + float64(len(b.Categories))*(bands*barHeight+(bands-1)*seriesGap+barGap) + float64(len(b.Groups))*groupGap
	return h
}

func (b Bars) group(i int) bool { return slices.Contains(b.Groups, i) }

// label returns what is written at value i of series s.
func (b Bars) label(s, i int) string {
	if labels := b.Series[s].Labels; labels != nil {
		return labels[i]
	}
	if b.Stack {
		return percent(b.Series[s].Values[i], b.sum(i))
	}
	return exact(b.Series[s].Values[i])
}

func (b Bars) sum(i int) float64 {
	sum := 0.0
	for _, s := range b.Series {
		sum += s.Values[i]
	}
	return sum
}

func (b Bars) draw(c *canvas, out box) {
	y := out.y + rowsTop
	drawLegend(c, b.names(), barKey, box{out.x, y, out.w, out.h}, func(s int, x, y float64) {
		c.swatch(x, y-4.5, fmt.Sprintf("s%d", s))
	})
	y += b.head(out.w)
	names := 0.0
	for _, name := range b.Categories {
		names = max(names, textWidth(name, labelSize))
	}
	names = min(names, mostNames*out.w)
	rows := box{x: out.x + names + 8, w: out.w - names - 8}
	top := b.Top
	if !b.Stack {
		labels := 0.0
		for s := range b.Series {
			for i, v := range b.Series[s].Values {
				labels = max(labels, textWidth(b.label(s, i), labelSize))
				top = max(top, v)
			}
		}
		rows.w = max(rows.w-labels-10, 20)
	}
	start := y
	for i, name := range b.Categories {
		if b.group(i) {
			y += groupGap
		}
		height := float64(b.bands())*(barHeight+seriesGap) - seriesGap
		c.text(out.x+names, y+height/2+3.5, "", "end", fit(name, labelSize, names))
		if b.Stack {
			b.drawStack(c, i, box{rows.x, y, rows.w, barHeight})
		} else {
			b.drawGroup(c, i, box{rows.x, y, rows.w, barHeight}, top)
		}
		y += height + barGap
	}
	if !b.Stack && len(b.Categories) > 0 {
		c.line(rows.x, start-2, rows.x, y-barGap+2, "axis")
	}
}

func (b Bars) drawGroup(c *canvas, i int, row box, top float64) {
	for s, series := range b.Series {
		v := series.Values[i]
		w := 0.0
		if top > 0 {
			w = v / top * row.w
		}
		if v > 0 {
			w = max(w, .75) // what is there can be seen
			c.bar(box{row.x, row.y, w, row.h}, fmt.Sprintf("s%d", s), b.tip(s, i))
		}
		c.text(row.x+w+5, row.y+row.h/2+3.5, "", "start", b.label(s, i))
		row.y += barHeight + seriesGap
	}
}

func (b Bars) drawStack(c *canvas, i int, row box) {
	sum := b.sum(i)
	if sum == 0 {
		c.text(row.x, row.y+row.h/2+3.5, "note", "start", "none")
		return
	}
	x := row.x
	for s, series := range b.Series {
		w := series.Values[i] / sum * row.w
		if w == 0 {
			continue
		}
		c.bar(box{x, row.y, max(w-1, .4), row.h}, fmt.Sprintf("s%d", s), b.tip(s, i))
		if text := b.label(s, i); text != "" && textWidth(text, labelSize)+8 <= w {
			c.text(x+(w-1)/2, row.y+row.h/2+3.5, "on", "middle", text)
		}
		x += w
	}
}

// tip returns what a bar tells on hover.
func (b Bars) tip(s, i int) string {
	var t strings.Builder
	t.WriteString(b.Categories[i])
	if b.Series[s].Name != "" {
		t.WriteString(", " + b.Series[s].Name)
	}
	t.WriteString(": " + exact(b.Series[s].Values[i]))
	if text := b.label(s, i); text != exact(b.Series[s].Values[i]) && text != "" {
		t.WriteString(" (" + text + ")")
	}
	return t.String()
}

func (b Bars) names() []string {
	if len(b.Series) < 2 {
		return nil
	}
	var names []string
	for _, s := range b.Series {
		names = append(names, s.Name)
	}
	return names
}

// head returns the height of the legend.
func (b Bars) head(width float64) float64 {
	rows := len(legendRows(b.names(), barKey, width))
	if b.Level {
		rows = max(rows, 1)
	}
	return legendHeight * float64(rows)
}

func (b Bars) words() string {
	if len(b.Categories) == 0 {
		return "nothing to show"
	}
	var t strings.Builder
	for i, name := range b.Categories {
		if i > 0 {
			t.WriteString("; ")
		}
		t.WriteString(name)
		for s, series := range b.Series {
			if s > 0 {
				t.WriteByte(',')
			}
			if series.Name != "" {
				t.WriteString(" " + series.Name)
			}
			t.WriteString(" " + b.label(s, i))
		}
	}
	return t.String()
}
