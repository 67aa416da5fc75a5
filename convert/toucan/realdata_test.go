package toucan

import (
	"os"
	"path/filepath"
	"testing"

	"assay/convert"
)

// Three published rows are converted, and none is without Chinese text: the
// clean-up by language leaves none.
func TestRealRows(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "data", "raw", "toucan", "toucan-qwen3.rows3.jsonl")
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put rows of the corpus there as raw/toucan/toucan-qwen3.rows3.jsonl")
	}
	inputs, _, err := convert.Find(Source, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]int{"": 3, "cjk": 0} {
		var sum convert.Summary
		opt := convert.RunOptions{Options: convert.Options{Language: language}}
		for o, err := range convert.Run(t.Context(), Source, inputs, opt) {
			if err != nil {
				t.Fatal(err)
			}
			sum.Add(o)
		}
		if sum.Read != 3 || sum.Converted != want || sum.Codes[convert.NonEnglish] != 3-want {
			t.Errorf("language %q: %+v, want %d converted", language, sum, want)
		}
		if want > 0 && (sum.Calls != 3 || sum.Turns.SingleHop != 3) {
			t.Errorf("%+v, want three single calls", sum)
		}
	}
}
