package predfile_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/predfile"
	"assay/qaoa"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dump writes predictions and errors a line each, and the note of the file.
func dump(t *testing.T, b *bytes.Buffer, paths []string, opt predfile.Options) {
	t.Helper()
	opt.Note = func(n predfile.FileNote) {
		fmt.Fprintf(b, "%s: form %q, %d predictions, %d bad, %d unanswered, %d joined %q", n.File, n.Format, n.Predictions, n.Bad, n.Unanswered, n.Joined, n.Examples)
		if n.Skipped != "" {
			fmt.Fprintf(b, ", left out: %s", n.Skipped)
		}
		b.WriteByte('\n')
	}
	for p, err := range predfile.Read(t.Context(), paths, opt) {
		if err == nil {
			fmt.Fprintln(b, line(p))
			continue
		}
		kind := "END"
		if predfile.Skippable(err) {
			kind = "SKIP"
		}
		if _, ok := errors.AsType[*predfile.UnansweredError](err); ok {
			kind = "UNANSWERED"
		}
		fmt.Fprintln(b, kind, err)
	}
}

// line writes a prediction so that a reader sees turns {}, steps () and calls.
func line(p qaoa.Prediction) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s repeat %d:", p.ID, p.Repeat)
	for _, t := range p.Turns {
		b.WriteString(" {")
		for _, s := range t.Steps {
			b.WriteString("(")
			for i, c := range s.Calls {
				if i > 0 {
					b.WriteString(", ")
				}
				if c.Raw != "" {
					fmt.Fprintf(&b, "RAW %q", c.Raw)
				} else {
					b.WriteString(c.Name + string(c.Arguments))
				}
			}
			b.WriteString(")")
		}
		if t.Answer != "" {
			fmt.Fprintf(&b, " %q", t.Answer)
		}
		b.WriteString("}")
	}
	return b.String()
}

// TestForms reads a small file of each form and compares what comes out with a
// golden file, which was read line by line when it was made.
func TestForms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) < 10 {
		t.Fatalf("testdata holds %d files, %v", len(files), err)
	}
	var b bytes.Buffer
	for _, f := range files {
		dump(t, &b, []string{f}, predfile.Options{})
		b.WriteByte('\n')
	}
	golden := filepath.Join("testdata", "want.txt")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// read returns what a text holds as lines.
func read(t *testing.T, name, text string, opt predfile.Options) []string {
	t.Helper()
	var got []string
	for p, err := range predfile.ReadFrom(t.Context(), strings.NewReader(text), name, opt) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, line(p))
	}
	return got
}

func TestJoin(t *testing.T) {
	gold := predfile.NewIDs(slices.Values([]string{
		"bfcl/simple_0", "bfcl/java_1", "bfcl/live_simple_0-0-0", "ace/x", "seal/x", "seal/y", "seal/y", "plain", "set/deep/z", "v4/simple_python_9", "s/r_run7",
	}))
	tests := []struct {
		name, id, prefix string
		want             string
	}{
		{"an exact id stays", "ace/x", "", "ace/x repeat 0:"},
		{"an exact id stays under a prefix", "ace/x", "seal", "ace/x repeat 0:"},
		{"a tail joins", "simple_0", "", "bfcl/simple_0 repeat 0:"},
		{"a tail joins from another head", "BFCL_v3/simple_0", "", "bfcl/simple_0 repeat 0:"},
		{"a tail begins at the first slash", "deep/z", "", "set/deep/z repeat 0:"},
		{"a gold id that is there twice is one", "y", "", "seal/y repeat 0:"},
		{"a tail of two gold ids joins neither", "x", "", `f.jsonl:1: record 0: /id: the id "x" fits 2 gold ids, "ace/x" and "seal/x" among them; give the prefix that tells them apart`},
		{"a prefix tells them apart", "x", "seal", "seal/x repeat 0:"},
		{"a slash at the end of a prefix does no harm", "x", "seal/", "seal/x repeat 0:"},
		{"a name of version 4 joins that of version 3", "simple_java_1", "", "bfcl/java_1 repeat 0:"},
		{"also with a head", "BFCL_v4/simple_python_0", "", "bfcl/simple_0 repeat 0:"},
		{"also under a prefix", "simple_python_0", "bfcl", "bfcl/simple_0 repeat 0:"},
		{"but not where gold has version 4", "simple_python_9", "", "v4/simple_python_9 repeat 0:"},
		{"a run at the end is a repeat", "simple_0_run3", "", "bfcl/simple_0 repeat 2:"},
		{"but not if gold has it", "s/r_run7", "", "s/r_run7 repeat 0:"},
		{"run 0 is before the first", "simple_0_run0", "", `f.jsonl:1: record 0: /id: the id "simple_0_run0" says run 0; runs in ids are counted from 1`},
		{"an unknown id stays", "who", "", "who repeat 0:"},
		{"an unknown id with a run stays", "who_run2", "", "who_run2 repeat 0:"},
		{"an unknown id gets the prefix", "who", "bfcl", "bfcl/who repeat 0:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf(`{"id":%s,"turns":[]}`, qaoa.Quote(tt.id))
			got := read(t, "f.jsonl", text, predfile.Options{IDs: gold, Prefix: tt.prefix})
			if len(got) != 1 || got[0] != tt.want {
				t.Errorf("id %q, prefix %q: %q, want %q", tt.id, tt.prefix, got, tt.want)
			}
		})
	}
}

func TestWithoutGoldIDsOnlyThePrefixIsAdded(t *testing.T) {
	got := read(t, "f.jsonl", `{"id":"simple_python_0_run2","calls":[]}`+"\n"+`{"id":"bfcl/b","calls":[]}`, predfile.Options{Prefix: "bfcl"})
	if diff := cmp.Diff([]string{"bfcl/simple_python_0_run2 repeat 0: {}", "bfcl/b repeat 0: {}"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatsOfFiles(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  []int
	}{
		{"runs count from 1", []string{"m_run1.jsonl", "m_run2.json.gz.jsonl"}, []int{0, 1}},
		{"runs count from 0 if one says so", []string{"m_run0.jsonl", "m_run1.jsonl"}, []int{0, 1}},
		{"no run is the first", []string{"m.jsonl", "m_runs.jsonl"}, []int{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for _, f := range tt.files {
				paths = append(paths, filepath.Join(dir, f))
				if err := os.WriteFile(paths[len(paths)-1], []byte(`{"id":"a","turns":[]}`+"\n"+`{"id":"a","turns":[],"repeat":5}`+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var got []int
			for p, err := range predfile.Read(t.Context(), paths, predfile.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, p.Repeat)
			}
			want := []int{tt.want[0], 5, tt.want[1], 5}
			if !slices.Equal(got, want) {
				t.Errorf("repeats %v, want %v: what an element says wins", got, want)
			}
		})
	}
}

func TestToolsNamePositionalArguments(t *testing.T) {
	opt := predfile.Options{
		Prefix: "bfcl",
		Tools: func(id string) []qaoa.Tool {
			if id != "bfcl/m" {
				return nil
			}
			return []qaoa.Tool{{Name: "sort", Parameters: `{"type":"object","properties":{"file_name":{"type":"string"}}}`}}
		},
	}
	got := read(t, "f", `{"id":"m","result":[["sort('a.txt')"]]}`+"\n"+`{"id":"n","result":[["[sort('a.txt')]"]]}`, opt)
	want := []string{`bfcl/m repeat 0: {(sort{"file_name":"a.txt"})}`, `bfcl/n repeat 0: {(RAW "[sort('a.txt')]")}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestForcedForm(t *testing.T) {
	const text = `{"id":"a","result":"x","text":"[f(a=1)]"}`
	for _, tt := range []struct {
		form predfile.Format
		want string
	}{
		{"", `a repeat 0: {(RAW "x") "x"}`},
		{predfile.Text, `a repeat 0: {(f{"a":1})}`},
		{predfile.Chat, `f:1: record 0: /choices: want "choices", or "messages" with those of an assistant, have neither`},
		{predfile.Assay, `f:1: record 0: want a member "turns" (or "calls"), have none`},
		{predfile.Inspect, `f:1: record 0: /messages: want messages of an assistant, or an output with choices, have neither`},
	} {
		if tt.form == "" {
			tt.want = `a repeat 0: { "x"}`
		}
		got := read(t, "f", text, predfile.Options{Format: tt.form})
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("form %q: %q, want %q", tt.form, got, tt.want)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range predfile.Formats() {
		if got, err := predfile.ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	if got, err := predfile.ParseFormat("auto"); err != nil || got != "" {
		t.Errorf("ParseFormat(auto) = %q, %v", got, err)
	}
	if _, err := predfile.ParseFormat("csv"); err == nil || !strings.Contains(err.Error(), "auto, assay, plain, bfcl, batch, chat, evalscope, inspect, text") {
		t.Errorf("ParseFormat(csv): %v, want the list of forms", err)
	}
}
