package eval_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

// weatherTools are on offer in the tests of classes.
var weatherTools = []qaoa.Tool{
	{Name: "get_weather", Description: "Returns the current weather of a city.", Parameters: `{"type":"object","required":["city"],"properties":{
		"city":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string"},"day":{"type":"string"},
		"place":{"type":"object","required":["lat"],"properties":{"lat":{"type":"number"},"lon":{"type":"number"}}},
		"stops":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}}`},
	{Name: "fetch_weather", Description: "Returns the current weather of a city, by the hour.", Parameters: `{"type":"object"}`},
	{Name: "book_flight", Description: "Books seats on an aeroplane.", Parameters: `{"type":"object"}`},
}

// calls reads calls divided by " ; ", each a name and JSON arguments; "!" is
// an attempt that did not parse.
func calls(s string) []qaoa.Call {
	var out []qaoa.Call
	for text := range strings.SplitSeq(s, " ; ") {
		name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
		switch name {
		case "":
		case "!":
			out = append(out, qaoa.Call{Raw: "<call>" + args})
		default:
			out = append(out, qaoa.Call{Name: name, Arguments: qaoa.JSON(args)})
		}
	}
	return out
}

func oneTurn(calls []qaoa.Call) []qaoa.Turn {
	t := qaoa.Turn{Query: "q"}
	if len(calls) > 0 {
		t.Steps = []qaoa.Step{{Calls: calls}}
	}
	return []qaoa.Turn{t}
}

// tableText writes a table as "class n" for each class, right ones first.
func tableText(t *eval.ErrorTable) string {
	var out []string
	for _, c := range []struct {
		name string
		n    int
	}{{"abstained", t.Abstained}, {"malformed", t.Malformed}, {"missing", t.Missing}, {"right", t.Right}} {
		if c.n > 0 {
			out = append(out, fmt.Sprint(c.name, " ", c.n))
		}
	}
	for _, c := range t.Classes {
		text := fmt.Sprint(c.Class, " ", c.N)
		if c.Flexible > 0 {
			text += fmt.Sprint(" flexible ", c.Flexible)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestDiagnoseClasses(t *testing.T) {
	const oslo = `get_weather {"city":"Oslo"}`
	tests := []struct {
		name, preset, gold, pred, want string
	}{
		{"an equal call is right", "", oslo, oslo, "right 1"},
		{"another tool on offer", "", oslo, `book_flight {"city":"Oslo"}`, "wrong_tool 1"},
		{"a tool whose text is nearly the same", "", oslo, `fetch_weather {"city":"Oslo"}`, "near_duplicate_tool 1"},
		{"a tool that is not on offer", "", oslo, `weather_now {"city":"Oslo"}`, "hallucinated_tool 1"},
		{"a surplus call of a tool that is not on offer", "", oslo, oslo + ` ; weather_now {}`, "right 1, hallucinated_tool 1"},
		{"no call is left for a gold call", "", oslo + ` ; book_flight {}`, oslo, "right 1, missing_call 1"},
		{"no gold call is left", "", oslo, oslo + ` ; book_flight {}`, "right 1, extra_call 1"},
		{"a repeated call is extra", "", oslo, oslo + " ; " + oslo, "right 1, extra_call 1"},
		{"an attempt beside a right call", "", oslo + ` ; book_flight {}`, oslo + ` ; !`, "right 1, unparsable 1"},
		{"a surplus attempt", "", oslo, oslo + ` ; !`, "right 1, unparsable 1"},
		{"a parsed call takes the gold call before an attempt does", "", oslo, `! ; book_flight {}`, "wrong_tool 1, unparsable 1"},
		{"attempts alone are a malformed instance", "", oslo, `! ; !`, "malformed 1"},
		{"no call at all is an abstention", "", oslo, ``, "abstained 1"},
		{"most alike tools are paired first", "", oslo + ` ; book_trip {}`, `book_flight {} ; fetch_weather {}`, "wrong_tool 1, near_duplicate_tool 1"},
		{"a required argument is missing", "", oslo, `get_weather {}`, "missing_required 1"},
		{"a required argument is missing and the rest is close", "", `get_weather {"city":"Oslo","unit":"degrees of Celsius as in the summer of last year"}`, `get_weather {"unit":"degrees of Celsius as in the summer of last year"}`, "missing_required 1 flexible 1"},
		{"an optional argument is missing", "", `get_weather {"city":"Oslo","days":3}`, oslo, "missing_optional 1"},
		{"an argument that the schema does not know", "", oslo, `get_weather {"city":"Oslo","mood":"good"}`, "unknown_argument 1"},
		{"an argument that gold does not have", "", oslo, `get_weather {"city":"Oslo","days":3}`, "extra_argument 1"},
		{"keys are known in any spelling", "", oslo, `get_weather {"city":"Oslo","DAYS":3}`, "extra_argument 1"},
		{"a member of an object is missing", "", `get_weather {"place":{"lat":1,"lon":2}}`, `get_weather {"place":{"lon":2}}`, "missing_required 1 flexible 1"},
		{"a member of an object in an array is missing", "", `get_weather {"stops":[{"name":"x"}]}`, `get_weather {"stops":[{}]}`, "missing_required 1"},
		{"a member of an object is unknown", "", `get_weather {"place":{"lat":1}}`, `get_weather {"place":{"lat":1,"up":2}}`, "unknown_argument 1 flexible 1"},
		{"a text for a number", "", `get_weather {"days":3}`, `get_weather {"days":"a few"}`, "wrong_type 1"},
		{"another number", "", `get_weather {"days":3}`, `get_weather {"days":4}`, "wrong_value 1"},
		{"another number in a string", "", `get_weather {"days":3}`, `get_weather {"days":"4"}`, "wrong_value 1"},
		{"a date and another text are both strings", "", `get_weather {"day":"2023-04-01"}`, `get_weather {"day":"tomorrow"}`, "wrong_value 1"},
		{"a list of another length", "", `get_weather {"stops":[1]}`, `get_weather {"stops":[1,2,3]}`, "wrong_value 1"},
		{"arguments that are no object", "", oslo, `get_weather ["Oslo"]`, "wrong_type 1"},
		{"close in every argument", "", `get_weather {"city":"the old town of Bern"}`, `get_weather {"city":"old town of Bern now"}`, "format_only 1 flexible 1"},
		{"equal under preset paper only", "strict", oslo, `get_weather {"city":"OSLO"}`, "format_only 1"},
		{"a number in a string under preset strict", "strict", `get_weather {"days":3}`, `get_weather {"days":"3"}`, "format_only 1"},
		{"digits of names count under preset strict", "strict", oslo, `get_weather2 {"city":"Oslo"}`, "hallucinated_tool 1"},
		{"close over the call is not close in every argument", "", `get_weather {"city":"Oslo","days":3,"unit":"C"}`, `get_weather {"city":"Bergen","days":3,"unit":"C"}`, "wrong_value 1 flexible 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			gold := qaoa.Record{ID: "x", Source: qaoa.Source{Name: "set"}, Tools: weatherTools, Turns: oneTurn(calls(tt.gold))}
			pred := qaoa.Prediction{ID: "x", Turns: oneTurn(calls(tt.pred))}
			d, err := eval.Diagnose(t.Context(), each(gold), each(pred), eval.DiagnoseOptions{Preset: preset(t, tt.preset)})
			if err != nil {
				t.Fatal(err)
			}
			cell := &d.All.SH
			if len(calls(tt.gold)) > 1 {
				cell = &d.All.MH
			}
			if got := tableText(cell); got != tt.want {
				t.Errorf("%s | %s: %s; want %s", tt.gold, tt.pred, got, tt.want)
			}
			if got := tableText(&d.All.ST); got != tt.want {
				t.Errorf("conversation: %s; want %s", got, tt.want)
			}
		})
	}
}

func TestDiagnoseCells(t *testing.T) {
	gold := []qaoa.Record{
		record("a", "one", "f:1 | f:1 g:2"), record("b", "two", ""), record("c", "two", "f:1"),
		record("d", "two", "f:1"), record("e", "two", ""), record("f", "two", ""),
	}
	preds := []qaoa.Prediction{
		prediction("a", 0, "f:1 | f:1 g:3"), prediction("b", 0, ""), prediction("c", 0, "f:1 | h"),
		prediction("e", 0, "f:1"), prediction("f", 0, "!"),
	}
	d, err := eval.Diagnose(t.Context(), each(gold...), each(preds...), eval.DiagnoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"SH": "missing 1, right 2", "MH": "right 1, wrong_value 1", "ST": "missing 1, right 1, hallucinated_tool 1",
		"MT": "right 2, wrong_value 1", "no_gold": "abstained 1, malformed 1, hallucinated_tool 1", "surplus": "hallucinated_tool 1",
	}
	for _, name := range eval.ErrorCellNames() {
		if got := tableText(d.All.Cell(name)); got != want[name] {
			t.Errorf("%s: %s; want %s", name, got, want[name])
		}
	}
	if got := tableText(&d.Datasets["one"].SH); got != "right 1" {
		t.Errorf("SH of data set one: %s; want right 1", got)
	}
	c := d.All.MH.Count(eval.ClassWrongValue)
	if c.Share != 0.5 || c.OfErrors != 1 {
		t.Errorf("shares %g of lines and %g of errors; want 0.5 and 1", c.Share, c.OfErrors)
	}
	if d.Scores.Coverage.Missing != 1 {
		t.Errorf("coverage %+v; want 1 missing", d.Scores.Coverage)
	}
}

func TestDiagnoseExamples(t *testing.T) {
	var gold []qaoa.Record
	var preds []qaoa.Prediction
	for i := range 6 {
		id := fmt.Sprint(i)
		gold, preds = append(gold, record(id, "set", "f:1")), append([]qaoa.Prediction{prediction(id, 0, "f:2")}, preds...)
	}
	for n, want := range map[int]string{0: "0 1 2", 2: "0 1", -1: ""} {
		d, err := eval.Diagnose(t.Context(), each(gold...), each(preds...), eval.DiagnoseOptions{Examples: n})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range d.Examples {
			ids = append(ids, e.ID)
			if e.Gold != `f {"a":1}` || e.Pred != `f {"a":2}` || !strings.Contains(e.Why, "/a: gold number 1, predicted number 2") {
				t.Errorf("example %+v; want both calls and the argument", e)
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("Examples %d keeps %q; want the first in the order of gold, %q", n, got, want)
		}
	}
}

// TestDiagnoseOffered: what was shown counts, not what the record holds.
func TestDiagnoseOffered(t *testing.T) {
	gold := record("x", "set", "f:1")
	opt := eval.DiagnoseOptions{Offered: func(rec qaoa.Record) []qaoa.Tool {
		return append([]qaoa.Tool{{Name: "other"}}, rec.Tools...)
	}}
	d, err := eval.Diagnose(t.Context(), each(gold), each(prediction("x", 0, "other")), opt)
	if err != nil {
		t.Fatal(err)
	}
	if got := tableText(&d.All.SH); got != "wrong_tool 1" {
		t.Errorf("a tool of the candidate list: %s; want wrong_tool 1", got)
	}
}

func TestDiagnoseBreakdowns(t *testing.T) {
	tools := []qaoa.Tool{{Name: "far", Description: "opens umbrellas"}, {Name: "get_weather", Description: "current weather of a city"}, {Name: "get_weather_v2", Description: "current weather of a city"}}
	rec := func(id, text string, tools ...qaoa.Tool) qaoa.Record {
		return qaoa.Record{ID: id, Source: qaoa.Source{Name: "s"}, Tools: tools, Turns: oneTurn(calls(text))}
	}
	gold := []qaoa.Record{
		rec("1", `get_weather {"city":"x","b":1}`, tools...),
		rec("2", `get_weather {"city":"x"}`, tools[:2]...),
		rec("3", `get_weather {}`, tools[1]),
		rec("4", `get_weather {} ; lost {"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`, tools[1:]...),
		rec("5", `lost {}`),
		rec("6", ``, tools...),
	}
	d, err := eval.Diagnose(t.Context(), each(gold...), each(qaoa.Prediction{ID: "1", Turns: gold[0].Turns}), eval.DiagnoseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"similarity": "no other tool:2/0 0.0-0.2:1/0 0.8-1.0:2/0.5",
		"candidates": "1:1/0 2-5:3/0.333 none:1/0",
		"position":   "1:2/0 2-5:2/0.5 not on offer:1/0",
		"arguments":  "0:2/0 1:1/0 2:1/1 5+:1/0",
		"hops":       "1:4/0.25 2:1/0",
		"strategy":   "single-hop:4/0.25 parallel:1/0",
	}
	for _, b := range d.Breakdowns {
		var bins []string
		for _, bin := range b.Bins {
			bins = append(bins, fmt.Sprintf("%s:%d/%.3g", bin.Label, bin.N, *bin.SPA))
		}
		if got := strings.Join(bins, " "); got != want[b.By] {
			t.Errorf("by %s: %s; want %s", b.By, got, want[b.By])
		}
		delete(want, b.By)
	}
	if len(want) > 0 {
		t.Errorf("no breakdown by %v", want)
	}
}

func TestDiagnoseErrors(t *testing.T) {
	_, err := eval.Diagnose(t.Context(), each(record("a", "s", "f:1")), each(prediction("b", 0, "f:1")), eval.DiagnoseOptions{})
	if _, ok := errors.AsType[*eval.IDError](err); !ok {
		t.Errorf("an unknown id: %v; want an *IDError", err)
	}
	_, err = eval.Diagnose(t.Context(), each(record("a", "s", "f:1")), each[qaoa.Prediction](), eval.DiagnoseOptions{Preset: match.Options{Keys: "no"}})
	if err == nil {
		t.Error("a preset without such a knob: no error")
	}
}

// drawRun draws gold records and predictions for some of them.
func drawRun(t *rapid.T) (gold []qaoa.Record, preds []qaoa.Prediction) {
	text := rapid.StringMatching(`((f|g|f2|h):[12] ?|! ){0,4}(\| (f|g):[12] ){0,2}`)
	for i := range rapid.IntRange(1, 6).Draw(t, "records") {
		id := fmt.Sprint(i)
		gold = append(gold, record(id, fmt.Sprint("set", i%2), strings.ReplaceAll(text.Draw(t, "gold"), "!", "")))
		for repeat := range rapid.IntRange(0, 3).Draw(t, "repeats") {
			preds = append(preds, prediction(id, repeat, text.Draw(t, "pred")))
		}
	}
	return gold, preds
}

func shuffled(t *rapid.T, preds []qaoa.Prediction) []qaoa.Prediction {
	out := append([]qaoa.Prediction(nil), preds...)
	seed := rapid.Uint64().Draw(t, "seed")
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// TestDiagnoseLines: the lines of the instances are max(|P|, |G|) each, every
// one of them has one class, and neither order nor workers change a thing.
func TestDiagnoseLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gold, preds := drawRun(rt)
		opt := eval.DiagnoseOptions{Preset: preset(t, rapid.SampledFrom(match.Presets()).Draw(rt, "preset")), Workers: 1}
		// The others pair calls in ways of their own.
		oneToOne := slices.Contains([]string{"paper", "reference", "strict"}, opt.Preset.Name)
		d, err := eval.Diagnose(t.Context(), each(gold...), each(preds...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		opt.Workers = 5
		again, err := eval.Diagnose(t.Context(), each(gold...), each(shuffled(rt, preds)...), opt)
		if diff := cmp.Diff(d, again, cmp.AllowUnexported(eval.ErrorExample{})); err != nil || diff != "" {
			rt.Fatalf("another order and 5 workers: %v %s", err, diff)
		}
		raw := map[string]bool{} // turns of predictions with no call that parsed
		for _, p := range preds {
			all := true
			for i, turn := range p.Turns {
				none := true
				for _, c := range turn.Calls() {
					none = none && c.Raw != ""
				}
				all = all && none
				raw[fmt.Sprint(p.ID, p.Repeat, i)] = none
			}
			raw[fmt.Sprint(p.ID, p.Repeat, -1)] = all
		}
		n, lines := map[string]int{}, map[string]int{}
		_, err = eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{
			Presets: []match.Options{opt.Preset},
			Item: func(_ string, it eval.Item) error {
				n[it.Cell]++
				if !it.Missing && it.Pred > 0 && !raw[fmt.Sprint(it.ID, it.Repeat, it.Turn)] {
					lines[it.Cell] += max(it.Gold, it.Pred)
				}
				return nil
			},
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, name := range eval.ErrorCellNames() {
			table := d.All.Cell(name)
			sum := table.Right
			for _, c := range table.Classes {
				sum += c.N
			}
			if table.N != n[name] || oneToOne && table.Lines != lines[name] || sum != table.Lines {
				rt.Fatalf("%s: %d instances, %d lines, %d classed; want %d and %d", name, table.N, table.Lines, sum, n[name], lines[name])
			}
		}
	})
}

func FuzzDiagnose(f *testing.F) {
	f.Add(`get_weather {"city":"Oslo"}`, `get_weather {"place":{"lat":"x~1/"}} ; ! ; a {"":{}}`)
	f.Add(`get_weather {"stops":[{"name":"a"}]} ; x {}`, `get_weather "{\"stops\":[1]}"`)
	f.Fuzz(func(t *testing.T, gold, pred string) {
		rec := qaoa.Record{ID: "x", Tools: weatherTools, Turns: oneTurn(calls(gold))}
		d, err := eval.Diagnose(t.Context(), each(rec), each(qaoa.Prediction{ID: "x", Turns: oneTurn(calls(pred))}), eval.DiagnoseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Examples {
			if e.Why == "" {
				t.Errorf("no reason in %+v", e)
			}
		}
	})
}

// alternativesRecord has gold calls f(a:1) in as many turns as there are lists
// of alternatives.
func alternativesRecord(meta string, turns int) qaoa.Record {
	rec := record("x", "s", strings.TrimSuffix(strings.Repeat("f:1 | ", turns), " | "))
	rec.Tools[0].Parameters = `{"type":"object","properties":{"a":{"type":"integer"}}}`
	rec.Meta = qaoa.JSON(meta)
	return rec
}

// TestScoreAlternatives: presets that read them take every listed value, turn
// by turn.
func TestScoreAlternatives(t *testing.T) {
	tests := []struct {
		name, meta, pred, preset, want string
		turns                          int
	}{
		{"a listed value", `{"alternatives":[{"a":[1,2]}]}`, "f:2", "bfcl", "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -", 1},
		{"a value that is not listed", `{"alternatives":[{"a":[1,2]}]}`, "f:3", "bfcl", "SH 1 1 1 0 0; MH -; ST 1 1 1 0 0; MT -", 1},
		{"preset paper does not read them", `{"alternatives":[{"a":[1,2]}]}`, "f:2", "paper", "SH 1 1 1 0 0; MH -; ST 1 1 1 0 0; MT -", 1},
		{"each turn has its own", `{"alternatives":[{"a":[1,2]},{"a":[3]}]}`, "f:2 | f:3", "bfcl", "SH 2 1 1 1 1; MH -; ST -; MT 1 1 1 1 1", 2},
		{"and no other", `{"alternatives":[{"a":[1,2]},{"a":[3]}]}`, "f:2 | f:2", "bfcl", "SH 2 1 1 0.5 0.5; MH -; ST -; MT 1 1 1 0 0", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Two repeats: the second one finds the canonical forms kept.
			preds := []qaoa.Prediction{prediction("x", 0, tt.pred), prediction("x", 1, tt.pred)}
			for _, preds := range [][]qaoa.Prediction{preds[:1], preds} {
				got := score(t, []qaoa.Record{alternativesRecord(tt.meta, tt.turns)}, preds, eval.ScoreOptions{Presets: presetsOf(t, tt.preset)})
				for _, c := range []*eval.Cell{&got.Cells.SH, &got.Cells.ST, &got.Cells.MT} {
					c.N /= len(preds)
				}
				if text := cellsText(got.Cells); text != tt.want || len(got.Warnings) > 0 {
					t.Errorf("%d repeats: %q, warnings %q; want %q", len(preds), text, got.Warnings, tt.want)
				}
			}
		})
	}
	got := score(t, []qaoa.Record{alternativesRecord(`{"alternatives":[{"a":[1]},{"a":[2]}]}`, 1)}, nil, eval.ScoreOptions{Presets: presetsOf(t, "bfcl")})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "1 records list alternatives") {
		t.Errorf("two lists for one call: warnings %q; want one about them", got.Warnings)
	}
}

// TestScoreFreeCalls: a gold call that may be left out still makes a hop.
func TestScoreFreeCalls(t *testing.T) {
	p := preset(t, "paper")
	p.FreeCalls = "f"
	for pred, want := range map[string]string{"": "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -", "f:1": "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -", "g": "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"} {
		got := score(t, []qaoa.Record{record("x", "s", "f:1")}, []qaoa.Prediction{prediction("x", 0, pred)}, eval.ScoreOptions{Presets: []match.Options{p}})
		if text := cellsText(got.Cells); text != want {
			t.Errorf("predicted %q: %q; want %q", pred, text, want)
		}
	}
}
