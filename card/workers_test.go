package card_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/card"
	"assay/qaoa"
	"assay/train"
)

// files returns the files under dir with what they hold.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A card is the same, byte for byte, for any number of workers that make the
// rows, and so is the folder around it.
func TestCardIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	recs := func(yield func(qaoa.Record, error) bool) {
		for i := range 300 {
			rec := qaoa.Record{
				ID: fmt.Sprintf("s%d/%d", i%3, i), Source: qaoa.Source{Name: fmt.Sprintf("s%d", i%3)},
				Tools: []qaoa.Tool{{Name: "f", Category: fmt.Sprintf("c%d", i%7), Parameters: `{"type":"object","properties":{}}`}},
			}
			for range 1 + i%4 {
				turn := qaoa.Turn{Query: fmt.Sprint("question ", i), Answer: "yes"}
				for range i % 3 {
					turn.Steps = append(turn.Steps, qaoa.Step{Calls: []qaoa.Call{{Name: "f", Arguments: "{}"}}, Observations: []string{"o"}})
				}
				rec.Turns = append(rec.Turns, turn)
			}
			if i == 13 {
				rec.Turns[0].Query = "" // a reject
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
	var first map[string]string
	for _, workers := range []int{1, 2, 7} {
		c := card.New(func(source string) string { return "licence of " + source })
		out := filepath.Join(t.TempDir(), "out")
		_, err := train.Shard(t.Context(), recs, train.ShardOptions{
			Out: out, Projection: train.Full, Shards: 3, Workers: workers, OnRow: c.Add, Finish: c.Write,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := files(t, out)
		if first == nil {
			first = got
			for _, name := range []string{"README.md", "figures/rows.svg"} {
				if got[name] == "" {
					t.Errorf("no %s", name)
				}
			}
			continue
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("%d workers make another folder: %s", workers, d)
		}
	}
}
