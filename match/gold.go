package match

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"assay/qaoa"
)

// Gold is the gold side of an instance: a turn or a conversation. [Prepare]
// makes the canonical forms once for any number of predictions. After that it
// is read-only, so goroutines may share it.
type Gold struct {
	canoniser
	sides []side
	// groups are the gold calls of each name, in the order of their first one;
	// unparsable ones are in none.
	groups  [][]int
	byName  map[string]int // form of the name -> group
	schemas []schema       // of the tool of each group's call, per side
	vocab   vocabulary

	canonical bool     // [Options.canonical]
	demands   []demand // per side, unless canonical
	free      []bool   // per group: its gold calls may be left out; nil if none may
}

// A side is one call, prepared.
type side struct {
	call qaoa.Call
	name string // canonical form, "" if the call is unparsable

	// What follows is filled by canoniser.arguments.
	ready  bool
	valid  bool // the arguments are JSON
	object bool // they are an object, or a string that holds one
	args   Canon

	// What follows is filled by canoniser.tokenise.
	tokens []int32 // of all members
	ends   []int   // of each member, in tokens
}

// unparsable reports whether c matches nothing.
func unparsable(c qaoa.Call) bool { return c.Raw != "" || c.Name == "" }

func (c canoniser) newSide(call qaoa.Call) side {
	s := side{call: call}
	if !unparsable(call) {
		s.name = c.opt.Names.form(call.Name)
	}
	return s
}

// arguments makes the canonical form of the arguments. Absent ones are {}, and
// a string that holds a JSON object is that object.
func (c canoniser) arguments(s *side) {
	if s.ready {
		return
	}
	s.ready = true
	v, err := s.call.Arguments.Value()
	if err != nil {
		return
	}
	switch v.Kind {
	case qaoa.Invalid:
		v = qaoa.ObjectValue()
	case qaoa.String:
		if inner, err := qaoa.ParseValue(v.Text); err == nil && inner.Kind == qaoa.Object {
			v = inner
		}
	}
	s.valid = true
	s.object = v.Kind == qaoa.Object
	s.args = c.argumentsForm(v)
}

// argumentsForm is value for the arguments of a call, whose members may be
// compared as something else than canonical values.
func (c canoniser) argumentsForm(v qaoa.Value) Canon {
	if v.Kind == qaoa.Object && c.opt.Blank == BlankAbsent {
		v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m qaoa.Member) bool {
			return m.Value.Kind == qaoa.String && m.Value.Text == ""
		})
	}
	switch {
	case c.opt.Values != ValuesPrinted:
		return c.value(v, 0)
	case v.Kind != qaoa.Object:
		return c.printed(v, 0)
	}
	return c.objectOf(v.Members, 0, canoniser.printed)
}

// printed returns the form of a value that is compared as its printed text.
func (c canoniser) printed(v qaoa.Value, _ int) Canon {
	text := printed(v)
	return Canon{Kind: Text, Text: c.opt.Text.form(text), source: v.Kind, raw: text}
}

// tokenise cuts the arguments into tokens and numbers them.
func (c canoniser) tokenise(s *side, numbers func([]string) []int32) {
	if s.ends != nil || !s.object {
		return
	}
	var tokens []string
	s.ends = make([]int, len(s.args.Members))
	for i := range s.args.Members {
		m := &s.args.Members[i]
		tokens = c.appendTokens(append(tokens, m.Key), &m.Value)
		s.ends[i] = len(tokens)
	}
	s.tokens = numbers(tokens)
}

// valueTokens returns the tokens of the value of a member, without its key.
func (s *side) valueTokens(i int) []int32 {
	start := 1
	if i > 0 {
		start = s.ends[i-1] + 1
	}
	return s.tokens[start:s.ends[i]]
}

// Prepare returns the gold calls of an instance, ready for comparison under
// opt. The tools are those of the gold record; they give the defaults.
func Prepare(calls []qaoa.Call, tools []qaoa.Tool, opt Options) *Gold {
	return newGold(calls, tools, Alternatives{}, opt)
}

func newGold(calls []qaoa.Call, tools []qaoa.Tool, alt Alternatives, opt Options) *Gold {
	g := &Gold{
		canoniser: newCanoniser(opt),
		sides:     make([]side, len(calls)),
		schemas:   make([]schema, len(calls)),
		byName:    make(map[string]int, len(calls)),
	}
	g.canonical = g.opt.canonical()
	if !g.canonical {
		g.demands = make([]demand, len(calls))
	}
	index := nameIndex{tools: tools, rule: g.opt.Names}
	schemas := make(map[int]schema)
	for i, call := range calls {
		named := call.Name
		call.Name = g.opt.Suffix.cut(named, tools)
		s := g.newSide(call)
		g.arguments(&s)
		tool := -1
		if s.name != "" {
			g.addToGroup(i, s.name)
			if t, ok := index.find(call.Name, s.name); ok {
				tool = t
				if _, ok := schemas[t]; !ok {
					schemas[t] = g.newSchema(tools[t].Parameters)
				}
				g.schemas[i] = schemas[t]
			}
		}
		if !g.canonical {
			d := &g.demands[i]
			d.never = call.Name != named && slices.ContainsFunc(tools, func(t qaoa.Tool) bool { return t.Name == named })
			if tool >= 0 {
				d.declared = g.newDeclaration(tools[tool].Parameters)
				d.echo = g.opt.SchemaEcho == On && d.declared.isEcho(g.canoniser, call.Arguments)
			}
			if g.opt.Alternatives == On && i < len(alt.calls) {
				d.listed, d.language = true, alt.Language
				s.args = g.objectOf(alt.calls[i].Members, 0, canoniser.value)
				s.valid, s.object = true, true
			}
		}
		if g.opt.Flexible != FlexNone {
			g.tokenise(&s, g.vocab.intern)
		}
		g.sides[i] = s
	}
	g.markFree()
	if g.opt.Flexible != FlexNone {
		for _, s := range schemas { // the elements are shared with g.schemas
			for i := range s {
				if s[i].has {
					s[i].tokens = g.vocab.intern(g.tokens(&s[i].value))
				}
			}
		}
	}
	return g
}

// addToGroup puts gold call i into the group of its name.
func (g *Gold) addToGroup(i int, name string) {
	group, ok := g.byName[name]
	if !ok {
		group = len(g.groups)
		g.byName[name] = group
		g.groups = append(g.groups, nil)
	}
	g.groups[group] = append(g.groups[group], i)
}

// markFree finds the groups whose gold calls may be left out.
func (g *Gold) markFree() {
	if g.opt.FreeCalls == "" {
		return
	}
	for name := range strings.SplitSeq(g.opt.FreeCalls, ",") {
		if group, ok := g.byName[g.opt.Names.form(name)]; ok {
			if g.free == nil {
				g.free = make([]bool, len(g.groups))
			}
			g.free[group] = true
		}
	}
}

var numberSuffix = regexp.MustCompile(`_[0-9]+$`)

// cut returns the name of a gold call without the number behind it.
func (r SuffixRule) cut(name string, tools []qaoa.Tool) string {
	if r == SuffixKeep {
		return name
	}
	short := numberSuffix.ReplaceAllString(name, "")
	if short == "" || r == SuffixUnknown && slices.ContainsFunc(tools, func(t qaoa.Tool) bool { return t.Name == name }) {
		return name
	}
	return short
}

// Instance scores the calls predicted for a turn or a conversation, in any
// order, against the gold calls. The tools are those of the gold record.
func Instance(gold, pred []qaoa.Call, tools []qaoa.Tool, opt Options) Score {
	return Prepare(gold, tools, opt).Counts(pred).Score(opt)
}

// Counts compares the predicted calls with the gold calls, in any order, and
// returns the sizes of the maximum matchings. A predicted call with Raw, or
// without a name, is a member of the set that matches nothing.
func (g *Gold) Counts(pred []qaoa.Call) Counts {
	c := Counts{Gold: len(g.sides), Pred: len(pred)}
	p := g.newPairing(pred)
	if g.countsArguments() {
		p.countArguments(&c)
	}
	for group, preds := range p.groups {
		golds := g.groups[group]
		if g.free != nil && g.free[group] && len(golds) > len(preds) {
			c.Gold -= len(golds) - len(preds)
		}
		most := min(len(golds), len(preds))
		if most == 0 {
			continue
		}
		if g.opt.Assign == AssignFirst {
			most = len(preds)
		}
		c.Name += most
		strict := p.grid(golds, preds, p.strict, grid{})
		n := g.opt.Assign.size(strict)
		c.Strict += n
		if n == most || g.opt.Flexible == FlexNone {
			c.Flex += n
			c.FlexArg += n
			continue
		}
		argMin := g.opt.Assign.size(p.grid(golds, preds, p.closeByArgument, strict))
		c.FlexArg += argMin
		if g.opt.Flexible == FlexArgMin {
			c.Flex += argMin
		} else {
			c.Flex += g.opt.Assign.size(p.grid(golds, preds, p.closeByCall, strict))
		}
	}
	return c
}

// A pairing compares one set of predictions with a Gold.
type pairing struct {
	*Gold
	preds  []side
	groups [][]int // predictions of each group of the Gold
	lcs    lcsScratch
}

func (g *Gold) newPairing(pred []qaoa.Call) *pairing {
	p := &pairing{Gold: g, preds: make([]side, len(pred)), groups: make([][]int, len(g.groups))}
	for j, call := range pred {
		p.preds[j] = g.newSide(call)
		if name := p.preds[j].name; name != "" {
			if group, ok := g.byName[name]; ok {
				p.groups[group] = append(p.groups[group], j)
				// The others are never compared, whatever they hold.
				g.arguments(&p.preds[j])
			} else if g.countsArguments() {
				g.arguments(&p.preds[j])
			}
		}
	}
	return p
}

// grid returns the graph of the pairs that are in known or satisfy same.
func (p *pairing) grid(golds, preds []int, same func(i, j int) bool, known grid) grid {
	g := newGrid(len(golds), len(preds))
	copy(g.edges, known.edges)
	for a, i := range golds {
		for b, j := range preds {
			if !g.has(a, b) && same(i, j) {
				g.set(a, b)
			}
		}
	}
	return g
}

// strict reports whether the arguments of gold call i and predicted call j are
// equal. At top level a value equals an absent one if it is the default of
// the schema.
func (p *pairing) strict(i, j int) bool {
	gold, pred := &p.sides[i], &p.preds[j]
	if !gold.object || !pred.object {
		return gold.valid && pred.valid && equal(&gold.args, &pred.args)
	}
	if !p.canonical {
		if _, ok, decided := p.whole(i, j); decided {
			return ok
		}
	}
	for a := range p.argumentsOf(i, j) {
		if !p.holds(i, a) {
			return false
		}
	}
	return true
}

// closeByCall reports whether ROUGE-L over the whole argument objects reaches
// the threshold.
func (p *pairing) closeByCall(i, j int) bool {
	gold, pred := &p.sides[i], &p.preds[j]
	if !gold.object || !pred.object {
		return false
	}
	p.tokenise(pred, p.vocab.look)
	return p.similar(gold.tokens, pred.tokens)
}

// closeByArgument reports whether the keys are the same up to defaults, and
// every argument is equal or reaches the threshold on its own.
func (p *pairing) closeByArgument(i, j int) bool {
	gold, pred := &p.sides[i], &p.preds[j]
	if !gold.object || !pred.object {
		return false
	}
	p.tokenise(pred, p.vocab.look)
	for a := range p.argumentsOf(i, j) {
		if !p.holds(i, a) && !p.similarArgument(i, j, a) {
			return false
		}
	}
	return true
}

func (p *pairing) similarArgument(i, j int, a argument) bool {
	x, y, ok := p.argumentTokens(i, j, a)
	return ok && p.similar(x, y)
}

// argumentTokens returns the tokens of both values of an argument, if there
// are both.
func (p *pairing) argumentTokens(i, j int, a argument) (gold, pred []int32, ok bool) {
	if a.gold == nil && a.def == nil || a.pred == nil && a.def == nil {
		return nil, nil, false
	}
	if a.def != nil {
		gold, pred = a.def.tokens, a.def.tokens
	}
	if a.gold != nil {
		gold = p.sides[i].valueTokens(a.goldAt)
	}
	if a.pred != nil {
		pred = p.preds[j].valueTokens(a.predAt)
	}
	return gold, pred, true
}

// similar reports whether the F1 of a and b reaches the threshold. No token at
// all on either side counts as equal.
func (p *pairing) similar(a, b []int32) bool {
	want := need(len(a), len(b), p.opt.RougeNum, p.opt.RougeDen)
	return p.lcs.reaches(a, b, len(p.vocab.ids), want)
}

// An argument is a key at top level with the members of both sides, or of one
// side and the default of the schema, or of one side only.
type argument struct {
	goldAt, predAt int // index of the member, -1 if that side lacks the key
	gold, pred     *Member
	def            *property
}

// raw returns the key as written, by the gold call if it has it.
func (a argument) raw() string {
	if a.gold != nil {
		return a.gold.Raw
	}
	return a.pred.Raw
}

// values returns what is compared, nil for a side that has nothing.
func (a argument) values() (gold, pred *Canon) {
	if a.def != nil {
		gold, pred = &a.def.value, &a.def.value
	}
	if a.gold != nil {
		gold = &a.gold.Value
	}
	if a.pred != nil {
		pred = &a.pred.Value
	}
	return gold, pred
}

func (a argument) equal() bool {
	gold, pred := a.values()
	return gold != nil && pred != nil && equal(gold, pred)
}

// argumentsOf yields the arguments of gold call i and predicted call j, which
// have objects, in the order of their keys.
func (p *pairing) argumentsOf(i, j int) iter.Seq[argument] {
	return func(yield func(argument) bool) {
		gold, pred := &p.sides[i].args, &p.preds[j].args
		for x, y := range pairMembers(gold, pred) {
			a := argument{goldAt: x, predAt: y}
			if x >= 0 {
				a.gold = &gold.Members[x]
			}
			if y >= 0 {
				a.pred = &pred.Members[y]
			}
			switch {
			case x < 0:
				a.def = p.schemas[i].lookup(a.pred)
			case y < 0:
				a.def = p.schemas[i].lookup(a.gold)
			}
			if !yield(a) {
				return
			}
		}
	}
}
