package plot

import (
	"fmt"
	"math"
	"slices"
)

// A Histogram shows how often the values of a whole number occur. All bins are
// drawn equally wide, whatever they hold.
type Histogram struct {
	Bins []Bin
	Y    string // what is counted: "records"
	// Log says that the bins grow as on a logarithmic scale. Then powers of ten
	// are labelled first, and others where there is room.
	Log bool
}

// A Bin counts the values from From to To, both included.
type Bin struct {
	From, To, Count int
	// Tail marks a last bin that takes all the larger values. It is drawn
	// apart in another shade, since it is wider than the others.
	Tail bool
}

// The chart, in pixels.
const (
	plotHeight = 118
	axisHeight = 20
	unitHeight = 22 // the line above the plot that says what is counted
	axisWidth  = 34 // for the labels left of the plot
	tailGap    = 8
)

func (h Histogram) check() error {
	for i, b := range h.Bins {
		if b.Count < 0 {
			return fmt.Errorf("bin %d counts %d: want 0 or more", i, b.Count)
		}
		if b.To < b.From {
			return fmt.Errorf("bin %d goes from %d to %d: want From at most To", i, b.From, b.To)
		}
		if b.Tail && i != len(h.Bins)-1 {
			return fmt.Errorf("bin %d of %d is a tail: only the last may be", i, len(h.Bins))
		}
	}
	return nil
}

func (h Histogram) height(float64) float64 { return unitHeight + plotHeight + axisHeight }

// total returns the sum and the maximum of the counts.
func (h Histogram) total() (sum, most int) {
	for _, b := range h.Bins {
		sum += b.Count
		most = max(most, b.Count)
	}
	return sum, most
}

func (b Bin) String() string {
	switch {
	case b.Tail:
		return "≥ " + Thousands(b.From)
	case b.From == b.To:
		return Thousands(b.From)
	}
	return Thousands(b.From) + "–" + Thousands(b.To)
}

func (h Histogram) draw(c *canvas, out box) {
	sum, most := h.total()
	plot := box{x: out.x + axisWidth, y: out.y + unitHeight, w: out.w - axisWidth, h: plotHeight}
	base := plot.y + plot.h
	if sum == 0 {
		c.line(plot.x, base, plot.x+plot.w, base, "axis")
		c.text(plot.x+plot.w/2, plot.y+plot.h/2, "note", "middle", "no values")
		return
	}
	if h.Y != "" {
		c.text(out.x, out.y+12, "note", "start", fit(h.Y, labelSize, out.w))
	}
	step := max(NiceStep(float64(most), 4), 1) // counts are whole
	top := step * math.Ceil(float64(most)/step)
	for k := 0; float64(k)*step <= top; k++ {
		v := float64(k) * step
		y := base - v/top*plot.h
		if k > 0 {
			c.line(plot.x, y, plot.x+plot.w, y, "grid")
		}
		c.text(plot.x-5, y+3.5, "", "end", short(v))
	}
	n := len(h.Bins)
	room := plot.w
	if h.Bins[n-1].Tail && n > 1 {
		room -= tailGap
	}
	// Few values make wide bars look like areas: a bar takes at most 34 pixels.
	slot := min(room/float64(n), 34)
	left := func(i int) float64 {
		x := plot.x + float64(i)*slot
		if h.Bins[i].Tail && n > 1 {
			x += tailGap
		}
		return x
	}
	gap := min(1.5, slot/6)
	for i, b := range h.Bins {
		class := "s0"
		if b.Tail {
			class = "tail"
		}
		if b.Count == 0 {
			continue
		}
		// What is there can be seen, however rare.
		height := max(float64(b.Count)/top*plot.h, .75)
		c.bar(box{x: left(i) + gap/2, y: base - height, w: slot - gap, h: height}, class,
			fmt.Sprintf("%s: %s (%s)", b, Thousands(b.Count), percent(float64(b.Count), float64(sum))))
	}
	c.line(plot.x, base, plot.x+plot.w, base, "axis")
	if h.Log {
		h.drawLogLabels(c, left, slot, base+13)
	} else {
		h.drawLabels(c, left, slot, base+13)
	}
}

// drawLabels writes the values under the bars: in the middle of a bar that
// stands for one value, else at its left edge, and so many as have room.
func (h Histogram) drawLabels(c *canvas, left func(int) float64, slot, y float64) {
	n := len(h.Bins)
	single := h.Bins[0].From == h.Bins[0].To
	width := h.Bins[0].To - h.Bins[0].From + 1
	if n > 1 { // there may be gaps between the bins
		width = max(h.Bins[1].From-h.Bins[0].From, 1)
	}
	widest := 0.0
	for _, b := range h.Bins {
		if !b.Tail {
			widest = max(widest, textWidth(short(float64(b.From)), labelSize))
		}
	}
	stride := int(NiceStep((widest+9)/slot, 1))
	stride = max(stride, 1)
	end := math.Inf(1) // labels end left of this
	if last := h.Bins[n-1]; last.Tail {
		s := "≥" + short(float64(last.From))
		x := left(n-1) + slot/2
		half := textWidth(s, labelSize) / 2
		end = x - half - 5
		c.text(x, y, "", "middle", s)
	}
	for i, b := range h.Bins {
		// Bins start at round values: labels go on multiples of the stride.
		if b.Tail || (b.From/width)%stride != 0 {
			continue
		}
		x := left(i)
		if single {
			x += slot / 2
		}
		s := short(float64(b.From))
		if x+textWidth(s, labelSize)/2 <= end {
			c.text(x, y, "", "middle", s)
		}
	}
	// Bins of more than one value have an edge at the end, too.
	last := h.Bins[n-1]
	if edge := last.To + 1; !single && !last.Tail && edge/width%stride == 0 {
		c.text(left(n-1)+slot, y, "", "middle", short(float64(edge)))
	}
}

// drawLogLabels writes values at the left edges of bins: powers of ten, then
// twice and five times those, then the others, each where there is room.
func (h Histogram) drawLogLabels(c *canvas, left func(int) float64, slot, y float64) {
	rank := func(v int) int {
		for v >= 10 && v%10 == 0 {
			v /= 10
		}
		switch v {
		case 1:
			return 0
		case 2, 5:
			return 1
		}
		return 2
	}
	type label struct {
		at   float64
		text string
		rank int
	}
	var labels []label
	for i, b := range h.Bins {
		x := left(i)
		if b.From == b.To {
			x += slot / 2
		}
		labels = append(labels, label{x, short(float64(b.From)), rank(b.From)})
	}
	if last := h.Bins[len(h.Bins)-1]; last.From < last.To {
		labels = append(labels, label{left(len(h.Bins)-1) + slot, short(float64(last.To) + 1), rank(last.To + 1)})
	}
	var taken [][2]float64
	for r := range 3 {
		for _, l := range labels {
			half := textWidth(l.text, labelSize)/2 + 3
			clash := func(t [2]float64) bool { return l.at-half < t[1] && t[0] < l.at+half }
			if l.rank != r || slices.ContainsFunc(taken, clash) {
				continue
			}
			taken = append(taken, [2]float64{l.at - half, l.at + half})
			c.text(l.at, y, "", "middle", l.text)
		}
	}
}

func (h Histogram) words() string {
	sum, most := h.total()
	if sum == 0 {
		return "no values"
	}
	for _, b := range h.Bins {
		if b.Count == most {
			return fmt.Sprintf("histogram from %s to %s, the most (%s of %s %s) at %s",
				Thousands(h.Bins[0].From), Thousands(h.Bins[len(h.Bins)-1].To), Thousands(most), Thousands(sum), h.Y, b)
		}
	}
	return ""
}
