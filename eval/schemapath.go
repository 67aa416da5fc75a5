package eval

import (
	"strconv"
	"strings"
	"unicode"

	"assay/qaoa"
)

// schemaOf returns the parameters of the tool of a gold call: the one with its
// very name, else the first that it may mean. Invalid if there is none.
func (g *goldCase) schemaOf(call qaoa.Call) qaoa.Value {
	var found *qaoa.Tool
	for i := range g.tools {
		t := &g.tools[i]
		if t.Name == call.Name {
			found = t
			break
		}
		if found == nil && keyForm(t.Name) == keyForm(call.Name) {
			found = t
		}
	}
	if found == nil {
		return qaoa.Value{}
	}
	v, err := found.Parameters.Value()
	if err != nil {
		return qaoa.Value{}
	}
	return v
}

// valueAt returns the value of the arguments of call at a JSON Pointer, whose
// keys may be written differently. Strings that hold JSON are looked into.
func valueAt(call qaoa.Call, path string) (qaoa.Value, bool) {
	v, err := call.Arguments.Value()
	if err != nil {
		return qaoa.Value{}, false
	}
	for key := range segments(path) {
		if v.Kind == qaoa.String {
			inner, err := qaoa.ParseValue(v.Text)
			if err != nil {
				return qaoa.Value{}, false
			}
			v = inner
		}
		switch v.Kind {
		case qaoa.Object:
			next, ok := member(v, key)
			if !ok {
				return qaoa.Value{}, false
			}
			v = next
		case qaoa.Array:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v.Items) {
				return qaoa.Value{}, false
			}
			v = v.Items[i]
		default:
			return qaoa.Value{}, false
		}
	}
	return v, true
}

// schemaKnows reports whether a JSON Schema of arguments has a property for the
// last key of a JSON Pointer, and whether it requires it.
func schemaKnows(schema qaoa.Value, path string) (known, required bool) {
	var last string
	parent := schema
	first := true
	for key := range segments(path) {
		if !first {
			parent = below(parent, last)
		}
		last, first = key, false
	}
	if first {
		return false, false
	}
	if list, ok := parent.Get("required"); ok {
		for _, r := range list.Items {
			required = required || r.Kind == qaoa.String && (r.Text == last || keyForm(r.Text) == keyForm(last))
		}
	}
	properties, _ := parent.Get("properties")
	_, known = member(properties, last)
	return known || required, required
}

// below returns the schema of a member or element, Invalid if it has none.
func below(schema qaoa.Value, key string) qaoa.Value {
	if properties, ok := schema.Get("properties"); ok {
		if v, ok := member(properties, key); ok {
			return v
		}
	}
	if _, err := strconv.Atoi(key); err == nil {
		items, _ := schema.Get("items")
		return items
	}
	return qaoa.Value{}
}

// member returns the member of that name, else the first whose name has the
// same letters and digits.
func member(v qaoa.Value, key string) (qaoa.Value, bool) {
	if found, ok := v.Get(key); ok {
		return found, true
	}
	form := keyForm(key)
	for _, m := range v.Members {
		if keyForm(m.Name) == form {
			return m.Value, true
		}
	}
	return qaoa.Value{}, false
}

// keyForm returns the letters and digits of a key in lower case, the key itself
// if it has none.
func keyForm(key string) string {
	form := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	if form == "" {
		return key
	}
	return form
}

// segments yields the keys of a JSON Pointer.
func segments(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		unescape := strings.NewReplacer("~1", "/", "~0", "~")
		for path != "" {
			var key string
			key, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
			if path != "" {
				path = "/" + path
			}
			if !yield(unescape.Replace(key)) {
				return
			}
		}
	}
}
