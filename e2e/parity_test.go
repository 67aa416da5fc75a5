//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
)

// verdict is what "run --parity-only --json" prints, as far as the tests look.
type verdict struct {
	Pass           bool
	Method, Proves string
	Prompts, Equal int
	First          struct {
		ID, Field, Why string
		Request        int
		TrainedTokens  []string `json:"trained_tokens"`
	}
}

// parity compares the prompts of a server with the text of the trainer. trained
// says how: the family or file of the template goes last.
func parity(t *testing.T, model, base, file string, flags ...string) verdict {
	t.Helper()
	args := append([]string{"run", file, "--parity-only", "--json", "--model", model, "--base-url", base}, flags...)
	o := assay(t, nil, args...)
	var v verdict
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil {
		t.Fatalf("exit code %d: %v\n%s%s", o.code, err, o.stdout, o.stderr)
	}
	if want := map[bool]int{true: 0, false: 1}[v.Pass]; o.code != want {
		t.Errorf("exit code %d, want %d", o.code, want)
	}
	return v
}

// trainer returns the flags that name the template and the tokenizer of the tiny
// model.
func trainer(t *testing.T) []string {
	dir := setting(t, "ASSAY_E2E_TINY")
	return []string{"--template", filepath.Join(dir, "chat_template.jinja"), "--tokenizer", filepath.Join(dir, "tokenizer.json")}
}

func TestParity(t *testing.T) {
	file := goldFile(t, gold)
	ollama := server(t)
	llama := llamacpp(t)[0]
	for _, tt := range []struct {
		name, model, base string
		flags             []string
		method            string
		field, why        string // of the first difference, "" where all is equal
	}{
		{"llama.cpp, rows and native calls", "openai/tiny", llama, []string{"--calls", "native", "--projection", "full"}, "tokens", "", ""},
		{"llama.cpp, action-only rows and empty observations", "openai/tiny", llama, []string{"--calls", "native", "--observe", "empty"}, "tokens", "", ""},
		{"llama.cpp, guided", "openai/tiny", llama, []string{"--calls", "native", "--flow", "guided", "--projection", "full"}, "tokens", "frame", "--parallel each"},
		{"llama.cpp, messages in prompt mode", "openai/tiny", llama, []string{"--parity-against", "messages"}, "tokens", "", ""},
		{"llama.cpp, action-only rows and gold observations", "openai/tiny", llama, []string{"--calls", "native"}, "tokens", "frame", "--observe empty"},
		{"llama.cpp, tools in the wrong place", "openai/tiny", llama, []string{"--projection", "full"}, "tokens", "system", "--calls native"},
		{"llama.cpp, another family's template", "openai/tiny", llama, []string{"--calls", "native", "--projection", "full", "--template", "qwen2.5"}, "tokens", "frame", ""},
		{"Ollama, messages in prompt mode", "ollama/tiny", ollama, []string{"--parity-against", "messages"}, "text", "", ""},
		{"Ollama, messages of a guided flow", "ollama/tiny", ollama, []string{"--parity-against", "messages", "--flow", "guided"}, "text", "", ""},
		// Ollama writes tools by Go's rules, without blanks and with keys in
		// another order.
		{"Ollama, rows and native calls", "ollama/tiny", ollama, []string{"--calls", "native", "--projection", "full"}, "text", "tool", "words tools"},
		{"Ollama's other protocol, messages", "openai/tiny-long", ollama + "/v1", []string{"--parity-against", "messages"}, "counts", "", ""},
		{"Ollama's other protocol, rows", "openai/tiny-long", ollama + "/v1", []string{"--projection", "full"}, "counts", "count", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := parity(t, tt.model, tt.base, file, append(trainer(t), tt.flags...)...)
			if v.Method != tt.method || v.Pass != (tt.field == "") || v.First.Field != tt.field || !strings.Contains(v.First.Why, tt.why) || v.Prompts < 7 {
				t.Errorf("%+v; want the first difference by %s in %q, because %q", v, tt.method, tt.field, tt.why)
			}
			if tt.field != "" && tt.method != "counts" && len(v.First.TrainedTokens) == 0 {
				t.Error("the difference shows no tokens")
			}
		})
	}
}

// One number in one of thirty schemas that the server writes anew is found, with
// the tokens around it.
func TestParityFindsOneNumber(t *testing.T) {
	odd := strings.Replace(record("odd", [2]string{"What is the weather in Paris?", paris}), `"place":{"type":"string"}`, `"place":{"type":"number","default":20.0}`, 1)
	file := goldFile(t, numbered(14)+odd)
	v := parity(t, "openai/tiny", llamacpp(t)[0], file, append(trainer(t), "--calls", "native", "--projection", "full")...)
	if v.Pass || v.First.ID != "e2e/odd" || v.First.Field != "tool_schema" || v.Prompts-v.Equal != 2 || len(v.First.TrainedTokens) == 0 || v.First.TrainedTokens[0] != "." {
		t.Errorf("%+v; want the two prompts of e2e/odd to differ at the fraction of 20.0", v)
	}
}

func TestParityNeedsTheRightTemplateAndServer(t *testing.T) {
	file := goldFile(t, gold)
	o := assay(t, nil, "run", file, "--parity-only", "--model", "openai/tiny-long", "--base-url", server(t)+"/v1", "--template", "qwen3")
	if o.code != 2 || !strings.Contains(o.stderr, "--tokenizer") {
		t.Errorf("counts without a tokenizer: exit code %d\n%s", o.code, o.stderr)
	}
	o = assay(t, nil, "run", file, "--parity-only", "--model", "ollama/nobody", "--base-url", server(t), "--template", "qwen3")
	if o.code != 5 || !strings.Contains(o.stderr, "nobody") {
		t.Errorf("an unknown model: exit code %d\n%s", o.code, o.stderr)
	}
}
