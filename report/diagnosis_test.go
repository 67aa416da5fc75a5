package report

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

func seq[T any](items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// weather returns gold records of two data sets and predictions with errors.
func weather() (gold []qaoa.Record, preds []qaoa.Prediction) {
	tools := []qaoa.Tool{
		{Name: "get_weather", Description: "current weather of a city", Parameters: `{"type":"object","required":["city"],"properties":{"city":{},"days":{}}}`},
		{Name: "get_weather_v2", Description: "current weather of a city"},
	}
	turn := func(name, args string) []qaoa.Turn {
		if name == "" {
			return []qaoa.Turn{{}}
		}
		return []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: name, Arguments: qaoa.JSON(args)}}}}}}
	}
	add := func(set, name, predicted string) {
		id := fmt.Sprint(set, "/", len(gold))
		gold = append(gold, qaoa.Record{ID: id, Source: qaoa.Source{Name: set}, Tools: tools, Turns: turn("get_weather", `{"city":"Oslo"}`)})
		preds = append(preds, qaoa.Prediction{ID: id, Turns: turn(name, predicted)})
	}
	add("one", "get_weather", `{"city":"oslo"}`)
	add("one", "get_weather", `{"days":"<b>|\u001b[31m"}`)
	add("two", "lookup", `{}`)
	add("two", "", ``)
	add("two", "get_weather", `{"city":"Bergen"}`)
	return gold, preds
}

// TestDiagnosis: what a model wrote can break neither a terminal nor a table.
func TestDiagnosis(t *testing.T) {
	gold, preds := weather()
	d, err := eval.Diagnose(t.Context(), seq(gold...), seq(preds...), eval.DiagnoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diagnosis.txt", func(w io.Writer) error { return DiagnosisText(w, d) })
	golden(t, "diagnosis.md", func(w io.Writer) error { return DiagnosisMarkdown(w, d) })
	golden(t, "diagnosis.json", func(w io.Writer) error { return DiagnosisJSON(w, d) })
}

func TestCross(t *testing.T) {
	gold, preds := weather()
	var presets []match.Options
	for _, name := range []string{"paper", "strict"} {
		p, err := match.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		presets = append(presets, p)
	}
	c, err := eval.Cross(t.Context(), seq(gold...), seq(preds...), eval.CrossOptions{Presets: presets})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cross.txt", func(w io.Writer) error { return CrossText(w, c) })
	golden(t, "cross.md", func(w io.Writer) error { return CrossMarkdown(w, c) })
	golden(t, "cross.json", func(w io.Writer) error { return CrossJSON(w, c) })
}

func TestDiff(t *testing.T) {
	gold, preds := weather()
	better := slices.Clone(preds)
	better[3] = qaoa.Prediction{ID: gold[3].ID, Turns: gold[3].Turns}
	worse := slices.Clone(better)
	better = append(better, qaoa.Prediction{ID: gold[4].ID, Repeat: 1, Turns: gold[4].Turns})
	worse[0] = preds[1]
	worse[0].ID = gold[0].ID
	worse = worse[:4]
	d, err := eval.Diff(t.Context(), seq(gold...), seq(preds...), seq(worse...), eval.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", func(w io.Writer) error { return DiffText(w, d) })
	golden(t, "diff.md", func(w io.Writer) error { return DiffMarkdown(w, d) })
	golden(t, "diff.json", func(w io.Writer) error { return DiffJSON(w, d) })
	unstable, err := eval.Diff(t.Context(), seq(gold...), seq(better...), seq(better...), eval.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diff-unstable.txt", func(w io.Writer) error { return DiffText(w, unstable) })
}
