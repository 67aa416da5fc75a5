package jinja

import "slices"

// A stmt is a statement, or data.
type stmt interface{ exec(r *renderer) flow }

type dataStmt struct{ text string }

func (s *dataStmt) exec(r *renderer) flow {
	r.write(s.text)
	return goesOn
}

type printStmt struct {
	line int
	expr expr
}

func (s *printStmt) exec(r *renderer) flow {
	r.line = s.line
	r.write(r.text(s.expr.eval(r)))
	return goesOn
}

type ifStmt struct {
	line  int
	conds []expr
	then  [][]stmt // one more than conds if there is an else
}

func (s *ifStmt) exec(r *renderer) flow {
	for i, c := range s.conds {
		r.line = s.line
		if truth(c.eval(r)) {
			return r.run(s.then[i])
		}
	}
	if len(s.then) > len(s.conds) {
		return r.run(s.then[len(s.conds)])
	}
	return goesOn
}

type setStmt struct {
	line   int
	target target
	expr   expr   // nil for a block
	body   []stmt // of a block
	filter expr   // of a block: applied to [blockText]
}

func (s *setStmt) exec(r *renderer) flow {
	r.line = s.line
	if s.expr != nil {
		s.target.assign(r, s.expr.eval(r))
		return goesOn
	}
	text := r.capture(func() {
		defer r.enter()()
		r.run(s.body)
	})
	s.target.assign(r, r.filtered(s.filter, text))
	return goesOn
}

// filtered applies a chain of filters that ends in a blockText to text.
func (r *renderer) filtered(filter expr, text string) Value {
	if filter == nil {
		return text
	}
	defer r.enter()()
	r.scope.vars[blockName] = text
	return filter.eval(r)
}

// blockName is the name of the text of a block for its filters. No template can
// write it.
const blockName = " block"

// A target is what values are assigned to: a name, a member of a namespace, or
// several names.
type target struct {
	names  []string
	member string // of the namespace names[0]
	tuple  bool
}

func (t target) assign(r *renderer, v Value) {
	if t.member != "" {
		have, _ := r.scope.get(t.names[0])
		ns, ok := have.(*namespace)
		if !ok {
			r.failf("%s is no namespace, so %s.%s cannot be set", t.names[0], t.names[0], t.member)
		}
		ns.dict.Set(t.member, v)
		return
	}
	if !t.tuple {
		r.scope.vars[t.names[0]] = v
		return
	}
	items := r.items(v)
	if len(items) != len(t.names) {
		r.failf("want %d values to unpack, have %d", len(t.names), len(items))
	}
	for i, name := range t.names {
		r.scope.vars[name] = items[i]
	}
}

type withStmt struct {
	line    int
	targets []target
	values  []expr
	body    []stmt
}

func (s *withStmt) exec(r *renderer) flow {
	r.line = s.line
	values := make([]Value, len(s.values))
	for i, e := range s.values {
		values[i] = e.eval(r)
	}
	defer r.enter()()
	for i, t := range s.targets {
		t.assign(r, values[i])
	}
	return r.run(s.body)
}

type flowStmt struct{ flow flow }

func (s *flowStmt) exec(*renderer) flow { return s.flow }

// A generationStmt marks what an assistant says, for trainers.
type generationStmt struct{ body []stmt }

func (s *generationStmt) exec(r *renderer) flow {
	if r.opt.Generation == nil {
		return r.run(s.body)
	}
	before, after := r.opt.Generation(r.generations)
	r.generations++
	r.write(before)
	f := r.run(s.body)
	r.write(after)
	return f
}

type filterStmt struct {
	line   int
	filter expr
	body   []stmt
}

func (s *filterStmt) exec(r *renderer) flow {
	text := r.capture(func() {
		defer r.enter()()
		r.run(s.body)
	})
	r.line = s.line
	r.write(r.text(r.filtered(s.filter, text)))
	return goesOn
}

type macroStmt struct {
	line     int
	name     string
	params   []string
	defaults []expr // of the last params
	body     []stmt
	caller   expr // of a call block: the macro that is called with it
}

func (s *macroStmt) exec(r *renderer) flow {
	r.line = s.line
	defined := r.scope
	macro := &function{name: s.name, call: func(r *renderer, args arguments) Value { return s.invoke(r, defined, args) }}
	if s.caller == nil {
		r.scope.vars[s.name] = macro
		return goesOn
	}
	call, ok := s.caller.(*callExpr)
	if !ok {
		r.failf("a call block wants a call")
	}
	args := call.arguments(r)
	args.kw = append(args.kw, keyword{"caller", macro})
	r.write(r.text(r.call(call.fn.eval(r), args)))
	return goesOn
}

func (s *macroStmt) invoke(r *renderer, defined *scope, args arguments) Value {
	if r.calls++; r.calls > maxCalls {
		r.failf("macros call each other more than %d deep", maxCalls)
	}
	defer func() { r.calls-- }()
	scopeBefore := r.scope
	r.scope = &scope{vars: map[string]Value{}, parent: defined}
	defer func() { r.scope = scopeBefore }()
	used := 0
	for i, name := range s.params {
		missing := undefined{name}
		v := args.take(i, name, missing)
		if v == missing {
			if k := i - (len(s.params) - len(s.defaults)); k >= 0 {
				v = s.defaults[k].eval(r)
			}
		} else {
			used++
		}
		r.scope.vars[name] = v
	}
	rest := NewList()
	rest.tuple = true
	if len(args.pos) > len(s.params) {
		rest.Items = args.pos[len(s.params):]
	}
	r.scope.vars["varargs"] = rest
	named := NewDict()
	for _, k := range args.kw {
		if k.name == "caller" {
			r.scope.vars["caller"] = k.value
		} else if !slices.Contains(s.params, k.name) {
			named.Set(k.name, k.value)
		}
	}
	r.scope.vars["kwargs"] = named
	return r.capture(func() { r.run(s.body) })
}
