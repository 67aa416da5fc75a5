package jinja

type forStmt struct {
	line      int
	target    target
	iter      expr
	cond      expr // nil for none
	recursive bool
	body      []stmt
	empty     []stmt
}

// A loop is the variable of that name inside of a for.
type loop struct {
	items     []Value
	index     int
	depth     int
	changed   []Value
	recursion func(r *renderer, items Value, depth int) Value // nil unless recursive
}

func (s *forStmt) exec(r *renderer) flow {
	r.line = s.line
	s.each(r, s.iter.eval(r), 1)
	return goesOn
}

func (s *forStmt) each(r *renderer, over Value, depth int) {
	items := r.items(over)
	if s.cond != nil {
		items = s.filter(r, items)
	}
	if len(items) == 0 {
		defer r.enter()()
		r.run(s.empty)
		return
	}
	l := &loop{items: items, depth: depth}
	if s.recursive {
		l.recursion = func(r *renderer, items Value, depth int) Value {
			if r.calls++; r.calls > maxCalls {
				r.failf("a recursive loop goes more than %d deep", maxCalls)
			}
			defer func() { r.calls-- }()
			return r.capture(func() { s.each(r, items, depth) })
		}
	}
	for i, item := range items {
		l.index = i
		if s.once(r, l, item) == breaks {
			return
		}
	}
}

func (s *forStmt) once(r *renderer, l *loop, item Value) flow {
	defer r.enter()()
	r.line = s.line
	r.scope.vars["loop"] = l
	s.target.assign(r, item)
	return r.run(s.body)
}

func (s *forStmt) filter(r *renderer, items []Value) []Value {
	var out []Value
	for _, item := range items {
		leave := r.enter()
		s.target.assign(r, item)
		if truth(s.cond.eval(r)) {
			out = append(out, item)
		}
		leave()
	}
	return out
}

func (l *loop) at(i int) Value {
	if i < 0 || i >= len(l.items) {
		return undefined{"there is no such item in the loop"}
	}
	return l.items[i]
}

// attr returns an attribute of the loop variable.
func (l *loop) attr(name string) (Value, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.index + 1), true
	case "index0":
		return int64(l.index), true
	case "revindex":
		return int64(n - l.index), true
	case "revindex0":
		return int64(n - l.index - 1), true
	case "first":
		return l.index == 0, true
	case "last":
		return l.index == n-1, true
	case "length":
		return int64(n), true
	case "depth":
		return int64(l.depth), true
	case "depth0":
		return int64(l.depth - 1), true
	case "previtem":
		return l.at(l.index - 1), true
	case "nextitem":
		return l.at(l.index + 1), true
	case "cycle":
		return &function{name: "cycle", call: func(r *renderer, a arguments) Value {
			if len(a.pos) == 0 {
				r.failf("loop.cycle wants items")
			}
			return a.pos[l.index%len(a.pos)]
		}}, true
	case "changed":
		return &function{name: "changed", call: func(_ *renderer, a arguments) Value {
			same := l.changed != nil && equal(NewList(l.changed...), NewList(a.pos...))
			l.changed = append([]Value{}, a.pos...)
			return !same
		}}, true
	}
	return nil, false
}

// items returns what iterating over v yields.
func (r *renderer) items(v Value) []Value {
	switch v := v.(type) {
	case *List:
		return v.Items
	case *Dict:
		return v.keys
	case string:
		r.grow(len(v))
		var out []Value
		for _, c := range v {
			out = append(out, string(c))
		}
		return out
	case undefined:
		return nil
	}
	r.failf("cannot iterate over %s", typeName(v))
	return nil
}
