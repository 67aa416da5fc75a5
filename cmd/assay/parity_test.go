package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/chat"
	"assay/parity"
	"assay/qaoa"
)

// templateServer answers as llama.cpp does when it is asked for a prompt, by one
// of our templates, and nothing else.
func templateServer(t *testing.T, family string) *httptest.Server {
	t.Helper()
	tpl, err := chat.Builtin(family)
	if err != nil {
		t.Fatal(err)
	}
	type function struct {
		Name, Description string
		Parameters        json.RawMessage
		Arguments         string
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct {
				Role, Content string
				ToolCalls     []struct{ Function function } `json:"tool_calls"`
			}
			Tools []struct{ Function function }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/apply-template" {
			http.NotFound(w, r)
			return
		}
		var c chat.Conversation
		for _, m := range in.Messages {
			out := chat.Message{Role: chat.Role(m.Role), Content: m.Content}
			for _, call := range m.ToolCalls {
				out.Calls = append(out.Calls, qaoa.Call{Name: call.Function.Name, Arguments: qaoa.JSON(call.Function.Arguments)})
			}
			c.Messages = append(c.Messages, out)
		}
		for _, tool := range in.Tools {
			c.Tools = append(c.Tools, qaoa.Tool{Name: tool.Function.Name, Description: tool.Function.Description, Parameters: qaoa.JSON(tool.Function.Parameters)})
		}
		got, err := tpl.Render(c, chat.Options{AddGenerationPrompt: true})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"prompt":%s}`, qaoa.Quote(got.Text))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestParityOnly(t *testing.T) {
	gold := numberedGold(t, 3)
	s := templateServer(t, "qwen2.5")
	shards := filepath.Join(t.TempDir(), "shards")
	assay(t, "train", "shard", gold, "--out", shards, "--projection", "full")
	for _, tt := range []struct {
		name  string
		flags []string
		code  int
		out   []string // all are said on stdout
		err   string
	}{
		{"native calls and full rows", []string{"--calls", "native", "--template", "qwen2.5", "--projection", "full"}, exitOK, []string{"PASS: text equal in all 6 prompts of 3 records"}, ""},
		{"rows as the shards have them", []string{"--calls", "native", "--template", "qwen2.5", "--trained", shards}, exitOK, []string{"PASS"}, ""},
		{"action-only rows", []string{"--calls", "native", "--template", "qwen2.5"}, exitGate, []string{"FAIL: 3 of 6", `record "n000", turn 1, request 2`, `served   "ok\n`, "--observe empty"}, "not the training text"},
		{"a limit", []string{"--calls", "native", "--template", "qwen2.5", "--observe", "empty", "--limit", "2"}, exitOK, []string{"all 4 prompts of 2 records"}, ""},
		{"tools in the text", []string{"--template", "qwen2.5"}, exitGate, []string{"FAIL: 6 of 6", "in system of message 0", "--calls native"}, ""},
		{"the messages alone", []string{"--template", "qwen2.5", "--parity-against", "messages"}, exitOK, []string{"against: the same messages, template qwen2.5"}, ""},
		{"another family", []string{"--calls", "native", "--template", "hermes", "--projection", "full"}, exitGate, []string{"FAIL: 6 of 6"}, ""},
		{"no template", nil, exitUsage, nil, "want --template, one of qwen3"},
		{"an unknown template", []string{"--template", "qwen9"}, exitUsage, nil, "qwen9"},
		{"an unknown comparison", []string{"--template", "qwen3", "--parity-against", "odds"}, exitUsage, nil, "odds"},
		{"no shards", []string{"--template", "qwen3", "--trained", filepath.Join(shards, "nothing")}, exitInput, nil, "--trained"},
		{"no tokenizer", []string{"--template", "qwen3", "--tokenizer", filepath.Join(shards, "nothing.json")}, exitInput, nil, "nothing.json"},
		{"no server", []string{"--template", "qwen3", "--base-url", "http://127.0.0.1:1/v1", "--retries", "0"}, exitBackend, nil, "127.0.0.1:1"},
		{"a model without prompts", []string{"--template", "qwen3", "--model", "baseline/gold"}, exitUsage, nil, "a baseline reads no prompt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, talk bytes.Buffer
			args := append([]string{"run", gold, "--parity-only", "--model", "openai/m", "--base-url", s.URL + "/v1"}, tt.flags...)
			code := run(context.Background(), args, stdio{strings.NewReader(""), &out, &talk})
			if code != tt.code || !strings.Contains(talk.String(), tt.err) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q", code, tt.code, talk.String(), tt.err)
			}
			for _, want := range tt.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("stdout lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestParityJSON(t *testing.T) {
	gold, s := numberedGold(t, 2), templateServer(t, "qwen2.5")
	var out, talk bytes.Buffer
	code := run(context.Background(), []string{
		"run", gold, "--parity-only", "--json", "--model", "openai/m", "--base-url", s.URL + "/v1",
		"--calls", "native", "--template", "qwen2.5", "--tokenizer", "../../tokenizer/testdata/tiny.json",
	}, stdio{strings.NewReader(""), &out, &talk})
	var rep parity.Report
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &talk)
	}
	if code != exitGate || rep.Pass || rep.Prompts != 4 || rep.Equal != 2 || rep.First == nil || len(rep.First.ServedTokens) == 0 || rep.Method != parity.MethodText {
		t.Errorf("exit code %d, %+v", code, rep)
	}
	if left, err := os.ReadDir("."); err != nil || strings.Contains(fmt.Sprint(left), "run.json") {
		t.Errorf("a check left %v, %v", left, err)
	}
}
