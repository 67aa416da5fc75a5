package stats

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckRuns(t *testing.T) {
	base := func(name string) RunInfo {
		return RunInfo{Name: name, Preset: "paper", Data: "d", Candidates: "c", Adapter: "a-" + name, Predictions: "p-" + name, Items: []string{"x", "y"}}
	}
	tests := []struct {
		name   string
		change func(r *RunInfo)
		want   string // "" accepts
	}{
		{"repeats with their own predictions are averaged", func(r *RunInfo) {}, ""},
		{"the order of items means nothing", func(r *RunInfo) { r.Items = []string{"y", "x"} }, ""},
		{"an unknown hash agrees with any", func(r *RunInfo) { r.Data, r.Adapter, r.Predictions = "", "", "" }, ""},
		{"the same predictions twice", func(r *RunInfo) { r.Predictions = "p-s1" }, `"s1" and "s3" have the same prediction hash "p-s1"`},
		{"the same adapter twice", func(r *RunInfo) { r.Adapter = "a-s2" }, `"s2" and "s3" have the same adapter hash "a-s2": that is one training, whose repeats belong in one run`},
		{"another preset", func(r *RunInfo) { r.Preset = "strict" }, `matcher presets differ: "s1" has "paper" and "s3" has "strict"`},
		{"other data", func(r *RunInfo) { r.Data = "e" }, `data hashes differ: "s1" has "d" and "s3" has "e"`},
		{"other candidates", func(r *RunInfo) { r.Candidates = "e" }, `candidate hashes differ: "s1" has "c" and "s3" has "e"`},
		{"other items", func(r *RunInfo) { r.Items = []string{"x", "z"} }, `item sets differ: against "s1", "s3" lacks 1 ("y") and has 1 ("z") more`},
		{"more items than are shown", func(r *RunInfo) { r.Items = strings.Fields("x y a b c d e") }, `item sets differ: against "s1", "s3" lacks 0 and has 5 ("a", "b", "c", …) more`},
		{"an item twice", func(r *RunInfo) { r.Items = []string{"x", "y", "y"} }, `"s3" holds item "y" twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := []RunInfo{base("s1"), base("s2"), base("s3")}
			tt.change(&runs[2])
			err := CheckRuns(runs)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			ref, ok := errors.AsType[*Refusal](err)
			if !ok || len(ref.Reasons) != 1 || ref.Reasons[0] != tt.want {
				t.Fatalf("error %v, want the one reason %s", err, tt.want)
			}
		})
	}
	if err := CheckRuns(nil); err != nil {
		t.Errorf("no runs: %v", err)
	}
}

func TestRefusalNamesAllReasons(t *testing.T) {
	err := CheckRuns([]RunInfo{
		{Name: "a", Preset: "paper", Predictions: "p"},
		{Name: "b", Preset: "strict", Predictions: "p"},
	})
	want := `these runs cannot be averaged: matcher presets differ: "a" has "paper" and "b" has "strict"; "a" and "b" have the same prediction hash "p" (leave out the odd runs, or summarise them apart)`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
