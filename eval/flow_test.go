package eval_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// block writes calls "f:1 g:2" as a model does.
func block(calls string) string {
	var b strings.Builder
	for f := range strings.FieldsSeq(calls) {
		c := call(f)
		if c.Raw != "" {
			b.WriteString("<tool_call>\n{\"name\": oops\n</tool_call>\n")
			continue
		}
		b.WriteString("<tool_call>\n" + `{"name": "` + c.Name + `", "arguments": ` + string(c.Arguments) + "}\n</tool_call>\n")
	}
	return b.String()
}

func TestFlow(t *testing.T) {
	tests := []struct {
		name, gold string
		says       []string // replies; "f:1" is a block of calls, "=x" is text
		opt        eval.Options
		want       string // calls by turn and step
		answers    string
		asked      int
		last       string // end of the last message of the last request
	}{
		{"the answer ends a turn", "f:1", []string{"f:1", "=done"}, eval.Options{}, "f:1", "done", 2, "got f:1\n</tool_response>"},
		{"an answer block is cut out", "f:1", []string{"f:1", "=<answer> done </answer>"}, eval.Options{}, "f:1", "done", 2, "got f:1\n</tool_response>"},
		{"no call is an abstention", "f:1", []string{"=no tool fits"}, eval.Options{}, "", "no tool fits", 1, "query 0"},
		{
			"parallel calls are one step", "f:1 g:2",
			[]string{"g:2 f:1", "=done"},
			eval.Options{},
			"g:2 f:1", "done", 2,
			"<tool_response>\ngot g:2\n</tool_response>\n<tool_response>\ngot f:1\n</tool_response>",
		},
		{"serial calls are steps", "f:1, g:2", []string{"f:1", "g:2", "=done"}, eval.Options{}, "f:1, g:2", "done", 3, "<tool_response>\ngot g:2\n</tool_response>"},
		{"a wrong call returns nothing", "f:1", []string{"f:9", "=done"}, eval.Options{}, "f:9", "done", 2, "<tool_response>\n</tool_response>"},
		{"empty observations", "f:1", []string{"f:1", "=done"}, eval.Options{Observe: eval.ObserveEmpty}, "f:1", "done", 2, "<tool_response>\n</tool_response>"},
		{"over-calling is kept", "f:1", []string{"f:1", "g:2", "=done"}, eval.Options{}, "f:1, g:2", "done", 3, "<tool_response>\n</tool_response>"},
		{"a repeated call set ends the turn and is no step", "f:1", []string{"f:1", "f:1"}, eval.Options{}, "f:1", "", 2, "got f:1\n</tool_response>"},
		{"a set repeated in another order", "f:1 g:2", []string{"f:1 g:2", "g:2 f:1"}, eval.Options{}, "f:1 g:2", "", 2, "got g:2\n</tool_response>"},
		{"a repetition that gold asks for goes on", "f:1, f:1", []string{"f:1", "f:1", "f:1"}, eval.Options{}, "f:1, f:1", "", 3, "got f:1\n</tool_response>"},
		{
			"a call made before returns the same again", "f:1 g:2",
			[]string{"f:1", "f:1 g:2", "=done"},
			eval.Options{},
			"f:1, f:1 g:2", "done", 3,
			"<tool_response>\ngot f:1\n</tool_response>\n<tool_response>\ngot g:2\n</tool_response>",
		},
		{"rounds are bounded", "f:1", []string{"f:1", "f:2", "f:3"}, eval.Options{MaxRounds: 2}, "f:1, f:2", "", 2, "got f:1\n</tool_response>"},
		{"a malformed call is a call", "f:1", []string{"!", "=sorry"}, eval.Options{}, "!", "sorry", 2, "<tool_response>\n</tool_response>"},
		{"turns follow each other", "f:1 | g:2", []string{"f:1", "=one", "g:2", "=two"}, eval.Options{}, "f:1 | g:2", "one/two", 4, "got g:2\n</tool_response>"},
		{"gold of another turn returns nothing", "f:1 | g:2", []string{"g:2", "=one", "=two"}, eval.Options{}, "g:2 | ", "one/two", 3, "query 1"},
		{"a thought is not said again", "f:1 | g:2", []string{"=<think>hm</think>one", "=two"}, eval.Options{}, " | ", "one/two", 2, "query 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			var last model.Request
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				text := tt.says[asked]
				asked++
				last = req
				if s, ok := strings.CutPrefix(text, "="); ok {
					return says(s)
				}
				return says(block(text))
			})
			rec := record("x", "set", tt.gold)
			list, err := collect(eval.Run(t.Context(), m, each(rec), tt.opt))
			if err != nil || len(list) != 1 || list[0].Fail != nil {
				t.Fatalf("Run = %+v, %v; want one result", list, err)
			}
			res := list[0]
			if got := shape(res.Turns); got != tt.want {
				t.Errorf("calls %q; want %q", got, tt.want)
			}
			var answers []string
			for _, turn := range res.Turns {
				answers = append(answers, turn.Answer)
			}
			if got := strings.Join(answers, "/"); got != tt.answers {
				t.Errorf("answers %q; want %q", got, tt.answers)
			}
			if asked != tt.asked || len(res.Requests) != asked {
				t.Errorf("%d requests, %d kept; want %d", asked, len(res.Requests), tt.asked)
			}
			if got := last.Messages[len(last.Messages)-1].Content; !strings.HasSuffix(got, tt.last) {
				t.Errorf("last message %q; want it to end in %q", got, tt.last)
			}
			for _, msg := range last.Messages {
				if strings.Contains(msg.Content, "<think>") {
					t.Errorf("message %q shows a thought", msg.Content)
				}
			}
		})
	}
}

func TestFlowExactMessages(t *testing.T) {
	script := []string{block("f:1"), "one", block("f:1"), block("f:2")}
	var seen [][]model.Message
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		seen = append(seen, slices.Clone(req.Messages))
		return says(script[len(seen)-1])
	})
	p, err := eval.NewPrompt("SYS {tools} END", eval.CallsPrompt)
	if err != nil {
		t.Fatal(err)
	}
	rec := record("x", "set", "f:1 | f:2 | f:3")
	rec.Turns = rec.Turns[:2]
	if _, err := collect(eval.Run(t.Context(), m, each(rec), eval.Options{Prompt: p, MaxRounds: 2})); err != nil {
		t.Fatal(err)
	}
	tool := `{"name":"f","description":"does f","parameters":{"type":"object"}}`
	want := []model.Message{
		{Role: model.System, Content: "SYS " + tool + " END"},
		{Role: model.User, Content: "query 0"},
		{Role: model.Assistant, Content: block("f:1")},
		{Role: model.User, Content: "<tool_response>\ngot f:1\n</tool_response>"},
		{Role: model.Assistant, Content: "one"},
		{Role: model.User, Content: "query 1"},
		{Role: model.Assistant, Content: block("f:1")},
		{Role: model.User, Content: "<tool_response>\n</tool_response>"},
	}
	if got := seen[len(seen)-1]; !slices.EqualFunc(got, want, sameMessage) {
		t.Errorf("messages\n%+v\nwant\n%+v", got, want)
	}
}

func sameMessage(a, b model.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// No two messages of the user follow each other, whatever ends a turn.
func TestFlowAlternates(t *testing.T) {
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		for i := 1; i < len(req.Messages); i++ {
			if req.Messages[i].Role == req.Messages[i-1].Role {
				t.Errorf("messages %d and %d are both of role %s", i-1, i, req.Messages[i].Role)
			}
		}
		return says(block("f:1"))
	})
	for _, rounds := range []int{1, 2, 0} {
		rec := record("x", "set", "f:1 | f:2 | f:3")
		if _, err := collect(eval.Run(t.Context(), m, each(rec), eval.Options{MaxRounds: rounds})); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFlowNative(t *testing.T) {
	var seen []model.Request
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		req.Messages = slices.Clone(req.Messages)
		seen = append(seen, req)
		switch len(seen) {
		case 1:
			return model.Reply{Calls: []qaoa.Call{call("f:1"), {Raw: "{"}}, Finish: "tool_calls", Usage: model.Usage{Prompt: -1, Completion: -1}}, nil
		case 2:
			return says(block("g:2")) // the server left it in the text
		}
		return says("done")
	})
	rec := record("x", "set", "f:1, g:2")
	list, err := collect(eval.Run(t.Context(), m, each(rec), eval.Options{Calls: eval.CallsNative}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(list[0].Turns), "f:1 !, g:2"; got != want {
		t.Errorf("calls %q; want %q", got, want)
	}
	if x := list[0].Requests; x[0].Rung != "native" || x[0].Class != "malformed" || x[1].Rung != "tool_call" || x[1].Class != "calls" {
		t.Errorf("rungs and classes %+v", x)
	}
	last := seen[2]
	if len(last.Tools) != 2 || strings.Contains(last.Messages[0].Content, "does f") {
		t.Errorf("native request has %d tools and system message %q; want the tools in their field only", len(last.Tools), last.Messages[0].Content)
	}
	var roles []string
	for _, msg := range last.Messages {
		roles = append(roles, string(msg.Role)+msg.CallID)
	}
	if got, want := strings.Join(roles, " "), "system user assistant toolcall_0 toolcall_1 assistant toolcall_2"; got != want {
		t.Errorf("roles %q; want %q", got, want)
	}
	if got := last.Messages[3].Content; got != "got f:1" {
		t.Errorf("observation %q; want %q", got, "got f:1")
	}
}

func TestHistoryGold(t *testing.T) {
	var last model.Request
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		last = req
		return says("nothing")
	})
	rec := record("x", "set", "f:1 | g:2")
	if _, err := collect(eval.Run(t.Context(), m, each(rec), eval.Options{History: eval.HistoryGold})); err != nil {
		t.Fatal(err)
	}
	want := eval.Render(rec, rec.Turns[:1], rec.Turns[1].Query, eval.PromptFor(eval.CallsPrompt), eval.CallsPrompt)
	if !slices.EqualFunc(last.Messages, want, sameMessage) {
		t.Errorf("messages\n%+v\nwant\n%+v", last.Messages, want)
	}
	if got := want[2].Content; got != "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>" {
		t.Errorf("gold call is shown as %q", got)
	}
}

func TestGoldModelAnswersAsGold(t *testing.T) {
	long := "f:0"
	for i := range 30 {
		long += ", f:" + string(rune('0'+i%10)) // more steps than rounds, with repetitions
	}
	for _, calls := range []string{"f:1 | g:2 h:3, f:7", " | f:1 | ", long, "f:1 f:1, f:1 f:1, g"} {
		rec := record("x", "set", calls)
		list, err := collect(eval.Run(t.Context(), chatter(golden), each(rec), eval.Options{}))
		if err != nil || len(list) != 1 {
			t.Fatalf("Run = %v, %v", list, err)
		}
		if got, want := shape(list[0].Turns), shape(rec.Turns); got != want {
			t.Errorf("calls %q; want %q", got, want)
		}
	}
}
