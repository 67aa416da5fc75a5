package jinja

import (
	"fmt"
	"strings"
)

// A Template is a parsed template. It is safe for concurrent use.
type Template struct {
	body []stmt
}

// Parse parses the source of a template. Errors are of type *Error.
func Parse(source string) (*Template, error) {
	if len(source) > maxTemplate {
		return nil, fault(1, "the template has %d bytes, want at most %d", len(source), maxTemplate)
	}
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	body, err := p.template()
	if err != nil {
		return nil, err
	}
	return &Template{body}, nil
}

// Options are the inputs of [Template.Render] besides the variables.
type Options struct {
	Limits Limits
	// Functions are what the template may call beside range, dict, namespace,
	// joiner, cycler and raise_exception. Each takes and returns text.
	Functions map[string]func(args []string) string
	// Generation, if set, is asked what to write before and after each
	// {% generation %} block, of which n is the number from 0.
	Generation func(n int) (before, after string)
}

// Render renders the template. Errors are of type *Error.
func (t *Template) Render(vars *Dict, opt Options) (text string, err error) {
	r := &renderer{limits: opt.Limits.withDefaults(), line: 1, opt: opt, out: new(strings.Builder)}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *Error:
			err = fault
		case error: // a fault of this package: tell the caller, do not end the program
			err = &Error{Line: r.line, Msg: "internal error: " + fault.Error()}
		default:
			err = &Error{Line: r.line, Msg: fmt.Sprintf("internal error: %v", fault)}
		}
	}()
	r.scope = &scope{vars: map[string]Value{}}
	for name, f := range globals {
		r.scope.vars[name] = f
	}
	for name, f := range opt.Functions {
		r.scope.vars[name] = textFunction(name, f)
	}
	for i, k := range vars.keys {
		if name, ok := k.(string); ok {
			r.scope.vars[name] = vars.values[i]
		}
	}
	r.scope = &scope{vars: map[string]Value{}, parent: r.scope}
	r.run(t.body)
	return r.out.String(), nil
}

// A renderer is one rendering.
type renderer struct {
	limits      Limits
	opt         Options
	steps       int
	memory      int
	line        int
	calls       int // of macros, nested
	generations int
	out         *strings.Builder
	scope       *scope
}

type scope struct {
	vars   map[string]Value
	parent *scope
}

func (s *scope) get(name string) (Value, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// enter begins an inner scope; the result ends it.
func (r *renderer) enter() (leave func()) {
	outer := r.scope
	r.scope = &scope{vars: map[string]Value{}, parent: outer}
	return func() { r.scope = outer }
}

func (r *renderer) write(s string) {
	r.grow(len(s))
	if r.out.Len()+len(s) > r.limits.Output {
		r.failf("the template writes more than %d bytes", r.limits.Output)
	}
	r.out.WriteString(s)
}

// capture runs f and returns what it writes.
func (r *renderer) capture(f func()) string {
	outer := r.out
	r.out = new(strings.Builder)
	f()
	text := r.out.String()
	r.out = outer
	return text
}

// A flow says how a block of statements ended.
type flow uint8

const (
	goesOn flow = iota
	breaks
	continues
)

func (r *renderer) run(body []stmt) flow {
	for _, s := range body {
		r.step()
		if f := s.exec(r); f != goesOn {
			return f
		}
	}
	return goesOn
}
