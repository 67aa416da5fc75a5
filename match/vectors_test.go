package match

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"testing"

	matchdata "assay/benchdata/match"
	"assay/qaoa"

	"github.com/goccy/go-json"
)

// vectors yields the lines of a file of vectors.
func vectors[T any](t *testing.T, file string) iter.Seq[T] {
	t.Helper()
	data, err := matchdata.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(T) bool) {
		n := 0
		for line := range bytes.Lines(data) {
			n++
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%s:%d: %v", file, n, err)
			}
			if !yield(v) {
				return
			}
		}
	}
}

type argumentsVector struct {
	Case        string
	Preset      string
	DateOrder   string `json:"date_order"`
	Gold, Pred  json.RawMessage
	Schema      json.RawMessage
	Strict      bool
	Flexible    bool
	FlexibleArg *bool `json:"flexible_arg"`
	Rule        Rule
}

func compact(t *testing.T, raw []byte) qaoa.JSON {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	j, err := qaoa.Compact(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return j
}

func TestArgumentVectors(t *testing.T) {
	for v := range vectors[argumentsVector](t, "arguments.jsonl") {
		t.Run(v.Case, func(t *testing.T) {
			opt, err := Preset(v.Preset)
			if err != nil {
				t.Fatal(err)
			}
			if v.DateOrder != "" {
				opt.DateOrder = v.DateOrder
			}
			gold := qaoa.Call{Name: "f", Arguments: compact(t, v.Gold)}
			pred := qaoa.Call{Name: "f", Arguments: compact(t, v.Pred)}
			tools := []qaoa.Tool{{Name: "f", Parameters: compact(t, v.Schema)}}
			got := Compare(gold, pred, tools, opt)
			if !got.Name || got.Strict != v.Strict || got.Flexible != v.Flexible {
				t.Errorf("gold %s, pred %s: strict %t, flexible %t; want %t, %t\n%s",
					gold.Arguments, pred.Arguments, got.Strict, got.Flexible, v.Strict, v.Flexible, got.Why)
			}
			if v.FlexibleArg != nil && got.FlexibleArg != *v.FlexibleArg {
				t.Errorf("flexible_arg = %t, want %t\n%s", got.FlexibleArg, *v.FlexibleArg, got.Why)
			}
			if v.Rule != "" && got.Rule != v.Rule {
				t.Errorf("rule = %s, want %s\n%s", got.Rule, v.Rule, got.Why)
			}
			if got.Why == "" || got.Rule == "" {
				t.Errorf("verdict without a reason: %+v", got)
			}
			back := Compare(pred, gold, tools, opt)
			if back.Strict != got.Strict || back.Flexible != got.Flexible || back.FlexibleArg != got.FlexibleArg {
				t.Errorf("the other way round: %+v, want the same verdicts as %+v", back, got)
			}
		})
	}
}

// calls reads the notation of sets.jsonl: "f:1 g:2" is two calls with the
// argument v, "f:old-town" has blanks for hyphens, "!" did not parse.
func calls(s string) []qaoa.Call {
	var out []qaoa.Call
	for word := range strings.FieldsSeq(s) {
		name, value, _ := strings.Cut(word, ":")
		if name == "!" {
			out = append(out, qaoa.Call{Raw: "f(1"})
			continue
		}
		v := qaoa.StringValue(strings.ReplaceAll(value, "-", " "))
		out = append(out, qaoa.Call{Name: name, Arguments: qaoa.ObjectValue(qaoa.Member{Name: "v", Value: v}).JSON()})
	}
	return out
}

type setVector struct {
	Case, Preset, Gold, Pred string
	SP, FP, SPA, FPA         string
	FPAArg                   string `json:"FPA_arg"`
}

func fraction(t *testing.T, s string) float64 {
	t.Helper()
	num, den := 0, 1
	if n, _ := fmt.Sscanf(s, "%d/%d", &num, &den); n == 0 {
		t.Fatalf("no fraction: %q", s)
	}
	return float64(num) / float64(den)
}

func TestSetVectors(t *testing.T) {
	for v := range vectors[setVector](t, "sets.jsonl") {
		t.Run(v.Case, func(t *testing.T) {
			opt, err := Preset(v.Preset)
			if err != nil {
				t.Fatal(err)
			}
			want := Score{
				SP: fraction(t, v.SP), FP: fraction(t, v.FP),
				SPA: fraction(t, v.SPA), FPA: fraction(t, v.FPA), FPAArg: fraction(t, v.FPAArg),
			}
			if got := Instance(calls(v.Gold), calls(v.Pred), nil, opt); got != want {
				t.Errorf("Instance(gold %q, pred %q) = %+v, want %+v", v.Gold, v.Pred, got, want)
			}
		})
	}
}

func TestNameVectors(t *testing.T) {
	for v := range vectors[struct{ Name, Form string }](t, "names.jsonl") {
		if got := Name(v.Name); got != v.Form {
			t.Errorf("Name(%q) = %q, want %q", v.Name, got, v.Form)
		}
	}
}
