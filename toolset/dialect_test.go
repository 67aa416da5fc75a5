package toolset_test

import (
	"testing"

	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/toolset"
)

func parse(t testing.TB, text string) qaoa.Value {
	t.Helper()
	v, err := qaoa.ParseValue(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestNormalize(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{
			"a list of parameters with marks, as directories of MCP servers have them",
			`{"name":"f","description":"d","parameters":[{"name":"a","param_type":"integer","description":"x","default":null,"enum":null,"min_value":1,"max_value":9,"required":true},{"name":"b","param_type":"string","required":false,"default":""}]}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"x","default":null,"minimum":1,"maximum":9},"b":{"type":"string","default":""}},"required":["a"]}`,
		},
		{
			"two lists of parameters, of which the first is required",
			`{"api_name":"f","required_parameters":[{"name":"q","type":"STRING","description":"x","default":""}],"optional_parameters":[{"name":"n","type":"NUMBER","default":"5"},{"name":"k","type":"ENUM","enum":["a"]}]}`,
			`{"type":"object","properties":{"q":{"type":"string","description":"x","default":""},"n":{"type":"number","default":"5"},"k":{"enum":["a"]}},"required":["q"]}`,
		},
		{
			"two empty lists",
			`{"name":"f","required_parameters":[],"optional_parameters":[]}`,
			`{"type":"object","properties":{},"required":[]}`,
		},
		{
			"a schema wins over two lists",
			`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"str"}}},"required_parameters":[{"name":"z"}]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":[]}`,
		},
		{
			"keywords that a table fills with nothing go, defaults and empty lists of required stay",
			`{"name":"f","parameters":{"type":"dict","properties":{"a":{"type":"float","enum":null,"items":null,"default":null},"b":{"type":"string","enum":[],"default":"","description":"x"}},"required":[]}}`,
			`{"type":"object","properties":{"a":{"type":"number","format":"float","default":null},"b":{"type":"string","default":"","description":"x"}},"required":[]}`,
		},
		{
			"a parameter called like a keyword, with a schema of null",
			`{"name":"f","parameters":{"type":"object","properties":{"title":null,"type":{"type":"string"}},"required":["type"]}}`,
			`{"type":"object","properties":{"title":{},"type":{"type":"string"}},"required":["type"]}`,
		},
		{
			"types in other words at every depth, and none that turns into string",
			`{"name":"f","inputSchema":{"type":"dict","properties":{"a":{"type":"list","items":{"type":"dict","properties":{"x":{"type":"int"}}}},"b":{"type":"any"},"c":{"type":"Frobnicator"}},"required":["a"]}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}},"b":{},"c":{}},"required":["a"]}`,
		},
		{
			"a flat map",
			`{"name":"f","parameters":{"a":{"type":"str","description":"x"},"b":{"type":"int, optional"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"x"},"b":{"type":"integer"}},"required":["a"]}`,
		},
		{
			"OpenAI's wrapper around a list",
			`{"type":"function","function":{"name":"f","parameters":[{"name":"a","type":"bool"}]}}`,
			`{"type":"object","properties":{"a":{"type":"boolean"}},"required":[]}`,
		},
		{
			"of two parameters with one name the first",
			`{"name":"f","parameters":[{"name":"a","type":"bool"},{"name":"a","type":"int"}]}`,
			`{"type":"object","properties":{"a":{"type":"boolean"}},"required":[]}`,
		},
		{"no parameters at all", `{"name":"f","parameters":null}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := toolset.Normalize(parse(t, tt.raw))
			if err != nil || got.Name != "f" || string(got.Parameters) != tt.want {
				t.Errorf("Normalize = %q, %v\nparameters %s\nwant       %s", got.Name, err, got.Parameters, tt.want)
			}
		})
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"a list entry without a name":  `{"name":"f","parameters":[{"type":"int"}]}`,
		"a list of words":              `{"name":"f","required_parameters":["a"]}`,
		"parameters that are a number": `{"name":"f","parameters":5}`,
		"a tool without a name":        `{"description":"d","parameters":[]}`,
		"a text":                       `"hello"`,
	} {
		if tool, err := toolset.Normalize(parse(t, raw)); err == nil {
			t.Errorf("%s is taken as %+v", name, tool)
		}
	}
}

// genSchema draws a schema in many dialects.
func genSchema(depth int) *rapid.Generator[qaoa.Value] {
	return rapid.Custom(func(t *rapid.T) qaoa.Value {
		out := qaoa.ObjectValue()
		add := func(name string, v qaoa.Value) { out.Members = append(out.Members, qaoa.Member{Name: name, Value: v}) }
		types := []string{"str", "int", "dict", "list", "any", "FLOAT", "List[int]", "odd", "boolean", "null"}
		add("type", qaoa.StringValue(rapid.SampledFrom(types).Draw(t, "type")))
		for _, word := range []string{"description", "default", "enum", "items", "required", "format"} {
			if !rapid.Bool().Draw(t, word) {
				continue
			}
			add(word, rapid.SampledFrom([]qaoa.Value{
				qaoa.NullValue(), qaoa.StringValue("x"), qaoa.ArrayValue(), qaoa.BoolValue(true), qaoa.ArrayValue(qaoa.StringValue("a")),
			}).Draw(t, "value"))
		}
		if depth > 0 && rapid.Bool().Draw(t, "object") {
			props := qaoa.ObjectValue()
			for _, n := range []string{"a", "type", "items", "title"}[:rapid.IntRange(0, 4).Draw(t, "properties")] {
				props.Members = append(props.Members, qaoa.Member{Name: n, Value: genSchema(depth-1).Draw(t, n)})
			}
			add("properties", props)
		}
		return out
	})
}

// A pool can be built of a pool: what is normalised once stays as it is.
func TestNormalizeIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := qaoa.ObjectValue(
			qaoa.Member{Name: "name", Value: qaoa.StringValue("f")},
			qaoa.Member{Name: "parameters", Value: genSchema(3).Draw(t, "schema")},
		)
		once, err := toolset.Normalize(raw)
		if err != nil {
			return // parameters of another kind
		}
		params, err := once.Parameters.Value()
		if err != nil {
			t.Fatal(err)
		}
		raw.Members[1].Value = params
		twice, err := toolset.Normalize(raw)
		if err != nil || twice.Parameters != once.Parameters {
			t.Fatalf("of %s\nonce  %s\ntwice %s, %v", raw.JSON(), once.Parameters, twice.Parameters, err)
		}
	})
}
