package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// constants are the names that stand for values.
var constants = []string{"true", "false", "none", "True", "False", "None"}

// tuple parses an expression, or several with commas between them.
func (p *parser) tuple() expr { return p.list(p.expression) }

// tupleWithoutIf is tuple where an if belongs to a for.
func (p *parser) tupleWithoutIf() expr { return p.list(p.or) }

func (p *parser) list(one func() expr) expr {
	first := one()
	if !p.peek().is(",") {
		return first
	}
	l := &listExpr{tuple: true, items: []expr{first}}
	for p.accept(",") {
		if t := p.peek(); t.kind == tokCloseTag || t.kind == tokCloseVar || t.is(")") {
			break
		}
		l.items = append(l.items, one())
	}
	return l
}

func (p *parser) expression() expr {
	defer p.nest()()
	e := p.or()
	for p.accept("if") {
		c := &condExpr{then: e, cond: p.or()}
		if p.accept("else") {
			c.otherwise = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expr {
	e := p.and()
	for p.accept("or") {
		e = &logicExpr{or: true, a: e, b: p.and()}
	}
	return e
}

func (p *parser) and() expr {
	e := p.not()
	for p.accept("and") {
		e = &logicExpr{a: e, b: p.not()}
	}
	return e
}

func (p *parser) not() expr {
	if p.accept("not") {
		defer p.nest()()
		return &notExpr{p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expr {
	e := p.sum()
	c := &compareExpr{line: p.peek().line, first: e}
	for {
		t := p.peek()
		op := t.text
		switch {
		case t.kind == tokOp && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op), t.is("in"):
			p.next()
		case t.is("not") && p.tokens[p.at+1].is("in"):
			p.next()
			p.next()
			op = "not in"
		default:
			if len(c.ops) == 0 {
				return e
			}
			return c
		}
		c.ops = append(c.ops, op)
		c.rest = append(c.rest, p.sum())
	}
}

// binary parses operands with operators of one rank between them.
func (p *parser) binary(operand func() expr, ops ...string) expr {
	e := operand()
	for p.peek().kind == tokOp && slices.Contains(ops, p.peek().text) {
		t := p.next()
		e = &binaryExpr{line: t.line, op: t.text, a: e, b: operand()}
	}
	return e
}

func (p *parser) sum() expr     { return p.binary(p.concat, "+", "-") }
func (p *parser) concat() expr  { return p.binary(p.product, "~") }
func (p *parser) product() expr { return p.binary(p.power, "*", "/", "//", "%") }
func (p *parser) power() expr {
	return p.binary(func() expr { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) expr {
	t := p.peek()
	if t.is("-") || t.is("+") {
		defer p.nest()()
		p.next()
		e := p.unary(false)
		if t.is("-") {
			e = &negExpr{t.line, e}
		}
		return p.postfix(e, filters)
	}
	return p.postfix(p.primary(), filters)
}

// postfix parses members, subscripts, calls and, where filters says so, filters
// and tests behind e.
func (p *parser) postfix(e expr, filters bool) expr {
	for {
		t := p.peek()
		switch {
		case t.is(".") && t.kind == tokOp:
			p.next()
			n := p.next()
			switch n.kind {
			case tokName:
				e = &attrExpr{t.line, e, n.text}
			case tokInt:
				i, err := strconv.ParseInt(n.text, 10, 64)
				if err != nil {
					p.failf("%q is no index", n.text)
				}
				e = &itemExpr{t.line, e, &constExpr{i}}
			default:
				p.at--
				p.failf("want a name behind the dot, have %s", describe(n))
			}
		case t.is("[") && t.kind == tokOp:
			p.next()
			e = p.subscript(t.line, e)
		case t.is("(") && t.kind == tokOp:
			e = p.callOf(e)
		case filters && t.is("|") && t.kind == tokOp:
			p.next()
			e = p.filter(e)
		case filters && t.is("is"):
			p.next()
			e = p.test(e)
		default:
			return e
		}
	}
}

func (p *parser) subscript(line int, of expr) expr {
	var part [3]expr
	n, slice := 0, false
	for !p.peek().is("]") {
		if p.accept(":") {
			slice = true
			if n++; n > 2 {
				p.failf("a slice has at most three parts")
			}
			continue
		}
		if part[n] != nil {
			p.failf("want ], have %s", describe(p.peek()))
		}
		part[n] = p.expression()
	}
	p.next()
	if slice {
		return &sliceExpr{line, of, part}
	}
	if part[0] == nil {
		p.failf("want an index between the brackets")
	}
	return &itemExpr{line, of, part[0]}
}

// callOf parses (args) behind e.
func (p *parser) callOf(e expr) *callExpr {
	c := &callExpr{line: p.next().line, fn: e}
	for !p.accept(")") {
		if len(c.pos)+len(c.kw) > 0 || c.star != nil || c.stars != nil {
			p.expect(",")
			if p.accept(")") {
				break
			}
		}
		if p.accept("*") {
			c.star = p.expression()
			continue
		}
		if p.accept("**") {
			c.stars = p.expression()
			continue
		}
		if p.peek().kind == tokName && p.tokens[p.at+1].is("=") {
			name := p.next().text
			p.next()
			c.kw = append(c.kw, keywordExpr{name, p.expression()})
			continue
		}
		if len(c.kw) > 0 {
			p.failf("an argument without a name follows one with a name")
		}
		c.pos = append(c.pos, p.expression())
	}
	return c
}

func (p *parser) filter(e expr) expr {
	n := p.next()
	f := filters[n.text]
	if n.kind != tokName || f == nil {
		p.at--
		p.failf("filter %s is not known", describe(n))
	}
	out := &filterExpr{line: n.line, name: n.text, of: e, call: &callExpr{}}
	if p.peek().is("(") {
		out.call = p.callOf(nil)
	}
	return out
}

func (p *parser) test(e expr) expr {
	negated := p.accept("not")
	n := p.next()
	t := tests[n.text]
	if n.kind != tokName && n.kind != tokOp || t == nil {
		p.at--
		p.failf("test %s is not known", describe(n))
	}
	out := &testExpr{line: n.line, name: n.text, of: e, negated: negated, call: &callExpr{}}
	switch a := p.peek(); {
	case a.is("("):
		out.call = p.callOf(nil)
	case a.kind == tokString || a.kind == tokInt || a.kind == tokFloat || a.is("[") || a.is("{"),
		a.kind == tokName && !slices.Contains([]string{"else", "or", "and", "if", "is", "in", "not", "recursive"}, a.text):
		out.call.pos = []expr{p.postfix(p.primary(), false)}
	}
	return out
}

func (p *parser) primary() expr {
	defer p.nest()()
	t := p.next()
	switch t.kind {
	case tokString:
		parts := []string{t.text}
		for p.peek().kind == tokString {
			parts = append(parts, p.next().text)
		}
		return &constExpr{strings.Join(parts, "")}
	case tokInt:
		if i, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			return &constExpr{i}
		}
		return &constExpr{BigInt(t.text)}
	case tokFloat:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.failf("%q is no number", t.text)
		}
		return &constExpr{f}
	case tokName:
		switch t.text {
		case "true", "True":
			return &constExpr{true}
		case "false", "False":
			return &constExpr{false}
		case "none", "None":
			return &constExpr{nil}
		}
		return &nameExpr{t.text, t.line}
	case tokOp:
		switch t.text {
		case "(":
			return p.parens()
		case "[":
			l := &listExpr{}
			for !p.accept("]") {
				if len(l.items) > 0 {
					p.expect(",")
					if p.accept("]") {
						break
					}
				}
				l.items = append(l.items, p.expression())
			}
			return l
		case "{":
			return p.dict()
		}
	}
	p.at--
	p.failf("want a value, have %s", describe(t))
	return nil
}

func (p *parser) parens() expr {
	if p.accept(")") {
		return &listExpr{tuple: true}
	}
	e := p.tuple()
	p.expect(")")
	return e
}

func (p *parser) dict() expr {
	d := &dictExpr{line: p.peek().line}
	for !p.accept("}") {
		if len(d.keys) > 0 {
			p.expect(",")
			if p.accept("}") {
				break
			}
		}
		d.keys = append(d.keys, p.expression())
		p.expect(":")
		d.values = append(d.values, p.expression())
	}
	return d
}
