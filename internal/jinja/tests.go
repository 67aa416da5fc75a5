package jinja

import "strings"

type testFunc = func(r *renderer, v Value, a arguments) bool

// tests are the tests (x is y) that are known.
var tests = map[string]testFunc{
	"defined":   func(_ *renderer, v Value, _ arguments) bool { return !isUndefined(v) },
	"undefined": func(_ *renderer, v Value, _ arguments) bool { return isUndefined(v) },
	"none":      func(_ *renderer, v Value, _ arguments) bool { return v == nil },
	"string":    func(_ *renderer, v Value, _ arguments) bool { _, ok := v.(string); return ok },
	"number": func(_ *renderer, v Value, _ arguments) bool {
		_, big := v.(BigInt)
		_, ok := number(v)
		return ok || big
	},
	"integer": func(_ *renderer, v Value, _ arguments) bool {
		switch v.(type) {
		case int64, BigInt:
			return true
		}
		return false
	},
	"float":   func(_ *renderer, v Value, _ arguments) bool { _, ok := v.(float64); return ok },
	"boolean": func(_ *renderer, v Value, _ arguments) bool { _, ok := v.(bool); return ok },
	"mapping": func(_ *renderer, v Value, _ arguments) bool { _, ok := v.(*Dict); return ok },
	"sequence": func(_ *renderer, v Value, _ arguments) bool {
		_, ok := length(v)
		return ok
	},
	"iterable": func(_ *renderer, v Value, _ arguments) bool {
		_, ok := length(v)
		return ok
	},
	"callable": func(_ *renderer, v Value, _ arguments) bool { _, ok := v.(*function); return ok },
	"true":     func(_ *renderer, v Value, _ arguments) bool { return v == true },
	"false":    func(_ *renderer, v Value, _ arguments) bool { return v == false },
	"odd":      func(r *renderer, v Value, _ arguments) bool { return r.modulo(v, 2) == 1 },
	"even":     func(r *renderer, v Value, _ arguments) bool { return r.modulo(v, 2) == 0 },
	"divisibleby": func(r *renderer, v Value, a arguments) bool {
		return r.modulo(v, r.wantInt(a, 0, "num", 1)) == 0
	},
	"in":     func(r *renderer, v Value, a arguments) bool { return r.contains(a.take(0, "seq", nil), v) },
	"sameas": func(_ *renderer, v Value, a arguments) bool { return same(v, a.take(0, "other", nil)) },
	"lower": func(r *renderer, v Value, _ arguments) bool {
		return textMethods["islower"](r, r.text(v), arguments{}) == true
	},
	"upper": func(r *renderer, v Value, _ arguments) bool {
		return textMethods["isupper"](r, r.text(v), arguments{}) == true
	},
	"eq":      comparing("=="),
	"equalto": comparing("=="),
	"==":      comparing("=="),
	"ne":      comparing("!="),
	"!=":      comparing("!="),
	"lt":      comparing("<"),
	"le":      comparing("<="),
	"gt":      comparing(">"),
	"ge":      comparing(">="),
}

func isUndefined(v Value) bool {
	_, ok := v.(undefined)
	return ok
}

// same is Python's is, for the constants that templates compare with.
func same(a, b Value) bool {
	switch a.(type) {
	case nil, bool, *Dict, *List:
		return a == b
	}
	return typeName(a) == typeName(b) && equal(a, b)
}

func comparing(op string) testFunc {
	return func(r *renderer, v Value, a arguments) bool { return r.compare(op, v, a.take(0, "other", nil)) }
}

func (r *renderer) modulo(v Value, by int64) int64 {
	n, ok := integer(v)
	if !ok || by == 0 {
		r.failf("want an integer and a divisor that is not 0, have %s and %d", typeName(v), by)
	}
	m, _ := r.integers("%", n, by).(int64)
	return m
}

// globals are the functions that every template may call.
var globals = map[string]*function{
	"range":           {name: "range", call: rangeOf},
	"dict":            {name: "dict", call: dictOf},
	"namespace":       {name: "namespace", call: func(r *renderer, a arguments) Value { return &namespace{dictOf(r, a).(*Dict)} }},
	"raise_exception": {name: "raise_exception", call: raise},
	"joiner":          {name: "joiner", call: joinerOf},
	"cycler":          {name: "cycler", call: cyclerOf},
}

// maxRange is how many numbers range makes at most, as in Jinja's sandbox.
const maxRange = 100_000

func rangeOf(r *renderer, a arguments) Value {
	start, stop, step := int64(0), r.wantInt(a, 0, "stop", 0), int64(1)
	if len(a.pos) > 1 {
		start, stop = stop, r.wantInt(a, 1, "stop", 0)
	}
	if len(a.pos) > 2 {
		step = r.wantInt(a, 2, "step", 1)
	}
	if step == 0 {
		r.failf("the step of range cannot be 0")
	}
	out := NewList()
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if len(out.Items) == maxRange {
			r.failf("range makes more than %d numbers", maxRange)
		}
		r.step()
		out.Items = append(out.Items, i)
	}
	r.grow(16 * len(out.Items))
	return out
}

func dictOf(r *renderer, a arguments) Value {
	d := NewDict()
	if len(a.pos) > 0 {
		if from, ok := a.pos[0].(*Dict); ok {
			r.grow(32 * len(from.keys))
			for i, k := range from.keys {
				d.set(k, from.values[i])
			}
		} else {
			for _, item := range r.items(a.pos[0]) {
				pair := r.items(item)
				if len(pair) != 2 || !hashable(pair[0]) {
					r.failf("dict wants pairs of a key and a value")
				}
				d.set(pair[0], pair[1])
			}
		}
	}
	for _, k := range a.kw {
		d.Set(k.name, k.value)
	}
	return d
}

func raise(r *renderer, a arguments) Value {
	panic(&Error{Line: r.line, Msg: r.text(a.take(0, "message", "the template raised an exception")), Raised: true})
}

func joinerOf(r *renderer, a arguments) Value {
	sep, used := r.text(a.take(0, "sep", ", ")), false
	return &function{name: "joiner", call: func(*renderer, arguments) Value {
		if !used {
			used = true
			return ""
		}
		return sep
	}}
}

func cyclerOf(r *renderer, a arguments) Value {
	if len(a.pos) == 0 {
		r.failf("cycler wants items")
	}
	at := 0
	d := NewDict()
	d.Set("next", &function{name: "next", call: func(*renderer, arguments) Value {
		v := a.pos[at]
		at = (at + 1) % len(a.pos)
		return v
	}})
	d.Set("reset", &function{name: "reset", call: func(*renderer, arguments) Value { at = 0; return nil }})
	return &namespace{d}
}

// textFunction makes a function of texts callable.
func textFunction(name string, f func(args []string) string) *function {
	return &function{name: name, call: func(r *renderer, a arguments) Value {
		var args []string
		for _, v := range a.pos {
			args = append(args, strings.Clone(r.text(v)))
		}
		out := f(args)
		r.grow(len(out))
		return out
	}}
}
