package openai_test

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
	"assay/model/openai"
	"assay/model/transport"
	"assay/qaoa"
)

var _ model.Renderer = (*openai.Client)(nil)

var oneTool = []qaoa.Tool{{Name: "f", Description: "d", Parameters: `{"type":"object"}`}}

func TestToolChoiceInTheBody(t *testing.T) {
	tests := []struct {
		name             string
		tools            []qaoa.Tool
		choice, parallel string
		want             string // after the tools
	}{
		{"left to the server", oneTool, "", "", `}}],"temperature"`},
		{"a choice", oneTool, "required", "", `}}],"tool_choice":"required","temperature"`},
		{"one call a reply", oneTool, "auto", "off", `}}],"tool_choice":"auto","parallel_tool_calls":false,"temperature"`},
		{"several", oneTool, "", "on", `}}],"parallel_tool_calls":true,"temperature"`},
		{"without tools neither is sent", nil, "required", "on", `"content":"hi"}],"temperature"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, modeltest.Say("hi"))
			req := ask("hi")
			req.Tools, req.ToolChoice, req.ParallelCalls = tt.tools, tt.choice, tt.parallel
			if _, err := client(t, s, transport.Options{}).Chat(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if body := string(s.Requests()[0].Body); !strings.Contains(body, tt.want) {
				t.Errorf("body %s\nwant %s in it", body, tt.want)
			}
		})
	}
}

func TestServerRefusesParallelCalls(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(string(r.Body), "parallel_tool_calls") {
			return modeltest.Reply{Status: 400, Text: "Unsupported parameter: 'parallel_tool_calls'"}
		}
		return modeltest.Reply{Text: "hi"}
	})
	c := client(t, s, transport.Options{})
	req := ask("hi")
	req.Tools, req.ParallelCalls = oneTool, "off"
	for range 2 {
		if _, err := c.Chat(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests; want the refused one and two without the member", n)
	}
	if notes := c.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "parallel_tool_calls") {
		t.Errorf("notes %q", notes)
	}
}

func TestNearNames(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	s.Models = []string{"test-model-2", "other"}
	_, err := client(t, s, transport.Options{}).Probe(t.Context())
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, `did you mean "test-model-2"`) {
		t.Errorf("Probe = %v; want the near name", err)
	}
}

// renderer is a server with other paths beside the protocol.
func renderer(t *testing.T, paths map[string]string) (*openai.Client, *[]string) {
	t.Helper()
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // a short one fails the checks below
		seen = append(seen, r.URL.Path+" "+string(data))
		body, ok := paths[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = `{"detail":"Not Found"}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "m", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c, &seen
}

func TestRenderedPrompt(t *testing.T) {
	tests := []struct {
		name  string
		paths map[string]string
		want  string // of the prompt
		asked []string
		fault string
	}{
		{"llama.cpp", map[string]string{"/apply-template": `{"prompt":"<s>hi"}`}, "<s>hi", []string{"/apply-template"}, ""},
		{"vLLM", map[string]string{"/tokenize": `{"count":2,"tokens":[1,2]}`, "/detokenize": `{"prompt":"<s>hi"}`}, "<s>hi", []string{"/apply-template", "/tokenize", "/detokenize"}, ""},
		{"neither", nil, "", []string{"/apply-template", "/tokenize"}, "llama.cpp and vLLM do"},
		{"a page instead", map[string]string{"/apply-template": `{"hello":1}`}, "", []string{"/apply-template", "/tokenize"}, "llama.cpp and vLLM do"},
		{"an error of the server", map[string]string{"/apply-template": `{"error":{"message":"template broken"}}`}, "", []string{"/apply-template"}, "template broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, seen := renderer(t, tt.paths)
			req := ask("hi")
			req.Tools = oneTool
			got, err := c.RenderedPrompt(t.Context(), req)
			if got != tt.want || (err == nil) != (tt.fault == "") {
				t.Fatalf("RenderedPrompt = %q, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), key)) {
				t.Errorf("error %v; want %q", err, tt.fault)
			}
			var paths []string
			for _, s := range *seen {
				path, body, _ := strings.Cut(s, " ")
				paths = append(paths, path)
				if path != "/detokenize" && (!strings.Contains(body, `"content":"hi"`) || !strings.Contains(body, `"name":"f"`) || !strings.Contains(body, `"add_generation_prompt":true`)) {
					t.Errorf("%s gets %s", path, body)
				}
				if path == "/detokenize" && body != `{"model":"m","tokens":[1,2]}` {
					t.Errorf("%s gets %s", path, body)
				}
			}
			if !slices.Equal(paths, tt.asked) {
				t.Errorf("asked %q; want %q", paths, tt.asked)
			}
		})
	}
}
