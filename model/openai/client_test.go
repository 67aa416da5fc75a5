package openai_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/modeltest"
	"assay/model/openai"
	"assay/model/transport"
	"assay/qaoa"
)

const key = "sk-secret-key"

func client(t testing.TB, s *modeltest.Server, opt transport.Options) *openai.Client {
	t.Helper()
	if opt.Backoff == 0 {
		opt.Backoff = time.Millisecond
	}
	c, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Key: key, Model: modeltest.ModelName, HTTP: opt})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}}
}

func TestChatPromptMode(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "you said " + r.Last(), Reasoning: "hm", Prompt: 7, Completion: 3}
	})
	req := ask("<tool_call> & \"é\"")
	req.Sampling = model.Sampling{TopP: 0.9, Seed: 42, MaxTokens: 100}
	got, err := client(t, s, transport.Options{}).Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got.Latency <= 0 {
		t.Errorf("latency %s", got.Latency)
	}
	got.Latency = 0
	want := model.Reply{Text: "you said <tool_call> & \"é\"", Reasoning: "hm", Finish: "stop", Usage: model.Usage{Prompt: 7, Completion: 3}, Attempts: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
	sent := s.Requests()[0]
	const body = `{"model":"test-model","messages":[{"role":"user","content":"<tool_call> & \"é\""}],"temperature":0,"top_p":0.9,"seed":42,"max_tokens":100,"chat_template_kwargs":{"enable_thinking":false},"stream":false}`
	if string(sent.Body) != body {
		t.Errorf("body %s\nwant %s", sent.Body, body)
	}
	if sent.Header.Get("Authorization") != "Bearer "+key || sent.Header.Get("User-Agent") != "assay" || sent.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", sent.Header)
	}
}

func TestChatNativeMode(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Sequence(modeltest.Reply{Calls: []qaoa.Call{
		{Name: "f", Arguments: `{"b": 1.0, "a": 9007199254740993}`}, {Name: "g", Raw: `{'x'`},
	}}))
	schema := qaoa.JSON(`{"type":"object","properties":{"b":{"default":1.0,"$ref":"#/x"}}}`)
	req := model.Request{
		Messages: []model.Message{
			{Role: model.User, Content: "hi"},
			{Role: model.Assistant, Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":1}`}, {Raw: `{"name":"g","arguments":"{"}`}}},
			{Role: model.ToolRole, Content: "1", CallID: "id-7"},
			{Role: model.ToolRole, Content: "2"},
		},
		Tools: []qaoa.Tool{{Name: "f", Description: "d", Parameters: schema}},
	}
	got, err := client(t, s, transport.Options{}).Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []qaoa.Call{{Name: "f", Arguments: `{"b":1.0,"a":9007199254740993}`}, {Raw: `{"name":"g","arguments":"{'x'"}`}}
	if d := cmp.Diff(want, got.Calls); d != "" || got.Finish != "tool_calls" {
		t.Errorf("finish %q, calls (-want +got):\n%s", got.Finish, d)
	}
	body := string(s.Requests()[0].Body)
	for _, part := range []string{
		`"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":` + string(schema) + `}}]`,
		`"tool_calls":[{"id":"id-7","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"call00001","type":"function","function":{"name":"g","arguments":"{}"}}]`,
		`{"role":"tool","content":"1","tool_call_id":"id-7"},{"role":"tool","content":"2","tool_call_id":"call00001"}`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("body %s\nlacks %s", body, part)
		}
	}
}

func TestChatFailures(t *testing.T) {
	huge := modeltest.Reply{Pad: 1 << 20}
	tests := []struct {
		name    string
		replies []modeltest.Reply
		class   model.Class // "" if the answer comes in the end
		sent    int
		says    string
	}{
		{"429 with Retry-After, then an answer", []modeltest.Reply{{Status: 429, Header: map[string]string{"Retry-After": "0"}}, {Text: "ok"}}, "", 2, ""},
		{"500 twice, then an answer", []modeltest.Reply{{Status: 500}, {Status: 503}, {Text: "ok"}}, "", 3, ""},
		{"cut connection, then an answer", []modeltest.Reply{{Text: "xxxxxxxx", Cut: 20}, {Text: "ok"}}, "", 2, ""},
		{"cut before the status, then an answer", []modeltest.Reply{{Cut: -1}, {Text: "ok"}}, "", 2, ""},
		{"malformed JSON, then an answer", []modeltest.Reply{{Body: `{"choices":[`}, {Text: "ok"}}, "", 2, ""},
		{"always 500", []modeltest.Reply{{Status: 500, Text: "out of memory"}}, model.ClassServer, 3, "out of memory"},
		{"always 429", []modeltest.Reply{{Status: 429}}, model.ClassRateLimit, 3, "--concurrency"},
		{"always cut", []modeltest.Reply{{Text: "xxxxxxxx", Cut: 20}}, model.ClassConnection, 3, "cut the connection"},
		{"always a page", []modeltest.Reply{{Body: "<html>hello</html>"}}, model.ClassBadReply, 3, "<html>hello</html>"},
		{"huge answers", []modeltest.Reply{huge}, model.ClassBadReply, 3, "limit of 65536 bytes"},
		{"slow answers", []modeltest.Reply{{Delay: time.Minute}}, model.ClassTimeout, 3, "--timeout"},
		{"slow bodies", []modeltest.Reply{{Text: strings.Repeat("x", 4096), Trickle: 100 * time.Millisecond}}, model.ClassTimeout, 3, "--timeout"},
		{"prompt too long", []modeltest.Reply{{Status: 400, Text: "This model's maximum context length is 10 tokens."}}, model.ClassTruncated, 1, "fewer candidates"},
		{"refused", []modeltest.Reply{{Status: 400, Text: "bad temperature"}}, model.ClassRequest, 1, "bad temperature"},
		{"key not accepted, and quoted", []modeltest.Reply{{Status: 401, Text: "bad key " + key}}, model.ClassRequest, 1, "bad key [key]"},
		{"key not accepted, and cut in its middle", []modeltest.Reply{{Status: 401, Text: strings.Repeat("x", 300-len(key)/2) + key + " is wrong"}}, model.ClassRequest, 1, "xx[key]"},
		{"key where a message should be", []modeltest.Reply{{Body: `{"choices":[{"message":"` + strings.Repeat("x", 40-len(key)/2) + key + `"}]}`}}, model.ClassBadReply, 3, `xx[key]`},
		{"error with status 200", []modeltest.Reply{{Body: `{"error":{"message":"overloaded","code":503}}`}}, model.ClassServer, 3, "overloaded"},
		{"limit told with status 200", []modeltest.Reply{{Body: `{"error":{"message":"slow","code":429}}`}}, model.ClassRateLimit, 3, "slow"},
		{"FastAPI's errors", []modeltest.Reply{{Status: 422, Body: `{"detail":"no field x"}`}}, model.ClassRequest, 1, "no field x"},
		{"no choices", []modeltest.Reply{{Body: `{"choices":[]}`}}, model.ClassBadReply, 3, "/choices: want a list of at least one choice, have array"},
		{"message is text", []modeltest.Reply{{Body: `{"choices":[{"message":"hi"}]}`}}, model.ClassBadReply, 3, `/choices/0/message: want an object, have string "hi"`},
		{"calls are text", []modeltest.Reply{{Body: `{"choices":[{"message":{"tool_calls":"hi"}}]}`}}, model.ClassBadReply, 3, "/choices/0/message/tool_calls"},
		{"a call without a function", []modeltest.Reply{{Body: `{"choices":[{"message":{"tool_calls":[{}]}}]}`}}, model.ClassBadReply, 3, "/choices/0/message/tool_calls/0/function"},
		{"answer is a list", []modeltest.Reply{{Body: `[]`}}, model.ClassBadReply, 3, "want an object, have array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, modeltest.Sequence(tt.replies...))
			c := client(t, s, transport.Options{Retries: 2, Timeout: 500 * time.Millisecond, MaxBody: 65536})
			got, err := c.Chat(t.Context(), ask("hi"))
			if n := len(s.Requests()); n != tt.sent {
				t.Errorf("%d requests, want %d", n, tt.sent)
			}
			if tt.class == "" {
				if err != nil || got.Text != "ok" || got.Attempts != tt.sent {
					t.Errorf("Chat = %+v, %v", got, err)
				}
				return
			}
			fail, ok := errors.AsType[*model.Error](err)
			if !ok {
				t.Fatalf("error %v is no model.Error", err)
			}
			if fail.Class != tt.class || fail.Attempts != tt.sent || !strings.Contains(fail.Msg, tt.says) {
				t.Errorf("error %+v, want class %s after %d requests, saying %q", fail, tt.class, tt.sent, tt.says)
			}
			if strings.Contains(fail.Msg, key[:len(key)/2]) {
				t.Errorf("the key is in %q", fail.Msg)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	c := client(t, s, transport.Options{Retries: 1})
	s.Close()
	for name, call := range map[string]func() error{
		"Chat":  func() error { _, err := c.Chat(t.Context(), ask("hi")); return err },
		"Ping":  func() error { return c.Ping(t.Context()) },
		"Probe": func() error { _, err := c.Probe(t.Context()); return err },
	} {
		fail, ok := errors.AsType[*model.Error](call())
		if !ok || fail.Class != model.ClassConnection || !strings.Contains(fail.Msg, "openai/test-model: no server at http://127.0.0.1:") || !strings.Contains(fail.Msg, "--base-url") {
			t.Errorf("%s: %v", name, fail)
		}
	}
}

func TestContentForms(t *testing.T) {
	tests := []struct{ name, message, text, reasoning string }{
		{"string", `{"content":"a"}`, "a", ""},
		{"null", `{"content":null}`, "", ""},
		{"absent", `{}`, "", ""},
		{"parts", `{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`, "ab", ""},
		{"refusal", `{"content":null,"refusal":"no"}`, "no", ""},
		{"reasoning_content", `{"content":"a","reasoning_content":"r"}`, "a", "r"},
		{"reasoning", `{"content":"a","reasoning":"r"}`, "a", "r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, modeltest.Sequence(modeltest.Reply{Body: `{"choices":[{"message":` + tt.message + `}]}`}))
			got, err := client(t, s, transport.Options{}).Chat(t.Context(), ask("hi"))
			if err != nil || got.Text != tt.text || got.Reasoning != tt.reasoning || got.Usage != (model.Usage{Prompt: -1, Completion: -1}) {
				t.Errorf("Chat = %+v, %v", got, err)
			}
		})
	}
}

func TestServerTeachesFields(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		for _, f := range []struct{ member, text string }{
			{"max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."},
			{"chat_template_kwargs", "Unrecognized request argument supplied: chat_template_kwargs"},
		} {
			if _, sent := r.JSON.Get(f.member); sent {
				return modeltest.Reply{Status: 400, Text: f.text}
			}
		}
		return modeltest.Reply{Text: "ok"}
	})
	c := client(t, s, transport.Options{})
	req := ask("hi")
	req.Sampling.MaxTokens = 9
	for i, want := range []int{3, 1} { // two lessons, then none
		got, err := c.Chat(t.Context(), req)
		if err != nil || got.Attempts != want {
			t.Fatalf("request %d: %+v, %v; want %d attempts", i, got, err, want)
		}
	}
	if !strings.Contains(string(s.Requests()[2].Body), `"max_completion_tokens":9`) {
		t.Errorf("body %s", s.Requests()[2].Body)
	}
	if notes := c.Notes(); len(notes) != 2 {
		t.Errorf("Notes = %q", notes)
	}
}

func TestProbe(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("ready"))
	s.Models = []string{"z", modeltest.ModelName}
	info, err := client(t, s, transport.Options{}).Probe(t.Context())
	if err != nil || info.Context != s.Context || !slices.Equal(info.Models, []string{modeltest.ModelName, "z"}) || info.Reply.Text != "ready" || info.Server != s.URL+"/v1" {
		t.Errorf("Probe = %+v, %v", info, err)
	}
	c, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "other"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Probe(t.Context())
	fail, _ := errors.AsType[*model.Error](err)
	if fail == nil || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, "the server has test-model, z") {
		t.Errorf("Probe of another model: %v", err)
	}
	if names, err := c.Models(t.Context()); err != nil || len(names) != 2 {
		t.Errorf("Models = %q, %v", names, err)
	}
}

func TestWrongBaseURL(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	c, err := openai.New(openai.Config{BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Chat(t.Context(), ask("hi"))
	fail, _ := errors.AsType[*model.Error](err)
	if fail == nil || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, "most base URLs end in /v1") {
		t.Errorf("error %v", err)
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		name string
		cfg  openai.Config
		want string // in the error, "" if there is none
	}{
		{"default address", openai.Config{Model: "m"}, ""},
		{"slash at the end", openai.Config{Model: "m", BaseURL: "http://h/v1/"}, ""},
		{"extra members", openai.Config{Model: "m", Extra: `{"reasoning_effort":"low"}`}, ""},
		{"no model", openai.Config{}, "--model openai/NAME"},
		{"no scheme", openai.Config{Model: "m", BaseURL: "localhost:8000/v1"}, "want something like"},
		{"no URL", openai.Config{Model: "m", BaseURL: "http://[::1"}, "want something like"},
		{"query", openai.Config{Model: "m", BaseURL: "http://h/v1?k=1"}, "want something like"},
		{"password", openai.Config{Model: "m", BaseURL: "http://u:hunter2@h/v1"}, "OPENAI_API_KEY"},
		{"key with a line break", openai.Config{Model: "m", Key: "a\nb"}, "OPENAI_API_KEY"},
		{"extra is a list", openai.Config{Model: "m", Extra: `[1]`}, "want a JSON object"},
		{"extra sets our member", openai.Config{Model: "m", Extra: `{"seed":1}`}, `"seed" is set by assay`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openai.New(tt.cfg)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

func TestExtra(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	c, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: modeltest.ModelName, Extra: `{"reasoning_effort":"low","x":1.0}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Chat(t.Context(), ask("hi")); err != nil {
		t.Fatal(err)
	}
	if got := string(s.Requests()[0].Body); !strings.HasSuffix(got, `,"stream":false,"reasoning_effort":"low","x":1.0}`) {
		t.Errorf("body %s", got)
	}
	if _, has := s.Requests()[0].Header["Authorization"]; has {
		t.Error("a key was sent where there is none")
	}
}

func TestConcurrentChats(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		if r.N%5 == 0 {
			return modeltest.Reply{Status: 500}
		}
		return modeltest.Reply{Text: r.Last()}
	})
	c := client(t, s, transport.Options{Retries: 9, Concurrency: 16})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			text := strings.Repeat("x", i)
			if got, err := c.Chat(t.Context(), ask(text)); err != nil || got.Text != text {
				t.Errorf("Chat(%q) = %q, %v", text, got.Text, err)
			}
		})
	}
	wg.Wait()
}

func TestCancelledChat(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Sequence(modeltest.Reply{Delay: time.Minute}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, s, transport.Options{}).Chat(ctx, ask("hi")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Sequence(modeltest.Reply{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": "http://127.0.0.1:1/x"}}))
	_, err := client(t, s, transport.Options{}).Chat(t.Context(), ask("hi"))
	fail, _ := errors.AsType[*model.Error](err)
	if fail == nil || fail.Class != model.ClassRequest || !strings.Contains(fail.Msg, "redirects") {
		t.Errorf("error %v", err)
	}
}

// FuzzAnswer holds that no answer makes the client panic, and that each is a
// reply or a failure with a class.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"choices":[{"message":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}],"usage":{"prompt_tokens":1}}`, `{"error":"x"}`, `{`, ``} {
		f.Add(s, 200)
		f.Add(s, 500)
	}
	var body string
	var status int
	c, err := openai.New(openai.Config{Model: "m", HTTP: transport.Options{Client: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
		return response(status, body), nil
	})}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, code int) {
		body, status = s, code
		if _, err := c.Chat(t.Context(), ask("hi")); err != nil {
			if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class == "" || fail.Msg == "" {
				t.Fatalf("error %#v", err)
			}
		}
	})
}

// Reasoning models refuse what others need: the answer comes all the same, and
// what was left out is told.
func TestServerRefusesSampling(t *testing.T) {
	tests := []struct {
		name, member, text string
		taught             bool
	}{
		{"OpenAI on temperature", "temperature", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", true},
		{"OpenAI on top_p", "top_p", "Unsupported parameter: 'top_p' is not supported with this model.", true},
		{"Mistral on seed", "seed", "Extra inputs are not permitted: body.seed", true},
		{"another server on seed", "seed", "property 'seed' is unsupported", true},
		{"a value out of range is no lesson", "temperature", "temperature must be at most 2", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
				if _, sent := r.JSON.Get(tt.member); sent {
					return modeltest.Reply{Status: 400, Text: tt.text}
				}
				return modeltest.Reply{Text: "ok"}
			})
			c := client(t, s, transport.Options{})
			req := ask("hi")
			req.Sampling.TopP = 0.5
			got, err := c.Chat(t.Context(), req)
			if !tt.taught {
				if err == nil || len(s.Requests()) != 1 || c.Notes() != nil {
					t.Errorf("Chat = %+v, %v after %d requests, notes %q; want it refused", got, err, len(s.Requests()), c.Notes())
				}
				return
			}
			if err != nil || got.Text != "ok" || got.Attempts != 2 {
				t.Fatalf("Chat = %+v, %v", got, err)
			}
			if notes := c.Notes(); len(notes) != 1 || !strings.Contains(notes[0], tt.member) {
				t.Errorf("Notes = %q", notes)
			}
			if _, err := c.Chat(t.Context(), req); err != nil || len(s.Requests()) != 3 {
				t.Errorf("second request: %v, %d requests; want one more", err, len(s.Requests()))
			}
		})
	}
}
