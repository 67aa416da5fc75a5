package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/replay"
	"assay/qaoa"
)

func request(id string, repeat, turn, round int) model.Request {
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}, Turn: turn}
	for range round {
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant}, model.Message{Role: model.ToolRole})
	}
	req.Case = &model.Case{Record: qaoa.Record{ID: id}, Repeat: repeat}
	return req
}

func TestPlayer(t *testing.T) {
	free := model.Request{Messages: []model.Message{{Role: model.User, Content: "free"}}}
	const lines = `{"id":"a","reply":"zero"}

{"id":"a","repeat":1,"turn":2,"round":3,"reply":{"text":"x","reasoning":"r","finish":"length","prompt_tokens":5,"completion_tokens":6,"calls":[{"name":"f","arguments":{"b":1.0}},{"raw":"{"}]}}
{"id":"b","error":{"class":"timeout","message":"too slow"}}
{"key":"KEY","reply":"by key"}`
	p, err := replay.Read(iotest.OneByteReader(strings.NewReader(strings.Replace(lines, "KEY", replay.Key(free), 1))), "r.jsonl")
	if err != nil || p.Len() != 4 {
		t.Fatalf("Read = %d replies, %v", p.Len(), err)
	}
	tests := []struct {
		name string
		req  model.Request
		want model.Reply
	}{
		{"a line with the text only", request("a", 0, 0, 0), model.Reply{Text: "zero", Attempts: 1, Usage: model.Usage{Prompt: -1, Completion: -1}}},
		{"a full line", request("a", 1, 2, 3), model.Reply{Text: "x", Reasoning: "r", Finish: "length", Attempts: 1, Usage: model.Usage{Prompt: 5, Completion: 6}, Calls: []qaoa.Call{{Name: "f", Arguments: `{"b":1.0}`}, {Raw: "{"}}}},
		{"a line by key", free, model.Reply{Text: "by key", Attempts: 1, Usage: model.Usage{Prompt: -1, Completion: -1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := p.Chat(t.Context(), tt.req)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Errorf("Chat: %v (-want +got):\n%s", err, d)
			}
		})
	}
	_, err = p.Chat(t.Context(), request("b", 0, 0, 0))
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassTimeout || fail.Msg != "too slow" {
		t.Errorf("recorded failure: %v", err)
	}
	_, err = p.Chat(t.Context(), request("a", 0, 0, 1))
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassRequest || !strings.Contains(fail.Msg, `r.jsonl holds no reply to "a" repeat 0 turn 0 round 1`) {
		t.Errorf("no line: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ name, lines, want string }{
		{"not JSON", `{"id":`, "r.jsonl:1: not valid JSON"},
		{"a list", "\n[]", "r.jsonl:2: want an object, have array"},
		{"no place", `{"reply":"x"}`, "/id: want a string (or a key), have nothing"},
		{"place is negative", `{"id":"a","turn":-1,"reply":"x"}`, "/turn: want a whole number"},
		{"place is a fraction", `{"id":"a","round":1.5,"reply":"x"}`, "/round: want a whole number"},
		{"no reply", `{"id":"a"}`, "/reply: want a string or an object, have nothing"},
		{"reply is a number", `{"id":"a","reply":1}`, "/reply: want a string or an object, have number"},
		{"text is a number", `{"id":"a","reply":{"text":1}}`, "/reply/text: want a string, have number"},
		{"tokens are text", `{"id":"a","reply":{"prompt_tokens":"1"}}`, "/reply/prompt_tokens: want a whole number"},
		{"call without a name", `{"id":"a","reply":{"calls":[{}]}}`, "/reply/calls/0/name: want a string"},
		{"failure without a class", `{"id":"a","error":{}}`, "/error/class"},
		{"empty key", `{"key":"","reply":"x"}`, "/key: want a string"},
		{"same place twice", "{\"id\":\"a\",\"reply\":\"x\"}\n{\"id\":\"a\",\"reply\":\"x\"}", "r.jsonl:2: \"a\" repeat 0 turn 0 round 0 was answered in line 1"},
		{"same key twice", "{\"key\":\"a\",\"reply\":\"x\"}\n{\"key\":\"a\",\"reply\":\"x\"}", "was answered in line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := replay.Read(strings.NewReader(tt.lines), "r.jsonl"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %q", err, tt.want)
			}
		})
	}
	broken := io.MultiReader(strings.NewReader("\n"), iotest.ErrReader(io.ErrClosedPipe))
	if _, err := replay.Read(broken, "r.jsonl"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("broken file: %v", err)
	}
}

// chatter is a model made of a function.
type chatter func(model.Request) (model.Reply, error)

func (f chatter) Chat(_ context.Context, req model.Request) (model.Reply, error) { return f(req) }

func TestWhatIsRecordedIsReplayed(t *testing.T) {
	m := chatter(func(req model.Request) (model.Reply, error) {
		if req.Turn == 1 {
			return model.Reply{}, &model.Error{Class: model.ClassServer, Msg: "bro\"ken"}
		}
		return model.Reply{
			Text: "é<x>\n", Reasoning: "r", Finish: "stop", Usage: model.Usage{Prompt: 1, Completion: -1}, Attempts: 1,
			Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":1.0}`}, {Name: "g"}, {Raw: "{\""}},
		}, nil
	})
	var file bytes.Buffer
	rec := replay.NewRecorder(m, &file)
	free := model.Request{Messages: []model.Message{{Role: model.User, Content: "free"}}, Tools: []qaoa.Tool{{Name: "t"}}}
	reqs := []model.Request{request("a", 0, 0, 0), request("a", 0, 0, 1), request("a", 0, 1, 0), request("a", 1, 0, 0), free}
	for _, r := range reqs {
		_, _ = rec.Chat(t.Context(), r) // compared below
	}
	p, err := replay.Read(&file, "r.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range reqs {
		want, werr := m(r)
		got, gerr := p.Chat(t.Context(), r)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("request %d (-recorded +replayed):\n%s", i, d)
		}
		if (werr == nil) != (gerr == nil) || werr != nil && werr.Error() != gerr.Error() {
			t.Errorf("request %d: recorded %v, replayed %v", i, werr, gerr)
		}
	}
}

func TestKey(t *testing.T) {
	if a, b := replay.Key(request("x", 0, 0, 0)), replay.Key(request("y", 1, 2, 0)); a != b {
		t.Errorf("case and turn change the key: %s, %s", a, b)
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*model.Request){
		"nothing":     func(*model.Request) {},
		"content":     func(r *model.Request) { r.Messages[0].Content = "b" },
		"role":        func(r *model.Request) { r.Messages[0].Role = model.System },
		"call":        func(r *model.Request) { r.Messages[0].Calls = []qaoa.Call{{Name: "f"}} },
		"arguments":   func(r *model.Request) { r.Messages[0].Calls = []qaoa.Call{{Name: "f", Arguments: "{}"}} },
		"tool":        func(r *model.Request) { r.Tools = []qaoa.Tool{{Name: "f"}} },
		"seed":        func(r *model.Request) { r.Sampling.Seed = 1 },
		"temperature": func(r *model.Request) { r.Sampling.Temperature = 1 },
		"top_p":       func(r *model.Request) { r.Sampling.TopP = 1 },
		"max tokens":  func(r *model.Request) { r.Sampling.MaxTokens = 1 },
		"context":     func(r *model.Request) { r.Sampling.NumCtx = 1 },
		"thinking":    func(r *model.Request) { r.Sampling.Think = true },
	} {
		req := model.Request{Messages: []model.Message{{Role: model.User, Content: "a"}}}
		change(&req)
		key := replay.Key(req)
		if other, twice := seen[key]; twice {
			t.Errorf("%s and %s have the same key", name, other)
		}
		seen[key] = name
	}
}

func TestRecorderReportsFailedWrites(t *testing.T) {
	rec := replay.NewRecorder(chatter(func(model.Request) (model.Reply, error) { return model.Reply{}, nil }), failing{})
	if _, err := rec.Chat(t.Context(), request("a", 0, 0, 0)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func FuzzRead(f *testing.F) {
	f.Add(`{"id":"a","turn":1,"reply":{"text":"x","calls":[{"name":"f","arguments":{}}]}}`)
	f.Add(`{"key":"k","error":{"class":"timeout"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := replay.Read(strings.NewReader(s), "r"); (p == nil) == (err == nil) {
			t.Fatalf("Read = %v, %v", p, err)
		}
	})
}
