package plot_test

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/plot"
)

// centres returns where the points of series s are drawn, those of its legend
// left out.
func centres(t *rapid.T, doc string, s int) [][2]float64 {
	var out [][2]float64
	for _, m := range regexp.MustCompile(`<(?:circle cx="([-\d.]+)" cy="([-\d.]+)"|path d="[^"]*" transform="translate\(([-\d.]+) ([-\d.]+)\)")[^>]* class="s`+strconv.Itoa(s)+` point"><title>`).FindAllStringSubmatch(doc, -1) {
		x, errX := strconv.ParseFloat(m[1]+m[3], 64)
		y, errY := strconv.ParseFloat(m[2]+m[4], 64)
		if errX != nil || errY != nil {
			t.Fatalf("%s: %v %v", m[0], errX, errY)
		}
		out = append(out, [2]float64{x, y})
	}
	return out
}

// Points lie as high as their values say, and as far to the right as their
// ticks, whatever the series.
func TestLinesAreInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 9).Draw(t, "ticks")
		l := plot.Lines{From: 0, To: 100}
		at := 0.0
		for range n {
			l.Ticks = append(l.Ticks, plot.Tick{At: at, Label: "x"})
			at += rapid.Float64Range(1, 4).Draw(t, "step")
		}
		for range rapid.IntRange(1, plot.MostSeries).Draw(t, "lines") {
			l.Lines = append(l.Lines, plot.Line{Name: "m", Values: rapid.SliceOfN(rapid.Float64Range(0, 100), n, n).Draw(t, "values")})
		}
		doc := svg(t, plot.Figure{Columns: 2, Panels: []plot.Panel{{Chart: l, Span: 2}}})
		var zero, unit float64 // of the scale, in pixels, from the first two points that differ
		for s, line := range l.Lines {
			ps := centres(t, doc, s)
			if len(ps) != n {
				t.Fatalf("series %d has %d points, want %d", s, len(ps), n)
			}
			first, last := l.Ticks[0].At, l.Ticks[n-1].At
			for i, p := range ps {
				want := ps[0][0] + (l.Ticks[i].At-first)/(last-first)*(ps[n-1][0]-ps[0][0])
				if math.Abs(p[0]-want) > .02 {
					t.Fatalf("point %d of series %d is at x %v, want %v", i, s, p[0], want)
				}
				if d := line.Values[i] - line.Values[0]; unit == 0 && math.Abs(d) > 20 {
					unit = (p[1] - ps[0][1]) / d
					zero = p[1] - unit*line.Values[i]
				}
			}
		}
		if unit == 0 {
			t.Skip("no two values differ enough to measure the scale")
		}
		for s, line := range l.Lines {
			for i, p := range centres(t, doc, s) {
				if want := zero + unit*line.Values[i]; math.Abs(p[1]-want) > .15 {
					t.Fatalf("point %d of series %d with value %v is at y %v, want %v", i, s, line.Values[i], p[1], want)
				}
			}
		}
	})
}

// Shape and pattern alone tell every series from every other.
func TestLinesAreTold(t *testing.T) {
	doc := svg(t, lines())
	seen := map[string]bool{}
	for s := range plot.MostSeries {
		m := regexp.MustCompile(`<(circle|path d="[^"]*") [^>]*class="s` + strconv.Itoa(s) + ` point"`).FindStringSubmatch(doc)
		dash := regexp.MustCompile(`class="line l` + strconv.Itoa(s) + `"([^/]*)/>`).FindStringSubmatch(doc)
		if m == nil || dash == nil {
			t.Fatalf("series %d has no point or no line", s)
		}
		if seen[m[1]] || seen["dash"+dash[1]] {
			t.Errorf("series %d looks like another without its colour: %s, %s", s, m[1], dash[1])
		}
		seen[m[1]], seen["dash"+dash[1]] = true, true
	}
}

// Where a series has no value, its line has a gap and no point.
func TestLinesHaveGaps(t *testing.T) {
	nan := math.NaN()
	var ticks []plot.Tick
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		ticks = append(ticks, plot.Tick{At: float64(i), Label: name})
	}
	doc := svg(t, plot.Figure{Panels: []plot.Panel{{Chart: plot.Lines{Ticks: ticks, NoLegend: true, Lines: []plot.Line{
		{Name: "m", Values: []float64{1, 2, nan, 3, 4}},
	}}}}})
	if got := strings.Count(doc, `class="line l0"`); got != 2 {
		t.Errorf("%d lines, want 2 with a gap between them", got)
	}
	if got := strings.Count(doc, `point"><title>`); got != 4 {
		t.Errorf("%d points, want 4", got)
	}
	if !strings.Contains(doc, "m a 1, b 2, c none, d 3, e 4") {
		t.Errorf("the description does not tell the values:\n%s", doc)
	}
}

// A whisker is drawn where there is an interval, and the point tells it.
func TestLinesHaveIntervals(t *testing.T) {
	nan := math.NaN()
	doc := svg(t, plot.Figure{Panels: []plot.Panel{{Chart: plot.Lines{
		Ticks: []plot.Tick{{At: 0, Label: "a"}, {At: 1, Label: "b"}, {At: 2, Label: "c"}},
		Lines: []plot.Line{{Name: "m", Values: []float64{1, 2, 3}, Low: []float64{0.5, 2, nan}, High: []float64{1.25, 2, nan}}},
	}}}})
	if got := strings.Count(doc, `thin"/>`); got != 1 {
		t.Errorf("%d whiskers, want 1", got)
	}
	if !strings.Contains(doc, "<title>m, a: 1 (0.50 to 1.25)</title>") || !strings.Contains(doc, "<title>m, b: 2</title>") {
		t.Errorf("the points do not tell their intervals:\n%s", doc)
	}
}

// Names that have no room beside each other go below each other, and none is
// written over another.
func TestLegendWraps(t *testing.T) {
	long := strings.Repeat("long-name-", 4)
	names := []string{long + "0", long + "1", long + "2", "short", strings.Repeat("w", 500), "end"}
	values := make([]float64, 1)
	bars := plot.Bars{Categories: []string{"x"}}
	for _, n := range names {
		bars.Series = append(bars.Series, plot.Series{Name: n, Values: values})
	}
	for kind, chart := range map[string]plot.Chart{"legend": plot.Legend{Names: names}, "bars": bars} {
		doc := svg(t, plot.Figure{Columns: 2, Panels: []plot.Panel{{Chart: chart, Span: 2}}})
		ends := map[string]float64{} // by row
		found := 0
		for _, m := range regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)">([^<]+)</text>`).FindAllStringSubmatch(doc, -1) {
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if len(m[3]) < 3 || !strings.Contains(strings.Join(names, " "), strings.TrimSuffix(m[3], "…")) {
				continue
			}
			found++
			if x < ends[m[2]] {
				t.Errorf("%s: %q starts at %v, where the name before ends at %v", kind, m[3], x, ends[m[2]])
			}
			ends[m[2]] = x + 5*float64(len(m[3])) // no letter of these names is narrower than 5
		}
		if found != len(names) || len(ends) < 3 {
			t.Errorf("%s: %d names in %d rows, want %d in at least 3:\n%s", kind, found, len(ends), len(names), doc)
		}
	}
}

func TestLineErrors(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tick := []plot.Tick{{Label: "a"}}
	one := plot.Line{Name: "m", Values: []float64{1}}
	for _, test := range []struct {
		name  string
		chart plot.Chart
		want  string
	}{
		{"no lines", plot.Lines{}, "no lines"},
		{"more lines than shapes", plot.Lines{Ticks: tick, Lines: []plot.Line{one, one, one, one, one, one, one}}, "7 lines: only 6"},
		{"more names than shapes", plot.Legend{Names: make([]string, 7)}, "7 series: only 6"},
		{"a value too many", plot.Lines{Lines: []plot.Line{one}}, `line "m": 1 values for 0 ticks`},
		{"a lone low end", plot.Lines{Ticks: tick, Lines: []plot.Line{{Values: []float64{1}, Low: []float64{0}}}}, "1 low and 0 high ends for 1 ticks"},
		{"an infinite value", plot.Lines{Ticks: tick, Lines: []plot.Line{{Values: []float64{inf}}}}, "want finite numbers in this order"},
		{"an infinite end", plot.Lines{Ticks: tick, Lines: []plot.Line{{Values: []float64{1}, Low: []float64{0}, High: []float64{inf}}}}, "want finite numbers in this order"},
		{"a value beside its interval", plot.Lines{Ticks: tick, Lines: []plot.Line{{Values: []float64{1}, Low: []float64{2}, High: []float64{3}}}}, "1 from 2 to 3"},
		{"a value off the scale", plot.Lines{Ticks: tick, To: .5, Lines: []plot.Line{one}}, "want it on the scale from 0 to 0.5"},
		{"an end off the scale", plot.Lines{Ticks: tick, To: 2, Lines: []plot.Line{{Values: []float64{1}, Low: []float64{0}, High: []float64{3}}}}, "want it on the scale from 0 to 2"},
		{"a scale upside down", plot.Lines{From: 2, To: 1, Lines: []plot.Line{{}}}, "from 2 to 1"},
		{"a scale of one number", plot.Lines{From: 2, To: 2, Lines: []plot.Line{{}}}, "from 2 to 2"},
		{"a scale without an end", plot.Lines{To: nan, Lines: []plot.Line{{}}}, "to NaN"},
		{"ticks out of order", plot.Lines{Ticks: []plot.Tick{{At: 1}, {At: 1, Label: "b"}}, Lines: []plot.Line{{Values: []float64{1, 2}}}}, `tick 1 "b" is at 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := plot.Figure{Panels: []plot.Panel{{Title: "p", Chart: test.chart}}}.WriteSVG(&out)
			if err == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
				t.Errorf("the error is %v after %d bytes, want %q and none", err, out.Len(), test.want)
			}
		})
	}
}

func TestNiceRange(t *testing.T) {
	for _, test := range []struct{ low, high, from, to float64 }{
		{0, 100, 0, 100},
		{21, 59, 20, 60},
		{16.4, 41, 10, 50},
		{42, 44, 42, 44},
		{50, 50, 50, 50.5},
		{0, 0, 0, 1},
		{-3, 12, -5, 15},
		{2, 1, 0, 1},
		{math.NaN(), 1, 0, 1},
		{0, math.Inf(1), 0, 1},
		{-math.MaxFloat64, math.MaxFloat64, 0, 1},
	} {
		if from, to := plot.NiceRange(test.low, test.high, 5); math.Abs(from-test.from) > 1e-9 || math.Abs(to-test.to) > 1e-9 {
			t.Errorf("NiceRange(%v, %v, 5) = %v, %v; want %v, %v", test.low, test.high, from, to, test.from, test.to)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(0, 1e6).Draw(t, "more")
		from, to := plot.NiceRange(low, high, 5)
		if slack := 1e-9 * max(math.Abs(low), math.Abs(high), 1); !(from <= low+slack && high <= to+slack && from < to) {
			t.Fatalf("NiceRange(%v, %v, 5) = %v, %v does not hold them", low, high, from, to)
		}
		if steps := (to - from) / plot.NiceStep(to-from, 5); steps > 5+1e-9 {
			t.Fatalf("NiceRange(%v, %v, 5) = %v, %v is %v steps wide", low, high, from, to, steps)
		}
	})
}
