package ollama_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"assay/model"
	"assay/model/modeltest"
	"assay/model/ollama"
	"assay/qaoa"
)

var _ model.Renderer = (*ollama.Client)(nil)

// renderer is a server that answers a chat with body.
func renderer(t *testing.T, body string, seen *string) *ollama.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // a short one fails the checks below
		*seen = r.URL.Path + " " + string(data)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := ollama.New(ollama.Config{Host: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRenderedPrompt(t *testing.T) {
	var seen string
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: "hi"}}, Sampling: model.Sampling{NumCtx: 2048, MaxTokens: 99}}
	c := renderer(t, `{"model":"m","_debug_info":{"rendered_template":"<|im_start|>user\nhi<|im_end|>\n"}}`, &seen)
	got, err := c.RenderedPrompt(t.Context(), req)
	if err != nil || got != "<|im_start|>user\nhi<|im_end|>\n" {
		t.Errorf("RenderedPrompt = %q, %v", got, err)
	}
	path, body, _ := strings.Cut(seen, " ")
	v, err := qaoa.ParseValue(body)
	if err != nil {
		t.Fatal(err)
	}
	flag, _ := v.Get("_debug_render_only")
	options, _ := v.Get("options")
	limit, _ := options.Get("num_predict")
	if path != "/api/chat" || string(flag.JSON()) != "true" || limit.Text != "1" {
		t.Errorf("request %s %s; want a chat that only renders, and one token where that is not known", path, body)
	}
	// An old server answers as if asked.
	c = renderer(t, `{"model":"m","message":{"role":"assistant","content":"h"},"done":true}`, &seen)
	_, err = c.RenderedPrompt(t.Context(), req)
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassRequest || !strings.Contains(fail.Msg, "does not tell") {
		t.Errorf("old server: %v; want an error of class request", err)
	}
}

func TestShowAndNearNames(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	s.Models = []string{"qwen3:8b", "llama3.1:8b"}
	c := client(t, s, ollama.Config{Model: "qwen3:8b"})
	can, err := c.Capabilities(t.Context())
	if err != nil || !slices.Equal(can, []string{"completion", "tools"}) {
		t.Errorf("Capabilities = %q, %v", can, err)
	}
	c = client(t, s, ollama.Config{Model: "qwen3:8"})
	_, err = c.Probe(t.Context())
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, `did you mean "qwen3:8b"`) {
		t.Errorf("Probe of a slip = %v; want the near name", err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d chats before it was known that the model exists", n)
	}
}
