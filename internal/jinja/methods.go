package jinja

import (
	"strings"
	"unicode"
)

// method returns the method of v with that name, nil if there is none that is
// known. Methods that change a value are refused, as the sandbox does.
func method(v Value, name string) *function {
	var call func(r *renderer, a arguments) Value
	switch v := v.(type) {
	case string:
		if m := textMethods[name]; m != nil {
			call = func(r *renderer, a arguments) Value { return m(r, v, a) }
		}
	case *Dict:
		call = dictMethod(v, name)
	case *List:
		call = listMethod(v, name)
	}
	if call == nil {
		return nil
	}
	return &function{name: name, call: call}
}

// changing are the methods that change a dictionary or a list.
var changing = map[string]bool{"append": true, "extend": true, "insert": true, "remove": true, "pop": true, "popitem": true, "clear": true, "update": true, "setdefault": true, "sort": true, "reverse": true}

func refuse(name string) func(r *renderer, a arguments) Value {
	if !changing[name] {
		return nil
	}
	return func(r *renderer, _ arguments) Value {
		r.failf("%s() changes a value, which the sandbox of chat templates refuses", name)
		return nil
	}
}

func dictMethod(d *Dict, name string) func(r *renderer, a arguments) Value {
	switch name {
	case "items":
		return func(r *renderer, _ arguments) Value { return dictItems(r, d) }
	case "keys":
		return func(*renderer, arguments) Value { return NewList(d.keys...) }
	case "values":
		return func(*renderer, arguments) Value { return NewList(d.values...) }
	case "get":
		return func(r *renderer, a arguments) Value {
			k := a.take(0, "key", nil)
			if !hashable(k) {
				r.failf("%s cannot be a key", typeName(k))
			}
			if v, ok := d.get(k); ok {
				return v
			}
			return a.take(1, "default", nil)
		}
	case "copy":
		return func(r *renderer, _ arguments) Value {
			r.grow(32 * len(d.keys))
			c := NewDict()
			for i, k := range d.keys {
				c.set(k, d.values[i])
			}
			return c
		}
	case "append", "extend", "insert", "remove", "sort", "reverse":
		return nil // of lists only: a member may have that name
	}
	return refuse(name)
}

func dictItems(r *renderer, d *Dict) *List {
	r.grow(64 * len(d.keys))
	out := NewList()
	for i, k := range d.keys {
		out.Items = append(out.Items, &List{Items: []Value{k, d.values[i]}, tuple: true})
	}
	return out
}

func listMethod(l *List, name string) func(r *renderer, a arguments) Value {
	switch name {
	case "index", "count":
		return func(r *renderer, a arguments) Value {
			n := int64(0)
			for i, item := range l.Items {
				r.step()
				if equal(item, a.take(0, "value", nil)) {
					if name == "index" {
						return int64(i)
					}
					n++
				}
			}
			if name == "index" {
				r.failf("the value is not in the list")
			}
			return n
		}
	case "copy":
		return func(r *renderer, _ arguments) Value {
			r.grow(16 * len(l.Items))
			return NewList(append([]Value{}, l.Items...)...)
		}
	case "popitem", "update", "setdefault":
		return nil
	}
	return refuse(name)
}

// wantText returns argument i, which must be a text.
func (r *renderer) wantText(a arguments, i int, name string) string {
	v := a.take(i, name, undefined{})
	s, ok := v.(string)
	if !ok {
		r.failf("want a text for %q, have %s", name, typeName(v))
	}
	return s
}

// wantInt returns argument i, which must be an integer, or def.
func (r *renderer) wantInt(a arguments, i int, name string, def int64) int64 {
	v := a.take(i, name, def)
	n, ok := integer(v)
	if !ok {
		r.failf("want an integer for %q, have %s", name, typeName(v))
	}
	return n
}

// stripped is s without the characters in the first argument, or without
// blanks, at its ends.
func (r *renderer) stripped(s string, a arguments, left, right bool) string {
	in := pySpace
	if v := a.take(0, "chars", nil); v != nil {
		set := r.wantText(a, 0, "chars")
		in = func(c rune) bool { return strings.ContainsRune(set, c) }
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s
}

// pySpace is str.isspace: Unicode's blanks and the separators of ASCII.
func pySpace(c rune) bool { return unicode.IsSpace(c) || 0x1C <= c && c <= 0x1F }

// affix reports whether s begins or ends with an argument: a text, or one of a
// tuple.
func (r *renderer) affix(s string, a arguments, has func(s, part string) bool) Value {
	if l, ok := a.take(0, "prefix", nil).(*List); ok && l.tuple {
		for _, item := range l.Items {
			if part, ok := item.(string); ok && has(s, part) {
				return true
			}
		}
		return false
	}
	return has(s, r.wantText(a, 0, "prefix"))
}

func (r *renderer) replace(s, old, with string, n int) string {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	r.grow(len(s))
	if len(with) > len(old) {
		r.grow(times(len(with)-len(old), int64(count)))
	}
	return strings.Replace(s, old, with, n)
}

func texts(r *renderer, parts []string) *List {
	r.grow(32 * len(parts))
	out := NewList()
	for _, p := range parts {
		out.Items = append(out.Items, p)
	}
	return out
}

// split is str.split and str.rsplit.
func (r *renderer) split(s string, a arguments, fromRight bool) Value {
	n := r.wantInt(a, 1, "maxsplit", -1)
	if a.take(0, "sep", nil) == nil {
		return r.splitBlanks(s, n, fromRight)
	}
	sep := r.wantText(a, 0, "sep")
	if sep == "" {
		r.failf("cannot split by an empty text")
	}
	r.grow(16 * strings.Count(s, sep))
	if n < 0 || !fromRight {
		if n < 0 || n > int64(len(s)) {
			n = int64(len(s))
		}
		return texts(r, strings.SplitN(s, sep, int(n)+1))
	}
	var parts []string
	for ; n > 0; n-- {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		parts = append([]string{s[i+len(sep):]}, parts...)
		s = s[:i]
		r.grow(16 * len(parts))
	}
	return texts(r, append([]string{s}, parts...))
}

func (r *renderer) splitBlanks(s string, n int64, fromRight bool) Value {
	if n < 0 {
		return texts(r, strings.FieldsFunc(s, pySpace))
	}
	var parts []string
	if fromRight {
		s = strings.TrimRightFunc(s, pySpace)
		for ; n > 0 && s != ""; n-- {
			i := strings.LastIndexFunc(s, pySpace)
			if i < 0 {
				break
			}
			word := strings.TrimLeftFunc(s[i:], pySpace)
			parts = append([]string{word}, parts...)
			s = strings.TrimRightFunc(s[:i], pySpace)
		}
		if s != "" {
			parts = append([]string{s}, parts...)
		}
		return texts(r, parts)
	}
	s = strings.TrimLeftFunc(s, pySpace)
	for ; n > 0 && s != ""; n-- {
		i := strings.IndexFunc(s, pySpace)
		if i < 0 {
			break
		}
		parts = append(parts, s[:i])
		s = strings.TrimLeftFunc(s[i:], pySpace)
	}
	if s != "" {
		parts = append(parts, s)
	}
	return texts(r, parts)
}
