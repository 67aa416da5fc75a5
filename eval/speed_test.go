package eval_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goccy/go-json"
	"pgregory.net/rapid"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// timed runs a folder whose i-th record takes i+1 tenths of a second and i
// tokens.
func timed(t *testing.T, n int, opt eval.Options) eval.Summary {
	t.Helper()
	var recs []qaoa.Record
	for i := range n {
		recs = append(recs, record(fmt.Sprint(i), "s", "f:1"))
	}
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		var i int
		_, err := fmt.Sscan(req.Case.Record.ID, &i)
		return model.Reply{
			Text: fmt.Sprint("answer ", i), Finish: "stop", Latency: time.Duration(i+1) * 100 * time.Millisecond, Attempts: 1 + i%2,
			Usage: model.Usage{Prompt: 1000, Completion: i},
		}, err
	})
	sum, err := runFolder(t, t.TempDir(), m, opt, recs...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestSpeed(t *testing.T) {
	s := timed(t, 10, eval.Options{}).Speed
	want := eval.Percentiles{P50: 500, P90: 900, P95: 1000, P99: 1000, Max: 1000}
	if s.Requests != 10 || s.Latency != want || s.Retried != 5 {
		t.Errorf("speed %+v; want %+v of 10 requests, 5 of them sent again", s, want)
	}
	// 0+1+…+9 tokens in 0.1+0.2+…+1.0 seconds.
	if want := math.Round(45/5.5*100) / 100; s.TokensPerSecond != want {
		t.Errorf("%v tokens/s; want %v", s.TokensPerSecond, want)
	}
	if s := timed(t, 1, eval.Options{}).Speed; s.Latency != (eval.Percentiles{P50: 100, P90: 100, P95: 100, P99: 100, Max: 100}) {
		t.Errorf("one request: %+v", s)
	}
}

// A percentile is the smallest number that enough of the list do not exceed.
func TestPercentilesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 60).Draw(t, "list")
		got := eval.PercentilesOf(slices.Clone(list))
		for p, have := range map[float64]float64{50: got.P50, 90: got.P90, 95: got.P95, 99: got.P99, 100: got.Max} {
			want := math.Inf(1)
			for _, x := range list {
				notAbove := 0
				for _, y := range list {
					if y <= x {
						notAbove++
					}
				}
				if 100*float64(notAbove) >= p*float64(len(list)) {
					want = min(want, x)
				}
			}
			if have != want {
				t.Fatalf("percentile %v of %v is %v; want %v", p, list, have, want)
			}
		}
	})
}

func TestCost(t *testing.T) {
	sum := timed(t, 10, eval.Options{Price: &eval.Price{Input: 0.5, Output: 2}})
	// 10 × 1000 prompt tokens at 0.5 and 45 completion tokens at 2 a million.
	if got, want := sum.Cost.String(), "0.005090"; got != want {
		t.Errorf("cost %s; want %s", got, want)
	}
	if got := timed(t, 2, eval.Options{}).Cost.String(); got != "unknown" {
		t.Errorf("cost without a price is %s", got)
	}
	m := chatter(func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{Text: "x", Usage: model.Usage{Prompt: -1, Completion: -1}}, nil
	})
	sum, err := runFolder(t, t.TempDir(), m, eval.Options{Price: &eval.Price{Input: 1, Output: 1}}, record("a", "s", "f:1"))
	if err != nil || sum.Cost.String() != "at least 0.000000" || sum.Counts.Unreported != 1 {
		t.Errorf("without usage: cost %s, %d replies without usage, %v", sum.Cost, sum.Counts.Unreported, err)
	}
}

func TestCostJSON(t *testing.T) {
	for _, c := range []eval.Cost{
		{},
		{Price: &eval.Price{Input: 1, Output: 2}, Total: 0.25},
		{Price: &eval.Price{}, Partial: true},
	} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back eval.Cost
		if err := json.Unmarshal(data, &back); err != nil || back.String() != c.String() {
			t.Errorf("%s came back as %s, %v; want %s", data, back, err, c)
		}
		if c.Price == nil && string(data) != `"unknown"` {
			t.Errorf("no price is %s", data)
		}
	}
}

// Notes and the price of an earlier session are kept when a run is resumed
// without them.
func TestNotesAreKept(t *testing.T) {
	dir := t.TempDir()
	rec := record("a", "s", "f:1")
	opt := eval.Options{Notes: func() []string { return []string{"refused seed"} }, Price: &eval.Price{Input: 1, Output: 1}}
	if _, err := runFolder(t, dir, chatter(golden), opt, rec); err != nil {
		t.Fatal(err)
	}
	opt = eval.Options{Notes: func() []string { return []string{"refused seed", "refused top_p"} }}
	if _, err := runFolder(t, dir, chatter(golden), opt, rec); err != nil {
		t.Fatal(err)
	}
	info, err := eval.ReadRun(dir)
	if err != nil || !slices.Equal(info.Notes, []string{"refused seed", "refused top_p"}) || info.Cost.Price == nil {
		t.Errorf("run.json has notes %q and cost %s, %v", info.Notes, info.Cost, err)
	}
}
