package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/eval"
	"assay/match"
)

// scoredRun is a run of single-turn conversations with those scores.
func scoredRun(model, setting string, ids []string, scores []float64) Run {
	r := Run{Name: setting + model, Model: model, Setting: setting, Seed: "1", Candidates: setting, Predictions: setting + model}
	for i, s := range scores {
		r.Items = append(r.Items, eval.Item{ID: ids[i], Turn: -1, Cell: "ST", Score: match.Score{SP: s, FP: s, SPA: s, FPA: s}})
	}
	r.Scores = scoresOf(r.Items)
	return r
}

func idsTo(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("r%03d", i)
	}
	return ids
}

// settingAgreement returns the line that compares the settings in SP ST.
func settingAgreement(t *testing.T, runs []Run, opt Options) Agreement {
	t.Helper()
	r, err := Rank(runs, opt)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Agreement, func(a Agreement) bool { return a.Between == "setting" && a.Where == "paper, SP ST" })
	if i < 0 {
		t.Fatalf("no line of settings in %+v", r.Agreement)
	}
	return r.Agreement[i]
}

// Ranks do not change when all scores are stretched, so the intervals of
// scores in thirds, whose sums are rounded and depend on their order, are
// those of scores in quarters, whose sums are exact.
func TestRankIntervalsTakeNoRoundingForARank(t *testing.T) {
	const records, models = 12, 4
	g := rand.New(rand.NewPCG(5, 8))
	var whole [2 * models][]int
	for i := range whole {
		if whole[i] = make([]int, records); i%models == 0 {
			for k := range whole[i] {
				whole[i][k] = g.IntN(4)
			}
			continue
		}
		// The scores of the model before, on other records: equal sums in
		// another order.
		for k, at := range g.Perm(records) {
			whole[i][k] = whole[i-1][at]
		}
		whole[i][i%records] = (whole[i][i%records] + i%2) % 4
	}
	runsOf := func(unit float64) []Run {
		var runs []Run
		for i, xs := range whole {
			scores := make([]float64, records)
			for k, x := range xs {
				scores[k] = float64(x) / unit
			}
			runs = append(runs, scoredRun(string(rune('a'+i%models)), []string{"gt", "hybrid"}[i/models], idsTo(records), scores))
		}
		return runs
	}
	opt := Options{Resamples: 2000, Seed: 4, Level: .8}
	quarters := settingAgreement(t, runsOf(4), opt)
	if quarters.RhoCI == nil || quarters.RhoCI.High-quarters.RhoCI.Low < .5 {
		t.Fatalf("%+v: want a wide interval, or this shows nothing", quarters)
	}
	if diff := gocmp.Diff(quarters, settingAgreement(t, runsOf(3), opt)); diff != "" {
		t.Errorf("scores in thirds rank otherwise than the same in quarters:\n%s", diff)
	}
}

// Models are resampled together only if they were asked the same, whatever
// their means are, and one record cannot be resampled.
func TestRankIntervalsWantTheSameRecords(t *testing.T) {
	ids := idsTo(4)
	scores := map[string][]float64{"a": {1, 0, 1, 0}, "b": {1, 1, 1, 0}, "c": {0, 0, 1, 0}}
	runsOf := func(n int, ids func(model, setting string) []string) []Run {
		var runs []Run
		for _, m := range []string{"a", "b", "c"} {
			for _, s := range []string{"gt", "hybrid"} {
				runs = append(runs, scoredRun(m, s, ids(m, s), scores[m][:n]))
			}
		}
		return runs
	}
	same := func(string, string) []string { return ids }
	renamed := func(m, s string) []string {
		if m == "b" && s == "hybrid" {
			return append(slices.Clone(ids[:3]), "other")
		}
		return ids
	}
	opt := Options{Resamples: 200, Level: .5}
	if a := settingAgreement(t, runsOf(4, same), opt); a.RhoCI == nil || a.Records != 4 {
		t.Errorf("the same four records: %+v, want an interval", a)
	}
	if a := settingAgreement(t, runsOf(4, renamed), opt); a.RhoCI != nil || a.TauCI != nil || a.Records != 0 || *a.Rho != 1 {
		t.Errorf("another record of the same score: %+v, want the coefficient alone", a)
	}
	if a := settingAgreement(t, runsOf(1, same), opt); a.RhoCI != nil || a.TauCI != nil {
		t.Errorf("one record: %+v, want no interval", a)
	}
}

// Draws in which all models are equal have no coefficient. There is an
// interval as long as they are no more than the level leaves out: with two
// records, of which one tells the models apart, a draw is undefined with a
// chance of 1/4.
func TestRankIntervalsWithUndefinedDraws(t *testing.T) {
	var runs []Run
	for i, m := range []string{"a", "b", "c"} {
		for _, s := range []string{"gt", "hybrid"} {
			runs = append(runs, scoredRun(m, s, idsTo(2), []float64{float64(i) / 4, .5}))
		}
	}
	if a := settingAgreement(t, runs, Options{Resamples: 4000, Level: .7}); a.RhoCI == nil || *a.RhoCI != (Interval{1, 1}) || *a.TauCI != (Interval{1, 1}) {
		t.Errorf("a quarter of draws is undefined and 0.3 may be: %+v", a)
	}
	if a := settingAgreement(t, runs, Options{Resamples: 4000, Level: .8}); a.RhoCI != nil || a.TauCI != nil || a.Records != 2 {
		t.Errorf("a quarter of draws is undefined and 0.2 may be: %+v", a)
	}
}

// The tables say at which level the intervals are, and "n/a" where there is
// none.
func TestRankTablesShowIntervals(t *testing.T) {
	runs := rankRuns()
	var b strings.Builder
	r, err := Rank(runs, Options{Resamples: 50, Level: .9})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	a := r.Agreement[0]
	want := fmt.Sprintf("| %.3f | %.3f to %.3f | ", *a.Rho, a.RhoCI.Low, a.RhoCI.High)
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) || !strings.Contains(text, "Intervals (90 %, percentile)") {
		t.Errorf("the table lacks %q or its level:\n%s", want, b.String())
	}
	if got := (*Interval)(nil).coefficients(); got != "n/a" {
		t.Errorf("no interval is shown as %q", got)
	}
}
