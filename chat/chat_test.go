package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/chat"
	"assay/qaoa"
)

var texts = []string{
	"", "Hi", " x \n", "<b>&\"q\"\\", "é中🙂", "<think>\nt\n</think>\n\nans", "a\n</think>b</think>\n\nc", "\n\nlead", "<tool_response>",
	"<tool_response>\nx\n</tool_response>", "tail\n", "1", "\u2028", "'\"", "<|im_end|>", "</think>", "\U000F0004",
}

var objects = []qaoa.JSON{
	"", "{}", `{"a":1}`, `{"b":1.0,"a":[1e20,1e-7,-0,0.1,12345678901234567890,null,true],"é":"<x> \"q\" \n"}`, `{"a":{"b":{"c":[]}},"a":2}`,
}

// genConversation draws a conversation of any shape that records have.
func genConversation(t *rapid.T) chat.Conversation {
	text, object := rapid.SampledFrom(texts), rapid.SampledFrom(objects)
	arguments := rapid.SampledFrom(append(slices.Clone(objects), `"{\"a\":1}"`, `[1]`))
	var c chat.Conversation
	for range rapid.IntRange(0, 3).Draw(t, "tools") {
		c.Tools = append(c.Tools, qaoa.Tool{Name: text.Draw(t, "tool"), Description: text.Draw(t, "description"), Parameters: object.Draw(t, "parameters")})
	}
	if rapid.Bool().Draw(t, "has a system message") {
		c.Messages = append(c.Messages, system(text.Draw(t, "system")))
	}
	for range rapid.IntRange(1, 3).Draw(t, "turns") {
		c.Messages = append(c.Messages, user(text.Draw(t, "query")))
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			m := thinks(text.Draw(t, "thought"), calls(text.Draw(t, "beside")))
			n := rapid.IntRange(1, 3).Draw(t, "calls")
			for range n {
				m.Calls = append(m.Calls, qaoa.Call{Name: text.Draw(t, "name"), Arguments: arguments.Draw(t, "arguments")})
			}
			c.Messages = append(c.Messages, m)
			for range n {
				c.Messages = append(c.Messages, reply(text.Draw(t, "observation")))
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "has an answer") > 0 {
			c.Messages = append(c.Messages, thinks(text.Draw(t, "thought"), says(text.Draw(t, "answer"))))
		}
	}
	return c
}

// TestSpans holds what spans promise, for every family on random conversations.
func TestSpans(t *testing.T) {
	for _, name := range chat.Builtins() {
		tpl := builtin(t, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := genConversation(t)
				r, err := tpl.Render(c, chat.Options{AddGenerationPrompt: rapid.Bool().Draw(t, "prompt")})
				if err != nil {
					if name == "llama3.1" || name == "mistral" {
						return // they refuse some shapes
					}
					t.Fatal(err)
				}
				checkSpans(t, c, r)
			})
		})
	}
}

func checkSpans(t *rapid.T, c chat.Conversation, r chat.Rendered) {
	turnEnd := 0
	turns := map[int]chat.Span{}
	for _, s := range r.Spans {
		if s.Start < 0 || s.End < s.Start || s.End > len(r.Text) {
			t.Fatalf("span %+v is outside of a text of %d bytes", s, len(r.Text))
		}
		if s.Field != chat.FieldTurn {
			continue
		}
		if s.Start < turnEnd || c.Messages[s.Message].Role != chat.Assistant {
			t.Fatalf("turn %+v overlaps another, or is of a %s", s, c.Messages[s.Message].Role)
		}
		turnEnd = s.End
		turns[s.Message] = s
	}
	for _, s := range r.Spans {
		text := r.Text[s.Start:s.End]
		switch s.Field {
		case chat.FieldContent, chat.FieldReasoning, chat.FieldCallName, chat.FieldArguments:
			if turn := turns[s.Message]; s.Start < turn.Start || s.End > turn.End {
				t.Fatalf("%s at %d-%d is outside of its turn, %+v", s.Field, s.Start, s.End, turn)
			}
		case chat.FieldQuery, chat.FieldSystem:
			if want := strings.TrimSpace(c.Messages[s.Message].Content); text != want {
				t.Fatalf("%s %q; want %q", s.Field, text, want)
			}
		case chat.FieldSchema:
			if _, err := qaoa.Compact(text); err != nil {
				t.Fatalf("schema %q: %v", text, err)
			}
		}
	}
	for i, m := range c.Messages {
		if _, ok := turns[i]; m.Role == chat.Assistant && !ok {
			t.Fatalf("message %d has no turn", i)
		}
	}
}

// shipped returns a template that bench/tokens/get.sh fetches with its
// tokenizer.
func shipped(t *testing.T, name string) *chat.Template {
	t.Helper()
	dir := os.Getenv("ASSAY_TOKENIZERS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "assay-tokenizers")
	}
	tpl, err := chat.Load(filepath.Join(dir, name), "")
	if os.IsNotExist(err) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no template of %s in %s: run bench/tokens/get.sh", name, dir)
		}
		t.Skipf("no template of %s in %s: bench/tokens/get.sh fetches it", name, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// TestBothWaysToQwen3 renders random conversations by hand and by the Jinja that
// the model ships: the same text and the same spans.
func TestBothWaysToQwen3(t *testing.T) {
	byJinja, byHand := shipped(t, "qwen3"), builtin(t, "qwen3")
	if !byJinja.Verified {
		t.Error("the template is not known as verified")
	}
	rapid.Check(t, func(t *rapid.T) {
		c := genConversation(t)
		opt := chat.Options{AddGenerationPrompt: rapid.Bool().Draw(t, "prompt")}
		if rapid.Bool().Draw(t, "says whether to think") {
			think := rapid.Bool().Draw(t, "think")
			opt.EnableThinking = &think
		}
		want, err := byJinja.Render(c, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := byHand.Render(c, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text {
			t.Fatalf("by hand  %q\nby Jinja %q", got.Text, want.Text)
		}
		if !reflect.DeepEqual(got.Spans, want.Spans) {
			t.Fatalf("%q\nby hand  %v\nby Jinja %v", got.Text, got.Spans, want.Spans)
		}
	})
}

func TestShippedLlama(t *testing.T) {
	r, err := shipped(t, "llama3_1").Render(chat.Conversation{Messages: []chat.Message{user("Hi"), says("Ho")}}, chat.Options{})
	want := "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHo<|eot_id|>"
	if err != nil || r.Text != want {
		t.Fatalf("rendered %q, %v; want %q", r.Text, err, want)
	}
	if got := r.Text[r.Loss()[0].Start:r.Loss()[0].End]; got != "Ho<|eot_id|>" {
		t.Errorf("trained on %q", got)
	}
}

func own(t testing.TB) *chat.Template {
	t.Helper()
	source, err := os.ReadFile("testdata/own.jinja")
	if err != nil {
		t.Fatal(err)
	}
	tpl, err := chat.ParseJinja("own.jinja", string(source), chat.Vars{"bos_token": "<s>", "eos_token": "</s>"})
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// TestOwnTemplate shows spans by marks, generation blocks, and what happens when
// a template looks into texts.
func TestOwnTemplate(t *testing.T) {
	tests := []struct {
		name, want string
		c          chat.Conversation
	}{
		{
			"fields and generation", "<s>[S]Be kind\n[U]Hi\n[A]Ho</s>\n" +
				"· 6-13 system 0.0 \"Be kind\"\n· 17-19 query 1.0 \"Hi\"\n· 23-29 generation -1.0 \"Ho</s>\"\n· 23-29 turn 2.0 \"Ho</s>\"\n· 23-25 content 2.0 \"Ho\"\n",
			chat.Conversation{Messages: []chat.Message{system(" Be kind "), user("Hi"), says("Ho")}},
		},
		{
			"a call as Python prints it", "<s>[U]Q\n[A]@f {'a': None}</s>\n" +
				"· 6-7 query 0.0 \"Q\"\n· 11-29 generation -1.0 \"@f {'a': None}</s>\"\n· 11-29 turn 1.0 \"@f {'a': None}</s>\"\n· 12-13 call_name 1.0 \"f\"\n· 14-25 arguments 1.0 \"{'a': None}\"\n",
			chat.Conversation{Messages: []chat.Message{user("Q"), calls("", qaoa.Call{Name: "f", Arguments: `{"a":null}`})}},
		},
		{
			"a text that is changed", "<s>[U]say it\n[A]It</s>\n" +
				"· 6-12 query 0.0 \"say it\"\n· 16-22 generation -1.0 \"It</s>\"\n· 16-22 turn 1.0 \"It</s>\"\n· 16-18 content 1.0 \"It\"\n",
			chat.Conversation{Messages: []chat.Message{user("please say it"), says("It")}},
		},
		{
			"what is left out", "<s>[U]Q\n[A]A</s>\n" +
				"· 6-7 query 0.0 \"Q\"\n· 11-16 generation -1.0 \"A</s>\"\n· 11-16 turn 1.0 \"A</s>\"\n· 11-12 content 1.0 \"A\"\n" +
				"· note: tool_name: 1 of the conversation are not in the text\n· note: tool_schema: 1 of the conversation are not in the text\n· note: reasoning: 1 of the conversation are not in the text\n",
			chat.Conversation{Messages: []chat.Message{user("Q"), thinks("T", says("A"))}, Tools: []qaoa.Tool{{Name: "f"}}},
		},
		{
			"characters that could be marks", "<s>[U]\U000F0000\n[A]A</s>\n" +
				"· 6-10 query 0.0 \"\\U000f0000\"\n· 14-19 generation -1.0 \"A</s>\"\n· 14-19 turn 1.0 \"A</s>\"\n· 14-15 content 1.0 \"A\"\n",
			chat.Conversation{Messages: []chat.Message{user("\U000F0000"), says("A")}},
		},
	}
	tpl := own(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tpl.Render(tt.c, chat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := show(r); got != tt.want {
				t.Errorf("have\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRenderErrorsNameThePlace(t *testing.T) {
	tests := []struct {
		name string
		tpl  *chat.Template
		c    chat.Conversation
		want string
	}{
		{"a template that refuses", own(t), chat.Conversation{Messages: []chat.Message{reply("x")}}, "template own.jinja: line 19: no role tool"},
		{"arguments that are no JSON", builtin(t, "qwen3"), chat.Conversation{Messages: []chat.Message{calls("", qaoa.Call{Name: "f", Arguments: "{"})}}, "template qwen3: message 0, call 0 (f): arguments: "},
		{"arguments that are no JSON, by Jinja", own(t), chat.Conversation{Messages: []chat.Message{calls("", qaoa.Call{Name: "f", Arguments: "{"})}}, "template own.jinja: message 0, call 0 (f): arguments: "},
		{"a schema that is no JSON", builtin(t, "hermes"), chat.Conversation{Tools: []qaoa.Tool{{Name: "f", Parameters: "{"}}}, "template hermes: tool 0 (f): parameters: "},
		{"tools without a query", builtin(t, "llama3.1"), chat.Conversation{Tools: tools, Messages: []chat.Message{says("A")}}, "must be the user's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.tpl.Render(tt.c, chat.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
	if _, err := chat.Builtin("qwen4"); err == nil || !strings.Contains(err.Error(), "qwen3") {
		t.Errorf("an unknown family: %v", err)
	}
	if _, err := chat.ParseJinja("x", "{% if %}", nil); err == nil || !strings.HasPrefix(err.Error(), "template x: line 1:") {
		t.Errorf("a template that does not parse: %v", err)
	}
}

func TestDates(t *testing.T) {
	tpl, err := chat.ParseJinja("date", "{{ strftime_now('%d %b %Y, %B %-d %y %A %H:%M %%') }}{{ date_string }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	for date, want := range map[string]string{"": "26 Jul 2024, July 26 24 Friday 00:00 %", "03 Nov 2026": "03 Nov 2026, November 3 26 Tuesday 00:00 %03 Nov 2026", "today": "todaytoday"} {
		if r, err := tpl.Render(chat.Conversation{}, chat.Options{Date: date}); r.Text != want || err != nil {
			t.Errorf("date %q: rendered %q, %v; want %q", date, r.Text, err, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	two := chat.Conversation{Messages: []chat.Message{user("Q1"), thinks("T1", says("A1")), user("Q2"), says("A2")}}
	parallel := chat.Conversation{Messages: []chat.Message{user("Q"), calls("C", inHull, now), reply("a"), reply("b"), says("A")}, Tools: tools}
	tests := []struct {
		name, template string
		c              chat.Conversation
		want           []string
	}{
		{"chatml never looks back", "chatml", two, nil},
		{"qwen3 removes earlier thoughts", "qwen3", two, []string{"2: reasoning of earlier messages is removed when message 2 (user) comes"}},
		{"qwen3 removes empty thoughts and joins replies", "qwen3", parallel, []string{"2: empty thoughts of the last message are removed when it is no longer the last", "3: replies of tools that follow each other are joined into one message"}},
		{"mistral moves tools", "mistral", chat.Conversation{Messages: []chat.Message{user("Q1"), says("A1"), user("Q2")}, Tools: tools}, []string{"2: the tools move to another message"}},
		{"mistral moves the system message", "mistral", chat.Conversation{Messages: []chat.Message{system("S"), user("Q1"), says("A1")}}, []string{"2: the system message moves or goes"}},
		{"llama refuses parallel calls, and is skipped", "llama3.1", parallel, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, b := range chat.Prefixes(builtin(t, tt.template), tt.c, chat.Options{AddGenerationPrompt: true}) {
				got = append(got, fmt.Sprintf("%d: %s", b.Messages, b.Why))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("breaks %q; want %q", got, tt.want)
			}
		})
	}
}
