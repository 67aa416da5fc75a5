package toolset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/internal/lexical"
	"assay/qaoa"
	"assay/toolset"
)

func TestCheckTool(t *testing.T) {
	tests := []struct{ name, parameters, want string }{
		{"a good one", `{"type":"object","properties":{"a":{"type":"string","description":"x","enum":["a"],"default":"a"}},"required":["a"]}`, ""},
		{"none", ``, "no_parameters@"},
		{"none in it", `{"type":"object","properties":{}}`, "no_parameters@"},
		{"none of its own, but alternatives", `{"type":"object","anyOf":[{"type":"object","properties":{"a":{"type":"string"}}}]}`, ""},
		{"no object", `[1]`, "bad_schema@"},
		{"keywords of the wrong kind", `{"type":7,"properties":[1],"required":"a"}`, "no_parameters@ bad_schema@/type bad_schema@/properties bad_schema@/required"},
		{"a word of another dialect", `{"type":"object","properties":{"a":{"type":"dict","description":"x"}}}`, "unknown_type@/properties/a/type"},
		{"a parameter without type and description", `{"type":"object","properties":{"a":{}}}`, "untyped@/properties/a undescribed@/properties/a"},
		{"properties of a string", `{"type":"object","properties":{"a":{"type":"string","description":"x","properties":{"b":{"type":"string"}}}}}`, "not_an_object@/properties/a"},
		{"an array of anything", `{"type":"object","properties":{"a":{"type":"array","description":"x"}}}`, "no_items@/properties/a"},
		{"required, and no parameter", `{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["b",7]}`, "required_ghost@/required/0 required_ghost@/required/1"},
		{"the same parameter twice", `{"type":"object","properties":{"a":{"type":"string","description":"x"},"a":{"type":"string","description":"x"}}}`, "twice_defined@/properties/a"},
		{"values of another type", `{"type":"object","properties":{"a":{"type":"integer","description":"x","enum":[1,"2","3"],"default":"5"}}}`, "enum_mismatch@/properties/a/enum/1 default_mismatch@/properties/a/default"},
		{"no values to choose from", `{"type":"object","properties":{"a":{"description":"x","enum":[]}}}`, "enum_mismatch@/properties/a/enum"},
		{"a whole number, a default of null", `{"type":"object","properties":{"a":{"type":["integer","null"],"description":"x","enum":[1.0,null],"default":null}}}`, ""},
		{"an integer that is none", `{"type":"object","properties":{"a":{"type":"integer","description":"x","default":1.5}}}`, "default_mismatch@/properties/a/default"},
		{"references", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A~1B","description":"x"},"b":{"$ref":"#/$defs/C","description":"x"},"c":{"$ref":"http://x","description":"x"}},"$defs":{"A/B":{"type":"string"}}}`, "dangling_ref@/properties/b/$ref dangling_ref@/properties/c/$ref"},
		{"deep in an array", `{"type":"object","properties":{"a":{"type":"array","description":"x","items":{"type":"object","properties":{"b":{"type":"list"}}}}}}`, "unknown_type@/properties/a/items/properties/b/type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range toolset.CheckTool(qaoa.Tool{Name: "f", Description: "d", Parameters: qaoa.JSON(tt.parameters)}) {
				got = append(got, string(p.Code)+"@"+p.Path)
				if p.Detail == "" {
					t.Errorf("%s has no detail", p.Code)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("CheckTool(%s) = %s, want %s", tt.parameters, s, tt.want)
			}
		})
	}
	if p := toolset.CheckTool(qaoa.Tool{Name: "a.b", Parameters: `{"type":"object","properties":{"a":{"type":"string","description":"x"}}}`}); len(p) != 2 || p[0].Code != toolset.BadName || p[1].Code != toolset.NoDescription {
		t.Errorf("a name with a dot and no description: %+v", p)
	}
}

func TestHostileSchemaIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000)
	wide := `{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"a":{},`, 5000), ",") + `}}`
	for _, schema := range []string{deep, wide} {
		if n := len(toolset.CheckTool(qaoa.Tool{Name: "f", Parameters: qaoa.JSON(schema)})); n == 0 || n > 1000 {
			t.Errorf("%d problems of a schema of %d bytes, want 1 to 1,000", n, len(schema))
		}
	}
}

func TestDescribe(t *testing.T) {
	entries := seqOf(
		toolset.Entry{Tool: qaoa.Tool{Name: "f", Description: "d", Origin: "a", Category: "search", Parameters: `{"type":"object","properties":{"x":{"type":"string","description":"x"},"y":{"type":"array","description":"y","items":{"type":"object","properties":{"z":{"type":"integer"}}}}},"required":["x"]}`}, LabelledBy: "source"},
		toolset.Entry{Tool: qaoa.Tool{Name: "f", Description: "e", Origin: "b", Parameters: `{"type":"object","properties":{"x":{"type":["string","null"],"description":"x"}}}`}},
		toolset.Entry{Tool: qaoa.Tool{Name: "g", Description: "e", Origin: "a"}},
	)
	d, err := toolset.Describe(entries)
	if err != nil {
		t.Fatal(err)
	}
	want := toolset.Description{
		Tools: 3, Names: 2, Parameters: 3, Required: 1,
		Origins:    []toolset.Count{{"a", 2}, {"b", 1}},
		Categories: []toolset.Count{{"", 2}, {"search", 1}}, Domains: []toolset.Count{{"", 3}},
		Labellers:   []toolset.Count{{"", 2}, {"source", 1}},
		Types:       []toolset.Count{{"array", 1}, {"string", 1}, {"string|null", 1}},
		NestedTypes: []toolset.Count{{"integer", 1}, {"object", 1}},
		PerTool:     []toolset.PerTool{{0, 1}, {1, 1}, {2, 1}},
		Problems: []toolset.Problem{
			{toolset.SameName, 1, 1, []toolset.Example{{"f", "b", "", `"f" is the name of an earlier tool too`}}},
			{toolset.NoParameters, 1, 1, []toolset.Example{{"g", "a", "", "want parameters, have none"}}},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var b strings.Builder
	if err := d.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"3 tools with 2 distinct names\n", "3 parameters, 1.00 a tool, 1 of them required\n", "  a  2  66.7 %\n", "  0:1 1:1 2:1\n", "same_name: 1 tools, 1 places\n    f (b): \"f\" is"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("text lacks %q:\n%s", line, b.String())
		}
	}
}

func TestDescribeEdges(t *testing.T) {
	d, err := toolset.Describe(seqOf[toolset.Entry]())
	if err != nil {
		t.Fatal(err)
	}
	if data, err := json.Marshal(d); err != nil || strings.Contains(string(data), "null") {
		t.Errorf("JSON of nothing = %s, %v", data, err)
	}
	broken := errors.New("broken")
	if _, err := toolset.Describe(func(yield func(toolset.Entry, error) bool) { yield(toolset.Entry{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("err = %v, want %v", err, broken)
	}
}

func TestSearch(t *testing.T) {
	pool := newPool(t, small...)
	for _, embed := range []toolset.Embedder{nil, letterVectors{}} {
		found, err := pool.Search(t.Context(), "get_weather", 3, embed)
		if err != nil || len(found) == 0 || len(found) > 3 {
			t.Fatalf("%d tools, %v", len(found), err)
		}
		for i := range found[1:] {
			if found[i].Similarity < found[i+1].Similarity {
				t.Errorf("similarity rises: %v", found)
			}
		}
	}
	if found, _ := pool.Search(t.Context(), "get_weather", 1, nil); letters(found[0].Tool.Name) != "getweather" {
		t.Errorf("the best for its own name is %s", found[0].Tool.Name)
	}
	if found, err := pool.Search(t.Context(), "weather", 0, nil); len(found) != 0 || err != nil {
		t.Errorf("k of 0 finds %v, %v", found, err)
	}
	broken := errors.New("broken")
	if _, err := pool.Search(t.Context(), "weather", 1, failingVectors{broken}); !errors.Is(err, broken) {
		t.Errorf("err = %v, want %v", err, broken)
	}
}

func ExampleSignature() {
	fmt.Println(toolset.Signature(qaoa.Tool{
		Name:       "book_flight",
		Parameters: `{"type":"object","properties":{"to":{"type":"string"},"seat":{"enum":["aisle","window"]},"tags":{"type":"array","items":{"type":"string"}}},"required":["to"]}`,
	}))
	// Output: book_flight(to: string, seat?: "aisle"|"window", tags?: [string])
}

// Both rankings are those of the indexes over the same texts, which have tests
// of their own.
func TestRank(t *testing.T) {
	pool := newPool(t, small...)
	var texts []string
	for tool := range pool.Tools() {
		texts = append(texts, toolset.Key(tool))
	}
	for _, query := range []string{"get_weather", "flights between airports", "zzzz", ""} {
		for by, hits := range map[toolset.Ranking][]lexical.Hit{
			toolset.Cosine: lexical.NewIndex(texts).Search(query, 4),
			toolset.BM25:   lexical.NewBM25(texts).Search(query, 4),
		} {
			found := pool.Rank(by, query, 4)
			if len(found) != len(hits) {
				t.Fatalf("%s finds %d tools for %q, want %d", by, len(found), query, len(hits))
			}
			for i, h := range hits {
				if toolset.Key(found[i].Tool) != texts[h.Doc] || found[i].Similarity != h.Score {
					t.Errorf("%s, %q: tool %d is %s with %v, want %s with %v", by, query, i, found[i].Tool.Name, found[i].Similarity, texts[h.Doc], h.Score)
				}
			}
		}
	}
	if found := pool.Rank(toolset.BM25, "weather", 0); found != nil {
		t.Errorf("k of 0 finds %v", found)
	}
	if toolset.Rankings()[0] != toolset.Cosine {
		t.Error("cosine is not the default")
	}
}
