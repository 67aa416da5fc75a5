//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/embed"
)

// llamacpp returns the base URLs of the servers on llama.cpp, as --base-url takes
// them.
func llamacpp(t *testing.T) []string {
	t.Helper()
	list := os.Getenv("ASSAY_E2E_LLAMACPP")
	if list == "" {
		t.Skip("llama.cpp was left out: run e2e/run.sh without ASSAY_E2E_LLAMACPP=off")
	}
	bases := strings.Split(list, ",")
	for i := range bases {
		bases[i] += "/v1"
	}
	return bases
}

// askLlama asks a model of llama.cpp, and wants success.
func askLlama(t *testing.T, file, model string, flags ...string) (dir string, o outcome) {
	t.Helper()
	return mustAsk(t, file, "openai/"+model, append([]string{"--base-url", llamacpp(t)[0]}, flags...)...)
}

func TestLlamaCppFreeFlow(t *testing.T) {
	file := goldFile(t, gold)
	for mode, rung := range map[string]string{"prompt": "tool_call", "native": "native"} {
		t.Run(mode, func(t *testing.T) {
			dir, _ := askLlama(t, file, "tiny", "--calls", mode)
			for _, p := range wantScripted(t, dir) {
				if p.Turns[0].Answer != "It is sunny in Paris." {
					t.Errorf("%s: answer %q", p.ID, p.Turns[0].Answer)
				}
				if r := p.Requests[0]; !strings.HasPrefix(r.Rung, rung) || r.PromptTokens == 0 {
					t.Errorf("%s: rung %q, %d prompt tokens; want %s", p.ID, r.Rung, r.PromptTokens, rung)
				}
			}
			checkScores(t, dir, file)
		})
	}
}

func TestLlamaCppGuidedFlow(t *testing.T) {
	file := goldFile(t, gold)
	for _, flags := range [][]string{
		{"--calls", "prompt"},
		{"--calls", "native"},
		{"--calls", "native", "--history", "gold"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir, _ := askLlama(t, file, "tiny", append(flags, "--flow", "guided")...)
			all, _ := predictions(t, dir)
			for _, p := range all {
				want := map[string]int{"e2e/right": 1, "e2e/two-calls": 2, "e2e/two-turns": 2, "e2e/no-tool": 0}
				if n, ok := want[p.ID]; ok && len(p.Requests) != n {
					t.Errorf("%s: %d requests, want %d: one for each gold call", p.ID, len(p.Requests), n)
				}
			}
			if s := score(t, dir, file); s.NoGold.Abstained != 1 || s.Coverage.Answered != 7 {
				t.Errorf("scores %+v; want all answered, and none asked without a gold call", s)
			}
		})
	}
}

// A run over two servers, with the number of requests left to find out, predicts
// what one server does asked one at a time.
func TestSeveralServersChangeNoByte(t *testing.T) {
	file := goldFile(t, gold+numbered(30))
	bases := llamacpp(t)
	one, _ := askLlama(t, file, "tiny", "--concurrency", "1")
	_, want := predictions(t, one)
	for _, flags := range [][]string{
		{"--base-url", strings.Join(bases, ","), "--concurrency", "auto"},
		{"--base-url", strings.Join(bases, ","), "--concurrency", "8"},
		{"--base-url", bases[1] + ",http://127.0.0.1:1/v1", "--concurrency", "auto"}, // of which one is down
	} {
		dir, o := mustAsk(t, file, "openai/tiny", flags...)
		if _, got := predictions(t, dir); !bytes.Equal(got, want) {
			t.Errorf("%v: other predictions than one server gives\n%s", flags, o.stderr)
		}
	}
}

func TestLlamaCppDrawsBySeed(t *testing.T) {
	file := goldFile(t, numbered(3))
	draw := func(flags ...string) ([]prediction, []byte) {
		dir, _ := askLlama(t, file, "tiny-dice", append([]string{"--temperature", "1", "--repeat", "8"}, flags...)...)
		return predictions(t, dir)
	}
	all, first := draw("--seed", "7", "--concurrency", "1")
	if _, again := draw("--seed", "7", "--concurrency", "4"); !bytes.Equal(first, again) {
		t.Error("the same seed gave other predictions")
	}
	if _, other := draw("--seed", "1000"); bytes.Equal(first, other) {
		t.Error("another seed gave the same predictions")
	}
	seen := map[string]bool{}
	for _, p := range all[:8] {
		seen[p.calls()] = true
	}
	if len(all) != 24 || len(seen) < 2 {
		t.Errorf("%d predictions, the first record's are %v; want 24, and repeats that differ", len(all), seen)
	}
}

// info is run.json, as far as the tests look.
type info struct {
	Counts struct {
		Replies int `json:"replies"`
		Cached  int `json:"cached_replies"`
	} `json:"counts"`
	Alarms []string `json:"alarms"`
}

func runInfo(t *testing.T, dir string) info {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var i info
	if err := json.Unmarshal(data, &i); err != nil {
		t.Fatal(err)
	}
	return i
}

// What one run asked, the next one takes from the cache; other sampling and
// other protocols ask anew.
func TestResponseCacheOnRealServers(t *testing.T) {
	file, db := goldFile(t, gold), filepath.Join(t.TempDir(), "cache.db")
	for i, tt := range []struct {
		model  string
		flags  []string
		cached bool
	}{
		{"openai/tiny", nil, false},
		{"openai/tiny", nil, true},
		{"openai/tiny", []string{"--max-tokens", "99"}, false},
		{"openai/tiny", []string{"--calls", "native"}, false},
		{"ollama/tiny", nil, false},
		{"ollama/tiny", nil, true},
	} {
		flags := append(tt.flags, "--cache", db)
		if strings.HasPrefix(tt.model, "openai/") {
			flags = append(flags, "--base-url", llamacpp(t)[0])
		}
		dir, _ := mustAsk(t, file, tt.model, flags...)
		wantScripted(t, dir)
		c := runInfo(t, dir).Counts
		if want := map[bool]int{true: c.Replies}[tt.cached]; c.Cached != want || c.Replies == 0 {
			t.Errorf("run %d, %s %v: %d of %d replies came from the cache, want %d", i, tt.model, tt.flags, c.Cached, c.Replies, want)
		}
	}
}

// llama.cpp refuses what does not fit, and a run tells what is known before.
func TestLlamaCppRefusesLongPrompts(t *testing.T) {
	base := llamacpp(t)[0]
	for _, tt := range []struct {
		name, content, id, says string
	}{
		{"a prompt that surely does not fit stops the run before it", long(22_000), "e2e/long", "2048"},
		{"one that the server refuses is no answer", dense(3_000), "e2e/dense", "truncated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, o := ask(t, goldFile(t, tt.content), "openai/tiny-short", "--base-url", base)
			if o.code != 5 || !strings.Contains(o.stderr, tt.says) {
				t.Errorf("exit code %d, want 5; want stderr to say %q:\n%s", o.code, tt.says, o.stderr)
			}
			wantNoAnswer(t, dir, tt.id)
		})
	}
}

// Over the other protocol Ollama cuts prompts to its context in silence. The
// counts give it away.
func TestSilentTruncationRaisesAnAlarm(t *testing.T) {
	var b strings.Builder
	for i := range 6 {
		text := strings.Repeat("the weather of the city and the name of the place ", 140+10*i)
		b.WriteString(record(fmt.Sprintf("cut%d", i), [2]string{text + "What is the weather in Paris?", paris}))
	}
	dir, o := mustAsk(t, goldFile(t, b.String()), "openai/tiny-cut")
	if alarms := strings.Join(runInfo(t, dir).Alarms, "\n"); !strings.Contains(alarms, "cut") && !strings.Contains(alarms, "truncat") {
		t.Errorf("no alarm tells of prompts that were cut: %q\n%s", alarms, o.stderr)
	}
}

// A model that makes the same call for ever ends by the rule of repeats, and is
// scored with the call that it made.
func TestModelThatRepeatsForEver(t *testing.T) {
	file := goldFile(t, record("right", [2]string{"What is the weather in Paris?", paris}))
	for _, mode := range []string{"prompt", "native"} {
		dir, _ := askLlama(t, file, "tiny-again", "--calls", mode)
		all, data := predictions(t, dir)
		if len(all) != 1 || len(all[0].Requests) != 2 || !bytes.Contains(data, []byte(`"repeated":true`)) {
			t.Errorf("%s: %s; want two requests, the second marked as repeated", mode, data)
		}
		if got, want := score(t, dir, file).Cells.SH, (cell{1, 1, 1, 1, 1}); got != want {
			t.Errorf("%s: SH = %+v, want %+v", mode, got, want)
		}
	}
}

func TestVectorsOfLlamaCpp(t *testing.T) {
	src, err := embed.Open("openai:tiny", embed.Options{BaseURL: llamacpp(t)[0], Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	m := rows(t, src, embedTexts)
	if got := cosine(m.Row(0), m.Row(len(embedTexts)-1)); got < 0.9999 {
		t.Errorf("equal texts have a cosine of %v", got)
	}
}

func TestDoctorProbesLlamaCpp(t *testing.T) {
	o := mustAssay(t, nil, "doctor", "--model", "openai/tiny", "--base-url", llamacpp(t)[0])
	for _, want := range []string{"ok  call in text", "ok  call natively", "ok  determinism", "16384"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the doctor does not say %q:\n%s", want, o.stdout)
		}
	}
}

// A key is in nothing that a run against a real server leaves.
func TestKeyIsNowhereOnARealServer(t *testing.T) {
	const key = "sk-e2e-4b7d1f9a2c"
	tmp := t.TempDir()
	file, dir := goldFile(t, gold), filepath.Join(tmp, "run")
	o := mustAssay(t, []string{"OPENAI_API_KEY=" + key}, "run", file, "--out", dir, "--model", "openai/tiny", "--base-url", llamacpp(t)[0], "--cache", filepath.Join(tmp, "cache.db"))
	if strings.Contains(o.stdout+o.stderr, key) {
		t.Errorf("the key was told:\n%s%s", o.stdout, o.stderr)
	}
	files := 0
	err := filepath.WalkDir(tmp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(key)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("looked at %d files, %v", files, err)
	}
}
