package plot

import (
	"fmt"
	"math"
	"strings"
)

// MostSeries is how many series of one chart can be told apart. Who has more
// draws more charts.
const MostSeries = palette

// Lines are series of points over a common axis, joined by lines. A series has
// a colour, a shape of its points and a pattern of its line, so a figure can
// be read in black and white, and by those who do not tell colours apart.
type Lines struct {
	X     string // what the ticks are, under the axis; "" for nothing
	Y     string // what is measured, above the plot; "" for nothing
	Ticks []Tick
	Lines []Line // one to [MostSeries]
	// From and To are the ends of the scale; both 0 is from a round number
	// below all values to one above them, which need not hold 0.
	From, To float64
	// NoLegend leaves the names of the series to a [Legend] beside the chart.
	NoLegend bool
}

// A Tick is a place on the axis where the series have their points.
type Tick struct {
	At    float64 // on any scale, above the tick before
	Label string
	Note  string // under the label, "" for none
}

// A Line is one series: a value for each tick.
type Line struct {
	Name   string
	Values []float64 // finite, or NaN where there is none: the line has a gap
	// Low and High are the ends of an interval around each value, drawn as a
	// whisker. Nil is no intervals; NaN, or an end on the value, draws none.
	Low, High []float64
}

// The chart, in pixels.
const (
	linesHeight = 196
	axisSteps   = 5
	tickHeight  = 15
	endGap      = 16 // between an end of the axis and the next tick
	markerSize  = 3.6
	dodge       = 3.2 // between the points of two series at one tick
)

func (l Lines) check() error {
	switch {
	case len(l.Lines) == 0:
		return fmt.Errorf("no lines: give at least one")
	case len(l.Lines) > MostSeries:
		return fmt.Errorf("%d lines: only %d can be told apart", len(l.Lines), MostSeries)
	case !finite(l.From) || !finite(l.To) || l.From > l.To || l.From == l.To && l.From != 0:
		return fmt.Errorf("the scale goes from %v to %v: want finite numbers, the first below the second", l.From, l.To)
	}
	for i, t := range l.Ticks {
		if !finite(t.At) || i > 0 && t.At <= l.Ticks[i-1].At {
			return fmt.Errorf("tick %d %q is at %v: want a finite number above that of the tick before", i, t.Label, t.At)
		}
	}
	for _, line := range l.Lines {
		if err := l.checkLine(line); err != nil {
			return fmt.Errorf("line %q: %w", line.Name, err)
		}
	}
	return nil
}

func (l Lines) checkLine(line Line) error {
	n := len(l.Ticks)
	if len(line.Values) != n {
		return fmt.Errorf("%d values for %d ticks", len(line.Values), n)
	}
	if (line.Low != nil || line.High != nil) && (len(line.Low) != n || len(line.High) != n) {
		return fmt.Errorf("%d low and %d high ends for %d ticks", len(line.Low), len(line.High), n)
	}
	for i, v := range line.Values {
		low, high := line.interval(i)
		// NaN, which is no value, passes every comparison with a "no".
		if math.IsInf(v, 0) || math.IsInf(low, 0) || math.IsInf(high, 0) || low > v || high < v {
			return fmt.Errorf("tick %q has %v from %v to %v: want finite numbers in this order", l.Ticks[i].Label, v, low, high)
		}
		if l.From != l.To && (low < l.From || v < l.From || high > l.To || v > l.To) {
			return fmt.Errorf("tick %q has %v from %v to %v: want it on the scale from %v to %v", l.Ticks[i].Label, v, low, high, l.From, l.To)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// interval returns the interval of value i, NaN if there is none.
func (l Line) interval(i int) (low, high float64) {
	if l.Low == nil || !(l.Low[i] < l.High[i]) {
		return math.NaN(), math.NaN()
	}
	return l.Low[i], l.High[i]
}

func (l Lines) names() []string {
	if l.NoLegend {
		return nil
	}
	var names []string
	for _, line := range l.Lines {
		names = append(names, line.Name)
	}
	return names
}

func (l Lines) height(width float64) float64 {
	h := Legend{l.names()}.height(width) + linesHeight + tickHeight + 4
	if l.Y != "" {
		h += unitHeight
	}
	for _, t := range l.Ticks {
		if t.Note != "" {
			h += tickHeight - 2
			break
		}
	}
	if l.X != "" {
		h += tickHeight
	}
	return h
}

func (l Lines) draw(c *canvas, out box) {
	Legend{l.names()}.draw(c, box{out.x, out.y + 2, out.w, out.h})
	out.y += Legend{l.names()}.height(out.w)
	if l.Y != "" {
		c.text(out.x, out.y+12, "note", "start", fit(l.Y, labelSize, out.w))
		out.y += unitHeight
	}
	from, to, step := l.scale()
	steps := int(math.Round((to - from) / step))
	labels := 0.0
	for k := range steps + 1 {
		labels = max(labels, textWidth(short(from+float64(k)*step), labelSize))
	}
	field := box{x: out.x + labels + 6, y: out.y + 4, w: out.w - labels - 6, h: linesHeight - 8}
	base := field.y + field.h
	y := func(v float64) float64 { return base - (v-from)/(to-from)*field.h }
	for k := range steps + 1 {
		v := from + float64(k)*step
		class := "grid"
		if k == 0 {
			class = "axis"
		}
		c.line(field.x, y(v), field.x+field.w, y(v), class)
		c.text(field.x-5, y(v)+3.5, "", "end", short(v))
	}
	x := l.place(field)
	l.drawTicks(c, field, x)
	for s := range l.Lines {
		l.drawLine(c, s, func(i int, v float64) point {
			return point{x(i) + (float64(s)-float64(len(l.Lines)-1)/2)*dodge, y(v)}
		})
	}
}

// scale returns the ends of the scale and its step. The ends are multiples of
// the step unless they were given.
func (l Lines) scale() (from, to, step float64) {
	from, to = l.From, l.To
	if from == to {
		from, to = math.Inf(1), math.Inf(-1)
		for _, line := range l.Lines {
			for i, v := range line.Values {
				low, high := line.interval(i)
				for _, v := range []float64{v, low, high} {
					if !math.IsNaN(v) {
						from, to = min(from, v), max(to, v)
					}
				}
			}
		}
		from, to = NiceRange(from, to, axisSteps)
	}
	// The step divides the scale, however odd its ends.
	step = NiceStep(to-from, axisSteps)
	return from, to, (to - from) / math.Max(1, math.Round((to-from)/step))
}

// NiceRange returns round numbers around low and high: multiples of the
// [NiceStep] of their difference, at most n of these apart, and never the same
// number twice. It is 0 and 1 if low is above high, one of them or their
// difference is not finite, or n is below 2.
func NiceRange(low, high float64, n int) (from, to float64) {
	if n < 2 || !(low <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsInf(high-low, 0) {
		return 0, 1
	}
	// Less than a twentieth of the numbers themselves would show their digits.
	step := NiceStep(max(high-low, math.Abs(high)/20, math.Abs(low)/20), n)
	for {
		from, to = math.Floor(low/step)*step, math.Ceil(high/step)*step
		if from == to {
			to = from + step
		}
		// Rounding outwards may ask for a wider step, and that for wider ends.
		wider := NiceStep(to-from, n)
		if !(wider > step) {
			return from, to
		}
		step = wider
	}
}

// place returns where tick i lies on the axis.
func (l Lines) place(field box) func(i int) float64 {
	gap := min(endGap+dodge*float64(len(l.Lines))/2, field.w/4)
	n := len(l.Ticks)
	return func(i int) float64 {
		if n == 1 {
			return field.x + field.w/2
		}
		first, last := l.Ticks[0].At, l.Ticks[n-1].At
		return field.x + gap + (l.Ticks[i].At/2-first/2)/(last/2-first/2)*(field.w-2*gap) // halves cannot overflow
	}
}

// drawTicks draws the ticks, with labels where they have room, and the title of
// the axis.
func (l Lines) drawTicks(c *canvas, field box, x func(int) float64) {
	base := field.y + field.h
	end := math.Inf(-1) // of the last label
	notes := false
	for i, t := range l.Ticks {
		c.line(x(i), base, x(i), base+4, "axis")
		notes = notes || t.Note != ""
		half := max(textWidth(t.Label, labelSize), textWidth(t.Note, labelSize)) / 2
		if x(i)-half < end+6 || x(i)-half < field.x-40 || x(i)+half > field.x+field.w+12 {
			continue
		}
		end = x(i) + half
		c.text(x(i), base+tickHeight, "", "middle", t.Label)
		if t.Note != "" {
			c.text(x(i), base+2*tickHeight-2, "note", "middle", t.Note)
		}
	}
	y := base + 2*tickHeight
	if notes {
		y += tickHeight - 2
	}
	if l.X != "" {
		c.text(field.x+field.w/2, y, "note", "middle", fit(l.X, labelSize, field.w))
	}
}

// drawLine draws series s: whiskers, then the line, then the points on top.
func (l Lines) drawLine(c *canvas, s int, at func(i int, v float64) point) {
	line := l.Lines[s]
	var run []point
	for i, v := range line.Values {
		if math.IsNaN(v) {
			c.stroke(run, s)
			run = nil
			continue
		}
		run = append(run, at(i, v))
		if low, high := line.interval(i); low < high {
			c.whisker(at(i, low), at(i, high), s)
		}
	}
	c.stroke(run, s)
	for i, v := range line.Values {
		if !math.IsNaN(v) {
			c.marker(at(i, v), s, l.tip(s, i))
		}
	}
}

// tip returns what a point tells on hover.
func (l Lines) tip(s, i int) string {
	line := l.Lines[s]
	t := line.Name + ", " + l.Ticks[i].Label + ": " + exact(line.Values[i])
	if low, high := line.interval(i); low < high {
		t += " (" + exact(low) + " to " + exact(high) + ")"
	}
	return t
}

func (l Lines) words() string {
	if len(l.Ticks) == 0 {
		return "nothing to show"
	}
	var t strings.Builder
	for s, line := range l.Lines {
		if s > 0 {
			t.WriteString("; ")
		}
		t.WriteString(line.Name)
		for i, v := range line.Values {
			if i > 0 {
				t.WriteByte(',')
			}
			t.WriteString(" " + l.Ticks[i].Label + " ")
			if math.IsNaN(v) {
				t.WriteString("none")
			} else {
				t.WriteString(exact(v))
			}
		}
	}
	return t.String()
}

// A point is a place on the page in pixels.
type point struct{ x, y float64 }

// shapes are those of the points of a series, around 0, and the pattern of its
// line. All have about the same area, so none looks weightier.
var shapes = [palette]struct {
	name string
	path string // "" is a circle
	dash string // "" is solid
}{
	{"circles", "", ""},
	{"squares", "M-3.2-3.2H3.2V3.2H-3.2Z", "7 3"},
	{"triangles", "M0-4.6L4.3 3H-4.3Z", "2 2.5"},
	{"diamonds", "M0-4.8L4.8 0L0 4.8L-4.8 0Z", "9 3 2 3"},
	{"triangles upside down", "M0 4.6L4.3-3H-4.3Z", "4 2"},
	{"crosses", "M-1.4-4.4H1.4V-1.4H4.4V1.4H1.4V4.4H-1.4V1.4H-4.4V-1.4H-1.4Z", "1 3"},
}

// stroke draws the line of series s through points.
func (c *canvas) stroke(points []point, s int) {
	if len(points) < 2 {
		return
	}
	c.buf.WriteString(`<path d="`)
	for i, p := range points {
		c.buf.WriteString(string("ML"[min(i, 1)]) + px(p.x) + " " + px(p.y))
	}
	fmt.Fprintf(&c.buf, `" class="line l%d"`, s)
	if dash := shapes[s].dash; dash != "" {
		c.buf.WriteString(` stroke-dasharray="` + dash + `"`)
	}
	c.buf.WriteString("/>\n")
}

// marker draws a point of series s that tells tip on hover.
func (c *canvas) marker(p point, s int, tip string) {
	title := ""
	if tip != "" {
		title = "<title>" + escape(tip) + "</title>"
	}
	if shapes[s].path == "" {
		fmt.Fprintf(&c.buf, `<circle cx="%s" cy="%s" r="%v" class="s%d point">%s</circle>`+"\n", px(p.x), px(p.y), markerSize, s, title)
		return
	}
	fmt.Fprintf(&c.buf, `<path d="%s" transform="translate(%s %s)" class="s%d point">%s</path>`+"\n", shapes[s].path, px(p.x), px(p.y), s, title)
}

// whisker draws an interval with a bar at each end.
func (c *canvas) whisker(low, high point, s int) {
	const half = 2.5
	fmt.Fprintf(&c.buf, `<path d="M%s %sV%sM%s %sH%sM%[4]s %[3]sH%[6]s" class="line l%[7]d thin"/>`+"\n",
		px(low.x), px(low.y), px(high.y), px(low.x-half), px(low.y), px(low.x+half), s)
}
