package census_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/census"
	"assay/qaoa"
)

// values draws values of all the sizes that a Dist treats apart.
func values() *rapid.Generator[[]int] {
	x := rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, 12_000), rapid.IntRange(9_900, 10_300), rapid.IntRange(0, 90_000_000))
	return rapid.OneOf(rapid.SliceOfN(x, 1, 200), rapid.SliceOfN(rapid.IntRange(9_980, 10_020), 1, 200), rapid.SliceOfN(rapid.IntRange(0, 8), 1, 200))
}

// The counts of a histogram add up, its bins are even, follow each other and
// start at multiples of their width, and each holds exactly the values that
// belong to it; the order of adding plays no part.
func TestHistogramProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := values().Draw(t, "values")
		most := rapid.IntRange(1, 40).Draw(t, "bins")
		var d, shuffled census.Dist
		for _, x := range xs {
			d.Add(x)
		}
		for _, x := range rapid.Permutation(xs).Draw(t, "shuffled") {
			shuffled.Add(x)
		}
		bins := d.Histogram(most)
		if again := shuffled.Histogram(most); !slices.Equal(bins, again) {
			t.Fatalf("in another order the bins are %v, not %v", again, bins)
		}
		regular := len(bins)
		if bins[regular-1].Tail {
			regular--
		}
		if regular < 1 || regular > most {
			t.Fatalf("%d bins, want 1 to %d: %v", regular, most, bins)
		}
		width := bins[0].To - bins[0].From + 1
		sum := 0
		for i, b := range bins {
			sum += b.Count
			if b.Tail && i != len(bins)-1 || !b.Tail && (b.To-b.From+1 != width || b.From%width != 0) || i > 0 && b.From != bins[i-1].To+1 {
				t.Fatalf("bin %d of %v is out of line", i, bins)
			}
			n := 0
			for _, x := range xs {
				if x >= b.From && x <= b.To {
					n++
				}
			}
			if n != b.Count {
				t.Fatalf("bin %v holds %d of %v", b, n, xs)
			}
		}
		if sum != d.N || sum != len(xs) {
			t.Fatalf("the bins count %d of %d", sum, len(xs))
		}
		if last := bins[len(bins)-1]; last.Tail && (last.Count*100 > len(xs) || last.To != d.Max) {
			t.Fatalf("the tail %+v of %d values holds over 1 %% or does not end at %d", last, len(xs), d.Max)
		}
	})
}

// The bins of a logarithmic histogram follow each other, start at the values
// they should, and each holds exactly the values that belong to it.
func TestLogHistogramProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.OneOf(values(), rapid.SliceOfN(rapid.IntRange(0, math.MaxInt/1000), 1, 50)).Draw(t, "values")
		var d census.Dist
		for _, x := range xs {
			d.Add(x)
		}
		bins := d.LogHistogram()
		for i, b := range bins {
			lead := strings.TrimRight(strconv.Itoa(b.From), "0")
			if !slices.Contains([]string{"", "1", "15", "2", "3", "5", "7"}, lead) || i > 0 && b.From != bins[i-1].To+1 || b.Tail {
				t.Fatalf("bin %d of %v is out of line", i, bins)
			}
			n := 0
			for _, x := range xs {
				if x >= b.From && x <= b.To {
					n++
				}
			}
			if n != b.Count {
				t.Fatalf("bin %v holds %d of %v", b, n, xs)
			}
		}
		if first, last := bins[0], bins[len(bins)-1]; first.Count == 0 || last.Count == 0 {
			t.Fatalf("the bins go beyond the values: %v", bins)
		}
	})
	var d census.Dist
	if bins := d.LogHistogram(); bins != nil {
		t.Errorf("no value has the bins %v", bins)
	}
	d.Add(math.MaxInt)
	if bins := d.LogHistogram(); len(bins) != 1 || bins[0].Count != 1 {
		t.Errorf("the largest int has the bins %v", bins)
	}
}

func TestHistogram(t *testing.T) {
	add := func(runs ...int) *census.Dist { // value, times, value, times …
		var d census.Dist
		for i := 0; i < len(runs); i += 2 {
			for range runs[i+1] {
				d.Add(runs[i])
			}
		}
		return &d
	}
	for _, test := range []struct {
		name string
		d    *census.Dist
		bins int
		want string
	}{
		{"no value has no bin", add(), 20, "[]"},
		{"no bin is no histogram", add(1, 1), 0, "[]"},
		{"one value has one bin", add(7, 3), 20, "[7:3]"},
		{"few values have a bin each, empty ones too", add(1, 5, 3, 2), 20, "[1:5 2:0 3:2]"},
		{"what does not fit goes into wider bins", add(0, 1, 5, 1, 10, 1), 4, "[0–4:1 5–9:1 10–14:1]"},
		{"rare large values make a tail", add(1, 99, 2, 100, 500, 1), 5, "[1:99 2:100 ≥ 3:1]"},
		{"values that are near enough make none", add(1, 99, 2, 100, 5, 1), 5, "[1:99 2:100 3:0 4:0 5:1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, b := range test.d.Histogram(test.bins) {
				got = append(got, fmt.Sprintf("%v:%d", b, b.Count))
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("have %v, want %s", got, test.want)
			}
		})
	}
}

// corpus returns records of three sources with every class and strategy.
func corpus() []qaoa.Record {
	call := func(args string) qaoa.Call { return qaoa.Call{Name: "find", Arguments: qaoa.JSON(args)} }
	tools := []qaoa.Tool{{Name: "find", Domain: "Travel", Category: "Search"}, {Name: "other", Domain: "Travel"}}
	one := qaoa.Turn{Query: "find it", Steps: []qaoa.Step{{Calls: []qaoa.Call{call(`{"a":1}`)}}}, Answer: "found"}
	parallel := qaoa.Turn{Query: "find both", Steps: []qaoa.Step{{Calls: []qaoa.Call{call(`{"a":1}`), call(`{"a":2}`)}}}}
	serial := qaoa.Turn{Query: "find and book", Steps: []qaoa.Step{
		{Calls: []qaoa.Call{call(`{"a":1}`)}, Observations: []string{"id AB-77"}}, {Calls: []qaoa.Call{call(`{"a":"AB-77"}`)}},
	}}
	talk := qaoa.Turn{Query: "hello", Answer: "hi"}
	var out []qaoa.Record
	for i, turns := range [][]qaoa.Turn{{one}, {parallel}, {serial, talk}, {one, parallel, parallel}, {one}} {
		source := []string{"acme", "acme", "birch", "birch", "cedar"}[i]
		out = append(out, qaoa.Record{ID: fmt.Sprintf("%s/%d", source, i), Source: qaoa.Source{Name: source}, Tools: tools[:1+i%2], Turns: turns})
	}
	return out
}

func count(recs []qaoa.Record) *census.Census {
	var c census.Census
	for _, r := range recs {
		c.Add(r)
	}
	return &c
}

func draw(t interface{ Fatal(...any) }, c *census.Census, title string) string {
	var out strings.Builder
	if err := c.WriteSVG(&out, title); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Figure, text and JSON do not depend on the order of the records.
func TestOrderPlaysNoPart(t *testing.T) {
	forms := func(t *rapid.T, c *census.Census) string {
		var text strings.Builder
		if err := c.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return draw(t, c, "") + text.String() + string(data)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := forms(t, count(corpus()))
		if got := forms(t, count(rapid.Permutation(corpus()).Draw(t, "order"))); got != want {
			t.Fatal("the forms differ")
		}
	})
}

func TestWriteSVG(t *testing.T) {
	c := count(corpus())
	doc := draw(t, c, "Three sources")
	for _, want := range []string{
		"<title>Three sources</title>",
		"5 records · 8 turns · 11 calls · 3 sources · serial:parallel 1:3.00 (multi-hop turns).",
		"Calls per record (mean 2.20 · median 2 · max 5): histogram from 1 to 5, the most (2 of 5 records) at 1.",
		"Messages per record (mean 7.60 · median 6 · max 16): histogram from 4 to 16, the most (2 of 5 records) at 4.",
		"single-turn 60.0 %; multi-turn 40.0 %; no call 12.5 %; single-hop 37.5 %; multi-hop 50.0 %; serial 25.0 %; parallel 75.0 %.",
		"Domains of tools (1 name; 7 of 7 tools on offer carry one): Travel 7.",
		"Categories of tools (1 name; 5 of 7 tools on offer carry one): Search 5.",
		"Records (the most first; the other panels keep the order): acme 2; birch 2; cedar 1.",
		"Strategies (share of multi-hop turns): acme serial 0.0 %, parallel 100.0 %; birch serial 33.3 %, parallel 66.7 %; cedar serial 0 %, parallel 0 %.",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("the figure lacks %q:\n%s", want, doc)
		}
	}
	alone := draw(t, c.Sources["cedar"], "")
	if !strings.Contains(alone, "<title>Records by shape and size</title>") || strings.Contains(alone, "By source") {
		t.Errorf("the figure of one source has no title of its own or compares sources:\n%s", alone)
	}
	full := errors.New("disk full")
	if err := c.WriteSVG(failing{full}, ""); !errors.Is(err, full) {
		t.Errorf("the error of the writer comes back as %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// An empty census has all its forms.
func TestEmpty(t *testing.T) {
	var c census.Census
	doc := draw(t, &c, "")
	if !strings.Contains(doc, "0 records · 0 turns · 0 calls · serial:parallel n/a") {
		t.Errorf("the figure does not say that there is nothing:\n%s", doc)
	}
	if err := c.WriteText(io.Discard); err != nil {
		t.Error(err)
	}
	if data, err := json.Marshal(&c); err != nil || !strings.Contains(string(data), `"parallel_per_serial":null`) {
		t.Errorf("JSON is %s (%v)", data, err)
	}
}

// Names from a hostile file neither fill the memory nor break a form.
func TestHostileNames(t *testing.T) {
	var c census.Census
	for i := range 3_000 {
		c.Add(qaoa.Record{
			Source: qaoa.Source{Name: fmt.Sprintf("\x1b[2J<&\xff%d", i)},
			Tools:  []qaoa.Tool{{Name: "f", Domain: fmt.Sprintf("%d%s", i, strings.Repeat("é", 500))}},
			Turns:  []qaoa.Turn{{Query: "q"}},
		})
	}
	if len(c.Sources) != 101 || c.Sources["(more sources)"].Records != 2_900 {
		t.Errorf("%d sources, %d records under the last; want 101 and 2900", len(c.Sources), c.Sources["(more sources)"].Records)
	}
	if c.Domains.Names() != 2_000 || c.Domains.Named != 3_000 || c.Domains.Further != 1_000 {
		t.Errorf("domains: %d names, %d named, %d further; want 2000, 3000, 1000", c.Domains.Names(), c.Domains.Named, c.Domains.Further)
	}
	for _, n := range c.Domains.Top(3_000) {
		if len(n.Name) > 80 || strings.ContainsRune(n.Name, '\ufffd') {
			t.Fatalf("a name has %d bytes: %q", len(n.Name), n.Name)
		}
	}
	var text strings.Builder
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\x00") {
		t.Error("the text steers the terminal")
	}
	if err := xml.Unmarshal([]byte(draw(t, &c, "\x1b&")), new(struct{})); err != nil {
		t.Errorf("the figure is not XML: %v", err)
	}
	if data, err := json.Marshal(&c); err != nil || !json.Valid(data) {
		t.Errorf("not valid JSON (%v)", err)
	}
}

func TestTallyTop(t *testing.T) {
	var tally census.Tally
	for _, name := range []string{"b", "a", "", "c", "c"} {
		tally.Add(name)
	}
	if got := fmt.Sprint(tally.Top(2), tally.Top(9), tally.Top(-1), tally.Named, tally.Unnamed); got != "[{c 2} {a 1}] [{c 2} {a 1} {b 1}] [] 4 1" {
		t.Errorf("have %s", got)
	}
}

// The histograms of the JSON form add up to n.
func TestJSONHistograms(t *testing.T) {
	data, err := json.Marshal(count(corpus()))
	if err != nil {
		t.Fatal(err)
	}
	type dist struct {
		N         int
		Histogram []struct{ From, To, N int }
	}
	var form struct {
		Calls    dist    `json:"calls_per_record"`
		Messages dist    `json:"messages_per_record"`
		Tokens   dist    `json:"tokens_estimate"`
		Ratio    float64 `json:"parallel_per_serial"`
		Domains  struct {
			Names map[string]int
		} `json:"tool_domains"`
		Sources map[string]struct {
			Turns dist `json:"turns_per_record"`
		}
	}
	if err := json.Unmarshal(data, &form); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]dist{"calls": form.Calls, "messages": form.Messages, "tokens": form.Tokens, "birch turns": form.Sources["birch"].Turns} {
		sum := 0
		for _, b := range d.Histogram {
			sum += b.N
		}
		if d.N == 0 || sum != d.N {
			t.Errorf("%s: the bins count %d of %d", name, sum, d.N)
		}
	}
	if form.Ratio != 3 || form.Domains.Names["Travel"] != 7 {
		t.Errorf("ratio %v, domains %v; want 3, Travel 7", form.Ratio, form.Domains.Names)
	}
}

func ExampleCensus_WriteText() {
	var c census.Census
	for _, rec := range corpus() {
		c.Add(rec)
	}
	if err := c.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// records                                    5
	//   single-turn                              3
	//   multi-turn                               2
	//   with an error                            0
	// turns                                      8
	//   single-hop                               3
	//   multi-hop                                4
	//     serial                                 1
	//     parallel                               3
	//   no call                                  1
	// calls                                      11
	// steps of 2 calls or more                   3
	// calls per record                           mean 2.20, min 1, median 2, p90 5, p99 5, max 5
	// calls per turn                             mean 1.38, min 0, median 1, p90 2, p99 2, max 2
	// turns per record                           mean 1.60, min 1, median 1, p90 3, p99 3, max 3
	// tools per record                           mean 1.40, min 1, median 1, p90 2, p99 2, max 2
	// messages per record                        mean 7.60, min 4, median 6, p90 16, p99 16, max 16
	// characters per record                      mean 43.60, min 23, median 31, p90 85, p99 85, max 85
	// tokens per record (estimate: bytes/3.5)    mean 12.80, min 7, median 9, p90 25, p99 25, max 25
	// serial:parallel, multi-hop turns           1:3.00
	// domains of tools on offer                  7 of 7 tools, 1 name
	//   Travel                                   7
	// categories of tools on offer               5 of 7 tools, 1 name
	//   Search                                   5
	// finding warning no_call                    1
	// finding warning unknown_argument           11
	//
	// by source                  records     turns     calls  multi-  multi-      no   serial:  calls/   msgs/  tools/   tokens/
	//                                                         turn %   hop %  call %  parallel  record  record  record    record
	// acme                             2         2         3     0.0    50.0     0.0       0:1    1.50    5.00    1.50       8.0
	// birch                            2         5         7   100.0    60.0    20.0    1:2.00    3.50   12.00    1.50      20.5
	// cedar                            1         1         1     0.0     0.0     0.0       n/a    1.00    4.00    1.00       7.0
	// all                              5         8        11    40.0    50.0    12.5    1:3.00    2.20    7.60    1.40      12.8
}

func ExampleCensus_WriteSVG() {
	var c census.Census
	for _, rec := range corpus() {
		c.Add(rec)
	}
	var svg strings.Builder
	if err := c.WriteSVG(&svg, "Acme and others"); err != nil {
		fmt.Println(err)
		return
	}
	_, rest, _ := strings.Cut(svg.String(), "<title>")
	title, _, _ := strings.Cut(rest, "</title>")
	fmt.Println(title)
	// Output: Acme and others
}

func BenchmarkAdd(b *testing.B) {
	recs := corpus()
	// As long as a record of a training corpus: 10 tools, 2 kB of observations.
	for i := range recs {
		for range 8 {
			recs[i].Tools = append(recs[i].Tools, recs[i].Tools[0])
		}
		for j := range recs[i].Turns {
			for k := range recs[i].Turns[j].Steps {
				s := &recs[i].Turns[j].Steps[k]
				s.Observations = make([]string, len(s.Calls))
				for l := range s.Observations {
					s.Observations[l] = strings.Repeat("a result of a call. ", 100)
				}
			}
		}
	}
	size := 0
	for _, r := range recs {
		size += len(qaoa.AppendRecord(nil, r))
	}
	var c census.Census
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range recs {
			c.Add(r)
		}
	}
}

func BenchmarkDistAdd(b *testing.B) {
	var d census.Dist
	b.ReportAllocs()
	x := 0
	for b.Loop() {
		x = (x*7 + 3) % 40_000
		d.Add(x)
	}
}

// Whatever record is counted, the forms are valid.
func FuzzAdd(f *testing.F) {
	for _, r := range corpus() {
		f.Add(qaoa.AppendRecord(nil, r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := qaoa.DecodeRecord(data)
		if err != nil {
			return
		}
		c := count([]qaoa.Record{rec, rec})
		if c.Records != 2 || c.CallsPerRecord.N != 2 || c.Turns != c.NoCall+c.SingleHop+c.MultiHop || c.MultiHop != c.SerialTurns+c.ParallelTurns {
			t.Errorf("the counts do not add up: %+v", c)
		}
		if err := xml.Unmarshal([]byte(draw(t, c, rec.ID)), new(struct{})); err != nil {
			t.Errorf("the figure is not XML: %v", err)
		}
		if out, err := json.Marshal(c); err != nil || !json.Valid(out) {
			t.Errorf("not valid JSON (%v): %s", err, out)
		}
	})
}
