package eval_test

import (
	"testing"

	"assay/eval"
	"assay/match"
	"assay/model/baseline"
)

// A model that replays the gold calls scores 1 on every turn of real records,
// whatever the flow.
func TestGuidedGoldOnRealData(t *testing.T) {
	gold, err := baseline.New(baseline.Gold)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"acebench", "api-bank", "toolalpaca"} {
		recs := realRecords(t, source)
		for name, opt := range map[string]eval.Options{
			"guided":          {Flow: eval.FlowGuided},
			"guided, native":  {Flow: eval.FlowGuided, Calls: eval.CallsNative},
			"guided, history": {Flow: eval.FlowGuided, History: eval.HistoryGold},
			"reference":       {Compat: "reference+stop+empty-answer"},
			"free":            {},
		} {
			t.Run(source+": "+name, func(t *testing.T) {
				opt.Workers = 2
				i := 0
				for res, err := range eval.Run(t.Context(), gold, each(recs...), opt) {
					if err != nil || res.Fail != nil {
						t.Fatalf("%s: %+v, %v", res.ID, res.Fail, err)
					}
					rec := recs[i]
					i++
					calls := 0
					for k, turn := range rec.Turns {
						calls += len(turn.Calls())
						if s := match.Instance(turn.Calls(), res.Turns[k].Calls(), rec.Tools, match.Options{}); s.SP != 1 || s.SPA != 1 {
							t.Fatalf("%s, turn %d: %+v; want 1\ngold %+v\nhave %+v", rec.ID, k, s, turn.Calls(), res.Turns[k].Calls())
						}
					}
					if want := calls + len(rec.Turns); opt.Compat != "" && len(res.Requests) != want {
						t.Fatalf("%s: %d requests; want one for each of %d calls and %d answers", rec.ID, len(res.Requests), calls, len(rec.Turns))
					}
					if opt.Compat == "" && opt.Flow == eval.FlowGuided && len(res.Requests) != calls {
						t.Fatalf("%s: %d requests; want one for each of %d calls", rec.ID, len(res.Requests), calls)
					}
				}
				if i != len(recs) {
					t.Errorf("%d results of %d records", i, len(recs))
				}
			})
		}
	}
}
