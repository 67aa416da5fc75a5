package report_test

import (
	"os"

	"assay/eval"
	"assay/report"
)

func ExampleScoreText() {
	sp, fp, spa, fpa, arg := 0.929, 0.929, 0.271, 0.486, 0.402
	scores := eval.Scores{
		Preset:   "paper",
		Coverage: eval.Coverage{Planned: 40, Attempted: 40, Answered: 40, Parsed: 39, Scored: 40},
		Cells:    eval.Cells{SH: eval.Cell{N: 70, SP: &sp, FP: &fp, SPA: &spa, FPA: &fpa, FPAArg: &arg}},
		NoGold:   eval.NoGold{N: 2, Abstained: 2},
	}
	if err := report.ScoreText(os.Stdout, []eval.Scores{scores}); err != nil {
		panic(err)
	}
	// Output:
	// preset    paper
	// coverage  planned 40, attempted 40, answered 40 (100.0 %), parsed 39 (97.5 %), scored 40, missing 0
	//
	//                cell    n    SP    FP   SPA   FPA  FPA-arg
	// all instances  SH     70  92.9  92.9  27.1  48.6     40.2
	//                MH      0   n/a   n/a   n/a   n/a      n/a
	//                ST      0   n/a   n/a   n/a   n/a      n/a
	//                MT      0   n/a   n/a   n/a   n/a      n/a
	//
	// percent; SH and MH are means over turns, ST and MT over conversations;
	// mean of data sets: each data set weighs the same, n counts them
	// turns without a gold call: 2 (abstained 2, called 0, malformed 0)
}

func ExampleTable() {
	t := report.Table{Header: []string{"Model", "SP"}, Left: 1}
	t.Add("a|b", "92.9")
	t.Rows[0][1].Mark = report.Best
	if err := t.Markdown(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// | Model |       SP |
	// | ----- | -------: |
	// | a\|b  | **92.9** |
}
