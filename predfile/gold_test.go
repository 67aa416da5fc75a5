package predfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/convert"
	"assay/convert/bfcl"
	"assay/predfile"
	"assay/qaoa"
)

// bfclGold returns the gold records of the real files of BFCL.
func bfclGold(t *testing.T) []qaoa.Record {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "data", "raw", "bfcl", "data")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no ../shared/data: get the data folder of the Berkeley Function Calling Leaderboard")
	}
	inputs, _, err := convert.Find(bfcl.Source, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var recs []qaoa.Record
	for out, err := range convert.Run(t.Context(), bfcl.Source, inputs, convert.RunOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, out.Records...)
	}
	if len(recs) < 3000 {
		t.Fatalf("%d records, want over 3,000", len(recs))
	}
	return recs
}

// TestGoldOfBFCL writes the real gold calls the way that models' results look
// in both forms of BFCL, under the names of version 4, and reads them back.
func TestGoldOfBFCL(t *testing.T) {
	recs := bfclGold(t)
	tools := map[string][]qaoa.Tool{}
	for _, r := range recs {
		tools[r.ID] = r.Tools
	}
	opt := predfile.Options{
		IDs: predfile.NewIDs(func(yield func(string) bool) {
			for _, r := range recs {
				if !yield(r.ID) {
					return
				}
			}
		}),
		Tools: func(id string) []qaoa.Tool { return tools[id] },
	}
	for form, write := range map[string]func(calls []qaoa.Call) string{
		"function calling": func(calls []qaoa.Call) string {
			var items []string
			for _, c := range calls {
				items = append(items, fmt.Sprintf("{%s:%s}", qaoa.Quote(c.Name), qaoa.Quote(string(c.Arguments))))
			}
			return "[" + strings.Join(items, ",") + "]"
		},
		"prompt": func(calls []qaoa.Call) string { return string(qaoa.Quote(python(t, calls))) },
	} {
		var file bytes.Buffer
		for _, r := range recs {
			id := strings.TrimPrefix(r.ID, "bfcl/")
			if n, ok := strings.CutPrefix(id, "simple_"); ok {
				id = "simple_python_" + n
			}
			result := ""
			if len(r.Turns) == 1 && len(r.Turns[0].Steps) == 1 && !strings.HasPrefix(id, "multi_turn") {
				result = write(r.Turns[0].Steps[0].Calls)
			} else {
				var turns []string
				for _, turn := range r.Turns {
					steps := []string{}
					for _, s := range turn.Steps {
						steps = append(steps, write(s.Calls))
					}
					turns = append(turns, "["+strings.Join(append(steps, `"Done."`), ",")+"]")
				}
				result = "[" + strings.Join(turns, ",") + "]"
			}
			fmt.Fprintf(&file, "{\"id\":%s,\"result\":%s}\n", qaoa.Quote(id), result)
		}
		n, wrong := 0, 0
		for p, err := range predfile.ReadFrom(t.Context(), &file, "f", opt) {
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			want := recs[n]
			n++
			if p.ID != want.ID || len(p.Turns) != len(want.Turns) {
				t.Fatalf("%s: %s with %d turns, want %s with %d", form, p.ID, len(p.Turns), want.ID, len(want.Turns))
			}
			for i := range p.Turns {
				if diff := cmp.Diff(want.Turns[i].Calls(), p.Turns[i].Calls()); diff != "" {
					if wrong++; wrong < 5 {
						t.Errorf("%s: %s, turn %d: -want +got:\n%s", form, p.ID, i, diff)
					}
				}
			}
		}
		t.Logf("%s: %d predictions, %d turns that differ", form, n, wrong)
		if n != len(recs) || wrong > 0 {
			t.Errorf("%s: %d of %d predictions, %d turns differ", form, n, len(recs), wrong)
		}
	}
}

// python writes calls as Python does.
func python(t *testing.T, calls []qaoa.Call) string {
	t.Helper()
	var items []string
	for _, c := range calls {
		v, err := c.Arguments.Value()
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, m := range v.Members {
			args = append(args, m.Name+"="+literal(m.Value))
		}
		items = append(items, c.Name+"("+strings.Join(args, ", ")+")")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// literal writes v as Python prints it.
func literal(v qaoa.Value) string {
	var parts []string
	switch v.Kind {
	case qaoa.Null:
		return "None"
	case qaoa.Bool:
		return strings.ToUpper(v.Text[:1]) + v.Text[1:]
	case qaoa.String:
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v.Text) + "'"
	case qaoa.Array:
		for _, item := range v.Items {
			parts = append(parts, literal(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case qaoa.Object:
		for _, m := range v.Members {
			parts = append(parts, literal(qaoa.StringValue(m.Name))+": "+literal(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.Text
}
