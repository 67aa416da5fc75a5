package toolset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/toolset"
	"assay/vector"
)

// counting counts how often each text is asked for.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
}

func (*counting) Name() string { return "counting" }

func (c *counting) Vectors(ctx context.Context, texts []string) (*vector.Matrix, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range texts {
		c.asked[t]++
	}
	return letterVectors{}.Vectors(ctx, texts)
}

// Lists by vectors keep every promise of Build, in any order and with any
// number of workers.
func TestDenseListsInAnyOrderAndWithAnyWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		pool, _, err := toolset.NewPool(seqOf(w.pool...), letters)
		if err != nil {
			t.Fatal(err)
		}
		w.opt.Embed, w.opt.Workers = letterVectors{}, 1
		want := lists(t, pool, w.opt, w.recs...)
		w.opt.Workers = rapid.IntRange(2, 5).Draw(t, "workers")
		if d := cmp.Diff(want, lists(t, pool, w.opt, rapid.Permutation(w.recs).Draw(t, "order")...)); d != "" {
			t.Fatalf("lists depend on order or workers: %s", d)
		}
		for _, rec := range w.recs {
			if d := cmp.Diff(want[rec.ID], lists(t, pool, w.opt, rec)[rec.ID]); d != "" {
				t.Fatalf("the list of %s depends on other records: %s", rec.ID, d)
			}
		}
	})
}

// denseByHand is the reference's list of hard negatives: all tools of the pool,
// the most similar to any gold tool first.
func denseByHand(pool *toolset.Pool, gold []qaoa.Tool, n int) []string {
	var texts []string
	var tools []qaoa.Tool
	for p := range pool.Tools() {
		tools, texts = append(tools, p), append(texts, toolset.Key(p))
	}
	m, _ := letterVectors{}.Vectors(context.Background(), texts)
	names := map[string]bool{}
	for _, g := range gold {
		names[letters(g.Name)] = true
	}
	var out []string
	for len(out) < n {
		best, at := float32(-2), -1
		for i, tl := range tools {
			if names[letters(tl.Name)] {
				continue
			}
			for _, g := range gold {
				q, _ := letterVectors{}.Vectors(context.Background(), []string{toolset.Key(g)})
				if s := vector.Dot(q.Row(0), m.Row(i)); s > best {
					best, at = s, i
				}
			}
		}
		if at < 0 {
			break
		}
		names[letters(tools[at].Name)] = true
		out = append(out, tools[at].Name)
	}
	return out
}

func numbered(n int) []qaoa.Tool {
	words := strings.Fields("alpha beta gamma delta kappa lambda sigma omega")
	tools := make([]qaoa.Tool, n)
	for i := range tools {
		suffix := string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26)})
		tools[i] = tool(words[i%8]+words[i/8%8]+suffix, fmt.Sprintf("%s the %s of %s", words[i%5], words[i%7], words[i%3]))
	}
	return tools
}

// One gold tool makes fourteen related and five random tools behind it, as in
// the released lists: fifteen related ones, the gold tool included, and five.
func TestReferenceHasFifteenRelatedAndFiveRandom(t *testing.T) {
	tools := numbered(200)
	pool := newPool(t, tools...)
	for _, calls := range [][]int{{3}, {3, 120}, {7, 50, 51}} {
		opt := toolset.Defaults()
		opt.Normalize, opt.Compat, opt.Embed = letters, toolset.Reference, letterVectors{}
		var own []qaoa.Tool
		var called []string
		for _, i := range calls {
			own, called = append(own, tools[i]), append(called, tools[i].Name)
		}
		l := build(t, pool, opt, record("r", "q", own, called...))[0]
		got := strings.Fields(names(l.Record.Tools))
		if len(got) != 20 || !slices.Equal(got[:len(called)], called) {
			t.Fatalf("list %v, want 20 tools with gold %v first", got, called)
		}
		want := denseByHand(pool, own, 15-len(called))
		if !slices.Equal(got[len(called):15], want) {
			t.Errorf("related tools %v\nwant          %v", got[len(called):15], want)
		}
		if len(l.Info.Easy) != 5 || l.Info.Easy[0] != 15 || l.Info.Easy[4] != 19 {
			t.Errorf("random tools at %v, want places 15 to 19", l.Info.Easy)
		}
		if !slices.IsSortedFunc(l.Info.HardSimilarities, func(a, b float64) int { return -cmpFloat(a, b) }) {
			t.Errorf("similarities do not fall: %v", l.Info.HardSimilarities)
		}
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// A pool full of one name makes rankings go deep.
func TestDenseRankingGoesDeep(t *testing.T) {
	var tools []qaoa.Tool
	for i := range 300 {
		tools = append(tools, tool("same_name", strings.Repeat("e", i+1)))
	}
	tools = append(tools, tool("zzz", "qqq"), tool("gold", "eee"))
	opt := options(3, 1)
	opt.Embed, opt.Compat = letterVectors{}, toolset.Reference
	l := build(t, newPool(t, tools...), opt, record("r", "q", tools[301:], "gold"))[0]
	if got := names(l.Record.Tools); !strings.HasPrefix(got, "gold same_name zzz") {
		t.Errorf("list %q: want the one tool with another name behind 300 of one name", got)
	}
}

func TestVectorsAreAskedForOnce(t *testing.T) {
	tools := numbered(60)
	c := &counting{asked: map[string]int{}}
	opt := options(10, 2)
	opt.Embed, opt.Negatives = c, toolset.ToQuery
	var recs []qaoa.Record
	for i := range 600 { // more than are looked at together
		own := tools[i%60 : i%60+1]
		if i%3 == 0 {
			own = []qaoa.Tool{tool("elsewhere", "not in the pool")}
		}
		recs = append(recs, record(fmt.Sprint(i), fmt.Sprintf("query %c", 'a'+i%7), own, own[0].Name))
	}
	if n := len(build(t, newPool(t, tools...), opt, recs...)); n != 600 {
		t.Fatalf("%d lists, want 600", n)
	}
	for text, n := range c.asked {
		if n != 1 {
			t.Errorf("%q was asked for %d times", text, n)
		}
	}
	if len(c.asked) != 60+7+1 {
		t.Errorf("%d texts asked for, want the 60 of the pool, 7 queries and a tool", len(c.asked))
	}
}

func TestVectorsFail(t *testing.T) {
	broken := errors.New("broken")
	opt := options(3, 1)
	opt.Embed = failingVectors{broken}
	var last error
	for _, err := range toolset.Build(t.Context(), seqOf(record("r", "q", small, "get_weather")), newPool(t, small...), opt) {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Errorf("err = %v, want %v", last, broken)
	}
}

func TestNearDuplicatesAreReported(t *testing.T) {
	tools := []qaoa.Tool{
		tool("get_weather", "Returns the weather forecast of a city"), tool("fetch_weather", "Returns the weather forecast of a city"),
		tool("send_mail", "Sends a mail"), tool("play", "Plays music"), tool("jump", "Makes the robot leave the ground"),
	}
	opt := options(4, 1)
	opt.NearDuplicate = 0.7
	tally := toolset.NewTally(opt)
	l := build(t, newPool(t, tools...), opt, record("r", "q", tools[:1], "get_weather"))[0]
	tally.Add(l)
	r := tally.Report()
	if r.NearDuplicates != 1 || r.NearLists != 1 || len(r.Twins) != 1 || r.Twins[0].Tool != "fetch_weather" || r.Twins[0].Gold != "get_weather" || r.Twins[0].Similarity <= 0.7 {
		t.Errorf("near-duplicates %+v", r.Twins)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "1 distractors on 1 lists have a cosine above 0.7 with a gold tool\n  r: fetch_weather, and gold is get_weather") {
		t.Errorf("text:\n%s", b.String())
	}
}

// Quantiles come from hundredths; a sorted list says the same.
func TestQuantiles(t *testing.T) {
	tally := toolset.NewTally(toolset.Defaults())
	var sims []float64
	for i := range 100 {
		sims = append(sims, float64(i)/200)
	}
	tally.Add(toolset.Listed{Info: toolset.Info{HardSimilarities: sims}})
	h := tally.Report().HardNegatives
	if h.N != 100 || h.Min != 0 || h.Max != 0.495 || h.P10 != 0.05 || h.P50 != 0.25 || h.P90 != 0.45 || h.Mean < 0.2474 || h.Mean > 0.2476 {
		t.Errorf("%+v", h)
	}
	if e := tally.Report().EasyNegatives; e != (toolset.Similarities{}) {
		t.Errorf("nothing has %+v", e)
	}
}

// randomVectors has a random vector of 1,024 numbers for each text.
type randomVectors struct{ made map[string][]float32 }

func (randomVectors) Name() string { return "random" }

func (r randomVectors) Vectors(ctx context.Context, texts []string) (*vector.Matrix, error) {
	m := vector.NewMatrix(len(texts), 1024)
	for i, text := range texts {
		row, ok := r.made[text]
		if !ok {
			rng := rand.New(rand.NewPCG(uint64(len(r.made)), 7))
			row = make([]float32, 1024)
			for j := range row {
				row[j] = float32(rng.NormFloat64() / 32)
			}
			r.made[text] = row
		}
		copy(m.Row(i), row)
	}
	return m, ctx.Err()
}

// Lists by vectors once these are there: the search for neighbours is what takes
// the time.
func BenchmarkBuildDense(b *testing.B) {
	tools, recs := benchWorld()
	pool := newPool(b, tools...)
	opt := options(20, 5)
	opt.Workers, opt.Embed = 1, randomVectors{map[string][]float32{}}
	b.ReportAllocs()
	for b.Loop() {
		build(b, pool, opt, recs...)
	}
	b.ReportMetric(float64(len(recs)), "lists/op")
}
