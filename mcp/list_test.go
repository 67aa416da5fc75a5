package mcp

import (
	"errors"
	"strings"
	"testing"

	"assay/qaoa"
)

func TestParseToolsList(t *testing.T) {
	const a = `{"name":"a","description":"A","inputSchema":{"type":"object","properties":{"z":{"type":"integer","minimum":1.0},"b":{"type":"string"}},"required":["z"]}}`
	tests := []struct {
		name, data, want string
	}{
		{"a result of tools/list", `{"tools":[` + a + `,{"name":"b"}],"nextCursor":"x"}`, "a b"},
		{"a JSON-RPC response", `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + a + `]}}`, "a"},
		{"a response without the version", `{"id":1,"result":{"tools":[` + a + `]}}`, "a"},
		{"an array of tools", `[` + a + `,{"name":"b","description":"B"}]`, "a b"},
		{"one tool", a, "a"},
		{"no tools", `{"tools":[]}`, ""},
		{"an empty array", `[]`, ""},
		{"pages as an array", `[{"tools":[` + a + `],"nextCursor":"x"},{"tools":[{"name":"b"}]}]`, "a b"},
		{"pages of which one is empty", `[{"tools":[]},{"tools":[{"name":"b"}]}]`, "b"},
		{"pages as lines", "{\"tools\":[" + a + "]}\n{\"tools\":[{\"name\":\"b\"}]}\n", "a b"},
		{"texts over several lines", "{\n\"tools\": [\n{\"name\":\"b\"}]\n}\n\n{\"tools\":\n[]}", "b"},
		{"a log of messages", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"x","description":"y"}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}
{"jsonrpc":"2.0","id":1,"result":{"tools":[` + a + `]}}`, "a"},
		{"a map from server to tools", `{"s":[` + a + `],"t":[{"name":"b"}]}`, "a b"},
		{"a map from server to results", `{"s":{"tools":[` + a + `]},"t":{"tools":[{"name":"b"}]}}`, "a b"},
		{"a list of servers", `[{"name":"s","description":"S","tools":[` + a + `]},{"name":"t","tools":[]}]`, "a"},
		{"a map from number to tool", `{"1":` + a + `,"2":{"name":"b","description":""}}`, "a b"},
		{"names that repeat are kept", `[{"name":"b"},{"name":"b"}]`, "b b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := ParseToolsList([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("have tools %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseToolsListKeepsSchemas(t *testing.T) {
	tools, err := ParseToolsList([]byte(`{"tools":[{"inputSchema": {"required": ["z"], "properties": {"z": {"minimum": 1.0, "type": "int"}, "a": {"maximum": 9007199254740993}}, "type": "object", "$defs": {}}, "name":"n", "description":"D <b>"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := qaoa.Tool{
		Name: "n", Description: "D <b>",
		Parameters: `{"required":["z"],"properties":{"z":{"minimum":1.0,"type":"int"},"a":{"maximum":9007199254740993}},"type":"object","$defs":{}}`,
	}
	if len(tools) != 1 || tools[0] != want {
		t.Errorf("have %+v, want %+v", tools, want)
	}
}

func TestParseToolsListOfParameters(t *testing.T) {
	tools, err := ParseToolsList([]byte(`[{"server":"x","tools":[{"name":"n","description":"D","parameters":[
		{"name":"q","param_type":"string","description":"what","default":null,"enum":null,"min_value":null,"max_value":null,"required":true},
		{"name":"k","param_type":"integer","description":"how many","default":5,"enum":null,"min_value":1,"max_value":10,"required":false}]}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := qaoa.JSON(`{"type":"object","properties":{"q":{"type":"string","description":"what"},"k":{"type":"integer","description":"how many","minimum":1,"maximum":10,"default":5}},"required":["q"]}`)
	if len(tools) != 1 || tools[0].Parameters != want {
		t.Errorf("have %+v, want parameters %s", tools, want)
	}
}

func TestParseToolsListRejects(t *testing.T) {
	tests := []struct {
		name, data string
		path       string
		kept       int
	}{
		{"a schema that is no object", `{"tools":[{"name":"a","inputSchema":[]},{"name":"b"}]}`, "/tools/0/inputSchema", 1},
		{"a tool that is a text", `{"tools":["a",{"name":"b"}]}`, "/tools/0", 1},
		{"a tool without a name", `[{"name":"b"},{"description":"x","inputSchema":{}}]`, "/1/name", 1},
		{"a name that is a number", `[{"name":1,"description":"x"},{"name":"b"}]`, "/0", 1},
		{"a blank name", `{"tools":[{"name":" "}]}`, "/tools/0/name", 0},
		{"a parameter without a name", `{"tools":[{"name":"a","parameters":[{"param_type":"string"}]}]}`, "/tools/0/parameters/0/name", 0},
		{"a fault in the second text", `{"tools":[]} {"tools":[1]}`, "#1/tools/0", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := ParseToolsList([]byte(tt.data))
			rejects, ok := errors.AsType[Rejects](err)
			if !ok || len(rejects) != 1 || rejects[0].Path != tt.path {
				t.Fatalf("have error %v, want one reject at %s", err, tt.path)
			}
			if len(tools) != tt.kept {
				t.Errorf("have %d tools beside the reject, want %d", len(tools), tt.kept)
			}
		})
	}
}

func TestParseToolsListErrors(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"nothing", ``, "no list of MCP tools"},
		{"a number", `1`, "no list of MCP tools"},
		{"other JSON", `{"a":{"b":[1,2]}}`, ""},
		{"no JSON", `tools: []`, "no JSON"},
		{"cut off", `{"tools":[{"name":"a"}`, "no JSON"},
		{"text behind", `{"tools":[]} x`, "text 1 at byte 13"},
		{"a NUL behind", "{\"tools\":[]}\x00", "text 1"},
		{"an error of the server", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"nope"}}`, "nope"},
		{"too many levels", strings.Repeat(`{"a":`, 20) + `[]` + strings.Repeat(`}`, 20), "within 8 levels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tools, err := ParseToolsList([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %d tools and error %v, want an error with %q", len(tools), err, tt.want)
			}
		})
	}
}

func FuzzParseToolsList(f *testing.F) {
	for _, seed := range []string{`{"tools":[{"name":"a","inputSchema":{}}]}`, `[{"name":"a","parameters":[{"name":"x"}]}]`, `{"jsonrpc":"2.0","result":{"tools":[]}} 1`, `{"s":{"tools":{"a":{"name":"b","title":"c"}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tools, err := ParseToolsList(data)
		if _, ok := errors.AsType[Rejects](err); err != nil && !ok && tools != nil {
			t.Errorf("an error that is no rejects comes with %d tools", len(tools))
		}
		for _, tool := range tools {
			if strings.TrimSpace(tool.Name) == "" {
				t.Error("a tool without a name")
			}
			if k := tool.Parameters.Kind(); k != qaoa.Object && k != qaoa.Invalid {
				t.Errorf("parameters are a %v", k)
			}
		}
	})
}
