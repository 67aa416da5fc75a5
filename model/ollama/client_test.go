package ollama_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/modeltest"
	"assay/model/ollama"
	"assay/model/transport"
	"assay/qaoa"
)

func client(t testing.TB, s *modeltest.Server, cfg ollama.Config) *ollama.Client {
	t.Helper()
	cfg.Host = s.URL
	if cfg.Model == "" {
		cfg.Model = modeltest.ModelName
	}
	cfg.HTTP.Backoff = time.Millisecond
	c, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}}
}

func TestBaseURL(t *testing.T) {
	tests := []struct{ host, want string }{
		{"", "http://127.0.0.1:11434"},
		{"example.com", "http://example.com:11434"},
		{"example.com:80", "http://example.com:80"},
		{":5000", "http://127.0.0.1:5000"},
		{"http://example.com", "http://example.com:80"},
		{"https://example.com", "https://example.com:443"},
		{"https://example.com:8443/ollama/", "https://example.com:8443/ollama"},
		{"example.com/ollama", "http://example.com:11434/ollama"},
		{"0.0.0.0", "http://127.0.0.1:11434"},
		{"0.0.0.0:99", "http://127.0.0.1:99"},
		{"[::]:99", "http://[::1]:99"},
		{"::1", "http://[::1]:11434"},
		{"[::1]", "http://[::1]:11434"},
		{"[::1]:99", "http://[::1]:99"},
		{` "127.0.0.1:99" `, "http://127.0.0.1:99"},
		{"ftp://example.com", ""},
		{"example.com:http", ""},
		{"example.com:99999", ""},
		{"user:pw@example.com", ""},
		{"example.com?x=1", ""},
	}
	for _, tt := range tests {
		got, err := ollama.BaseURL(tt.host)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("BaseURL(%q) = %q, %v; want %q", tt.host, got, err, tt.want)
		}
	}
}

func TestChatPromptMode(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "you said " + r.Last(), Reasoning: "hm", Prompt: 7, Completion: 3, Finish: "length"}
	})
	req := ask("<tool_call> é")
	req.Sampling = model.Sampling{Temperature: 0.5, TopP: 0.9, Seed: -42, MaxTokens: 100, NumCtx: 4096, Think: true}
	got, err := client(t, s, ollama.Config{KeepAlive: "10m", NumThread: 1}).Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	got.Latency = 0
	want := model.Reply{Text: "you said <tool_call> é", Reasoning: "hm", Finish: "length", Usage: model.Usage{Prompt: 7, Completion: 3}, Attempts: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
	const body = `{"model":"test-model","messages":[{"role":"user","content":"<tool_call> é"}],"think":true,"stream":false,"truncate":false,"shift":false,"keep_alive":"10m",` +
		`"options":{"temperature":0.5,"seed":-42,"top_p":0.9,"num_predict":100,"num_ctx":4096,"num_thread":1}}`
	if sent := string(s.Requests()[0].Body); sent != body {
		t.Errorf("body %s\nwant %s", sent, body)
	}
}

func TestChatNativeMode(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Sequence(modeltest.Reply{Calls: []qaoa.Call{{Name: "f", Arguments: `{"b":1.0,"a":2}`}, {Name: "g", Raw: "{"}}}))
	req := model.Request{
		Messages: []model.Message{
			{Role: model.User, Content: "hi"},
			{Role: model.Assistant, Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: `[1]`}, {Raw: "x"}}},
			{Role: model.ToolRole, Content: "1"},
			{Role: model.ToolRole, Content: "2"},
			{Role: model.ToolRole, Content: "3"},
		},
		Tools: []qaoa.Tool{{Name: "f", Parameters: `{"type":"object","properties":{"b":{"default":1.0}}}`}},
	}
	got, err := client(t, s, ollama.Config{KeepAlive: "-1"}).Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []qaoa.Call{{Name: "f", Arguments: `{"b":1.0,"a":2}`}, {Raw: `{"name":"g","arguments":"{"}`}}
	if d := cmp.Diff(want, got.Calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	body := string(s.Requests()[0].Body)
	for _, part := range []string{
		`"tools":[{"type":"function","function":{"name":"f","description":"","parameters":{"type":"object","properties":{"b":{"default":1.0}}}}}]`,
		`"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"name":"g","arguments":{}}},{"function":{"name":"unparsable","arguments":{}}}]`,
		`{"role":"tool","content":"1","tool_name":"f"},{"role":"tool","content":"2","tool_name":"g"},{"role":"tool","content":"3","tool_name":"unparsable"}`,
		`"keep_alive":-1,`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("body %s\nlacks %s", body, part)
		}
	}
}

func TestChatFailures(t *testing.T) {
	tests := []struct {
		name   string
		numCtx int
		reply  modeltest.Reply
		class  model.Class // "" if there is an answer
		sent   int
		says   string
	}{
		{"the prompt fits", 100, modeltest.Reply{Text: "ok", Prompt: 99}, "", 1, ""},
		{"the prompt fills the context", 100, modeltest.Reply{Text: "ok", Prompt: 100}, model.ClassTruncated, 1, "--num-ctx"},
		{"a context that the server chose", 0, modeltest.Reply{Text: "ok", Prompt: 4096}, "", 1, ""},
		{"no count", 100, modeltest.Reply{Text: "ok", Prompt: -1}, "", 1, ""},
		{"the server refuses a long prompt", 100, modeltest.Reply{Status: 400, Text: "the input length exceeds the context length"}, model.ClassTruncated, 1, "--num-ctx"},
		{"a newer one does it so", 100, modeltest.Reply{Status: 500, Text: "exceed_context_size_error"}, model.ClassTruncated, 1, "--num-ctx"},
		{"no thinking", 0, modeltest.Reply{Status: 400, Text: `"m" does not support thinking`}, model.ClassRequest, 1, "does not support thinking"},
		{"out of memory", 0, modeltest.Reply{Status: 500, Text: "out of memory"}, model.ClassServer, 3, "out of memory"},
		{"error with status 200", 0, modeltest.Reply{Body: `{"error":"unexpected EOF"}`}, model.ClassServer, 3, "unexpected EOF"},
		{"no JSON", 0, modeltest.Reply{Body: `Ollama is running`}, model.ClassBadReply, 3, "is http://127.0.0.1:"},
		{"no message", 0, modeltest.Reply{Body: `{"response":"x"}`}, model.ClassBadReply, 3, "/message: want an object, have nothing"},
		{"a list", 0, modeltest.Reply{Body: `[]`}, model.ClassBadReply, 3, "want an object, have array"},
		{"a call without a function", 0, modeltest.Reply{Body: `{"message":{"tool_calls":[1]}}`}, model.ClassBadReply, 3, "/message/tool_calls/0/function"},
		{"cut off", 0, modeltest.Reply{Text: "xxxxxxx", Cut: 10}, model.ClassConnection, 3, "cut the connection"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, modeltest.Sequence(tt.reply))
			req := ask("hi")
			req.Sampling.NumCtx = tt.numCtx
			got, err := client(t, s, ollama.Config{HTTP: transport.Options{Retries: 2}}).Chat(t.Context(), req)
			if n := len(s.Requests()); n != tt.sent {
				t.Errorf("%d requests, want %d", n, tt.sent)
			}
			if tt.class == "" {
				if err != nil || got.Text != "ok" {
					t.Errorf("Chat = %+v, %v", got, err)
				}
				return
			}
			fail, ok := errors.AsType[*model.Error](err)
			if !ok || fail.Class != tt.class || fail.Attempts != tt.sent || !strings.Contains(fail.Msg, tt.says) {
				t.Errorf("error %+v, want class %s after %d requests, saying %q", err, tt.class, tt.sent, tt.says)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("ready"))
	s.Models = []string{"z:1b", "small:latest", "small"}
	c := client(t, s, ollama.Config{Model: "small"})
	info, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info.Reply = model.Reply{}
	want := model.Info{Server: s.URL, Version: s.Version, Model: "small:latest", Digest: s.Digest, Context: s.Context, Models: []string{"small", "small:latest", "z:1b"}}
	if d := cmp.Diff(want, info); d != "" {
		t.Errorf("Probe (-want +got):\n%s", d)
	}
	if n, err := c.ContextLength(t.Context()); err != nil || n != s.Context {
		t.Errorf("ContextLength = %d, %v", n, err)
	}
	if v, err := c.Version(t.Context()); err != nil || v != s.Version {
		t.Errorf("Version = %q, %v", v, err)
	}
}

func TestNoModelNoServer(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	c := client(t, s, ollama.Config{Model: "absent:7b"})
	for name, call := range map[string]func() error{
		"Chat":  func() error { _, err := c.Chat(t.Context(), ask("hi")); return err },
		"Probe": func() error { _, err := c.Probe(t.Context()); return err },
	} {
		fail, ok := errors.AsType[*model.Error](call())
		if !ok || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, `run "ollama pull absent:7b"`) {
			t.Errorf("%s: %v", name, fail)
		}
	}
	s.Close()
	fail, ok := errors.AsType[*model.Error](c.Ping(t.Context()))
	if !ok || fail.Class != model.ClassConnection || !strings.Contains(fail.Msg, `start "ollama serve"`) {
		t.Errorf("Ping: %v", fail)
	}
}

func TestNew(t *testing.T) {
	for _, cfg := range []ollama.Config{{}, {Model: "m", Host: "ftp://x"}, {Model: "m", NumThread: -1}} {
		if c, err := ollama.New(cfg); err == nil {
			t.Errorf("New(%+v) = %+v", cfg, c)
		}
	}
}

func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{"", "h:1", "[::1]:1", "https://h/p", "::", "0.0.0.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ollama.BaseURL(s)
		if err != nil {
			return
		}
		if again, err := ollama.BaseURL(u); err != nil || again != u {
			t.Fatalf("BaseURL(%q) = %q, of which it makes %q, %v", s, u, again, err)
		}
	})
}
