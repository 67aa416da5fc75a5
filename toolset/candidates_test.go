package toolset_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolset"
)

// letters is a small stand-in for the matching rule of names.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func seqOf[T any](items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func tool(name, description string) qaoa.Tool {
	return qaoa.Tool{Name: name, Description: description, Parameters: `{"type":"object","properties":{}}`}
}

func call(name string) qaoa.Step {
	return qaoa.Step{Calls: []qaoa.Call{{Name: name, Arguments: `{"a":1}`}}}
}

func record(id, query string, tools []qaoa.Tool, calls ...string) qaoa.Record {
	turn := qaoa.Turn{Query: query}
	for _, c := range calls {
		turn.Steps = append(turn.Steps, call(c))
	}
	return qaoa.Record{ID: id, Tools: tools, Turns: []qaoa.Turn{turn}}
}

func newPool(t testing.TB, tools ...qaoa.Tool) *toolset.Pool {
	t.Helper()
	p, _, err := toolset.NewPool(seqOf(tools...), letters)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(t testing.TB, pool *toolset.Pool, opt toolset.Options, recs ...qaoa.Record) []toolset.Listed {
	t.Helper()
	var out []toolset.Listed
	for l, err := range toolset.Build(t.Context(), seqOf(recs...), pool, opt) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func names(tools []qaoa.Tool) string {
	var s []string
	for _, t := range tools {
		s = append(s, t.Name)
	}
	return strings.Join(s, " ")
}

var small = []qaoa.Tool{
	tool("get_weather", "Current weather of a city"),
	tool("weather_forecast", "Forecast of the weather of a city for days"),
	tool("weather_alerts", "Alerts about the weather of a city"),
	tool("GetWeather2", "Weather of a city by its code"),
	tool("book_flight", "Books a flight between airports"),
	tool("search_flight", "Searches flights between airports by date"),
	tool("cancel_flight", "Cancels a booked flight"),
	tool("play_music", "Plays a song"),
	tool("convert_money", "Converts money between currencies"),
	tool("send_mail", "Sends a letter"),
}

func options(k, easy int) toolset.Options {
	opt := toolset.Defaults()
	opt.K, opt.Easy, opt.Normalize = k, easy, letters
	return opt
}

func TestGT(t *testing.T) {
	own := []qaoa.Tool{tool("a", "1"), tool("B", "2"), tool("b", "3"), tool("c", "4"), tool("a", "5")}
	tests := []struct {
		name    string
		calls   []string
		want    string
		gold    []int
		missing []string
	}{
		{"only called tools stay, in the order of the record", []string{"c", "a", "c"}, "a c", []int{1, 0}, nil},
		{"an exact name wins over an equal normal form", []string{"b"}, "b", []int{0}, nil},
		{"else the first equal normal form", []string{"C-1"}, "c", []int{0}, nil},
		{"a call of nothing on offer is missing", []string{"a", "zz"}, "a", []int{0}, []string{"zz"}},
		{"without calls all stay", nil, "a B b c a", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := build(t, nil, toolset.Options{Setting: toolset.GT, Normalize: letters}, record("r", "q", own, tt.calls...))[0]
			if got := names(l.Record.Tools); got != tt.want {
				t.Errorf("list = %q, want %q", got, tt.want)
			}
			if d := cmp.Diff(tt.gold, l.Info.Gold); d != "" {
				t.Errorf("positions of gold: %s", d)
			}
			if d := cmp.Diff(tt.missing, l.Info.Missing); d != "" {
				t.Errorf("missing: %s", d)
			}
		})
	}
	if names(own) != "a B b c a" {
		t.Errorf("the tools of the record were changed to %q", names(own))
	}
}

func TestHybridPicksWhatLooksAlike(t *testing.T) {
	pool := newPool(t, small...)
	opt := options(5, 1)
	opt.Compat = toolset.Reference
	tests := []struct {
		name  string
		calls []string
		query string
		by    toolset.Negatives
		hard  string // sorted
	}{
		{"near one gold tool, but none of its name", []string{"get_weather"}, "", toolset.ToTool, "weather_alerts weather_forecast"},
		{"pooled over two gold tools, so that one may supply all", []string{"get_weather", "book_flight"}, "", toolset.ToTool, "flight flight"},
		{"near the query", []string{"send_mail"}, "weather of the city", toolset.ToQuery, "weather weather"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := opt
			opt.Negatives = tt.by
			rec := record("r", tt.query, small, tt.calls...)
			l := build(t, pool, opt, rec)[0]
			if len(l.Record.Tools) != 5 || l.Info.Short {
				t.Fatalf("list = %q, want 5 tools", names(l.Record.Tools))
			}
			if got := names(l.Record.Tools[:len(tt.calls)]); got != strings.Join(tt.calls, " ") {
				t.Errorf("list starts with %q, want the gold tools", got)
			}
			var hard []string
			for _, i := range l.Info.Hard[:2] {
				hard = append(hard, l.Record.Tools[i].Name)
			}
			slices.Sort(hard)
			for i, want := range strings.Fields(tt.hard) {
				if !strings.Contains(strings.ToLower(hard[i]), want) {
					t.Errorf("hard negatives = %v, want %s", hard, tt.hard)
				}
			}
			if len(l.Info.Easy) > 0 && slices.Min(l.Info.HardSimilarities) <= slices.Max(l.Info.EasySimilarities) {
				t.Errorf("hard negatives are as similar as easy ones: %+v", l.Info)
			}
		})
	}
}

// Unless the reference is followed, two gold tools supply hard negatives in turn.
func TestNegativesInTurn(t *testing.T) {
	l := build(t, newPool(t, small...), options(5, 1), record("r", "q", small, "get_weather", "book_flight"))[0]
	var hard []string
	for _, i := range l.Info.Hard {
		hard = append(hard, strings.ToLower(l.Record.Tools[i].Name))
	}
	slices.Sort(hard)
	if len(hard) != 2 || !strings.Contains(hard[0], "flight") || !strings.Contains(hard[1], "weather") {
		t.Errorf("hard negatives = %v, want one near each gold tool", hard)
	}
}

func TestHybridEdges(t *testing.T) {
	pool := newPool(t, small...)
	all := []string{"get_weather", "weather_forecast", "book_flight", "play_music"}
	tests := []struct {
		name       string
		opt        toolset.Options
		rec        qaoa.Record
		len        int
		wide, shrt bool
		hard, easy int
	}{
		{"gold, hard, easy", options(6, 2), record("r", "q", small, "get_weather"), 6, false, false, 3, 2},
		{"no hard ones if gold fills their places", options(5, 2), record("r", "q", small, all...), 5, false, false, 0, 1},
		{"more gold than k widens", options(3, 1), record("r", "q", small, all...), 4, true, false, 0, 0},
		{"as much gold as k", options(4, 1), record("r", "q", small, all...), 4, false, false, 0, 0},
		{"the pool is too small", options(20, 5), record("r", "q", small, "get_weather"), 9, false, true, 7, 1},
		{"only easy ones", options(4, 4), record("r", "q", small, "get_weather"), 4, false, false, 0, 3},
		{"no easy ones", options(3, 0), record("r", "q", small, "get_weather"), 3, false, false, 2, 0},
		{"a gold tool outside of the pool", options(3, 1), record("r", "q", []qaoa.Tool{tool("weather_of_city", "Weather of a city")}, "weather_of_city"), 3, false, false, 1, 1},
		{"nobody describes the gold tool", options(3, 1), record("r", "q", small, "unknown"), 3, false, false, 0, 3},
		{"no gold call: own tools and random ones", options(6, 2), record("r", "q", small[:2]), 6, false, false, 0, 6},
		{"no gold call: own tools are cut", options(3, 2), record("r", "q", small), 3, false, false, 0, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := build(t, pool, tt.opt, tt.rec)[0]
			i := l.Info
			if len(l.Record.Tools) != tt.len || i.Widened != tt.wide || i.Short != tt.shrt || len(i.Hard) != tt.hard || len(i.Easy) != tt.easy {
				t.Errorf("%d tools (%s), widened %v, short %v, %d hard, %d easy; want %d, %v, %v, %d, %d",
					len(l.Record.Tools), names(l.Record.Tools), i.Widened, i.Short, len(i.Hard), len(i.Easy), tt.len, tt.wide, tt.shrt, tt.hard, tt.easy)
			}
		})
	}
}

func TestSameName(t *testing.T) {
	pool := newPool(t, small...)
	opt := options(9, 2)
	rec := record("r", "q", small, "get_weather")
	has := func(l toolset.Listed) bool { return strings.Contains(names(l.Record.Tools), "GetWeather2") }
	if l := build(t, pool, opt, rec)[0]; has(l) || l.Info.Collisions != 0 {
		t.Errorf("list = %q, want none with the name of the gold tool", names(l.Record.Tools))
	}
	opt.SameName = true
	if l := build(t, pool, opt, rec)[0]; !has(l) || l.Info.Collisions != 1 {
		t.Errorf("list = %q with %d collisions, want GetWeather2 and 1", names(l.Record.Tools), l.Info.Collisions)
	}
}

// The gold tool on the list is the record's own, parameters included, even if
// the pool has the same text with other parameters.
func TestGoldComesFromTheRecord(t *testing.T) {
	own := small[0]
	own.Parameters = `{"type":"object","properties":{"own":{}}}`
	opt := options(5, 1)
	opt.SameName = true
	l := build(t, newPool(t, small...), opt, record("r", "q", []qaoa.Tool{own}, own.Name))[0]
	n := 0
	for _, got := range l.Record.Tools {
		if got.Name == own.Name {
			n++
			if got.Parameters != own.Parameters {
				t.Errorf("parameters = %s, want the record's", got.Parameters)
			}
		}
	}
	if n != 1 {
		t.Errorf("the gold tool is on the list %d times", n)
	}
}

func TestBadOptions(t *testing.T) {
	pool := newPool(t, small...)
	tests := []struct {
		change func(*toolset.Options)
		pool   *toolset.Pool
		want   string
	}{
		{func(o *toolset.Options) { o.Setting = "all" }, pool, "want gt or hybrid"},
		{func(o *toolset.Options) { o.K = 0 }, pool, "want at least 1"},
		{func(o *toolset.Options) { o.Easy = 21 }, pool, "want 0 to k, which is 20"},
		{func(o *toolset.Options) { o.Easy = -1 }, pool, "want 0 to k"},
		{func(o *toolset.Options) { o.Negatives = "x" }, pool, "want tool or query"},
		{func(o *toolset.Options) { o.Compat = "x" }, pool, "want reference"},
		{func(*toolset.Options) {}, nil, "without a pool"},
		{func(o *toolset.Options) { o.Setting, o.Compat = toolset.GT, "x" }, pool, "want reference"},
		{func(o *toolset.Options) { o.Setting, o.Negatives = toolset.GT, "x" }, pool, "want tool or query"},
	}
	for _, tt := range tests {
		opt := toolset.Defaults()
		tt.change(&opt)
		var err error
		for _, err = range toolset.Build(t.Context(), seqOf(record("r", "q", small)), tt.pool, opt) {
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error = %v, want one with %q", err, tt.want)
		}
		if check := opt.Check(); tt.pool != nil && (check == nil || check.Error() != err.Error()) {
			t.Errorf("Check = %v, want %v", check, err)
		}
	}
	for _, opt := range []toolset.Options{toolset.Defaults(), {Setting: toolset.GT}} {
		if err := opt.Check(); err != nil {
			t.Errorf("Check of %+v = %v, want nil", opt.Setting, err)
		}
	}
}

func TestSeedMatters(t *testing.T) {
	pool := newPool(t, small...)
	opt := options(6, 3)
	rec := record("r", "q", small, "get_weather")
	different := false
	first := build(t, pool, opt, rec)[0]
	for opt.Seed = 1; opt.Seed < 5; opt.Seed++ {
		different = different || !cmp.Equal(first, build(t, pool, opt, rec)[0])
	}
	if !different {
		t.Error("five seeds gave one list")
	}
}

func TestBuildInOrderAndToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		recs := func(yield func(qaoa.Record, error) bool) {
			for i := range 100 {
				if !yield(record(fmt.Sprint(i), "q", small, "get_weather"), nil) {
					return
				}
			}
			yield(qaoa.Record{}, broken)
		}
		opt := options(4, 1)
		opt.Workers = 3
		pool := newPool(t, small...)
		n := 0
		for l, err := range toolset.Build(t.Context(), recs, pool, opt) {
			if err != nil {
				if !errors.Is(err, broken) || n != 100 {
					t.Fatalf("after %d lists: %v, want %v after 100", n, err, broken)
				}
				continue
			}
			if l.Record.ID != fmt.Sprint(n) {
				t.Fatalf("list %d is of record %s", n, l.Record.ID)
			}
			n++
		}
		for _, err := range toolset.Build(t.Context(), recs, pool, opt) {
			if err != nil {
				t.Error(err)
			}
			break // no goroutine may be left: synctest would tell
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		n = 0
		for _, err := range toolset.Build(ctx, recs, pool, opt) {
			if n++; n == 3 {
				cancel()
			}
			last = err
		}
		if !errors.Is(last, context.Canceled) || n >= 100 {
			t.Errorf("after %d lists: %v, want %v soon", n, last, context.Canceled)
		}
	})
}

// Fifteen tools of the released pool (three of one name) as pool and records.
func TestRealTools(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "data", "unitoolcall", "toolset.first15.json")
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no ../shared/data: put the raw data beside the checkout")
	}
	var byID map[string]json.RawMessage
	if err := json.Unmarshal(data, &byID); err != nil {
		t.Fatal(err)
	}
	var tools []qaoa.Tool
	for i := range len(byID) {
		tl, err := qaoa.DecodeTool(byID[fmt.Sprint(i+1)])
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tl)
	}
	pool := newPool(t, tools...)
	if pool.Len() != 15 {
		t.Fatalf("pool of %d tools, want 15", pool.Len())
	}
	for i, tl := range tools {
		l := build(t, pool, options(10, 3), record(fmt.Sprint(i), "q", tools[i:i+1], tl.Name))[0]
		if len(l.Record.Tools) != 10 || l.Info.Collisions != 0 || l.Record.Tools[l.Info.Gold[0]].Name != tl.Name {
			t.Errorf("list of %s: %s, %+v", tl.Name, names(l.Record.Tools), l.Info)
		}
	}
}

// benchWorld is a pool as large as the paper's and as many records as its
// benchmark has.
func benchWorld() (tools []qaoa.Tool, recs []qaoa.Record) {
	rng := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("get set con ver ter mail list user da ta fo re cast wea der pri ce sto ck mo vie boo king al pha be ta in fo re port time sta tus")
	words := make([]string, 4000)
	for i := range words {
		for range 2 + rng.IntN(3) {
			words[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	word := func() string { f := rng.Float64(); return words[int(f*f*f*float64(len(words)))] }
	tools = make([]qaoa.Tool, 22_606)
	for i := range tools {
		var desc []string
		for range 12 + rng.IntN(20) {
			desc = append(desc, word())
		}
		tools[i] = tool(word()+"_"+word()+string(rune('a'+i%26)), strings.Join(desc, " "))
	}
	recs = make([]qaoa.Record, 6163)
	for i := range recs {
		own := []qaoa.Tool{tools[rng.IntN(4000)], tools[rng.IntN(4000)]}
		recs[i] = record(fmt.Sprint(i), word(), own, own[0].Name, own[1].Name)
	}
	return tools, recs
}

func BenchmarkBuild(b *testing.B) {
	tools, recs := benchWorld()
	opt := options(20, 5)
	opt.Workers = 1
	b.ReportAllocs()
	for b.Loop() {
		pool := newPool(b, tools...)
		build(b, pool, opt, recs...)
	}
	b.ReportMetric(float64(len(recs)), "lists/op")
}

func ExampleBuild() {
	pool, _, err := toolset.NewPool(seqOf(small...), letters)
	if err != nil {
		fmt.Println(err)
		return
	}
	opt := toolset.Defaults()
	opt.K, opt.Easy, opt.Normalize, opt.Compat = 4, 1, letters, toolset.Reference
	rec := record("demo/1", "Book me a flight", small[4:5], "book_flight")
	for l, err := range toolset.Build(context.Background(), seqOf(rec), pool, opt) {
		fmt.Println(names(l.Record.Tools[:3]), err)
	}
	// Output: book_flight search_flight cancel_flight <nil>
}
