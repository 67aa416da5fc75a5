package toolset_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolset"
)

func TestReport(t *testing.T) {
	pool := newPool(t, small...)
	opt := options(4, 1)
	opt.Seed = 7
	tally := toolset.NewTally(opt)
	recs := []qaoa.Record{
		record("wide", "q", small, "get_weather", "weather_forecast", "weather_alerts", "book_flight", "play_music"),
		record("unknown", "q", small, "nobody"),
		record("quiet", "q", small),
	}
	for i := range 97 {
		recs = append(recs, record(fmt.Sprint(i), "q", small, small[i%len(small)].Name))
	}
	for _, l := range build(t, pool, opt, recs...) {
		tally.Add(l)
	}
	r := tally.Report()
	if r.Lists != 100 || r.Widened != 1 || r.NoGold != 1 || r.Short != 0 || r.Collisions != 0 {
		t.Errorf("report = %+v", r)
	}
	if d := cmp.Diff([]toolset.Length{{4, 99}, {5, 1}}, r.Lengths); d != "" {
		t.Errorf("lengths: %s", d)
	}
	if r.Gold != 103 || r.Covered != 102 || r.Coverage != 102.0/103 {
		t.Errorf("coverage = %d of %d, %v; want 102 of 103", r.Covered, r.Gold, r.Coverage)
	}
	if d := cmp.Diff([]toolset.Mention{{"unknown", []string{"nobody"}}}, r.Uncovered); d != "" {
		t.Errorf("uncovered: %s", d)
	}
	if r.HardNegatives.Mean <= r.EasyNegatives.Mean || r.HardNegatives.Max > 1 || r.EasyNegatives.Min < 0 {
		t.Errorf("similarity of hard negatives %+v, of easy ones %+v", r.HardNegatives, r.EasyNegatives)
	}
	if r.Uniformity == nil || r.Uniformity.Lists != 97 || r.Uniformity.DF != 3 || r.Uniformity.P < 0.001 {
		t.Errorf("uniformity = %+v, want 97 lists, 3 degrees of freedom, a p that is not small", r.Uniformity)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"lists         100 (hybrid-4, 1 easy, seed 7)\n", "4 tools: 99, 5 tools: 1\n",
		"gold coverage 99.03 % (102 of 103 names), NOT complete: ", "not covered: unknown calls nobody\n",
		"widened       1 (wide)\n", "chi-square", ": uniform\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
	if data, err := json.Marshal(r); err != nil || !strings.Contains(string(data), `"chi_square":`) {
		t.Errorf("JSON = %s, %v", data, err)
	}
}

func TestReportOfNothing(t *testing.T) {
	r := toolset.NewTally(toolset.Options{Setting: toolset.GT}).Report()
	if r.Coverage != 1 || r.Uniformity != nil || r.Lists != 0 {
		t.Errorf("report = %+v", r)
	}
	if data, err := json.Marshal(r); err != nil || !strings.Contains(string(data), `"lengths":[]`) || !strings.Contains(string(data), `"positions":[]`) {
		t.Errorf("JSON = %s, %v; want empty lists, not null", data, err)
	}
}

// listedAt is a list of n tools with its gold tool at one position.
func listedAt(n, pos int) toolset.Listed {
	tools := make([]qaoa.Tool, n)
	for i := range tools {
		tools[i].Name = fmt.Sprintf("t%c", 'a'+i)
	}
	rec := record("r", "q", tools, tools[pos].Name)
	return toolset.Listed{Record: rec, Info: toolset.Info{ID: "r", Gold: []int{pos}}}
}

func TestUniformity(t *testing.T) {
	tests := []struct {
		name   string
		counts map[int][]int // by length of list
		want   *toolset.Uniformity
	}{
		// By hand: n/L = 10; (4+0+0+4)/10.
		{"four positions", map[int][]int{4: {12, 10, 10, 8}}, &toolset.Uniformity{Lists: 40, ChiSquare: 0.8, DF: 3, P: upperTail3(0.8)}},
		{"all alike", map[int][]int{4: {5, 5, 5, 5}}, &toolset.Uniformity{Lists: 20, ChiSquare: 0, DF: 3, P: 1}},
		// By hand: n/L = 5; 15²/5 + 3·5²/5.
		{"always first", map[int][]int{4: {20, 0, 0, 0}}, &toolset.Uniformity{Lists: 20, ChiSquare: 60, DF: 3, P: upperTail3(60)}},
		// Length 2 adds (1+1)/5 and a degree of freedom; length 3 has too few.
		{"lengths add up", map[int][]int{3: {1, 1, 2}, 2: {6, 4}, 4: {12, 10, 10, 8}}, &toolset.Uniformity{Lists: 50, ChiSquare: 1.2, DF: 4, P: math.Exp(-0.6) * 1.6}},
		{"too few", map[int][]int{4: {5, 5, 5, 4}}, nil},
		{"one place only", map[int][]int{1: {100}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tally := toolset.NewTally(toolset.Defaults())
			for n, counts := range tt.counts {
				for pos, c := range counts {
					for range c {
						tally.Add(listedAt(n, pos))
					}
				}
			}
			got := tally.Report().Uniformity
			if (got == nil) != (tt.want == nil) {
				t.Fatalf("uniformity = %+v, want %+v", got, tt.want)
			}
			if got == nil {
				return
			}
			if got.Lists != tt.want.Lists || got.DF != tt.want.DF || math.Abs(got.ChiSquare-tt.want.ChiSquare) > 1e-12 || math.Abs(got.P-tt.want.P) > 1e-9 {
				t.Errorf("uniformity = %+v, want %+v", *got, *tt.want)
			}
		})
	}
}

// upperTail3 is the survival function of chi-square with 3 degrees of freedom
// in closed form.
func upperTail3(x float64) float64 {
	return math.Erfc(math.Sqrt(x/2)) + math.Sqrt(2*x/math.Pi)*math.Exp(-x/2)
}

func TestNotUniformIsSaid(t *testing.T) {
	tally := toolset.NewTally(toolset.Defaults())
	for range 200 {
		tally.Add(listedAt(20, 0))
	}
	var b strings.Builder
	if err := tally.Report().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "NOT uniform") {
		t.Errorf("text does not tell that gold is always first:\n%s", b.String())
	}
}

func TestCoverageBelowOneIsNeverRoundedAway(t *testing.T) {
	tests := []struct {
		covered, gold int
		want          string
	}{
		{0, 0, "gold coverage 100.00 % (0 of 0 names)\n"},
		{30, 30, "gold coverage 100.00 % (30 of 30 names)\n"},
		{29, 30, "gold coverage 96.67 % (29 of 30 names), NOT complete: "},
		{199999, 200000, "gold coverage > 99.99 % (199999 of 200000 names), NOT complete: "},
	}
	for _, tt := range tests {
		r := toolset.Report{Setting: toolset.GT, Gold: tt.gold, Covered: tt.covered, Coverage: 1}
		if tt.gold > 0 {
			r.Coverage = float64(tt.covered) / float64(tt.gold)
		}
		var b strings.Builder
		if err := r.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), tt.want) {
			t.Errorf("%d of %d: report %q, want %q in it", tt.covered, tt.gold, b.String(), tt.want)
		}
	}
}
