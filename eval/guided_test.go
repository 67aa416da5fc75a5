package eval_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// slotwise fills the slots of a guided flow from the record.
func slotwise(_ context.Context, req model.Request) (model.Reply, error) {
	var calls []qaoa.Call
	for _, s := range req.Case.Record.Turns[req.Turn].Steps {
		calls = append(calls, s.Calls...)
	}
	return says(toolcall.Render(calls[req.Slot-1 : req.Slot]))
}

func TestGuidedFlow(t *testing.T) {
	tests := []struct {
		name, gold string
		says       []string // replies; "f:1" is a block of calls, "=x" is text
		opt        eval.Options
		want       string // calls by turn and step
		unfilled   int
		extra      int
		last       string // roles and contents of the last request after the system message
	}{
		{
			"one request a slot, and no answer", "f:1 g:2",
			[]string{"f:1", "g:2"},
			eval.Options{},
			"f:1, g:2", 0, 0,
			"user query 0|assistant f:1|user got f:1",
		},
		{
			"a reply without a call leaves the slot unfilled, and the next one is asked", "f:1, g:2",
			[]string{"=no", "g:2"},
			eval.Options{},
			"g:2", 1, 0,
			"user query 0|assistant no|user -",
		},
		{
			"the first call of a reply counts, and only it is shown", "f:1, g:2",
			[]string{"f:1 g:2", "g:2"},
			eval.Options{},
			"f:1, g:2", 0, 1,
			"user query 0|assistant f:1|user got f:1",
		},
		{
			"a wrong call goes on too", "f:1, g:2",
			[]string{"h:3", "g:2"},
			eval.Options{},
			"h:3, g:2", 0, 0,
			"user query 0|assistant h:3|user -",
		},
		{
			"a repeated call is no end", "f:1, f:1, f:1",
			[]string{"f:1", "f:1", "f:1"},
			eval.Options{},
			"f:1, f:1, f:1", 0, 0,
			"user query 0|assistant f:1|user got f:1|assistant f:1|user got f:1",
		},
		{
			"each turn has its own query", "f:1 | g:2",
			[]string{"f:1", "g:2"},
			eval.Options{},
			"f:1 | g:2", 0, 0,
			"user query 0|assistant f:1|user got f:1|assistant <answer></answer>|user query 1",
		},
		{
			"a turn without a call is not asked about", "f:1 | | g:2",
			[]string{"f:1", "g:2"},
			eval.Options{},
			"f:1 |  | g:2", 0, 0,
			"user query 0|assistant f:1|user got f:1|assistant <answer></answer>|user query 1|assistant <answer></answer>|user query 2",
		},
		{
			"gold history shows the gold call of earlier slots", "f:1, g:2",
			[]string{"h:3", "g:2"},
			eval.Options{History: eval.HistoryGold},
			"h:3, g:2", 0, 0,
			"user query 0|assistant f:1|user got f:1",
		},
		{
			"gold history shows earlier turns as the record has them", "f:1 | g:2",
			[]string{"=no", "g:2"},
			eval.Options{History: eval.HistoryGold},
			" | g:2", 1, 0,
			"user query 0|assistant f:1|user got f:1|assistant <answer>answer 0</answer>|user query 1",
		},
		{
			"empty observations", "f:1, g:2",
			[]string{"f:1", "g:2"},
			eval.Options{Observe: eval.ObserveEmpty},
			"f:1, g:2", 0, 0,
			"user query 0|assistant f:1|user -",
		},
		{
			"a malformed call fills its slot with itself", "f:1, g:2",
			[]string{"!", "g:2"},
			eval.Options{},
			"!, g:2", 0, 0,
			"user query 0|assistant !|user -",
		},
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
			tt.opt.Flow = eval.FlowGuided
			list, err := collect(eval.Run(t.Context(), m, each(record("x", "set", tt.gold)), tt.opt))
			if err != nil || len(list) != 1 || list[0].Fail != nil {
				t.Fatalf("Run = %+v, %v; want one result", list, err)
			}
			if got := shape(list[0].Turns); got != tt.want {
				t.Errorf("calls %q; want %q", got, tt.want)
			}
			unfilled, extra := 0, 0
			for i, x := range list[0].Requests {
				extra += x.Extra
				if x.Unfilled {
					unfilled++
				}
				if x.Slot == 0 {
					t.Errorf("request %d has no slot", i)
				}
			}
			if asked != len(tt.says) || unfilled != tt.unfilled || extra != tt.extra {
				t.Errorf("%d requests, %d unfilled, %d extra calls; want %d, %d, %d", asked, unfilled, extra, len(tt.says), tt.unfilled, tt.extra)
			}
			if got := brief(last.Messages[1:]); got != tt.last {
				t.Errorf("last request\n%s\nwant\n%s", got, tt.last)
			}
		})
	}
}

// brief writes messages as "role content", calls as [call] reads them, and an
// empty response as "-".
func brief(messages []model.Message) string {
	var out []string
	for _, m := range messages {
		text := m.Content
		if got := toolcall.Parse(text, toolcall.Options{}); len(got.Calls) > 0 {
			text = shape([]qaoa.Turn{{Steps: []qaoa.Step{{Calls: got.Calls}}}})
		}
		if after, ok := strings.CutPrefix(text, "<tool_response>\n"); ok {
			if text = strings.TrimSuffix(strings.TrimSuffix(after, "</tool_response>"), "\n"); text == "" {
				text = "-"
			}
		}
		out = append(out, string(m.Role)+" "+text)
	}
	return strings.Join(out, "|")
}

// A slot that was filled natively is shown as a call and its result, an
// unfilled one as text.
func TestGuidedFlowNative(t *testing.T) {
	var last model.Request
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		last = req
		if req.Slot == 2 {
			return says("I would rather not")
		}
		return model.Reply{Calls: []qaoa.Call{call("f:1"), call("g:2")}, Usage: model.Usage{Prompt: -1, Completion: -1}}, nil
	})
	opt := eval.Options{Flow: eval.FlowGuided, Calls: eval.CallsNative, ToolChoice: "required", ParallelCalls: "off"}
	list, err := collect(eval.Run(t.Context(), m, each(record("x", "set", "f:1, g:2, f:3")), opt))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(list[0].Turns), "f:1, f:1"; got != want {
		t.Errorf("calls %q; want %q", got, want)
	}
	if last.ToolChoice != "required" || last.ParallelCalls != "off" || len(last.Tools) != 2 {
		t.Errorf("request with tool choice %q, parallel calls %q and %d tools", last.ToolChoice, last.ParallelCalls, len(last.Tools))
	}
	var roles []string
	for _, m := range last.Messages {
		roles = append(roles, string(m.Role))
	}
	if got, want := strings.Join(roles, " "), "system user assistant tool assistant user"; got != want {
		t.Errorf("roles %q; want %q", got, want)
	}
	if calls := last.Messages[2].Calls; len(calls) != 1 || calls[0] != call("f:1") {
		t.Errorf("the filled slot shows %+v; want the first call alone", calls)
	}
}

func TestGuidedGoldScoresOne(t *testing.T) {
	for _, opt := range []eval.Options{
		{},
		{History: eval.HistoryGold},
		{Observe: eval.ObserveEmpty},
		{Compat: "reference+empty-answer"},
	} {
		opt.Flow = eval.FlowGuided
		for _, calls := range []string{"f:1 | g:2 h:3, f:7", " | f:1 | ", "f:1 f:1, f:1 f:1, g"} {
			rec := record("x", "set", calls)
			m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
				n := 0
				for _, s := range rec.Turns[req.Turn].Steps {
					n += len(s.Calls)
				}
				if req.Slot > n {
					return says("<answer>" + rec.Turns[req.Turn].Answer + "</answer>")
				}
				return slotwise(ctx, req)
			})
			list, err := collect(eval.Run(t.Context(), m, each(rec), opt))
			if err != nil || len(list) != 1 {
				t.Fatalf("Run = %v, %v", list, err)
			}
			for i, turn := range rec.Turns {
				if s := match.Instance(turn.Calls(), list[0].Turns[i].Calls(), rec.Tools, match.Options{}); s.SP != 1 || s.SPA != 1 {
					t.Errorf("%+v, calls %q, turn %d: score %+v; want 1", opt, calls, i, s)
				}
			}
		}
	}
}

// Gold history teacher-forces: what the model said is in no later request.
func TestGuidedGoldHistoryDoesNotDependOnTheModel(t *testing.T) {
	requests := func(m chatter) (seen []string) {
		spy := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
			seen = append(seen, brief(req.Messages))
			return m(ctx, req)
		})
		opt := eval.Options{Flow: eval.FlowGuided, History: eval.HistoryGold}
		if _, err := collect(eval.Run(t.Context(), spy, each(record("x", "set", "f:1 g:2, h:3 | f:4, f:5")), opt)); err != nil {
			t.Fatal(err)
		}
		return seen
	}
	gold := requests(slotwise)
	silly := requests(func(context.Context, model.Request) (model.Reply, error) { return says("no") })
	if len(gold) != 5 || !slices.Equal(gold, silly) {
		t.Errorf("requests\n%s\nand\n%s\nwant 5 equal ones", strings.Join(gold, "\n"), strings.Join(silly, "\n"))
	}
}

// tools is an observer made of a function.
type tools func(ctx context.Context, c qaoa.Call) (qaoa.JSON, error)

func (f tools) Observe(ctx context.Context, c qaoa.Call) (qaoa.JSON, error) { return f(ctx, c) }

func TestObserveMCP(t *testing.T) {
	var made []string
	real := tools(func(_ context.Context, c qaoa.Call) (qaoa.JSON, error) {
		made = append(made, c.Name)
		switch c.Arguments {
		case `{"a":1}`:
			return `{"temp":21.0}`, nil
		case `{"a":2}`:
			return qaoa.Quote("plain text"), nil
		case `{"a":3}`:
			return qaoa.Quote("no such city"), errors.New("tool f failed")
		case `{"a":5}`:
			return qaoa.Quote(strings.Repeat("é", 300_000)), nil
		}
		return "", errors.New(strings.Repeat("bad ", 1000))
	})
	tests := []struct{ name, says, want string }{
		{"a JSON observation", "f:1", `{"temp":21.0}`},
		{"a text is shown without quotes", "f:2", "plain text"},
		{"a tool that fails shows what it said", "f:3", "no such city"},
		{"one that says nothing shows the error, cut", "f:4", "error: bad bad"},
		{"a huge observation is cut", "f:5", "éé"},
		{"a tool not on offer is not called", "danger:1", `error: no tool "danger" is on offer`},
		{"a call that did not parse is not made", "!", "error: the call could not be read"},
	}
	opt := eval.Options{Observe: eval.ObserveMCP, Observer: real, ObserverName: "test", MaxRounds: 2}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made = nil
			var last string
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				if req.Round() == 0 {
					return says(block(tt.says))
				}
				last = brief(req.Messages[len(req.Messages)-1:])
				return says("done")
			})
			list, err := collect(eval.Run(t.Context(), m, each(record("x", "set", "f:1")), opt))
			if err != nil || list[0].Fail != nil {
				t.Fatalf("Run = %+v, %v", list, err)
			}
			if !strings.HasPrefix(last, "user "+tt.want) || len(last) > 300<<10 {
				t.Errorf("the model is shown %.100q (%d bytes); want %q", last, len(last), tt.want)
			}
			x := list[0].Requests[0]
			if failed := strings.HasPrefix(tt.want, "error") || tt.says == "f:3"; x.ToolCalls != 1 || (x.ToolErrors == 1) != failed {
				t.Errorf("%d tool calls, %d errors", x.ToolCalls, x.ToolErrors)
			}
			if strings.HasPrefix(tt.says, "f") != (len(made) == 1) {
				t.Errorf("calls made: %q", made)
			}
			if got := list[0].Turns[0].Steps[0].Observation(0); got == "" {
				t.Error("the observation is not kept")
			}
		})
	}
}

// That there is no server of tools any more is no observation.
func TestObserveMCPWithoutAServer(t *testing.T) {
	gone := tools(func(context.Context, qaoa.Call) (qaoa.JSON, error) {
		return "", &model.Error{Class: model.ClassConnection, Msg: "the server is gone"}
	})
	for _, flow := range []eval.Flow{eval.FlowFree, eval.FlowGuided} {
		list, err := collect(eval.Run(t.Context(), chatter(golden), each(record("x", "set", "f:1")), eval.Options{Flow: flow, Observe: eval.ObserveMCP, Observer: gone}))
		if err != nil || len(list) != 1 || list[0].Fail == nil || list[0].Fail.Class != model.ClassConnection {
			t.Errorf("flow %s: Run = %+v, %v; want a failure of class connection", flow, list, err)
		}
	}
}

// A set of calls that ends the turn because it was made before is not made
// again.
func TestRepeatedCallsAreNotReallyMade(t *testing.T) {
	made := 0
	real := tools(func(context.Context, qaoa.Call) (qaoa.JSON, error) { made++; return "1", nil })
	m := chatter(func(context.Context, model.Request) (model.Reply, error) { return says(block("g:9")) })
	list, err := collect(eval.Run(t.Context(), m, each(record("x", "set", "f:1 g:2")), eval.Options{Observe: eval.ObserveMCP, Observer: real}))
	if err != nil || made != 1 || len(list[0].Requests) != 2 || !list[0].Requests[1].Repeated {
		t.Errorf("%d calls made in %+v, %v; want one, and the second request marked as a repetition", made, list, err)
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	real := tools(func(context.Context, qaoa.Call) (qaoa.JSON, error) { return "", nil })
	for _, opt := range []eval.Options{
		{Flow: "loose"},
		{Compat: "bfcl"},
		{Compat: "reference+nonsense"},
		{Compat: "reference", Flow: eval.FlowFree},
		{Compat: "reference", Calls: eval.CallsNative},
		{Compat: "reference", History: eval.HistoryGold},
		{Compat: "reference", Prompt: mustPrompt("has {tools}", eval.CallsPrompt)},
		{Observe: eval.ObserveMCP},
		{Observer: real},
		{ToolChoice: "required"},
		{ParallelCalls: "on"},
		{Calls: eval.CallsNative, ToolChoice: "maybe"},
		{Calls: eval.CallsNative, ParallelCalls: "maybe"},
	} {
		if opt.Check() == nil {
			t.Errorf("Check of %+v finds no fault", opt)
		}
	}
	for _, opt := range []eval.Options{
		{Compat: "reference"},
		{Compat: "reference", Flow: eval.FlowGuided, Prompt: mustPrompt("no mark", eval.CallsNative)},
		{Observe: eval.ObserveMCP, Observer: real},
		{Calls: eval.CallsNative, ToolChoice: "none", ParallelCalls: "off"},
	} {
		if err := opt.Check(); err != nil {
			t.Errorf("Check of %+v: %v", opt, err)
		}
	}
}
