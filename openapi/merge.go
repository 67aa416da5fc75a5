package openapi

import (
	"math/big"
	"slices"

	"assay/qaoa"
)

// merge returns the schema that allows what both a and b allow, with the
// members of a first, and whether there is one without an allOf. Of two texts
// for the reader (title, description, default, examples …) the one of a stays,
// or that of b if over is set.
//
// The rules, keyword by keyword, where both have it:
//
//   - equal values stay; properties are united, those of both are merged;
//     required is united; items, contains, propertyNames are merged.
//   - type and enum are intersected, an integer being a number too; an empty
//     intersection is a contradiction.
//   - of two lower bounds the larger stays, of two upper bounds the smaller;
//     uniqueItems, deprecated, nullable, readOnly and writeOnly: true wins, but
//     a value is null only if both allow it.
//   - additionalProperties: a schema or true gives way to what the other says;
//     false gives way too, since the parts of an allOf would else forbid each
//     other's properties, which nobody means.
//   - anything else that differs (pattern, format, two oneOf …) is a
//     contradiction.
func merge(a, b qaoa.Value, over bool) (qaoa.Value, bool) {
	if len(a.Members) == 0 {
		return b, true
	}
	out := qaoa.ObjectValue(slices.Clone(a.Members)...)
	for _, m := range b.Members {
		i := indexOf(out.Members, m.Name)
		if i < 0 {
			out.Members = append(out.Members, m)
			continue
		}
		v, ok := mergeKeyword(m.Name, out.Members[i].Value, m.Value, over)
		if !ok {
			return qaoa.Value{}, false
		}
		out.Members[i].Value = v
	}
	_, typed := a.Get("type")
	_, both := b.Get("type")
	if typed && both && (!is(a, "nullable") || !is(b, "nullable")) {
		out = without(out, "nullable") // null is no value of the part that does not say so
	}
	return out, true
}

// mergeKeyword merges the values of one keyword.
func mergeKeyword(name string, a, b qaoa.Value, over bool) (qaoa.Value, bool) {
	switch name {
	case "title", "description", "default", "example", "examples":
		if over {
			return b, true
		}
		return a, true
	case "properties", "patternProperties":
		return mergeProperties(a, b, over)
	case "items", "contains", "propertyNames":
		if a.Kind == qaoa.Object && b.Kind == qaoa.Object {
			return merge(a, b, over)
		}
	case "required":
		return union(a, b), a.Kind == qaoa.Array && b.Kind == qaoa.Array
	case "type":
		return mergeTypes(a, b)
	case "enum":
		both := qaoa.ArrayValue()
		for _, v := range a.Items {
			if contains(b.Items, v) {
				both.Items = append(both.Items, v)
			}
		}
		return both, len(both.Items) > 0
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		return bound(a, b, 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		return bound(a, b, -1)
	case "uniqueItems", "deprecated", "nullable", "readOnly", "writeOnly":
		return qaoa.BoolValue(a.Text == "true" || b.Text == "true"), true
	case "additionalProperties", "unevaluatedProperties":
		if a.Kind == qaoa.Bool {
			return b, true
		}
		if b.Kind == qaoa.Bool {
			return a, true
		}
	}
	return a, a.JSON() == b.JSON()
}

// mergeProperties unites the properties of a and b.
func mergeProperties(a, b qaoa.Value, over bool) (qaoa.Value, bool) {
	if a.Kind != qaoa.Object || b.Kind != qaoa.Object {
		return a, false
	}
	at := make(map[string]int, len(a.Members)+len(b.Members))
	out := qaoa.ObjectValue(slices.Clone(a.Members)...)
	for i, m := range out.Members {
		at[m.Name] = i
	}
	for _, m := range b.Members {
		i, there := at[m.Name]
		if !there {
			at[m.Name] = len(out.Members)
			out.Members = append(out.Members, m)
			continue
		}
		if out.Members[i].Value.Kind != qaoa.Object || m.Value.Kind != qaoa.Object {
			return a, false
		}
		v, ok := merge(out.Members[i].Value, m.Value, over)
		if !ok {
			return a, false
		}
		out.Members[i].Value = v
	}
	return out, true
}

// mergeTypes intersects two types, each a word or a list of words.
func mergeTypes(a, b qaoa.Value) (qaoa.Value, bool) {
	both := qaoa.ArrayValue()
	for _, x := range words(a) {
		for _, y := range words(b) {
			switch {
			case x.Text == y.Text, x.Text == "integer" && y.Text == "number":
				both.Items = append(both.Items, x)
			case x.Text == "number" && y.Text == "integer":
				both.Items = append(both.Items, y)
			}
		}
	}
	switch {
	case len(both.Items) == 0:
		return a, false
	case len(both.Items) == 1 && (a.Kind == qaoa.String || b.Kind == qaoa.String):
		return both.Items[0], true
	}
	return both, true
}

// words returns the words of a type.
func words(v qaoa.Value) []qaoa.Value {
	if v.Kind == qaoa.Array {
		return v.Items
	}
	return []qaoa.Value{v}
}

// union returns the items of a and those of b that a has not.
func union(a, b qaoa.Value) qaoa.Value {
	out := qaoa.ArrayValue(slices.Clone(a.Items)...)
	for _, v := range b.Items {
		if !contains(out.Items, v) {
			out.Items = append(out.Items, v)
		}
	}
	return out
}

// contains reports whether one of items is v.
func contains(items []qaoa.Value, v qaoa.Value) bool {
	return slices.ContainsFunc(items, func(have qaoa.Value) bool {
		return have.Kind == v.Kind && have.Text == v.Text && (v.Kind != qaoa.Object && v.Kind != qaoa.Array || have.JSON() == v.JSON())
	})
}

// bound returns the larger of two numbers if sign is 1, the smaller if it is -1.
// Booleans, the exclusive bounds of 3.0, must agree.
func bound(a, b qaoa.Value, sign int) (qaoa.Value, bool) {
	if a.Kind != qaoa.Number || b.Kind != qaoa.Number {
		return a, a.JSON() == b.JSON()
	}
	// In arbitrary precision, but not in arbitrary size: 1e999999999 is a
	// number of JSON too.
	x, _, err := big.ParseFloat(a.Text, 10, 256, big.ToNearestEven)
	y, _, other := big.ParseFloat(b.Text, 10, 256, big.ToNearestEven)
	if err != nil || other != nil {
		return a, a.Text == b.Text
	}
	if x.Cmp(y)*sign >= 0 {
		return a, true
	}
	return b, true
}
