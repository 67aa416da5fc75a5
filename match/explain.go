package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/qaoa"
)

// The rules that a [Verdict] names. The first group makes values equal, the
// second is how they fail to be.
const (
	RuleIdentical Rule = "identical" // written alike, up to the order of keys
	RuleNumber    Rule = "number"    // one exact value
	RuleBool      Rule = "bool"      // true or false in a string
	RuleDate      Rule = "date"      // one day or time
	RuleLiteral   Rule = "literal"   // an array or object in a string
	RuleText      Rule = "text"      // case, blanks, punctuation, compatible characters
	RuleArticle   Rule = "article"   // a, an, the
	RuleKey       Rule = "key"       // the keys are written differently
	RuleNull      Rule = "null"      // null equals an absent key
	RuleDefault   Rule = "default"   // absent, and the default of the schema
	RuleRouge     Rule = "rouge"     // not equal, but close enough

	RulePrinted     Rule = "printed"     // Python prints both alike
	RuleAlternative Rule = "alternative" // a further alternative; none of them, if it fails
	RuleOptional    Rule = "optional"    // the argument may be left out
	RuleContained   Rule = "contained"   // the gold text is part of the predicted one
	RuleSet         Rule = "set"         // the same items between commas
	RuleIgnored     Rule = "ignored"     // it is not compared
	RuleEcho        Rule = "schema_echo" // the gold arguments repeat the schema

	RuleName       Rule = "name"       // the names differ
	RuleUnparsable Rule = "unparsable" // a call without a name, or one that did not parse
	RuleNoPartner  Rule = "no_partner" // no call of this name is left on the other side
	RuleArguments  Rule = "arguments"  // not objects, and not equal
	RuleMissing    Rule = "missing"    // the predicted call lacks the key
	RuleExtra      Rule = "extra"      // the gold call lacks the key
	RuleKind       Rule = "kind"       // values of two kinds
	RuleLength     Rule = "length"     // arrays of two lengths
	RuleValue      Rule = "value"      // two values of one kind
	RuleType       Rule = "type"       // not of the declared type
	RuleRequired   Rule = "required"   // the schema requires the argument
	RuleUndeclared Rule = "undeclared" // the schema has no such parameter
	RuleEmpty      Rule = "empty"      // empty arguments, lists or objects, which may be refused
)

// Compare compares one predicted call with one gold call and says which rule
// decided. The tools are those of the gold record; they give the defaults. A
// call on either side with Raw, or without a name, matches nothing.
func Compare(gold, pred qaoa.Call, tools []qaoa.Tool, opt Options) Verdict {
	p := Prepare([]qaoa.Call{gold}, tools, opt).newPairing([]qaoa.Call{pred})
	return p.verdict(0, 0)
}

// Explain pairs the predicted calls with the gold calls for display: as many
// flexible pairs as there can be, among those as many strict ones, then as many
// of one name; among equals the earliest gold call has the earliest prediction.
// (With more than 256 calls of one name on a side, only the number of flexible
// pairs is certain to be the largest.) Calls without a partner follow: the gold
// calls in their place, the predicted ones at the end.
//
// A model can have more strict matches than these pairs show, since two
// maximum matchings need not agree; [Gold.ExplainStrict] shows those.
func (g *Gold) Explain(pred []qaoa.Call) []Pair {
	p := g.newPairing(pred)
	partner, _ := p.display()
	return p.lines(partner)
}

// ExplainStrict returns the strict pairs of a maximum matching, in the order of
// the gold calls, or nil if the pairs of [Gold.Explain] hold as many.
func (g *Gold) ExplainStrict(pred []qaoa.Call) []Pair {
	p := g.newPairing(pred)
	partner, shown := p.display()
	strict := make([]int, len(partner))
	for i := range strict {
		strict[i] = -1
	}
	most := 0
	for group, preds := range p.groups {
		golds := g.groups[group]
		if len(preds) == 0 {
			continue
		}
		edges := p.grid(golds, preds, p.strict, grid{})
		for a, b := range assign(edges, edges) {
			if b >= 0 && edges.has(a, b) {
				strict[golds[a]] = preds[b]
				most++
			}
		}
	}
	if most <= shown {
		return nil
	}
	var pairs []Pair
	for i, j := range strict {
		if j >= 0 {
			pairs = append(pairs, Pair{Gold: i, Pred: j, Verdict: p.verdict(i, j)})
		}
	}
	return pairs
}

// display returns the prediction that each gold call is shown with, -1 for
// none, and how many of these pairs are strict.
func (p *pairing) display() (partner []int, strictPairs int) {
	partner = make([]int, len(p.sides))
	for i := range partner {
		partner[i] = -1
	}
	for group, preds := range p.groups {
		golds := p.Gold.groups[group]
		if len(preds) == 0 {
			continue
		}
		strict := p.grid(golds, preds, p.strict, grid{})
		flexible := strict
		switch p.opt.Flexible {
		case FlexCall:
			flexible = p.grid(golds, preds, p.closeByCall, strict)
		case FlexArgMin:
			flexible = p.grid(golds, preds, p.closeByArgument, strict)
		}
		for a, b := range assign(flexible, strict) {
			if b < 0 {
				continue
			}
			partner[golds[a]] = preds[b]
			if strict.has(a, b) {
				strictPairs++
			}
		}
	}
	return partner, strictPairs
}

// lines returns the pairs of a pairing and the calls that are left.
func (p *pairing) lines(partner []int) []Pair {
	pairs := make([]Pair, 0, max(len(p.sides), len(p.preds)))
	paired := make([]bool, len(p.preds))
	for i, j := range partner {
		if j < 0 {
			pairs = append(pairs, Pair{Gold: i, Pred: -1, Verdict: alone("gold", "predicted", &p.sides[i])})
			continue
		}
		paired[j] = true
		pairs = append(pairs, Pair{Gold: i, Pred: j, Verdict: p.verdict(i, j)})
	}
	for j := range p.preds {
		if !paired[j] {
			pairs = append(pairs, Pair{Gold: -1, Pred: j, Verdict: alone("predicted", "gold", &p.preds[j])})
		}
	}
	return pairs
}

// alone is the verdict on a call without a partner.
func alone(this, other string, s *side) Verdict {
	if s.name == "" {
		return unparsed(this, s)
	}
	return Verdict{
		Rule: RuleNoPartner,
		Why:  fmt.Sprintf("%s call %s: no %s call of this name is left", this, quote(s.call.Name), other),
	}
}

func unparsed(which string, s *side) Verdict {
	what := "has no name"
	if s.call.Raw != "" {
		what = "did not parse: " + quote(s.call.Raw)
	}
	return Verdict{Rule: RuleUnparsable, Why: fmt.Sprintf("the %s call %s", which, what)}
}

// quote returns s in quotes, cut to what fits a line.
func quote(s string) string { return fmt.Sprintf("%q", clip(s, 80)) }

// verdict compares gold call i with predicted call j.
func (p *pairing) verdict(i, j int) Verdict {
	gold, pred := &p.sides[i], &p.preds[j]
	switch {
	case gold.name == "":
		return unparsed("gold", gold)
	case pred.name == "":
		return unparsed("predicted", pred)
	case gold.name != pred.name:
		return Verdict{
			Rule: RuleName, GoldForm: clip(gold.name, 200), PredForm: clip(pred.name, 200),
			Why: fmt.Sprintf("the names differ: gold %s is %s, predicted %s is %s",
				quote(gold.call.Name), quote(gold.name), quote(pred.call.Name), quote(pred.name)),
		}
	}
	v := Verdict{Name: true, Strict: p.strict(i, j)}
	if v.Strict {
		v.Flexible, v.FlexibleArg = true, true
		p.explainEqual(&v, i, j)
		return v
	}
	rouge := ""
	if p.opt.Flexible != FlexNone && gold.object && pred.object {
		v.FlexibleArg = p.closeByArgument(i, j)
		if p.opt.Flexible == FlexArgMin {
			v.Flexible = v.FlexibleArg
			rouge = p.explainArguments(i, j)
		} else {
			v.Flexible = p.closeByCall(i, j)
			rouge = "over the call " + p.explainRouge(gold.tokens, pred.tokens)
		}
	}
	d := p.firstDifference(i, j)
	v.Rule, v.Path, v.GoldForm, v.PredForm = d.rule, d.path, d.gold, d.pred
	v.Why = d.String()
	if rouge != "" {
		v.Why += "; ROUGE-L " + rouge
	}
	if v.Flexible {
		v.Rule = RuleRouge
	}
	return v
}

// explainRouge writes out the test of the threshold.
func (p *pairing) explainRouge(gold, pred []int32) string {
	m, n := len(gold), len(pred)
	l := p.lcs.length(gold, pred, len(p.vocab.ids), 0)
	left, right := 2*p.opt.RougeDen*l, p.opt.RougeNum*(m+n)
	sign := ">="
	if left < right {
		sign = "<"
	}
	return fmt.Sprintf("has LCS %d of %d and %d tokens: %d %s %d, so F1 %s %d/%d",
		l, m, n, left, sign, right, sign, p.opt.RougeNum, p.opt.RougeDen)
}

// explainArguments is explainRouge for the argument that decides: the first
// that fails, else the first that is not equal.
func (p *pairing) explainArguments(i, j int) string {
	why := ""
	for a := range p.argumentsOf(i, j) {
		gold, pred, ok := p.argumentTokens(i, j, a)
		if !ok {
			if p.holds(i, a) {
				continue
			}
			return ""
		}
		if p.holds(i, a) {
			continue
		}
		enough := p.similar(gold, pred)
		if why == "" || !enough {
			why = "of " + a.path() + " " + p.explainRouge(gold, pred)
		}
		if !enough {
			break
		}
	}
	return why
}

// path returns the JSON Pointer of an argument, as the gold call writes it if
// it has it.
func (a argument) path() string {
	return pointer("", a.raw())
}

// pointer extends a JSON Pointer, unless it is long: a hostile value nests
// thousands of levels.
func pointer(path, key string) string {
	const enough = 400
	if len(path) > enough {
		return path
	}
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(clip(key, 80))
}

// A reason is one place where two values are equal by a rule, or differ.
type reason struct {
	rule       Rule
	path       string
	gold, pred string // canonical forms
	by         string // what was compared, if the forms do not tell
}

// String returns the reason as a sentence.
func (r reason) String() string {
	at := r.path
	if at == "" {
		at = "the arguments"
	}
	switch r.rule {
	case RuleMissing:
		return fmt.Sprintf("%s: the predicted call lacks it; gold is %s%s", at, r.gold, r.by)
	case RuleExtra:
		return fmt.Sprintf("%s: the gold call lacks it; predicted is %s%s", at, r.pred, r.by)
	case RuleKind, RuleLength, RuleValue, RuleArguments:
		return fmt.Sprintf("%s: gold %s, predicted %s (rule %s)", at, r.gold, r.pred, r.rule)
	}
	return fmt.Sprintf("%s: %s%s (rule %s)", at, r.gold, r.by, r.rule)
}

// firstDifference says where the arguments differ first.
func (p *pairing) firstDifference(i, j int) reason {
	gold, pred := &p.sides[i], &p.preds[j]
	switch {
	case !gold.valid || !pred.valid:
		r := reason{rule: RuleArguments, gold: gold.args.String(), pred: pred.args.String()}
		if !gold.valid {
			r.gold = "not JSON: " + quote(string(gold.call.Arguments))
		}
		if !pred.valid {
			r.pred = "not JSON: " + quote(string(pred.call.Arguments))
		}
		return r
	case !gold.object || !pred.object:
		return reason{rule: RuleArguments, gold: gold.args.String(), pred: pred.args.String()}
	}
	if !p.canonical {
		return p.firstFailure(i, j)
	}
	for a := range p.argumentsOf(i, j) {
		if a.equal() {
			continue
		}
		x, y := a.values()
		r := difference(x, y, a.path())
		if a.gold == nil || a.pred == nil {
			r.path = a.path()
			r.rule, r.by = RuleMissing, ", and the schema has no default"
			if a.gold == nil {
				r.rule = RuleExtra
			}
			if a.def != nil {
				r.by = ", and the default is " + a.def.value.String()
			}
		}
		return r
	}
	return reason{rule: RuleArguments, gold: gold.args.String(), pred: pred.args.String()}
}

// difference returns the first place where two values differ; one of them may
// be nil.
func difference(a, b *Canon, path string) reason {
	r := reason{rule: RuleValue, path: path}
	if a != nil {
		r.gold = a.String()
	}
	if b != nil {
		r.pred = b.String()
	}
	if a == nil || b == nil {
		return r
	}
	switch {
	case a.Kind != b.Kind:
		r.rule = RuleKind
	case len(a.Items) != len(b.Items):
		r.rule = RuleLength
	case a.Kind == Array:
		for i := range a.Items {
			if !equal(&a.Items[i], &b.Items[i]) {
				return difference(&a.Items[i], &b.Items[i], pointer(path, strconv.Itoa(i)))
			}
		}
	case a.Kind == Object:
		for i, j := range pairMembers(a, b) {
			switch {
			case j < 0:
				return reason{rule: RuleMissing, path: pointer(path, a.Members[i].Raw), gold: a.Members[i].Value.String()}
			case i < 0:
				return reason{rule: RuleExtra, path: pointer(path, b.Members[j].Raw), pred: b.Members[j].Value.String()}
			case !equal(&a.Members[i].Value, &b.Members[j].Value):
				return difference(&a.Members[i].Value, &b.Members[j].Value, pointer(path, a.Members[i].Raw))
			}
		}
	}
	return r
}

// explainEqual says which rules made the arguments equal: the first in full,
// the others by name.
func (p *pairing) explainEqual(v *Verdict, i, j int) {
	gold, pred := &p.sides[i], &p.preds[j]
	e := equaliser{text: p.opt.Text}
	if gold.object && pred.object && !p.canonical {
		p.explainHolds(v, i, j)
		return
	}
	if gold.object && pred.object {
		for a := range p.argumentsOf(i, j) {
			x, y := a.values()
			if a.def != nil {
				e.add(RuleDefault, a.path(), x, y, func() string {
					return " on one side, absent on the other, and the default of the schema"
				})
				continue
			}
			e.key(a.gold, a.pred, "")
			e.compare(x, y, a.path())
		}
		e.nulls(&gold.args, &pred.args, "")
	} else {
		e.compare(&gold.args, &pred.args, "")
	}
	if e.first.rule == "" {
		v.Rule, v.Why = RuleIdentical, "the arguments are identical"
		return
	}
	v.Rule, v.Path, v.GoldForm, v.PredForm = e.first.rule, e.first.path, e.first.gold, e.first.pred
	v.Why = e.first.String()
	if len(e.others) > 0 {
		slices.Sort(e.others)
		names := make([]string, len(e.others))
		for i, rule := range e.others {
			names[i] = string(rule)
		}
		v.Why += "; elsewhere also by " + strings.Join(names, ", ")
	}
}

// An equaliser collects the rules by which two equal values are equal.
type equaliser struct {
	text   TextRule
	first  reason
	others []Rule // of later places, each once
}

// add notes that rule made a and b equal. Only the first place is written out;
// by says what was compared.
func (e *equaliser) add(rule Rule, path string, a, b *Canon, by func() string) {
	switch {
	case e.first.rule == "":
		e.first = reason{rule: rule, path: path, gold: a.String(), pred: b.String(), by: by()}
	case rule != e.first.rule && !slices.Contains(e.others, rule):
		e.others = append(e.others, rule)
	}
}

// key adds that two members have one key, if they write it differently.
func (e *equaliser) key(gold, pred *Member, path string) {
	if gold.Raw != pred.Raw {
		form := &Canon{Kind: Text, Text: gold.Key}
		e.add(RuleKey, pointer(path, gold.Raw), form, form, func() string {
			return fmt.Sprintf(" is the key %s and the key %s", quote(gold.Raw), quote(pred.Raw))
		})
	}
}

// nulls adds that one of two objects has null members that the other lacks.
func (e *equaliser) nulls(a, b *Canon, path string) {
	if a.dropped != b.dropped {
		e.add(RuleNull, path, a, b, func() string { return " without its null members" })
	}
}

// compare adds the rules that make a and b equal, which they are.
func (e *equaliser) compare(a, b *Canon, path string) {
	scalar := a.Kind != Array && a.Kind != Object
	if a.source == b.source && a.raw == b.raw && (scalar || a.source == qaoa.String) {
		return
	}
	if scalar {
		e.add(e.scalar(a, b), path, a, b, func() string {
			return fmt.Sprintf(" is %s and %s", written(a), written(b))
		})
		return
	}
	inString := func() string { return " in a string" }
	if a.source != b.source {
		e.add(RuleLiteral, path, a, b, inString)
	}
	before := e.first.rule
	for i := range a.Items {
		e.compare(&a.Items[i], &b.Items[i], pointer(path, strconv.Itoa(i)))
	}
	for i, j := range pairMembers(a, b) {
		x, y := &a.Members[i], &b.Members[j]
		e.key(x, y, path)
		e.compare(&x.Value, &y.Value, pointer(path, x.Raw))
	}
	e.nulls(a, b, path)
	if before == "" && e.first.rule == "" && a.source == qaoa.String {
		e.add(RuleLiteral, path, a, b, inString) // two strings that are the same literal
	}
}

// scalar returns the rule by which two equal scalars are equal.
func (e *equaliser) scalar(a, b *Canon) Rule {
	switch a.Kind {
	case Number:
		return RuleNumber
	case Bool:
		return RuleBool
	case Date:
		return RuleDate
	case Text:
		// Without the rule about articles they may differ.
		if e.text == TextFolded && textForm(refold(prepare(a.raw)), false) != textForm(refold(prepare(b.raw)), false) {
			return RuleArticle
		}
		return RuleText
	}
	return RuleIdentical
}

// written returns a scalar as its source writes it.
func written(a *Canon) string {
	if a.source == qaoa.String {
		return quote(a.raw)
	}
	return clip(a.raw, 80)
}
