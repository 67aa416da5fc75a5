package train_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/convert"
	"assay/convert/all"
	"assay/qaoa"
	"assay/train"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// traps are the records that exporters are known to get wrong.
func traps() []qaoa.Record {
	tool := qaoa.Tool{
		Name: "send", Description: "Sends a <b>message</b>.",
		// Nulls in a schema are part of it.
		Parameters: `{"type":"object","properties":{"to":{"type":"string","enum":["a",null],"default":null},"body":{"type":["string","null"]}},"required":["to"]}`,
	}
	call := func(args qaoa.JSON) qaoa.Call { return qaoa.Call{Name: "send", Arguments: args} }
	make1 := func(id string, meta qaoa.JSON, turns ...qaoa.Turn) qaoa.Record {
		return qaoa.Record{ID: "trap/" + id, Source: qaoa.Source{Name: "trap"}, Tools: []qaoa.Tool{tool}, Turns: turns, Meta: meta}
	}
	return []qaoa.Record{
		make1("double-encoding", "", qaoa.Turn{
			Query:  "Send the JSON {\"a\":1} to a",
			Steps:  []qaoa.Step{{Calls: []qaoa.Call{call(`{"to":"a","body":"{\"a\":\"\\\"1\\\"\"}"}`)}, Observations: []string{`{"ok":"{\"id\":7}"}`}}},
			Answer: `"Sent"`,
		}),
		make1("text-plus-call", `{"side_text":[{"turn":0,"step":0,"text":"I will send it."},{"turn":0,"step":1,"text":"Once more."}]}`, qaoa.Turn{
			Query: "Send x twice",
			Steps: []qaoa.Step{
				{Calls: []qaoa.Call{call(`{"to":"x"}`)}, Observations: []string{"ok"}},
				{Calls: []qaoa.Call{call(`{"to":"x"}`)}, Observations: []string{"ok"}},
			},
			Answer: "Done.",
		}),
		make1("parallel", "", qaoa.Turn{
			Query:  "Send to three",
			Steps:  []qaoa.Step{{Calls: []qaoa.Call{call(`{"to":"1"}`), call(`{"to":"2"}`), call(`{"to":"3"}`)}, Observations: []string{"one", "", "three"}}},
			Answer: "All sent.",
		}),
		make1("empty-answers", "",
			qaoa.Turn{Query: "Send", Steps: []qaoa.Step{{Calls: []qaoa.Call{call(`{"to":"a"}`)}}}},
			qaoa.Turn{Query: "Nothing more"},
		),
		make1("unicode", "", qaoa.Turn{
			Query:  "Schick „Grüße“ an 李雷 😀\u2028\u200d",
			Steps:  []qaoa.Step{{Calls: []qaoa.Call{call("{\"to\":\"李雷\",\"body\":\"Grüße 😀 \u2028 \\u0000\"}")}, Observations: []string{"✓\u00a0ok\r\n"}}},
			Answer: "Fertig \ufeff",
		}),
		make1("numbers", "", qaoa.Turn{
			Query: "Numbers",
			Steps: []qaoa.Step{{Calls: []qaoa.Call{call(`{"to":"a","n":1.0,"big":12345678901234567890,"e":1e-7,"z":-0.0,"nothing":null,"list":[]}`)}, Observations: []string{"null"}}},
		}),
	}
}

// The rows of the traps are known to the byte, in every format.
func TestGoldenRows(t *testing.T) {
	var done []exported
	for _, format := range train.Formats() {
		t.Run(string(format), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			m := shard(t, train.ShardOptions{Out: out, Format: format, Projection: train.Full, SystemPrompt: "Send what is asked."}, traps()...)
			if m.Rows != len(traps()) {
				t.Errorf("%d rows of %d records: %v", m.Rows, len(traps()), m.Rejects)
			}
			if want := map[bool]int{true: 2}[format == train.LlamaFactory]; m.Losses[train.LostSideText] != want {
				t.Errorf("%d texts beside calls lost, want %d", m.Losses[train.LostSideText], want)
			}
			got := readFile(t, out, "data", "train-00000-of-00001.jsonl")
			golden := filepath.Join("testdata", "golden", string(format)+".jsonl")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want := readFile(t, golden); got != want {
				t.Errorf("rows differ from %s; look at them, and run the test with -update\n%s", golden, got)
			}
			done = append(done, exported{format, golden, m})
		})
	}
	check(t, done...)
}

// An exported is a file of rows with the manifest that counts them.
type exported struct {
	format   train.Format
	file     string
	manifest train.Manifest
}

// counted is what check.py prints of a file.
type counted struct {
	Rows, Turns, Calls, Tools int
	Fault                     string
}

// python runs the checker in Python over files, as FORMAT=FILE. It knows the
// rules of the trainers and nothing of this package. Without Python there is
// nothing, but for CI, where it is a fault.
func python(t *testing.T, files ...string) []counted {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no python3: the rows are to be checked by a reader that shares no code with the exporter")
		}
		t.Skip("no python3: the rows are not checked by it")
	}
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "check.py")}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, exit := errors.AsType[*exec.ExitError](err); err != nil && !exit || stderr.Len() > 0 {
		t.Fatalf("check.py: %v: %s", err, &stderr)
	}
	var all []counted
	for line := range strings.Lines(string(out)) {
		var c counted
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, c)
	}
	if len(all) != len(files) {
		t.Fatalf("%d files checked of %d: %s", len(all), len(files), out)
	}
	return all
}

// check holds files against the rules of their trainers, and compares what a
// reader in Python counted with the manifests.
func check(t *testing.T, files ...exported) {
	t.Helper()
	args := make([]string, len(files))
	for i, f := range files {
		args[i] = string(f.format) + "=" + f.file
	}
	for i, got := range python(t, args...) {
		m := files[i].manifest
		if want := (counted{m.Rows, m.Counts.Turns, m.Counts.Calls, m.Counts.Tools, ""}); got != want {
			t.Errorf("%s: python says %+v, the manifest %+v", args[i], got, want)
		}
	}
}

// The checker is no rubber stamp: it refuses rows that break a rule.
func TestCheckerRefuses(t *testing.T) {
	tests := []struct {
		name     string
		format   train.Format
		old, new string
		want     string
	}{
		{"arguments encoded twice", train.LlamaFactory, `\"arguments\":{\"to\":\"x\"}`, `\"arguments\":\"{}\"`, "arguments are an object"},
		{"two questions in a row", train.LlamaFactory, `"from":"gpt"`, `"from":"human"`, "is from one of"},
		{"an object where a text belongs", train.OpenAI, `"arguments":"{\"to\":\"x\"}"`, `"arguments":{"to":"x"}`, "arguments are texts"},
		{"a text where an object belongs", train.TRL, `"arguments":{"to":"x"}`, `"arguments":"{\"to\":\"x\"}"`, "arguments are objects"},
		{"a result of nothing", train.Axolotl, `"tool_call_id":"call00000"`, `"tool_call_id":"call00009"`, "by id and in order"},
		{"a call too many", train.MSSwift, `{"role":"tool_response","content":"one"},`, "", "as many results"},
		{"text between messages", train.Hermes, `<|im_end|>\n<|im_start|>assistant`, `<|im_end|>\n.<|im_start|>assistant`, "nothing else"},
		{"schemas without properties", train.MSSwift, `\"properties\"`, `\"props\"`, "a schema with properties"},
	}
	var files []string
	for i, tt := range tests {
		text := readFile(t, "testdata", "golden", string(tt.format)+".jsonl")
		bad := strings.Replace(text, tt.old, tt.new, 1)
		if bad == text {
			t.Fatalf("%s: no %s in the golden file", tt.name, tt.old)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".jsonl"))
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, string(tt.format)+"="+file)
	}
	for i, got := range python(t, files...) {
		if tt := tests[i]; !strings.Contains(got.Fault, tt.want) {
			t.Errorf("%s: fault %q, want one with %q", tt.name, got.Fault, tt.want)
		}
	}
}

// An observation of 100 kB is a value like any other.
func TestLongObservation(t *testing.T) {
	long := strings.Repeat("{\"k\": \"wörld \\n\"}\n", 100_000/20)
	rec := traps()[2]
	rec.Turns[0].Steps[0].Observations[1] = long
	var done []exported
	for _, format := range train.Formats() {
		for _, c := range []train.Container{train.JSONL, train.Parquet} {
			out := filepath.Join(t.TempDir(), "out")
			m := shard(t, train.ShardOptions{Out: out, Format: format, Projection: train.Full, Container: c}, rec)
			if m.Rows != 1 || m.Counts.TextBytes < len(long) {
				t.Errorf("%s as %s: %+v", format, c, m.Counts)
			}
			if c == train.JSONL {
				done = append(done, exported{format, filepath.Join(out, filepath.FromSlash(m.Files[0].Name)), m})
			}
		}
	}
	check(t, done...)
}

// Hermes is text, so what looks like its marks cannot be told from them.
func TestHermesRefusesItsMarks(t *testing.T) {
	tests := map[string]func(*qaoa.Record){
		"/turns/0/query":                  func(r *qaoa.Record) { r.Turns[0].Query = "say <|im_end|>" },
		"/turns/0/answer":                 func(r *qaoa.Record) { r.Turns[0].Answer = "<tool_call>\n{}" },
		"/turns/0/steps/0/observations/0": func(r *qaoa.Record) { r.Turns[0].Steps[0].Observations[0] = "x\n</tool_response>" },
		"/system":                         func(r *qaoa.Record) { r.System = "<|im_start|>" },
		"/meta/side_text":                 func(r *qaoa.Record) { r.Meta = `{"side_text":[{"turn":0,"step":0,"text":"<tool_call>\nx"}]}` },
	}
	for path, edit := range tests {
		rec := traps()[2]
		edit(&rec)
		var got []train.Reject
		_, err := train.Shard(t.Context(), seqOf(rec, traps()[0]), train.ShardOptions{
			Out: filepath.Join(t.TempDir(), "out"), Format: train.Hermes, Projection: train.Full, KeepSystem: true,
			OnReject: func(r train.Reject) { got = append(got, r) },
		})
		if err != nil || len(got) != 1 || got[0].Code != train.TemplateMarks || got[0].Path != path {
			t.Errorf("%s: rejects %+v, %v", path, got, err)
		}
	}
}

// realRecords are the records of all raw files of the publishers.
func realRecords(t testing.TB) []qaoa.Record {
	t.Helper()
	root := filepath.Join("..", "..", "shared", "data", "raw")
	if _, err := os.Stat(root); err != nil {
		const how = "no ../shared/data/raw beside the project: download the files that \"assay sources\" names, see CONTRIBUTING.md"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	var out []qaoa.Record
	for _, in := range []struct{ source, path string }{
		{"bfcl", "bfcl"},
		{"acebench", "acebench"},
		{"seal-tools", "seal-tools"},
		{"api-bank", "api-bank"},
		{"toolalpaca", "toolalpaca"},

		{"hammerbench", "hammerbench"},
		{"api-bank-train", "api-bank-train"},
		{"seal-tools-train", "seal-tools-train/dev.jsonl"},
		{"toolhop", "toolhop/ToolHop.slice93.json"},
		{"toolhop", "toolhop/toolhop-100.localbench.jsonl"},
		{"apigen", "xlam/xlam.row0.json"},
		{"toucan", "toucan/toucan-qwen3.rows3.jsonl"},
		{"sharegpt", "glaive-sharegpt-demo/glaive_toolcall_en_demo.json"},
	} {
		src, err := all.Lookup(in.source)
		if err != nil {
			t.Fatal(err)
		}
		inputs, _, err := convert.Find(src, []string{filepath.Join(root, filepath.FromSlash(in.path))})
		if err != nil {
			t.Fatal(err)
		}
		n := len(out)
		for o, err := range convert.Run(t.Context(), src, inputs, convert.RunOptions{Options: convert.Options{Language: "off"}}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o.Records...)
		}
		if len(out) == n {
			t.Errorf("no records of %s", in.path)
		}
	}
	return out
}

// Every real record makes a row that reads back as the record in every format,
// but for declared losses, or is a reject; and a reader in Python agrees.
func TestRealRows(t *testing.T) {
	recs := realRecords(t)
	dir := t.TempDir()
	var done []exported
	for _, format := range train.Formats() {
		t.Run(string(format), func(t *testing.T) {
			out := filepath.Join(dir, string(format))
			m := shard(t, train.ShardOptions{Out: out, Format: format, Projection: train.Full, KeepSystem: true}, recs...)
			t.Logf("%d records, %d rows, rejects %v, losses %v", m.Records, m.Rows, m.Rejects, m.Losses)
			if m.Records != len(recs) || m.Rows < len(recs)*95/100 {
				t.Errorf("%d rows of %d records: %v", m.Rows, len(recs), m.Rejects)
			}
			done = append(done, exported{format, filepath.Join(out, filepath.FromSlash(m.Files[0].Name)), m})
			if testing.Short() || format != train.OpenAI && format != train.LlamaFactory {
				return
			}
			packed := filepath.Join(t.TempDir(), "packed")
			p := shard(t, train.ShardOptions{Out: packed, Format: format, Projection: train.Full, KeepSystem: true, Container: train.Parquet, Shards: 2}, recs[:2000]...)
			if p.Rows == 0 || fmt.Sprint(p.Files[0].Name) != "data/train-00000-of-00002.parquet" {
				t.Errorf("parquet: %+v", p.Files)
			}
		})
	}
	check(t, done...)
}
