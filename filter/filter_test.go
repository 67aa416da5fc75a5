package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/convert"
	"assay/filter"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

// record returns a record with the tools ok(a), day(a: "when"), none(), id(id)
// and two called twin, the second of them temporal; text is its turns, divided
// by "|", each a list of calls: "ok{"a":1} twin".
func record(text string) qaoa.Record {
	schema := func(s string) qaoa.JSON { return qaoa.JSON(`{"type":"object","properties":{` + s + `}}`) }
	rec := qaoa.Record{
		ID:     "x/1",
		Source: qaoa.Source{Name: "x", File: "f.json", Index: 4, Split: "test"},
		Tools: []qaoa.Tool{
			{Name: "ok", Description: "Does it. ", Parameters: `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`},
			{Name: "day", Parameters: schema(`"a":{"description":"when"}`)},
			{Name: "none", Parameters: schema(``)},
			{Name: "id", Parameters: schema(`"id":{}`)},
			{Name: "twin", Parameters: schema(`"a":{}`)},
			{Name: "twin", Description: "Date", Parameters: schema(`"a":{}`)},
			{Name: " blank ", Parameters: schema(`"a":{}`)},
		},
	}
	for turn := range strings.SplitSeq(text, "|") {
		t := qaoa.Turn{Query: "Do it"}
		for c := range strings.FieldsSeq(turn) {
			name, args, ok := strings.Cut(c, "{")
			call := qaoa.Call{Name: name}
			if ok {
				call.Arguments = qaoa.JSON("{" + args)
			}
			if name, list, ok := strings.Cut(c, "["); ok && !strings.Contains(name, "{") {
				call = qaoa.Call{Name: name, Arguments: qaoa.JSON("[" + list)}
			}
			t.Steps = append(t.Steps, qaoa.Step{Calls: []qaoa.Call{call}})
		}
		rec.Turns = append(rec.Turns, t)
	}
	return rec
}

func TestCheck(t *testing.T) {
	strict := filter.Filter{Profile: convert.Strict}
	allow := filter.Filter{Allow: map[filter.Signature]struct{}{{Name: "ok", Description: "Does it."}: {}, {Name: "day"}: {}}}
	tests := []struct {
		name   string
		filter filter.Filter
		rec    string
		want   string // code and path, "" is kept
	}{
		{"a call of a good tool", filter.Filter{}, `ok{"a":1}`, ""},
		{"tools that are not called do not matter", filter.Filter{}, `ok id`, ""},
		{"a turn without a call", filter.Filter{}, `ok|`, "no_call /turns/1"},
		{"no turn with a call", filter.Filter{}, ``, "no_call /turns/0"},
		{"a tool that is not on offer", filter.Filter{}, `ok nope`, "unknown_tool /turns/0/steps/1/calls/0/name"},
		{"a temporal tool", filter.Filter{}, `ok|ok day`, "temporal_tool /turns/1/steps/1/calls/0/name"},
		{"unless they are wanted", filter.Filter{KeepTemporal: true}, `day`, ""},
		{"a tool without parameters", filter.Filter{}, `none`, "empty_schema /turns/0/steps/0/calls/0/name"},
		{"unless they are wanted", filter.Filter{SchemaFilter: filter.Off}, `none`, ""},
		{"a tool with metadata only", filter.Filter{SchemaFilter: filter.Metadata}, `id`, "empty_schema /turns/0/steps/0/calls/0/name"},
		{"of tools with a name the first counts", filter.Filter{}, `twin`, ""},
		{"blanks around a name mean nothing", filter.Filter{}, `blank`, ""},
		{"arguments that are no object stay in the paper's profile", filter.Filter{}, `ok["a"]`, ""},
		{"and not in the strict one", strict, `ok["a"]`, "arguments_not_object /turns/0/steps/0/calls/0/arguments"},
		{"strict: good arguments", strict, `ok{"a":1}`, ""},
		{"strict: an argument too many", strict, `ok{"a":1,"b":2}`, "unknown_argument /turns/0/steps/0/calls/0/arguments"},
		{"strict: an argument too few", strict, `ok{}`, "missing_required /turns/0/steps/0/calls/0/arguments"},
		{"strict: a placeholder", strict, `ok{"a":"x${b}"}`, "unresolved_placeholder /turns/0/steps/0/calls/0/arguments"},
		{"strict: no placeholder", strict, `ok{"a":"$1}"}`, ""},
		{"a tool on the list", allow, `ok`, ""},
		{"a tool on the list is tested too", allow, `day`, "temporal_tool /turns/0/steps/0/calls/0/name"},
		{"a tool that is not on the list", allow, `ok id`, "tool_not_in_allowlist /turns/0/steps/1/calls/0/name"},
		{"an empty list allows nothing", filter.Filter{Allow: map[filter.Signature]struct{}{}}, `ok`, "tool_not_in_allowlist /turns/0/steps/0/calls/0/name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.filter.Validate(); err != nil {
				t.Fatal(err)
			}
			rej := tt.filter.Check(record(tt.rec))
			got := ""
			if rej != nil {
				got = string(rej.Code) + " " + rej.Path
				if rej.Source != "x" || rej.ID != "x/1" || rej.Stage != convert.StageFilter || rej.Pos != (qaoa.Pos{File: "f.json", Index: 4}) || rej.Detail == "" {
					t.Errorf("the reject is %+v", rej)
				}
			}
			if got != tt.want {
				t.Errorf("Check(%s) = %q, want %q", tt.rec, got, tt.want)
			}
		})
	}
}

func TestCheckLanguage(t *testing.T) {
	change := map[string]func(*qaoa.Record){
		"nothing":     func(*qaoa.Record) {},
		"query":       func(r *qaoa.Record) { r.Turns[0].Query = "天气" },
		"accent":      func(r *qaoa.Record) { r.Turns[0].Query = "café" },
		"system":      func(r *qaoa.Record) { r.System = "天气" },
		"tool":        func(r *qaoa.Record) { r.Tools[2].Parameters = `{"properties":{"µ":{}}}` },
		"argument":    func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Arguments = `{"a":"날씨"}` },
		"answer":      func(r *qaoa.Record) { r.Turns[0].Answer = "да" },
		"observation": func(r *qaoa.Record) { r.Turns[0].Steps[0].Observations = []string{"天"} },
		"meta":        func(r *qaoa.Record) { r.Meta = `{"a":"天"}` },
	}
	want := map[string]string{ // the places that each rule rejects
		"":    "",
		"off": "",
		"l1":  "answer argument observation query system tool",
		"l2":  "accent query",
		"cjk": "argument observation query system",
	}
	for rule, places := range want {
		f := filter.Filter{Language: rule}
		for name, edit := range change {
			rec := record(`ok{"a":1}`)
			edit(&rec)
			rej := f.Check(rec)
			if wanted := strings.Contains(" "+places+" ", " "+name+" "); (rej != nil) != wanted {
				t.Errorf("rule %q, foreign %s: %v", rule, name, rej)
			} else if rej != nil && (rej.Code != convert.NonEnglish || rej.Path == "") {
				t.Errorf("rule %q, foreign %s: %v", rule, name, rej)
			}
		}
	}
}

func TestCheckUnresolvedMeta(t *testing.T) {
	f := filter.Filter{Profile: convert.Strict}
	for meta, want := range map[qaoa.JSON]bool{
		``: false, `{}`: false, `{"unresolved":[]}`: false, `{"unresolved":{}}`: false, `{"unresolved":null}`: false, `{"unresolved":false}`: false,
		`{"x":{"unresolved":[1]}}`: false, `{"unresolved":["${a}"]}`: true, `{"unresolved":{"a":1}}`: true, `{"unresolved":"x"}`: true,
	} {
		rec := record(`ok{"a":1}`)
		rec.Meta = meta
		if rej := f.Check(rec); (rej != nil) != want {
			t.Errorf("meta %s: %v, want a reject %v", meta, rej, want)
		}
	}
}

func TestValidate(t *testing.T) {
	f := filter.Filter{SchemaFilter: "full"}
	if err := f.Validate(); err == nil || err.Error() != `schema filter "full": want one of empty, metadata, off` {
		t.Errorf("Validate() = %v", err)
	}
}

func TestReadAllow(t *testing.T) {
	read := func(text string) (map[filter.Signature]struct{}, error) {
		return filter.ReadAllow(convert.Elements(t.Context(), strings.NewReader(text), "allow"))
	}
	got, err := read(`{"name":" a ","description":"A\n","x":1}` + "\n" + `{"name":"b","description":null}` + "\n" + `["c","C"]` + "\n" + `[{"name":"d"},["e","E"]]`)
	want := map[filter.Signature]struct{}{{Name: "a", Description: "A"}: {}, {Name: "b"}: {}, {Name: "c", Description: "C"}: {}, {Name: "d"}: {}, {Name: "e", Description: "E"}: {}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("ReadAllow = %v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"{}\n1", `[{"description":"x"}]`, `[{"name":"x","description":1},{}]`, `[[[["a","b"]]]]`, "{\"name\":\"a\"}\n{", "{\"name\":\"a\"}\n{\n"} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), "allow") {
			t.Errorf("ReadAllow(%q): error %v, want one with the place", text, err)
		}
	}
}

func ExampleFilter_Check() {
	rec := qaoa.Record{
		ID:     "shop/1",
		Source: qaoa.Source{Name: "shop", File: "orders.json"},
		Tools:  []qaoa.Tool{{Name: "order", Parameters: `{"type":"object","properties":{"deliveryDate":{"type":"string"}}}`}},
		Turns:  []qaoa.Turn{{Query: "Send it", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "order"}}}}}},
	}
	var f filter.Filter
	fmt.Println(f.Check(rec))
	// Output: orders.json#0: shop/1: /turns/0/steps/0/calls/0/name: temporal_tool: "order" has the word "Date" in the name of a parameter
}

func BenchmarkCheck(b *testing.B) {
	rec := record(`ok{"a":1} twin id`)
	var f filter.Filter
	b.ReportAllocs()
	for b.Loop() {
		if rej := f.Check(rec); rej != nil {
			b.Fatal(rej)
		}
	}
}
