package toolhop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/convert"
	"assay/convert/toolhop"
	"assay/filter"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

// convertFile returns what the source makes of a real file.
func convertFile(t *testing.T, name string) ([]qaoa.Record, convert.Summary) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "raw", "toolhop", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put parts of ToolHop beside the project, under ../shared/data/raw/toolhop")
	}
	inputs, _, err := convert.Find(toolhop.Source, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	var recs []qaoa.Record
	var sum convert.Summary
	for o, err := range convert.Run(t.Context(), toolhop.Source, inputs, convert.RunOptions{}) {
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

func balance(s convert.Summary) string {
	return fmt.Sprintf("read %d, converted %d, calls %d, codes %v", s.Read, s.Converted, s.Calls, s.Codes)
}

func TestReal(t *testing.T) {
	upstream, sum := convertFile(t, "ToolHop.slice93.json")
	if got, want := balance(sum), "read 93, converted 22, calls 91, codes map[no_call:71]"; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
	copied, sum := convertFile(t, "toolhop-100.localbench.jsonl")
	if got, want := balance(sum), "read 100, converted 23, calls 98, codes map[no_call:77]"; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
	byID := map[string]qaoa.Record{}
	for _, rec := range copied {
		byID[rec.ID] = rec
	}
	kept := 0
	for _, rec := range upstream {
		if !slices.ContainsFunc(rec.Tools, filter.ToolTemporal) {
			kept++
		}
		// The copy has sorted keys, so its schemas differ in order.
		if diff := cmp.Diff(rec.Turns, byID[rec.ID].Turns); diff != "" {
			t.Errorf("%s: the copy makes other turns:\n%s", rec.ID, diff)
		}
	}
	if kept != 0 {
		t.Errorf("%d records have no temporal tool, want 0", kept)
	}
}
