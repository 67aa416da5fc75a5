package eval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/convert"
	"assay/convert/all"
	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

// realRecords converts the real files of a source.
func realRecords(t *testing.T, source string) []qaoa.Record {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "data", "raw", source)
	if _, err := os.Stat(dir); err != nil {
		const how = "no ../shared/data/raw beside the project: download the files that \"assay sources\" names, see CONTRIBUTING.md"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	src, err := all.Lookup(source)
	if err != nil {
		t.Fatal(err)
	}
	inputs, _, err := convert.Find(src, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var recs []qaoa.Record
	for out, err := range convert.Run(t.Context(), src, inputs, convert.RunOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, out.Records...)
	}
	if len(recs) == 0 {
		t.Fatalf("%s: no records", dir)
	}
	return recs
}

// A spoil breaks one call in one way; nil if it cannot.
type spoil struct {
	name  string
	do    func(rec qaoa.Record, c qaoa.Call) []qaoa.Call
	wants []string // outcomes that it may lead to
}

func withArguments(c qaoa.Call, change func([]qaoa.Member) []qaoa.Member) []qaoa.Call {
	v, err := c.Arguments.Value()
	if err != nil || v.Kind != qaoa.Object {
		return nil
	}
	members := change(slices.Clone(v.Members))
	if members == nil {
		return nil
	}
	c.Arguments = qaoa.ObjectValue(members...).JSON()
	return []qaoa.Call{c}
}

// requiredBy reports whether the schema of the tool of that name requires key.
func requiredBy(rec qaoa.Record, name, key string) bool {
	for _, tool := range rec.Tools {
		if tool.Name != name {
			continue
		}
		schema, err := tool.Parameters.Value()
		list, _ := schema.Get("required")
		return err == nil && slices.ContainsFunc(list.Items, func(v qaoa.Value) bool { return v.Text == key })
	}
	return false
}

func spoils() []spoil {
	return []spoil{
		{"gold itself", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call { return []qaoa.Call{c} }, []string{"right"}},
		{"a tool that is nowhere", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call {
			c.Name = "zqxj vwk"
			return []qaoa.Call{c}
		}, []string{"hallucinated_tool"}},
		{"another tool on offer", func(rec qaoa.Record, c qaoa.Call) []qaoa.Call {
			for _, tool := range rec.Tools {
				if match.Name(tool.Name) != match.Name(c.Name) {
					c.Name = tool.Name
					return []qaoa.Call{c}
				}
			}
			return nil
		}, []string{"wrong_tool", "near_duplicate_tool"}},
		{"no call", func(qaoa.Record, qaoa.Call) []qaoa.Call { return []qaoa.Call{} }, []string{"abstained"}},
		{"an attempt", func(qaoa.Record, qaoa.Call) []qaoa.Call { return []qaoa.Call{{Raw: "<tool_call>{"}} }, []string{"malformed"}},
		{"the call twice", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call { return []qaoa.Call{c, c} }, []string{"extra_call"}},
		{"an argument that nobody knows", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call {
			return withArguments(c, func(ms []qaoa.Member) []qaoa.Member {
				return append(ms, qaoa.Member{Name: "zqxj", Value: qaoa.StringValue("a b c d e f g h i j k l m n o p")})
			})
		}, []string{"unknown_argument"}},
		{"without a required argument", func(rec qaoa.Record, c qaoa.Call) []qaoa.Call {
			return withArguments(c, func(ms []qaoa.Member) []qaoa.Member {
				for i, m := range ms {
					if requiredBy(rec, c.Name, m.Name) && m.Value.Kind != qaoa.Null {
						return slices.Delete(ms, i, i+1)
					}
				}
				return nil
			})
		}, []string{"missing_required", "right", "format_only"}}, // a default may say the same
		{"another text", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call {
			return withArguments(c, func(ms []qaoa.Member) []qaoa.Member {
				for i, m := range ms {
					if m.Value.Kind == qaoa.String {
						ms[i].Value = qaoa.StringValue("zqxj vwk")
						return ms
					}
				}
				return nil
			})
		}, []string{"wrong_value"}},
		{"a list for a number", func(_ qaoa.Record, c qaoa.Call) []qaoa.Call {
			return withArguments(c, func(ms []qaoa.Member) []qaoa.Member {
				for i, m := range ms {
					if m.Value.Kind == qaoa.Number {
						ms[i].Value = qaoa.ArrayValue(qaoa.StringValue("zqxj"))
						return ms
					}
				}
				return nil
			})
		}, []string{"wrong_type"}},
	}
}

// TestDiagnoseRealData breaks the gold calls of real single-hop records, in one
// way at a time, and looks for the class of every turn.
func TestDiagnoseRealData(t *testing.T) {
	for _, source := range []string{"bfcl", "seal-tools", "hammerbench", "toolalpaca"} {
		recs := slices.DeleteFunc(realRecords(t, source), func(rec qaoa.Record) bool {
			return len(rec.Turns) != 1 || len(rec.Calls()) != 1
		})
		for _, sp := range spoils() {
			t.Run(source+": "+sp.name, func(t *testing.T) {
				var gold []qaoa.Record
				var preds []qaoa.Prediction
				for _, rec := range recs {
					if out := sp.do(rec, rec.Calls()[0]); out != nil {
						gold = append(gold, rec)
						preds = append(preds, qaoa.Prediction{ID: rec.ID, Turns: oneTurn(out)})
					}
				}
				d, err := eval.Diagnose(t.Context(), each(gold...), each(preds...), eval.DiagnoseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				table := &d.All.SH
				found := map[string]int{"abstained": table.Abstained, "malformed": table.Malformed, "right": table.Right}
				if sp.name == "the call twice" {
					found["right"] -= len(gold)
				}
				for _, c := range table.Classes {
					found[string(c.Class)] = c.N
				}
				n := 0
				for _, name := range sp.wants {
					n += found[name]
				}
				if n != len(gold) {
					t.Errorf("%d records: %v; want %v only\n%s", len(gold), found, sp.wants, exampleText(d, sp.wants))
				}
				if sp.name == "gold itself" && *d.Scores.Cells.SH.SPA != 1 {
					t.Errorf("gold scores %g; want 1", *d.Scores.Cells.SH.SPA)
				}
			})
		}
	}
}

func exampleText(d eval.Diagnosis, wants []string) string {
	for _, e := range d.Examples {
		if !slices.Contains(wants, string(e.Class)) {
			return fmt.Sprintf("for example %+v", e)
		}
	}
	return ""
}
