package raw

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	json "github.com/goccy/go-json"
)

// TestRealFiles reads every file of the published data.
func TestRealFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "raw")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the publishers' files beside the project, each benchmark under ../shared/data/raw")
	}
	files, err := Expand([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, f := range files {
		if ext := filepath.Ext(f.Name); ext != ".json" && ext != ".jsonl" && ext != ".parquet" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		for el, err := range Elements(t.Context(), r, f.Name) {
			if err != nil {
				t.Errorf("%v", err)
				break
			}
			counts[f.Name]++
			if !json.Valid(el.Data) {
				t.Errorf("%s: no valid JSON: %.60q", el.Pos, el.Data)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	bfcl := 0
	for name, n := range counts {
		if strings.HasPrefix(name, "bfcl/data/BFCL_v3_") {
			bfcl += n
		}
	}
	counts["bfcl"] = bfcl
	for name, want := range map[string]int{
		"bfcl": 4441,
		"bfcl/data/possible_answer/BFCL_v3_simple.json":                             400,
		"acebench/data_all/data_en/data_special_incomplete.json":                    50,
		"seal-tools/Seal-Tools_Dataset/test_in_domain.jsonl":                        700,
		"seal-tools/Seal-Tools_Dataset/tool.jsonl":                                  4076, // CRLF
		"seal-tools/Seal-Tools_Dataset/dataset_in_old_format/test_out_domain.jsonl": 654,  // lines are arrays
		"api-bank/test-data/level-3.json":                                           50,
		"api-bank/lv1-lv2-samples/level-1-given-desc/SearchEngine-level-1-1.jsonl":  0, // empty on purpose
		"toolalpaca/data/eval_real.json":                                            11,
		"hammerbench/data/en/single-turn/ST_Perfect.json":                           100,
		"toolhop/ToolHop.slice93.json":                                              93,
		"toucan/toucan-qwen3.rows3.jsonl":                                           3,
		"complexfuncbench/utils/tool_info.json":                                     1, // one object of one object
		"parquet-sample/rlla_4k.test.parquet":                                       80,
		"seal-tools-train/dev.jsonl":                                                700,
		"api-bank-train/lv3-train.json":                                             1245,
	} {
		if counts[name] != want {
			t.Errorf("%s: %d elements, want %d", name, counts[name], want)
		}
	}
}
