package eval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

func TestPrompt(t *testing.T) {
	tools := []qaoa.Tool{
		{Name: "a", Description: "says \"<hi>\" {tools}\nand more", Parameters: `{"type":"object","required":["x"]}`, Category: "c", Origin: "o"},
		{Name: "b"},
	}
	lines := `{"name":"a","description":"says \"<hi>\" {tools}\nand more","parameters":{"type":"object","required":["x"]}}` + "\n" +
		`{"name":"b","description":"","parameters":{"type":"object","properties":{}}}`
	p := mustPrompt("  before {tools} after {tools}\n", eval.CallsPrompt)
	if got, want := p.System(tools), "before "+lines+" after {tools}"; got != want {
		t.Errorf("system message\n%s\nwant\n%s", got, want)
	}
	if got, want := p.System(nil), "before  after {tools}"; got != want {
		t.Errorf("without tools %q; want %q", got, want)
	}
	if p.Text() != "before {tools} after {tools}" {
		t.Errorf("text %q", p.Text())
	}
	if _, err := eval.NewPrompt("tools are nowhere", eval.CallsPrompt); err == nil || !strings.Contains(err.Error(), eval.ToolsMark) {
		t.Errorf("a prompt without the mark: %v; want an error that names it", err)
	}
	if p.Hash() == mustPrompt("other {tools}", eval.CallsPrompt).Hash() || p.Hash() != mustPrompt(p.Text(), eval.CallsPrompt).Hash() {
		t.Error("hashes do not follow the text")
	}
}

func TestBuiltInPrompt(t *testing.T) {
	text := eval.PromptFor(eval.CallsPrompt).Text()
	for _, part := range []string{"<tools>\n" + eval.ToolsMark + "\n</tools>", "<tool_call>", "</tool_call>", "<tool_response>", "<answer>", "</answer>"} {
		if !strings.Contains(text, part) {
			t.Errorf("the prompt does not show %q", part)
		}
	}
	if native := eval.PromptFor(eval.CallsNative).Text(); strings.Contains(native, "<") || strings.Contains(native, eval.ToolsMark) {
		t.Errorf("the native prompt words a protocol:\n%s", native)
	}
}

func TestRender(t *testing.T) {
	rec := record("x", "s", "f:1 g:2, f:3 | f:4 | f:5")
	rec.Turns[1].Answer = ""
	p := mustPrompt("{tools}", eval.CallsPrompt)
	var got []string
	for _, m := range eval.Render(rec, rec.Turns[:2], "now?", p, eval.CallsPrompt)[1:] {
		got = append(got, string(m.Role)+": "+m.Content)
	}
	want := []string{
		"user: query 0",
		"assistant: <tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>\n<tool_call>\n{\"name\":\"g\",\"arguments\":{\"a\":2}}\n</tool_call>",
		"user: <tool_response>\ngot f:1\n</tool_response>\n<tool_response>\ngot g:2\n</tool_response>",
		"assistant: <tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":3}}\n</tool_call>",
		"user: <tool_response>\ngot f:3\n</tool_response>",
		"assistant: <answer>answer 0</answer>",
		"user: query 1",
		"assistant: <tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":4}}\n</tool_call>",
		"user: <tool_response>\ngot f:4\n</tool_response>",
		"assistant: <answer></answer>",
		"user: now?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("messages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	native := eval.Render(rec, rec.Turns[:1], "now?", p, eval.CallsNative)
	if m := native[1]; m.Role != model.Assistant || len(m.Calls) != 2 || m.Content != "" {
		t.Errorf("native call message %+v; want calls in their field, and no empty system message before the query", m)
	}
	if got := native[len(native)-2].Content; got != "answer 0" {
		t.Errorf("native answer %q; want no tags", got)
	}
}

func TestParseModes(t *testing.T) {
	if m, err := eval.ParseCallMode(""); err != nil || m != eval.CallsPrompt {
		t.Errorf("default calls %q, %v", m, err)
	}
	if h, err := eval.ParseHistory("gold"); err != nil || h != eval.HistoryGold {
		t.Errorf("history gold is %q, %v", h, err)
	}
	if o, err := eval.ParseObserve("empty"); err != nil || o != eval.ObserveEmpty {
		t.Errorf("observe empty is %q, %v", o, err)
	}
	_, calls := eval.ParseCallMode("x")
	_, history := eval.ParseHistory("x")
	_, observe := eval.ParseObserve("x")
	for flag, err := range map[string]error{"--calls": calls, "--history": history, "--observe": observe} {
		if err == nil || !strings.HasPrefix(err.Error(), flag+` "x": want `) {
			t.Errorf("%s x: %v; want an error that lists the values", flag, err)
		}
	}
}

func TestLook(t *testing.T) {
	recs := []qaoa.Record{record("short", "s", "f:1"), record("long", "s", "f:1 | g:2 h:3, f:7"), record("empty", "s", "")}
	opt := eval.Options{Repeats: 3}
	s, err := eval.Look(t.Context(), each(recs...), opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Records != 3 || s.Pairs != 9 || !slices.Equal(s.IDs, []string{"short", "long", "empty"}) || s.Longest.ID != "long" {
		t.Errorf("survey %+v", s)
	}
	// The longest prompt is the one of the last request when all goes as in gold.
	sizes := map[string]int{}
	list, err := collect(eval.Run(t.Context(), chatter(golden), each(recs...), eval.Options{History: eval.HistoryGold}))
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range list {
		sizes[res.ID] = res.Requests[len(res.Requests)-1].PromptBytes
	}
	if s.Longest.Bytes != sizes["long"] || s.Longest.Estimate != (sizes["long"]+2)/3 {
		t.Errorf("longest prompt %+v; the last request of it had %d bytes", s.Longest, sizes["long"])
	}

	tools := slices.Clone(recs)
	tools[0].Tools = append(slices.Clone(recs[0].Tools), qaoa.Tool{Name: "more"})
	other, err := eval.Look(t.Context(), each(tools...), opt)
	if err != nil || other.DataHash != s.DataHash || other.CandidateHash == s.CandidateHash {
		t.Errorf("another candidate list: data %v, candidates %v, %v; want the second hash only to change", other.DataHash == s.DataHash, other.CandidateHash == s.CandidateHash, err)
	}
	swapped, err := eval.Look(t.Context(), each(recs[1], recs[0], recs[2]), opt)
	if err != nil || swapped.DataHash == s.DataHash {
		t.Errorf("another order: same hash %v, %v; want another one", swapped.DataHash == s.DataHash, err)
	}
	if _, err := eval.Look(t.Context(), each(recs[0], recs[1], recs[0]), opt); err == nil || !strings.Contains(err.Error(), `"short"`) {
		t.Errorf("an id twice: %v; want an error that names it", err)
	}
}

func TestAlarms(t *testing.T) {
	reply := func(text, finish string, prompt int) model.Reply {
		return model.Reply{Text: text, Finish: finish, Usage: model.Usage{Prompt: prompt, Completion: 1}, Attempts: 1}
	}
	tests := []struct {
		name  string
		n     int
		reply func(i int) model.Reply
		want  []string
	}{
		{"all is well", 20, func(i int) model.Reply { return reply(fmt.Sprint("answer ", i), "stop", 100+i) }, nil},
		{"a fifth does not parse: not yet", 10, func(i int) model.Reply {
			if i < 2 {
				return reply(fmt.Sprintf("<tool_call>{oops %d", i), "stop", 100+i)
			}
			return reply(fmt.Sprint("answer ", i), "stop", 100+i)
		}, nil},
		{"more than a fifth does not parse", 10, func(i int) model.Reply {
			if i < 5 {
				return reply(fmt.Sprintf("<tool_call>{oops %d", i), "stop", 100+i)
			}
			return reply(fmt.Sprint("answer ", i), "stop", 100+i)
		}, []string{"does not parse"}},
		{"all the same", 5, func(i int) model.Reply { return reply("hello", "stop", 100+i) }, []string{"all 5 answers are the same"}},
		{"all the same, but few", 4, func(i int) model.Reply { return reply("hello", "stop", 100+i) }, nil},
		{"cut at the limit", 10, func(i int) model.Reply {
			finish := "stop"
			if i == 0 {
				finish = "length"
			}
			return reply(fmt.Sprint("answer ", i), finish, 100+i)
		}, []string{"1 of 10 replies were cut"}},
		{"prompts cut to one length", 10, func(i int) model.Reply { return reply(fmt.Sprint("answer ", i), "stop", 4096) }, []string{"4096 tokens"}},
		{"tokens not reported", 10, func(i int) model.Reply { return reply(fmt.Sprint("answer ", i), "stop", -1) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var recs []qaoa.Record
			for i := range tt.n {
				rec := record(fmt.Sprint(i), "s", "f:1")
				rec.Turns[0].Query = strings.Repeat("long ", i) + "query"
				recs = append(recs, rec)
			}
			// A malformed reply is asked on about, and repeated: MaxRounds cuts that.
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				var i int
				_, err := fmt.Sscan(req.Case.Record.ID, &i)
				return tt.reply(i), err
			})
			sum, err := runFolder(t, t.TempDir(), m, eval.Options{MaxRounds: 1}, recs...)
			if err != nil {
				t.Fatal(err)
			}
			if len(sum.Alarms) != len(tt.want) {
				t.Fatalf("alarms %q; want %q", sum.Alarms, tt.want)
			}
			for i, part := range tt.want {
				if !strings.Contains(sum.Alarms[i], part) {
					t.Errorf("alarm %q; want it to say %q", sum.Alarms[i], part)
				}
			}
		})
	}
}

func TestAnEmptyNativePromptIsNoSystemMessage(t *testing.T) {
	empty, err := eval.NewPrompt(" \n", eval.CallsNative)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		prompt eval.Prompt
		roles  string
	}{
		{"an empty text asks for none", empty, "user"},
		{"no prompt asks for the built-in one", eval.Prompt{}, "system user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var roles []string
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				for _, msg := range req.Messages {
					roles = append(roles, string(msg.Role))
				}
				return says("done")
			})
			opt := eval.Options{Calls: eval.CallsNative, Prompt: tt.prompt}
			if _, err := collect(eval.Run(t.Context(), m, each(record("x", "set", "f:1")), opt)); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(roles, " "); got != tt.roles {
				t.Errorf("roles %q; want %q", got, tt.roles)
			}
		})
	}
}
