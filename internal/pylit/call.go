package pylit

import (
	"strings"

	"assay/qaoa"
)

// A Call is a Python call expression whose arguments are literals.
type Call struct {
	Name       string // with dots as written: "math.sqrt"
	Positional []qaoa.Value
	Keywords   []qaoa.Member // in source order, no name twice
}

// ParseCall returns the one call in s, such as a.b(1, k='v'). Names may hold
// hyphens besides what Python allows, since tools are called like that. As in
// Python a positional argument after a keyword, or a keyword twice, is an
// error. Every error is a [*SyntaxError].
func ParseCall(s string) (Call, error) {
	p := parser{s: s}
	c, ok := p.call()
	if ok {
		p.blanks()
		if p.i < len(s) {
			ok = p.fail("the end of the call")
		}
	}
	if !ok {
		return Call{}, p.err
	}
	return c, nil
}

// ParseCalls returns the calls in s: a list as in [f(a=1), g()], or one or more
// calls with commas, semicolons or line breaks between them. The empty list is
// no call and no error; a text of blanks is an error. Every error is a
// [*SyntaxError].
func ParseCalls(s string) ([]Call, error) {
	p := parser{s: s}
	p.blanks()
	var calls []Call
	var ok bool
	if p.take('[') {
		calls, ok = p.bracketed()
	} else {
		calls, ok = p.sequence()
	}
	if !ok {
		return nil, p.err
	}
	return calls, nil
}

// bracketed reads calls and commas up to a bracket and the end of the text.
func (p *parser) bracketed() ([]Call, bool) {
	var calls []Call
	for comma := true; ; {
		p.blanks()
		if p.take(']') {
			p.blanks()
			if p.i < len(p.s) {
				return nil, p.fail("the end of the text")
			}
			return calls, true
		}
		if !comma {
			return nil, p.fail("']' or ','")
		}
		c, ok := p.call()
		if !ok {
			return nil, false
		}
		calls = append(calls, c)
		p.blanks()
		comma = p.take(',')
	}
}

// sequence reads calls up to the end of the text.
func (p *parser) sequence() ([]Call, bool) {
	var calls []Call
	for separated := true; ; {
		if len(calls) > 0 && p.i == len(p.s) {
			return calls, true
		}
		if !separated {
			return nil, p.fail("',' or a line break")
		}
		c, ok := p.call()
		if !ok {
			return nil, false
		}
		calls = append(calls, c)
		start := p.i
		p.blanks()
		separated = strings.ContainsAny(p.s[start:p.i], "\r\n")
		if p.take(',') || p.take(';') {
			separated = true
			p.blanks()
		}
	}
}

// call reads one call.
func (p *parser) call() (Call, bool) {
	p.blanks()
	name := p.dotted()
	if name == "" {
		return Call{}, p.fail("the name of a function")
	}
	p.blanks()
	if !p.take('(') {
		return Call{}, p.fail("'('")
	}
	c := Call{Name: name}
	seen := keywordSet{}
	for comma := true; ; {
		p.blanks()
		if p.take(')') {
			return c, true
		}
		if !comma {
			return Call{}, p.fail("')' or ','")
		}
		if !p.argument(&c, &seen) {
			return Call{}, false
		}
		p.blanks()
		comma = p.take(',')
	}
}

// argument reads one argument into c.
func (p *parser) argument(c *Call, seen *keywordSet) bool {
	start := p.i
	name := p.identifier()
	p.blanks()
	if name != "" && p.peek() == '=' {
		if seen.add(c.Keywords, name) {
			p.i = start
			return p.fail("a keyword that did not occur yet")
		}
		p.i++
		v, ok := p.value(0)
		c.Keywords = append(c.Keywords, qaoa.Member{Name: name, Value: v})
		return ok
	}
	p.i = start
	if len(c.Keywords) > 0 {
		return p.fail("a keyword and '='")
	}
	v, ok := p.value(0)
	c.Positional = append(c.Positional, v)
	return ok
}

// dotted reads the name of a function, "" if there is none.
func (p *parser) dotted() string {
	start := p.i
	if p.identifier() == "" {
		return ""
	}
	for p.i < len(p.s) {
		end := p.i
		for p.i < len(p.s) && (p.s[p.i] == '-' || p.s[p.i] >= '0' && p.s[p.i] <= '9') {
			p.i++
		}
		if p.i > end {
			p.identifier()
			continue
		}
		if !p.take('.') || p.identifier() == "" {
			p.i = end
			break
		}
	}
	return p.s[start:p.i]
}

// A keywordSet tells whether a keyword occurred. Few keywords are searched,
// many are hashed, so that a long call takes linear time.
type keywordSet struct{ names map[string]bool }

// add adds name, and reports whether it was among those before.
func (k *keywordSet) add(before []qaoa.Member, name string) bool {
	const few = 16
	if len(before) < few {
		for _, m := range before {
			if m.Name == name {
				return true
			}
		}
		return false
	}
	if k.names == nil {
		k.names = map[string]bool{}
		for _, m := range before {
			k.names[m.Name] = true
		}
	}
	if k.names[name] {
		return true
	}
	k.names[name] = true
	return false
}
