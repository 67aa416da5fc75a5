package convert

import (
	"strings"
	"testing"

	"assay/qaoa"

	"pgregory.net/rapid"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, in, want string
		rung           Rung
	}{
		{"JSON", ` {"a": 1.0} `, `{"a":1.0}`, RungJSON},
		{"a number of any length", `123456789012345678901`, `123456789012345678901`, RungJSON},
		{"a JSON string of a word stays", `"word"`, `"word"`, RungJSON},
		{"JSON in a string", `"{\"a\":1}"`, `{"a":1}`, RungNested},
		{"three strings deep", `"\"\\\"[1]\\\"\""`, `[1]`, RungNested},
		{"Python in a string", `"{'a': None}"`, `{"a":null}`, RungPython},
		{"single quotes and constants", `{'a': True, 'b': None, 'c': (1, 2)}`, `{"a":true,"b":null,"c":[1,2]}`, RungPython},
		{"a comma at the end", `{"a": 1,}`, `{"a":1}`, RungPython},
		{"bare type names", `{'type': str, 'of': List[int], 'or': typing.Optional[str]}`, `{"type":"str","of":"List[int]","or":"typing.Optional[str]"}`, RungPython},
		{"a class", `{'type': <class 'str'>}`, `{"type":"<class 'str'>"}`, RungPython},
		{"a set", `{'a', 'b'}`, `["a","b"]`, RungPython},
		{"a set inside", `{'x': {'a', 1}, 'y': {}}`, `{"x":["a",1],"y":{}}`, RungPython},
		{"an apostrophe", `{'a': 'The user's budget', 'b': 'x'}`, `{"a":"The user's budget","b":"x"}`, RungRepaired},
		{"an apostrophe before a blank", `['the users' list', 'b']`, `["the users' list","b"]`, RungRepaired},
		{"a line break in a string", "{\"a\": \"x\ny\"}", `{"a":"x\ny"}`, RungRepaired},
		{"prose", `price of lot one`, `"price of lot one"`, RungRaw},
		{"cut off", `{"a": [1, `, `"{\"a\": [1, "`, RungRaw},
		{"a dict with an item without a value", `{'a': 1, 'b'}`, `"{'a': 1, 'b'}"`, RungRaw},
		{"a number gone wrong", `{'a': 1x}`, `"{'a': 1x}"`, RungRaw},
		{"nothing", ``, `""`, RungRaw},
		{"deep", strings.Repeat("(", 300) + "x", qaoa.StringValue(strings.Repeat("(", 300) + "x").JSON().Text(), RungRaw},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, rung := Decode(tt.in)
			got := string(v.JSON())
			if tt.name == "deep" {
				got = v.Text
			}
			if got != tt.want || rung != tt.rung {
				t.Errorf("Decode(%q) = %s by %s, want %s by %s", tt.in, got, rung, tt.want, tt.rung)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{'a': 'it's'}`, `"[1]"`, `{<x>, [a[b]]}`, `('`, `{'a':`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, rung := Decode(s)
		if rung == RungRaw && (v.Kind != qaoa.String || v.Text != s) {
			t.Errorf("Decode(%q): raw text becomes %s", s, v.JSON())
		}
		if _, err := qaoa.ParseValue(string(v.JSON())); err != nil {
			t.Errorf("Decode(%q) = %s: %v", s, v.JSON(), err)
		}
		for _, f := range []func(string) (string, int){
			func(s string) (string, int) { rest, _, n := CutThink(s); return rest, n },
			func(s string) (string, int) { _, rest, n := CutTags(s, "tool_call"); return rest, n },
			func(s string) (string, int) { _, rest, n := CutMarkers(s); return rest, n },
		} {
			if rest, n := f(s); len(rest) > len(s) || n < 0 {
				t.Errorf("%q: cutting leaves %q, %d", s, rest, n)
			}
		}
	})
}

func TestCalls(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an object", `{"name": "f", "arguments": {"a": 1.0}}`, `f({"a":1.0})`},
		{"arguments as text", `{"name": "f", "arguments": "{\"a\": 1}"}`, `f({"a":1})`},
		{"arguments as text of blanks", `{"name": "f", "arguments": " "}`, `f({})`},
		{"no arguments", `{"name": "f"}`, `f({})`},
		{"null arguments", `{"name": "f", "arguments": null}`, `f({})`},
		{"parameters", `{"name": "f", "parameters": {"a": 1}}`, `f({"a":1})`},
		{"in a wrapper", `{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}`, `f({})`},
		{"the function is a name", `{"function": "f", "arguments": {}}`, `f({})`},
		{"a wrapper in a text", `{"function": "{\"name\": \"f\", \"arguments\": {}}"}`, `f({})`},
		{"Python", `{'name': 'f', 'arguments': {'a': None}}`, `f({"a":null})`},
		{"quoted arguments", `{"name": "f", "arguments": '{"a": "it\'s"}'}`, `f({"a":"it's"})`},
		{"quoted, with an escape of JSON", `{"name": "f", "arguments": '{"a": "x\ny"}'}`, `f({"a":"x\ny"})`},
		{"quoted, the name behind", `{"arguments": '{"a": 1}', "name": "f"}`, `f({"a":1})`},
		{"quoted, not closed", `{"name": "f", "arguments": '{"a": 1}}`, `f({"a":1})`},
		{"a list is no object", `{"name": "f", "arguments": [1]}`, `arguments_not_object`},
		{"a text of a list", `{"name": "f", "arguments": "[1]"}`, `arguments_not_object`},
		{"a text of anything", `{"name": "f", "arguments": "lot one"}`, `bad_args_json`},
		{"no name", `{"arguments": {}}`, `bad_call_json`},
		{"prose", `f of one`, `bad_call_json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n Notes
			call, rej := n.CallText(tt.in, "/x")
			got := call.Name + "(" + string(call.Arguments) + ")"
			if rej != nil {
				got = string(rej.Code)
			}
			if got != tt.want {
				t.Errorf("CallText(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	var n Notes
	if got := n.Meta(); got != "" {
		t.Errorf("no notes make the meta %s", got)
	}
	n.Rung(RungJSON)
	n.Rung(RungPython)
	n.Rung(RungPython)
	n.Add("b", 1)
	n.Add("a", 2)
	n.Add("b", 1)
	n.Add("c", 0)
	want := qaoa.JSON(`{"x":1,"decoded":{"rungs":{"python":2},"a":2,"b":2}}`)
	got := n.Meta(qaoa.Member{Name: "x", Value: qaoa.NumberValue("1")})
	if got != want {
		t.Errorf("meta %s, want %s", got, want)
	}
	counts := DecodeNotes(got)
	if len(counts) != 3 || counts["rung_python"] != 2 || counts["a"] != 2 || counts["b"] != 2 {
		t.Errorf("counts %v", counts)
	}
	if DecodeNotes(`{"x":1}`) != nil {
		t.Error("counts of a meta without any")
	}
}

// What the plain readers make is what NormalizeTool makes.
func TestPlainToolAgreesWithTheTree(t *testing.T) {
	texts := []string{
		`{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`,
		`{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"anyOf":[{"type":"null"},{"type":"number"}]}}}}}}}}`,
		`{"name":"f","parameters":{"a":{"type":"int, optional","description":"x"},"b":{"type":"List[str]","default":""},"c":{"description":"y","type":"Any"}}}`,
		`{"name":"f","description":"d","parameters":{"type":{"type":"str"}}}`,
		`{"name":"f","parameters":{"a":{"type":"float"},"a":{"type":"wild"}}}`,
		`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"dict"}},"required":[1,"a"]}}`,
		`{"name":"f","parameters":{"type":"object","properties":{"a":{"description":"Required. x"},"b":{"required":true}}}}`,
		`{"name":"f","parameters":{"a":{"description":"Required. x"},"b":{"description":"\u0052equired."}}}`,
		`{"name":"f","parameters":{}}`, `{"name":"f"}`, `{"name":" "}`, `{"name":"f","parameters":null}`, `{"name":"f","parameters":{"a":1}}`,
	}
	plain := 0
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		for _, flat := range []bool{false, true} {
			got, ok := plainTool(text, flat)
			if !ok {
				continue
			}
			plain++
			v, err := qaoa.ParseValue(text)
			if err != nil {
				t.Errorf("plainTool reads %s, which is no JSON: %v", text, err)
				continue
			}
			want, err := NormalizeTool(v)
			if flat {
				want, err = NormalizeUnmarked(v)
			}
			if err != nil || got != want {
				t.Errorf("%s (flat %v):\nplain %+v\ntree  %+v, %v", text, flat, got, want, err)
			}
		}
	}
	for _, text := range texts {
		check(t, text)
	}
	if plain < 5 {
		t.Errorf("only %d tools are read the plain way", plain)
	}
	word := rapid.SampledFrom([]string{"type", "properties", "required", "items", "description", "default", "anyOf", "a", "title", "enum", "format"})
	var schema func(depth int) *rapid.Generator[string]
	schema = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kinds := 7
			if depth > 3 {
				kinds = 5
			}
			switch rapid.IntRange(0, kinds).Draw(t, "kind") {
			case 0, 1:
				return string(qaoa.Quote(rapid.SampledFrom([]string{"object", "string", "int", "float", "str, optional", "List[int]", "Required. x", "array", "", "null"}).Draw(t, "word")))
			case 2:
				return rapid.SampledFrom([]string{"true", "false", "null", "1", "[]", "{}"}).Draw(t, "scalar")
			case 3:
				return `["a","b"]`
			case 6:
				return "[" + schema(depth+1).Draw(t, "item") + "]"
			default:
				var b strings.Builder
				b.WriteByte('{')
				for i := range rapid.IntRange(0, 3).Draw(t, "members") {
					if i > 0 {
						b.WriteByte(',')
					}
					b.WriteString(string(qaoa.Quote(word.Draw(t, "name"))) + ":" + schema(depth+1).Draw(t, "value"))
				}
				b.WriteByte('}')
				return b.String()
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		params := `{"type":"object","properties":{"p":` + schema(1).Draw(t, "schema") + `}}`
		if rapid.Bool().Draw(t, "flat") {
			params = schema(0).Draw(t, "parameters")
		}
		check(t, `{"name":"f","description":"d","parameters":`+params+`}`)
	})
}

func TestToolCache(t *testing.T) {
	var c ToolCache
	var n Notes
	const list = `[{"name":"f","parameters":{"a":{"type":"int"}}}, {"name":"g"}]`
	for range 2 {
		tools, rej := c.Tools(list, "/t", &n)
		if rej != nil || len(tools) != 2 || tools[0].Parameters != `{"type":"object","properties":{"a":{"type":"integer"}},"required":[]}` {
			t.Errorf("have %+v, %v", tools, rej)
		}
	}
	tests := []struct {
		name, in string
		tools    int
		code     Code
	}{
		{"nothing", "", 0, ""},
		{"an empty list", "[]", 0, ""},
		{"one tool", `{"name":"f"}`, 1, ""},
		{"Python", `[{'name': 'f'}]`, 1, ""},
		{"cut off", `[{"name":"f"}`, 0, ParseError},
		{"no tool", `[{"name":"f"},{"x":1}]`, 0, ParseError},
		{"prose", "none", 0, ParseError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, rej := c.Tools(tt.in, "/t", &n)
			code := Code("")
			if rej != nil {
				code = rej.Code
			}
			if len(tools) != tt.tools || code != tt.code {
				t.Errorf("have %d tools and %v, want %d and %q", len(tools), rej, tt.tools, tt.code)
			}
		})
	}
	for i := range 40 {
		name := strings.Repeat("x", maxCached/20) + string(rune('a'+i%26))
		if tools, rej := c.Tools(`[{"name":"`+name+`"}]`, "", &n); rej != nil || tools[0].Name != name {
			t.Fatal(rej)
		}
		if c.size > maxCached {
			t.Fatalf("%d bytes are remembered, want at most %d", c.size, maxCached)
		}
	}
}

func TestToolsInText(t *testing.T) {
	var n Notes
	tools, rej := ToolsInText("Tools:\n{\"name\": \"a\",\n \"description\": \"}\"}\n\n  [{\"name\": \"b\"}, {\"name\": \"c\"}]\nand {\"name\": \"not at the beginning\"}\n{'name': 'd'}", "/s", &n)
	if rej != nil || len(tools) != 4 || tools[3].Name != "d" {
		t.Errorf("have %+v, %v", tools, rej)
	}
}

// plainTool returns the tool in raw, if it has the usual form.
func plainTool(raw string, flat bool) (qaoa.Tool, bool) {
	r := plainReader{c: qaoa.CursorOf(raw), flat: flat}
	place := r.tool(0)
	if !r.c.Done() {
		return qaoa.Tool{}, false
	}
	return place.tool(string(r.out)), true
}
