//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"assay/model"
	"assay/model/ollama"
)

// The model calls get_weather(city=Paris) after a query, and answers after a
// response; in a guided flow it is asked for one gold call after the other.
func TestGuidedFlow(t *testing.T) {
	file := goldFile(t, gold)
	for _, tt := range []struct {
		name, model string
		flags       []string
	}{
		{"prompt", "ollama/tiny", []string{"--flow", "guided"}},
		{"prompt, gold history", "ollama/tiny", []string{"--flow", "guided", "--history", "gold"}},
		{"native", "ollama/tiny", []string{"--flow", "guided", "--calls", "native"}},
		{"native, the other protocol", "openai/tiny-long", []string{"--flow", "guided", "--calls", "native"}},
		{"the reference's requests", "ollama/tiny", []string{"--compat", "reference+stop", "--temperature", "0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, o := mustAsk(t, file, tt.model, tt.flags...)
			all, _ := predictions(t, dir)
			calls := byID(all)
			if got := calls["e2e/right"]; got != "get_weather(city=Paris)" {
				t.Errorf("right: %q", got)
			}
			if got := calls["e2e/no-tool"]; got != "" {
				t.Errorf("no-tool: %q; want nothing, it has no slot", got)
			}
			if !strings.Contains(o.stderr, "slots: ") {
				t.Errorf("stderr does not tell of slots:\n%s", o.stderr)
			}
			slots := 0
			for _, p := range all {
				if p.ID == "e2e/two-calls" {
					slots = len(p.Requests)
				}
			}
			if want := 2; slots != want && !strings.HasPrefix(tt.name, "the reference") {
				t.Errorf("two-calls: %d requests; want %d", slots, want)
			}
		})
	}
}

// The server tells what it makes of a request, without asking the model.
func TestRenderedPrompt(t *testing.T) {
	c, err := ollama.New(ollama.Config{Host: server(t), Model: "tiny", NumThread: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.RenderedPrompt(t.Context(), model.Request{Messages: []model.Message{
		{Role: model.System, Content: "Be brief."}, {Role: model.User, Content: "What is the weather in Paris?"},
	}})
	if err != nil || !strings.Contains(got, "Be brief.") || !strings.Contains(got, "<|im_start|>user\nWhat is the weather in Paris?<|im_end|>") {
		t.Errorf("RenderedPrompt = %q, %v", got, err)
	}
}

func TestDoctorProbesARealServer(t *testing.T) {
	o := mustAssay(t, ollamaAt(server(t)), "doctor", "--model", "ollama/tiny", "--num-thread", "1")
	for _, want := range []string{"ok  abilities", "ok  call in text", "ok  call natively", "ok  determinism"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the doctor does not say %q:\n%s", want, o.stdout)
		}
	}
}
