package eval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

func presetsOf(t testing.TB, names ...string) []match.Options {
	t.Helper()
	var out []match.Options
	for _, name := range names {
		out = append(out, preset(t, name))
	}
	return out
}

func TestCross(t *testing.T) {
	gold := []qaoa.Record{record("a", "s", `f:"Oslo"`), record("b", "s", "f:1 | f:2"), record("c", "s", "f:1 g:2"), record("d", "s", ""), record("e", "s", "f:1")}
	preds := []qaoa.Prediction{prediction("a", 0, `f:"oslo"`), prediction("b", 0, `f:1 | f:"2"`), prediction("c", 0, "f:1"), prediction("d", 0, "")}
	got, err := eval.Cross(t.Context(), each(gold...), each(preds...), eval.CrossOptions{Presets: presetsOf(t, "paper", "strict", "reference")})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range got.Pairs {
		text = append(text, fmt.Sprintf("%s/%s turns %d: %d %d %d, conversations %d: %d %d %d", p.A, p.B,
			p.Turns.N, p.Turns.BothRight, p.Turns.OnlyA, p.Turns.OnlyB,
			p.Conversations.N, p.Conversations.BothRight, p.Conversations.OnlyA, p.Conversations.OnlyB))
		for _, it := range p.Items {
			text = append(text, fmt.Sprintf("  %s turn %d %s: %g %g at %q by %s and %s: %s | %s", it.ID, it.Turn, it.Cell, it.ValueA, it.ValueB, it.Path, it.RuleA, it.RuleB, it.Gold, it.Pred))
		}
	}
	want := []string{
		// The turn without a gold call is in a cell of preset reference only.
		`paper/strict turns 5: 1 2 0, conversations 4: 0 2 0`,
		`  a turn 0 SH: 1 0 at "/a" by text and value: f {"a":"Oslo"} | f {"a":"oslo"}`,
		`  b turn 1 SH: 1 0 at "/a" by number and kind: f {"a":2} | f {"a":"2"}`,
		// Preset reference does not pad, so its c is right.
		`paper/reference turns 5: 3 0 1, conversations 4: 2 0 1`,
		`  c turn 0 MH: 0.5 1 at "" by  and : `,
		`strict/reference turns 5: 1 0 3, conversations 4: 0 0 3`,
		`  a turn 0 SH: 0 1 at "/a" by value and text: f {"a":"Oslo"} | f {"a":"oslo"}`,
		`  b turn 1 SH: 0 1 at "/a" by kind and number: f {"a":2} | f {"a":"2"}`,
		`  c turn 0 MH: 0.5 1 at "" by  and : `,
	}
	for i, line := range text {
		if strings.HasSuffix(line, "by  and :  | ") {
			text[i] = strings.TrimSuffix(line, " | ")
		}
	}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	if why := got.Pairs[1].Items[0].WhyA; !strings.Contains(why, "2 gold and 1 predicted calls") {
		t.Errorf("why %q; want that the calls match alike", why)
	}
	scores, err := eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{Presets: presetsOf(t, "paper", "strict", "reference")})
	if diff := cmp.Diff(scores, got.Scores); err != nil || diff != "" {
		t.Errorf("scores differ from those of Score: %v %s", err, diff)
	}
}

func TestCrossOptions(t *testing.T) {
	gold, pred := record("a", "s", "f:1"), prediction("a", 0, "f:1")
	for name, tt := range map[string]struct {
		opt  eval.CrossOptions
		want string
	}{
		"one preset":            {eval.CrossOptions{Presets: presetsOf(t, "paper")}, "two or more"},
		"a preset twice":        {eval.CrossOptions{Presets: presetsOf(t, "paper", "paper")}, "twice"},
		"a metric nobody knows": {eval.CrossOptions{Metric: "F1"}, "want one of SP"},
	} {
		_, err := eval.Cross(t.Context(), each(gold), each(pred), tt.opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want an error with %q", name, err, tt.want)
		}
	}
	got, err := eval.Cross(t.Context(), each(gold), each(pred), eval.CrossOptions{})
	if n := len(match.Presets()); err != nil || len(got.Scores) != n || len(got.Pairs) != n*(n-1)/2 {
		t.Errorf("no presets given: %d scores, %d pairs, %v; want all %d presets", len(got.Scores), len(got.Pairs), err, n)
	}
}

// TestCrossCounts: what two presets disagree on is what their items say.
func TestCrossCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gold, preds := drawRun(rt)
		opt := eval.CrossOptions{Presets: presetsOf(t, "paper", "strict", "reference"), Metric: rapid.SampledFrom(eval.Metrics()).Draw(rt, "metric"), Workers: 1}
		got, err := eval.Cross(t.Context(), each(gold...), each(preds...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		opt.Workers = 4
		again, err := eval.Cross(t.Context(), each(gold...), each(shuffled(rt, preds)...), opt)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			rt.Fatalf("another order and 4 workers: %v %s", err, diff)
		}
		right := map[string]map[string]bool{} // of turns that are in a cell
		_, err = eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{Presets: opt.Presets, Item: func(name string, it eval.Item) error {
			if right[name] == nil {
				right[name] = map[string]bool{}
			}
			if it.Turn >= 0 && (it.Cell == eval.CellSH || it.Cell == eval.CellMH) {
				right[name][fmt.Sprint(it.ID, " ", it.Repeat, " ", it.Turn)] = map[string]float64{
					"SP": it.Score.SP, "FP": it.Score.FP, "SPA": it.Score.SPA, "FPA": it.Score.FPA, "FPA_arg": it.Score.FPAArg,
				}[opt.Metric] == 1
			}
			return nil
		}})
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range got.Pairs {
			var want eval.Disagreement
			for key, a := range right[p.A] {
				b, ok := right[p.B][key]
				if !ok {
					continue
				}
				want.N++
				switch {
				case a && b:
					want.BothRight++
				case a:
					want.OnlyA++
				case b:
					want.OnlyB++
				}
			}
			if p.Turns != want || len(p.Items) != min(3, want.Differ()) {
				rt.Fatalf("%s and %s: %+v with %d items; want %+v", p.A, p.B, p.Turns, len(p.Items), want)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name, gold, a, b, metric string // repeats are divided by " / "
		want                     string
	}{
		{"right in both", "f:1", "f:1", "f:1", "", ""},
		{"wrong in both", "f:1", "f:2", "g", "", ""},
		{"wrong, then right", "f:1", "f:2", "f:1", "", "SH gained wrong_value -; ST gained wrong_value -"},
		{"right, then wrong", "f:1", "f:1", "g", "", "SH lost - hallucinated_tool; ST lost - hallucinated_tool"},
		{"right, then no call", "f:1", "f:1", "", "", "SH lost - abstained; ST lost - abstained"},
		{"right, then an attempt", "f:1", "f:1", "!", "", "SH lost - malformed; ST lost - malformed"},
		{"right, then no prediction", "f:1", "f:1", "-", "", "SH lost - missing; ST lost - missing"},
		{"repeats that do not agree", "f:1", "f:1 / f:2", "f:1 / f:1", "", "SH unstable wrong_value -; ST unstable wrong_value -"},
		{"repeats that all become right", "f:1", "f:3 / g", "f:1 / f:1", "", "SH gained wrong_value -; ST gained wrong_value -"},
		{"a repeat that is not there is wrong", "f:1", "f:1", "f:1 / -", "", ""},
		{"abstention is right where gold has no call", "", "f:1", "", "", "no_gold gained hallucinated_tool -"},
		{"turn by turn", "f:1 | f:2", "f:2 | f:1", "f:1 | f:1", "", "SH gained wrong_value -; MT lost - wrong_value"},
		{"names alone", "f:1", "f:2", "f:1", "FP", ""},
		{"names alone, and one is lost", "f:1", "f:2", "h", "FP", "SH lost - hallucinated_tool; ST lost - hallucinated_tool"},
		{"the first error names the class", "f:1 g:1", "f:1 g:1", "g:2", "", "MH lost - missing_call; ST lost - missing_call"},
		{"close enough", "f:1", `f:1`, "f:9", "FPA", "SH lost - wrong_value; ST lost - wrong_value"},
		{"surplus turns are left out, their conversation is not", "f:1", "f:1", "f:1 | f:1", "", "ST lost - extra_call"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			side := func(text string) (preds []qaoa.Prediction) {
				for repeat, p := range strings.Split(text, " / ") {
					if p != "-" {
						preds = append(preds, prediction("x", repeat, p))
					}
				}
				return preds
			}
			got, err := eval.Diff(t.Context(), each(record("x", "s", tt.gold)), each(side(tt.a)...), each(side(tt.b)...), eval.DiffOptions{Metric: tt.metric})
			if err != nil {
				t.Fatal(err)
			}
			var items []string
			for _, it := range got.Items {
				class := func(c eval.ErrorClass) string {
					if c == "" {
						return "-"
					}
					return string(c)
				}
				items = append(items, fmt.Sprint(it.Cell, " ", it.Change, " ", class(it.A.Class), " ", class(it.B.Class)))
			}
			if text := strings.Join(items, "; "); text != tt.want {
				t.Errorf("%s: %s -> %s: %q; want %q", tt.gold, tt.a, tt.b, text, tt.want)
			}
		})
	}
}

func TestDiffCounts(t *testing.T) {
	gold := []qaoa.Record{record("1", "x", "f:1"), record("2", "x", "f:1"), record("3", "y", "f:1"), record("4", "y", "f:1"), record("5", "y", "f:1 g:1")}
	a := []qaoa.Prediction{prediction("1", 0, "f:1"), prediction("2", 0, "f:2"), prediction("3", 0, "f:1"), prediction("4", 0, "h"), prediction("5", 0, "f:1")}
	b := []qaoa.Prediction{prediction("5", 0, "f:1"), prediction("1", 0, "f:1"), prediction("2", 0, "f:1"), prediction("3", 0, "h")}
	got, err := eval.Diff(t.Context(), each(gold...), each(a...), each(b...), eval.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (eval.DiffCount{N: 4, KeptRight: 1, KeptWrong: 1, Gained: 1, Lost: 1}); got.Cells.SH != want {
		t.Errorf("SH %+v; want %+v", got.Cells.SH, want)
	}
	if want := (eval.DiffCount{N: 2, KeptWrong: 1, Lost: 1}); got.Datasets["y"].SH != want {
		t.Errorf("SH of y %+v; want %+v", got.Datasets["y"].SH, want)
	}
	want := []eval.ClassChange{
		{Class: eval.ClassHallucinated, A: 1, B: 1, Lost: 1},
		{Class: eval.ClassMissingCall, A: 1, B: 1},
		{Class: eval.ClassWrongValue, A: 1, Gained: 1},
		{Class: eval.ClassMissing, B: 1},
	}
	if diff := cmp.Diff(want, got.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if got.A.Coverage.Missing != 0 || got.B.Coverage.Missing != 1 {
		t.Errorf("missing %d and %d; want 0 and 1", got.A.Coverage.Missing, got.B.Coverage.Missing)
	}
	_, err = eval.Diff(t.Context(), each(gold...), each(a...), each(prediction("z", 0, "")), eval.DiffOptions{})
	if _, ok := errors.AsType[*eval.IDError](err); !ok || !strings.Contains(err.Error(), "second prediction file") {
		t.Errorf("an unknown id: %v; want an *IDError about the second file", err)
	}
}

// TestDiffMirror: to swap the files swaps gained and lost, and a file does not
// differ from itself in other order.
func TestDiffMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gold, a := drawRun(rt)
		_, b := drawRun(rt)
		known := map[string]bool{}
		for _, rec := range gold {
			known[rec.ID] = true
		}
		var preds []qaoa.Prediction
		for _, p := range b {
			if known[p.ID] {
				preds = append(preds, p)
			}
		}
		opt := eval.DiffOptions{Metric: rapid.SampledFrom(eval.Metrics()).Draw(rt, "metric")}
		ab, err := eval.Diff(t.Context(), each(gold...), each(a...), each(preds...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		opt.Workers = 3
		ba, err := eval.Diff(t.Context(), each(gold...), each(shuffled(rt, preds)...), each(shuffled(rt, a)...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		for _, name := range eval.DiffCellNames() {
			x, y := *ab.Cells.Cell(name), *ba.Cells.Cell(name)
			y.Gained, y.Lost = y.Lost, y.Gained
			if x != y {
				rt.Fatalf("%s: %+v; mirrored %+v", name, x, y)
			}
		}
		if diff := cmp.Diff(ab.A, ba.B); diff != "" {
			rt.Fatalf("scores of the first file: %s", diff)
		}
		for i := range ab.Items {
			x, y := ab.Items[i], ba.Items[i]
			y.A, y.B = y.B, y.A
			y.Change = map[eval.Change]eval.Change{eval.Gained: eval.Lost, eval.Lost: eval.Gained, eval.Unstable: eval.Unstable}[y.Change]
			if diff := cmp.Diff(x, y, cmpopts.IgnoreUnexported(eval.DiffSide{})); diff != "" {
				rt.Fatalf("item %d: %s", i, diff)
			}
		}
		same, err := eval.Diff(t.Context(), each(gold...), each(a...), each(shuffled(rt, a)...), opt)
		if err != nil {
			rt.Fatal(err)
		}
		for _, it := range same.Items {
			if it.Change != eval.Unstable {
				rt.Fatalf("a file against itself: %+v", it)
			}
		}
	})
}

// TestScoreWorkers: items come in the order of the predictions, then of gold,
// and with the scores they are the same for any number of workers. There are
// more predictions than a batch holds.
func TestScoreWorkers(t *testing.T) {
	gold := many(300)
	var preds []qaoa.Prediction
	for i := range 500 {
		rec := gold[(i*7)%290]
		preds = append(preds, qaoa.Prediction{ID: rec.ID, Repeat: i / 290, Turns: turns(fmt.Sprintf("f:%d | g:%d h:%d", i%5, i%290, i))})
	}
	run := func(workers int) (scores []eval.Scores, items []string) {
		scores, err := eval.Score(t.Context(), each(gold...), each(preds...), eval.ScoreOptions{
			Presets: presetsOf(t, "paper", "strict", "bfcl"), Workers: workers, Explain: true,
			Item: func(preset string, it eval.Item) error {
				items = append(items, fmt.Sprintf("%s %+v", preset, it))
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return scores, items
	}
	scores, items := run(1)
	for i, p := range preds {
		if want := fmt.Sprintf("paper {ID:%s Repeat:%d ", p.ID, p.Repeat); !strings.HasPrefix(items[9*i], want) {
			t.Fatalf("item %d is %s; want that of prediction %d, %s", 9*i, items[9*i], i, want)
		}
	}
	for _, workers := range []int{0, 2, 7} {
		again, list := run(workers)
		if diff := cmp.Diff(scores, again); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
		if diff := cmp.Diff(items, list); diff != "" {
			t.Errorf("%d workers: other items:\n%.2000s", workers, diff)
		}
	}
}

// TestScoreEnds: when the callback fails, or the stream of predictions, or ctx
// is done, scoring ends with that error, and what was read before it counts.
func TestScoreEnds(t *testing.T) {
	gold := many(200)
	broken := errors.New("disk on fire")
	preds := func(yield func(qaoa.Prediction, error) bool) {
		for i, rec := range gold {
			if i == 150 {
				yield(qaoa.Prediction{}, broken)
				return
			}
			if !yield(qaoa.Prediction{ID: rec.ID}, nil) {
				return
			}
		}
	}
	items := 0
	_, err := eval.Score(t.Context(), each(gold...), preds, eval.ScoreOptions{Workers: 3, Item: func(string, eval.Item) error {
		items++
		return nil
	}})
	if !errors.Is(err, broken) || items != 150*3 {
		t.Errorf("a broken stream: %v after %d items; want the error after 450", err, items)
	}
	_, err = eval.Score(t.Context(), each(gold...), preds, eval.ScoreOptions{Workers: 3, Item: func(string, eval.Item) error { return broken }})
	if !errors.Is(err, broken) {
		t.Errorf("a callback that fails: %v; want its error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = eval.Score(ctx, each(gold...), preds, eval.ScoreOptions{Workers: 3, Item: func(string, eval.Item) error {
		cancel()
		return nil
	}})
	if !errors.Is(err, context.Canceled) && !errors.Is(err, broken) {
		t.Errorf("a context that is done: %v; want that it ends", err)
	}
}
