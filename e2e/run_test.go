//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-json"
)

// ask runs "assay run" on a gold file into a new folder and returns the
// folder. model is ollama/NAME or openai/NAME.
func ask(t *testing.T, file, model string, flags ...string) (dir string, o outcome) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	args := append([]string{"run", file, "--out", dir, "--model", model, "--temperature", "0"}, flags...)
	if strings.HasPrefix(model, "openai/") {
		if !slices.Contains(flags, "--base-url") {
			args = append(args, "--base-url", server(t)+"/v1")
		}
		return dir, assay(t, nil, args...)
	}
	return dir, assay(t, ollamaAt(server(t)), args...)
}

// mustAsk is ask for runs that must succeed.
func mustAsk(t *testing.T, file, model string, flags ...string) (dir string, o outcome) {
	t.Helper()
	dir, o = ask(t, file, model, flags...)
	if o.code != 0 {
		t.Fatalf("assay run %s: exit code %d\n%s", model, o.code, o.stderr)
	}
	return dir, o
}

// wantScripted checks that the model's calls arrived as it makes them.
func wantScripted(t *testing.T, dir string) []prediction {
	t.Helper()
	got, _ := predictions(t, dir)
	if calls := byID(got); !maps.Equal(calls, scripted) {
		t.Errorf("predicted calls %v, want %v", calls, scripted)
	}
	return got
}

func TestPromptModeOverBothProtocols(t *testing.T) {
	file := goldFile(t, gold)
	for _, model := range []string{"ollama/tiny", "openai/tiny-long"} {
		t.Run(model, func(t *testing.T) {
			dir, _ := mustAsk(t, file, model)
			for _, p := range wantScripted(t, dir) {
				if p.Turns[0].Answer != "It is sunny in Paris." {
					t.Errorf("%s: answer %q", p.ID, p.Turns[0].Answer)
				}
				for i, r := range p.Requests {
					if want := []string{"calls", "abstained"}[i%2]; r.Class != want || r.Finish != "stop" || r.PromptTokens == 0 {
						t.Errorf("%s: request %d: class %s, finish %s, %d prompt tokens; want %s, stop", p.ID, i, r.Class, r.Finish, r.PromptTokens, want)
					}
				}
				if p.Requests[0].Text != scriptedText {
					t.Errorf("%s: raw text %q, want %q", p.ID, p.Requests[0].Text, scriptedText)
				}
			}
			checkScores(t, dir, file)
		})
	}
}

// cell is one cell of "score --json".
type cell struct {
	N                int
	SP, FP, SPA, FPA float64
}

// scores is what "score --json" prints, as far as the tests look.
type scores struct {
	Coverage struct{ Planned, Answered, Parsed, Scored, Missing int }
	Cells    struct{ SH, MH, ST, MT cell }
	NoGold   struct{ N, Abstained int } `json:"no_gold"`
}

func score(t *testing.T, dir, file string) scores {
	t.Helper()
	o := mustAssay(t, nil, "score", dir, "--gold", file, "--json")
	var s scores
	if err := json.Unmarshal([]byte(o.stdout), &s); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	return s
}

// checkScores compares the scores of the scripted answers to gold with those
// worked out by hand. Of seven single-hop turns six name the right tool and
// four the right city; the multi-hop turn has one call of two.
func checkScores(t *testing.T, dir, file string) {
	t.Helper()
	got := score(t, dir, file)
	for _, c := range []struct {
		name      string
		got, want cell
	}{
		{"SH", got.Cells.SH, cell{7, 6. / 7, 6. / 7, 4. / 7, 4. / 7}},
		{"MH", got.Cells.MH, cell{1, 0, 0.5, 0.5, 0.5}},
		// right, wrong-city, wrong-tool, two-calls
		{"ST", got.Cells.ST, cell{4, 2. / 4, 2.5 / 4, 1.5 / 4, 1.5 / 4}},
		// two-turns has one of two cities, both-right both
		{"MT", got.Cells.MT, cell{2, 1, 1, 1.5 / 2, 1.5 / 2}},
	} {
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if c.got.N != c.want.N || !near(c.got.SP, c.want.SP) || !near(c.got.FP, c.want.FP) ||
			!near(c.got.SPA, c.want.SPA) || !near(c.got.FPA, c.want.FPA) {
			t.Errorf("%s = %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if got.NoGold.N != 1 || got.NoGold.Abstained != 0 {
		t.Errorf("no_gold = %+v, want one turn, in which the model called", got.NoGold)
	}
	if c := got.Coverage; c.Planned != 7 || c.Answered != 7 || c.Missing != 0 {
		t.Errorf("coverage = %+v, want all 7", c)
	}
}

func TestRightCallsScoreOne(t *testing.T) {
	file := goldFile(t, record("right", [2]string{"What is the weather in Paris?", paris}))
	dir, _ := mustAsk(t, file, "ollama/tiny")
	if got, want := score(t, dir, file).Cells.SH, (cell{1, 1, 1, 1, 1}); got != want {
		t.Errorf("SH = %+v, want %+v", got, want)
	}
}

func TestNativeMode(t *testing.T) {
	file := goldFile(t, gold)
	for _, model := range []string{"ollama/tiny", "openai/tiny-long"} {
		t.Run(model, func(t *testing.T) {
			dir, _ := mustAsk(t, file, model, "--calls", "native")
			for _, p := range wantScripted(t, dir) {
				if p.Requests[0].Rung != "native" {
					t.Errorf("%s: the first call came by %q, want native", p.ID, p.Requests[0].Rung)
				}
			}
			checkScores(t, dir, file)
		})
	}
}

func TestConcurrencyChangesNoByte(t *testing.T) {
	file := goldFile(t, gold+numbered(20))
	one, _ := mustAsk(t, file, "ollama/tiny", "--concurrency", "1")
	four, _ := mustAsk(t, file, "ollama/tiny", "--concurrency", "4")
	_, a := predictions(t, one)
	if _, b := predictions(t, four); !bytes.Equal(a, b) {
		t.Error("predictions.jsonl differs between one request at a time and four")
	}
}

func TestLongPromptGetsALongContext(t *testing.T) {
	// More than the server takes by itself, which is 4096 tokens.
	file := goldFile(t, long(22_000))
	dir, _ := mustAsk(t, file, "ollama/tiny")
	got, _ := predictions(t, dir)
	if len(got) != 1 || got[0].calls() != "get_weather(city=Paris)" || got[0].Requests[0].PromptTokens <= 4096 {
		t.Errorf("predictions %+v, want the scripted call after more than 4096 prompt tokens", got)
	}
}

func TestShortContextIsRefused(t *testing.T) {
	file := goldFile(t, long(12_000))
	dir, o := ask(t, file, "ollama/tiny", "--num-ctx", "1024")
	if o.code != 5 || !strings.Contains(o.stderr, "truncated") || !strings.Contains(o.stderr, "--num-ctx") {
		t.Errorf("exit code %d, want 5; want stderr to say truncated and --num-ctx:\n%s", o.code, o.stderr)
	}
	wantNoAnswer(t, dir, "e2e/long")
}

func TestTruncatedPromptIsNoAnswer(t *testing.T) {
	// Digits are a token each, so the estimate of the context is too short,
	// and only the server knows.
	text := record("right", [2]string{"What is the weather in Paris?", paris}) + dense(14_000)
	file := goldFile(t, text)
	dir, o := ask(t, file, "ollama/tiny")
	if o.code != 5 || !strings.Contains(o.stderr, "truncated") {
		t.Errorf("exit code %d, want 5; want stderr to say truncated:\n%s", o.code, o.stderr)
	}
	wantNoAnswer(t, dir, "e2e/dense")
	got := score(t, dir, file).Coverage
	if got.Planned != 2 || got.Answered != 1 || got.Missing != 1 {
		t.Errorf("coverage %+v, want 1 of 2 answered and 1 missing", got)
	}
}

// wantNoAnswer checks that a run folder, if there is one, holds no prediction
// for a record.
func wantNoAnswer(t *testing.T, dir, id string) {
	t.Helper()
	if matches, err := filepath.Glob(filepath.Join(dir, "predictions.jsonl")); err != nil || len(matches) == 0 {
		return
	}
	all, _ := predictions(t, dir)
	if calls, ok := byID(all)[id]; ok {
		t.Errorf("%s was counted as answered: %q", id, calls)
	}
}

func TestSeedsDecideWhatIsDrawn(t *testing.T) {
	file := goldFile(t, numbered(3))
	draw := func(seed int) ([]prediction, []byte) {
		dir, _ := mustAsk(t, file, "ollama/tiny-dice", "--temperature", "1", "--seed", fmt.Sprint(seed), "--repeat", "8")
		return predictions(t, dir)
	}
	all, first := draw(7)
	if _, again := draw(7); !bytes.Equal(first, again) {
		t.Error("the same seed gave other predictions")
	}
	if _, other := draw(1000); bytes.Equal(first, other) {
		t.Error("another seed gave the same predictions")
	}
	if len(all) != 24 {
		t.Fatalf("%d predictions, want 3 records times 8", len(all))
	}
	seen := map[string]bool{}
	for _, p := range all[:8] {
		seen[p.calls()] = true
	}
	if len(seen) < 2 {
		t.Errorf("eight repeats of one record all gave %v: they share a seed", seen)
	}
}

func TestBrokenCallIsMalformedNotAbstained(t *testing.T) {
	file := goldFile(t, gold)
	dir, o := mustAsk(t, file, "ollama/tiny-broken")
	got, _ := predictions(t, dir)
	for _, p := range got {
		if c := p.Requests[0].Class; c != "malformed" {
			t.Errorf("%s: class %s, want malformed", p.ID, c)
		}
	}
	s := score(t, dir, file)
	if s.NoGold.Abstained != 0 || s.Coverage.Parsed != 0 || s.Cells.SH.FP != 0 {
		t.Errorf("scores %+v, want no abstention, nothing parsed and no name right", s)
	}
	if !strings.Contains(o.stderr, "unparsable") && !strings.Contains(o.stderr, "parse") {
		t.Errorf("no alarm about text that does not parse:\n%s", o.stderr)
	}
}

func TestEndlessAnswerIsCutAndTold(t *testing.T) {
	file := goldFile(t, numbered(3))
	dir, o := mustAsk(t, file, "ollama/tiny-endless", "--max-tokens", "16")
	got, _ := predictions(t, dir)
	for _, p := range got {
		if f := p.Requests[0].Finish; f != "length" {
			t.Errorf("%s: finish %s, want length", p.ID, f)
		}
	}
	if !strings.Contains(o.stderr, "length") {
		t.Errorf("no alarm about answers that were cut:\n%s", o.stderr)
	}
}

func TestBackEndThatCannotAnswer(t *testing.T) {
	file := goldFile(t, gold)
	base := server(t)
	const nobody = "http://127.0.0.1:1" // no service has this port
	tests := []struct {
		name   string
		env    []string
		flags  []string
		remedy []string // all are said
	}{
		{"an unknown model of Ollama", ollamaAt(base), []string{"--model", "ollama/nobody"}, []string{"nobody", "ollama pull"}},
		{"an unknown model of the other protocol", nil, []string{"--model", "openai/nobody", "--base-url", base + "/v1"}, []string{"nobody"}},
		{"no Ollama", ollamaAt(nobody), []string{"--model", "ollama/tiny"}, []string{"127.0.0.1:1", "ollama serve"}},
		{"no server of the other protocol", nil, []string{"--model", "openai/tiny", "--base-url", nobody + "/v1"}, []string{"127.0.0.1:1", "--base-url"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			o := assay(t, tt.env, append([]string{"run", file, "--out", dir}, tt.flags...)...)
			if o.code != 5 {
				t.Errorf("exit code %d, want 5\n%s", o.code, o.stderr)
			}
			for _, r := range tt.remedy {
				if !strings.Contains(o.stderr, r) {
					t.Errorf("stderr does not say %q:\n%s", r, o.stderr)
				}
			}
			wantNoAnswer(t, dir, "e2e/right")
		})
	}
}
