package all

import (
	"testing"

	"assay/convert"
	"assay/filter"

	"github.com/google/go-cmp/cmp"
)

// TestRealKept runs the filter of the paper on the conversions of the paper.
func TestRealKept(t *testing.T) {
	tests := []struct {
		source, want string // the balance of what is kept; nothing is "read"
		group        func(file, category string) string
		groups       map[string]int
	}{
		{"bfcl", "0/1499 calls 2052 hops 1329+268+0 turns 1451+48", byCategory, map[string]int{
			"simple": 231, "java": 87, "javascript": 40, "multiple": 114, "parallel": 122, "parallel_multiple": 81,
			"live_simple": 169, "live_multiple": 582, "live_parallel": 12, "live_parallel_multiple": 11,
			"multi_turn_base": 25, "multi_turn_long_context": 25,
		}},
		{"acebench", "0/59 calls 93 hops 39+20+0 turns 59+0", byCategory, map[string]int{
			"normal_single_turn_single_function": 27, "normal_single_turn_parallel_function": 20, "special_incomplete": 12,
		}},
		{"seal-tools", "0/579 calls 1381 hops 205+374+0 turns 579+0", byFile, map[string]int{
			"Seal-Tools_Dataset/test_in_domain.jsonl": 287, "Seal-Tools_Dataset/test_out_domain.jsonl": 292,
		}},
		{"hammerbench", "0/140 calls 140 hops 140+0+0 turns 140+0", byCategory, map[string]int{
			"ST-Perfect": 46, "ST-Imperfect": 48, "ST-External": 46,
		}},
		{"api-bank", "0/35 calls 89 hops 0+35+0 turns 35+0", byFile, map[string]int{"test-data/level-3.json": 35}},
		{"toolalpaca", "0/115 calls 152 hops 91+24+0 turns 115+0", byFile, map[string]int{
			"data/eval_real.json": 62, "data/eval_simulated.json": 53,
		}},
	}
	for _, tt := range tests {
		recs, _ := run(t, tt.source, convert.Options{}, realdata(t, tt.source))
		var f filter.Filter
		var sum convert.Summary
		for _, rec := range recs {
			if f.Check(rec) != nil {
				continue
			}
			meta, err := rec.Meta.Value()
			if err != nil {
				t.Fatal(err)
			}
			category, _ := meta.Get("category")
			sum.AddRecord(rec, tt.group(rec.Source.File, category.Text))
		}
		if got := balance(sum); got != tt.want {
			t.Errorf("%s\nhave %s\nwant %s", tt.source, got, tt.want)
		}
		if diff := cmp.Diff(tt.groups, sum.RecordsByCategory); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}

func byCategory(_, category string) string { return category }

func byFile(file, _ string) string { return file }
