package chat_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and read the diff\n%s", name, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: have %q\n          want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// show writes a rendering with its spans and notes.
func show(r chat.Rendered) string {
	var b strings.Builder
	b.WriteString(r.Text)
	if !strings.HasSuffix(r.Text, "\n") {
		b.WriteString("⏎\n")
	}
	for _, s := range r.Spans {
		text := r.Text[s.Start:s.End]
		if len(text) > 60 {
			text = text[:24] + "…" + text[len(text)-24:]
		}
		fmt.Fprintf(&b, "· %d-%d %s %d.%d %q\n", s.Start, s.End, s.Field, s.Message, s.Item, text)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "· note: %s\n", n)
	}
	return b.String()
}

func builtin(t testing.TB, name string) *chat.Template {
	t.Helper()
	tpl, err := chat.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// TestFamilies holds the text and the spans of every hand-written family on
// every conversation.
func TestFamilies(t *testing.T) {
	for _, name := range chat.Builtins() {
		t.Run(name, func(t *testing.T) {
			tpl := builtin(t, name)
			var b strings.Builder
			for _, c := range conversations {
				fmt.Fprintf(&b, "==== %s\n", c.name)
				r, err := tpl.Render(c.c, chat.Options{AddGenerationPrompt: strings.HasPrefix(c.name, "ends with replies") || c.name == "question"})
				if err != nil {
					fmt.Fprintf(&b, "· error: %v\n", err)
					continue
				}
				b.WriteString(show(r))
			}
			golden(t, name+".golden", b.String())
		})
	}
}

// TestQwen3IsJinjas holds the hand-written Qwen3 against what Jinja 3.1.2 makes
// of the template that the model ships: testdata/qwen3.json, which
// testdata/oracle.py writes.
func TestQwen3IsJinjas(t *testing.T) {
	var variables strings.Builder
	variables.WriteString("{")
	for i, c := range conversations {
		text, err := chat.VariablesJSON(c.c)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			variables.WriteString(",")
		}
		fmt.Fprintf(&variables, "\n%q: %s", c.name, text)
	}
	variables.WriteString("\n}\n")
	golden(t, "conversations.json", variables.String())
	if *update {
		return // testdata/oracle.py goes on from here
	}

	var oracle struct {
		Want map[string]struct {
			Text, Prompt string
			NoThinking   string `json:"no_thinking"`
		}
	}
	data, err := os.ReadFile("testdata/qwen3.json")
	if err == nil {
		err = json.Unmarshal(data, &oracle)
	}
	if err != nil {
		t.Fatal(err)
	}
	tpl := builtin(t, "qwen3")
	no := false
	for _, c := range conversations {
		want, ok := oracle.Want[c.name]
		if !ok {
			t.Fatalf("%s: not in qwen3.json: run testdata/oracle.py", c.name)
		}
		for _, tt := range []struct {
			opt  chat.Options
			want string
		}{
			{chat.Options{}, want.Text},
			{chat.Options{AddGenerationPrompt: true}, want.Prompt},
			{chat.Options{AddGenerationPrompt: true, EnableThinking: &no}, want.NoThinking},
		} {
			r, err := tpl.Render(c.c, tt.opt)
			if err != nil || r.Text != tt.want {
				t.Errorf("%s: %v\n%s", c.name, err, firstDifference(r.Text, tt.want))
			}
		}
	}
}
