package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/plot"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has a panel of every kind.
func sample() plot.Figure {
	return plot.Figure{
		Title: "Three & a half <panels>", Subtitle: "13 records", Foot: "Made up.", Columns: 3,
		Panels: []plot.Panel{
			{Title: "Calls", Note: "mean 2.0", Chart: plot.Histogram{Y: "records", Bins: []plot.Bin{
				{From: 0, To: 0, Count: 1}, {From: 1, To: 1, Count: 8}, {From: 2, To: 2}, {From: 3, To: 9, Count: 4, Tail: true},
			}}},
			{Title: "Tokens", Chart: plot.Histogram{Y: "records", Bins: []plot.Bin{
				{From: 0, To: 499, Count: 12}, {From: 500, To: 999, Count: 1},
			}}},
			{Title: "Characters", Chart: plot.Histogram{Y: "records", Log: true, Bins: []plot.Bin{
				{From: 7, To: 9, Count: 2}, {From: 10, To: 14, Count: 5}, {From: 15, To: 19}, {From: 20, To: 29, Count: 6},
			}}},
			{Title: "Nothing", Chart: plot.Histogram{}},
			{Heading: "By source", Title: "Records", Chart: plot.Bars{
				Level: true, Categories: []string{"acme", "天気"},
				Series: []plot.Series{{Values: []float64{12, 1}}},
			}},
			{Title: "Hops", Chart: plot.Bars{
				Stack: true, Categories: []string{"acme", "天気"},
				Series: []plot.Series{{Name: "single", Values: []float64{9, 0}}, {Name: "multi", Values: []float64{3, 0}}},
			}},
			{Title: "Sides", Chart: plot.Bars{
				Categories: []string{"acme", "天気"}, Groups: []int{1},
				Series: []plot.Series{{Name: "train", Values: []float64{1.5, 1}}, {Name: "test", Values: []float64{0, 4}, Labels: []string{"none", "four"}}},
			}},
		},
	}
}

// lines has lines in every form: gaps, intervals, a single tick, all shapes.
func lines() plot.Figure {
	nan := math.NaN()
	ticks := []plot.Tick{{At: 0, Label: "1 : 0", Note: "0 %"}, {At: 1, Label: "1 : 1", Note: "50 %"}, {At: 2, Label: "1 : 2", Note: "67 %"}, {At: 4, Label: "1 : 4", Note: "80 %"}}
	six := plot.Lines{X: "serial : parallel", Y: "percent", Ticks: ticks, NoLegend: true}
	var names []string
	for i := range plot.MostSeries {
		v := 40 + 4*float64(i)
		names = append(names, fmt.Sprintf("model-%d <instruct>, GT", i))
		six.Lines = append(six.Lines, plot.Line{
			Name: names[i], Values: []float64{v, v + 8, v + 11, v + 12.5},
			Low: []float64{v, v + 6, v + 9.5, v + 12}, High: []float64{v, v + 10, v + 12.5, v + 13},
		})
	}
	return plot.Figure{Title: "Trends", Columns: 2, Panels: []plot.Panel{
		{Span: 2, Chart: plot.Legend{Names: names}},
		{Title: "Six", Chart: six},
		{Title: "A gap", Chart: plot.Lines{From: 0, To: 100, Ticks: ticks, Lines: []plot.Line{
			{Name: "天気", Values: []float64{10, nan, 60, 90}},
			{Name: "acme", Values: []float64{50, 50, nan, nan}},
		}}},
		{Title: "One tick", Chart: plot.Lines{Ticks: ticks[:1], Lines: []plot.Line{{Name: "a", Values: []float64{3}}}}},
		{Title: "None", Chart: plot.Lines{Lines: []plot.Line{{Name: "a"}}}},
	}}
}

func svg(t interface{ Fatal(...any) }, f plot.Figure) string {
	var out strings.Builder
	if err := f.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for name, f := range map[string]plot.Figure{"figure.svg": sample(), "lines.svg": lines()} {
		path := filepath.Join("testdata", name)
		got := svg(t, f)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the figure differs from %s: look at it, then run go test ./plot -update\n%s", path, got)
		}
	}
}

// A page is what a reader of XML finds in a figure.
type page struct {
	width, height float64
	rects         []rect
	texts         []string // of text elements
	all           []string // of all elements
}

type rect struct {
	x, y, w, h float64
	class      string
}

func read(doc string) (page, error) {
	var p page
	dec := xml.NewDecoder(strings.NewReader(doc))
	var open []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			open = append(open, tok.Name.Local)
			attr := func(name string) float64 {
				for _, a := range tok.Attr {
					if a.Name.Local == name {
						v, err := strconv.ParseFloat(a.Value, 64)
						if err != nil {
							return math.NaN()
						}
						return v
					}
				}
				return 0
			}
			switch tok.Name.Local {
			case "svg":
				p.width, p.height = attr("width"), attr("height")
			case "rect":
				r := rect{x: attr("x"), y: attr("y"), w: attr("width"), h: attr("height")}
				for _, a := range tok.Attr {
					if a.Name.Local == "class" {
						r.class = a.Value
					}
				}
				p.rects = append(p.rects, r)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			p.all = append(p.all, string(tok))
			if len(open) > 0 && open[len(open)-1] == "text" {
				p.texts = append(p.texts, string(tok))
			}
		}
	}
}

func anyFigure() *rapid.Generator[plot.Figure] {
	word := rapid.OneOf(rapid.String(), rapid.Just("\xff<\x00&\u202e]]>"), rapid.StringMatching(`[a-z-]{1,60}`))
	histogram := rapid.Custom(func(t *rapid.T) plot.Chart {
		h := plot.Histogram{Y: word.Draw(t, "unit"), Log: rapid.Bool().Draw(t, "log")}
		width := rapid.IntRange(1, 1000).Draw(t, "width")
		counts := rapid.SliceOfN(rapid.IntRange(0, 1<<40), 0, 40).Draw(t, "counts")
		for i, n := range counts {
			h.Bins = append(h.Bins, plot.Bin{From: i * width, To: (i+1)*width - 1, Count: n})
		}
		if len(counts) > 0 {
			h.Bins[len(counts)-1].Tail = rapid.Bool().Draw(t, "tail")
		}
		return h
	})
	bars := rapid.Custom(func(t *rapid.T) plot.Chart {
		b := plot.Bars{Stack: rapid.Bool().Draw(t, "stack"), Level: rapid.Bool().Draw(t, "level")}
		b.Categories = rapid.SliceOfN(word, 0, 12).Draw(t, "categories")
		for range rapid.IntRange(1, 6).Draw(t, "series") {
			n := len(b.Categories)
			b.Series = append(b.Series, plot.Series{
				Name:   word.Draw(t, "name"),
				Values: rapid.SliceOfN(rapid.Float64Range(0, 1e12), n, n).Draw(t, "values"),
			})
		}
		return b
	})
	lines := rapid.Custom(func(t *rapid.T) plot.Chart {
		l := plot.Lines{X: word.Draw(t, "x"), Y: word.Draw(t, "y"), NoLegend: rapid.Bool().Draw(t, "no legend")}
		n := rapid.IntRange(0, 12).Draw(t, "ticks")
		for i := range n {
			l.Ticks = append(l.Ticks, plot.Tick{At: float64(i * i), Label: word.Draw(t, "label"), Note: word.Draw(t, "note")})
		}
		value := rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.Float64Range(50, 51), rapid.Just(math.NaN()))
		for range rapid.IntRange(1, plot.MostSeries).Draw(t, "lines") {
			line := plot.Line{Name: word.Draw(t, "name"), Values: rapid.SliceOfN(value, n, n).Draw(t, "values")}
			for _, v := range line.Values {
				half := rapid.Float64Range(0, 10).Draw(t, "half")
				line.Low, line.High = append(line.Low, v-half), append(line.High, v+half)
			}
			l.Lines = append(l.Lines, line)
		}
		return l
	})
	legend := rapid.Custom(func(t *rapid.T) plot.Chart {
		return plot.Legend{Names: rapid.SliceOfN(word, 0, plot.MostSeries).Draw(t, "names")}
	})
	return rapid.Custom(func(t *rapid.T) plot.Figure {
		f := plot.Figure{Title: word.Draw(t, "title"), Subtitle: word.Draw(t, "subtitle"), Foot: word.Draw(t, "foot")}
		f.Columns = rapid.IntRange(1, 5).Draw(t, "columns")
		for range rapid.IntRange(0, 6).Draw(t, "panels") {
			f.Panels = append(f.Panels, plot.Panel{
				Title: word.Draw(t, "panel"), Note: word.Draw(t, "note"), Heading: rapid.SampledFrom([]string{"", "", "<h>"}).Draw(t, "heading"),
				Span: rapid.IntRange(0, f.Columns).Draw(t, "span"), Chart: rapid.OneOf(histogram, bars, lines, legend).Draw(t, "chart"),
			})
		}
		return f
	})
}

// Whatever the text and the numbers, a figure is XML, its bars lie on the page
// and have a size, and it is the same twice.
func TestFigureProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFigure().Draw(t, "figure")
		doc := svg(t, f)
		if again := svg(t, f); again != doc {
			t.Fatal("two drawings of one figure differ")
		}
		p, err := read(doc)
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, doc)
		}
		for _, r := range p.rects {
			if !(r.x >= 0 && r.y >= 0 && r.w > 0 && r.h > 0 && r.x+r.w <= p.width && r.y+r.h <= p.height) {
				t.Fatalf("a bar leaves the page of %v×%v: %+v", p.width, p.height, r)
			}
		}
		for _, s := range p.all {
			if strings.ContainsAny(s, "\u202e\x00") {
				t.Fatalf("a control character came through in %q", s)
			}
		}
	})
}

// The heights of the bars, added up, are to the counts as one bar is to its.
func TestHistogramIsInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// At least 1 in 100 of the most, so that no bar is drawn larger than it is.
		counts := rapid.SliceOfN(rapid.IntRange(100, 10_000), 1, 30).Draw(t, "counts")
		var h plot.Histogram
		sum := 0
		for i, n := range counts {
			h.Bins = append(h.Bins, plot.Bin{From: i, To: i, Count: n})
			sum += n
		}
		p, err := read(svg(t, plot.Figure{Panels: []plot.Panel{{Chart: h}}}))
		if err != nil {
			t.Fatal(err)
		}
		var heights []float64
		total := 0.0
		for _, r := range p.rects {
			if r.class == "s0" {
				heights = append(heights, r.h)
				total += r.h
			}
		}
		if len(heights) != len(counts) {
			t.Fatalf("%d bars for %d counts", len(heights), len(counts))
		}
		for i, n := range counts {
			want := float64(n) / float64(sum) * total
			if math.Abs(heights[i]-want) > .02*float64(len(counts))+.02 {
				t.Fatalf("bar %d is %v pixels, want %v", i, heights[i], want)
			}
		}
	})
}

// The parts of a stack fill the row, each by its share.
func TestStackIsInProportion(t *testing.T) {
	b := plot.Bars{Stack: true, Categories: []string{"a"}, Series: []plot.Series{
		{Name: "x", Values: []float64{1}}, {Name: "y", Values: []float64{3}}, {Name: "z", Values: []float64{0}},
	}}
	p, err := read(svg(t, plot.Figure{Panels: []plot.Panel{{Chart: b}}}))
	if err != nil {
		t.Fatal(err)
	}
	widths := map[string]float64{}
	for _, r := range p.rects {
		if r.h > 9 { // swatches of the legend are 9 high
			widths[r.class] = r.w + 1 // a pixel is left between the parts
		}
	}
	if got := widths["s1"] / widths["s0"]; math.Abs(got-3) > .01 {
		t.Errorf("y is %v times as wide as x, want 3", got)
	}
	if w, ok := widths["s2"]; ok {
		t.Errorf("a part of nothing is %v wide, want no part", w)
	}
	text := strings.Join(p.texts, "|")
	for _, want := range []string{"25.0 %", "75.0 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("the row does not say %s: %s", want, text)
		}
	}
}

func TestErrors(t *testing.T) {
	bars := func(s ...plot.Series) plot.Bars { return plot.Bars{Categories: []string{"a"}, Series: s} }
	one := plot.Series{Values: []float64{1}}
	for _, test := range []struct {
		name  string
		panel plot.Panel
		want  string
	}{
		{"no chart", plot.Panel{}, `plot: panel 0 "p": no chart`},
		{"a span wider than the figure", plot.Panel{Span: 5, Chart: bars(one)}, "spans 5 columns: want 0 to 4"},
		{"a count below zero", plot.Panel{Chart: plot.Histogram{Bins: []plot.Bin{{Count: -1}}}}, "bin 0 counts -1"},
		{"a bin that ends before it starts", plot.Panel{Chart: plot.Histogram{Bins: []plot.Bin{{From: 2, To: 1}}}}, "from 2 to 1"},
		{"a tail before the end", plot.Panel{Chart: plot.Histogram{Bins: []plot.Bin{{Tail: true}, {From: 1, To: 1}}}}, "bin 0 of 2 is a tail"},
		{"no series", plot.Panel{Chart: bars()}, "no series"},
		{"more series than colours", plot.Panel{Chart: bars(one, one, one, one, one, one, one)}, "7 series: only 6"},
		{"a value too many", plot.Panel{Chart: bars(plot.Series{Name: "x", Values: []float64{1, 2}})}, `"x" has 2 values for 1 categories`},
		{"a label too few", plot.Panel{Chart: bars(plot.Series{Values: []float64{1}, Labels: []string{}})}, "0 labels for 1 values"},
		{"not a number", plot.Panel{Chart: bars(plot.Series{Values: []float64{math.NaN()}})}, `NaN for "a"`},
		{"an infinite value", plot.Panel{Chart: bars(plot.Series{Values: []float64{math.Inf(1)}})}, "+Inf"},
		{"a scale below zero", plot.Panel{Chart: plot.Bars{Series: []plot.Series{{}}, Top: -1}}, "ends at -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.panel.Title = "p"
			var out bytes.Buffer
			err := plot.Figure{Panels: []plot.Panel{test.panel}}.WriteSVG(&out)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q in it", err, test.want)
			}
			if out.Len() > 0 {
				t.Errorf("%d bytes were written", out.Len())
			}
		})
	}
	if err := (plot.Figure{Columns: 9}).WriteSVG(io.Discard); err == nil {
		t.Error("nine columns are no error")
	}
	full := errors.New("disk full")
	if err := sample().WriteSVG(failing{full}); !errors.Is(err, full) {
		t.Errorf("the error of the writer comes back as %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// The description tells a reader who cannot see the figure what it shows.
func TestDescription(t *testing.T) {
	doc := svg(t, sample())
	_, rest, _ := strings.Cut(doc, "<desc>")
	desc, _, _ := strings.Cut(rest, "</desc>")
	for _, want := range []string{
		"Calls (mean 2.0): histogram from 0 to 9, the most (8 of 13 records) at 1.",
		"Nothing: no values.",
		"Records: acme 12; 天気 1.",
		"Hops: acme single 75.0 %, multi 25.0 %; 天気 single 0 %, multi 0 %.",
		"Sides: acme train 1.50, test none; 天気 train 1, test four.",
	} {
		if !strings.Contains(desc, want) {
			t.Errorf("the description lacks %q:\n%s", want, desc)
		}
	}
}

func TestNiceStep(t *testing.T) {
	for _, test := range []struct {
		top  float64
		n    int
		want float64
	}{{0, 4, 1}, {math.NaN(), 4, 1}, {math.Inf(1), 4, 1}, {9, 0, 1}, {4, 4, 1}, {5, 4, 2}, {20, 4, 5}, {20.5, 4, 10}, {.3, 3, .1}, {1, 1, 1}, {3_000_000, 4, 1_000_000}} {
		if got := plot.NiceStep(test.top, test.n); got != test.want {
			t.Errorf("NiceStep(%v, %d) = %v, want %v", test.top, test.n, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		top, n := rapid.IntRange(1, 1<<40).Draw(t, "top"), rapid.IntRange(1, 50).Draw(t, "n")
		got := plot.NiceStep(float64(top), n)
		// The second way: all whole steps from below.
		for want, i := 1, 0; ; i++ {
			if want*n >= top {
				if top >= n && got != float64(want) {
					t.Fatalf("NiceStep(%d, %d) = %v, want %d", top, n, got, want)
				}
				break
			}
			want = want / []int{1, 2, 5}[i%3] * []int{2, 5, 10}[i%3]
		}
		if got*float64(n) < float64(top)*(1-1e-12) {
			t.Fatalf("NiceStep(%d, %d) = %v does not reach", top, n, got)
		}
	})
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 12: "12", 999: "999", 1_000: "1,000", 387_123: "387,123", 1_520_684: "1,520,684", -1_234: "-1,234"} {
		if got := plot.Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func Example() {
	f := plot.Figure{Title: "Corpus", Panels: []plot.Panel{{
		Title: "Calls per record",
		Chart: plot.Histogram{Y: "records", Bins: []plot.Bin{{From: 1, To: 1, Count: 9}, {From: 2, To: 2, Count: 3}}},
	}}}
	var out strings.Builder
	if err := f.WriteSVG(&out); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "<title>") || strings.HasPrefix(line, "<desc>") {
			fmt.Print(line)
		}
	}
	// Output:
	// <title>Corpus</title>
	// <desc>Calls per record: histogram from 1 to 2, the most (9 of 12 records) at 1.</desc>
}

func FuzzText(f *testing.F) {
	f.Add("a<b>&\"'\x00\ufffe\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		fig := plot.Figure{Title: s, Panels: []plot.Panel{{Title: s, Note: s, Heading: s, Chart: plot.Bars{
			Categories: []string{s}, Series: []plot.Series{{Name: s, Values: []float64{1}, Labels: []string{s}}},
		}}, {Chart: plot.Lines{
			X: s, Y: s, Ticks: []plot.Tick{{Label: s, Note: s}}, Lines: []plot.Line{{Name: s, Values: []float64{1}}},
		}}}}
		if _, err := read(svg(t, fig)); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkWriteSVG(b *testing.B) {
	f := sample()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.WriteSVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
