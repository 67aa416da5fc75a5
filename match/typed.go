package match

import (
	"slices"
	"strings"

	"assay/qaoa"
)

// A demand is what a gold call asks for beyond its arguments.
type demand struct {
	declared declaration
	echo     bool   // the arguments are the properties of the schema
	never    bool   // the name was cut though the tool has a number behind its name
	listed   bool   // each argument is the list of its alternatives
	language string // of [Alternatives]
}

// A pyType is the type that a JSON value has in Python.
type pyType uint8

const (
	pyAny pyType = iota // nothing is known
	pyNone
	pyBool
	pyInt
	pyFloat
	pyNumber // declared only: an integer or a float
	pyString
	pyList
	pyDict
)

// typeOf returns the type of a value.
func typeOf(a *Canon) pyType {
	switch a.source {
	case qaoa.Bool:
		return pyBool
	case qaoa.Number:
		if isFloat(a.raw) {
			return pyFloat
		}
		return pyInt
	case qaoa.String:
		return pyString
	case qaoa.Array:
		return pyList
	case qaoa.Object:
		return pyDict
	}
	return pyNone
}

// takes reports whether a value of type have is one of the declared type t,
// where integers may stand for floats if widen is set.
func (t pyType) takes(have pyType, widen bool) bool {
	switch t {
	case pyAny:
		return true
	case pyNumber:
		return have == pyInt || have == pyFloat
	case pyFloat:
		return have == pyFloat || widen && have == pyInt
	}
	return t == have
}

// A declaration is what a schema says about the arguments of a tool.
type declaration struct {
	has        bool // there is a schema with properties, perhaps none
	properties qaoa.Value
	required   []string
}

// newDeclaration reads a JSON Schema. What is not a schema declares nothing.
func (c canoniser) newDeclaration(parameters qaoa.JSON) declaration {
	if c.opt.Values != ValuesTyped && c.opt.Required == Off && c.opt.Missing != MissingOptional {
		return declaration{}
	}
	v, err := parameters.Value()
	if err != nil {
		return declaration{}
	}
	d := declaration{has: v.Kind == qaoa.Invalid}
	if properties, ok := v.Get("properties"); ok && properties.Kind == qaoa.Object {
		d.has, d.properties = true, properties
	}
	required, _ := v.Get("required")
	for _, r := range required.Items {
		if r.Kind == qaoa.String {
			d.required = append(d.required, r.Text)
		}
	}
	return d
}

// isEcho reports whether arguments repeat the properties.
func (d *declaration) isEcho(c canoniser, arguments qaoa.JSON) bool {
	v, err := arguments.Value()
	if err != nil || v.Kind != qaoa.Object || len(v.Members) == 0 || len(v.Members) != len(d.properties.Members) {
		return false
	}
	a, b := c.value(v, 0), c.value(d.properties, 0)
	return c.same(&a, &b, 0, false)
}

// types returns the declared type of a parameter and that of its items.
func (d *declaration) types(key string) (t, item pyType, declared bool) {
	p, ok := d.properties.Get(key)
	if !ok {
		return pyAny, pyAny, false
	}
	items, _ := p.Get("items")
	return declaredType(p), declaredType(items), true
}

// declaredType returns the type that a schema declares, pyAny if it declares
// none; of a list of types the first that is not null counts.
func declaredType(schema qaoa.Value) pyType {
	t, _ := schema.Get("type")
	for _, item := range t.Items {
		if t = item; t.Text != "null" {
			break
		}
	}
	switch strings.ToLower(t.Text) {
	case "string", "char":
		return pyString
	case "integer", "int", "long":
		return pyInt
	case "float", "double":
		return pyFloat
	case "number":
		if f, _ := schema.Get("format"); f.Text == "float" || f.Text == "double" {
			return pyFloat
		}
		return pyNumber
	case "boolean", "bool":
		return pyBool
	case "array", "list", "tuple", "arraylist":
		return pyList
	case "object", "dict", "hashmap":
		return pyDict
	}
	return pyAny
}

// A finding is a rule and the argument it is about, "" for all of them.
type finding struct {
	rule Rule
	key  string
}

// whole looks at gold call i and predicted call j as wholes. If that decides,
// decided is set, and ok says how.
func (p *pairing) whole(i, j int) (f finding, ok, decided bool) {
	gold, pred, d := &p.sides[i].args, &p.preds[j].args, &p.demands[i]
	if d.never {
		return finding{rule: RuleName}, false, true
	}
	if p.opt.EmptyValue == EmptyRefused && d.declared.has {
		noPred, noParameters := len(pred.Members) == 0, len(d.declared.properties.Members) == 0
		switch {
		case noPred && noParameters:
			return finding{rule: RuleEmpty}, true, true
		case noPred || noParameters:
			return finding{rule: RuleEmpty}, false, true
		case d.echo: // is asked in this order
		case len(gold.Members) == 0:
			return finding{rule: RuleEmpty}, false, true
		}
	}
	if d.echo {
		return finding{rule: RuleEcho}, true, true
	}
	if p.opt.Required == On {
		for _, key := range d.declared.required {
			if !slices.ContainsFunc(pred.Members, func(m Member) bool { return m.Raw == key }) {
				return finding{RuleRequired, key}, false, true
			}
		}
	}
	return finding{}, false, false
}

// holds reports whether an argument of gold call i matches.
func (p *pairing) holds(i int, a argument) bool {
	if p.canonical {
		return a.equal()
	}
	_, ok := p.judge(i, a)
	return ok
}

// judge says whether an argument of gold call i matches, and by which rule: ""
// if it is simply equal, or not equal.
func (p *pairing) judge(i int, a argument) (Rule, bool) {
	d, key := &p.demands[i], a.raw()
	switch {
	case a.gold != nil && key == p.opt.FreeKey && key != "":
		return RuleIgnored, true
	case a.pred != nil && p.opt.Required == On && d.declared.has && !d.declared.knows(key):
		return RuleUndeclared, false
	case a.gold == nil && a.def == nil:
		return RuleExtra, p.opt.Extra == ExtraIgnored
	case a.pred == nil && a.def == nil:
		switch p.opt.Missing {
		case MissingOptional:
			return RuleMissing, d.declared.has && !slices.Contains(d.declared.required, key)
		case MissingMarked:
			return RuleMissing, d.listed && mayLack(a.gold.Value.Items)
		}
		return RuleMissing, false
	}
	gold, pred := a.values()
	if key == p.opt.SetKey && key != "" && sameSet(gold, pred) {
		return RuleSet, true
	}
	switch p.opt.Values {
	case ValuesPrinted:
		return printedRule(gold, pred), equal(gold, pred)
	case ValuesTyped:
		return p.typed(d, key, gold, pred)
	}
	return "", equal(gold, pred)
}

func printedRule(gold, pred *Canon) Rule {
	if gold.source != pred.source {
		return RulePrinted
	}
	return ""
}

func (d *declaration) knows(key string) bool {
	_, ok := d.properties.Get(key)
	return ok
}

// isMarker reports whether an alternative says that the argument may be left
// out.
func isMarker(a Canon) bool { return a.source == qaoa.String && a.raw == "" }

// mayLack reports whether an argument with these alternatives may be left out.
// Without any there is nothing that it could be.
func mayLack(alts []Canon) bool { return len(alts) == 0 || slices.ContainsFunc(alts, isMarker) }

// sameSet reports whether two texts list the same items between commas.
func sameSet(a, b *Canon) bool {
	if a.source != qaoa.String || b.source != qaoa.String {
		return false
	}
	return slices.Equal(items(a.raw), items(b.raw))
}

func items(s string) []string {
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// typed compares a predicted value with the gold value, or with its
// alternatives.
func (p *pairing) typed(d *demand, key string, gold, pred *Canon) (Rule, bool) {
	alts := []Canon{*gold}
	if d.listed {
		alts = gold.Items
	}
	first := pyAny // the type of the first alternative that is no marker
	for i := range alts {
		if !isMarker(alts[i]) {
			first = typeOf(&alts[i])
			break
		}
	}
	want, item, declared := d.declared.types(key)
	if p.opt.Types == TypesDeclared {
		if !declaredTakes(want, pred) {
			return RuleType, false
		}
		return p.anyOf(alts, pred, 1, d.listed)
	}
	switch {
	case declared && want == pyAny:
		want = pyString // any, and words that are none
	case want == pyAny:
		want = first
	}
	if d.language != "" && pred.source == qaoa.String {
		pred = p.literal(pred, want, first)
	}
	have := typeOf(pred)
	if p.opt.BoolText == On && want == pyBool && (pred.raw == "true" || pred.raw == "false") {
		have = pyBool
	}
	undeclared := first != pyAny && !want.takes(first, false)
	switch {
	case want.takes(have, true):
		if rule, ok := p.itemsFit(want, item, alts, pred); !ok {
			return rule, false
		}
	case first != pyAny && have == first:
		undeclared = true
	case first != pyAny && p.opt.Undeclared == UndeclaredAny && p.same(&alts[0], pred, 0, false): // 1.0 is true
		undeclared = true
	default:
		return RuleType, false
	}
	if undeclared {
		if p.opt.Undeclared == UndeclaredAny {
			return RuleIgnored, true
		}
		return p.anyOf(alts, pred, 0, d.listed)
	}
	return p.byType(want, item, alts, pred, d.listed)
}

// byType compares a value of the declared type want.
func (p *pairing) byType(want, item pyType, alts []Canon, pred *Canon, listed bool) (Rule, bool) {
	switch want {
	case pyString:
		if p.opt.Contain == ContainGold {
			return RuleContained, strings.Contains(pred.Text, alts[0].Text)
		}
		return p.anyOf(alts, pred, 1, listed)
	case pyDict:
		if p.opt.Objects == ObjectsContained {
			return RuleContained, p.contained(&alts[0], pred)
		}
		return p.anyOf(alts, pred, 2, listed)
	case pyList:
		objects := item == pyDict || item == pyAny && len(pred.Items) > 0 && pred.Items[0].Kind == Object
		switch {
		case objects && p.opt.Objects == ObjectsContained:
			return RuleContained, p.eachContained(&alts[0], pred)
		case objects:
			return p.anyOf(alts, pred, 3, listed)
		}
		return p.anyOf(alts, pred, 2, listed)
	}
	if p.opt.Scalars == ScalarsAny {
		return RuleIgnored, true
	}
	return p.anyOf(alts, pred, 1, listed)
}

// declaredTakes is the check of types that knows string, number, boolean and
// array only, and to which a boolean is a number.
func declaredTakes(want pyType, pred *Canon) bool {
	have := typeOf(pred)
	switch want {
	case pyString, pyBool, pyList:
		return have == want
	case pyNumber, pyFloat:
		return have == pyInt || have == pyFloat || have == pyBool
	}
	return true
}

// itemsFit checks the types of the items of a list, and that the gold value is
// not one of those that are never right.
func (p *pairing) itemsFit(want, item pyType, alts []Canon, pred *Canon) (Rule, bool) {
	if p.opt.EmptyValue == EmptyRefused && (want == pyList || want == pyDict) &&
		len(alts) == 1 && len(alts[0].Items)+len(alts[0].Members) == 0 {
		return RuleEmpty, false
	}
	if want != pyList || item == pyAny || p.opt.ItemTypes == Off {
		return "", true
	}
	fits := func(alt Canon) bool {
		if typeOf(&alt) != pyList {
			return true
		}
		first := pyAny
		for i := range alt.Items {
			if !isMarker(alt.Items[i]) {
				first = typeOf(&alt.Items[i])
				break
			}
		}
		for i := range pred.Items {
			have := typeOf(&pred.Items[i])
			if !item.takes(have, p.opt.Widen == WidenDeep) && (first == pyAny || have != first) {
				return false
			}
		}
		return true
	}
	return RuleType, slices.ContainsFunc(alts, fits)
}

// anyOf reports whether pred equals one of alts; see same.
func (p *pairing) anyOf(alts []Canon, pred *Canon, fold int, listed bool) (Rule, bool) {
	for i := range alts {
		alt := &alts[i]
		if fold > 0 && isMarker(*alt) && typeOf(pred) == pyList && len(pred.Items) == 0 && p.opt.MarkerList == On && listed {
			return RuleOptional, true
		}
		if !p.same(alt, pred, fold, listed) {
			continue
		}
		if i > 0 {
			return RuleAlternative, true
		}
		return "", true
	}
	if listed {
		return RuleAlternative, false
	}
	return "", false
}

// same reports whether two values are equal in Python. Texts are compared in
// their form on the first fold levels, and as written below. If listed is set,
// the members of the objects in a are lists of alternatives, or bare values.
func (c canoniser) same(a, b *Canon, fold int, listed bool) bool {
	if a.Kind != b.Kind {
		return c.opt.BoolNumber == On && sameNumber(a, b)
	}
	switch a.Kind {
	case Text:
		if fold > 0 {
			return a.Text == b.Text
		}
		return a.raw == b.raw
	case Array:
		if len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !c.same(&a.Items[i], &b.Items[i], fold-1, listed) {
				return false
			}
		}
		return true
	case Object:
		for i, j := range pairMembers(a, b) {
			if !c.sameMember(a, b, i, j, fold-1, listed) {
				return false
			}
		}
		return true
	}
	return a.Text == b.Text
}

// sameMember is same for the members i and j with one key, -1 for none.
func (c canoniser) sameMember(a, b *Canon, i, j, fold int, listed bool) bool {
	if i < 0 {
		return false
	}
	alts := []Canon{a.Members[i].Value}
	if listed && alts[0].Kind == Array {
		alts = alts[0].Items
	}
	if j < 0 {
		return listed && mayLack(alts)
	}
	return slices.ContainsFunc(alts, func(alt Canon) bool {
		return c.same(&alt, &b.Members[j].Value, fold, listed)
	})
}

// sameNumber compares a number with a boolean, which is 1 or 0.
func sameNumber(a, b *Canon) bool {
	if a.Kind == Number {
		a, b = b, a
	}
	return a.Kind == Bool && b.Kind == Number && (b.Text == "1" && a.Text == "true" || b.Text == "0" && a.Text == "false")
}

// contained reports whether two objects have as many keys, those of pred are
// in gold, and each gold value is part of the predicted one: objects in the
// same way, anything else as text, strings in their form and the rest as Python
// prints it.
func (c canoniser) contained(gold, pred *Canon) bool {
	if gold.Kind != Object || pred.Kind != Object || len(gold.Members) != len(pred.Members) {
		return false
	}
	for i, j := range pairMembers(gold, pred) {
		if i < 0 || j < 0 {
			return false
		}
		x, y := &gold.Members[i].Value, &pred.Members[j].Value
		if x.Kind == Object {
			if !c.contained(x, y) {
				return false
			}
			continue
		}
		if !strings.Contains(c.leaf(y, x), c.leaf(x, y)) {
			return false
		}
	}
	return true
}

func (c canoniser) eachContained(gold, pred *Canon) bool {
	if gold.Kind != Array || pred.Kind != Array || len(gold.Items) != len(pred.Items) {
		return false
	}
	for i := range gold.Items {
		if !c.contained(&gold.Items[i], &pred.Items[i]) {
			return false
		}
	}
	return true
}

// leaf returns the text of a for contained, beside the value of the other side.
func (c canoniser) leaf(a, other *Canon) string {
	if a.Kind != Text {
		return printed(a.origin())
	}
	if c.opt.BoolText == On && other.Kind == Bool {
		switch a.raw {
		case "true":
			return "True"
		case "false":
			return "False"
		}
	}
	return a.Text
}

// origin returns the value that a was made of, where nothing was read out of
// strings. Members are in the order of their keys.
func (a *Canon) origin() qaoa.Value {
	switch a.source {
	case qaoa.Array:
		v := qaoa.ArrayValue()
		for i := range a.Items {
			v.Items = append(v.Items, a.Items[i].origin())
		}
		return v
	case qaoa.Object:
		v := qaoa.ObjectValue()
		for i := range a.Members {
			v.Members = append(v.Members, qaoa.Member{Name: a.Members[i].Raw, Value: a.Members[i].Value.origin()})
		}
		return v
	}
	return qaoa.Value{Kind: a.source, Text: a.raw}
}

// literal reads a string as a literal of Java or JavaScript if want, or else
// the gold value, is no string: a number, perhaps with the suffix of its type;
// true or false; null; a list or object. What is none stays a string.
func (c canoniser) literal(pred *Canon, want, first pyType) *Canon {
	if want == pyString || want == pyAny {
		want = first
	}
	text := strings.TrimSpace(pred.raw)
	switch want {
	case pyInt, pyFloat, pyNumber:
		digits := strings.TrimRight(text, "LlFfDd")
		if len(text)-len(digits) > 1 {
			return pred
		}
		if form, ok := numberText(digits); ok && !strings.Contains(digits, ",") {
			return &Canon{Kind: Number, Text: form, source: qaoa.Number, raw: digits}
		}
	case pyBool:
		if text == "true" || text == "false" {
			return &Canon{Kind: Bool, Text: text, source: qaoa.Bool, raw: text}
		}
	case pyNone:
		if text == "null" {
			return &Canon{Kind: Null, Text: text, source: qaoa.Null, raw: text}
		}
	case pyList, pyDict:
		if v, ok := literal(text); ok {
			out := c.value(v, 1)
			return &out
		}
	}
	return pred
}
