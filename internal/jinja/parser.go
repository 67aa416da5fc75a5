package jinja

import "slices"

// A parser makes statements and expressions of tokens, by recursive descent.
type parser struct {
	tokens []lexToken
	at     int
	depth  int // of nesting
	loops  int // of for, inside of the current macro
}

func (p *parser) peek() lexToken { return p.tokens[p.at] }

func (p *parser) next() lexToken {
	t := p.tokens[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// stop is what the parser panics with to leave the recursion.
type stop struct{ err *Error }

func (p *parser) failf(format string, args ...any) {
	panic(stop{fault(p.peek().line, format, args...)})
}

// nest counts a level of nesting; the result ends it.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxNesting {
		p.failf("nested more than %d deep", maxNesting)
	}
	return func() { p.depth-- }
}

func (p *parser) template() (body []stmt, err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case stop:
			err = fault.err
		default:
			panic(fault)
		}
	}()
	body, _ = p.block()
	return body, nil
}

func (t lexToken) is(text string) bool {
	return (t.kind == tokOp || t.kind == tokName) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.peek().is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.failf("want %q, have %s", text, describe(p.peek()))
	}
}

func (p *parser) closeTag() {
	if p.next().kind != tokCloseTag {
		p.at--
		p.failf("want the end of the tag, have %s", describe(p.peek()))
	}
}

func describe(t lexToken) string {
	switch t.kind {
	case tokEnd:
		return "the end of the template"
	case tokCloseTag, tokCloseVar:
		return "the end of the tag"
	case tokOpenTag, tokOpenVar, tokData:
		return "text"
	}
	return "\"" + t.text + "\""
}

// block parses statements up to a tag named in ends, whose name it takes and
// returns; with no ends, up to the end of the template.
func (p *parser) block(ends ...string) ([]stmt, string) {
	defer p.nest()()
	var body []stmt
	for {
		t := p.next()
		switch t.kind {
		case tokEnd:
			if len(ends) > 0 {
				p.failf("want {%% %s %%}, have the end of the template", ends[len(ends)-1])
			}
			return body, ""
		case tokData:
			body = append(body, &dataStmt{t.text})
		case tokOpenVar:
			body = append(body, &printStmt{t.line, p.tuple()})
			if p.next().kind != tokCloseVar {
				p.at--
				p.failf("want }}, have %s", describe(p.peek()))
			}
		case tokOpenTag:
			name := p.next()
			if name.kind != tokName {
				p.at--
				p.failf("want the name of a tag, have %s", describe(name))
			}
			if slices.Contains(ends, name.text) {
				return body, name.text
			}
			body = append(body, p.tag(name))
		default:
			p.at--
			p.failf("unexpected %s", describe(t))
		}
	}
}

func (p *parser) tag(name lexToken) stmt {
	switch name.text {
	case "if":
		return p.ifTag(name.line)
	case "for":
		return p.forTag(name.line)
	case "set":
		return p.setTag(name.line)
	case "macro":
		return p.macroTag(name.line)
	case "call":
		return p.callTag(name.line)
	case "with":
		return p.withTag(name.line)
	case "filter":
		filter := p.filterChain()
		p.closeTag()
		body, _ := p.block("endfilter")
		p.closeTag()
		return &filterStmt{name.line, filter, body}
	case "generation":
		p.closeTag()
		body, _ := p.block("endgeneration")
		p.closeTag()
		return &generationStmt{body}
	case "break", "continue":
		if p.loops == 0 {
			p.failf("%s outside of a loop", name.text)
		}
		p.closeTag()
		return &flowStmt{map[string]flow{"break": breaks, "continue": continues}[name.text]}
	case "include", "import", "from", "extends", "block":
		p.failf("tag %q is refused: a chat template is one file", name.text)
	}
	p.failf("tag %q is not known", name.text)
	return nil
}

func (p *parser) ifTag(line int) stmt {
	s := &ifStmt{line: line}
	for {
		s.conds = append(s.conds, p.expression())
		p.closeTag()
		body, end := p.block("elif", "else", "endif")
		s.then = append(s.then, body)
		if end == "elif" {
			continue
		}
		p.closeTag()
		if end == "else" {
			body, _ = p.block("endif")
			s.then = append(s.then, body)
			p.closeTag()
		}
		return s
	}
}

func (p *parser) forTag(line int) stmt {
	s := &forStmt{line: line, target: p.target(false)}
	p.expect("in")
	s.iter = p.tupleWithoutIf()
	if p.accept("if") {
		s.cond = p.expression()
	}
	s.recursive = p.accept("recursive")
	p.closeTag()
	p.loops++
	body, end := p.block("else", "endfor")
	p.loops--
	s.body = body
	p.closeTag()
	if end == "else" {
		s.empty, _ = p.block("endfor")
		p.closeTag()
	}
	return s
}

// target parses what is assigned to: names, or with members name.member.
func (p *parser) target(members bool) target {
	var t target
	parens := p.accept("(")
	for {
		n := p.next()
		if n.kind != tokName || slices.Contains(constants, n.text) {
			p.at--
			p.failf("want a name, have %s", describe(n))
		}
		t.names = append(t.names, n.text)
		if members && !t.tuple && p.accept(".") {
			t.member = p.next().text
			return t
		}
		if !p.accept(",") {
			break
		}
		t.tuple = true
		if k := p.peek(); k.is("in") || k.is(")") || k.is("=") {
			break
		}
	}
	if parens {
		p.expect(")")
	}
	return t
}

func (p *parser) setTag(line int) stmt {
	s := &setStmt{line: line, target: p.target(true)}
	if p.accept("=") {
		s.expr = p.tuple()
		p.closeTag()
		return s
	}
	if p.accept("|") {
		s.filter = p.filterChain()
	}
	p.closeTag()
	s.body, _ = p.block("endset")
	p.closeTag()
	return s
}

// filterChain parses name(args)|name(args)… and returns it applied to the text
// of the block.
func (p *parser) filterChain() expr {
	var e expr = &nameExpr{blockName, p.peek().line}
	for {
		e = p.filter(e)
		if !p.accept("|") {
			return e
		}
	}
}

func (p *parser) params(s *macroStmt) {
	p.expect("(")
	for !p.accept(")") {
		if len(s.params) > 0 {
			p.expect(",")
		}
		n := p.next()
		if n.kind != tokName {
			p.at--
			p.failf("want the name of a parameter, have %s", describe(n))
		}
		s.params = append(s.params, n.text)
		if p.accept("=") {
			s.defaults = append(s.defaults, p.expression())
		} else if len(s.defaults) > 0 {
			p.failf("parameter %q has no default and follows one that has", n.text)
		}
	}
}

// inMacro parses the body of a macro, where break has no loop around it.
func (p *parser) inMacro(end string) []stmt {
	loops := p.loops
	p.loops = 0
	body, _ := p.block(end)
	p.loops = loops
	p.closeTag()
	return body
}

func (p *parser) macroTag(line int) stmt {
	n := p.next()
	if n.kind != tokName {
		p.at--
		p.failf("want the name of a macro, have %s", describe(n))
	}
	s := &macroStmt{line: line, name: n.text}
	p.params(s)
	p.closeTag()
	s.body = p.inMacro("endmacro")
	return s
}

func (p *parser) callTag(line int) stmt {
	s := &macroStmt{line: line, name: "caller"}
	if p.peek().is("(") {
		p.params(s)
	}
	s.caller = p.expression()
	if _, ok := s.caller.(*callExpr); !ok {
		p.failf("a call block wants a call")
	}
	p.closeTag()
	s.body = p.inMacro("endcall")
	return s
}

func (p *parser) withTag(line int) stmt {
	s := &withStmt{line: line}
	for p.peek().kind != tokCloseTag {
		if len(s.targets) > 0 {
			p.expect(",")
		}
		s.targets = append(s.targets, p.target(false))
		p.expect("=")
		s.values = append(s.values, p.expression())
	}
	p.closeTag()
	s.body, _ = p.block("endwith")
	p.closeTag()
	return s
}
