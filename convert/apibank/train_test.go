package apibank_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/apibank"
	"assay/filter"
	"assay/qaoa"
)

// convertFile returns what the training source makes of a real file.
func convertFile(t *testing.T, name string, profile convert.Profile) ([]qaoa.Record, convert.Summary) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "raw", "api-bank-train", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the publisher's lv3-*.json beside the project, under ../shared/data/raw/api-bank-train")
	}
	inputs, _, err := convert.Find(apibank.TrainSource, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	var recs []qaoa.Record
	var sum convert.Summary
	for o, err := range convert.Run(t.Context(), apibank.TrainSource, inputs, convert.RunOptions{Options: convert.Options{Profile: profile}}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(o)
		recs = append(recs, o.Records...)
	}
	if err := sum.Check(); err != nil {
		t.Error(err)
	}
	return recs, sum
}

func TestTraps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"lv1-train.json", "lv2-api-train.json", "level-3.json", "AddAlarm-level-3-1.jsonl"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("[]"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := convert.Find(apibank.TrainSource, []string{path}); err == nil || !strings.Contains(err.Error(), "lv3-response-train.json") {
			t.Errorf("%s: have %v, want an error that names the right file", name, err)
		}
	}
}

// tool returns the first tool of rec with that name.
func tool(rec qaoa.Record, name string) (qaoa.Tool, bool) {
	i := slices.IndexFunc(rec.Tools, func(t qaoa.Tool) bool { return t.Name == name })
	if i < 0 {
		return qaoa.Tool{}, false
	}
	return rec.Tools[i], true
}

func TestRealTraining(t *testing.T) {
	recs, sum := convertFile(t, "lv3-response-train.json", convert.Paper)
	if sum.Read != 338 || sum.Converted != 330 || sum.Codes[convert.NoCall] != 8 {
		t.Errorf("read %d, converted %d, codes %v; want 338, 330 and 8 times no_call", sum.Read, sum.Converted, sum.Codes)
	}
	hops := map[int]int{}
	defined, filled, timeless := 0, 0, 0
	decoded, times := map[string]int{}, 0
	for _, rec := range recs {
		calls := rec.Turns[0].Calls()
		hops[len(calls)]++
		for name, n := range convert.DecodeNotes(rec.Meta) {
			decoded[name] += n
		}
		if strings.Contains(string(rec.Meta), `"time":"20`) {
			times++
		}
		if strings.Contains(rec.Turns[0].Query, "TIME:") {
			t.Errorf("%s: the query has a time: %q", rec.ID, rec.Turns[0].Query)
		}
		if slices.ContainsFunc(calls, func(c qaoa.Call) bool { _, ok := tool(rec, c.Name); return !ok }) {
			continue
		}
		defined++
		if slices.ContainsFunc(calls, func(c qaoa.Call) bool { return c.Arguments == "{}" }) {
			continue
		}
		filled++
		if !slices.ContainsFunc(rec.Tools, filter.ToolTemporal) {
			timeless++
		}
	}
	if got, want := fmt.Sprint(hops), "map[1:222 2:102 3:5 4:1]"; got != want {
		t.Errorf("hops: have %s, want %s", got, want)
	}
	got := []int{defined, filled, timeless}
	if want := []int{327, 286, 212}; !slices.Equal(got, want) {
		t.Errorf("with every called tool defined, no empty arguments, no temporal tool: have %v, want %v", got, want)
	}
	if got, want := fmt.Sprint(decoded, times), "map[bare_arguments:101 rung_raw:3 rung_repaired:18] 216"; got != want {
		t.Errorf("decoded, times: have %s, want %s", got, want)
	}
}

func TestRealTrainingStrictly(t *testing.T) {
	_, sum := convertFile(t, "lv3-response-train.json", convert.Strict)
	if got, want := fmt.Sprint(sum.Converted, sum.Codes), "326 map[missing_required:1 no_call:8 unknown_tool:3]"; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
}

// TestRealCutDialogues rebuilds the dialogues from their parts: all but the
// last result and the answer are there.
func TestRealCutDialogues(t *testing.T) {
	whole, _ := convertFile(t, "lv3-response-train.json", convert.Paper)
	cut, sum := convertFile(t, "lv3-api-train.json", convert.Paper)
	both, bothSum := convertFile(t, "lv3-train.json", convert.Paper)
	if sum.Read != 907 || bothSum.Read != 1245 || len(both) != len(whole) {
		t.Errorf("read %d and %d, %d records of both and %d of whole dialogues; want 907, 1245 and the same", sum.Read, bothSum.Read, len(both), len(whole))
	}
	if got, want := fmt.Sprint(sum.Codes, bothSum.Codes), "map[duplicate:568 no_call:9] map[duplicate:907 no_call:8]"; got != want {
		t.Errorf("codes: have %s, want %s", got, want)
	}
	show := func(rec qaoa.Record) string {
		var b strings.Builder
		b.WriteString(rec.Turns[0].Query)
		for _, c := range rec.Turns[0].Calls() {
			fmt.Fprintf(&b, "\n%s %s", c.Name, c.Arguments)
		}
		return b.String()
	}
	count := map[string]int{}
	for _, rec := range whole {
		count[show(rec)]++
	}
	for _, rec := range cut {
		count[show(rec)]--
		if rec.Turns[0].Answer != "" {
			t.Errorf("%s has an answer", rec.ID)
		}
	}
	for key, n := range count {
		if n != 0 {
			t.Errorf("%+d more than cut dialogues of %s", n, key)
		}
	}
}
