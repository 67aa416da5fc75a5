package eval_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/model/modeltest"
	"assay/model/openai"
	"assay/qaoa"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// refRecord has a turn of two serial calls, one of one call, and one without;
// the first and the last response are equal.
func refRecord() qaoa.Record {
	rec := record("x", "set", "f:1, g:2 | h:3 | ")
	rec.Turns[0].Steps[0].Observations[0] = "same"
	rec.Turns[1].Steps[0].Observations[0] = "same"
	rec.Turns[1].Answer = ""
	return rec
}

// Replies to the requests about refRecord, in order.
var (
	goodReplies = []string{block("f:1"), block("g:2"), "<answer>one</answer>", block("h:3"), "<answer>two</answer>", "<answer>three</answer>"}
	// The second call and the answer of the second turn are missing.
	badReplies = []string{block("f:1"), "hm", "<answer>one</answer>", block("h:3"), "<answer></answer>", "<answer>three</answer>"}
)

// asReference runs refRecord and returns the bodies of the requests as a server
// got them, and the result.
func asReference(t *testing.T, compat eval.Compat, replies []modeltest.Reply) ([]string, eval.Result) {
	t.Helper()
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		if r.N >= len(replies) {
			t.Errorf("request %d of %d", r.N+1, len(replies))
			return modeltest.Reply{}
		}
		return replies[r.N]
	})
	c, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: modeltest.ModelName})
	if err != nil {
		t.Fatal(err)
	}
	opt := eval.Options{Compat: compat, Prompt: mustPrompt("SYS", eval.CallsNative), Sampling: model.Sampling{Temperature: 0.6, TopP: 0.95}}
	list, err := collect(eval.Run(t.Context(), c, each(refRecord()), opt))
	if err != nil || len(list) != 1 || list[0].Fail != nil {
		t.Fatalf("Run = %+v, %v; want one result", list, err)
	}
	var bodies []string
	for _, r := range s.Requests() {
		bodies = append(bodies, string(r.Body))
	}
	return bodies, list[0]
}

func texts(list []string) (out []modeltest.Reply) {
	for _, s := range list {
		out = append(out, modeltest.Reply{Text: s})
	}
	return out
}

// The requests of the reference and of every variation are kept byte for byte.
func TestReferenceRequests(t *testing.T) {
	tests := []struct {
		file   string
		compat eval.Compat
		says   []string
		asked  int
	}{
		{"reference", "reference", goodReplies, 6},
		{"reference-bad", "reference", badReplies, 2},
		{"last-query", "reference+last-query", goodReplies, 6},
		{"no-user", "reference+last-query+no-user", goodReplies, 6},
		{"system-history", "reference+system-history", goodReplies, 6},
		{"blank-responses", "reference+blank-responses", goodReplies, 6},
		{"lost-responses", "reference+blank-responses+lost-responses", goodReplies, 6},
		{"stop", "reference+stop", badReplies, 6},
		{"null-history", "reference+stop+null-history", badReplies, 6},
		{"empty-answer", "reference+stop+empty-answer+null-history", badReplies, 6},
		{"sound", "reference+last-query+no-user+bare-first+system-history+blank-responses+lost-responses+null-history+stop+empty-answer+reasoning+thoughts+tags", badReplies, 6},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			bodies, _ := asReference(t, tt.compat, texts(tt.says))
			if len(bodies) != tt.asked {
				t.Errorf("%d requests; want %d", len(bodies), tt.asked)
			}
			path := filepath.Join("testdata", "compat", tt.file+".jsonl")
			got := []byte(strings.Join(bodies, "\n") + "\n")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("requests\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What the released runner is known to do, said about the requests themselves
// and not by comparison.
func TestReferenceFaults(t *testing.T) {
	tests := []struct {
		name     string
		compat   eval.Compat
		says     []modeltest.Reply
		request  int // 0-based
		messages string
		holds    string // part of the system message
		lacks    string
	}{
		{"the first slot is asked with the last query", "reference", texts(goodReplies), 0, "system user:query 2", "<tools>", "<chat_history>"},
		{"repaired: with its own", "reference+last-query", texts(goodReplies), 0, "system user:query 0", "<tools>", "<chat_history>"},
		{"the second slot sees an empty response", "reference", texts(goodReplies), 1, "system user:-", "User query: query 0\nTool call: {\"name\": \"f\", \"arguments\": {\"a\":1}}\n</chat_history>", "Tool response"},
		{"repaired: the response", "reference+blank-responses", texts(goodReplies), 1, "system user:same", "Tool call: {", "Tool response"},
		{"an answer slot shows no tools, and leaves out every response that equals the last", "reference", texts(goodReplies), 4, "system user:-", "Tool response: \nAssistant reply: one\nUser query: query 1\nTool call", "<tools>"},
		{"the last response of a turn is lost in the next", "reference", texts(goodReplies), 3, "system user:query 2", "Tool response: \nTool call: {\"name\": \"g\", \"arguments\": {\"a\":2}}\nAssistant reply: one\nUser query: query 1", "query 2"},
		{"repaired: it is told", "reference+lost-responses", texts(goodReplies), 3, "system user:query 2", "{\"a\":2}}\nTool response: \nAssistant reply: one", "query 2"},
		{"with the right query there is no user message at all", "reference+last-query", texts(goodReplies), 3, "system", "User query: query 1\n</chat_history>", "query 2"},
		{"repaired: there is", "reference+last-query+no-user", texts(goodReplies), 3, "system user:query 1", "User query: query 1\n</chat_history>", "query 2"},
		{"history as messages", "reference+system-history", texts(goodReplies), 1, "system user:query 0 assistant user:-", "SYS\n\n<tools>", "<chat_history>"},
		{"a slot that was not filled ends the history", "reference+stop", texts(badReplies), 3, "system user:query 2", "Tool call: {\"name\": \"f\", \"arguments\": {\"a\":1}}\nTool response: \n</chat_history>", "query 1"},
		{"and is None before an answer", "reference+stop", texts(badReplies), 2, "system user:-", "Tool call: None\n</chat_history>", "<tools>"},
		{"repaired: it is left out", "reference+stop+null-history", texts(badReplies), 2, "system user:-", "{\"a\":1}}\nTool response: \n</chat_history>", "None"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bodies, _ := asReference(t, tt.compat, tt.says)
			v, err := qaoa.ParseValue(bodies[tt.request])
			if err != nil {
				t.Fatal(err)
			}
			list, _ := v.Get("messages")
			var roles []string
			system := ""
			for _, m := range list.Items {
				role, _ := m.Get("role")
				content, _ := m.Get("content")
				switch role.Text {
				case "system":
					system = content.Text
					roles = append(roles, "system")
				case "user":
					text := strings.TrimPrefix(brief([]model.Message{{Role: model.User, Content: content.Text}}), "user ")
					roles = append(roles, "user:"+text)
				default:
					roles = append(roles, role.Text)
				}
			}
			if got := strings.Join(roles, " "); got != tt.messages {
				t.Errorf("messages %q; want %q", got, tt.messages)
			}
			if !strings.Contains(system, tt.holds) || strings.Contains(system, tt.lacks) {
				t.Errorf("system message %q\nwant %q in it and %q not", system, tt.holds, tt.lacks)
			}
		})
	}
}

func TestReferenceReads(t *testing.T) {
	const f1 = `<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`
	tests := []struct {
		name   string
		compat eval.Compat
		reply  modeltest.Reply // to the first slot
		want   string
	}{
		{"the first of two blocks", "reference", modeltest.Reply{Text: f1 + block("g:2")}, "f:1"},
		{"no tag is no call", "reference", modeltest.Reply{Text: `{"name":"f","arguments":{"a":1}}`}, ""},
		{"repaired: the ladder reads it", "reference+tags", modeltest.Reply{Text: `{"name":"f","arguments":{"a":1}}`}, "f:1"},
		{"an open block is no call", "reference", modeltest.Reply{Text: `<tool_call>{"name":"f","arguments":{"a":1}}`}, ""},
		{"repaired: it is", "reference+tags", modeltest.Reply{Text: `<tool_call>{"name":"f","arguments":{"a":1}}`}, "f:1"},
		{"an empty block is no call", "reference", modeltest.Reply{Text: `<tool_call> </tool_call>`}, ""},
		{"what a block holds is not looked at", "reference", modeltest.Reply{Text: `<tool_call>oops</tool_call>`}, "!"},
		{"a draft in a thought wins", "reference", modeltest.Reply{Text: "<think>" + block("g:9") + "</think>" + f1}, "g:9"},
		{"repaired: thoughts are cut", "reference+thoughts", modeltest.Reply{Text: "<think>" + block("g:9") + "</think>" + f1}, "f:1"},
		{"thoughts that come apart replace the text", "reference", modeltest.Reply{Text: f1, Reasoning: "let me see"}, ""},
		{"repaired: the text is read", "reference+reasoning", modeltest.Reply{Text: f1, Reasoning: "let me see"}, "f:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			replies := append([]modeltest.Reply{tt.reply}, texts(goodReplies[1:])...)
			_, res := asReference(t, tt.compat, replies)
			got := ""
			if steps := res.Turns[0].Steps; len(steps) > 0 && res.Requests[0].Unfilled == (tt.want != "") {
				t.Errorf("unfilled: %v, calls %q", res.Requests[0].Unfilled, shape(res.Turns))
			} else if tt.want != "" {
				got = shape([]qaoa.Turn{{Steps: steps[:1]}})
			}
			if got != tt.want {
				t.Errorf("the slot holds %q; want %q", got, tt.want)
			}
			if tt.want == "" && len(res.Requests) != 1 {
				t.Errorf("%d requests after a slot that is not filled; want the conversation to end", len(res.Requests))
			}
			if len(res.Turns) != 3 {
				t.Errorf("%d turns; want those of the record", len(res.Turns))
			}
		})
	}
}

func TestReferenceAnswers(t *testing.T) {
	tests := []struct{ name, compat, reply, want string }{ // want "" is not filled
		{"a closed block", "reference", "<answer> done </answer>", "done"},
		{"an open block", "reference", "<answer>done", "done"},
		{"no block", "reference", "done", ""},
		{"repaired: text is an answer", "reference+tags", "done", "done"},
		{"an empty block", "reference", "<answer></answer>", ""},
		{"an open block with nothing in it", "reference", "<answer>", ""},
		{"repaired: an empty answer", "reference+empty-answer", "<answer></answer>", "(empty)"},
		{"a call instead", "reference+tags", block("f:1"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			replies := texts(goodReplies)
			replies[2].Text = tt.reply
			if !strings.Contains(tt.compat, "tags") {
				replies[3].Text = block("h:3")
			}
			_, res := asReference(t, eval.Compat(tt.compat), replies)
			want := tt.want
			if want == "(empty)" {
				want = ""
			}
			x := res.Requests[2]
			if res.Turns[0].Answer != want || x.Unfilled != (tt.want == "") || x.Slot != 3 {
				t.Errorf("answer %q, unfilled %v, slot %d; want %q", res.Turns[0].Answer, x.Unfilled, x.Slot, tt.want)
			}
		})
	}
}

func TestParseCompat(t *testing.T) {
	tests := []struct {
		in     string
		want   eval.Compat
		faults int
	}{
		{"", "", 0},
		{"reference", "reference", 12},
		{"reference+stop+last-query", "reference+last-query+stop", 10},
		{"reference+stop+stop", "reference+stop", 11},
	}
	for _, tt := range tests {
		got, err := eval.ParseCompat(tt.in)
		if err != nil || got != tt.want || len(got.Faults()) != tt.faults {
			t.Errorf("ParseCompat(%q) = %q with faults %q, %v; want %q with %d", tt.in, got, got.Faults(), err, tt.want, tt.faults)
		}
	}
	for _, in := range []string{"ref", "reference+", "reference+unknown", "+stop"} {
		if got, err := eval.ParseCompat(in); err == nil {
			t.Errorf("ParseCompat(%q) = %q; want an error", in, got)
		}
	}
	for _, f := range eval.CompatFaults() {
		if f.Doc == "" || !strings.Contains(f.Doc, "repaired:") {
			t.Errorf("fault %s does not say what its repair does", f.Name)
		}
	}
}

// A run with other settings of a flow asks about other pairs.
func TestKeysOfFlows(t *testing.T) {
	seen := map[string]string{}
	for name, opt := range map[string]eval.Options{
		"free":     {},
		"guided":   {Flow: eval.FlowGuided},
		"compat":   {Compat: "reference"},
		"repaired": {Compat: "reference+stop"},
		"tools":    {Observe: eval.ObserveMCP, Observer: tools(nil), ObserverName: "one"},
		"others":   {Observe: eval.ObserveMCP, Observer: tools(nil), ObserverName: "two"},
		"native":   {Calls: eval.CallsNative},
		"required": {Calls: eval.CallsNative, ToolChoice: "required"},
		"parallel": {Calls: eval.CallsNative, ParallelCalls: "on"},
		"alone":    {Calls: eval.CallsNative, ParallelCalls: "off"},
	} {
		m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) { return says("<answer>no</answer>") })
		list, err := collect(eval.Run(t.Context(), m, each(record("x", "set", "f:1")), opt))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := seen[list[0].Key]; ok {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[list[0].Key] = name
	}
}

// The survey measures the prompts of each flow: the longest request of a run in
// which the model answers as gold is never longer.
func TestLongestPromptOfFlows(t *testing.T) {
	for _, opt := range []eval.Options{
		{},
		{Flow: eval.FlowGuided},
		{Flow: eval.FlowGuided, History: eval.HistoryGold},
		{Flow: eval.FlowGuided, Calls: eval.CallsNative},
		{Compat: "reference"},
		{Compat: "reference+system-history+blank-responses"},
	} {
		rec := refRecord()
		rec.Turns[1].Answer = "yes"
		longest := 0
		m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
			n := 0
			for _, msg := range req.Messages {
				n += len(msg.Content)
			}
			longest = max(longest, n)
			calls := 0
			for _, s := range rec.Turns[req.Turn].Steps {
				calls += len(s.Calls)
			}
			if req.Slot == 0 || req.Slot > calls {
				return golden(ctx, req)
			}
			return slotwise(ctx, req)
		})
		if _, err := collect(eval.Run(t.Context(), m, each(rec), opt)); err != nil {
			t.Fatal(err)
		}
		s, err := eval.Look(t.Context(), each(rec), opt)
		if err != nil {
			t.Fatal(err)
		}
		if s.Longest.Bytes < longest || s.Longest.Bytes > longest+1000 {
			t.Errorf("%+v: the survey says %d bytes, the longest request has %d", opt, s.Longest.Bytes, longest)
		}
	}
}

func ExampleParseCompat() {
	c, err := eval.ParseCompat("reference+stop+last-query")
	fmt.Println(c, err)
	fmt.Println(slices.Contains(c.Faults(), "stop"), slices.Contains(c.Faults(), "blank-responses"))
	// Output:
	// reference+last-query+stop <nil>
	// false true
}
