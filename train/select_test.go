package train_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/contam"
	"assay/qaoa"
	"assay/train"
)

// rec returns a record of so many calls in each turn. A call list is written
// as "1", "2" (parallel) or "1+1" (two steps, the second depends on the first).
func rec(id, source, query string, turns ...string) qaoa.Record {
	r := qaoa.Record{
		ID: id, Source: qaoa.Source{Name: source},
		Tools: []qaoa.Tool{{Name: "f", Description: "Does f for " + source, Parameters: `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`}},
	}
	for i, t := range turns {
		turn := qaoa.Turn{Query: fmt.Sprint(query, " ", i)}
		for k, step := range strings.Split(t, "+") {
			var s qaoa.Step
			for n := range len(step) * int(step[0]-'0') {
				arg := fmt.Sprintf("%s-%d-%d-%d", id, i, k, n)
				if k > 0 {
					arg = fmt.Sprintf("result_%d_%d", i, k-1)
				}
				s.Calls = append(s.Calls, qaoa.Call{Name: "f", Arguments: qaoa.JSON(fmt.Sprintf(`{"x":%q}`, arg))})
				s.Observations = append(s.Observations, fmt.Sprintf("result_%d_%d", i, k))
			}
			if len(s.Calls) > 0 {
				turn.Steps = append(turn.Steps, s)
			}
		}
		r.Turns = append(r.Turns, turn)
	}
	return r
}

func TestSelection(t *testing.T) {
	recs := []qaoa.Record{
		rec("a/1", "a", "first question of all", "1"),
		rec("a/2", "a", "second question of all", "2", "1"),
		rec("b/1", "b", "third question of all", "1+1"),
		rec("b/2", "b", "fourth question of all", "0"),
		rec("b/3", "b", "第五", "1"),
	}
	unknown := rec("b/4", "b", "a call of an unknown tool", "1")
	unknown.Turns[0].Steps[0].Calls[0].Name = "g"
	missing := rec("b/5", "b", "a missing argument", "1")
	missing.Turns[0].Steps[0].Calls[0].Arguments = `{}`
	again := recs[0]
	again.ID = "b/6"
	again.Turns = []qaoa.Turn{{Query: "First question, of ALL 0!", Steps: recs[0].Turns[0].Steps}}
	recs = append(recs, unknown, missing, again)
	tests := []struct {
		name string
		sel  train.Selection
		want string
		drop string
	}{
		{"all but exact duplicates", train.Selection{}, "a/1 a/2 b/1 b/2 b/3 b/4 b/5", "b/6:duplicate"},
		{"duplicates too", train.Selection{Dedup: train.DedupOff}, "a/1 a/2 b/1 b/2 b/3 b/4 b/5 b/6", ""},
		{"one source", train.Selection{Sources: []string{"a"}}, "a/1 a/2", "b/1:not_selected b/2:not_selected b/3:not_selected b/4:not_selected b/5:not_selected b/6:duplicate"},
		{"multi-hop", train.Selection{Shapes: []string{"multi-hop"}}, "a/2 b/1", "a/1:not_selected b/2:not_selected b/3:not_selected b/4:not_selected b/5:not_selected b/6:not_selected"},
		{"serial, or many turns", train.Selection{Shapes: []string{"single-turn/serial", "multi-turn"}}, "a/2 b/1", "a/1:not_selected b/2:not_selected b/3:not_selected b/4:not_selected b/5:not_selected b/6:not_selected"},
		{"numbers of calls", train.Selection{Calls: train.Range{Min: 2, Max: 2}}, "b/1", "a/1:not_selected a/2:not_selected b/2:not_selected b/3:not_selected b/4:not_selected b/5:not_selected b/6:not_selected"},
		{"numbers of tools", train.Selection{Tools: train.Range{Min: 2}}, "", "a/1:not_selected a/2:not_selected b/1:not_selected b/2:not_selected b/3:not_selected b/4:not_selected b/5:not_selected b/6:not_selected"},
		{"strict", train.Selection{Strict: true}, "a/1 a/2 b/1 b/3", "b/2:no_call b/4:unknown_tool b/5:missing_required b/6:duplicate"},
		{"a language rule", train.Selection{Language: "cjk"}, "a/1 a/2 b/1 b/2 b/4 b/5", "b/3:non_english b/6:duplicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var taken, dropped []string
			tt.sel.OnDecision = func(d train.Decision) { dropped = append(dropped, d.ID+":"+d.Code) }
			recs, counts, err := train.Select(t.Context(), seqOf(recs...), tt.sel)
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range recs {
				if err != nil {
					t.Fatal(err)
				}
				taken = append(taken, r.ID)
			}
			if got := strings.Join(taken, " "); got != tt.want {
				t.Errorf("taken %q, want %q", got, tt.want)
			}
			if got := strings.Join(dropped, " "); got != tt.drop {
				t.Errorf("dropped %q, want %q", got, tt.drop)
			}
			sum := 0
			for _, n := range counts.Dropped {
				sum += n
			}
			if counts.Read != 8 || counts.Taken != len(taken) || sum != len(dropped) {
				t.Errorf("counts %+v", counts)
			}
		})
	}
}

func TestSelectionOptions(t *testing.T) {
	tests := []struct {
		sel  train.Selection
		want string
	}{
		{train.Selection{Shapes: []string{"hop"}}, `shape "hop": want one of`},
		{train.Selection{Shapes: []string{"serial/parallel"}}, "shape"},
		{train.Selection{Calls: train.Range{Min: 3, Max: 2}}, "range 3-2"},
		{train.Selection{Dedup: "fuzzy"}, "want exact, near or off"},
		{train.Selection{Threshold: 1.5}, "threshold 1.5"},
		{train.Selection{Language: "french"}, "language rule"},
		{train.Selection{Contaminated: []contam.Level{"word"}}, "want query, ngram, tool or calls"},
	}
	for _, tt := range tests {
		if err := tt.sel.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: err = %v, want one with %q", tt.sel, err, tt.want)
		}
		if _, _, err := train.Select(t.Context(), seqOf(), tt.sel); err == nil {
			t.Errorf("%+v: Select takes it", tt.sel)
		}
	}
}

func TestContaminationAndNearDuplicates(t *testing.T) {
	const long = "please find the cheapest direct flight from Oslo to Rome on the first of May for two adults and"
	x := contam.New()
	x.Add(rec("bench/1", "bench", long, "1"))
	recs := []qaoa.Record{
		rec("a/1", "a", strings.ToUpper(long), "1"),
		rec("a/2", "a", "Hello, "+long+" one child", "1"),
		rec("a/3", "a", "tell me a long story about a wolf and a girl with a red hood who met in the wood on a day in spring when all birds were singing", "1"),
		rec("a/4", "a", "tell me a long story about a wolf and a girl with a red hood who met in the wood on a day in spring when all birds were silent", "1"),
	}
	tool := rec("a/5", "bench", "something else entirely", "1")
	tool.Source.Name = "a"
	recs = append(recs, tool)
	run := func(sel train.Selection) (taken, told []string, counts train.Selected) {
		sel.Against = x
		sel.OnDecision = func(d train.Decision) {
			told = append(told, fmt.Sprintf("%s:%s:%s:%v", d.ID, d.Code, d.Item, d.Dropped))
		}
		seq, c, err := train.Select(t.Context(), seqOf(recs...), sel)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, r.ID)
		}
		return taken, told, *c
	}
	taken, told, counts := run(train.Selection{Contaminated: []contam.Level{contam.Query, contam.NGram}, Dedup: train.DedupNear})
	want := []string{
		"a/1:contaminated_query:bench/1:true", "a/1:contaminated_ngram:bench/1:false", "a/2:contaminated_ngram:bench/1:true",
		"a/4:near_duplicate:a/3:true", "a/5:contaminated_tool:bench/1:false",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("decisions: -want +got\n%s", d)
	}
	if !slices.Equal(taken, []string{"a/3", "a/5"}) || counts.Contaminated[contam.NGram]["bench"] != 2 || counts.Dropped["contaminated_query"] != 1 {
		t.Errorf("taken %v, counts %+v", taken, counts)
	}
	if taken, _, _ := run(train.Selection{}); len(taken) != 5 {
		t.Errorf("only reporting took %v", taken)
	}
	if taken, _, _ := run(train.Selection{Contaminated: contam.Levels()}); !slices.Equal(taken, []string{"a/3", "a/4"}) {
		t.Errorf("dropping every level took %v", taken)
	}
}

func opener(recs ...qaoa.Record) train.Opener {
	return func(context.Context) iter.Seq2[qaoa.Record, error] { return seqOf(recs...) }
}

// corpus returns n records of a source with shapes in turn.
func corpus(source string, n int) []qaoa.Record {
	var out []qaoa.Record
	for i := range n {
		turns := [][]string{{"1"}, {"2"}, {"1+1"}, {"1", "1"}}[i%4]
		out = append(out, rec(fmt.Sprintf("%s/%d", source, i), source, fmt.Sprintf("question %d of %s", i, source), turns...))
	}
	return out
}

func chosen(t testing.TB, c *train.Choice) []string {
	t.Helper()
	var ids []string
	for r, err := range c.Records(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

func choose(t testing.TB, mix train.Mixture, recs ...qaoa.Record) *train.Choice {
	t.Helper()
	c, err := train.Choose(t.Context(), opener(recs...), train.Selection{}, mix)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPublicMixedVectors(t *testing.T) {
	tests := []struct {
		sizes []int
		total int
		want  []int
	}{
		{[]int{122, 2429, 7, 28666, 5214}, 979, []int{3, 65, 0, 770, 141}},
		{[]int{100, 100, 3}, 150, []int{73, 73, 3}}, // 4 wanted of the last, and 3 exist
	}
	for _, tt := range tests {
		var recs []qaoa.Record
		for s, n := range tt.sizes {
			for i := range n {
				recs = append(recs, qaoa.Record{ID: fmt.Sprintf("%d/%d", s, i), Source: qaoa.Source{Name: fmt.Sprint("s", s)}, Turns: []qaoa.Turn{{Query: fmt.Sprint(s, " ", i)}}})
			}
		}
		c := choose(t, train.Mixture{Scheme: train.PublicMixed, Total: tt.total}, recs...)
		got := make([]int, len(tt.sizes))
		for _, id := range chosen(t, c) {
			got[id[0]-'0']++
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("sizes %v, total %d: %v, want %v", tt.sizes, tt.total, got, tt.want)
		}
		sum := 0
		for i, g := range c.Plan.Groups {
			if g.Rows != got[i] {
				t.Errorf("the plan says %d rows of %s, and %d were drawn", g.Rows, g.Source, got[i])
			}
			sum += g.Rows
		}
		if c.Plan.Rows != sum {
			t.Errorf("plan of %d rows, groups of %d", c.Plan.Rows, sum)
		}
	}
}

func TestMixtures(t *testing.T) {
	recs := append(corpus("a", 400), corpus("b", 100)...)
	tests := []struct {
		name string
		mix  train.Mixture
		want string // rows by source and shape group
		wish int    // rows short
	}{
		{"all", train.Mixture{}, "*/* 500", 0},
		{"a sample", train.Mixture{Total: 50}, "*/* 50", 0},
		{"more than there is", train.Mixture{Total: 600}, "*/* 500", 100},
		{"repeated", train.Mixture{Total: 600, MaxRepeat: 2}, "*/* 600", 0},
		{"equal shares: as many as the smaller allows", train.Mixture{SourceShares: map[string]float64{"a": 1, "b": 1}}, "a/* 101, b/* 100", 0},
		{"equal shares of a total", train.Mixture{Total: 51, SourceShares: map[string]float64{"a": 1, "b": 1}}, "a/* 26, b/* 25", 0},
		{"a count and the rest", train.Mixture{Total: 60, SourceCounts: map[string]int{"b": 10}, SourceShares: map[string]float64{"*": 1}}, "b/* 10, */* 50", 0},
		{"counts alone", train.Mixture{SourceCounts: map[string]int{"a": 7, "b": 9}}, "a/* 7, b/* 9", 0},
		{"a source that is not named", train.Mixture{SourceShares: map[string]float64{"b": 1}}, "b/* 100", 0},
		{"a source that is not there", train.Mixture{SourceCounts: map[string]int{"b": 9, "c": 9}}, "b/* 9", 9},
		{"shapes", train.Mixture{Total: 100, ShapeShares: map[string]float64{"single-hop": 3, "multi-hop": 1}}, "*/multi-hop 25, */single-hop 75", 0},
		{"sources and shapes", train.Mixture{Total: 40, SourceShares: map[string]float64{"a": 1, "b": 1}, ShapeShares: map[string]float64{"serial": 1, "parallel": 1}}, "a/parallel 10, a/serial 10, b/parallel 10, b/serial 10", 0},
		{"as many serial ones as there are", train.Mixture{ShapeShares: map[string]float64{"serial": 1, "*": 1}}, "*/serial 125, */* 125", 0},
		{"repeated up to a cap", train.Mixture{SourceShares: map[string]float64{"a": 2, "b": 1}, MaxRepeat: 2}, "a/* 401, b/* 200", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := choose(t, tt.mix, recs...)
			var got []string
			for _, g := range c.Plan.Groups {
				got = append(got, fmt.Sprintf("%s/%s %d", g.Source, g.Shape, g.Rows))
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("plan %q, want %q", s, tt.want)
			}
			if c.Plan.Short() != tt.wish {
				t.Errorf("%d short, want %d", c.Plan.Short(), tt.wish)
			}
			if ids := chosen(t, c); len(ids) != c.Plan.Rows {
				t.Errorf("%d drawn, the plan says %d", len(ids), c.Plan.Rows)
			}
			var b strings.Builder
			if err := c.Plan.WriteText(&b); err != nil || !strings.HasPrefix(b.String(), "plan: ") {
				t.Errorf("text %q, %v", b.String(), err)
			}
		})
	}
}

func TestMixtureOptions(t *testing.T) {
	tests := []struct {
		mix  train.Mixture
		want string
	}{
		{train.Mixture{Scheme: "x"}, "want public-mixed"},
		{train.Mixture{Scheme: train.PublicMixed, SourceCounts: map[string]int{"a": 1}}, "no shares and counts"},
		{train.Mixture{Scheme: train.PublicMixed, MaxRepeat: 2}, "no repetition"},
		{train.Mixture{Total: -1}, "-1 rows"},
		{train.Mixture{MaxRepeat: 0.5}, "want 1 to 1000"},
		{train.Mixture{SourceShares: map[string]float64{"a": 0}}, "share 0"},
		{train.Mixture{SourceShares: map[string]float64{"a": 1}, SourceCounts: map[string]int{"a": 1}}, "a share and a count"},
		{train.Mixture{ShapeCounts: map[string]int{"serial": -1}}, "-1 rows"},
		{train.Mixture{ShapeShares: map[string]float64{"hop": 1}}, `shape "hop"`},
		{train.Mixture{ShapeShares: map[string]float64{"serial": 1, "multi-turn": 1}}, "overlap"},
		{train.Mixture{Total: 5, SourceCounts: map[string]int{"a": 9}}, "9 rows, and the total is 5"},
		{train.Mixture{Total: 5, SourceCounts: map[string]int{"a": 3}}, "3 rows, and the total is 5"},
	}
	for _, tt := range tests {
		_, err := train.Choose(t.Context(), opener(corpus("a", 4)...), train.Selection{}, tt.mix)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: err = %v, want one with %q", tt.mix, err, tt.want)
		}
	}
}

// A corpus that is added draws its own records, and changes nothing of others.
func TestMoreCorporaReshuffleNothing(t *testing.T) {
	mix := train.Mixture{SourceCounts: map[string]int{"a": 40, "b": 20, "c": 10}, Seed: 7}
	few := chosen(t, choose(t, mix, append(corpus("a", 400), corpus("b", 100)...)...))
	many := chosen(t, choose(t, mix, append(append(corpus("a", 400), corpus("b", 100)...), corpus("c", 50)...)...))
	if !slices.Equal(few, many[:len(few)]) || len(many) != len(few)+10 {
		t.Errorf("%d records drawn, %d with one more corpus, or others", len(few), len(many))
	}
	mix.SourceCounts["a"] = 60
	more := chosen(t, choose(t, mix, append(corpus("a", 400), corpus("b", 100)...)...))
	for _, id := range few {
		if !slices.Contains(more, id) {
			t.Errorf("%s is not drawn any more when more are", id)
		}
	}
	mix.Seed = 8
	if other := chosen(t, choose(t, mix, append(corpus("a", 400), corpus("b", 100)...)...)); slices.Equal(more, other) {
		t.Error("another seed draws the same")
	}
}

func TestRepetitionIsMarked(t *testing.T) {
	ids := chosen(t, choose(t, train.Mixture{Total: 5, MaxRepeat: 3}, corpus("a", 2)...))
	slices.Sort(ids)
	want := []string{"a/0", "a/0~repeat2", "a/1", "a/1~repeat2"}
	for _, id := range ids {
		if id == "a/0~repeat3" || id == "a/1~repeat3" {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	if len(ids) != 5 || !slices.Equal(ids, want) {
		t.Errorf("drawn %v", ids)
	}
}

func TestChangedInput(t *testing.T) {
	recs := corpus("a", 10)
	reads := 0
	in := func(context.Context) iter.Seq2[qaoa.Record, error] {
		reads++
		switch reads {
		case 1:
			return seqOf(recs...)
		case 2:
			return seqOf(recs[:5]...)
		}
		return seqOf(recs[1:]...)
	}
	c, err := train.Choose(t.Context(), in, train.Selection{}, train.Mixture{Total: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var last error
		for _, err := range c.Records(t.Context()) {
			last = err
		}
		if !errors.Is(last, train.ErrChanged) {
			t.Errorf("err = %v, want ErrChanged", last)
		}
	}
}

// However margins and numbers are, a plan takes no more than there is and than
// was asked, and misses no row that could be had.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shapes := []string{"single-hop", "parallel", "serial", "multi-turn/single-hop"}
		terms := []string{"single-turn/single-hop", "parallel", "serial", "multi-turn/single-hop"}
		turns := [][]string{{"1"}, {"2"}, {"1+1"}, {"1", "1"}}
		var recs []qaoa.Record
		have := map[string]int{}
		for _, s := range []string{"a", "b", "c"} {
			for k := range shapes {
				for i := range rapid.IntRange(0, 6).Draw(rt, s+shapes[k]) {
					recs = append(recs, rec(fmt.Sprint(s, k, "/", i), s, fmt.Sprint("q ", s, k, i), turns[k]...))
					have[s+terms[k]]++
				}
			}
		}
		mix := train.Mixture{SourceCounts: map[string]int{}, ShapeCounts: map[string]int{}}
		sum := 0
		for _, s := range []string{"a", "b", "c"} {
			mix.SourceCounts[s] = rapid.IntRange(0, 12).Draw(rt, "want "+s)
			sum += mix.SourceCounts[s]
		}
		left := sum
		for k, term := range terms {
			n := left
			if k < 3 {
				n = rapid.IntRange(0, left).Draw(rt, "want "+term)
			}
			mix.ShapeCounts[term] = n
			left -= n
		}
		c, err := train.Choose(t.Context(), opener(recs...), train.Selection{}, mix)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]int{}
		rows := map[string]int{}
		for _, g := range c.Plan.Groups {
			if g.Rows > g.Records || g.Records != have[g.Source+g.Shape] {
				rt.Fatalf("group %+v of %d", g, have[g.Source+g.Shape])
			}
			got[g.Source] += g.Rows
			got[g.Shape] += g.Rows
			rows[g.Source+g.Shape] = g.Rows
		}
		for s, n := range mix.SourceCounts {
			if got[s] > n {
				rt.Fatalf("%d rows of %s, want at most %d", got[s], s, n)
			}
		}
		for s, n := range mix.ShapeCounts {
			if got[s] > n {
				rt.Fatalf("%d rows of %s, want at most %d", got[s], s, n)
			}
		}
		if best := mostByCuts(mix, terms, have); c.Plan.Rows != best {
			rt.Fatalf("%d rows, and %d can be had", c.Plan.Rows, best)
		}
		if len(chosen(t, c)) != c.Plan.Rows {
			rt.Fatal("other records drawn than planned")
		}
	})
}

// mostByCuts is the largest number of rows by the theorem of Ford and Fulkerson:
// the least capacity over all ways to cut sources and shapes in two.
func mostByCuts(mix train.Mixture, terms []string, have map[string]int) int {
	sources := []string{"a", "b", "c"}
	best := 1 << 30
	for rows := range 1 << len(sources) {
		for cols := range 1 << len(terms) {
			cut := 0
			for i, s := range sources {
				if rows>>i&1 == 0 {
					cut += mix.SourceCounts[s]
					continue
				}
				for k, term := range terms {
					if cols>>k&1 == 0 {
						cut += have[s+term]
					}
				}
			}
			for k, term := range terms {
				if cols>>k&1 == 1 {
					cut += mix.ShapeCounts[term]
				}
			}
			best = min(best, cut)
		}
	}
	return best
}
