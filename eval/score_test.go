package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

func preset(t testing.TB, name string) match.Options {
	t.Helper()
	p, err := match.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cellText writes a cell as "n SP FP SPA FPA", with the fraction rounded to
// three places, and "-" for an empty one.
func cellText(c eval.Cell) string {
	if c.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %.3g %.3g %.3g %.3g", c.N, *c.SP, *c.FP, *c.SPA, *c.FPA)
}

func cellsText(c eval.Cells) string {
	return fmt.Sprintf("SH %s; MH %s; ST %s; MT %s", cellText(c.SH), cellText(c.MH), cellText(c.ST), cellText(c.MT))
}

func score(t testing.TB, gold []qaoa.Record, preds []qaoa.Prediction, opt eval.ScoreOptions) eval.Scores {
	t.Helper()
	got, err := eval.Score(t.Context(), each(gold...), each(preds...), opt)
	if err != nil || len(got) != 1 {
		t.Fatalf("Score = %d scores, %v; want one", len(got), err)
	}
	return got[0]
}

func TestScore(t *testing.T) {
	tests := []struct {
		name, gold, pred string
		preset           string
		aligned          bool
		want             string
	}{
		{"one right call", "f:1", "f:1", "", false, "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -"},
		{"right name, wrong argument", "f:1", "f:2", "", false, "SH 1 1 1 0 0; MH -; ST 1 1 1 0 0; MT -"},
		{"wrong name", "f:1", "g:1", "", false, "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"},
		{"no call is null padded", "f:1", "", "", false, "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"},
		{"order and grouping are free", "f:1 g:2", "g:2, f:1", "", false, "SH -; MH 1 1 1 1 1; ST 1 1 1 1 1; MT -"},
		{"an omitted call", "f:1 g:2", "f:1", "", false, "SH -; MH 1 0 0.5 0.5 0.5; ST 1 0 0.5 0.5 0.5; MT -"},
		{"an extra call", "f:1", "f:1 g:2", "", false, "SH 1 0 0.5 0.5 0.5; MH -; ST 1 0 0.5 0.5 0.5; MT -"},
		{"an unparsable call is extra", "f:1", "f:1 !", "", false, "SH 1 0 0.5 0.5 0.5; MH -; ST 1 0 0.5 0.5 0.5; MT -"},
		{
			"turns pair by position", "f:1 | g:1 g:2", "f:1 | g:1", "", false,
			"SH 1 1 1 1 1; MH 1 0 0.5 0.5 0.5; ST -; MT 1 0 0.667 0.667 0.667",
		},
		{"a turn that is not there has no calls", "f:1 | g:1", "f:1", "", false, "SH 2 0.5 0.5 0.5 0.5; MH -; ST -; MT 1 0 0.5 0.5 0.5"},
		{"calls are pooled over turns", "f:1 | g:1", "g:1 | f:1", "", false, "SH 2 0 0 0 0; MH -; ST -; MT 1 1 1 1 1"},
		{"aligned: not pooled", "f:1 | g:1", "g:1 | f:1", "", true, "SH 2 0 0 0 0; MH -; ST -; MT 1 0 0 0 0"},
		{
			"pooled: n is the larger sum", "f:1 | g:1 g:2", "f:1 f:2 | g:1", "", false,
			"SH 1 0 0.5 0.5 0.5; MH 1 0 0.5 0.5 0.5; ST -; MT 1 0 0.667 0.667 0.667",
		},
		{
			"aligned: n is the sum of the larger", "f:1 | g:1 g:2", "f:1 f:2 | g:1", "", true,
			"SH 1 0 0.5 0.5 0.5; MH 1 0 0.5 0.5 0.5; ST -; MT 1 0 0.5 0.5 0.5",
		},
		{
			"aligned: all turns right", "f:1 | | g:1 g:2", "f:1 | | g:2 g:1", "", true,
			"SH 1 1 1 1 1; MH 1 1 1 1 1; ST -; MT 1 1 1 1 1",
		},
		{"a surplus turn counts in the conversation", "f:1", "f:1 | g:1", "", false, "SH 1 1 1 1 1; MH -; ST 1 0 0.5 0.5 0.5; MT -"},
		{"a surplus turn counts in the aligned conversation", "f:1", "f:1 | g:1", "", true, "SH 1 1 1 1 1; MH -; ST 1 0 0.5 0.5 0.5; MT -"},
		{"a surplus turn without calls changes nothing", "f:1", "f:1 | ", "", false, "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -"},
		{"no gold call: in no cell", "", "", "", false, "SH -; MH -; ST -; MT -"},
		{"no gold call, but called: in no cell", "", "f:1", "", false, "SH -; MH -; ST -; MT -"},
		{"calls in a turn without gold count in the conversation", "f:1 | ", "f:1 | g:1", "", false, "SH 1 1 1 1 1; MH -; ST -; MT 1 0 0.5 0.5 0.5"},
		{"reference: omitted calls are not padded", "f:1 f:2", "f:1", "reference", false, "SH -; MH 1 0 1 1 1; ST 1 0 1 1 1; MT -"},
		{"reference: extra calls count", "f:1", "f:1 g:2", "reference", false, "SH 1 0 0.5 0.5 0.5; MH -; ST 1 0 0.5 0.5 0.5; MT -"},
		{"reference: no prediction", "f:1", "", "reference", false, "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"},
		{"reference: turns without gold sit in SH with 0", "f:1 | ", "f:1 | ", "reference", false, "SH 2 0.5 0.5 0.5 0.5; MH -; ST -; MT 1 1 1 1 1"},
		{"reference: conversations without gold sit in ST with 0", "", "", "reference", false, "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"},
		{"reference: and in MT", " | ", "f:1 | ", "reference", false, "SH 2 0 0 0 0; MH -; ST -; MT 1 0 0 0 0"},
		{"strict: names keep their digits", "f2:1", "f3:1", "strict", false, "SH 1 0 0 0 0; MH -; ST 1 0 0 0 0; MT -"},
		{"paper: names do not", "f2:1", "f3:1", "paper", false, "SH 1 1 1 1 1; MH -; ST 1 1 1 1 1; MT -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := score(t, []qaoa.Record{record("x", "set", tt.gold)}, []qaoa.Prediction{prediction("x", 0, tt.pred)},
				eval.ScoreOptions{Presets: []match.Options{preset(t, tt.preset)}, Aligned: tt.aligned})
			if text := cellsText(got.Cells); text != tt.want {
				t.Errorf("cells %q; want %q", text, tt.want)
			}
			if got.Bounds != nil || got.Coverage.Missing != 0 {
				t.Errorf("bounds %v, coverage %+v; want full coverage", got.Bounds, got.Coverage)
			}
		})
	}
}

func TestScoreNoGold(t *testing.T) {
	gold := []qaoa.Record{record("a", "s", ""), record("b", "s", ""), record("c", "s", " | f:1"), record("d", "s", ""), record("e", "s", ""), record("z", "s", "")}
	preds := []qaoa.Prediction{
		prediction("a", 0, ""), prediction("b", 0, "f:1"), prediction("c", 0, "! | f:1"),
		prediction("d", 0, "! f:1"),
		{ID: "e"},
	}
	got := score(t, gold, preds, eval.ScoreOptions{})
	if want := (eval.NoGold{N: 6, Abstained: 2, Called: 2, Malformed: 1}); got.NoGold != want {
		t.Errorf("no_gold %+v; want %+v", got.NoGold, want)
	}
	if want := (eval.Coverage{Planned: 6, Attempted: 5, Answered: 5, Parsed: 3, Scored: 5, Missing: 1}); got.Coverage != want {
		t.Errorf("coverage %+v; want %+v", got.Coverage, want)
	}
}

func TestScoreMissing(t *testing.T) {
	gold := []qaoa.Record{record("a", "s", "f:1"), record("b", "s", "f:1 g:2"), record("c", "s", "f:1"), record("n", "s", "")}
	preds := []qaoa.Prediction{prediction("a", 0, "f:1"), prediction("a", 1, "f:2"), prediction("b", 1, "f:1")}
	got := score(t, gold, preds, eval.ScoreOptions{Failed: 2})
	if want := (eval.Coverage{Planned: 8, Attempted: 5, Answered: 3, Parsed: 3, Scored: 3, Missing: 5}); got.Coverage != want {
		t.Errorf("coverage %+v; want %+v", got.Coverage, want)
	}
	// SH: a is 1 and (SP 1, SPA 0); c misses twice. MH: b misses once, then .5.
	if text, want := cellsText(got.Cells), "SH 4 0.5 0.5 0.25 0.25; MH 2 0 0.25 0.25 0.25; ST 6 0.333 0.417 0.25 0.25; MT -"; text != want {
		t.Errorf("cells %q; want %q", text, want)
	}
	if got.Bounds == nil {
		t.Fatal("no bounds below full coverage")
	}
	if diff := cmp.Diff(got.Cells, got.Bounds.Low); diff != "" {
		t.Errorf("the low bound is not the score: %s", diff)
	}
	if text, want := cellsText(got.Bounds.High), "SH 4 1 1 0.75 0.75; MH 2 0.5 0.75 0.75 0.75; ST 6 0.833 0.917 0.75 0.75; MT -"; text != want {
		t.Errorf("high bound %q; want %q", text, want)
	}
	// A turn without a gold call cannot score under reference, whatever is predicted.
	reference := score(t, gold, preds, eval.ScoreOptions{Presets: []match.Options{preset(t, "reference")}})
	if text, want := cellText(reference.Bounds.High.SH), "6 0.667 0.667 0.5 0.5"; text != want {
		t.Errorf("high bound under reference %q; want %q", text, want)
	}
}

func TestScorePlansTheRepeatsOfARun(t *testing.T) {
	gold := []qaoa.Record{record("a", "s", "f:1"), record("b", "s", "f:1")}
	tests := []struct {
		name    string
		repeats int
		preds   []qaoa.Prediction
		want    eval.Coverage
		cell    string
	}{
		{
			"a repeat that nothing came of is missing", 3,
			[]qaoa.Prediction{prediction("a", 0, "f:1"), prediction("b", 0, "f:1")},
			eval.Coverage{Planned: 6, Attempted: 2, Answered: 2, Parsed: 2, Scored: 2, Missing: 4},
			"6 0.333 0.333 0.333 0.333",
		},
		{
			"no prediction at all", 2, nil,
			eval.Coverage{Planned: 4, Missing: 4},
			"4 0 0 0 0",
		},
		{
			"not said: those of the predictions", 0,
			[]qaoa.Prediction{prediction("a", 4, "f:1"), prediction("b", 4, "f:1")},
			eval.Coverage{Planned: 2, Attempted: 2, Answered: 2, Parsed: 2, Scored: 2},
			"2 1 1 1 1",
		},
		{
			"a repeat beyond the plan counts too", 1,
			[]qaoa.Prediction{prediction("a", 1, "f:1")},
			eval.Coverage{Planned: 4, Attempted: 1, Answered: 1, Parsed: 1, Scored: 1, Missing: 3},
			"4 0.25 0.25 0.25 0.25",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := score(t, gold, tt.preds, eval.ScoreOptions{Repeats: tt.repeats})
			if got.Coverage != tt.want {
				t.Errorf("coverage %+v; want %+v", got.Coverage, tt.want)
			}
			if text := cellText(got.Cells.SH); text != tt.cell {
				t.Errorf("SH %q; want %q", text, tt.cell)
			}
		})
	}
}

func TestScoreDatasets(t *testing.T) {
	gold := []qaoa.Record{
		record("a/1", "a", "f:1"), record("a/2", "a", "f:1"), record("a/3", "a", "f:1"), record("b/1", "b", "f:1"), record("b/2", "b", "f:1 g:1"),
	}
	preds := []qaoa.Prediction{
		prediction("a/1", 0, "g:1"), prediction("a/2", 0, "g:1"), prediction("a/3", 0, "f:1"), prediction("b/1", 0, "f:1"), prediction("b/2", 0, "f:1 g:1"),
	}
	got := score(t, gold, preds, eval.ScoreOptions{})
	if text, want := cellsText(got.Cells), "SH 4 0.5 0.5 0.5 0.5; MH 1 1 1 1 1; ST 5 0.6 0.6 0.6 0.6; MT -"; text != want {
		t.Errorf("all: %q; want %q", text, want)
	}
	if text, want := cellsText(got.Datasets["a"]), "SH 3 0.333 0.333 0.333 0.333; MH -; ST 3 0.333 0.333 0.333 0.333; MT -"; text != want {
		t.Errorf("a: %q; want %q", text, want)
	}
	// n counts data sets here, and an empty cell is no zero.
	if text, want := cellsText(got.MeanOfDatasets), "SH 2 0.667 0.667 0.667 0.667; MH 1 1 1 1 1; ST 2 0.667 0.667 0.667 0.667; MT -"; text != want {
		t.Errorf("mean of data sets: %q; want %q", text, want)
	}
}

func TestScoreErrors(t *testing.T) {
	recs := []qaoa.Record{record("a", "s", "f:1"), record("b", "s", "f:1")}
	var strangers []qaoa.Prediction
	for i := range 25 {
		strangers = append(strangers, prediction(fmt.Sprintf("no/%02d", i), 0, "f:1"))
	}
	broken := errors.New("cut off")
	failing := func(yield func(qaoa.Prediction, error) bool) { yield(qaoa.Prediction{}, broken) }
	tests := []struct {
		name  string
		gold  []qaoa.Record
		preds iter.Seq2[qaoa.Prediction, error]
		opt   eval.ScoreOptions
		want  []string
	}{
		{"an id twice in gold", append(recs, recs[1]), each[qaoa.Prediction](), eval.ScoreOptions{}, []string{"1 records", `"b"`}},
		{"an id twice in predictions", recs, each(prediction("a", 0, ""), prediction("a", 1, ""), prediction("a", 1, "")), eval.ScoreOptions{}, []string{"1 predictions", `"a"`}},
		{"unknown ids, ten listed", recs, each(strangers...), eval.ScoreOptions{}, []string{"25 predictions", `"no/00"`, `"no/09", …`}},
		{"both", recs, each(append(strangers, prediction("a", 0, ""), prediction("a", 0, ""))...), eval.ScoreOptions{}, []string{"25 predictions", "1 predictions"}},
		{"a broken file", recs, failing, eval.ScoreOptions{}, []string{"cut off"}},
		{"a preset twice", recs, each[qaoa.Prediction](), eval.ScoreOptions{Presets: []match.Options{{}, {}}}, []string{`"paper" is given twice`}},
		{"a bad knob", recs, each[qaoa.Prediction](), eval.ScoreOptions{Presets: []match.Options{{Names: "x"}}}, []string{"names"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := eval.Score(t.Context(), each(tt.gold...), tt.preds, tt.opt)
			if err == nil {
				t.Fatalf("Score = %+v; want an error", got)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q; want it to say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "no/10") {
				t.Errorf("error %q lists more than ten ids", err)
			}
		})
	}
	t.Run("a context that is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := eval.Score(ctx, each(recs...), each[qaoa.Prediction](), eval.ScoreOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v; want the context's", err)
		}
	})
}

func TestScoreWarnings(t *testing.T) {
	rec := record("a", "s", "add_map1:1")
	rec.Tools = append(rec.Tools, qaoa.Tool{Name: "add_map2"}, qaoa.Tool{Name: "add_map2"})
	got, err := eval.Score(t.Context(), each(rec), each(prediction("a", 0, "add_map1:1 | g | g")),
		eval.ScoreOptions{Presets: []match.Options{preset(t, "paper"), preset(t, "strict")}})
	if err != nil {
		t.Fatal(err)
	}
	if w := got[0].Warnings; len(w) != 2 || !strings.Contains(w[0], `"add_map1", "add_map2"`) || !strings.Contains(w[1], "2 predicted turns") {
		t.Errorf("warnings under paper: %q", w)
	}
	if w := got[1].Warnings; len(w) != 1 || got[1].SurplusTurns != 2 {
		t.Errorf("warnings under strict: %q, %d surplus turns; want those only", w, got[1].SurplusTurns)
	}
}

func TestScoreItems(t *testing.T) {
	gold := []qaoa.Record{record("a", "s", "f:1 | "), record("m", "s", "f:1")}
	preds := []qaoa.Prediction{prediction("a", 0, "g:1 f:1 | | f:9")}
	for _, aligned := range []bool{false, true} {
		var items []eval.Item
		if _, err := eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{
			Explain: true, Aligned: aligned,
			Item: func(preset string, it eval.Item) error {
				if preset != "paper" {
					t.Errorf("item of preset %q", preset)
				}
				items = append(items, it)
				return nil
			},
		}); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, it := range items {
			var pairs []string
			for _, p := range it.Pairs {
				pairs = append(pairs, fmt.Sprintf("%d-%d", p.Gold, p.Pred))
			}
			lines = append(lines, fmt.Sprintf("%s %s %d %d/%d %v %.2g [%s]", it.ID, it.Cell, it.Turn, it.Gold, it.Pred, it.Missing, it.Score.FP, strings.Join(pairs, " ")))
		}
		want := []string{
			"a SH 0 1/2 false 0.5 [0-1 -1-0]",
			"a no_gold 1 0/0 false 1 []",
			"a surplus 2 0/1 false 0 [-1-0]",
			"a MT -1 1/3 false 0.33 [0-1 -1-0 -1-2]",
			"m SH 0 1/0 true 0 [0--1]",
			"m ST -1 1/0 true 0 [0--1]",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("aligned %v: items (-want +got)\n%s", aligned, diff)
		}
	}
	stop := errors.New("stop")
	if _, err := eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{Item: func(string, eval.Item) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("error %v; want that of Item", err)
	}
}

func TestScoreWriter(t *testing.T) {
	dir := t.TempDir()
	presets := []match.Options{preset(t, "paper"), preset(t, "strict")}
	w, err := eval.NewScoreWriter(dir, presets)
	if err != nil {
		t.Fatal(err)
	}
	gold := []qaoa.Record{record("<a>", "s", "f:1"), record("b", "t", "f:1 g:1")}
	scores, err := eval.Score(t.Context(), each(gold...), each(prediction("<a>", 0, "f:1")),
		eval.ScoreOptions{Presets: presets, Item: w.Item, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(scores); err != nil {
		t.Fatal(err)
	}
	for i, p := range presets {
		got, err := eval.ReadScores(dir, p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(scores[i], got); diff != "" {
			t.Errorf("%s.json reads back as (-want +got)\n%s", p.Name, diff)
		}
		list, err := eval.ReadItems(dir, p.Name)
		if err != nil || len(list) != 4 || list[0].ID != "<a>" || list[0].Score.SP != 1 || len(list[0].Pairs) != 1 || !list[3].Missing {
			t.Errorf("items of %s read back as %+v, %v", p.Name, list, err)
		}
		for i := range list {
			list[i].Pairs = nil
		}
		bare, err := eval.ReadItemScores(dir, p.Name)
		if diff := cmp.Diff(list, bare); diff != "" || err != nil {
			t.Errorf("items of %s without pairs: %v (-want +got)\n%s", p.Name, err, diff)
		}
		items := read(t, dir, eval.ScoresDir, p.Name+".items.jsonl")
		if n := bytes.Count(items, []byte("\n")); n != 4 || !bytes.Contains(items, []byte(`"id":"<a>"`)) {
			t.Errorf("%d items of %s: %s", n, p.Name, items)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, eval.ScoresDir))
	if err != nil || len(files) != 4 {
		t.Errorf("%d files, %v; want 4 and nothing temporary", len(files), err)
	}
	if _, err := eval.NewScoreWriter(dir, []match.Options{{Name: "../x"}}); err == nil {
		t.Error("a preset whose name is a path was accepted")
	}
}

// The layout of the object that scripts read.
func TestScoresLayout(t *testing.T) {
	got := score(t, []qaoa.Record{record("a", "s", "f:1")}, []qaoa.Prediction{prediction("a", 0, "f:1")}, eval.ScoreOptions{})
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	one := `{"n":1,"SP":1,"FP":1,"SPA":1,"FPA":1,"FPA_arg":1}`
	none := `{"n":0,"SP":null,"FP":null,"SPA":null,"FPA":null,"FPA_arg":null}`
	cells := `{"SH":` + one + `,"MH":` + none + `,"ST":` + one + `,"MT":` + none + `}`
	want := `{"preset":"paper","coverage":{"planned":1,"attempted":1,"answered":1,"parsed":1,"scored":1,"missing":0},"cells":` + cells +
		`,"datasets":{"s":` + cells + `},"mean_of_datasets":` + cells + `,"no_gold":{"n":0,"abstained":0,"called":0,"malformed":0}}`
	if string(text) != want {
		t.Errorf("scores\n%s\nwant\n%s", text, want)
	}
}

// drawCalls draws turns of zero to three calls each.
func drawCalls(t *rapid.T, label string) string {
	turn := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"f:1", "f:2", "g:1", "h", `h:"é_y"`, "g:[12]"}), 0, 3).Draw(t, "calls"), " ")
	})
	return strings.Join(rapid.SliceOfN(turn, 1, 3).Draw(t, label), " | ")
}

func TestScoreProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "records")
		var gold []qaoa.Record
		var own, other []qaoa.Prediction
		for i := range n {
			id := fmt.Sprint(i)
			gold = append(gold, record(id, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "set"), drawCalls(rt, "gold")))
			own = append(own, qaoa.Prediction{ID: id, Turns: gold[i].Turns})
			if rapid.IntRange(0, 4).Draw(rt, "there") > 0 {
				other = append(other, prediction(id, 0, drawCalls(rt, "pred")))
			}
		}
		opt := eval.ScoreOptions{
			Presets: []match.Options{preset(t, "paper"), preset(t, "strict"), preset(t, "reference")},
			Aligned: rapid.Bool().Draw(rt, "aligned"),
		}
		right, err := eval.Score(t.Context(), each(gold...), each(own...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		for _, s := range right[:2] {
			for _, c := range []eval.Cell{s.Cells.SH, s.Cells.MH, s.Cells.ST, s.Cells.MT} {
				if c.N > 0 && (*c.SP != 1 || *c.FP != 1 || *c.SPA != 1 || *c.FPA != 1 || *c.FPAArg != 1) {
					rt.Fatalf("gold as its own prediction scores %s under %s", cellText(c), s.Preset)
				}
			}
		}
		var items []eval.Item
		opt.Item = func(preset string, it eval.Item) error {
			if preset == "paper" {
				items = append(items, it)
			}
			return nil
		}
		got, err := eval.Score(t.Context(), each(gold...), each(other...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		checkMeans(rt, got[0], items)
		for _, s := range got {
			if s.Bounds == nil {
				continue
			}
			checkOrder(rt, s.Bounds.Low.SH, s.Bounds.High.SH)
			checkOrder(rt, s.Bounds.Low.MT, s.Bounds.High.MT)
		}
		opt.Item = nil
		shuffled := append([]qaoa.Prediction(nil), other...)
		rand.New(rand.NewPCG(uint64(n), 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, err := eval.Score(t.Context(), each(gold...), each(shuffled...), opt)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			rt.Fatalf("another order of predictions: %v %s", err, diff)
		}
	})
}

func checkOrder(t *rapid.T, low, high eval.Cell) {
	if low.N > 0 && (*low.SP > *high.SP || *low.FP > *high.FP || *low.FPA > *high.FPA) {
		t.Fatalf("bounds cross: low %s, high %s", cellText(low), cellText(high))
	}
}

// checkMeans computes the cells a second way, by adding up items.
func checkMeans(t *rapid.T, s eval.Scores, items []eval.Item) {
	for name, c := range map[string]eval.Cell{"SH": s.Cells.SH, "MH": s.Cells.MH, "ST": s.Cells.ST, "MT": s.Cells.MT} {
		n, sp, fpa := 0, 0.0, 0.0
		for _, it := range items {
			if it.Cell == name {
				n++
				sp += it.Score.SP
				fpa += it.Score.FPA
			}
		}
		if n != c.N || n > 0 && (math.Abs(sp/float64(n)-*c.SP) > 1e-12 || math.Abs(fpa/float64(n)-*c.FPA) > 1e-12) {
			t.Fatalf("cell %s is %s; its %d items have mean SP %g and FPA %g", name, cellText(c), n, sp/float64(n), fpa/float64(n))
		}
	}
}
