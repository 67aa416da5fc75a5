package eval_test

import (
	"errors"
	"testing"

	"assay/eval"
	"assay/qaoa"
)

// TestDiagnoseEach counts by hand what Each hands out, and wants the tables.
func TestDiagnoseEach(t *testing.T) {
	gold := qaoa.Record{ID: "x/1", Source: qaoa.Source{Name: "x"}, Tools: weatherTools, Turns: oneTurn(calls(`get_weather {"city":"Oslo"} ; get_weather {"city":"Rome"}`))}
	other := gold
	other.ID = "x/2"
	pred := qaoa.Prediction{ID: "x/1", Turns: oneTurn(calls(`get_weather {"city":"Oslo"} ; book_flight {}`))}
	classes := map[eval.ErrorClass]int{}
	outcomes := map[eval.ErrorClass]int{}
	opt := eval.DiagnoseOptions{Each: func(list []eval.Diagnosed) error {
		if len(list) != 2 || list[0].Turn != 0 || list[1].Turn != -1 {
			t.Errorf("%d instances, want a turn and its conversation", len(list))
		}
		outcomes[list[0].Outcome]++
		for _, l := range list[0].Lines {
			classes[l.Class]++
			if (l.Class == eval.ClassRight) != l.Verdict.Strict {
				t.Errorf("line %+v: want a strict verdict exactly where it is right", l)
			}
		}
		return nil
	}}
	d, err := eval.Diagnose(t.Context(), each(gold, other), each(pred), opt)
	if err != nil {
		t.Fatal(err)
	}
	table := d.All.MH
	if table.Lines != 2 || classes[eval.ClassRight] != table.Right || classes[eval.ClassWrongTool] != table.Count(eval.ClassWrongTool).N {
		t.Errorf("lines %v, the table says %s", classes, tableText(&table))
	}
	if outcomes[eval.ClassMissing] != 1 || outcomes[""] != 1 {
		t.Errorf("outcomes %v, want one missing and one with lines", outcomes)
	}
}

func TestDiagnoseEachEndsAtItsError(t *testing.T) {
	gold := qaoa.Record{ID: "1", Turns: oneTurn(calls(`f {}`))}
	stop := errors.New("stop")
	_, err := eval.Diagnose(t.Context(), each(gold), each(qaoa.Prediction{ID: "1"}), eval.DiagnoseOptions{Each: func([]eval.Diagnosed) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("Diagnose = %v, want the error of Each", err)
	}
}
