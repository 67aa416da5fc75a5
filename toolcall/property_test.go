package toolcall_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/toolcall"
)

// awkward are pieces of text that mean something to some rung.
var awkward = []string{"<tool_call>", "</tool_call>", "<think>", "</think>", "<answer>", "</answer>", "<function=f>", "</function>", "```", "{", "}", "[", "]", "'", `"`, `\`, ",", "\n", "é", "\u2028", "f(a=1)", "\x00", "<parameter=a>", "</parameter>", "<arg_key>", "[TOOL_CALLS]", "<|python_tag|>", "<|im_end|>", "<invoke name="}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringN(0, 5, -1)), 0, 6).Draw(t, "parts"), "")
	})
}

func value(depth int) *rapid.Generator[qaoa.Value] {
	return rapid.Custom(func(t *rapid.T) qaoa.Value {
		kinds := 7
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return qaoa.NullValue()
		case 1:
			return qaoa.BoolValue(rapid.Bool().Draw(t, "bool"))
		case 2:
			return qaoa.NumberValue(rapid.SampledFrom([]string{"0", "-0", "1.0", "1e-07", "9007199254740993", "1E500"}).Draw(t, "number"))
		case 3, 4:
			return qaoa.StringValue(text().Draw(t, "string"))
		case 5:
			return qaoa.ArrayValue(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "items")...)
		}
		return object(depth-1).Draw(t, "object")
	})
}

func object(depth int) *rapid.Generator[qaoa.Value] {
	return rapid.Custom(func(t *rapid.T) qaoa.Value {
		v := qaoa.ObjectValue()
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			v.Members = append(v.Members, qaoa.Member{Name: text().Draw(t, "key"), Value: value(depth).Draw(t, "value")})
		}
		return v
	})
}

func calls() *rapid.Generator[[]qaoa.Call] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) qaoa.Call {
		name := text().Draw(t, "name")
		if name == "" {
			name = "f"
		}
		// Names are compared after a trip through JSON, where invalid UTF-8
		// does not survive.
		c := qaoa.Call{Name: qaoa.Quote(name).Text()}
		switch rapid.IntRange(0, 5).Draw(t, "arguments") {
		case 0:
		case 1:
			c.Arguments = qaoa.ArrayValue(rapid.SliceOfN(value(1), 0, 3).Draw(t, "array")...).JSON()
		case 2:
			c.Arguments = rapid.SampledFrom([]qaoa.JSON{"null", "1.0", "true"}).Draw(t, "scalar")
		default:
			c.Arguments = object(2).Draw(t, "object").JSON()
		}
		return c
	}), 1, 4)
}

func TestRenderedCallsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := calls().Draw(t, "calls")
		for _, before := range []string{"", "<think>a <tool_call> draft</think>\n", "So:\n"} {
			got := toolcall.Parse(before+toolcall.Render(want), toolcall.Options{Strict: true})
			if len(got.Calls) != len(want) || got.Class != toolcall.ClassCalls || got.Rung != toolcall.RungTag || len(got.Repairs) > 0 {
				t.Fatalf("Parse(Render(%+v)) = %+v", want, got)
			}
			for i, c := range got.Calls {
				if c != want[i] {
					t.Fatalf("call %d = %+v, want %+v", i, c, want[i])
				}
			}
		}
	})
}

// A fataler is a test of either kind.
type fataler interface{ Fatalf(string, ...any) }

// check holds what Parse promises of every text.
func check(t fataler, text string, opt toolcall.Options) {
	got := toolcall.Parse(text, opt)
	raw := false
	for _, c := range got.Calls {
		if c.Raw != "" {
			raw = true
			if c.Name != "" || c.Arguments != "" {
				t.Fatalf("Parse(%q): failed attempt with a name: %+v", text, c)
			}
			continue
		}
		if c.Name == "" {
			t.Fatalf("Parse(%q): call without a name", text)
		}
		if j, err := qaoa.Compact(c.Arguments); c.Arguments != "" && (err != nil || j != c.Arguments) {
			t.Fatalf("Parse(%q): arguments %q are not in our form: %q, %v", text, c.Arguments, j, err)
		}
	}
	if raw != (got.Class == toolcall.ClassMalformed) {
		t.Fatalf("Parse(%q): class %s with failed attempts: %v", text, got.Class, raw)
	}
	if (len(got.Calls) > 0) != (got.Rung != "") {
		t.Fatalf("Parse(%q): %d calls on rung %q", text, len(got.Calls), got.Rung)
	}
	if opt.Strict && len(got.Repairs) > 0 {
		t.Fatalf("Parse(%q): strict repaired %q", text, got.Repairs)
	}
	// Repairs only add calls: what parses strictly parses to the same.
	strict := toolcall.Parse(text, toolcall.Options{Strict: true, Tools: opt.Tools})
	if strict.Class == toolcall.ClassCalls && len(got.Repairs) == 0 && len(strict.Calls) != len(got.Calls) {
		t.Fatalf("Parse(%q): %d calls, strictly %d", text, len(got.Calls), len(strict.Calls))
	}
}

func TestParseAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "a") + toolcall.Render(calls().Draw(t, "calls")) + text().Draw(t, "b")
		cut := rapid.IntRange(0, len(s)).Draw(t, "cut")
		check(t, s[:cut], toolcall.Options{Strict: rapid.Bool().Draw(t, "strict"), Tools: tools})
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`, `<function=f>{"a":1}</function>`, "```json\n{\"name\":\"f\",\"arguments\":{}}\n```",
		`[f(1, b='x')]`, `{'name': 'f', 'arguments': {'a': True,}`, `{{"name":"f","arguments":{{}}}}`, `<think>x</think><answer>y</answer>`,
		"<function=f><parameter=a>1</parameter></function>", "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", `[TOOL_CALLS]f[ARGS]{"a":1}`,
		"<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "f\n{}", `{\"name\":\"f\",\"arguments\":{}}`, "<invoke name=\"f\">", "<tool_",
		"hm</think>{\"name\":\"f\",\"arguments\":\"\\\"{}\\\"\"}",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, strict bool) {
		check(t, s, toolcall.Options{Strict: strict, Tools: tools})
	})
}

func BenchmarkParse(b *testing.B) {
	s := "<think>" + strings.Repeat("Which tool fits? ", 50) + "</think>\n" + toolcall.Render([]qaoa.Call{
		{Name: "get_weather", Arguments: `{"city":"Oslo","days":3,"units":"metric"}`},
		{Name: "get_weather", Arguments: `{"city":"Bergen","days":3,"units":"metric"}`},
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		toolcall.Parse(s, toolcall.Options{})
	}
}

func BenchmarkParseHostile(b *testing.B) {
	s := strings.Repeat("{\"name\":\"f\",\"arguments\":", 1<<20/24)
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		toolcall.Parse(s, toolcall.Options{})
	}
}
