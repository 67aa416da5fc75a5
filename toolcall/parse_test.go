package toolcall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolcall"
)

// short writes calls as name+arguments, failed attempts as !text.
func short(calls []qaoa.Call) string {
	var out []string
	for _, c := range calls {
		if c.Raw != "" {
			out = append(out, "!"+c.Raw)
			continue
		}
		out = append(out, c.Name+string(c.Arguments))
	}
	return strings.Join(out, " ")
}

var tools = []qaoa.Tool{
	{Name: "f", Parameters: `{"type":"object","properties":{"a":{},"b":{}}}`},
	{Name: "math.add"},
	{Name: "odd name"},
}

func TestParse(t *testing.T) {
	const f1 = `{"name":"f","arguments":{"a":1}}`
	tests := []struct {
		name, text, calls, rung, repairs, answer string
		class                                    toolcall.Class
	}{
		// Tagged calls.
		{"one block", "<tool_call>\n" + f1 + "\n</tool_call>", `f{"a":1}`, "tool_call", "", "", "calls"},
		{"two blocks", "<tool_call>" + f1 + "</tool_call>\n<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>", `f{"a":1} g{}`, "tool_call", "", "", "calls"},
		{"an array in a block", `<tool_call>[` + f1 + `,{"name":"g"}]</tool_call>`, `f{"a":1} g`, "tool_call", "", "", "calls"},
		{"several objects in a block", "<tool_call>\n" + f1 + "\n" + f1 + "\n</tool_call>", `f{"a":1} f{"a":1}`, "tool_call", "", "", "calls"},
		{"last block not closed", "<tool_call>\n" + f1, `f{"a":1}`, "tool_call", "", "", "calls"},
		{"first block not closed", "<tool_call>" + f1 + "\n<tool_call>" + f1 + "</tool_call>", `f{"a":1} f{"a":1}`, "tool_call", "", "", "calls"},
		{"end tag inside of a string", `<tool_call>{"name":"f","arguments":{"a":"</tool_call> <think>"}}</tool_call>`, `f{"a":"</tool_call> <think>"}`, "tool_call", "", "", "calls"},
		{"text around is the answer", "Let me look.\n<tool_call>" + f1 + "</tool_call> Done.", `f{"a":1}`, "tool_call", "", "Let me look.\n Done.", "calls"},
		{"number text and order are kept", `<tool_call>{"name": "f", "arguments": {"b": 1.0, "a": 9007199254740993, "b": 1e-07}}</tool_call>`, `f{"b":1.0,"a":9007199254740993,"b":1e-07}`, "tool_call", "", "", "calls"},
		{"arguments are an array", `<tool_call>{"name":"f","arguments":[1,2]}</tool_call>`, `f[1,2]`, "tool_call", "", "", "calls"},
		{"fence in a block", "<tool_call>\n```json\n" + f1 + "\n```\n</tool_call>", `f{"a":1}`, "tool_call", "", "", "calls"},
		{"Python in a block", "<tool_call>[f(a=1)]</tool_call>", `f{"a":1}`, "tool_call", "", "", "calls"},
		{"function tag in a block", "<tool_call>\n<function=f>\n{\"a\":1}\n</function>\n</tool_call>", `f{"a":1}`, "tool_call", "", "", "calls"},
		{"empty block", "<tool_call>\n</tool_call>", "!<tool_call>\n</tool_call>", "tool_call", "", "", "malformed"},
		{"empty array in a block", "<tool_call>[]</tool_call>", "", "", "", "", "abstained"},
		{"no name in a block", `<tool_call>{"arguments":{"a":1}}</tool_call>`, `!{"arguments":{"a":1}}`, "tool_call", "", "", "malformed"},
		{"name is a number", `<tool_call>{"name":1}</tool_call>`, `!{"name":1}`, "tool_call", "", "", "malformed"},
		{"broken JSON in a block", `<tool_call>{"name":"f","arguments":{"a":x}}</tool_call>`, `!{"name":"f","arguments":{"a":x}}`, "tool_call", "", "", "malformed"},
		{"one good and one bad block", "<tool_call>" + f1 + "</tool_call><tool_call>oops</tool_call>", `f{"a":1} !oops`, "tool_call", "", "", "malformed"},
		{"start tag without a call", "I would write <tool_call> here", "!here", "tool_call", "", "I would write", "malformed"},
		{"cut off in a string", `<tool_call>{"name":"f","arguments":{"a":"x`, `!{"name":"f","arguments":{"a":"x`, "tool_call", "", "", "malformed"},

		// Names of keys, and arguments in strings.
		{"aliases", `<tool_call>{"tool":"f","args":{"a":1}}</tool_call><tool_call>{"function":"f","input":{"a":2}}</tool_call><tool_call>{"name":"f","parameters":{"a":3}}</tool_call>`, `f{"a":1} f{"a":2} f{"a":3}`, "tool_call", "", "", "calls"},
		{"OpenAI shape", `<tool_call>{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}</tool_call>`, `f{"a":1}`, "tool_call", "", "", "calls"},
		{"OpenAI message", `{"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}`, `f{"a":1}`, "bare", "", "", "calls"},
		{"arguments encoded three times", `<tool_call>{"name":"f","arguments":` + string(qaoa.Quote(string(qaoa.Quote(string(qaoa.Quote(`{"a":1}`)))))) + `}</tool_call>`, `f{"a":1}`, "tool_call", "", "", "calls"},
		{"arguments are some string", `<tool_call>{"name":"f","arguments":"Oslo"}</tool_call>`, `f"Oslo"`, "tool_call", "", "", "calls"},
		{"null is not absent", `<tool_call>{"name":"f","arguments":null}</tool_call>`, `fnull`, "tool_call", "", "", "calls"},

		// Function tags.
		{"function tag", `<function=f>{"a": 1}</function>`, `f{"a":1}`, "function", "", "", "calls"},
		{"function tag not closed", `<function=f>{"a": 1}`, `f{"a":1}`, "function", "", "", "calls"},
		{"function tag without arguments", `<function=f></function>`, `f`, "function", "", "", "calls"},
		{"function tag with text", `<function=f>hello</function>`, `!<function=f>hello</function>`, "function", "", "", "malformed"},
		{"function tag, end tag in a string", `<function=f>{"a":"</function>"}</function>!`, `f{"a":"</function>"}`, "function", "", "!", "calls"},
		{"no function tag", `a <function= b`, "", "", "", "a <function= b", "abstained"},

		// Fences and bare JSON.
		{"fenced", "Sure:\n```json\n" + f1 + "\n```\nok", `f{"a":1}`, "fence", "", "Sure:\n\nok", "calls"},
		{"fence with a fence in a string", "```json\n{\"name\":\"f\",\"arguments\":{\"a\":\"```\"}}\n```", "f{\"a\":\"```\"}", "fence", "", "", "calls"},
		{"fence not closed", "```\n" + f1, `f{"a":1}`, "fence", "", "", "calls"},
		{"fenced data is an answer", "```json\n{\"temperature\": 20}\n```", "", "", "", "```json\n{\"temperature\": 20}\n```", "abstained"},
		{"bare object", "I call " + f1 + " now", `f{"a":1}`, "bare", "", "I call  now", "calls"},
		{"bare array", "[" + f1 + ", " + f1 + "]", `f{"a":1} f{"a":1}`, "bare", "", "", "calls"},
		{"bare JSON without arguments", `{"name":"f"}`, "", "", "", `{"name":"f"}`, "abstained"},
		{"bare JSON with text for arguments", `{"name":"Bo","input":"hello"}`, "", "", "", `{"name":"Bo","input":"hello"}`, "abstained"},
		{"a tool quoted", `{"name":"f","description":"d","parameters":{"type":"object"}}`, "", "", "", `{"name":"f","description":"d","parameters":{"type":"object"}}`, "abstained"},
		{"bare JSON cut off", `{"name":"f","arguments":{"a":"x`, `!{"name":"f","arguments":{"a":"x`, "bare", "", "", "malformed"},
		{"call in JSON with braces before", `Braces {like this} and ` + f1, `f{"a":1}`, "bare", "", "Braces {like this} and", "calls"},
		{"start tag lost", f1 + "\n</tool_call>", `f{"a":1}`, "bare", "", "", "calls"},
		{"empty array", "[]", "", "", "", "[]", "abstained"},
		{"JSON in an answer", "<answer>" + f1 + "</answer>", "", "", "", f1, "abstained"},

		// Python.
		{"Python list", "[f(a=1, b='x'), math.add(x=[True, None])]", `f{"a":1,"b":"x"} math.add{"x":[true,null]}`, "python", "", "", "calls"},
		{"Python positional", "[f(1, 2)]", `f{"a":1,"b":2}`, "python", "", "", "calls"},
		{"Python positional without a schema", "[g(1)]", `![g(1)]`, "python", "", "", "malformed"},
		{"too many positional", "[f(1, 2, 3)]", `![f(1, 2, 3)]`, "python", "", "", "malformed"},
		{"positional given twice", "[f(1, a=2)]", `![f(1, a=2)]`, "python", "", "", "malformed"},
		{"Python without brackets, on offer", "f(a=1)", `f{"a":1}`, "python", "", "", "calls"},
		{"Python without brackets, unknown", "print(5)", "", "", "", "print(5)", "abstained"},
		{"Python with an expression", "f(a=x+1)", `!f(a=x+1)`, "python", "", "", "malformed"},
		{"Python list with an expression", "[f(a=x+1)]", `![f(a=x+1)]`, "python", "", "", "malformed"},
		{"Python in a fence", "Here:\n```python\n[f(a=1)]\n```", `f{"a":1}`, "python", "", "Here:", "calls"},
		{"Python at a line start", "Here:\n[f(a=1)]\nDone", `f{"a":1}`, "python", "", "Here:\n\nDone", "calls"},
		{"Python with a call in an argument", `[f(a={"name":"g","arguments":{}})]`, `f{"a":{"name":"g","arguments":{}}}`, "python", "", "", "calls"},
		{"a list that is no call", "[see x (1)]", "", "", "", "[see x (1)]", "abstained"},

		// Repairs.
		{"trailing commas", `<tool_call>{"name":"f","arguments":{"a":[1,2,],},}</tool_call>`, `f{"a":[1,2]}`, "tool_call", "trailing_comma", "", "calls"},
		{"comma in a string stays", `<tool_call>{"name":"f","arguments":{"a":",}",},}</tool_call>`, `f{"a":",}"}`, "tool_call", "trailing_comma", "", "calls"},
		{"single quotes", `<tool_call>{'name': 'f', 'arguments': {'a': True, 'b': "it's"}}</tool_call>`, `f{"a":true,"b":"it's"}`, "tool_call", "single_quotes", "", "calls"},
		{"missing brace", `<tool_call>{"name":"f","arguments":{"a":1}</tool_call>`, `f{"a":1}`, "tool_call", "missing_brace", "", "calls"},
		{"two missing brackets", `<tool_call>[{"name":"f","arguments":{"a":1}}</tool_call>`, `f{"a":1}`, "tool_call", "missing_brace", "", "calls"},
		{"outer braces doubled", `<tool_call>{{"name":"f","arguments":{"a":1}}}</tool_call>`, `f{"a":1}`, "tool_call", "doubled_braces", "", "calls"},
		{"all braces doubled", `<tool_call>{{"name":"f","arguments":{{"a":"{{"}}}}</tool_call>`, `f{"a":"{{"}`, "tool_call", "doubled_braces", "", "calls"},
		{"two repairs", `{'name': 'f', 'arguments': {'a': 1}`, `f{"a":1}`, "bare", "missing_brace single_quotes", "", "calls"},
		{"arguments in a repaired string", `<tool_call>{"name":"f","arguments":"{'a': 1}"}</tool_call>`, `f{"a":1}`, "tool_call", "", "", "calls"},

		// Thoughts.
		{"thought", "<think>hm</think>Hello", "", "", "", "Hello", "abstained"},
		{"call after a thought", "<think>hm</think><tool_call>" + f1 + "</tool_call>", `f{"a":1}`, "tool_call", "", "", "calls"},
		{"call in a thought", "<think><tool_call>" + f1 + "</tool_call></think>", "", "", "", "", "in_thought"},
		{"call in a thought, then text", "<think><tool_call>" + f1 + "</tool_call></think>Hello", "", "", "", "Hello", "in_thought"},
		{"thought not closed", "<think>hm <tool_call>" + f1 + "</tool_call>", "", "", "", "", "in_thought"},
		{"thought not opened", "hm <tool_call>" + f1 + "</tool_call></think>Hello", "", "", "", "Hello", "in_thought"},
		{"only a thought", "<think>hm</think>\n", "", "", "", "", "empty"},
		{"a quoted call in a thought", "<think>" + f1 + "</think>Hello", "", "", "", "Hello", "abstained"},

		// Answers.
		{"nothing", "", "", "", "", "", "empty"},
		{"blanks", " \n", "", "", "", "", "empty"},
		{"answer", "x <answer> It is 5. </answer> y", "", "", "", "It is 5.", "abstained"},
		{"answer not closed", "<answer>It is", "", "", "", "It is", "abstained"},
		{"empty answer", "<answer></answer>", "", "", "", "", "abstained"},
		{"answer and call", "<answer>ok</answer><tool_call>" + f1 + "</tool_call>", `f{"a":1}`, "tool_call", "", "ok", "calls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := toolcall.Parse(tt.text, toolcall.Options{Tools: tools})
			have := []string{short(got.Calls), got.Rung, strings.Join(got.Repairs, " "), got.Answer, string(got.Class)}
			want := []string{tt.calls, tt.rung, tt.repairs, tt.answer, string(tt.class)}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("Parse(%q): calls, rung, repairs, answer, class (-want +got):\n%s", tt.text, d)
			}
			strict := toolcall.Parse(tt.text, toolcall.Options{Tools: tools, Strict: true})
			if len(strict.Repairs) > 0 {
				t.Errorf("strict repaired %q", strict.Repairs)
			}
			if tt.repairs != "" && strict.Class != toolcall.ClassMalformed {
				t.Errorf("strict class = %s, want malformed", strict.Class)
			}
			if tt.repairs == "" && !strings.Contains(tt.name, "repaired") && strict.Class != got.Class {
				t.Errorf("strict class = %s, want %s as nothing was repaired", strict.Class, got.Class)
			}
		})
	}
}

func TestParseThought(t *testing.T) {
	got := toolcall.Parse("<think>a</think>x<think> <tool_call>{\"name\":\"f\"}</tool_call>", toolcall.Options{})
	if got.Thought != "a\n <tool_call>{\"name\":\"f\"}</tool_call>" || !got.InThought || got.Answer != "x" {
		t.Errorf("Parse = %+v", got)
	}
}

func TestMaxCalls(t *testing.T) {
	block := `<tool_call>{"name":"f"}</tool_call>`
	for _, n := range []int{toolcall.MaxCalls, toolcall.MaxCalls + 1, toolcall.MaxCalls + 50} {
		got := toolcall.Parse(strings.Repeat(block, n), toolcall.Options{})
		want := min(n, toolcall.MaxCalls+1)
		if len(got.Calls) != want || (got.Class == toolcall.ClassMalformed) != (n > toolcall.MaxCalls) {
			t.Errorf("%d calls: %d kept, class %s; want %d", n, len(got.Calls), got.Class, want)
		}
	}
}

// Hostile texts must take linear time: a quadratic scan of half a megabyte
// would take minutes for each, and the test would time out.
func TestHostile(t *testing.T) {
	const size = 1 << 19
	for i, unit := range []string{
		"<tool_call>", "<tool_call>{", "<tool_call>[\"", "<tool_call>{}", "</tool_call>", "{", "[", "[[1],", "{\"", "\"", "'{", "<think>", "</think>",
		"<function=f>", "<function=f>{", "```", "a```", "```{", "```json\n", "[f(", "[f(\n", "[f(1,\n", "f(", "<answer>", "{\"name\":\"f\",\"arguments\":",
		"{\"name\":\"f\",\"arguments\":{}}", "{'name':'f','arguments':{},", "{{", "}", "\\", "[{},", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"", "\n[f(a='",
		"<function=f><parameter=a>", "<function=f><parameter=a></parameter>", "<tool_call>f<arg_key>", "<tool_call>f<arg_key>a</arg_key><arg_value>", "<invoke name=\"f\">", "[TOOL_CALLS]", "[TOOL_CALLS]f{",
		"<|tool_call_begin|>f<|tool_call_argument_begin|>{", "<|tool_call_start|>[f(", "<|python_tag|>{\"", "f\n{", "<|im_end|>", "[\n", "[\n[f", "[odd name(", "[odd name(a='", "odd name(,", "{\\\"name\\\":", "{\\\"name\\\": {\\\"input\\\":",
	} {
		text := strings.Repeat(unit, size/len(unit)+1)
		got := toolcall.Parse(text, toolcall.Options{Strict: i%2 == 0, Tools: tools})
		if len(got.Calls) > toolcall.MaxCalls+1 {
			t.Errorf("%q: %d calls", unit, len(got.Calls))
		}
		// Braces open, then close.
		toolcall.Parse(text+"x"+strings.Repeat("}", size/2), toolcall.Options{})
	}
}

func ExampleParse() {
	text := "<think>Both cities.</think><tool_call>\n" +
		"{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\",}}\n</tool_call>"
	got := toolcall.Parse(text, toolcall.Options{})
	fmt.Println(got.Class, got.Rung, got.Repairs)
	fmt.Println(got.Calls[0].Name, got.Calls[0].Arguments)
	// Output:
	// calls tool_call [trailing_comma]
	// weather {"city":"Oslo"}
}

func ExampleRender() {
	fmt.Println(toolcall.Render([]qaoa.Call{{Name: "weather", Arguments: `{"city":"Oslo"}`}}))
	// Output:
	// <tool_call>
	// {"name":"weather","arguments":{"city":"Oslo"}}
	// </tool_call>
}
