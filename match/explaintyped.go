package match

import (
	"fmt"
	"slices"
	"strings"
)

// firstFailure says where the arguments fail first under rules that are not
// those of canonical values.
func (p *pairing) firstFailure(i, j int) reason {
	if f, _, decided := p.whole(i, j); decided {
		r := reason{rule: f.rule, gold: p.sides[i].args.String(), pred: p.preds[j].args.String()}
		if f.key != "" {
			r.path = pointer("", f.key)
			r.by = "; the schema requires it"
		}
		return r
	}
	for a := range p.argumentsOf(i, j) {
		rule, ok := p.judge(i, a)
		if ok {
			continue
		}
		gold, pred := a.values()
		if rule != "" && rule != RulePrinted && rule != RuleContained {
			r := reason{rule: rule, path: a.path()}
			if gold != nil {
				r.gold = gold.String()
			}
			if pred != nil {
				r.pred = pred.String()
			}
			return r
		}
		if p.opt.Values == ValuesTyped && gold.Kind == pred.Kind && gold.Kind != Array && gold.Kind != Object {
			return reason{rule: RuleValue, path: a.path(), gold: gold.String(), pred: pred.String()}
		}
		return difference(gold, pred, a.path())
	}
	return reason{rule: RuleArguments, gold: p.sides[i].args.String(), pred: p.preds[j].args.String()}
}

// explainHolds says by which rules the arguments match: the first in full, the
// others by name.
func (p *pairing) explainHolds(v *Verdict, i, j int) {
	v.Rule, v.Why = RuleIdentical, "the arguments are identical"
	if f, _, decided := p.whole(i, j); decided {
		v.Rule = f.rule
		v.Why = fmt.Sprintf("the arguments are not compared (rule %s)", f.rule)
		return
	}
	var others []string
	for a := range p.argumentsOf(i, j) {
		rule, _ := p.judge(i, a)
		gold, pred := a.values()
		switch {
		case a.def != nil:
			rule = RuleDefault
		case rule == RuleMissing:
			rule = RuleOptional
		case rule == RuleExtra:
			rule = RuleIgnored
		case rule == RuleContained || rule == "":
			rule = p.writtenAlike(rule, i, gold, pred)
		}
		switch {
		case rule == "":
		case v.Rule == RuleIdentical:
			v.Rule, v.Path = rule, a.path()
			if gold != nil {
				v.GoldForm = gold.String()
			}
			if pred != nil {
				v.PredForm = pred.String()
			}
			v.Why = fmt.Sprintf("%s: gold %s, predicted %s (rule %s)", v.Path, orNothing(v.GoldForm), orNothing(v.PredForm), rule)
		case rule != v.Rule && !slices.Contains(others, string(rule)):
			others = append(others, string(rule))
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		v.Why += "; elsewhere also by " + strings.Join(others, ", ")
	}
}

// writtenAlike returns "" if two values that match are the same as written,
// else the rule that made them match.
func (p *pairing) writtenAlike(rule Rule, i int, gold, pred *Canon) Rule {
	if p.opt.Values != ValuesTyped {
		return ""
	}
	if p.demands[i].listed && len(gold.Items) > 0 {
		gold = &gold.Items[0]
	}
	plain := newCanoniser(Options{})
	switch {
	case plain.same(gold, pred, 0, false) && gold.raw == pred.raw:
		return ""
	case rule != "":
		return rule
	case gold.Kind == Number || pred.Kind == Number:
		return RuleNumber
	case gold.Kind == Text:
		return RuleText
	}
	return ""
}

func orNothing(form string) string {
	if form == "" {
		return "nothing"
	}
	return form
}
