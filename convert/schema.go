package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// NormalizeTool returns the tool that v describes, in whatever of these forms a
// corpus has it:
//
//   - an OpenAI wrapper {"type":"function","function":{…}} around the others;
//   - a JSON string that holds one of the others;
//   - the name as name, api_name, apiCode or tool_name, the description as
//     description or api_description;
//   - the parameters as parameters, inputSchema, input_schema,
//     input_parameters or arguments (the first of these that is not null): a
//     JSON Schema, a flat map of parameters, or a string that holds either;
//   - required inside of the schema, beside the parameters, or parameter by
//     parameter.
//
// Name and description are kept as written. Parameters is what
// [NormalizeSchema] makes, and absent if v says nothing about parameters.
func NormalizeTool(v qaoa.Value) (qaoa.Tool, error) {
	v = unwrapString(v)
	if f, ok := v.Get("function"); ok && unwrapString(f).Kind == qaoa.Object {
		v = unwrapString(f)
	}
	if v.Kind != qaoa.Object {
		return qaoa.Tool{}, fmt.Errorf("want a tool as an object, have %s", describe(v))
	}
	t := qaoa.Tool{
		Name:        firstText(v, "name", "api_name", "apiCode", "tool_name"),
		Description: firstText(v, "description", "api_description"),
		Category:    firstText(v, "category"),
		Domain:      firstText(v, "domain"),
	}
	if strings.TrimSpace(t.Name) == "" {
		return qaoa.Tool{}, errors.New("want a tool with a name (name, api_name, apiCode or tool_name), have none")
	}
	for _, key := range []string{"parameters", "inputSchema", "input_schema", "input_parameters", "arguments"} {
		p, ok := v.Get(key)
		p = unwrapString(p)
		if !ok || p.Kind == qaoa.Null {
			continue
		}
		if p.Kind != qaoa.Object {
			return qaoa.Tool{}, fmt.Errorf("tool %.40q: want %s as an object, have %s", t.Name, key, describe(p))
		}
		beside, _ := v.Get("required")
		t.Parameters = normalizeTop(p, beside).JSON()
		break
	}
	return t, nil
}

// NormalizeSchema returns the parameters v of a tool as a JSON Schema: an
// object with type "object", properties, and required as a list, in the order
// of the source.
//
// A v that is no schema yet is a flat map from parameter to description. The
// two are told apart by shape and not by key, because a parameter may be called
// type or properties: v is a schema if its properties are an object and its
// type says object, or if all its members have the names and kinds of
// keywords and every property is an object. In a flat map a value that is an object describes its parameter, a type word ("int") is
// its type, and another text is its description.
//
// Types become JSON Schema's at every depth: dict, HashMap → object; int, long
// → integer; float, double → number, with the old word as format unless there
// is one; str, char, date, time → string; list, tuple, set, ArrayList → array;
// bool → boolean. List[int], Optional[X], Union[X, Y] (the first) and
// "X, optional" are read. Any, an empty and an unknown type make no type.
//
// A parameter is required if a list says so. Without a list it is required if
// its description says "required": true or begins with "Required."; if nothing
// does, but some parameters of a flat map are marked as optional (by optional,
// by type, or by a default), then all others are required; else none is.
func NormalizeSchema(v qaoa.Value) qaoa.Value { return normalizeTop(v, qaoa.Value{}) }

// normalizeTop is NormalizeSchema with the list of required parameters that
// stands beside the schema, if there is one.
func normalizeTop(v, beside qaoa.Value) qaoa.Value {
	v = unwrapString(v)
	flat := !isSchema(v)
	if flat {
		v = fromFlat(v)
	}
	out := normalizeObject(v)
	list, listed := out.Get("required")
	if beside.Kind == qaoa.Array && (!listed || len(list.Items) == 0) {
		list, listed = qaoa.ArrayValue(names(beside)...), true
	}
	props, _ := out.Get("properties")
	if !listed && flat {
		list, listed = qaoa.ArrayValue(impliedRequired(v)...), true
	}
	if !listed {
		list = qaoa.ArrayValue()
	}
	if props.Kind != qaoa.Object {
		props = qaoa.ObjectValue()
	}
	set(&out, "type", qaoa.StringValue("object"), true)
	set(&out, "properties", props, false)
	set(&out, "required", list, false)
	return out
}

// set replaces the member of v with that name, or adds it at the front or end.
func set(v *qaoa.Value, name string, val qaoa.Value, front bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members[i].Value = val
			return
		}
	}
	m := qaoa.Member{Name: name, Value: val}
	if front {
		v.Members = slices.Insert(v.Members, 0, m)
		return
	}
	v.Members = append(v.Members, m)
}

// keywords maps the members of a schema that may stand beside properties to
// the kinds that they have there.
var keywords = map[string][]qaoa.Kind{
	"type": {qaoa.String, qaoa.Array}, "properties": {qaoa.Object, qaoa.Null},
	"required": {qaoa.Array, qaoa.Null, qaoa.Bool}, "optional": {qaoa.Array, qaoa.Null, qaoa.Bool},
	"title": {qaoa.String}, "description": {qaoa.String}, "format": {qaoa.String}, "default": nil, "examples": {qaoa.Array},
	"example": nil, "additionalProperties": {qaoa.Bool, qaoa.Object}, "items": {qaoa.Object},
	"$schema": {qaoa.String}, "$id": {qaoa.String}, "$ref": {qaoa.String}, "$defs": {qaoa.Object}, "definitions": {qaoa.Object},
	"anyOf": {qaoa.Array}, "oneOf": {qaoa.Array}, "allOf": {qaoa.Array}, "enum": {qaoa.Array},
	"minProperties": {qaoa.Number}, "maxProperties": {qaoa.Number}, "dependencies": {qaoa.Object},
}

// isSchema tells a JSON Schema of parameters from a flat map of them.
func isSchema(v qaoa.Value) bool {
	if v.Kind != qaoa.Object || len(v.Members) == 0 {
		return v.Kind == qaoa.Object
	}
	typ, hasType := v.Get("type")
	props, hasProps := v.Get("properties")
	objectType := typ.Kind == qaoa.String && typeWord(typ.Text) == "object"
	if hasProps {
		if props.Kind != qaoa.Object && props.Kind != qaoa.Null {
			return false
		}
		// Where the word is empty, missing or invented, the members decide.
		return objectType || allObjects(props) && onlyKeywords(v)
	}
	if hasType && !objectType {
		return false
	}
	return onlyKeywords(v)
}

// allObjects reports whether every member of v is an object.
func allObjects(v qaoa.Value) bool {
	return !slices.ContainsFunc(v.Members, func(m qaoa.Member) bool { return m.Value.Kind != qaoa.Object })
}

// onlyKeywords reports whether every member of v reads as a keyword of JSON
// Schema, by name and by kind of value.
func onlyKeywords(v qaoa.Value) bool {
	return !slices.ContainsFunc(v.Members, func(m qaoa.Member) bool {
		kinds, ok := keywords[m.Name]
		return !ok || kinds != nil && !slices.Contains(kinds, m.Value.Kind)
	})
}

// fromFlat returns the flat map v as a schema whose types are not normalised
// yet. A list called required, and a type that says object, are not
// parameters.
func fromFlat(v qaoa.Value) qaoa.Value {
	props := qaoa.ObjectValue()
	out := qaoa.ObjectValue(qaoa.Member{Name: "type", Value: qaoa.StringValue("object")})
	var required []qaoa.Value
	listed := false
	for _, m := range v.Members {
		switch {
		case m.Name == "required" && m.Value.Kind == qaoa.Array:
			required, listed = m.Value.Items, true
			continue
		case m.Name == "type" && m.Value.Kind == qaoa.String && typeWord(m.Value.Text) == "object":
			continue
		}
		props.Members = append(props.Members, qaoa.Member{Name: m.Name, Value: m.Value})
	}
	out.Members = append(out.Members, qaoa.Member{Name: "properties", Value: props})
	if listed {
		out.Members = append(out.Members, qaoa.Member{Name: "required", Value: qaoa.ArrayValue(required...)})
	}
	return out
}

// normalizeAny returns the schema of one value, at any depth.
func normalizeAny(v qaoa.Value) qaoa.Value {
	switch v.Kind {
	case qaoa.Object:
		return normalizeObject(v)
	case qaoa.Array:
		out := qaoa.ArrayValue()
		for _, item := range v.Items {
			out.Items = append(out.Items, normalizeAny(item))
		}
		return out
	case qaoa.String:
		if t := parseType(v.Text); t.known {
			return qaoa.ObjectValue(t.members()...)
		}
		return qaoa.ObjectValue(
			qaoa.Member{Name: "type", Value: qaoa.StringValue("string")},
			qaoa.Member{Name: "description", Value: v},
		)
	case qaoa.Bool:
		return v // a schema that everything or nothing fits
	}
	return qaoa.ObjectValue()
}

// normalizeObject returns the schema object v with JSON Schema's types, and
// its list of required members brought together.
func normalizeObject(v qaoa.Value) qaoa.Value {
	out := qaoa.ObjectValue()
	add := func(name string, val qaoa.Value) {
		out.Members = append(out.Members, qaoa.Member{Name: name, Value: val})
	}
	var marked []qaoa.Value
	_, hasFormat := v.Get("format")
	_, hasItems := v.Get("items")
	for _, m := range v.Members {
		switch m.Name {
		case "type":
			for _, t := range typeMembers(m.Value) {
				if t.Name == "format" && hasFormat || t.Name == "items" && hasItems {
					continue
				}
				add(t.Name, t.Value)
			}
		case "properties":
			props := qaoa.ObjectValue()
			for _, p := range m.Value.Members {
				if requiredMark(p.Value) {
					marked = append(marked, qaoa.StringValue(p.Name))
				}
				props.Members = append(props.Members, qaoa.Member{Name: p.Name, Value: normalizeAny(p.Value)})
			}
			add("properties", props)
		case "required":
			if m.Value.Kind == qaoa.Array {
				add("required", qaoa.ArrayValue(names(m.Value)...))
			} // a boolean belongs to the parent, who has read it
		case "items", "additionalProperties", "anyOf", "oneOf", "allOf", "not":
			add(m.Name, normalizeAny(m.Value))
		case "$defs", "definitions", "patternProperties":
			defs := qaoa.ObjectValue()
			for _, d := range m.Value.Members {
				defs.Members = append(defs.Members, qaoa.Member{Name: d.Name, Value: normalizeAny(d.Value)})
			}
			add(m.Name, defs)
		default:
			add(m.Name, m.Value)
		}
	}
	if len(marked) > 0 {
		if list, ok := out.Get("required"); ok {
			for _, name := range marked {
				if !slices.ContainsFunc(list.Items, func(have qaoa.Value) bool { return have.Text == name.Text }) {
					list.Items = append(list.Items, name)
				}
			}
			set(&out, "required", list, false)
		} else {
			add("required", qaoa.ArrayValue(marked...))
		}
	}
	return out
}

// requiredMark reports whether the description p of a parameter says that it
// is required.
func requiredMark(p qaoa.Value) bool {
	if p.Kind == qaoa.String {
		return strings.HasPrefix(p.Text, "Required.")
	}
	if r, ok := p.Get("required"); ok && r.Kind == qaoa.Bool {
		return r.Text == "true"
	}
	d, _ := p.Get("description")
	return strings.HasPrefix(d.Text, "Required.")
}

// impliedRequired returns the parameters that are required because others are
// marked as optional. It looks at the schema as the source has it.
func impliedRequired(v qaoa.Value) []qaoa.Value {
	props, _ := v.Get("properties")
	var unmarked []qaoa.Value
	anyOptional := false
	for _, p := range props.Members {
		typ, _ := p.Value.Get("type")
		opt, hasOpt := p.Value.Get("optional")
		req, hasReq := p.Value.Get("required")
		_, hasDefault := p.Value.Get("default")
		word := typ.Text
		if p.Value.Kind == qaoa.String {
			word = p.Value.Text
		}
		optional := hasDefault || parseType(word).optional ||
			hasOpt && opt.Text == "true" || hasReq && req.Text == "false"
		if optional {
			anyOptional = true
		} else {
			unmarked = append(unmarked, qaoa.StringValue(p.Name))
		}
	}
	if !anyOptional {
		return nil
	}
	return unmarked
}

// names returns the strings in v.
func names(v qaoa.Value) []qaoa.Value {
	var out []qaoa.Value
	for _, item := range v.Items {
		if item.Kind == qaoa.String {
			out = append(out, item)
		}
	}
	return out
}

// unwrapString returns what the JSON text in v holds if v is a string of an
// object or array, wrapped up to three times; else v.
func unwrapString(v qaoa.Value) qaoa.Value {
	for range 3 {
		if v.Kind != qaoa.String {
			break
		}
		inner, err := qaoa.ParseValue(v.Text)
		if err != nil || inner.Kind != qaoa.Object && inner.Kind != qaoa.Array && inner.Kind != qaoa.String {
			break
		}
		v = inner
	}
	return v
}

// firstText returns the first of the members with these names that is a string
// with something in it.
func firstText(v qaoa.Value, names ...string) string {
	for _, name := range names {
		if s, ok := v.Get(name); ok && s.Kind == qaoa.String && s.Text != "" {
			return s.Text
		}
	}
	return ""
}

// describe names what v is, for an error message.
func describe(v qaoa.Value) string {
	if v.Kind == qaoa.String {
		return fmt.Sprintf("the string %.40q", v.Text)
	}
	return v.Kind.String()
}
