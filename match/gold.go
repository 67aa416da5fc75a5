package match

import "assay/qaoa"

// Gold is the gold side of an instance, prepared once for any number of
// predictions. It is read-only after [Prepare], so goroutines may share it.
type Gold struct {
	opt   Options
	calls []qaoa.Call
}

// Prepare makes the canonical forms of the gold calls.
func Prepare(calls []qaoa.Call, tools []qaoa.Tool, opt Options) *Gold {
	return &Gold{opt: opt.Resolved(), calls: calls}
}

// Counts compares pred with the gold calls.
func (g *Gold) Counts(pred []qaoa.Call) Counts {
	return Counts{Gold: len(g.calls), Pred: len(pred)}
}

// Explain pairs pred with the gold calls and says why.
func (g *Gold) Explain(pred []qaoa.Call) []Pair { return nil }

// Instance scores one instance.
func Instance(gold, pred []qaoa.Call, tools []qaoa.Tool, opt Options) Score {
	return Prepare(gold, tools, opt).Counts(pred).Score(opt)
}

// Compare compares one predicted call with one gold call.
func Compare(gold, pred qaoa.Call, tools []qaoa.Tool, opt Options) Verdict {
	return Verdict{}
}
