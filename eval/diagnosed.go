package eval

import "assay/match"

// A Diagnosed is an instance with what became of its lines, see [ErrorClass].
type Diagnosed struct {
	Item // with Pairs
	// Outcome is abstained, malformed or missing; "" if the lines are counted.
	Outcome ErrorClass
	// Lines are empty where nothing was predicted.
	Lines []DiagnosedLine
}

// A DiagnosedLine is a gold call with the predicted call it is compared with,
// or one of them alone.
type DiagnosedLine struct {
	Gold  int // index of the gold call in the instance, -1 for none
	Pred  int // index of the predicted call, -1 for none
	Class ErrorClass
	Why   string
	// Verdict is that of the pair; zero if the two calls were not paired by
	// their name.
	Verdict match.Verdict
}

// each hands the instances of t to the caller's function.
func (d *diagnoser) each(t *task) error {
	if d.opt.Each == nil {
		return nil
	}
	out := make([]Diagnosed, len(t.out[0]))
	for i := range t.out[0] {
		it := &t.out[0][i]
		out[i] = Diagnosed{Item: it.Item, Outcome: t.outcome(it)}
		for _, l := range it.lines {
			one := DiagnosedLine{Gold: l.gold, Pred: l.pred, Class: l.class, Why: l.why}
			for k := range it.Pairs {
				if p := &it.Pairs[k]; p.Gold == l.gold && p.Pred == l.pred {
					one.Verdict = p.Verdict
					break
				}
			}
			out[i].Lines = append(out[i].Lines, one)
		}
	}
	return d.opt.Each(out)
}
