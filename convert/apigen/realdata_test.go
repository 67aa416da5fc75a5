package apigen

import (
	"os"
	"path/filepath"
	"testing"

	"assay/convert"
)

// The published row 0 has two parallel calls of one tool, whose only parameter
// has a default.
func TestRealRow(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "data", "raw", "xlam", "xlam.row0.json")
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put row 0 of the corpus there as raw/xlam/xlam.row0.json")
	}
	inputs, _, err := convert.Find(Source, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for o, err := range convert.Run(t.Context(), Source, inputs, convert.RunOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		read += o.Read
		if len(o.Records) != 1 {
			t.Fatalf("have %d records, %v", len(o.Records), o.Rejects)
		}
		rec := o.Records[0]
		if len(rec.Turns) != 1 || len(rec.Turns[0].Steps) != 1 || len(rec.Calls()) != 2 || len(rec.Tools) != 1 {
			t.Errorf("have %+v, want one step of two calls and one tool", rec)
		}
		if got, want := rec.Calls()[1].Arguments, `{"type":"game"}`; string(got) != want {
			t.Errorf("arguments %s, want %s", got, want)
		}
		schema, err := rec.Tools[0].Parameters.Value()
		if required, _ := schema.Get("required"); err != nil || len(required.Items) != 0 {
			t.Errorf("schema %s, want nothing required", rec.Tools[0].Parameters)
		}
	}
	if read != 1 {
		t.Errorf("read %d, want 1", read)
	}
}
