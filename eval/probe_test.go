package eval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// weather is the call that the probe asks for.
const weather = "<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}\n</tool_call>"

func TestProbeCalls(t *testing.T) {
	native := []qaoa.Call{{Name: "get_weather", Arguments: `{"city":"Paris"}`}}
	tests := []struct {
		name     string
		calls    eval.CallMode
		reply    model.Reply
		err      error
		ok       bool
		fatal    bool
		detail   string
		remedy   string
		noSecond bool
	}{
		{name: "a call in the text", reply: model.Reply{Text: weather}, ok: true, detail: "on rung tool_call"},
		{name: "a native call", calls: eval.CallsNative, reply: model.Reply{Calls: native}, ok: true, detail: "on rung native"},
		{name: "the server leaves the call in the text", calls: eval.CallsNative, reply: model.Reply{Text: weather}, detail: "left the call in the text", remedy: "--tool-call-parser"},
		{name: "an abstention", reply: model.Reply{Text: "I cannot"}, detail: `no call came; the reply is "I cannot"`, remedy: "chat template"},
		{name: "a call that does not parse", reply: model.Reply{Text: "<tool_call>oops"}, detail: "does not parse", remedy: "another call format"},
		{name: "a call in a thought", reply: model.Reply{Reasoning: weather}, detail: "in a thought", remedy: "--think off"},
		{name: "another tool", reply: model.Reply{Text: strings.Replace(weather, "get_weather", "f", 1)}, detail: `"f" came, which is not on offer`, remedy: "not see the tools"},
		{name: "tools are refused", calls: eval.CallsNative, err: &model.Error{Class: model.ClassRequest, Msg: `"auto" tool choice requires --enable-auto-tool-choice`}, fatal: true, detail: "auto", remedy: "--calls prompt", noSecond: true},
		{name: "the prompt does not fit", err: &model.Error{Class: model.ClassTruncated, Msg: "too long"}, fatal: true, detail: "too long", noSecond: true},
		{name: "a busy server is left to the run", err: &model.Error{Class: model.ClassServer, Msg: "busy"}, detail: "busy", noSecond: true},
		{name: "an unknown error is left to the run", err: errors.New("boom"), detail: "boom", noSecond: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen []model.Request
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				seen = append(seen, req)
				return tt.reply, tt.err
			})
			opt := eval.Options{Calls: tt.calls, Sampling: model.Sampling{Temperature: 0.3, Seed: 5, NumCtx: 4096}}
			probes := eval.ProbeCalls(t.Context(), m, opt)
			p := probes[0]
			if p.OK != tt.ok || p.Fatal != tt.fatal || !strings.Contains(p.Detail, tt.detail) || !strings.Contains(p.Remedy, tt.remedy) || !p.OK && tt.remedy == "" != (p.Remedy == "") {
				t.Errorf("probe %+v", p)
			}
			if (len(probes) == 1) != tt.noSecond {
				t.Errorf("%d probes", len(probes))
			}
			req := seen[0]
			if req.Sampling.Temperature != 0.3 || req.Sampling.NumCtx != 4096 || req.Sampling.MaxTokens != 512 {
				t.Errorf("sampling %+v; want that of the run and a bound for the answer", req.Sampling)
			}
			if inText := strings.Contains(req.Messages[0].Content, "get_weather"); inText == (tt.calls == eval.CallsNative) || inText == (len(req.Tools) > 0) {
				t.Errorf("tools in the text: %v, in their field: %d", inText, len(req.Tools))
			}
		})
	}
}

func TestProbeDeterminism(t *testing.T) {
	for _, tt := range []struct {
		name string
		say  func(n int) (model.Reply, error)
		ok   bool
		want string
	}{
		{"one reply", func(int) (model.Reply, error) { return says(weather) }, true, "got the same reply (temperature 1, seed 7)"},
		{"two replies", func(n int) (model.Reply, error) { return says(fmt.Sprint(weather, n)) }, false, "two replies (temperature 1, seed 7)"},
		{"two thoughts", func(n int) (model.Reply, error) {
			return model.Reply{Text: weather, Reasoning: fmt.Sprint(n)}, nil
		}, false, "two replies"},
		{"a failure in between", func(n int) (model.Reply, error) {
			if n > 0 {
				return model.Reply{}, errors.New("gone")
			}
			return says(weather)
		}, false, "not known: gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
				n++
				return tt.say(n - 1)
			})
			probes := eval.ProbeCalls(t.Context(), m, eval.Options{Sampling: model.Sampling{Temperature: 1, Seed: 7}})
			if p := probes[1]; p.Name != eval.ProbeDeterminism || p.OK != tt.ok || p.Fatal || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("probe %+v; want %q", p, tt.want)
			}
		})
	}
}

// able is a model that says what it can do.
type able struct {
	chatter
	can []string
	err error
}

func (a able) Capabilities(context.Context) ([]string, error) { return a.can, a.err }

func TestProbeAbility(t *testing.T) {
	think := eval.Options{Sampling: model.Sampling{Think: true}}
	tests := []struct {
		name  string
		m     model.Chatter
		opt   eval.Options
		fatal bool
		want  string // "" is no probe
	}{
		{"nobody says", chatter(golden), eval.Options{Calls: eval.CallsNative}, false, ""},
		{"the server does not say", able{chatter(golden), nil, nil}, think, false, ""},
		{"it fails", able{chatter(golden), []string{"completion"}, errors.New("x")}, think, false, ""},
		{"tools in the text need no ability", able{chatter(golden), []string{"completion"}, nil}, eval.Options{}, false, "completion"},
		{"native tools", able{chatter(golden), []string{"completion", "tools"}, nil}, eval.Options{Calls: eval.CallsNative}, false, "tools"},
		{"no native tools", able{chatter(golden), []string{"completion"}, nil}, eval.Options{Calls: eval.CallsNative}, true, "give --calls prompt"},
		{"no thinking", able{chatter(golden), []string{"completion", "tools"}, nil}, think, true, "give --think off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			probes := eval.ProbeAbility(t.Context(), tt.m, tt.opt)
			if len(probes) == 0 {
				if tt.want != "" {
					t.Errorf("no probe; want %q", tt.want)
				}
				return
			}
			if p := probes[0]; p.Fatal != tt.fatal || tt.want == "" || !strings.Contains(p.String(), tt.want) {
				t.Errorf("probe %+v; want %q", p, tt.want)
			}
		})
	}
}

func TestSchemaLoss(t *testing.T) {
	var s eval.SchemaLoss
	s.Add(qaoa.Tool{Name: "whole"}, nil)
	s.Add(qaoa.Tool{Name: "cut"}, []model.Loss{{Path: "/properties/a/default", Keyword: "default"}, {Path: "/properties/b/default", Keyword: "default"}})
	s.Add(qaoa.Tool{Name: "bad"}, []model.Loss{{Path: "/required", Keyword: "required", Refused: true}})
	if s.Tools != 3 || s.Hit != 2 || s.Refused != 1 || s.Keywords["default"] != 2 || s.Examples[0] != "cut /properties/a/default" || s.Bad[0] != "bad /required" {
		t.Errorf("loss %+v", s)
	}
	for range 100 {
		s.Add(qaoa.Tool{Name: "cut"}, []model.Loss{{Path: "/default", Keyword: "default"}})
	}
	if len(s.Examples) != 10 || s.Keywords["default"] != 102 {
		t.Errorf("%d examples, %d places", len(s.Examples), s.Keywords["default"])
	}
}
