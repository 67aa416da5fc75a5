package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/match"
	"assay/qaoa"
)

// An ErrorClass says what became of one line of an instance: a gold call with
// the predicted call it is compared with, or one of them alone. An instance has
// max(|P|, |G|) lines, as many as its padded size (UniToolCall, section 4.1).
type ErrorClass string

// The classes of a line, in the order of reports. Same-name calls are paired as
// [match.Gold.Explain] does it, then what is left on both sides: a gold call
// with the predicted tool that is most like its own, unparsable calls last.
// A pair of one name that is not equal has the class of its first deciding
// argument, the one that the explanation names.
const (
	ClassRight ErrorClass = "right" // equal under the preset

	ClassWrongTool     ErrorClass = "wrong_tool"          // another tool on offer
	ClassNearDuplicate ErrorClass = "near_duplicate_tool" // another one, whose text is like that of the gold tool ([NearDuplicate])
	ClassHallucinated  ErrorClass = "hallucinated_tool"   // a tool that is neither on offer nor called by gold, with or without a gold call left
	ClassMissingCall   ErrorClass = "missing_call"        // a gold call, and no predicted call is left
	ClassExtraCall     ErrorClass = "extra_call"          // a call of a tool on offer, and no gold call is left
	ClassUnparsable    ErrorClass = "unparsable"          // an attempt at a call that did not parse

	ClassMissingRequired ErrorClass = "missing_required" // lacks an argument that the schema requires
	ClassMissingOptional ErrorClass = "missing_optional" // lacks another one that gold has
	ClassUnknownArgument ErrorClass = "unknown_argument" // has an argument that the schema does not know
	ClassExtraArgument   ErrorClass = "extra_argument"   // has one that the schema knows and gold lacks
	ClassWrongType       ErrorClass = "wrong_type"       // a value of another JSON type
	ClassWrongValue      ErrorClass = "wrong_value"      // a value of the same type
	// ClassFormatOnly is a pair that is not equal under the preset, but is under
	// preset paper, or that the preset accepts as close in every single
	// argument. (One that is only close over the whole call has the class of
	// its argument: there a wrong short value can pass.)
	ClassFormatOnly ErrorClass = "format_only"
)

// The outcomes of a whole instance that are no error of a single call.
const (
	ClassAbstained ErrorClass = "abstained" // no call at all
	ClassMalformed ErrorClass = "malformed" // calls, and none of them parsed
	ClassMissing   ErrorClass = "missing"   // no prediction, or an infrastructure failure
)

// ErrorClasses returns the classes that are an error of a call, in the order of
// reports.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		ClassWrongTool, ClassNearDuplicate, ClassHallucinated, ClassMissingCall, ClassExtraCall, ClassUnparsable,
		ClassMissingRequired, ClassMissingOptional, ClassUnknownArgument, ClassExtraArgument,
		ClassWrongType, ClassWrongValue, ClassFormatOnly,
	}
}

// A line is a line of an instance with its class. gold and pred are indices of
// calls, -1 if that side is missing.
type line struct {
	gold, pred int
	class      ErrorClass
	flexible   bool // the preset counts it for FPA
	named      bool // and for FP
	why        string
}

// maxLeftovers bounds the comparisons of tools when both sides have calls left;
// beyond it they are paired in order.
const maxLeftovers = 1 << 12

// A classifier tells errors of one preset apart. It is read-only.
type classifier struct{ opt match.Options }

// lines returns the lines of an instance, in the order of the gold calls, then
// of the predicted calls without one.
func (c *classifier) lines(g *goldCase, gold, pred []qaoa.Call, pairs []match.Pair) []line {
	out := make([]line, 0, len(pairs))
	var golds, preds []int // left over; golds are indices of out
	for i := range pairs {
		p := &pairs[i]
		switch {
		case p.Gold >= 0 && p.Pred >= 0:
			out = append(out, c.samePair(g, gold[p.Gold], pred[p.Pred], p))
		case p.Gold >= 0:
			golds = append(golds, len(out))
			out = append(out, line{gold: p.Gold, pred: -1, class: ClassMissingCall, why: p.Verdict.Why})
		case p.Pred >= 0:
			preds = append(preds, p.Pred)
		}
	}
	used := map[int]bool{}
	for _, m := range c.pairUp(g, gold, pred, out, golds, preds) {
		used[m.pred] = true
		l := c.otherPair(g, gold[m.gold], pred[m.pred])
		l.gold, l.pred = m.gold, m.pred
		out[m.line] = l
	}
	for _, j := range preds {
		if !used[j] {
			out = append(out, c.alone(g, pred[j], j))
		}
	}
	return out
}

// samePair classes two calls that were paired by their name.
func (c *classifier) samePair(g *goldCase, gold, pred qaoa.Call, p *match.Pair) line {
	v := &p.Verdict
	l := line{gold: p.Gold, pred: p.Pred, flexible: v.Flexible, named: v.Name, why: v.Why}
	switch {
	case v.Strict:
		l.class = ClassRight
	case v.Flexible && v.FlexibleArg, match.Compare(gold, pred, g.tools, match.Options{}).Strict:
		l.class = ClassFormatOnly
	default:
		l.class = argumentClass(g.schemaOf(gold), gold, pred, v)
	}
	return l
}

// otherPair classes two calls of different names.
func (c *classifier) otherPair(g *goldCase, gold, pred qaoa.Call) line {
	if unparsable(pred) {
		return line{class: ClassUnparsable, why: "the predicted call did not parse: " + quoted(cmp.Or(pred.Raw, string(pred.Arguments)))}
	}
	if nameForm(c.opt, pred.Name) == nameForm(c.opt, gold.Name) { // by a preset that pairs in its own way
		return c.samePair(g, gold, pred, &match.Pair{Verdict: match.Compare(gold, pred, g.tools, c.opt)})
	}
	l := line{class: ClassWrongTool}
	if !c.known(g, pred.Name) {
		l.class = ClassHallucinated
		l.why = fmt.Sprintf("gold calls %s, and no tool on offer is %s", quoted(gold.Name), quoted(pred.Name))
		return l
	}
	like := alike(c.words(g, gold.Name), c.words(g, pred.Name))
	if like >= NearDuplicate {
		l.class = ClassNearDuplicate
	}
	l.why = fmt.Sprintf("gold calls %s, predicted %s; the texts of the tools are %.2f alike", quoted(gold.Name), quoted(pred.Name), like)
	return l
}

// alone classes a predicted call that no gold call is left for.
func (c *classifier) alone(g *goldCase, pred qaoa.Call, j int) line {
	l := line{gold: -1, pred: j, class: ClassExtraCall}
	switch {
	case unparsable(pred):
		l.class, l.why = ClassUnparsable, "the predicted call did not parse: "+quoted(cmp.Or(pred.Raw, string(pred.Arguments)))
	default:
		l.why = "no gold call is left for " + quoted(pred.Name)
		if !c.known(g, pred.Name) {
			l.class = ClassHallucinated
			l.why += ", and no such tool is on offer"
		}
	}
	return l
}

// known reports whether a tool is on offer, or called by gold: the lists of
// some benchmarks lack tools that their gold calls.
func (c *classifier) known(g *goldCase, name string) bool {
	form := nameForm(c.opt, name)
	return g.profile.place(form) >= 0 || slices.Contains(g.profile.golds, form)
}

// words returns the words of the tool that a call names.
func (c *classifier) words(g *goldCase, name string) toolWords {
	if i := g.profile.goldPlace(c.opt, name); i >= 0 {
		return g.profile.offers[i].words
	}
	return wordsOf(name, "")
}

// A leftover pairs a line that has only a gold call with a predicted call.
type leftover struct{ line, gold, pred int }

// pairUp pairs what no call of the same name was left for: the most alike tools
// first, then in order.
func (c *classifier) pairUp(g *goldCase, gold, pred []qaoa.Call, out []line, golds, preds []int) []leftover {
	if len(golds) == 0 || len(preds) == 0 {
		return nil
	}
	parsed := slices.DeleteFunc(slices.Clone(preds), func(j int) bool { return unparsable(pred[j]) })
	broken := slices.DeleteFunc(slices.Clone(preds), func(j int) bool { return !unparsable(pred[j]) })
	type edge struct {
		leftover
		like float64
	}
	var edges []edge
	if len(golds)*len(parsed) <= maxLeftovers {
		others := make([]toolWords, len(parsed))
		for k, j := range parsed {
			others[k] = c.words(g, pred[j].Name)
		}
		for _, i := range golds {
			at := out[i].gold
			own := c.words(g, gold[at].Name)
			for k, j := range parsed {
				edges = append(edges, edge{leftover{i, at, j}, alike(own, others[k])})
			}
		}
		slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(b.like, a.like) })
	}
	var pairs []leftover
	doneGold, donePred := map[int]bool{}, map[int]bool{}
	take := func(l leftover) {
		if !doneGold[l.line] && !donePred[l.pred] {
			doneGold[l.line], donePred[l.pred] = true, true
			pairs = append(pairs, l)
		}
	}
	for _, e := range edges {
		take(e.leftover)
	}
	rest := slices.DeleteFunc(slices.Concat(parsed, broken), func(j int) bool { return donePred[j] })
	for _, i := range golds {
		if !doneGold[i] && len(rest) > 0 {
			take(leftover{i, out[i].gold, rest[0]})
			rest = rest[1:]
		}
	}
	return pairs
}

// argumentClass classes two calls of one tool by the argument that decides.
func argumentClass(schema qaoa.Value, gold, pred qaoa.Call, v *match.Verdict) ErrorClass {
	x, inGold := valueAt(gold, v.Path)
	y, inPred := valueAt(pred, v.Path)
	switch {
	case v.Rule == match.RuleArguments, v.Rule == match.RuleType:
		return ClassWrongType
	case v.Rule == match.RuleRequired:
		return ClassMissingRequired
	case v.Rule == match.RuleUndeclared:
		return ClassUnknownArgument
	case v.Rule == match.RuleMissing, v.Rule == match.RuleRouge && inGold && !inPred:
		if _, required := schemaKnows(schema, v.Path); required {
			return ClassMissingRequired
		}
		return ClassMissingOptional
	case v.Rule == match.RuleExtra, v.Rule == match.RuleRouge && !inGold && inPred:
		if known, _ := schemaKnows(schema, v.Path); known {
			return ClassExtraArgument
		}
		return ClassUnknownArgument
	case v.Rule == match.RuleValue, v.Rule == match.RuleLength:
		return ClassWrongValue
	case inGold && inPred && x.Kind == y.Kind:
		return ClassWrongValue // a date and another text are both strings
	case v.Rule == match.RuleKind, inGold && inPred:
		return ClassWrongType
	}
	return ClassWrongValue
}

// quoted returns s in quotes, cut to what fits a line.
func quoted(s string) string { return fmt.Sprintf("%q", cut(s, 80)) }

// cut returns s, or as many of its first bytes as are whole characters and "…".
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
