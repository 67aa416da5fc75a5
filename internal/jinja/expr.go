package jinja

import "strings"

// An expr is an expression.
type expr interface{ eval(r *renderer) Value }

type constExpr struct{ v Value }

func (e *constExpr) eval(*renderer) Value { return e.v }

type nameExpr struct {
	name string
	line int
}

func (e *nameExpr) eval(r *renderer) Value {
	r.step()
	if v, ok := r.scope.get(e.name); ok {
		return v
	}
	return undefined{"\"" + e.name + "\" is not set"}
}

type listExpr struct {
	items []expr
	tuple bool
}

func (e *listExpr) eval(r *renderer) Value {
	r.step()
	r.grow(16 * len(e.items))
	l := &List{Items: make([]Value, len(e.items)), tuple: e.tuple}
	for i, item := range e.items {
		l.Items[i] = item.eval(r)
	}
	return l
}

type dictExpr struct {
	line         int
	keys, values []expr
}

func (e *dictExpr) eval(r *renderer) Value {
	r.step()
	r.grow(64 * len(e.keys))
	d := NewDict()
	for i := range e.keys {
		k := e.keys[i].eval(r)
		if !hashable(k) {
			r.failf("%s cannot be a key", typeName(k))
		}
		d.set(k, e.values[i].eval(r))
	}
	return d
}

type condExpr struct{ cond, then, otherwise expr }

func (e *condExpr) eval(r *renderer) Value {
	switch {
	case truth(e.cond.eval(r)):
		return e.then.eval(r)
	case e.otherwise != nil:
		return e.otherwise.eval(r)
	}
	return undefined{"a condition without else was false"}
}

type logicExpr struct {
	or   bool
	a, b expr
}

func (e *logicExpr) eval(r *renderer) Value {
	if a := e.a.eval(r); truth(a) == e.or {
		return a
	}
	return e.b.eval(r)
}

type notExpr struct{ of expr }

func (e *notExpr) eval(r *renderer) Value { return !truth(e.of.eval(r)) }

type negExpr struct {
	line int
	of   expr
}

func (e *negExpr) eval(r *renderer) Value {
	v := e.of.eval(r)
	r.line = e.line
	switch v := v.(type) {
	case float64:
		return -v
	case int64, bool:
		i, _ := integer(v)
		return -i
	}
	r.failf("cannot negate %s", typeName(v))
	return nil
}

type compareExpr struct {
	line  int
	first expr
	ops   []string
	rest  []expr
}

func (e *compareExpr) eval(r *renderer) Value {
	r.step()
	a := e.first.eval(r)
	for i, op := range e.ops {
		b := e.rest[i].eval(r)
		r.line = e.line
		if !r.compare(op, a, b) {
			return false
		}
		a = b
	}
	return true
}

func (r *renderer) compare(op string, a, b Value) bool {
	switch op {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	}
	order, ok := compare(a, b)
	if !ok {
		r.failf("cannot compare %s %s %s", typeName(a), op, typeName(b))
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func (r *renderer) contains(in, v Value) bool {
	switch in := in.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			r.failf("want a text to look for in a text, have %s", typeName(v))
		}
		return strings.Contains(in, s)
	case *Dict:
		if !hashable(v) {
			r.failf("%s cannot be a key", typeName(v))
		}
		_, ok := in.get(v)
		return ok
	}
	for _, item := range r.items(in) {
		r.step()
		if equal(item, v) {
			return true
		}
	}
	return false
}

type attrExpr struct {
	line int
	of   expr
	name string
}

func (e *attrExpr) eval(r *renderer) Value {
	r.step()
	v := e.of.eval(r)
	r.line = e.line
	return r.attr(v, e.name)
}

// attr is v.name: a method or attribute first, then a member.
func (r *renderer) attr(v Value, name string) Value {
	switch v := v.(type) {
	case undefined:
		r.failf("%s, so it has no %q", v.what, name)
	case *namespace:
		if m, ok := v.dict.Get(name); ok {
			return m
		}
	case *loop:
		if a, ok := v.attr(name); ok {
			return a
		}
	case *Dict:
		if m := method(v, name); m != nil {
			return m
		}
		if m, ok := v.Get(name); ok {
			return m
		}
	default:
		if m := method(v, name); m != nil {
			return m
		}
	}
	return undefined{typeName(v) + " has no \"" + name + "\""}
}

type itemExpr struct {
	line  int
	of    expr
	index expr
}

func (e *itemExpr) eval(r *renderer) Value {
	r.step()
	v, i := e.of.eval(r), e.index.eval(r)
	r.line = e.line
	return r.item(v, i)
}

// item is v[i]: a member first, then an attribute.
func (r *renderer) item(v, i Value) Value {
	switch v := v.(type) {
	case undefined:
		r.failf("%s, so it has no item %s", v.what, r.repr(i))
	case *Dict:
		if hashable(i) {
			if m, ok := v.get(i); ok {
				return m
			}
		}
	case *List:
		if n, ok := integer(i); ok {
			if n < 0 {
				n += int64(len(v.Items))
			}
			if 0 <= n && n < int64(len(v.Items)) {
				return v.Items[n]
			}
			return undefined{typeName(v) + " has no item " + r.repr(i)}
		}
	case string:
		if n, ok := integer(i); ok {
			return charAt(v, n)
		}
	}
	if name, ok := i.(string); ok {
		return r.attr(v, name)
	}
	return undefined{typeName(v) + " has no item " + r.repr(i)}
}

func charAt(s string, n int64) Value {
	runes := []rune(s)
	if n < 0 {
		n += int64(len(runes))
	}
	if n < 0 || n >= int64(len(runes)) {
		return undefined{"the text has no such character"}
	}
	return string(runes[n])
}

type sliceExpr struct {
	line int
	of   expr
	part [3]expr
}

func (e *sliceExpr) eval(r *renderer) Value {
	r.step()
	v := e.of.eval(r)
	var part [3]*int64
	for i, p := range e.part {
		if p == nil {
			continue
		}
		x := p.eval(r)
		if x == nil {
			continue
		}
		n, ok := integer(x)
		if !ok {
			r.line = e.line
			r.failf("want an integer in a slice, have %s", typeName(x))
		}
		part[i] = &n
	}
	r.line = e.line
	switch v := v.(type) {
	case string:
		runes := []rune(v)
		r.grow(len(v))
		var out []rune
		for _, i := range r.slice(len(runes), part) {
			out = append(out, runes[i])
		}
		return string(out)
	case *List:
		out := &List{tuple: v.tuple}
		for _, i := range r.slice(len(v.Items), part) {
			out.Items = append(out.Items, v.Items[i])
		}
		return out
	}
	r.failf("cannot slice %s", typeName(v))
	return nil
}

// slice returns the places that [start:stop:step] takes of n.
func (r *renderer) slice(n int, part [3]*int64) []int {
	step := int64(1)
	if part[2] != nil {
		step = *part[2]
	}
	if step == 0 {
		r.failf("the step of a slice cannot be 0")
	}
	low, high := int64(0), int64(n)
	if step < 0 {
		low, high = -1, int64(n)-1
	}
	bound := func(p *int64, def int64) int64 {
		if p == nil {
			return def
		}
		i := *p
		if i < 0 {
			i += int64(n)
		}
		return min(max(i, low), high)
	}
	var out []int
	if step > 0 {
		for i := bound(part[0], 0); i < bound(part[1], int64(n)); i += min(step, int64(n)+1) {
			out = append(out, int(i))
		}
	} else {
		for i := bound(part[0], int64(n)-1); i > bound(part[1], -1); i += max(step, -int64(n)-1) {
			out = append(out, int(i))
		}
	}
	r.grow(16 * len(out))
	return out
}

type keywordExpr struct {
	name string
	expr expr
}

type callExpr struct {
	line int
	fn   expr
	pos  []expr
	kw   []keywordExpr
	// *star are more arguments, and **stars more with names; nil for none.
	star, stars expr
}

func (e *callExpr) eval(r *renderer) Value {
	r.step()
	fn := e.fn.eval(r)
	args := e.arguments(r)
	r.line = e.line
	return r.call(fn, args)
}

func (e *callExpr) arguments(r *renderer) arguments {
	var args arguments
	for _, p := range e.pos {
		args.pos = append(args.pos, p.eval(r))
	}
	for _, k := range e.kw {
		args.kw = append(args.kw, keyword{k.name, k.expr.eval(r)})
	}
	if e.star != nil {
		args.pos = append(args.pos, r.items(e.star.eval(r))...)
	}
	if e.stars != nil {
		d, ok := e.stars.eval(r).(*Dict)
		if !ok {
			r.failf("want a dictionary behind **")
		}
		for i, k := range d.keys {
			args.kw = append(args.kw, keyword{r.text(k), d.values[i]})
		}
	}
	return args
}

func (r *renderer) call(fn Value, args arguments) Value {
	switch fn := fn.(type) {
	case *function:
		return fn.call(r, args)
	case *loop:
		if fn.recursion != nil && len(args.pos) == 1 {
			return fn.recursion(r, args.pos[0], fn.depth+1)
		}
	case undefined:
		r.failf("%s, so it cannot be called", fn.what)
	}
	r.failf("cannot call %s", typeName(fn))
	return nil
}

type filterExpr struct {
	line int
	name string
	of   expr
	call *callExpr
}

func (e *filterExpr) eval(r *renderer) Value {
	r.step()
	v := e.of.eval(r)
	args := e.call.arguments(r)
	r.line = e.line
	return filters[e.name](r, v, args)
}

type testExpr struct {
	line    int
	name    string
	of      expr
	call    *callExpr
	negated bool
}

func (e *testExpr) eval(r *renderer) Value {
	r.step()
	v := e.of.eval(r)
	args := e.call.arguments(r)
	r.line = e.line
	return tests[e.name](r, v, args) != e.negated
}
