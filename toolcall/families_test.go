package toolcall_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolcall"
)

// typed has a parameter of each type that matters for values in tags.
var typed = []qaoa.Tool{
	{Name: "f", Parameters: `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},` +
		`"b":{"type":"boolean"},"o":{"type":"object"},"l":{"type":["array","null"]},"u":{"anyOf":[{"type":"integer"},{"type":"string"}]},"x":{}}}`},
	{Name: "Market Trends API", Parameters: `{"type":"object","properties":{"country":{"type":"string"}}}`},
}

// What models of each family print when their server leaves the text alone.
func TestFamilies(t *testing.T) {
	const (
		ds    = "<\uFF5Ctool\u2581calls\u2581begin\uFF5C>"
		dsEnd = "<\uFF5Ctool\u2581calls\u2581end\uFF5C>"
		dc    = "<\uFF5Ctool\u2581call\u2581begin\uFF5C>"
		dcEnd = "<\uFF5Ctool\u2581call\u2581end\uFF5C>"
		sep   = "<\uFF5Ctool\u2581sep\uFF5C>"
	)
	tests := []struct {
		name, text, calls, rung, answer string
		class                           toolcall.Class
	}{
		// Values in tags.
		{"Qwen3-Coder", "I look.\n<tool_call>\n<function=f>\n<parameter=s>\nOslo\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>", `f{"s":"Oslo","n":3}`, "tool_call", "I look.", "calls"},
		{"Qwen3-Coder, two blocks", "<tool_call><function=f><parameter=n>1</parameter></function></tool_call><tool_call><function=f></function></tool_call>", `f{"n":1} f`, "tool_call", "", "calls"},
		{"without the outer tag", "<function=f>\n<parameter=s>\nx\n</parameter>\n</function>", `f{"s":"x"}`, "function", "", "calls"},
		{"text that looks like a number stays text", "<function=f><parameter=s>007</parameter></function>", `f{"s":"007"}`, "function", "", "calls"},
		{"a type may be text among others", "<function=f><parameter=u>7</parameter></function>", `f{"u":"7"}`, "function", "", "calls"},
		{"no type", "<function=f><parameter=x>7</parameter><parameter=other>true</parameter></function>", `f{"x":"7","other":"true"}`, "function", "", "calls"},
		{"a tool not on offer", "<function=g><parameter=n>7</parameter></function>", `g{"n":"7"}`, "function", "", "calls"},
		{"JSON and Python values", "<function=f><parameter=b>True</parameter><parameter=o>{\"a\": 1.0}</parameter><parameter=l>['x', None]</parameter></function>", `f{"b":true,"o":{"a":1.0},"l":["x",null]}`, "function", "", "calls"},
		{"a value of another type stays text", "<function=f><parameter=n>soon</parameter></function>", `f{"n":"soon"}`, "function", "", "calls"},
		{"lines and tags in a value", "<function=f><parameter=s>\n<b>one</b>\n\ntwo \n</parameter></function>", `f{"s":"<b>one</b>\n\ntwo "}`, "function", "", "calls"},
		{"cut off in a parameter", "<tool_call>\n<function=f>\n<parameter=s>\nOs", "!<function=f>\n<parameter=s>\nOs", "tool_call", "", "malformed"},
		{"text between parameters", "<function=f><parameter=s>x</parameter> and </function>", "!<function=f><parameter=s>x</parameter> and </function>", "function", "", "malformed"},
		{"parameter without a name", "<function=f><parameter>x</parameter></function>", "!<function=f><parameter>x</parameter></function>", "function", "", "malformed"},
		{"MiniMax", "<invoke name=\"f\">\n<parameter name=\"s\">x</parameter>\n<parameter name=\"n\">2</parameter>\n</invoke>", `f{"s":"x","n":2}`, "function", "", "calls"},
		{"GLM-4.5", "<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>n</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", `f{"s":"Oslo","n":3}`, "tool_call", "", "calls"},
		{"GLM-4.5 without arguments", "<tool_call>f\n</tool_call>", "f", "tool_call", "", "calls"},
		{"GLM-4.5, cut off", "<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>Os", "!f\n<arg_key>s</arg_key>\n<arg_value>Os", "tool_call", "", "malformed"},
		{"GLM-4.5, a key without a value", "<tool_call>f<arg_key>s</arg_key></tool_call>", "!f<arg_key>s</arg_key>", "tool_call", "", "malformed"},
		{"a word in a block is no call", "<tool_call>g</tool_call>", "!g", "tool_call", "", "malformed"},

		// Names before an object.
		{"GLM-4", "f\n{\"s\": \"Oslo\"}", `f{"s":"Oslo"}`, "bare", "", "calls"},
		{"GLM-4, then its stop token", "f\n{\"s\": \"Oslo\"}\n<|observation|>", `f{"s":"Oslo"}`, "bare", "", "calls"},
		{"GLM-4, cut off", "f\n{\"s\": \"Os", "!f\n{\"s\": \"Os", "bare", "", "malformed"},
		{"a name that is not on offer is text", "g\n{\"s\": \"Oslo\"}", "", "", "g\n{\"s\": \"Oslo\"}", "abstained"},
		{"a name and an object in a block", "<tool_call>\ng\n{\"s\": \"Oslo\"}\n</tool_call>", `g{"s":"Oslo"}`, "tool_call", "", "calls"},

		// Markers.
		{"Mistral", `[TOOL_CALLS] [{"name": "f", "arguments": {"n": 1}}, {"name": "g", "arguments": {}}]</s>`, `f{"n":1} g{}`, "marker", "", "calls"},
		{"Mistral, later", `Sure.[TOOL_CALLS]f[ARGS]{"n": 1}[TOOL_CALLS]g[CALL_ID]abcdefghi[ARGS]{}`, `f{"n":1} g{}`, "marker", "Sure.", "calls"},
		{"Mistral, name and object", `[TOOL_CALLS]f{"n": 1}`, `f{"n":1}`, "marker", "", "calls"},
		{"Mistral, cut off", `[TOOL_CALLS] [{"name": "f", "argum`, `![{"name": "f", "argum`, "marker", "", "malformed"},
		{"a marker and nothing", `[TOOL_CALLS]`, `![TOOL_CALLS]`, "marker", "", "malformed"},
		{"Llama, JSON", `<|python_tag|>{"type": "function", "name": "f", "parameters": {"n": "1"}}<|eom_id|>`, `f{"n":"1"}`, "marker", "", "calls"},
		{"Llama, several", `<|python_tag|>{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}`, `f{} g{}`, "marker", "", "calls"},
		{"Llama, built-in", `<|python_tag|>brave_search.call(query="x")<|eom_id|>`, `brave_search{"query":"x"}`, "marker", "", "calls"},
		{"Llama, code", `<|python_tag|>import math`, "!import math", "marker", "", "malformed"},
		{"Llama, tag", `<function=f>{"n": 1}</function><|eot_id|>`, `f{"n":1}`, "function", "", "calls"},
		{"Llama, no end of the tag", `<function=f{"n": 1}</function> ok`, `!<function=f{"n": 1}</function>`, "function", "ok", "malformed"},
		{"Llama, cut in the tag", `<function=ge`, `!<function=ge`, "function", "", "malformed"},
		{"DeepSeek-V3", ds + dc + "function" + sep + "f\n```json\n{\"n\": 1}\n```" + dcEnd + "\n" + dc + "function" + sep + "g\n```json\n{}\n```" + dcEnd + dsEnd, `f{"n":1} g{}`, "marker", "", "calls"},
		{"DeepSeek-V3.1", "Ok." + ds + dc + "f" + sep + `{"n": 1}` + dcEnd + dsEnd + "<\uFF5Cend\u2581of\u2581sentence\uFF5C>", `f{"n":1}`, "marker", "Ok.", "calls"},
		{"DeepSeek, cut off", ds + dc + "f" + sep + `{"n": "1`, "!" + dc + "f" + sep + `{"n": "1`, "marker", "", "malformed"},
		{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"n": 1}<|tool_call_end|><|tool_calls_section_end|>`, `f{"n":1}`, "marker", "", "calls"},
		{"LFM", `<|tool_call_start|>[f(n=1), g()]<|tool_call_end|>Checking.`, `f{"n":1} g{}`, "marker", "Checking.", "calls"},
		{"Phi, Granite", `<|tool_call|>[{"name": "f", "arguments": {"n": 1}}]<|/tool_call|>`, `f{"n":1}`, "marker", "", "calls"},
		{"Command R", `[{"tool_call_id": "0", "tool_name": "f", "parameters": {"n": 1}}]`, `f{"n":1}`, "bare", "", "calls"},
		{"xLAM", `{"thought": "t", "tool_calls": [{"name": "f", "arguments": {"n": 1}}]}`, `f{"n":1}`, "bare", "", "calls"},

		// Names that Python could not write.
		{"ToolACE, a name with blanks", `[Market Trends API(country="us"), f(n=1)]`, `Market Trends API{"country":"us"} f{"n":1}`, "python", "", "calls"},
		{"a name with blanks, positional", `[Market Trends API("us")]`, `Market Trends API{"country":"us"}`, "python", "", "calls"},
		{"a name with blanks in a string", `[f(s="[Market Trends API(")]`, `f{"s":"[Market Trends API("}`, "python", "", "calls"},
		{"a name with blanks, in a block", `<tool_call>Market Trends API(country="us")</tool_call>`, `Market Trends API{"country":"us"}`, "tool_call", "", "calls"},
		{"a name with blanks and an expression", `[Market Trends API(country=x)]`, `![Market Trends API(country=x)]`, "python", "", "malformed"},
		{"a name with blanks, in a sentence", `I use Market Trends API (it is good).`, "", "", `I use Market Trends API (it is good).`, "abstained"},
		{"a name with blanks that is not on offer", `[Market News API(country="us")]`, "", "", `[Market News API(country="us")]`, "abstained"},

		// What is around a call.
		{"stop token after an open block", `<tool_call>{"name":"f"}<|im_end|>`, "f", "tool_call", "", "calls"},
		{"stop tokens after an answer", "Hello.<|im_end|>\n<|endoftext|>", "", "", "Hello.", "abstained"},
		{"nothing but a stop token", "<|im_end|>", "", "", "", "empty"},
		{"cut in the start tag", "Let me look. <tool_ca", "!<tool_ca", "tool_call", "Let me look.", "malformed"},
		{"cut in the end tag", `<tool_call>{"name":"f"}</tool_ca`, "f", "tool_call", "", "calls"},
		{"a whole call in a string", `<tool_call>"{\"name\": \"f\", \"arguments\": {\"n\": 1}}"</tool_call>`, `f{"n":1}`, "tool_call", "", "calls"},
		{"code in a fence that calls a tool", "```python\nf(n=x+1)\n```", "!f(n=x+1)", "python", "", "malformed"},
		{"code in a fence that calls none", "```python\nprint(n+1)\n```", "", "", "```python\nprint(n+1)\n```", "abstained"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := toolcall.Parse(tt.text, toolcall.Options{Tools: typed, Strict: true})
			have := []string{short(got.Calls), got.Rung, got.Answer, string(got.Class)}
			if d := cmp.Diff([]string{tt.calls, tt.rung, tt.answer, string(tt.class)}, have); d != "" {
				t.Errorf("Parse(%q): calls, rung, answer, class (-want +got):\n%s", tt.text, d)
			}
			// A thought that holds the call is no call.
			thought := toolcall.Parse("<think>"+tt.text+"</think>x", toolcall.Options{Tools: typed, Strict: true})
			if len(thought.Calls) > 0 || thought.Answer != "x" {
				t.Errorf("in a thought: %+v", thought)
			}
			tagged := tt.rung == toolcall.RungTag || tt.rung == toolcall.RungFunction || tt.rung == toolcall.RungMarker
			if tagged && tt.class == toolcall.ClassCalls && thought.Class != toolcall.ClassInThought {
				t.Errorf("in a thought: class %s, want %s", thought.Class, toolcall.ClassInThought)
			}
		})
	}
}

func TestEscapedQuotes(t *testing.T) {
	tests := []struct{ name, text, calls, repairs string }{
		{"in a block", "<tool_call>\n{\\\"name\\\": \\\"f\\\",\n \\\"arguments\\\": {\\\"s\\\": \\\"x\\\"}}\n</tool_call>", `f{"s":"x"}`, "escaped_quotes"},
		{"bare", `{\"name\": \"f\", \"arguments\": {\"s\": \"x\"}}`, `f{"s":"x"}`, "escaped_quotes"},
		{"and a comma too many", `<tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"x\",}}</tool_call>`, `f{"s":"x"}`, "escaped_quotes trailing_comma"},
		{"a quote within a string stays escaped", `<tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"a\\\"b\"}}</tool_call>`, `f{"s":"a\"b"}`, "escaped_quotes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := toolcall.Parse(tt.text, toolcall.Options{})
			if short(got.Calls) != tt.calls || strings.Join(got.Repairs, " ") != tt.repairs {
				t.Errorf("Parse(%q) = %q after %q, want %q after %q", tt.text, short(got.Calls), got.Repairs, tt.calls, tt.repairs)
			}
			if strict := toolcall.Parse(tt.text, toolcall.Options{Strict: true}); strict.Class != toolcall.ClassMalformed {
				t.Errorf("strict: %+v, want it malformed", strict)
			}
		})
	}
}
