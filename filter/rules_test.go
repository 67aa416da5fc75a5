package filter_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/convert"
	"assay/filter"
	"assay/qaoa"

	"pgregory.net/rapid"
)

// dialogue returns a record that offers one good tool, f. Its text is one turn
// a field: c is a call without an observation, o a call with one, x a call
// without arguments, t one whose arguments are a text that is no JSON, r one
// that could not be read, a the answer; "(" and ")" hold parallel calls.
func dialogue(text string) qaoa.Record {
	rec := qaoa.Record{
		ID:    "x/1",
		Tools: []qaoa.Tool{{Name: "f", Description: "Does it", Parameters: `{"type":"object","properties":{"a":{}}}`}},
	}
	for field := range strings.FieldsSeq(text) {
		t := qaoa.Turn{Query: "Do it"}
		var step *qaoa.Step
		parallel := false
		for _, c := range field {
			call := qaoa.Call{Name: "f", Arguments: `{"a":1}`}
			obs := ""
			switch c {
			case '(', ')':
				parallel, step = c == '(', nil
				continue
			case 'a':
				t.Answer = "Done"
				continue
			case 'q': // only a query
				continue
			case 'o':
				obs = "ok"
			case 'x':
				call.Arguments = "{}"
			case 't':
				call.Arguments = `"{'a'"`
			case 's':
				call.Arguments = `"{\"a\":1}"`
			case 'r':
				call = qaoa.Call{Raw: "f("}
			}
			if step == nil || !parallel {
				t.Steps = append(t.Steps, qaoa.Step{})
				step = &t.Steps[len(t.Steps)-1]
			}
			step.Calls = append(step.Calls, call)
			step.Observations = append(step.Observations, obs)
		}
		rec.Turns = append(rec.Turns, t)
	}
	return rec
}

func TestTrainingRules(t *testing.T) {
	direct, flow, empty := filter.Filter{DirectAnswer: true}, filter.Filter{Flow: true}, filter.Filter{EmptyArguments: true}
	all := filter.Training()
	tests := []struct {
		name   string
		filter filter.Filter
		text   string
		want   string // code and path, "" is kept
	}{
		{"an answer without a call", direct, "oa a", "direct_answer /turns/1/answer"},
		{"is a turn without a call where answers do not matter", filter.Filter{}, "oa a", "no_call /turns/1"},
		{"neither a call nor an answer", direct, "q", "no_call /turns/0"},
		{"an answer after a call", direct, "oa oa", ""},
		{"calls, observations, answers", flow, "ooa oa", ""},
		{"a corpus without observations and answers", flow, "cc c", ""},
		{"a corpus without observations", flow, "cca ca", ""},
		{"a corpus without answers", flow, "oo o", ""},
		{"no observation before the next call", flow, "coa", "bad_flow /turns/0/steps/0"},
		{"no observation before the answer", flow, "oca", "bad_flow /turns/0/steps/1"},
		{"no observation at the end", flow, "oa oc", "incomplete_flow /turns/1/steps/1"},
		{"one of two parallel calls returned nothing", flow, "(oc)a", ""},
		{"the next query instead of an answer", flow, "o oa", "bad_flow /turns/0/answer"},
		{"no answer at the very end passes", flow, "oa o", ""},
		{"a call that was not read", flow, "ra", "bad_call_json /turns/0/steps/0/calls/0"},
		{"arguments in a text that is no JSON", flow, "ota", "bad_args_json /turns/0/steps/1/calls/0/arguments"},
		{"arguments in a text that is JSON", flow, "sa", ""},
		{"an order that nobody asked for", filter.Filter{}, "coa", ""},
		{"no arguments", empty, "oxa", "empty_arguments /turns/0/steps/1/calls/0/arguments"},
		{"no arguments, which nobody minds", filter.Filter{}, "oxa", ""},
		{"all rules", all, "ooa (oo)a", ""},
		{"a direct answer comes before a bad order", all, "coa a", "direct_answer /turns/1/answer"},
		{"a bad order comes before empty arguments", all, "xoa", "bad_flow /turns/0/steps/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if rej := tt.filter.Check(dialogue(tt.text)); rej != nil {
				got = string(rej.Code) + " " + rej.Path
			}
			if got != tt.want {
				t.Errorf("Check(%s) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestEmptyArgumentsAre(t *testing.T) {
	f := filter.Filter{EmptyArguments: true}
	for args, want := range map[qaoa.JSON]bool{"": true, "null": true, "{}": true, `{"a":null}`: false, "[]": false, `"{}"`: false} {
		rec := dialogue("o")
		rec.Turns[0].Steps[0].Calls[0].Arguments = args
		if rej := f.Check(rec); (rej != nil) != want {
			t.Errorf("arguments %q: %v, want a reject %v", args, rej, want)
		}
	}
}

func TestAllTools(t *testing.T) {
	good := qaoa.Tool{Name: "g", Parameters: `{"properties":{"a":{}}}`}
	tests := []struct {
		name   string
		filter filter.Filter
		tools  []qaoa.Tool // beside f, which is called
		want   string
	}{
		{"another good tool", filter.Filter{AllTools: true}, []qaoa.Tool{good}, ""},
		{"a temporal tool that is not called", filter.Filter{AllTools: true}, []qaoa.Tool{good, {Name: "h", Description: "The date"}}, "temporal_tool /tools/2"},
		{"which only matters with the option", filter.Filter{}, []qaoa.Tool{{Name: "h", Description: "The date"}}, ""},
		{"a tool without parameters", filter.Filter{AllTools: true}, []qaoa.Tool{{Name: "h"}}, "empty_schema /tools/1"},
		{"a tool without a name is passed over", filter.Filter{AllTools: true}, []qaoa.Tool{{Name: " ", Description: "The date"}}, ""},
		{"a tool that is not in the list", filter.Filter{AllTools: true, Allow: map[filter.Signature]struct{}{{Name: "f", Description: "Does it"}: {}}}, []qaoa.Tool{good}, "tool_not_in_allowlist /tools/1"},
		{"the second tool of a name", filter.Filter{AllTools: true}, []qaoa.Tool{{Name: "f", Description: "The date"}}, "temporal_tool /tools/1"},
		{"a list of names", filter.Filter{AllTools: true, AllowNames: map[string]struct{}{"f": {}, "g": {}}}, []qaoa.Tool{good}, ""},
		{"a list of names without one that is called", filter.Filter{AllowNames: map[string]struct{}{"g": {}}}, []qaoa.Tool{good}, "tool_not_in_allowlist /turns/0/steps/0/calls/0/name"},
		{"a list of names without one on offer", filter.Filter{AllTools: true, AllowNames: map[string]struct{}{"f": {}}}, []qaoa.Tool{good}, "tool_not_in_allowlist /tools/1"},
		{"no tools", filter.Filter{DirectAnswer: true}, nil, "empty_tools /tools"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := dialogue("oa")
			rec.Tools = append(rec.Tools, tt.tools...)
			if tt.tools == nil {
				rec.Tools = nil
			}
			got := ""
			if rej := tt.filter.Check(rec); rej != nil {
				got = string(rej.Code) + " " + rej.Path
			}
			if got != tt.want {
				t.Errorf("Check = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	names := filter.Names(map[filter.Signature]struct{}{{Name: "a", Description: "1"}: {}, {Name: "a", Description: "2"}: {}, {Name: "b"}: {}})
	if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Names = %q, want a and b", got)
	}
}

// TestMoreRulesKeepLess: a rule that is turned on keeps no record that was
// dropped without it.
func TestMoreRulesKeepLess(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rec := dialogue(rapid.StringMatching(`([coxtsraq(]{1,4}\)? ){1,3}`).Draw(rt, "dialogue"))
		draw := func(name string) bool { return rapid.Bool().Draw(rt, name) }
		few := filter.Filter{DirectAnswer: draw("direct"), Flow: draw("flow"), EmptyArguments: draw("empty"), AllTools: draw("all")}
		more := few
		switch rapid.IntRange(0, 3).Draw(rt, "rule") {
		case 0:
			more.DirectAnswer = true
		case 1:
			more.Flow = true
		case 2:
			more.EmptyArguments = true
		case 3:
			more.AllTools = true
		}
		if few.Check(rec) != nil && more.Check(rec) == nil {
			rt.Errorf("%+v keeps what %+v drops", more, few)
		}
	})
}

// TestRealSealTools filters records of the split "dev", whose lines have
// nothing but calls, as training data.
func TestRealSealTools(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "raw", "seal-tools-train")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the files of Seal-Tools beside the project as ../shared/data/raw/seal-tools-train")
	}
	recs := sealTools(t, dir)
	tests := []struct {
		name   string
		filter filter.Filter
		kept   int
	}{
		{"no rule", filter.Filter{KeepTemporal: true, SchemaFilter: filter.Off}, 700},
		{"empty arguments", filter.Filter{KeepTemporal: true, SchemaFilter: filter.Off, EmptyArguments: true}, 629},
		{"empty arguments and schemas", filter.Filter{KeepTemporal: true, EmptyArguments: true}, 629},
		{"empty arguments and schemas by the script's rule", filter.Filter{KeepTemporal: true, SchemaFilter: filter.Metadata, EmptyArguments: true}, 628},
		{"temporal tools as well", filter.Filter{EmptyArguments: true}, 307},
		{"temporal tools as well, schemas by the script's rule", filter.Filter{SchemaFilter: filter.Metadata, EmptyArguments: true}, 307},
		{"as a training corpus", filter.Training(), 307},
	}
	for _, tt := range tests {
		kept := 0
		for _, rec := range recs {
			if tt.filter.Check(rec) == nil {
				kept++
			}
		}
		if kept != tt.kept {
			t.Errorf("%s: %d of %d kept, want %d", tt.name, kept, len(recs), tt.kept)
		}
	}
}

// sealTools returns the records of dev.jsonl, one step each: what a source does
// beyond that does not matter to the filter.
func sealTools(t *testing.T, dir string) []qaoa.Record {
	t.Helper()
	elements := func(name string) []qaoa.Value {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		var out []qaoa.Value
		for el, err := range convert.Elements(t.Context(), f, name) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := qaoa.ParseValue(el.Data)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return out
	}
	tools := map[string]qaoa.Tool{}
	for _, v := range elements("tool.jsonl") {
		tool, err := convert.NormalizeTool(v)
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = tool
	}
	var recs []qaoa.Record
	for i, v := range elements("dev.jsonl") {
		rec := qaoa.Record{ID: fmt.Sprintf("dev/%d", i), Turns: []qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{}}}}}
		calling, _ := v.Get("calling")
		for _, c := range calling.Items {
			api, _ := c.Get("api")
			params, _ := c.Get("parameters")
			step := &rec.Turns[0].Steps[0]
			step.Calls = append(step.Calls, qaoa.Call{Name: api.Text, Arguments: params.JSON()})
			if tool, ok := tools[api.Text]; ok {
				rec.Tools = append(rec.Tools, tool)
			}
		}
		recs = append(recs, rec)
	}
	return recs
}

func ExampleTraining() {
	rec := qaoa.Record{
		ID:    "shop/1",
		Tools: []qaoa.Tool{{Name: "order", Parameters: `{"type":"object","properties":{"what":{"type":"string"}}}`}},
		Turns: []qaoa.Turn{{Query: "Hello", Answer: "Hello, what can I do for you?"}},
	}
	f := filter.Training()
	fmt.Println(f.Check(rec))
	// Output: shop/1: /turns/0/answer: direct_answer: want a call before each answer, have the answer "Hello, what can I do for you?" to the query itself
}
