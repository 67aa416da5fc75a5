package match

import (
	"slices"
	"testing"

	"assay/qaoa"

	"github.com/goccy/go-json"
)

// A goldenCase is a line of the file of a preset. One object for gold or pred
// is a call of f with these arguments; else they are lists of [name, arguments].
type goldenCase struct {
	Case         string
	Fix          string // a fault that is repaired
	Category     string
	Tools        []string // on offer beside f
	Schema       json.RawMessage
	Required     []string
	Alternatives json.RawMessage
	Gold, Pred   json.RawMessage
	Want         string // FPA, the verdict of every preset
	SPA, FP      string
	Rule         Rule
	Path         string
}

func (c goldenCase) calls(t *testing.T, raw json.RawMessage) []qaoa.Call {
	t.Helper()
	if raw[0] == '{' {
		return []qaoa.Call{{Name: "f", Arguments: compact(t, raw)}}
	}
	var list [][2]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var out []qaoa.Call
	for _, pair := range list {
		out = append(out, qaoa.Call{Name: compact(t, pair[0]).Text(), Arguments: compact(t, pair[1])})
	}
	return out
}

// tools turns the short schema, a type per parameter or [array, item type],
// into tools.
func (c goldenCase) tools(t *testing.T) []qaoa.Tool {
	t.Helper()
	if len(c.Schema) == 0 {
		return nil
	}
	v, err := qaoa.ParseValue([]byte(c.Schema))
	if err != nil {
		t.Fatal(err)
	}
	typed := func(word string) qaoa.Member {
		return qaoa.Member{Name: "type", Value: qaoa.StringValue(word)}
	}
	for i, m := range v.Members {
		p := qaoa.ObjectValue(typed(m.Value.Text))
		if m.Value.Kind == qaoa.Array {
			p = qaoa.ObjectValue(typed(m.Value.Items[0].Text),
				qaoa.Member{Name: "items", Value: qaoa.ObjectValue(typed(m.Value.Items[1].Text))})
		}
		v.Members[i].Value = p
	}
	required := qaoa.ArrayValue()
	for _, r := range c.Required {
		required.Items = append(required.Items, qaoa.StringValue(r))
	}
	schema := qaoa.ObjectValue(typed("object"), qaoa.Member{Name: "properties", Value: v},
		qaoa.Member{Name: "required", Value: required})
	var out []qaoa.Tool
	for _, name := range append(c.Tools, "f") {
		out = append(out, qaoa.Tool{Name: name, Parameters: schema.JSON()})
	}
	return out
}

func (c goldenCase) meta(t *testing.T) qaoa.JSON {
	t.Helper()
	if len(c.Alternatives) == 0 {
		return ""
	}
	list, err := qaoa.ParseValue([]byte(c.Alternatives))
	if err != nil {
		t.Fatal(err)
	}
	return qaoa.ObjectValue(qaoa.Member{Name: "category", Value: qaoa.StringValue(c.Category)},
		qaoa.Member{Name: "alternatives", Value: list}).JSON()
}

func TestGoldenCasesOfPresets(t *testing.T) {
	for _, preset := range foreignPresets() {
		cases := 0
		for c := range vectors[goldenCase](t, preset.Name+".jsonl") {
			cases++
			t.Run(preset.Name+"/"+c.Case, func(t *testing.T) {
				opt := preset
				if c.Fix != "" {
					var err error
					if opt, err = preset.WithFix(c.Fix); err != nil {
						t.Fatal(err)
					}
				}
				gold, pred := c.calls(t, c.Gold), c.calls(t, c.Pred)
				alt, err := ParseAlternatives(c.meta(t), len(gold))
				if err != nil {
					t.Fatal(err)
				}
				g := PrepareWith(gold, c.tools(t), alt, opt)
				score := g.Counts(pred).Score(opt)
				pairs := g.Explain(pred)
				why := ""
				if len(pairs) > 0 {
					why = pairs[0].Verdict.Why
				}
				for _, metric := range []struct {
					name, want string
					got        float64
				}{{"FPA", c.Want, score.FPA}, {"SPA", c.SPA, score.SPA}, {"FP", c.FP, score.FP}} {
					if metric.want != "" && metric.got != fraction(t, metric.want) {
						t.Errorf("%s = %v, want %s: %s", metric.name, metric.got, metric.want, why)
					}
				}
				if c.Rule != "" && pairs[0].Verdict.Rule != c.Rule {
					t.Errorf("rule %s, want %s: %s", pairs[0].Verdict.Rule, c.Rule, why)
				}
				if c.Path != "" && pairs[0].Verdict.Path != c.Path {
					t.Errorf("path %s, want %s: %s", pairs[0].Verdict.Path, c.Path, why)
				}
				for _, p := range pairs {
					if p.Verdict.Rule == "" || p.Verdict.Why == "" {
						t.Errorf("pair without a reason: %+v", p)
					}
				}
			})
		}
		if cases < 15 {
			t.Errorf("preset %s has %d golden cases", preset.Name, cases)
		}
	}
}

func TestEveryFaultHasAGoldenCase(t *testing.T) {
	for _, preset := range everyPreset()[3:] {
		var fixed []string
		for c := range vectors[goldenCase](t, preset.options.Name+".jsonl") {
			fixed = append(fixed, c.Fix)
		}
		for _, f := range preset.info.Faults {
			if f.Name != "binary" && !slices.Contains(fixed, f.Name) {
				t.Errorf("no golden case shows fault %s of %s repaired", f.Name, preset.options.Name)
			}
		}
	}
}
