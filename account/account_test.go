package account_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/account"
	"assay/convert"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// write puts texts into files of a new folder and returns their paths.
func write(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// summary returns the JSON text of a balance: "filter 10 7 temporal_tool:3".
func summary(text string) string {
	var name string
	var read, converted int
	if _, err := fmt.Sscan(text, &name, &read, &converted); err != nil {
		panic(err)
	}
	var codes []string
	for _, f := range strings.Fields(text)[3:] {
		code, n, _ := strings.Cut(f, ":")
		codes = append(codes, fmt.Sprintf("%q:%s", code, n))
	}
	return fmt.Sprintf(`{"source":%s,"read":%d,"converted":%d,"rejected":%d,"codes":{%s},"calls":1,"turns":{},"conversations":{}}`,
		qaoa.Quote(name), read, converted, read-converted, strings.Join(codes, ",")) + "\n"
}

// ledger returns n lines of a source.
func ledger(source string, stage convert.Stage, code convert.Code, n int) string {
	var b strings.Builder
	for i := range n {
		b.Write(convert.AppendLedger(nil, &convert.Reject{Source: source, Pos: qaoa.Pos{File: "f", Index: i}, Stage: stage, Code: code, Detail: "…"}))
		b.WriteByte('\n')
	}
	return b.String()
}

func read(t *testing.T, texts ...string) account.Account {
	t.Helper()
	a, err := account.Read(t.Context(), write(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// line writes a source as text: read converted kept.
func line(s account.Source) string { return fmt.Sprint(s.Name, " ", s.Read, s.Converted, s.Kept) }

func TestRead(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  []string // lines of sources, then "!" and a word of each note
	}{
		{"nothing", []string{""}, nil},
		{"a summary", []string{summary("bfcl 10 7 empty_turn:3")}, []string{"bfcl 10 7 -1"}},
		{"a ledger alone tells no counts", []string{ledger("bfcl", "convert", "empty_turn", 2)}, []string{"bfcl -1 -1 -1"}},
		{"summaries of shards", []string{summary("toucan 10 7 no_call:3"), summary("toucan 5 5")}, []string{"toucan 15 12 -1"}},
		{"a summary, and the ledger of the filter", []string{summary("bfcl 10 7 empty_turn:3"), ledger("bfcl", "filter", "temporal_tool", 4)}, []string{"bfcl 10 7 3"}},
		{"both, and the filter's summary", []string{summary("bfcl 10 7 empty_turn:3"), summary("filter 7 3 temporal_tool:4"), ledger("bfcl", "filter", "temporal_tool", 4)}, []string{"bfcl 10 7 3"}},
		{"a source of which the filter dropped nothing", []string{summary("bfcl 7 7"), summary("acebench 3 3"), summary("filter 10 6 temporal_tool:4"), ledger("bfcl", "filter", "temporal_tool", 4)}, []string{"bfcl 7 7 3", "acebench 3 3 3"}},
		{"the filter's summary without its ledger", []string{summary("bfcl 7 7"), summary("filter 7 3 temporal_tool:4")}, []string{"bfcl 7 7 -1", "! no ledger tells"}},
		{"the filter's summary with half of its ledger", []string{summary("bfcl 7 7"), summary("filter 7 3 temporal_tool:4"), ledger("bfcl", "filter", "temporal_tool", 2)}, []string{"bfcl 7 7 -1", "! the ledgers hold 2"}},
		{"the filter of other records", []string{summary("bfcl 7 7"), summary("filter 9 9")}, []string{"bfcl 7 7 -1", "! not the same runs"}},
		{"what the filter could not read", []string{summary("bfcl 3 3"), summary("filter 4 3 parse_error:1"), ledger("", "read", "parse_error", 1)}, []string{"bfcl 3 3 3"}},
		{"a ledger of another conversion", []string{summary("bfcl 10 7 empty_turn:3"), ledger("bfcl", "convert", "empty_turn", 2)}, []string{"bfcl 10 7 -1", "! the summaries are shown"}},
		{"more dropped than made", []string{summary("bfcl 1 1"), ledger("bfcl", "filter", "temporal_tool", 2)}, []string{"bfcl 1 1 -1", "! not the same runs"}},
		{
			"the order of Table 5, then names",
			[]string{summary("zebra 1 1"), summary("bfcl 1 1"), summary("ant 1 1"), summary("mathandmagic 1 1"), summary("api-bank-train 1 1")},
			[]string{"api-bank-train 1 1 -1", "mathandmagic 1 1 -1", "bfcl 1 1 -1", "ant 1 1 -1", "zebra 1 1 -1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := read(t, tt.files...)
			var got []string
			for _, s := range a.Sources {
				got = append(got, line(s))
			}
			notes := 0
			for _, w := range tt.want {
				part, isNote := strings.CutPrefix(w, "! ")
				if !isNote {
					continue
				}
				if notes >= len(a.Notes) || !strings.Contains(a.Notes[notes], part) {
					t.Errorf("notes %q, want one with %q", a.Notes, part)
				}
				notes++
			}
			if notes != len(a.Notes) {
				t.Errorf("notes %q, want %d", a.Notes, notes)
			}
			if diff := cmp.Diff(tt.want[:len(tt.want)-notes], got); diff != "" && len(tt.want) > 0 {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCodesComeFromLedgerOrSummary(t *testing.T) {
	a := read(t, summary("bfcl 10 7 empty_turn:2 parse_error:1"))
	want := []account.CodeCount{{Code: "empty_turn", N: 2}, {Code: "parse_error", N: 1}}
	if diff := cmp.Diff(want, a.Sources[0].Converting); diff != "" {
		t.Errorf("without a ledger (-want +got):\n%s", diff)
	}
	a = read(t, summary("bfcl 10 7 empty_turn:2 parse_error:1"), ledger("bfcl", "read", "parse_error", 1)+ledger("bfcl", "convert", "empty_turn", 2)+ledger("bfcl", "dedup", "duplicate", 2))
	want = []account.CodeCount{{Stage: "convert", Code: "empty_turn", N: 2}, {Stage: "read", Code: "parse_error", N: 1}}
	if diff := cmp.Diff(want, a.Sources[0].Converting); diff != "" {
		t.Errorf("with the ledger (-want +got):\n%s", diff)
	}
	if s := a.Sources[0]; s.Kept != 5 || len(s.Filtering) != 1 {
		t.Errorf("kept %d, %v; want 5 after two duplicates", s.Kept, s.Filtering)
	}
}

func TestPaperNumbers(t *testing.T) {
	a := read(t, summary("hermes 1 1"), summary("toolalpaca 1 1"), summary("toolalpaca-train 1 1"), summary("openai 1 1"))
	want := []string{"ToolAlpaca 4096 2429", "Tool-calling 35786 8692", "ToolAlpaca 209 145", " -1 -1"}
	for i, s := range a.Sources {
		if got := fmt.Sprint(s.Dataset, " ", int(s.PaperConverted), " ", int(s.PaperKept)); got != want[i] {
			t.Errorf("%s: have %s, want %s", s.Name, got, want[i])
		}
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"neither", `{"a":1}`, `0.jsonl:1: want a line of a ledger`},
		{"both", `{"source":"x","stage":"filter","code":"no_call","read":1,"converted":1}`, "have neither"},
		{"no object", `[[1]]`, "have what is neither"},
		{"no source", `{"stage":"filter","code":"no_call"}`, "have neither"},
		{"a record", `{"schema":"qaoa/1","id":"x","source":{"name":"x"},"turns":[]}`, "have what is neither"},
		{"a balance that is wrong", `{"source":"x","read":3,"converted":1,"codes":{"no_call":1}}`, "converted + rejected = read, have 1 + 1 and 3"},
		{"a count below zero", `{"source":"x","read":0,"converted":1,"codes":{"no_call":-1}}`, "at least 0"},
		{"a file that is cut off", `{"source":"x","stage":"fil`, "0.jsonl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := account.Read(t.Context(), write(t, tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read(%s): error %v, want one with %q", tt.text, err, tt.want)
			}
		})
	}
	if _, err := account.Read(t.Context(), []string{"nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := account.Read(ctx, write(t, ledger("x", "filter", "no_call", 3))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var many strings.Builder
	for i := range 1001 {
		many.WriteString(ledger(fmt.Sprint("s", i), "filter", "no_call", 1))
	}
	if _, err := account.Read(t.Context(), write(t, many.String())); err == nil || !strings.Contains(err.Error(), "at most 1000 sources") {
		t.Errorf("1,001 sources: %v", err)
	}
	many.Reset()
	for i := range 1001 {
		many.WriteString(ledger("s", "filter", convert.Code(fmt.Sprint("c", i)), 1))
	}
	if _, err := account.Read(t.Context(), write(t, many.String())); err == nil || !strings.Contains(err.Error(), "at most 1000 codes") {
		t.Errorf("1,001 codes: %v", err)
	}
}

// chain is what a conversion of three sources and a filter leave behind.
func chain(t *testing.T) account.Account {
	t.Helper()
	return read(t,
		summary("bfcl 4441 3065 empty_turn:200 irrelevant_type:1140 non_english:36"), summary("seal-tools 1354 1354"), summary("my|corpus\x1b 12 10 no_call:2"),
		summary("filter 4429 4420 temporal_tool:6 empty_schema:3"),
		ledger("bfcl", "filter", "temporal_tool", 5)+ledger("seal-tools", "filter", "empty_schema", 3)+ledger("seal-tools", "filter", "temporal_tool", 1))
}

func TestWriteText(t *testing.T) {
	var b bytes.Buffer
	if err := chain(t).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `Dataset                Source       Read  Conv.  paper  Filt.  paper
BFCL V3                bfcl        4,441  3,065  3,065  3,060    984
Seal-Tools             seal-tools  1,354  1,354  1,354  1,350    579
Total (Test), 2 of 7               5,795  4,419  4,419  4,410  1,563
–                      my|corpus?     12     10      –     10      –
(filter, all sources)              4,429                4,420

Source      Stage    Code             Rejects   Share
bfcl        convert  irrelevant_type    1,140  25.7 %
bfcl        convert  empty_turn           200   4.5 %
bfcl        convert  non_english           36   0.8 %
bfcl        filter   temporal_tool          5   0.2 %
seal-tools  filter   empty_schema           3   0.2 %
seal-tools  filter   temporal_tool          1   0.1 %
my|corpus?  convert  no_call                2  16.7 %
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	a := chain(t)
	a.Notes = append(a.Notes, "a <b> note")
	var b bytes.Buffer
	if err := a.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Dataset               | Source      |  Read | Conv. | paper | Filt. | paper |\n| --------------------- | ----------- | ----: |",
		"| –                     | my\\|corpus? |    12 |    10 |     – |    10 |     – |\n",
		"\n> a \\<b\\> note\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := read(t, summary("openai 3 2 no_call:1")).JSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"sources":[{"source":"openai","dataset":"","part":"","read":3,"converted":2,"kept":null,"paper_converted":null,"paper_kept":null,"converting":[{"code":"no_call","n":1}],"filtering":[]}],"steps":[],"notes":[]}`
	got, err := qaoa.Compact(b.Bytes())
	if err != nil || string(got) != want {
		t.Errorf("have %s, %v\nwant %s", got, err, want)
	}
}

// TestPrintedTotals: with all seven benchmarks the totals are those that the
// paper prints, although one of them is not the sum of its column.
func TestPrintedTotals(t *testing.T) {
	var texts []string
	for _, name := range []string{"bfcl", "acebench", "seal-tools", "hammerbench", "complexfuncbench", "api-bank", "toolalpaca"} {
		texts = append(texts, summary(name+" 1 1"))
	}
	var b bytes.Buffer
	if err := read(t, texts...).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Total (Test)                           7      7  12,459      –  6,163\n") {
		t.Errorf("no printed total in\n%s", b.String())
	}
}

// TestBalance: whatever the ledgers of one chain hold, read = converted + early
// rejects and converted = kept + late rejects.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		early, late := rapid.IntRange(0, 5).Draw(rt, "early"), rapid.IntRange(1, 5).Draw(rt, "late")
		made := late + rapid.IntRange(0, 5).Draw(rt, "kept")
		texts := []string{
			summary(fmt.Sprintf("bfcl %d %d no_call:%d", made+early, made, early)),
			ledger("bfcl", "convert", "no_call", early) + ledger("bfcl", "filter", "temporal_tool", late),
			summary(fmt.Sprintf("filter %d %d temporal_tool:%d", made, made-late, late)),
		}
		texts = rapid.Permutation(texts).Draw(rt, "order")
		var paths []string
		for i, text := range texts {
			path := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
			paths = append(paths, path)
		}
		a, err := account.Read(context.Background(), paths)
		if err != nil {
			rt.Fatal(err)
		}
		sum := func(codes []account.CodeCount) (n account.Count) {
			for _, c := range codes {
				n += account.Count(c.N)
			}
			return n
		}
		s := a.Sources[0]
		if len(a.Notes) > 0 || s.Read != s.Converted+sum(s.Converting) || s.Converted != s.Kept+sum(s.Filtering) {
			rt.Errorf("%+v, notes %q", s, a.Notes)
		}
	})
}

// TestStepWithoutLedger: the codes of a summary are shown where no ledger tells
// of which sources they are.
func TestStepWithoutLedger(t *testing.T) {
	var b bytes.Buffer
	if err := read(t, summary("bfcl 9 9"), summary("filter 9 5 temporal_tool:4")).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if want := "(all sources)  filter  temporal_tool        4  44.4 %\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

func ExampleAccount_WriteText() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "summary.json")
	if err := os.WriteFile(path, []byte(`{"source":"bfcl","read":4441,"converted":3065,"codes":{"irrelevant_type":1140,"empty_turn":200,"non_english":36}}`), 0o600); err != nil {
		panic(err)
	}
	a, err := account.Read(context.Background(), []string{path})
	if err != nil {
		panic(err)
	}
	if err := a.WriteText(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// Dataset  Source   Read  Conv.  paper  Filt.  paper
	// BFCL V3  bfcl    4,441  3,065  3,065      –    984
	//
	// Source  Stage    Code             Rejects   Share
	// bfcl    convert  irrelevant_type    1,140  25.7 %
	// bfcl    convert  empty_turn           200   4.5 %
	// bfcl    convert  non_english           36   0.8 %
}
