package jinja

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A Value is a value of a template: nil (None), bool, int64, float64, string,
// [BigInt], [*List], [*Dict], or one of the kinds that templates make for
// themselves. Anything else is a caller's bug and fails where it is used.
type Value any

// A BigInt is an integer that does not fit into an int64, as its digits. It can
// be printed and compared for equality.
type BigInt string

// An undefined is the value of a name that is not set.
type undefined struct{ what string }

// A List is a list or a tuple.
type List struct {
	Items []Value
	tuple bool

	Before, After string // as those of a Dict
}

// NewList returns a list of items.
func NewList(items ...Value) *List { return &List{Items: items} }

// A Dict is a dictionary that keeps the order in which keys were first set.
type Dict struct {
	keys, values []Value
	index        map[Value]int

	// Before and After are written around the dictionary wherever it is printed
	// or made JSON: how a caller finds it in the output. They are no part of its
	// value.
	Before, After string
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{index: map[Value]int{}} }

// Set sets the value of key.
func (d *Dict) Set(key string, v Value) { d.set(key, v) }

func (d *Dict) set(key, v Value) {
	if i, ok := d.index[key]; ok {
		d.values[i] = v
		return
	}
	d.index[key] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, v)
}

// Get returns the value of key, and whether there is one.
func (d *Dict) Get(key string) (Value, bool) { return d.get(key) }

func (d *Dict) get(key Value) (Value, bool) {
	i, ok := d.index[key]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// A namespace is what namespace() makes: the one thing that a template may
// change after it was made.
type namespace struct{ dict *Dict }

// A function is anything that can be called.
type function struct {
	name string
	call func(r *renderer, args arguments) Value
}

type arguments struct {
	pos []Value
	kw  []keyword
}

type keyword struct {
	name  string
	value Value
}

// take returns argument i, which has that name, or def.
func (a arguments) take(i int, name string, def Value) Value {
	if i < len(a.pos) {
		return a.pos[i]
	}
	for _, k := range a.kw {
		if k.name == name {
			return k.value
		}
	}
	return def
}

// named returns the argument of that name, which has no place, or def.
func (a arguments) named(name string, def Value) Value { return a.take(len(a.pos), name, def) }

func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64, BigInt:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		if v.tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case undefined:
		return "undefined"
	case *namespace:
		return "namespace"
	case *function:
		return "function"
	case *loop:
		return "loop"
	}
	return fmt.Sprintf("%T", v)
}

func truth(v Value) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return len(v.Items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// number returns v as a float, and whether it is a number; True is 1.
func number(v Value) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// integer returns v as an integer, and whether it is one.
func integer(v Value) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

func equal(a, b Value) bool {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY {
		if i, ok := integer(a); ok {
			if k, ok := integer(b); ok {
				return i == k
			}
		}
		return x == y
	}
	switch a := a.(type) {
	case *List:
		b, ok := b.(*List)
		if !ok || a.tuple != b.tuple || len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !equal(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.keys) != len(b.keys) {
			return false
		}
		for i, k := range a.keys {
			if v, ok := b.get(k); !ok || !equal(a.values[i], v) {
				return false
			}
		}
		return true
	case undefined:
		_, ok := b.(undefined)
		return ok
	case string, BigInt, nil, *namespace, *function, *loop:
		return a == b
	}
	return false
}

// compare orders a and b as Python's < does; ok is false if they have no order.
func compare(a, b Value) (order int, ok bool) {
	if x, isNum := number(a); isNum {
		y, isNum := number(b)
		if !isNum {
			return 0, false
		}
		switch {
		case x < y:
			return -1, true
		case x > y:
			return 1, true
		}
		return 0, true
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case *List:
		b, ok := b.(*List)
		if !ok || a.tuple != b.tuple {
			return 0, false
		}
		for i := range min(len(a.Items), len(b.Items)) {
			if !equal(a.Items[i], b.Items[i]) {
				return compare(a.Items[i], b.Items[i])
			}
		}
		return len(a.Items) - len(b.Items), true
	}
	return 0, false
}

// hashable reports whether v may be a key.
func hashable(v Value) bool {
	switch v := v.(type) {
	case nil, bool, int64, string, BigInt:
		return true
	case float64:
		return !math.IsNaN(v)
	}
	return false
}

// length returns len(v), and whether v has a length.
func length(v Value) (int, bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case *List:
		return len(v.Items), true
	case *Dict:
		return len(v.keys), true
	case undefined:
		return 0, true
	}
	return 0, false
}
