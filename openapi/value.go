package openapi

import (
	"fmt"
	"slices"

	"assay/qaoa"
)

// object returns the object of one member.
func object(name string, v qaoa.Value) qaoa.Value {
	return qaoa.ObjectValue(qaoa.Member{Name: name, Value: v})
}

// set returns a copy of v with that member, in its old place if there was one.
func set(v qaoa.Value, name string, value qaoa.Value) qaoa.Value {
	return rename(v, name, name, value)
}

// rename returns a copy of v whose member from is called to and has the value;
// without a member from it comes last.
func rename(v qaoa.Value, from, to string, value qaoa.Value) qaoa.Value {
	v.Members = slices.Clone(v.Members)
	if i := indexOf(v.Members, from); i >= 0 {
		v.Members[i] = qaoa.Member{Name: to, Value: value}
		return v
	}
	v.Members = append(v.Members, qaoa.Member{Name: to, Value: value})
	return v
}

// without returns a copy of v without that member.
func without(v qaoa.Value, name string) qaoa.Value {
	if indexOf(v.Members, name) < 0 {
		return v
	}
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m qaoa.Member) bool { return m.Name == name })
	return v
}

// is reports whether the member of v with that name is true.
func is(v qaoa.Value, name string) bool {
	flag, ok := v.Get(name)
	return ok && flag.Kind == qaoa.Bool && flag.Text == "true"
}

// text returns the text that the member of v with that name is, "" if it is
// none.
func text(v qaoa.Value, name string) string {
	if m, ok := v.Get(name); ok && m.Kind == qaoa.String {
		return m.Text
	}
	return ""
}

// size returns about how many bytes v has as JSON, or something above limit if
// it has more.
func size(v qaoa.Value, limit int) int {
	n := len(v.Text) + 3
	for _, item := range v.Items {
		if n > limit {
			return n
		}
		n += size(item, limit-n)
	}
	for _, m := range v.Members {
		if n > limit {
			return n
		}
		n += len(m.Name) + 4 + size(m.Value, limit-n)
	}
	return n
}

// short returns v as a finding shows it.
func short(v qaoa.Value) string {
	if v.Kind == qaoa.Invalid {
		return "none"
	}
	if v.Kind == qaoa.Array || v.Kind == qaoa.Object {
		return fmt.Sprintf("an %v", v.Kind)
	}
	return fmt.Sprintf("%v %.60s", v.Kind, v.JSON())
}
