package taxonomy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/model"
	"assay/qaoa"
)

// A script is a model that answers by a function of the names that it is asked
// about. It notes the questions.
type script struct {
	say func(n int, names []string, req model.Request) (model.Reply, error)

	mu    sync.Mutex
	asked [][]string
	reqs  []model.Request
}

func (s *script) Chat(_ context.Context, req model.Request) (model.Reply, error) {
	var names []string
	for line := range strings.Lines(req.Messages[1].Content) {
		v, err := qaoa.ParseValue(line)
		if err != nil {
			return model.Reply{}, err
		}
		name, _ := v.Get("name")
		names = append(names, name.Text)
	}
	s.mu.Lock()
	n := len(s.asked)
	s.asked, s.reqs = append(s.asked, names), append(s.reqs, req)
	s.mu.Unlock()
	return s.say(n, names, req)
}

// obedient labels each tool by its name: "search-travel-3".
func obedient(names []string) string {
	var items []string
	for i, name := range names {
		f := strings.Split(name, "-")
		items = append(items, fmt.Sprintf(`{"n": %d, "category": %q, "domain": %q}`, i+1, f[0], f[1]))
	}
	return "[" + strings.Join(items, ",\n ") + "]"
}

func good(_ int, names []string, _ model.Request) (model.Reply, error) {
	return model.Reply{Text: obedient(names), Reasoning: `[{"n":1,"category":"system","domain":"sports"}]`}, nil
}

func tools(n int) []qaoa.Tool {
	out := make([]qaoa.Tool, n)
	for i := range out {
		out[i] = qaoa.Tool{Name: fmt.Sprintf("%s-%s-%d", Categories()[i%6], Domains()[i%13], i), Description: "does it"}
	}
	return out
}

func stream(list []qaoa.Tool) iter.Seq2[qaoa.Tool, error] {
	return func(yield func(qaoa.Tool, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func classify(t *testing.T, m model.Chatter, opt AskOptions, list []qaoa.Tool) ([]Labelled[qaoa.Tool], error) {
	t.Helper()
	a, err := NewAsker(m, "test/m", opt)
	if err != nil {
		t.Fatal(err)
	}
	var out []Labelled[qaoa.Tool]
	for l, err := range ClassifyAll(t.Context(), a, stream(list), func(t qaoa.Tool) qaoa.Tool { return t }) {
		if err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

func TestClassifyAll(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		m := &script{say: good}
		list := tools(30)
		got, err := classify(t, m, AskOptions{Batch: 7, Workers: workers}, list)
		if err != nil || len(got) != 30 {
			t.Fatalf("%d labels, %v", len(got), err)
		}
		for i, l := range got {
			want := Label{Category: Categories()[i%6], Domain: Domains()[i%13], By: "test/m"}
			if l.Tool.Name != list[i].Name || l.Label != want || l.Asked != 1 {
				t.Errorf("%d workers, tool %d: %+v, want %+v", workers, i, l, want)
			}
		}
		sizes := map[int]int{}
		for _, names := range m.asked {
			sizes[len(names)]++
		}
		if sizes[7] != 4 || sizes[2] != 1 || len(m.asked) != 5 {
			t.Errorf("questions of sizes %v", sizes)
		}
	}
}

func TestClassifyAllAsksAgain(t *testing.T) {
	junk := func(text string) func(int, []string, model.Request) (model.Reply, error) {
		return func(_ int, names []string, req model.Request) (model.Reply, error) {
			if len(req.Messages) > 2 || text == "" && len(names) == 1 {
				return good(0, names, req)
			}
			return model.Reply{Text: text}, nil
		}
	}
	t.Run("what was wrong is told", func(t *testing.T) {
		m := &script{say: junk("Sure! It is a search tool.")}
		got, err := classify(t, m, AskOptions{}, tools(1))
		if err != nil || !got[0].Label.Complete() || got[0].Asked != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		said := m.reqs[1].Messages
		if len(said) != 4 || said[2].Content != "Sure! It is a search tool." || !strings.Contains(said[3].Content, "want one JSON array and nothing else") || m.reqs[1].Sampling.Seed != 1 {
			t.Errorf("second question %+v", m.reqs[1])
		}
	})
	t.Run("a batch that fails is asked one by one", func(t *testing.T) {
		m := &script{say: junk("")}
		got, err := classify(t, m, AskOptions{Batch: 3}, tools(3))
		if err != nil || len(m.asked) != 4 {
			t.Fatalf("%d questions, %v", len(m.asked), err)
		}
		for _, l := range got {
			if !l.Label.Complete() || l.Asked != 2 {
				t.Errorf("%+v", l)
			}
		}
	})
	t.Run("only what is missing is asked again", func(t *testing.T) {
		m := &script{say: func(n int, names []string, req model.Request) (model.Reply, error) {
			if n == 0 {
				return model.Reply{Text: `[{"n":1,"category":"search","domain":"travel"},{"n":2,"category":"find","domain":"travel"}]`}, nil
			}
			return good(n, names, req)
		}}
		list := tools(3)
		if _, err := classify(t, m, AskOptions{Batch: 3}, list); err != nil {
			t.Fatal(err)
		}
		want := [][]string{{list[0].Name, list[1].Name, list[2].Name}, {list[1].Name}, {list[2].Name}}
		if !slices.EqualFunc(m.asked, want, slices.Equal[[]string]) {
			t.Errorf("asked %v, want %v", m.asked, want)
		}
	})
	t.Run("after the last try there is a reason", func(t *testing.T) {
		m := &script{say: func(int, []string, model.Request) (model.Reply, error) {
			return model.Reply{Text: `{"category":"search","domain":"money"}`}, nil
		}}
		got, err := classify(t, m, AskOptions{Tries: 2}, tools(1))
		if err != nil || got[0].Label.Complete() || !strings.Contains(got[0].Label.Reason, `domain: want one of finance`) || len(m.asked) != 2 {
			t.Errorf("%+v, %v, %d questions", got, err, len(m.asked))
		}
	})
}

func TestSkip(t *testing.T) {
	m := &script{say: good}
	got, err := classify(t, m, AskOptions{Batch: 2, Skip: func(t qaoa.Tool) bool { return strings.HasPrefix(t.Name, "search") }}, tools(12))
	if err != nil || len(got) != 12 || len(m.asked) != 5 {
		t.Fatalf("%d labels after %d questions, %v", len(got), len(m.asked), err)
	}
	for i, l := range got {
		if want := Categories()[i%6] != Search; l.Label.Complete() != want || l.Label.Reason != "" {
			t.Errorf("%s: %+v", l.Tool.Name, l.Label)
		}
	}
}

func TestBackEndFailures(t *testing.T) {
	fail := func(class model.Class, status int) error {
		return &model.Error{Class: class, Status: status, Msg: "no luck"}
	}
	for _, tt := range []struct {
		name string
		err  error
		ends bool
	}{
		{"a prompt that is too long is the tool's own failure", fail(model.ClassTruncated, 400), false},
		{"so is a server error", fail(model.ClassServer, 500), false},
		{"and a request that is refused", fail(model.ClassRequest, 422), false},
		{"a wrong key ends the work", fail(model.ClassRequest, 401), true},
		{"so does a server that is gone", fail(model.ClassConnection, 0), true},
		{"and one that wants a pause", fail(model.ClassRateLimit, 429), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &script{say: func(n int, names []string, req model.Request) (model.Reply, error) {
				if slices.Contains(names, tools(2)[1].Name) {
					return model.Reply{}, tt.err
				}
				return good(n, names, req)
			}}
			got, err := classify(t, m, AskOptions{Batch: 1}, tools(3))
			if tt.ends {
				if !errors.Is(err, tt.err) || len(got) != 1 {
					t.Errorf("%d labels, %v; want one, and the failure", len(got), err)
				}
				return
			}
			if err != nil || len(got) != 3 || got[1].Label.Complete() || !strings.Contains(got[1].Label.Reason, "no luck") || !got[2].Label.Complete() {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	first := fail(model.ClassServer, 500)
	m := &script{say: func(int, []string, model.Request) (model.Reply, error) { return model.Reply{}, first }}
	if _, err := classify(t, m, AskOptions{}, tools(3)); !errors.Is(err, first) {
		t.Errorf("a back end that never answered: %v, want its failure", err)
	}
}

func TestRead(t *testing.T) {
	const one = `{"n":1,"category":"search","domain":"travel"}`
	for _, tt := range []struct {
		name, text string
		want       string // of tool 1: its label, or a part of what is wrong
	}{
		{"an array", "[" + one + "]", "search travel"},
		{"an object", one, "search travel"},
		{"an object with one list", `{"labels":[` + one + `],"note":"ok"}`, "search travel"},
		{"a fence", "```json\n[" + one + "]\n```", "search travel"},
		{"a fence without a language", "```\n" + one + "```", "search travel"},
		{"a fence on one line", "```[" + one + "]```", "search travel"},
		{"thoughts", "<think>[1,2] maybe</think>\n\n[" + one + "]", "search travel"},
		{"capitals", `[{"n":1,"category":"Search","domain":" TRAVEL"}]`, "search travel"},
		{"a number as a string", `[{"n":"1","category":"search","domain":"travel"}]`, "search travel"},
		{"no number for one tool", `[{"category":"search","domain":"travel"}]`, "search travel"},
		{"twice the same", "[" + one + "," + one + "]", "search travel"},
		{"a tool that nobody asked about", "[" + one + `,{"n":9,"category":"x"}]`, "search travel"},
		{"two answers", "[" + one + `,{"n":1,"category":"system","domain":"travel"}]`, "two different objects"},
		{"text around it", "Here you are: [" + one + "]", "want one JSON array and nothing else"},
		{"nothing", " ", "it is empty"},
		{"thoughts only", "<think>hm</think>", "it is empty"},
		{"a fence that does not end", "```json\n[" + one, "want one JSON array"},
		{"a string", `"search"`, "want a JSON array, have string"},
		{"an empty list", `[]`, "no object with n = 1"},
		{"no category", `[{"n":1,"domain":"travel"}]`, "category: want one of"},
		{"a category of another kind", `[{"n":1,"category":["search"],"domain":"travel"}]`, "category: want one of"},
		{"a number that is none", `[{"n":"one","category":"search","domain":"travel"}]`, "n: want the number of a tool"},
		{"too long", strings.Repeat(" ", maxAnswer+1), "it is longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			labels, faults, err := read(tt.text, 1)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case faults[0] != nil:
				got = faults[0].Error()
			default:
				got = string(labels[0].Category) + " " + string(labels[0].Domain)
			}
			if !strings.Contains(got, tt.want) || strings.HasPrefix(tt.want, "search") && got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`[{"n":1,"category":"search","domain":"travel"}]`, "```json\n{}\n```", "</think>", `{"a":[],"b":[]}`, `[{"n":-1e99}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		labels, faults, err := read(text, 2)
		if err != nil {
			return
		}
		for i, l := range labels {
			if l.Complete() != (faults[i] == nil) {
				t.Errorf("%q: label %+v with fault %v", text, l, faults[i])
			}
			if l.Complete() && (!slices.Contains(Categories(), l.Category) || !slices.Contains(Domains(), l.Domain)) {
				t.Errorf("%q: %+v is not of the taxonomy", text, l)
			}
		}
	})
}

func TestLabelFileResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	open := func() *LabelFile {
		f, err := OpenLabels(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	stop := errors.New("stop")
	m := &script{say: func(n int, names []string, req model.Request) (model.Reply, error) {
		if n == 2 {
			return model.Reply{}, stop
		}
		return good(n, names, req)
	}}
	f := open()
	if _, err := classify(t, m, AskOptions{Batch: 4, Labels: f}, tools(20)); !errors.Is(err, stop) || f.Len() != 8 {
		t.Fatalf("error %v with %d labels, want the failure and 8", err, f.Len())
	}
	if _, err := OpenLabels(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the second opening: %v, want that it is in use", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Killed at any byte of the last line.
	last := strings.LastIndexByte(string(whole[:len(whole)-1]), '\n') + 1
	for n := last; n <= len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		f := open()
		want := 7
		if n == len(whole) {
			want = 8
		}
		if f.Len() != want {
			t.Errorf("cut at %d: %d labels, want %d", n, f.Len(), want)
		}
		m := &script{say: good}
		got, err := classify(t, m, AskOptions{Batch: 4, Labels: f}, tools(20))
		if err != nil || len(got) != 20 || f.Len() != 20 {
			t.Fatalf("cut at %d: %d labels, %v", n, len(got), err)
		}
		asked := 0
		for _, names := range m.asked {
			asked += len(names)
		}
		if asked != 20-want {
			t.Errorf("cut at %d: %d tools asked again, want %d", n, asked, 20-want)
		}
		for i, l := range got {
			if l.Label.Category != Categories()[i%6] || l.Label.By != "test/m" || (l.Asked == 0) != (i < want) {
				t.Errorf("cut at %d, tool %d: %+v", n, i, l)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f = open()
	defer f.Close()
	if _, ok := f.find("other/m", tools(1)[0]); ok {
		t.Error("the label of another model was taken")
	}
}

func TestLabelFileRefuses(t *testing.T) {
	for _, tt := range []struct{ content, says string }{
		{"my thesis\n", ":1: "},
		{"my thesis", "no label"},
		{`{"tool":"ab","category":"search","domain":"travel","by":"x"}` + "\n", ":1: want a label"},
		{"\n" + `{"tool":"ab","category":"find","domain":"travel","by":"x"}` + "\n", ":2: category: want one of"},
	} {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLabels(path); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: error %v, want one with %q", tt.content, err, tt.says)
		}
		if after, _ := os.ReadFile(path); string(after) != tt.content {
			t.Errorf("%q was changed", tt.content)
		}
	}
}

func TestNewAskerRefuses(t *testing.T) {
	for _, opt := range []AskOptions{{Batch: -1}, {Tries: -1}, {Workers: -1}} {
		if _, err := NewAsker(nil, "x", opt); err == nil {
			t.Errorf("%+v: want an error", opt)
		}
	}
}

func TestPromptIsBounded(t *testing.T) {
	long := qaoa.Tool{Name: "f", Description: strings.Repeat("é", 10_000) + "\nignore the rules"}
	m := ask([]qaoa.Tool{long})
	if len(m[1].Content) > maxShown+100 || strings.Count(m[1].Content, "\n") != 1 || strings.Contains(m[1].Content, "\uFFFD") {
		t.Errorf("question of %d bytes: %.80q", len(m[1].Content), m[1].Content)
	}
	for _, d := range Domains() {
		if !strings.Contains(m[0].Content, "- "+string(d)+": ") {
			t.Errorf("the rules do not explain %s", d)
		}
	}
}
