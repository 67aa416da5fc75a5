package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

type filterFunc func(r *renderer, v Value, a arguments) Value

// filters are the filters that are known. They are filled by init, because some
// filters apply others by name.
var filters map[string]filterFunc

func init() {
	filters = map[string]filterFunc{
		"tojson":  filterToJSON,
		"trim":    func(r *renderer, v Value, a arguments) Value { return r.stripped(r.text(v), a, true, true) },
		"length":  filterLength,
		"count":   filterLength,
		"join":    filterJoin,
		"upper":   func(r *renderer, v Value, _ arguments) Value { return strings.ToUpper(r.text(v)) },
		"lower":   func(r *renderer, v Value, _ arguments) Value { return strings.ToLower(r.text(v)) },
		"title":   func(r *renderer, v Value, _ arguments) Value { return titleWords(r.text(v)) },
		"replace": filterReplace,
		"default": filterDefault,
		"d":       filterDefault,
		"first":   func(r *renderer, v Value, _ arguments) Value { return r.end(v, 0) },
		"last":    func(r *renderer, v Value, _ arguments) Value { return r.end(v, -1) },
		"list":    func(r *renderer, v Value, _ arguments) Value { return NewList(slices.Clone(r.items(v))...) },
		"string":  func(r *renderer, v Value, _ arguments) Value { return r.text(v) },
		"safe":    func(r *renderer, v Value, _ arguments) Value { return r.text(v) },
		"escape":  filterEscape,
		"e":       filterEscape,
		"int":     filterInt,
		"float":   filterFloat,
		"abs":     filterAbs,
		"round":   filterRound,
		"items":   filterItems,
		"dictsort": func(r *renderer, v Value, a arguments) Value {
			out := filterItems(r, v, a).(*List)
			slices.SortStableFunc(out.Items, func(x, y Value) int { return r.order(x.(*List).Items[0], y.(*List).Items[0], true) })
			return out
		},
		"map":        filterMap,
		"select":     func(r *renderer, v Value, a arguments) Value { return r.choose(v, a, false, true) },
		"reject":     func(r *renderer, v Value, a arguments) Value { return r.choose(v, a, false, false) },
		"selectattr": func(r *renderer, v Value, a arguments) Value { return r.choose(v, a, true, true) },
		"rejectattr": func(r *renderer, v Value, a arguments) Value { return r.choose(v, a, true, false) },
		"sort":       filterSort,
		"reverse":    filterReverse,
		"unique":     filterUnique,
		"sum":        filterSum,
		"min":        func(r *renderer, v Value, _ arguments) Value { return r.extreme(v, -1) },
		"max":        func(r *renderer, v Value, _ arguments) Value { return r.extreme(v, 1) },
		"indent":     filterIndent,
		"capitalize": func(r *renderer, v Value, _ arguments) Value { return capitalize(r.text(v)) },
		"wordcount": func(r *renderer, v Value, _ arguments) Value {
			return int64(len(strings.FieldsFunc(r.text(v), pySpace)))
		},
		"attr": func(r *renderer, v Value, a arguments) Value { return r.attr(v, r.wantText(a, 0, "name")) },
	}
}

func filterToJSON(r *renderer, v Value, a arguments) Value {
	style := plainJSON
	style.ascii = truth(a.take(0, "ensure_ascii", false))
	style.sorted = truth(a.take(3, "sort_keys", false))
	switch indent := a.take(1, "indent", nil).(type) {
	case nil:
	case string:
		style.pretty, style.indent, style.item = true, indent, ","
	default:
		n, ok := integer(indent)
		if !ok || n > 100 {
			r.failf("want an indent of at most 100, have %s", r.repr(indent))
		}
		style.pretty, style.indent, style.item = true, strings.Repeat(" ", int(max(n, 0))), ","
	}
	if l, ok := a.take(2, "separators", nil).(*List); ok && len(l.Items) == 2 {
		style.item, style.key = r.text(l.Items[0]), r.text(l.Items[1])
	}
	return r.json(v, style)
}

func filterLength(r *renderer, v Value, _ arguments) Value {
	n, ok := length(v)
	if !ok {
		r.failf("%s has no length", typeName(v))
	}
	return int64(n)
}

func filterJoin(r *renderer, v Value, a arguments) Value {
	sep := r.text(a.take(0, "d", ""))
	if attribute := a.take(1, "attribute", nil); attribute != nil {
		v = r.mapped(v, func(item Value) Value { return r.path(item, attribute, nil) })
	}
	return r.join(v, sep)
}

func filterReplace(r *renderer, v Value, a arguments) Value {
	n := -1
	if a.take(2, "count", nil) != nil {
		n = int(r.wantInt(a, 2, "count", -1))
	}
	return r.replace(r.text(v), r.text(a.take(0, "old", "")), r.text(a.take(1, "new", "")), n)
}

func filterDefault(_ *renderer, v Value, a arguments) Value {
	_, unset := v.(undefined)
	if unset || truth(a.take(1, "boolean", false)) && !truth(v) {
		return a.take(0, "default_value", "")
	}
	return v
}

// end returns the first or, for -1, the last item of v.
func (r *renderer) end(v Value, at int) Value {
	items := r.items(v)
	if len(items) == 0 {
		return undefined{"there is no item in an empty sequence"}
	}
	return items[(at+len(items))%len(items)]
}

func filterEscape(r *renderer, v Value, _ arguments) Value {
	s := r.text(v)
	r.grow(6 * len(s))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

func filterInt(r *renderer, v Value, a arguments) Value {
	def := a.take(0, "default", int64(0))
	switch v := v.(type) {
	case int64, bool:
		n, _ := integer(v)
		return n
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v)
		}
	case string:
		text := strings.TrimFunc(v, pySpace)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(f) < 1<<62 {
			return int64(f)
		}
	}
	return def
}

func filterFloat(_ *renderer, v Value, a arguments) Value {
	if f, ok := number(v); ok {
		return f
	}
	if s, ok := v.(string); ok {
		if f, err := strconv.ParseFloat(strings.TrimFunc(s, pySpace), 64); err == nil {
			return f
		}
	}
	return a.take(0, "default", 0.0)
}

func filterAbs(r *renderer, v Value, _ arguments) Value {
	if n, ok := integer(v); ok {
		return max(n, -n)
	}
	f, ok := number(v)
	if !ok {
		r.failf("abs wants a number, have %s", typeName(v))
	}
	return math.Abs(f)
}

func filterRound(r *renderer, v Value, a arguments) Value {
	f, ok := number(v)
	digits := r.wantInt(a, 0, "precision", 0)
	if !ok || digits < 0 || digits > 15 {
		r.failf("round wants a number and a precision of 0 to 15, have %s and %d", typeName(v), digits)
	}
	scale := math.Pow(10, float64(digits))
	switch a.take(1, "method", "common") {
	case "ceil":
		return math.Ceil(f*scale) / scale
	case "floor":
		return math.Floor(f*scale) / scale
	}
	return math.RoundToEven(f*scale) / scale
}

func filterItems(r *renderer, v Value, _ arguments) Value {
	switch v := v.(type) {
	case *Dict:
		return dictItems(r, v)
	case undefined:
		return NewList()
	}
	r.failf("items wants a mapping, have %s", typeName(v))
	return nil
}

func (r *renderer) mapped(v Value, f func(Value) Value) *List {
	items := r.items(v)
	r.grow(16 * len(items))
	out := NewList()
	for _, item := range items {
		r.step()
		out.Items = append(out.Items, f(item))
	}
	return out
}

// path is item.a.b for "a.b", and item[n] for a number. Unless def is None, it
// takes the place of what is not set on the way.
func (r *renderer) path(item, attribute, def Value) Value {
	parts := []Value{attribute}
	if name, ok := attribute.(string); ok {
		parts = parts[:0]
		for part := range strings.SplitSeq(name, ".") {
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				parts = append(parts, n)
			} else {
				parts = append(parts, part)
			}
		}
	}
	for _, part := range parts {
		item = r.item(item, part)
		if isUndefined(item) && def != nil {
			item = def
		}
	}
	return item
}

func filterMap(r *renderer, v Value, a arguments) Value {
	if attribute := a.named("attribute", nil); attribute != nil {
		def := a.named("default", nil)
		return r.mapped(v, func(item Value) Value { return r.path(item, attribute, def) })
	}
	f, rest := r.named(a)
	return r.mapped(v, func(item Value) Value { return f(r, item, rest) })
}

// named returns the filter that the first argument names, and the others.
func (r *renderer) named(a arguments) (filterFunc, arguments) {
	name := r.wantText(a, 0, "filter")
	f := filters[name]
	if f == nil {
		r.failf("filter %q is not known", name)
	}
	return f, arguments{pos: a.pos[min(1, len(a.pos)):], kw: a.kw}
}

// choose is select, reject, selectattr and rejectattr.
func (r *renderer) choose(v Value, a arguments, byAttr, want bool) Value {
	var attribute Value
	if byAttr {
		attribute = r.wantText(a, 0, "attribute")
		a.pos = a.pos[min(1, len(a.pos)):]
	}
	test := func(_ *renderer, v Value, _ arguments) bool { return truth(v) }
	if len(a.pos) > 0 {
		name := r.wantText(a, 0, "test")
		if test = tests[name]; test == nil {
			r.failf("test %q is not known", name)
		}
		a.pos = a.pos[min(1, len(a.pos)):]
	}
	out := NewList()
	for _, item := range r.items(v) {
		r.step()
		r.grow(16)
		tested := item
		if byAttr {
			tested = r.path(item, attribute, nil)
		}
		if test(r, tested, a) == want {
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// order compares two values for sorting, texts without case where fold says so.
func (r *renderer) order(a, b Value, fold bool) int {
	r.step()
	if x, ok := a.(string); ok && fold {
		if y, ok := b.(string); ok {
			return strings.Compare(strings.ToLower(x), strings.ToLower(y))
		}
	}
	n, ok := compare(a, b)
	if !ok {
		r.failf("cannot sort %s and %s", typeName(a), typeName(b))
	}
	return n
}

func filterSort(r *renderer, v Value, a arguments) Value {
	out := NewList(slices.Clone(r.items(v))...)
	r.grow(16 * len(out.Items))
	fold := !truth(a.take(1, "case_sensitive", false))
	attribute := a.take(2, "attribute", nil)
	key := func(v Value) Value {
		if attribute == nil {
			return v
		}
		return r.path(v, attribute, nil)
	}
	sign := 1
	if truth(a.take(0, "reverse", false)) {
		sign = -1
	}
	slices.SortStableFunc(out.Items, func(x, y Value) int { return sign * r.order(key(x), key(y), fold) })
	return out
}

func filterReverse(r *renderer, v Value, _ arguments) Value {
	items := slices.Clone(r.items(v))
	r.grow(16 * len(items))
	slices.Reverse(items)
	if _, ok := v.(string); ok {
		return r.join(NewList(items...), "")
	}
	return NewList(items...)
}

func filterUnique(r *renderer, v Value, _ arguments) Value {
	seen, out := map[Value]bool{}, NewList()
	for _, item := range r.items(v) {
		r.step()
		if !hashable(item) {
			r.failf("unique wants simple values, have %s", typeName(item))
		}
		key := item
		if s, ok := item.(string); ok {
			key = strings.ToLower(s)
		}
		if !seen[key] {
			seen[key] = true
			out.Items = append(out.Items, item)
		}
	}
	return out
}

func filterSum(r *renderer, v Value, a arguments) Value {
	sum := a.take(1, "start", int64(0))
	attribute := a.take(0, "attribute", nil)
	for _, item := range r.items(v) {
		if attribute != nil {
			item = r.path(item, attribute, nil)
		}
		sum = r.arith("+", sum, item)
	}
	return sum
}

// extreme is min for sign -1 and max for 1.
func (r *renderer) extreme(v Value, sign int) Value {
	items := r.items(v)
	if len(items) == 0 {
		return undefined{"there is no item in an empty sequence"}
	}
	best := items[0]
	for _, item := range items[1:] {
		if sign*r.order(item, best, true) > 0 {
			best = item
		}
	}
	return best
}

func filterIndent(r *renderer, v Value, a arguments) Value {
	by, ok := a.take(0, "width", int64(4)).(string)
	if !ok {
		n := r.wantInt(a, 0, "width", 4)
		if n < 0 || n > 100 {
			r.failf("want an indent of 0 to 100, have %d", n)
		}
		by = strings.Repeat(" ", int(n))
	}
	first, blank := truth(a.take(1, "first", false)), truth(a.take(2, "blank", false))
	lines := strings.Split(r.text(v), "\n")
	for i, line := range lines {
		if (i > 0 || first) && (line != "" || blank) {
			r.grow(len(by) + len(line))
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}
