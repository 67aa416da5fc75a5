package toolset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/qaoa"
	"assay/toolset"
)

// found writes raw tools as name@path/origin.
func found(raws []toolset.Raw) string {
	var out []string
	for _, r := range raws {
		tool, err := toolset.Normalize(r.Value)
		name := tool.Name
		if err != nil {
			name = "!"
		}
		if r.Origin != "" {
			name += "(" + r.Origin + ")"
		}
		out = append(out, name+"@"+r.Path)
	}
	return strings.Join(out, " ")
}

func TestTools(t *testing.T) {
	tests := []struct{ name, element, want string }{
		{"one tool", `{"name":"f"}`, "f@"},
		{"one tool of another dialect", `{"api_name":"f","parameters":{}}`, "f@"},
		{"one tool as a text", `"{\"name\":\"f\"}"`, "f@"},
		{"one tool in OpenAI's wrapper", `{"type":"function","function":{"name":"f"}}`, "f@"},
		{"a list", `[{"name":"f"},{"name":"g"}]`, "f@/0 g@/1"},
		{"a map from ids", `{"1":{"name":"f"},"a/b":{"name":"g"}}`, "f@/1 g@/a~1b"},
		{"a map from servers", `{"s":[{"name":"f"}],"t":[{"name":"g"}],"u":[]}`, "f@/s/0 g@/t/0"},
		{"a record in native form", `{"schema":"qaoa/1","id":"x","source":{"name":"bench"},"tools":[{"name":"f"}],"turns":[]}`, "f(bench)@/tools/0"},
		{"a record in interchange form", `{"conversations":[],"tools":"[{\"name\":\"f\"}]"}`, "f@/tools/0"},
		{"a record without tools", `{"conversations":[],"tools":""}`, ""},
		{"tools/list", `{"tools":[{"name":"f","inputSchema":{"type":"object"}}],"nextCursor":"x"}`, "f@/tools/0"},
		{"a response to tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f"}]}}`, "f@/result/tools/0"},
		{"a server with its tools", `{"name":"server","tools":[{"name":"f","parameters":[]}]}`, "f@/tools/0"},
		{"a row of FC-RewardBench", `{"conversation":[],"tools":"[{\"name\":\"f\",\"parameters\":{}}]","chosen_output":[]}`, "f@/tools/0"},
		{"a row of ToolRet", `{"query":"q","positive":["{\"name\":\"group\",\"api_name\":\"f\"}"],"negative":["{\"name\":\"g\"}"]}`, "f@/positive/0 g@/negative/0"},
		{"a row of BFCL", `{"id":"x","question":[],"function":[{"name":"f"}]}`, "f@/function/0"},
		{"a row of HammerBench", `{"messages":[],"multiple_tools":[{"name":"f"}],"single_tool":{"name":"f"}}`, "f@/multiple_tools/0"},
		{"a row of ToolHop", `{"question":"q","tools":{"a?":{"name":"f"},"b?":{"name":"g"}}}`, "f@/tools/a? g@/tools/b?"},
		{"a row of Toucan", `{"available_tools":"[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"}`, "f@/available_tools/0"},
		{"nothing on offer", `{"tools":[]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raws, err := toolset.Tools(parse(t, tt.element))
			if got := found(raws); err != nil || got != tt.want {
				t.Errorf("Tools(%s) = %s, %v, want %s", tt.element, got, err, tt.want)
			}
		})
	}
}

func TestToolsRefuses(t *testing.T) {
	deep := strings.Repeat("[", 10) + `{"name":"f"}` + strings.Repeat("]", 10)
	for _, tt := range []struct{ name, element, path string }{
		{"a row without tools", `{"id":"x","question":"q"}`, ""},
		{"a number", `5`, ""},
		{"a list with something else in it", `[{"name":"f"},7]`, "/1"},
		{"an empty object", `{"1":{}}`, "/1"},
		{"too deep", deep, "/0/0/0/0/0/0/0/0/0"},
		{"a record whose tools are none", `{"turns":[],"tools":7}`, "/tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raws, err := toolset.Tools(parse(t, tt.element))
			bad, ok := errors.AsType[*qaoa.Error](err)
			if !ok || bad.Path != tt.path {
				t.Errorf("Tools(%s) = %s, %v, want a fault at %q", tt.element, found(raws), err, tt.path)
			}
		})
	}
}

func ExampleTools() {
	v, err := qaoa.ParseValue(`{"weather-server":[{"name":"get_forecast","parameters":{"city":{"type":"str"}}}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	raws, err := toolset.Tools(v)
	for _, r := range raws {
		tool, _ := toolset.Normalize(r.Value)
		fmt.Println(r.Path, toolset.Signature(tool))
	}
	fmt.Println(err)
	// Output:
	// /weather-server/0 get_forecast(city?: string)
	// <nil>
}

func FuzzEntries(f *testing.F) {
	for _, s := range []string{
		`{"name":"f","parameters":[{"name":"a","param_type":"int"}]}`, `{"positive":["{\"api_name\":\"f\"}"],"negative":[]}`,
		`{"tools":"[{\"name\":\"f\"}]"}`, `{"a":{"b":{"c":[{"name":"f"}]}}}`, `[[[[[[[[[[{"name":"f"}]]]]]]]]]]`,
		`{"name":"f","parameters":{"properties":{"a":{"$ref":"#/$defs/x"}},"required":["b"]}}`, `"\"\\\"{}\\\"\""`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, _ := toolset.Element{Data: data, Fallback: "x"}.Entries()
		for _, e := range entries {
			if strings.TrimSpace(e.Tool.Name) == "" || e.Tool.Origin == "" {
				t.Fatalf("a tool without a name or an origin: %+v", e)
			}
			line := toolset.AppendEntry(nil, e)
			back, err := toolset.DecodeEntry(line)
			back.Pos = e.Pos
			if err != nil || back != e {
				t.Fatalf("%s reads back as %+v, %v", line, back, err)
			}
			toolset.CheckTool(e.Tool)
			_ = toolset.Signature(e.Tool)
		}
	})
}
