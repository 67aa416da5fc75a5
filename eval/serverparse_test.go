package eval_test

import (
	"context"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

func TestServerParser(t *testing.T) {
	native := func(text, thought string, calls ...string) model.Reply {
		r := model.Reply{Text: text, Reasoning: thought, Usage: model.Usage{Prompt: -1, Completion: -1}}
		for _, c := range calls {
			r.Calls = append(r.Calls, call(c))
		}
		return r
	}
	tests := []struct {
		name  string
		reply model.Reply
		want  eval.ServerParse
		class string
		calls string // that count for the model
	}{
		{"a call that the server took out of the text", native("", "", "f:1"), eval.ServerParse{}, "calls", "f:1"},
		{"a call that it left in the text is lost, and counts all the same", native(block("f:1"), ""), eval.ServerParse{Lost: 1}, "calls", "f:1"},
		{"one of two lost: the server's one counts", native(block("f:1 g:2"), "", "f:1"), eval.ServerParse{Lost: 1}, "calls", "f:1"},
		{"the text and the field say the same", native(block("f:1"), "", "f:1"), eval.ServerParse{}, "calls", "f:1"},
		{"no arguments are an empty object", native(`<tool_call>{"name":"f"}</tool_call>`, "", "f"), eval.ServerParse{}, "calls", "f"},
		{"other arguments", native(block("f:1"), "", "f:2"), eval.ServerParse{Changed: 1}, "calls", "f:2"},
		{"a call in a thought that came apart", native("Let me look.", block("f:1")), eval.ServerParse{InThought: 1}, "in_thought", ""},
		{"a call in a thought in the text", native("<think>"+block("f:1")+"</think>hm", ""), eval.ServerParse{InThought: 1}, "in_thought", ""},
		{"a draft in a thought and a call", native("", block("f:9"), "f:1"), eval.ServerParse{}, "calls", "f:1"},
		{"arguments that are no JSON", native("", "", "!oops"), eval.ServerParse{Broken: 1}, "malformed", "!"},
		{"a tool that is not on offer", native("", "", "h:1"), eval.ServerParse{Unknown: 1}, "calls", "h:1"},
		{"a broken attempt in the text is no loss", native(block("!x"), ""), eval.ServerParse{}, "malformed", "!"},
		{"an abstention", native("no tool fits", ""), eval.ServerParse{}, "abstained", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := chatter(func(context.Context, model.Request) (model.Reply, error) { return tt.reply, nil })
			rec := record("x", "set", "f:1 g:2")
			sum, err := runFolder(t, t.TempDir(), m, eval.Options{Calls: eval.CallsNative, MaxRounds: 1}, rec)
			if err != nil {
				t.Fatal(err)
			}
			if sum.Counts.Server != tt.want {
				t.Errorf("counts %+v; want %+v", sum.Counts.Server, tt.want)
			}
			list, err := collect(eval.Run(t.Context(), m, each(rec), eval.Options{Calls: eval.CallsNative, MaxRounds: 1}))
			if err != nil {
				t.Fatal(err)
			}
			if x := list[0].Requests[0]; x.Class != tt.class || shape(list[0].Turns) != tt.calls {
				t.Errorf("class %s, calls %q; want %s, %q", x.Class, shape(list[0].Turns), tt.class, tt.calls)
			}
			line := string(eval.AppendResult(nil, list[0]))
			if strings.Contains(line, `"server_parser"`) != (tt.want != eval.ServerParse{}) {
				t.Errorf("line %s", line)
			}
			if _, err := qaoa.ParseValue(line); err != nil {
				t.Errorf("line %s: %v", line, err)
			}
			// In prompt mode there is no parser of the server's to compare with.
			list, err = collect(eval.Run(t.Context(), m, each(rec), eval.Options{MaxRounds: 1}))
			if err != nil || list[0].Requests[0].Server != (eval.ServerParse{}) {
				t.Errorf("prompt mode: %+v, %v", list[0].Requests[0].Server, err)
			}
		})
	}
}
