package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/convert"
	"assay/eval"
	"assay/toolset"
)

// realData returns the folder of the real files. It skips the test where there
// are none, and fails under CI.
func realData(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "raw")
	if _, err := os.Stat(dir); err != nil {
		const how = "no ../shared/data/raw beside the project: download the files that \"assay sources\" names, see CONTRIBUTING.md"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	return dir
}

// assay runs a verb in this process and fails the test unless it ends with 0.
func assay(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), args, stdio{strings.NewReader(""), &out, &errs}); code != 0 {
		t.Fatalf("assay %s: exit code %d\n%s", strings.Join(args, " "), code, &errs)
	}
	return out.String(), errs.String()
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// realCounts are what must come out of the real files: the paper's Table 5
// where its numbers can be had, and our own count where they cannot (BFCL
// after the filter; ToolAlpaca, where the paper prints 145 and its total
// needs 115).
var realCounts = []struct {
	source                                    string
	read, converted, calls, single, multi, no int
	kept, keptCalls, keptSingleHop, keptMulti int
	paperConverted, paperKept                 int
}{
	{"bfcl", 4441, 3065, 6800, 3457, 1234, 209, 1499, 2052, 1329, 268, 3065, 984},
	{"acebench", 250, 250, 401, 150, 100, 0, 59, 93, 39, 20, 250, 59},
	{"seal-tools", 1354, 1354, 3732, 294, 1060, 0, 579, 1381, 205, 374, 1354, 579},
	{"api-bank", 50, 50, 131, 0, 50, 0, 35, 89, 0, 35, 50, 35},
	{"toolalpaca", 214, 209, 290, 148, 61, 0, 115, 152, 91, 24, 209, 145},
}

// TestRealDataChain takes the real benchmark files through the whole chain.
func TestRealDataChain(t *testing.T) {
	raw := realData(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var table strings.Builder
	fmt.Fprintf(&table, "%-11s %5s %9s %5s %6s %10s | paper: converted, kept\n", "source", "read", "converted", "kept", "calls", "kept calls")
	var kept, all []string
	for _, want := range realCounts {
		records, filtered := path(want.source+".jsonl"), path(want.source+".kept.jsonl")
		assay(t, "convert", want.source, filepath.Join(raw, want.source), "-o", records, "--summary", path("sum.json"), "--ledger", path("ledger.jsonl"))
		assay(t, "filter", records, "-o", filtered, "--summary", path("kept.json"), "--ledger", path("kept.ledger.jsonl"))
		var sum, keep convert.Summary
		readJSON(t, path("sum.json"), &sum)
		readJSON(t, path("kept.json"), &keep)
		fmt.Fprintf(&table, "%-11s %5d %9d %5d %6d %10d | %d, %d\n", want.source, sum.Read, sum.Converted, keep.Converted, sum.Calls, keep.Calls, want.paperConverted, want.paperKept)
		got := fmt.Sprint(sum.Read, sum.Converted, sum.Calls, sum.Turns, keep.Read, keep.Converted, keep.Calls, keep.Turns.SingleHop, keep.Turns.MultiHop)
		need := fmt.Sprint(want.read, want.converted, want.calls, convert.TurnCounts{SingleHop: want.single, MultiHop: want.multi, NoCall: want.no},
			want.converted, want.kept, want.keptCalls, want.keptSingleHop, want.keptMulti)
		if got != need {
			t.Errorf("%s: read, converted, calls, turns; kept of them, calls, single-hop, multi-hop are\n%s, want\n%s", want.source, got, need)
		}
		checkLedger(t, path("ledger.jsonl"), sum.Rejected)
		checkLedger(t, path("kept.ledger.jsonl"), keep.Rejected)
		all, kept = append(all, records), append(kept, filtered)
	}
	t.Logf("\n%s", &table)
	if err := concat(path("kept.jsonl"), kept); err != nil {
		t.Fatal(err)
	}
	if err := concat(path("all.jsonl"), all); err != nil {
		t.Fatal(err)
	}
	replay(t, raw, path)
	lists(t, path)
	scores(t, path)
	shards(t, path)
}

// replay scores the gold of BFCL, read from the raw files, against itself: it is
// right in every cell under its own rules and under the paper's.
func replay(t *testing.T, raw string, path func(string) string) {
	t.Helper()
	out, _ := assay(t, "score", "--gold", "bfcl:"+filepath.Join(raw, "bfcl"), "--pred", path("bfcl.jsonl"), "--preset", "bfcl,paper", "--json")
	var all []eval.Scores
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		checkScores(t, "gold", "replayed", s)
	}
}

// checkLedger wants a line for each reject.
func checkLedger(t *testing.T, path string, rejected int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != rejected {
		t.Errorf("%s has %d lines, want %d", filepath.Base(path), n, rejected)
	}
}

// lists makes both kinds of candidate lists and checks their report.
func lists(t *testing.T, path func(string) string) {
	t.Helper()
	for _, setting := range demoSettings {
		_, text := assay(t, "candidates", path("kept.jsonl"), "--pool", path("all.jsonl"), "--setting", setting, "--seed", "7",
			"-o", path(setting+".jsonl"), "--report", path(setting+".json"))
		t.Logf("candidates --setting %s\n%s", setting, text)
		var rep toolset.Report
		readJSON(t, path(setting+".json"), &rep)
		if rep.Lists != 2287 || rep.Coverage != 1 {
			t.Errorf("%s: %d lists with gold coverage %v, want 2287 and 1", setting, rep.Lists, rep.Coverage)
		}
		if setting == "hybrid" && (rep.Uniformity == nil || rep.Uniformity.P < .001 || rep.Collisions != 0) {
			t.Errorf("hybrid: uniformity %+v, %d collisions; want uniform positions and none", rep.Uniformity, rep.Collisions)
		}
	}
	again := path("again.jsonl")
	assay(t, "candidates", path("kept.jsonl"), "--pool", path("all.jsonl"), "--setting", "hybrid", "--seed", "7", "--workers", "1", "-o", again)
	if a, b := read(t, again), read(t, path("hybrid.jsonl")); !bytes.Equal(a, b) {
		t.Error("one worker makes other lists than two")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// scores asks the baselines about the kept records.
func scores(t *testing.T, path func(string) string) {
	t.Helper()
	asks := []struct{ model, seed string }{
		{"gold", "1"}, {"lexical", "1"}, {"random", "1"}, {"random", "2"}, {"random", "3"},
	}
	var folders, randoms []string
	st := map[string]eval.Cell{}
	for _, setting := range demoSettings {
		for _, a := range asks {
			name := a.model + a.seed + "-" + setting
			folder := path(name)
			assay(t, "run", path(setting+".jsonl"), "--out", folder, "--model", "baseline/"+a.model, "--seed", a.seed)
			out, _ := assay(t, "score", folder, "--preset", "paper,strict,reference", "--json")
			var all []eval.Scores
			if err := json.Unmarshal([]byte(out), &all); err != nil {
				t.Fatal(err)
			}
			for _, s := range all {
				checkScores(t, a.model, setting, s)
			}
			st[name] = all[0].Cells.ST
			folders = append(folders, folder)
			if a.model == "random" {
				randoms = append(randoms, folder)
			}
		}
	}
	for _, name := range []string{"lexical1", "random1", "random2", "random3"} {
		gt, hybrid := *st[name+"-gt"].SPA, *st[name+"-hybrid"].SPA
		if !(gt > hybrid && gt < 1) {
			t.Errorf("%s: SPA of single-turn conversations is %.3f under GT and %.3f under Hybrid-20; want them below 1, and GT above", name, gt, hybrid)
		}
	}
	out, _ := assay(t, append([]string{"stats", "summarize", "--table", "comparison"}, folders...)...)
	t.Logf("\n%s", out)
	out, _ = assay(t, append([]string{"stats", "summarize"}, randoms...)...)
	t.Logf("\n%s", out)
	if !strings.Contains(out, "±") {
		t.Error("the summary of three seeds has no mean ± SD")
	}
}

// checkScores wants 1 everywhere from the gold baseline, and order in all.
func checkScores(t *testing.T, model, setting string, s eval.Scores) {
	t.Helper()
	for name, c := range map[string]eval.Cell{"SH": s.Cells.SH, "MH": s.Cells.MH, "ST": s.Cells.ST, "MT": s.Cells.MT} {
		if c.N == 0 {
			t.Errorf("%s %s %s: cell %s is empty", model, setting, s.Preset, name)
			continue
		}
		sp, fp, spa, fpa := *c.SP, *c.FP, *c.SPA, *c.FPA
		if model == "gold" && (sp != 1 || fp != 1 || spa != 1 || fpa != 1) {
			t.Errorf("gold %s %s: cell %s is %v %v %v %v, want 1 everywhere", setting, s.Preset, name, sp, fp, spa, fpa)
		}
		if spa > fpa || fpa > fp || sp > fp {
			t.Errorf("%s %s %s: cell %s breaks SPA <= FPA <= FP or SP <= FP: %v %v %v %v", model, setting, s.Preset, name, sp, fp, spa, fpa)
		}
	}
}

// shards makes a training shard of the kept records.
func shards(t *testing.T, path func(string) string) {
	t.Helper()
	_, text := assay(t, "train", "shard", path("kept.jsonl"), "--format", "llamafactory", "--shards", "4", "--out", path("shards"), "--ledger", path("train.ledger.jsonl"))
	t.Log(text)
	if !strings.Contains(text, "2287 records") {
		t.Errorf("the shard does not account for 2287 records:\n%s", text)
	}
}

// TestRealDataTraining takes the rest of the real files through conversion and
// filter: slices, training corpora, and what stands in for them.
func TestRealDataTraining(t *testing.T) {
	raw := realData(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		source, files   string
		read, converted int
		filter          []string // nil for none
		kept            int
		calls           int // of the converted records, -1 where no count is known
		single, multi   int
	}{
		{"hammerbench", "hammerbench/data/en/single-turn", 600, 300, []string{}, 46 + 48 + 46, 300, 300, 0},
		{"api-bank-train", "api-bank-train/lv3-response-train.json", 338, 330, []string{"--schema-filter", "off", "--drop-empty-arguments"}, 212, 222 + 2*102 + 3*5 + 4, 222, 108},
		{"seal-tools-train", "seal-tools-train/dev.jsonl", 700, 700, []string{"--temporal", "off", "--schema-filter", "off", "--drop-empty-arguments"}, 629, -1, -1, -1},
		{"seal-tools-train", "seal-tools-train/dev.jsonl", 700, 700, []string{"--drop-empty-arguments"}, 307, -1, -1, -1},
		{"toolhop", "toolhop/ToolHop.slice93.json", 93, -1, []string{}, 0, -1, -1, -1},
		{"toolhop", "toolhop/toolhop-100.localbench.jsonl", 100, 23, nil, 0, -1, -1, -1},
		{"apigen", "xlam/xlam.row0.json", 1, 1, nil, 0, 2, 0, 1},
		{"toucan", "toucan/toucan-qwen3.rows3.jsonl", 3, 3, []string{"--language", "cjk"}, 0, -1, -1, -1},
		{"sharegpt", "glaive-sharegpt-demo/glaive_toolcall_en_demo.json", 300, -1, []string{"--temporal", "off", "--schema-filter", "off", "--drop-direct-answers"}, 63, -1, -1, -1},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-17s %-52s %4s %9s %4s\n", "source", "files", "read", "converted", "kept")
	for _, tt := range tests {
		records := path("r.jsonl")
		assay(t, "convert", tt.source, filepath.Join(raw, filepath.FromSlash(tt.files)), "-o", records, "--summary", path("sum.json"), "--ledger", path("l.jsonl"))
		var sum, keep convert.Summary
		readJSON(t, path("sum.json"), &sum)
		checkLedger(t, path("l.jsonl"), sum.Rejected)
		if sum.Read != tt.read || (tt.converted >= 0 && sum.Converted != tt.converted) || sum.Converted+sum.Rejected != sum.Read {
			t.Errorf("%s: %d read, %d converted, %d rejected; want %d and %d", tt.source, sum.Read, sum.Converted, sum.Rejected, tt.read, tt.converted)
		}
		if tt.calls >= 0 && (sum.Calls != tt.calls || sum.Turns.SingleHop != tt.single || sum.Turns.MultiHop != tt.multi) {
			t.Errorf("%s: %d calls, turns %+v; want %d, %d single-hop and %d multi-hop", tt.source, sum.Calls, sum.Turns, tt.calls, tt.single, tt.multi)
		}
		kept := "-"
		if tt.filter != nil {
			assay(t, append([]string{"filter", records, "-o", path("k.jsonl"), "--summary", path("k.json")}, tt.filter...)...)
			readJSON(t, path("k.json"), &keep)
			kept = fmt.Sprint(keep.Converted)
			if keep.Converted != tt.kept {
				t.Errorf("%s with filter %v: %d kept, want %d", tt.source, tt.filter, keep.Converted, tt.kept)
			}
		}
		fmt.Fprintf(&table, "%-17s %-52s %4d %9d %4s %s\n", tt.source, tt.files, sum.Read, sum.Converted, kept, strings.Join(tt.filter, " "))
	}
	t.Logf("\n%s", &table)
}
