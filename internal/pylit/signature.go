package pylit

import (
	"strings"

	"assay/qaoa"
)

// A Signature is the head of a Python function.
type Signature struct {
	Name   string
	Params []Param
}

// A Param is one parameter of a Signature.
type Param struct {
	Name     string
	Kind     ParamKind
	Optional bool // it has a default
	// Default is the value of the default, Invalid if there is none or it is no
	// literal.
	Default qaoa.Value
}

// A ParamKind says how a parameter is given.
type ParamKind uint8

// The kinds of parameters.
const (
	Either       ParamKind = iota // by position or by keyword
	ByPosition                    // before a "/"
	ByKeyword                     // after a "*" or *name
	RestPosition                  // *name
	RestKeywords                  // **name
)

// ParseSignature returns the head of the function that s begins with, up to the
// parenthesis that closes its parameters:
//
//	def f(a, b: list[int], c: str = 'x', *, d=None) -> int: …
//
// Annotations are skipped. What follows the parenthesis is not looked at, and
// defaults are not evaluated. Every error is a [*SyntaxError].
func ParseSignature(s string) (Signature, error) {
	p := parser{s: s}
	sig, ok := p.signature()
	if !ok {
		return Signature{}, p.err
	}
	return sig, nil
}

// signature reads a head.
func (p *parser) signature() (Signature, bool) {
	var sig Signature
	p.blanks()
	word := p.identifier()
	if word == "async" {
		p.blanks()
		word = p.identifier()
	}
	if word != "def" {
		p.i -= len(word)
		return sig, p.fail("def")
	}
	p.blanks()
	if sig.Name = p.identifier(); sig.Name == "" {
		return sig, p.fail("the name of a function")
	}
	p.blanks()
	if !p.take('(') {
		return sig, p.fail("'('")
	}
	kind := Either
	for comma := true; ; {
		p.blanks()
		if p.take(')') {
			return sig, true
		}
		if !comma {
			return sig, p.fail("')' or ','")
		}
		if !p.param(&sig, &kind) {
			return sig, false
		}
		p.blanks()
		comma = p.take(',')
	}
}

// param reads one parameter, or the mark that changes the kind of those around.
func (p *parser) param(sig *Signature, kind *ParamKind) bool {
	if p.take('/') {
		for i := range sig.Params {
			sig.Params[i].Kind = ByPosition
		}
		return true
	}
	param := Param{Kind: *kind}
	if p.take('*') {
		if param.Kind = RestPosition; p.take('*') {
			param.Kind = RestKeywords
		}
		*kind = ByKeyword
		p.blanks()
		if param.Kind == RestPosition && p.peek() == ',' {
			return true // the mark alone
		}
	}
	if param.Name = p.identifier(); param.Name == "" {
		return p.fail("the name of a parameter")
	}
	p.blanks()
	if p.take(':') && !p.skip(true) {
		return false
	}
	if p.take('=') {
		param.Optional = true
		start := p.i
		if v, ok := p.value(0); ok {
			p.blanks()
			if c := p.peek(); c == ',' || c == ')' {
				param.Default = v
			}
		}
		p.i, p.err = start, nil
		if !p.skip(false) {
			return false
		}
	}
	sig.Params = append(sig.Params, param)
	return true
}

// skip goes to the comma or parenthesis behind an expression, or to the equals
// sign behind an annotation.
func (p *parser) skip(annotation bool) bool {
	depth := 0
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case '\'', '"':
			if _, ok := p.str(); !ok {
				return false
			}
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return true
			}
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		case '=':
			// In a default an equals sign is part of a comparison.
			if depth == 0 && annotation && !strings.HasPrefix(p.s[p.i:], "==") {
				return true
			}
		}
		p.i++
	}
	return p.fail("')'")
}

// ParseCallPrefix returns the call that s begins with, and how many bytes it
// takes. What follows is not looked at. Every error is a [*SyntaxError].
func ParseCallPrefix(s string) (Call, int, error) {
	p := parser{s: s}
	c, ok := p.call()
	if !ok {
		return Call{}, 0, p.err
	}
	return c, p.i, nil
}

// Bind returns the arguments of c by name: those by position take the names
// that the parameters of sig have there and come first. It reports false if
// there are more of them than parameters, or a name is given twice.
func (sig Signature) Bind(c Call) (qaoa.Value, bool) {
	out := qaoa.ObjectValue()
	given := map[string]bool{}
	var names []string
	for _, p := range sig.Params {
		if p.Kind == Either || p.Kind == ByPosition {
			names = append(names, p.Name)
		}
	}
	if len(c.Positional) > len(names) {
		return out, false
	}
	for i, v := range c.Positional {
		given[names[i]] = true
		out.Members = append(out.Members, qaoa.Member{Name: names[i], Value: v})
	}
	for _, m := range c.Keywords {
		if given[m.Name] {
			return out, false
		}
		given[m.Name] = true
		out.Members = append(out.Members, m)
	}
	return out, true
}
