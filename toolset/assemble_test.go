package toolset_test

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

	"assay/filter"
	"assay/internal/lexical"
	"assay/qaoa"
	"assay/toolset"
	"assay/vector"
)

// elementsOf makes elements of lines "origin: JSON".
func elementsOf(lines ...string) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		for i, line := range lines {
			origin, data, _ := strings.Cut(line, ": ")
			if !yield(toolset.Element{Pos: qaoa.Pos{File: "in", Line: i + 1, Index: i}, Fallback: origin, Data: []byte(data)}, nil) {
				return
			}
		}
	}
}

// plain is a tool with a parameter, on one line.
func plain(origin, name, description string) string {
	return fmt.Sprintf(`%s: {"name":%q,"description":%q,"parameters":{"type":"object","properties":{"x":{"type":"string"}}}}`, origin, name, description)
}

// assembled is the pool as "origin/name …", the removals as "stage:name>rival …".
func assembled(t testing.TB, opt toolset.AssembleOptions, lines ...string) (pool, lost string, flow toolset.Flow) {
	t.Helper()
	var out, gone []string
	entries, flow, err := toolset.Assemble(t.Context(), elementsOf(lines...), opt, func(r toolset.Removal) error {
		s := string(r.Stage) + ":" + r.Name
		if r.Against != nil {
			s += ">" + r.Against.Origin + "/" + r.Against.Name
		}
		gone = append(gone, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Tool.Origin+"/"+e.Tool.Name)
	}
	return strings.Join(out, " "), strings.Join(gone, " "), flow
}

func TestAssemble(t *testing.T) {
	only := func(stages ...toolset.Stage) toolset.AssembleOptions {
		opt := toolset.AssembleDefaults()
		opt.Stages = stages
		return opt
	}
	protecting := func(opt toolset.AssembleOptions, origins ...string) toolset.AssembleOptions {
		opt.Protect = origins
		return opt
	}
	paper := only(toolset.StageTemporal)
	paper.Temporal.Rule = filter.PaperWords
	nested := only(toolset.StageTemporal)
	nested.Temporal.Nested = true
	metadata := only(toolset.StageEmpty)
	metadata.Schema = filter.Metadata
	chinese := only(toolset.StageLanguage)
	chinese.Language = toolset.NoChinese

	const deep = `a: {"name":"f","parameters":{"type":"object","properties":{"o":{"type":"object","properties":{"start_date":{"type":"string"}}}}}}`
	tests := []struct {
		name       string
		opt        toolset.AssembleOptions
		lines      []string
		pool, lost string
	}{
		{
			"a tool that two external files share survives once", only(toolset.StageExact),
			[]string{plain("a", "f", "d"), plain("b", "f", "d"), plain("b", "g", "d")},
			"a/f b/g", "exact:f>a/f",
		},
		{
			"blanks around are no difference, a description is", only(toolset.StageExact),
			[]string{plain("a", "f", "d"), plain("a", " f ", "d\n"), plain("a", "f", "e")},
			"a/f a/f", "exact: f >a/f",
		},
		{
			"a protected tool that comes later takes the place", protecting(only(toolset.StageExact), "p"),
			[]string{plain("a", "f", "d"), plain("a", "g", "d"), plain("p", "e", "d"), plain("p", "f", "d"), plain("p", "f", "d"), plain("b", "f", "d")},
			"p/e p/f a/g", "exact:f>p/f exact:f>p/f exact:f>p/f",
		},
		{
			"without the stage nothing is the same", only(),
			[]string{plain("a", "f", "d"), plain("a", "f", "d")},
			"a/f a/f", "",
		},
		{
			"words about time, whole and as such", only(toolset.StageTemporal),
			[]string{plain("a", "when", "Use when the list is empty"), plain("a", "g", "The second argument"), plain("a", "h", "Returns the date")},
			"a/when a/g", "temporal:h",
		},
		{
			"the paper's rule has its misfires", paper,
			[]string{plain("a", "when", "Use when the list is empty"), plain("a", "g", "The second argument"), plain("a", "h", "Returns the data")},
			"a/h", "temporal:when temporal:g",
		},
		{"nested parameters pass", only(toolset.StageTemporal), []string{deep}, "a/f", ""},
		{"unless all are looked at", nested, []string{deep}, "", "temporal:f"},
		{
			"a tool without parameters", only(toolset.StageEmpty),
			[]string{`a: {"name":"f"}`, `a: {"name":"g","parameters":{"type":"object","properties":{}}}`, `a: {"name":"h","parameters":{"type":"object","properties":{"id":{}}}}`, `a: {"name":"i","parameters":{"type":"object","properties":{},"anyOf":[{"required":["x"]}]}}`},
			"a/h a/i", "empty:f empty:g",
		},
		{
			"the script takes an id for no parameter", metadata,
			[]string{`a: {"name":"h","parameters":{"type":"object","properties":{"id":{}}}}`, `a: {"name":"i","parameters":{"type":"object","properties":{"ids":{}}}}`},
			"a/i", "empty:h",
		},
		{
			"Chinese", chinese,
			[]string{plain("a", "f", "天气"), plain("a", "g", "ひ"), `a: {"name":"h","parameters":{"type":"object","properties":{"x":{"description":"日"}}}}`},
			"a/g", "language:f language:h",
		},
		{
			"nearly the same text", only(toolset.StageSemantic),
			[]string{plain("a", "get_weather_forecast", "Returns the weather forecast of a city"), plain("b", "getWeatherForecast", "Returns the weather forecasts of a city"), plain("b", "send_mail", "Sends an e-mail"), plain("c", "play", "Plays music")},
			"a/get_weather_forecast b/send_mail c/play", "semantic:getWeatherForecast>a/get_weather_forecast",
		},
		{
			"a protected tool is kept, and costs an external one its place", protecting(only(toolset.StageSemantic), "p"),
			[]string{plain("b", "getWeatherForecast", "Returns the weather forecasts of a city"), plain("p", "get_weather_forecast", "Returns the weather forecast of a city"), plain("p", "weather_forecast_get", "Returns the weather forecast of a city"), plain("b", "send_mail", "Sends an e-mail")},
			"p/get_weather_forecast p/weather_forecast_get b/send_mail", "semantic:getWeatherForecast>p/get_weather_forecast",
		},
		{
			"what is no tool", only(toolset.StageNormalise),
			[]string{`a: {"name":"f","parameters":7}`, `a: {"id":1}`, `a: {"name":`, `a: []`, plain("a", "g", "d")},
			"a/g", "normalise:f read: read:",
		},
		{
			"a tool keeps the origin that it says", only(),
			[]string{`file: {"name":"f","origin":"pool"}`, `file: {"turns":[],"source":{"name":"bench"},"tools":[{"name":"g"}]}`},
			"pool/f bench/g", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, lost, flow := assembled(t, tt.opt, tt.lines...)
			if pool != tt.pool || lost != tt.lost {
				t.Errorf("pool %q, lost %q\nwant %q, lost %q", pool, lost, tt.pool, tt.lost)
			}
			if n := flow.Total.Kept(); n != len(strings.Fields(tt.pool)) {
				t.Errorf("%d tools kept by the table, want those of %q", n, tt.pool)
			}
		})
	}
}

func TestAssembleKeepsLabels(t *testing.T) {
	entries, _, err := toolset.Assemble(t.Context(), elementsOf(
		`a: {"name":"f","description":"d","inputSchema":{"type":"dict","properties":{"x":{"type":"int"}}},"category":"search","domain":"travel","origin":"o"}`,
		`a: {"name":"g","description":"e","parameters":{"type":"object","properties":{"x":{}}},"category":"search","labelled_by":"lexical/1"}`,
	), toolset.AssembleDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"f","description":"d","parameters":{"type":"object","properties":{"x":{"type":"integer"}},"required":[]},"category":"search","domain":"travel","origin":"o","labelled_by":"source"}
{"name":"g","description":"e","parameters":{"type":"object","properties":{"x":{}},"required":[]},"category":"search","origin":"a","labelled_by":"lexical/1"}
`
	var got []byte
	for _, e := range entries {
		got = append(toolset.AppendEntry(got, e), '\n')
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestAssembleEnds(t *testing.T) {
	broken := errors.New("broken")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	good := elementsOf(plain("a", "f", "d"), plain("b", "f", "d"))
	failing := func(yield func(toolset.Element, error) bool) { yield(toolset.Element{}, broken) }
	embedder := toolset.AssembleDefaults()
	embedder.Embed = failingVectors{broken}
	tests := []struct {
		name    string
		done    bool // the context is
		in      iter.Seq2[toolset.Element, error]
		opt     toolset.AssembleOptions
		removed func(toolset.Removal) error
		want    error
	}{
		{"an error of the input", false, failing, toolset.AssembleDefaults(), nil, broken},
		{"the end of the context", true, good, toolset.AssembleDefaults(), nil, context.Canceled},
		{"an error of the ledger", false, good, toolset.AssembleDefaults(), func(toolset.Removal) error { return broken }, broken},
		{"an error of the source of vectors", false, good, embedder, nil, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			if tt.done {
				ctx = done
			}
			if pool, _, err := toolset.Assemble(ctx, tt.in, tt.opt, tt.removed); !errors.Is(err, tt.want) || pool != nil {
				t.Errorf("Assemble = %d tools, %v, want %v", len(pool), err, tt.want)
			}
		})
	}
	for name, spoil := range map[string]func(*toolset.AssembleOptions){
		"stage":     func(o *toolset.AssembleOptions) { o.Stages = []toolset.Stage{"odd"} },
		"temporal":  func(o *toolset.AssembleOptions) { o.Temporal.Rule = "odd" },
		"schema":    func(o *toolset.AssembleOptions) { o.Schema = "off" },
		"language":  func(o *toolset.AssembleOptions) { o.Language = "odd" },
		"threshold": func(o *toolset.AssembleOptions) { o.Threshold = 1 },
	} {
		opt := toolset.AssembleDefaults()
		spoil(&opt)
		if _, _, err := toolset.Assemble(t.Context(), good, opt, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a wrong %s: %v", name, err)
		}
	}
}

func TestParseStages(t *testing.T) {
	for in, want := range map[string]string{
		"all": "normalise exact temporal empty language semantic", "": "", "none": "",
		"semantic, exact": "exact semantic", "normalize": "normalise",
	} {
		got, err := toolset.ParseStages(in)
		if s := strings.Trim(fmt.Sprint(got), "[]"); err != nil || s != want {
			t.Errorf("ParseStages(%q) = %s, %v, want %s", in, s, err, want)
		}
	}
	if _, err := toolset.ParseStages("exakt"); err == nil {
		t.Error("a stage that does not exist is taken")
	}
}

// failingVectors fails.
type failingVectors struct{ err error }

func (failingVectors) Name() string { return "failing" }

func (f failingVectors) Vectors(context.Context, []string) (*vector.Matrix, error) {
	return nil, f.err
}

// letterVectors are the shares of letters in a text: a stand-in for a model.
type letterVectors struct{}

func (letterVectors) Name() string { return "letters" }

func (letterVectors) Vectors(ctx context.Context, texts []string) (*vector.Matrix, error) {
	m := vector.NewMatrix(len(texts), 27)
	for i, text := range texts {
		m.Row(i)[26] = 1
		for _, c := range strings.ToLower(text) {
			if 'a' <= c && c <= 'z' {
				m.Row(i)[c-'a']++
			}
		}
	}
	m.Normalize()
	return m, ctx.Err()
}

// semanticByHand is the greedy rule as a plain loop over all pairs.
func semanticByHand(texts []string, protected []bool, threshold float64, cosine func(i, j int) float64) []int {
	var kept []int
	for i := range texts {
		similar := slices.ContainsFunc(kept, func(j int) bool { return cosine(i, j) > threshold })
		if protected[i] || !similar {
			kept = append(kept, i)
		}
	}
	return kept
}

func TestSemanticEqualsPlainLoop(t *testing.T) {
	words := strings.Fields("get set weather mail")
	rapid.Check(t, func(rt *rapid.T) {
		var lines, texts []string
		var protected []bool
		n := rapid.IntRange(1, 90).Draw(rt, "tools")
		keep := rapid.IntRange(0, n).Draw(rt, "protected")
		for i := range n {
			// Few words, so that many tools are alike, and more than the search asks
			// for at first.
			desc := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(rt, "description"), " ")
			name := rapid.SampledFrom(words).Draw(rt, "name")
			origin := "a"
			if i < keep {
				origin = "p"
			}
			lines, texts, protected = append(lines, plain(origin, name, desc)), append(texts, name+"\n"+desc), append(protected, i < keep)
		}
		opt := toolset.AssembleDefaults()
		opt.Stages, opt.Protect = []toolset.Stage{toolset.StageSemantic}, []string{"p"}
		opt.Threshold = rapid.SampledFrom([]float64{.3, .9, .999}).Draw(rt, "threshold")
		x := lexical.NewIndex(texts)
		cosine := func(i, j int) float64 { return lexical.Cosine(x.Doc(i), x.Doc(j)) }
		if rapid.Bool().Draw(rt, "dense") {
			opt.Embed = letterVectors{}
			m, _ := letterVectors{}.Vectors(context.Background(), texts)
			cosine = func(i, j int) float64 { return float64(vector.Dot(m.Row(i), m.Row(j))) }
		}
		want := semanticByHand(texts, protected, opt.Threshold, cosine)
		pool, _, err := toolset.Assemble(context.Background(), elementsOf(lines...), opt, nil)
		if err != nil {
			rt.Fatal(err)
		}
		var got []int
		for _, e := range pool {
			got = append(got, e.Pos.Index)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("kept %v, a loop over all pairs keeps %v", got, want)
		}
	})
}

func TestAssembleWithAnyWorkers(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, plain(string(rune('a'+i%3)), fmt.Sprintf("tool_%d", i%70), strings.Repeat("word ", i%5)))
	}
	opt := toolset.AssembleDefaults()
	opt.Protect = []string{"c"}
	var pools, losts []string
	var flows []toolset.Flow
	for _, workers := range []int{1, 2, 8} {
		opt.Workers = workers
		pool, lost, flow := assembled(t, opt, lines...)
		pools, losts, flows = append(pools, pool), append(losts, lost), append(flows, flow)
	}
	for i := range pools {
		if pools[i] != pools[0] || losts[i] != losts[0] || !cmp.Equal(flows[i], flows[0]) {
			t.Errorf("run %d differs from the first", i)
		}
	}
}

func TestAppendRemoval(t *testing.T) {
	r := toolset.Removal{
		Stage: toolset.StageSemantic, Code: toolset.SimilarTool, Name: "f", Origin: "a", Pos: qaoa.Pos{File: "x", Index: 3}, Path: "/0",
		Detail: strings.Repeat("é", 200), Against: &toolset.Rival{Name: "g", Origin: "b", Pos: qaoa.Pos{File: "y", Index: 4}, Similarity: .95},
	}
	want := `{"stage":"semantic","code":"similar_tool","name":"f","origin":"a","file":"x","index":3,"path":"/0","detail":"` +
		strings.Repeat("é", 100) + `…","against":{"name":"g","origin":"b","file":"y","index":4,"similarity":0.950000}}`
	if got := string(toolset.AppendRemoval(nil, r)); got != want {
		t.Errorf("line %s\nwant %s", got, want)
	}
}

func ExampleAssemble() {
	in := elementsOf(
		plain("mine", "get_weather", "Tells the weather of a city"),
		plain("theirs", "get_weather", "Tells the weather of a city"),
		plain("theirs", "get_weather", "Tells the weather of a city at some time"),
	)
	pool, flow, err := toolset.Assemble(context.Background(), in, toolset.AssembleDefaults(), func(r toolset.Removal) error {
		fmt.Println(r.Stage, r.Name, "of", r.Origin+":", r.Detail)
		return nil
	})
	fmt.Println(len(pool), "of", flow.Total.Read, err)
	// Output:
	// exact get_weather of theirs: same name and description
	// temporal get_weather of theirs: the word "time" in its description
	// 1 of 3 <nil>
}
