package convert

import (
	"fmt"
	"strings"
	"testing"

	"assay/qaoa"
)

func parse(t *testing.T, s string) qaoa.Value {
	t.Helper()
	v, err := qaoa.ParseValue(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestNormalizeSchema(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{
			"a JSON Schema stays as it is",
			`{"type":"object","properties":{"b":{"type":"string","description":"B"},"a":{"type":"integer"}},"required":["b"]}`,
			`{"type":"object","properties":{"b":{"type":"string","description":"B"},"a":{"type":"integer"}},"required":["b"]}`,
		},
		{
			"keys stay in the order of the source",
			`{"required":["a"],"type":"dict","properties":{"a":{"description":"A","type":"int"}}}`,
			`{"required":["a"],"type":"object","properties":{"a":{"description":"A","type":"integer"}}}`,
		},
		{"an empty object is a schema without parameters", `{}`, `{"type":"object","properties":{},"required":[]}`},
		{"a type alone is a schema without parameters", `{"type":"dict"}`, `{"type":"object","properties":{},"required":[]}`},
		{"null properties are none", `{"type":"object","properties":null}`, `{"type":"object","properties":{},"required":[]}`},
		{"a null list is none", `{"type":"object","properties":{},"required":null}`, `{"type":"object","properties":{},"required":[]}`},
		{
			"a flat map of objects",
			`{"city":{"type":"str","description":"City"},"n":{"type":"int"}}`,
			`{"type":"object","properties":{"city":{"type":"string","description":"City"},"n":{"type":"integer"}},"required":[]}`,
		},
		{
			"a flat map of texts", `{"city":"The city","n":"int"}`,
			`{"type":"object","properties":{"city":{"type":"string","description":"The city"},"n":{"type":"integer"}},"required":[]}`,
		},
		{
			"a flat map with a list", `{"a":{"type":"str"},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		},
		{
			"a flat map with a type that says object", `{"type":"object","a":{"type":"str"}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":[]}`,
		},
		{
			"parameters called type and properties are no schema",
			`{"type":{"type":"str","description":"Kind"},"properties":{"type":"list","description":"Fields"}}`,
			`{"type":"object","properties":{"type":{"type":"string","description":"Kind"},"properties":{"type":"array","description":"Fields"}},"required":[]}`,
		},
		{
			"parameters called type and properties, as texts", `{"type":"What it is","properties":"What it has"}`,
			`{"type":"object","properties":{"type":{"type":"string","description":"What it is"},"properties":{"type":"string","description":"What it has"}},"required":[]}`,
		},
		{
			"one parameter called properties", `{"properties":{"type":"str","description":"Fields"}}`,
			`{"type":"object","properties":{"properties":{"type":"string","description":"Fields"}},"required":[]}`,
		},
		{
			"one parameter called type", `{"type":{"type":"str"}}`,
			`{"type":"object","properties":{"type":{"type":"string"}},"required":[]}`,
		},
		{
			"parameters called title, description and required", `{"title":{"type":"str"},"description":{"type":"str"},"required":{"type":"bool"}}`,
			`{"type":"object","properties":{"title":{"type":"string"},"description":{"type":"string"},"required":{"type":"boolean"}},"required":[]}`,
		},
		{
			"a schema with parameters called type and properties",
			`{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"array"}}}`,
			`{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"array"}},"required":[]}`,
		},
		{
			"a schema without a type", `{"properties":{"a":{"type":"int"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`,
		},
		{
			"float keeps its word as format", `{"a":{"type":"float"},"b":{"type":"double","format":"money"}}`,
			`{"type":"object","properties":{"a":{"type":"number","format":"float"},"b":{"type":"number","format":"money"}},"required":[]}`,
		},
		{
			"words of Java and JavaScript",
			`{"a":{"type":"HashMap"},"b":{"type":"ArrayList"},"c":{"type":"long"},"d":{"type":"char"},"e":{"type":"String"},"f":{"type":"Boolean"},"g":{"type":"Array"}}`,
			`{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"array"},"c":{"type":"integer"},"d":{"type":"string"},"e":{"type":"string"},"f":{"type":"boolean"},"g":{"type":"array"}},"required":[]}`,
		},
		{
			"any, nothing and an unknown word make no type", `{"a":{"type":"any"},"b":{"type":""},"c":{"type":"Blob","description":"C"}}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{"description":"C"}},"required":[]}`,
		},
		{
			"annotations of Python",
			`{"a":{"type":"List[int]"},"b":{"type":"Union[str, List[int]]"},"c":{"type":"Dict[str, int]"},"d":{"type":"list(str)"},"e":{"type":"Callable[[int], str]"},"f":{"type":"Tuple[float, float]"}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}},"b":{"type":"string"},"c":{"type":"object"},"d":{"type":"array","items":{"type":"string"}},"e":{"type":"string"},"f":{"type":"array","items":{"type":"number","format":"float"}}},"required":[]}`,
		},
		{
			"nested annotations", `{"a":{"type":"List[List[str]]"}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{"type":"string"}}}},"required":[]}`,
		},
		{
			"a list of types stays a list", `{"a":{"type":["str","null","string"]},"b":{"type":["int","any"]}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{}},"required":[]}`,
		},
		{
			"optional types make the others required", `{"a":{"type":"str"},"b":{"type":"int, optional"},"c":{"type":"Optional[str]"},"d":{"type":"str, default='x'"},"e":{"type":"List[int], optional"}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"array","items":{"type":"integer"}}},"required":["a"]}`,
		},
		{
			"a default makes the others required", `{"a":{"type":"str"},"b":{"type":"int","default":5}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":5}},"required":["a"]}`,
		},
		{
			"a default in a schema makes nothing required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":5}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":5}},"required":[]}`,
		},
		{
			"required parameter by parameter", `{"a":{"type":"str","required":true},"b":{"type":"int","required":false}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`,
		},
		{
			"required parameter by parameter beside a list", `{"type":"object","properties":{"a":{"type":"string","required":true},"b":{"type":"string"}},"required":["b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b","a"]}`,
		},
		{
			"required by the first word of the description", `{"a":"Required. The city","b":"The country"}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"Required. The city"},"b":{"type":"string","description":"The country"}},"required":["a"]}`,
		},
		{
			"types at every depth",
			`{"type":"dict","properties":{"a":{"type":"array","items":{"type":"dict","properties":{"x":{"type":"float","required":true}}}},"b":{"anyOf":[{"type":"int"},{"type":"str"}]}},"required":[]}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number","format":"float"}},"required":["x"]}},"b":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"required":[]}`,
		},
		{
			"values are no schemas", `{"type":"object","properties":{"a":{"type":"dict","default":{"type":"dict"},"enum":[{"type":"int"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","default":{"type":"dict"},"enum":[{"type":"int"}]}},"required":[]}`,
		},
		{"a schema in a string", `"{\"type\":\"dict\",\"properties\":{}}"`, `{"type":"object","properties":{},"required":[]}`},
		{
			"numbers keep their text", `{"a":{"type":"float","minimum":1.0,"maximum":1e2}}`,
			`{"type":"object","properties":{"a":{"type":"number","format":"float","minimum":1.0,"maximum":1e2}},"required":[]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			once := NormalizeSchema(parse(t, tt.in))
			if got := string(once.JSON()); got != tt.want {
				t.Errorf("NormalizeSchema(%s)\nhave %s\nwant %s", tt.in, got, tt.want)
			}
			if again := NormalizeSchema(once).JSON(); again != once.JSON() {
				t.Errorf("normalising again\nhave %s\nwant %s", again, once.JSON())
			}
		})
	}
}

func TestNormalizeTool(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	tests := []struct{ name, in, params string }{
		{"parameters", `{"name":"f","description":"d","parameters":{"type":"dict","properties":{"a":{"type":"str"}},"required":["a"]}}`, schema},
		{"an OpenAI wrapper", `{"type":"function","function":{"name":"f","description":"d","parameters":` + schema + `}}`, schema},
		{"a wrapper without a type", `{"function":{"name":"f","description":"d","parameters":` + schema + `}}`, schema},
		{"inputSchema", `{"name":"f","description":"d","inputSchema":` + schema + `}`, schema},
		{"input_schema", `{"name":"f","description":"d","input_schema":` + schema + `}`, schema},
		{"input_parameters", `{"name":"f","description":"d","input_parameters":{"a":{"type":"str","required":true}},"output_parameters":{}}`, schema},
		{"arguments", `{"name":"f","description":"d","arguments":` + schema + `,"results":{},"tags":[]}`, schema},
		{"null parameters and arguments", `{"name":"f","description":"d","parameters":null,"arguments":` + schema + `}`, schema},
		{"apiCode", `{"apiCode":"f","description":"d","parameters":{"a":{"type":"str","required":true}},"response":{}}`, schema},
		{"api_name and a list beside", `{"api_name":"f","api_description":"d","parameters":{"a":{"type":"str"}},"required":["a"]}`, schema},
		{"a list beside a schema with an empty one", `{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":[]},"required":["a"]}`, schema},
		{"parameters in a string", `{"name":"f","description":"d","parameters":"{\"a\":{\"type\":\"str\",\"required\":true}}"}`, schema},
		{"a tool in a string", `"{\"name\":\"f\",\"description\":\"d\",\"parameters\":{\"a\":{\"type\":\"str\",\"required\":true}}}"`, schema},
		{"no parameters", `{"name":"f","description":"d"}`, ""},
		{"null parameters", `{"name":"f","description":"d","parameters":null}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NormalizeTool(parse(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			want := qaoa.Tool{Name: "f", Description: "d", Parameters: qaoa.JSON(tt.params)}
			if got != want {
				t.Errorf("NormalizeTool(%s)\nhave %+v\nwant %+v", tt.in, got, want)
			}
		})
	}
	for in, want := range map[string]string{
		`[]`:                            "want a tool as an object, have array",
		`"x"`:                           `want a tool as an object, have the string "x"`,
		`{"description":"d"}`:           "want a tool with a name",
		`{"name":" "}`:                  "want a tool with a name",
		`{"name":"f","parameters":[]}`:  `tool "f": want parameters as an object, have array`,
		`{"name":"f","parameters":"x"}`: `tool "f": want parameters as an object, have the string "x"`,
	} {
		if got, err := NormalizeTool(parse(t, in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NormalizeTool(%s) = %+v, %v, want an error with %q", in, got, err, want)
		}
	}
}

func TestCheckStrict(t *testing.T) {
	tools := []qaoa.Tool{
		{Name: "f", Parameters: `{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}`},
		{Name: "f", Parameters: `{"type":"object","properties":{"c":{}},"required":[]}`},
		{Name: "open", Parameters: `{"type":"object","properties":{},"additionalProperties":true}`},
		{Name: "bare"},
	}
	tests := []struct {
		name string
		call qaoa.Call
		want Code
	}{
		{"a call that fits", qaoa.Call{Name: "f", Arguments: `{"a":1}`}, ""},
		{"an array", qaoa.Call{Name: "f", Arguments: `["a"]`}, ArgumentsNotObject},
		{"another tool", qaoa.Call{Name: "F", Arguments: `{"a":1}`}, UnknownTool},
		{"another argument", qaoa.Call{Name: "f", Arguments: `{"a":1,"c":2}`}, UnknownArgument},
		{"a missing argument", qaoa.Call{Name: "f", Arguments: `{"b":1}`}, MissingRequired},
		{"no arguments", qaoa.Call{Name: "f"}, MissingRequired},
		{"a parameter of the second tool of that name", qaoa.Call{Name: "f", Arguments: `{"a":1,"c":2}`}, UnknownArgument},
		{"a tool that takes more", qaoa.Call{Name: "open", Arguments: `{"x":1}`}, ""},
		{"a tool without parameters", qaoa.Call{Name: "bare", Arguments: `{"x":1}`}, ""},
		{"a null", qaoa.Call{Name: "bare", Arguments: `null`}, ArgumentsNotObject},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := qaoa.Record{Tools: tools, Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{tt.call}}}}}}
			rej := CheckStrict(rec)
			if (rej == nil) != (tt.want == "") || rej != nil && rej.Code != tt.want {
				t.Errorf("CheckStrict(%+v) = %v, want %q", tt.call, rej, tt.want)
			}
		})
	}
}

func ExampleNormalizeTool() {
	v, err := qaoa.ParseValue(`{"api_name":"getLot","api_description":"Finds a lot.","parameters":{"no":{"type":"str"}},"required":["no"]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, err := NormalizeTool(v)
	fmt.Println(tool.Name, tool.Parameters, err)
	// Output: getLot {"type":"object","properties":{"no":{"type":"string"}},"required":["no"]} <nil>
}

func FuzzNormalizeTool(f *testing.F) {
	f.Add(`{"name":"f","parameters":{"a":{"type":"List[Dict[str, int]], optional","default":1},"required":["a"]}}`)
	f.Add(`{"name":"f","inputSchema":{"type":["dict"],"properties":{"type":"x","properties":{"items":["int"]}}}}`)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := qaoa.ParseValue(s)
		if err != nil {
			return
		}
		tool, err := NormalizeTool(v)
		if err != nil || tool.Parameters == "" {
			return
		}
		p, err := tool.Parameters.Value()
		if err != nil {
			t.Fatalf("parameters of %s: %v", s, err)
		}
		typ, _ := p.Get("type")
		props, _ := p.Get("properties")
		required, _ := p.Get("required")
		if typ.Text != "object" || props.Kind != qaoa.Object || required.Kind != qaoa.Array {
			t.Errorf("parameters of %s are no schema: %s", s, tool.Parameters)
		}
	})
}
