package card

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/qaoa"
	"assay/train"
)

func TestCard(t *testing.T) {
	c := New(func(s string) string { return map[string]string{"a": "MIT"}[s] })
	rec := qaoa.Record{ID: "a/1", Source: qaoa.Source{Name: "a"}, Tools: []qaoa.Tool{{Name: "f", Category: "<b>|x"}}, Turns: []qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "f", Arguments: "{}"}}}}}}}
	c.Add(rec, 40)
	m := train.Manifest{Rows: 1, Sources: map[string]int{"a": 1, "[x](y)": 0}, Losses: map[train.Loss]int{train.LostMeta: 2}}
	m.Choices.Name = "it's: \"a\" set"
	dir := t.TempDir()
	if err := c.Write(m, dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"---\nlicense: other\n", `license_name: "MIT, not known"`, `pretty_name: "it's: \"a\" set"`, "- n<1K\n", "| a | 1 | MIT |", `| \[x\]\(y\) | 0 | not known |`, `| &lt;b\>\|x | 1 |`, "| tokens | 40.00 | 40 | 40 | 40 |", "| meta | 2 |"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("want %q in\n%s", want, data)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "figures", "rows.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("figure: %v", err)
	}
	if c.text(m) != string(data) {
		t.Error("the same rows make another card")
	}
}
