package page

import (
	"strings"
	"unicode"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

// A lineDetail is a gold call beside the predicted call that it is compared
// with, or one of them alone.
type lineDetail struct {
	Gold  int             `json:"g"` // -1 for none
	Pred  int             `json:"p"`
	Class eval.ErrorClass `json:"class"`
	Why   string          `json:"why"`
	// What decided, where the two were paired by their name.
	Rule     match.Rule `json:"rule,omitempty"`
	Path     string     `json:"path,omitempty"`
	GoldForm string     `json:"gf,omitempty"`
	PredForm string     `json:"pf,omitempty"`
	Strict   bool       `json:"strict,omitempty"`
	Flexible bool       `json:"flex,omitempty"`
	Args     []argument `json:"args,omitempty"`
}

// An argument is one argument of a line, on both sides where both have it.
type argument struct {
	Name     string  `json:"k"`
	PredName string  `json:"pk,omitempty"` // where it is written otherwise
	Gold     *string `json:"g,omitempty"`  // JSON text; nil if it is absent
	Pred     *string `json:"p,omitempty"`
	// Same is "yes" where the preset holds the two for equal, "close" where it
	// counts them for FPA only, else "no".
	Same string     `json:"s"`
	Rule match.Rule `json:"rule,omitempty"`
	Why  string     `json:"why,omitempty"`
}

// maxCompared bounds the arguments, in bytes of JSON, that are compared one by
// one: longer ones are equal only if they are written alike.
const maxCompared = 32 << 10

// A pairer compares the arguments of paired calls.
type pairer struct {
	opt   match.Options
	tools []qaoa.Tool
}

func (p pairer) lines(gold, pred []qaoa.Call, lines []eval.DiagnosedLine) []lineDetail {
	var out []lineDetail
	for _, l := range lines {
		v := l.Verdict
		d := lineDetail{
			Gold: l.Gold, Pred: l.Pred, Class: l.Class, Why: l.Why,
			Rule: v.Rule, Path: v.Path, GoldForm: v.GoldForm, PredForm: v.PredForm, Strict: v.Strict, Flexible: v.Flexible,
		}
		if l.Gold >= 0 && l.Gold < len(gold) && l.Pred >= 0 && l.Pred < len(pred) {
			d.Args = p.arguments(gold[l.Gold], pred[l.Pred], v)
		}
		out = append(out, d)
	}
	return out
}

// arguments compares argument by argument: the gold call with itself, but for
// the one argument, so that what a schema asks of the others does not matter.
func (p pairer) arguments(gold, pred qaoa.Call, v match.Verdict) []argument {
	if gold.Arguments.Kind() != qaoa.Object || pred.Arguments.Kind() != qaoa.Object {
		return nil
	}
	g, q := membersOf(gold.Arguments), membersOf(pred.Arguments)
	used := make([]bool, len(q))
	partner := make([]int, len(g))
	for i := range g {
		partner[i] = find(q, used, func(m [2]string) bool { return m[0] == g[i][0] })
	}
	compare := v.Name && !v.Strict && len(gold.Arguments)+len(pred.Arguments) <= maxCompared
	for i := range g { // a key may be written otherwise
		if partner[i] < 0 && v.Name {
			partner[i] = find(q, used, func(m [2]string) bool { return keyForm(m[0]) == keyForm(g[i][0]) })
		}
	}
	var out []argument
	for i := range g {
		a := argument{Name: g[i][0], Gold: &g[i][1]}
		var with [][2]string
		if j := partner[i]; j >= 0 {
			a.Pred = &q[j][1]
			if q[j][0] != g[i][0] {
				a.PredName = q[j][0]
			}
			with = q[j : j+1]
		}
		p.judge(&a, gold, replaced(g, i, with), v, compare)
		out = append(out, a)
	}
	for j := range q {
		if !used[j] {
			a := argument{Name: q[j][0], Pred: &q[j][1]}
			p.judge(&a, gold, append(replaced(g, -1, nil), q[j]), v, compare)
			out = append(out, a)
		}
	}
	return out
}

// keyForm is how a name of an argument reads without case and punctuation:
// startDate and start_date are shown beside each other.
func keyForm(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// find returns the first member that is not used and fits, and marks it; -1 if
// there is none.
func find(list [][2]string, used []bool, fits func([2]string) bool) int {
	for i, m := range list {
		if !used[i] && fits(m) {
			used[i] = true
			return i
		}
	}
	return -1
}

// replaced returns a copy of list with what stands at i replaced.
func replaced(list [][2]string, i int, with [][2]string) [][2]string {
	var out [][2]string
	for k, m := range list {
		if k == i {
			out = append(out, with...)
		} else {
			out = append(out, m)
		}
	}
	return out
}

// judge says whether an argument is the same on both sides. members are the
// gold call's with this one argument as predicted.
func (p pairer) judge(a *argument, gold qaoa.Call, members [][2]string, v match.Verdict, compare bool) {
	written := a.Gold != nil && a.Pred != nil && *a.Gold == *a.Pred && a.PredName == ""
	switch {
	case written:
		a.Same = "yes"
	case v.Strict:
		a.Same, a.Rule = "yes", v.Rule
	case !compare:
		a.Same = "no"
	default:
		got := match.Compare(gold, qaoa.Call{Name: gold.Name, Arguments: object(members)}, p.tools, p.opt)
		a.Rule, a.Why, a.Same = got.Rule, got.Why, "no"
		if got.Strict {
			a.Same = "yes"
		} else if got.FlexibleArg && v.Flexible {
			a.Same = "close"
		}
	}
}

// object writes members as a JSON object.
func object(members [][2]string) qaoa.JSON {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(qaoa.AppendQuote(out, m[0]), ':')
		out = append(out, m[1]...)
	}
	return qaoa.JSON(append(out, '}'))
}
