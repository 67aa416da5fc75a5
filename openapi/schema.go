package openapi

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// A resolver makes one schema of the document one that stands alone.
type resolver struct {
	d    *document
	open []string // the references that are being put in place
	left int      // bytes that the tool may still grow by
}

// dropped are keywords that say nothing to who fills in a value: those that
// only OpenAPI knows, and those whose references are put in place.
var dropped = map[string]bool{
	"xml": true, "discriminator": true, "externalDocs": true,
	"$defs": true, "definitions": true, "$schema": true, "$id": true, "id": true,
	"$anchor": true, "$dynamicAnchor": true, "$comment": true, "$vocabulary": true,
}

// schema returns the schema v, which stands at the place at, with references in
// place. depth is how many schemas it stands in.
func (r *resolver) schema(v qaoa.Value, at *place, depth int) qaoa.Value {
	switch {
	case v.Kind == qaoa.Bool && v.Text == "true":
		return qaoa.ObjectValue()
	case v.Kind == qaoa.Bool:
		return object("not", qaoa.ObjectValue())
	case v.Kind != qaoa.Object:
		r.d.log.add(BadSchema, at, "want a schema as an object, have "+short(v)+": any value is allowed there")
		return qaoa.ObjectValue()
	case depth > r.d.opt.MaxDepth:
		r.d.log.add(TooLarge, at, fmt.Sprintf("want at most %d levels of schemas, have more: cut here", r.d.opt.MaxDepth))
		return r.stub(v)
	case r.left <= 0:
		r.d.log.add(TooLarge, at, fmt.Sprintf("want at most %d bytes of schemas in a tool, have more: cut here", r.d.opt.MaxSchema))
		return r.stub(v)
	}
	if ref, ok := v.Get("$ref"); ok && ref.Kind == qaoa.String {
		return r.reference(v, ref.Text, at, depth)
	}
	if _, ok := v.Get("$dynamicRef"); ok {
		r.d.log.add(UnsupportedRef, at, "want a plain $ref, have a $dynamicRef: any value is allowed there")
		return r.stub(v)
	}
	return r.finish(r.keywords(v, at, depth), at)
}

// reference returns the schema that ref leads to, with what stands beside it.
func (r *resolver) reference(v qaoa.Value, ref string, at *place, depth int) qaoa.Value {
	beside := qaoa.ObjectValue()
	for _, m := range v.Members {
		// Up to 3.0 what stands beside a reference is to be ignored. A
		// description there is meant for the reader, and does no harm.
		if m.Name != "$ref" && (!r.d.old || m.Name == "description") {
			beside.Members = append(beside.Members, m)
		}
	}
	t, ok := r.d.lookup(ref, at)
	if !ok {
		return r.finish(r.keywords(beside, at, depth), at)
	}
	if slices.Contains(r.open, ref) {
		r.d.log.add(Recursive, at, fmt.Sprintf("want schemas that end, have %.120q inside of itself: cut here, with its type and description kept", ref))
		return r.over(r.stub(t.value), r.finish(r.keywords(beside, at, depth), at))
	}
	if len(r.open) >= 4*maxChain {
		r.d.log.add(TooLarge, at, fmt.Sprintf("want at most %d references inside of each other, have more: cut here", 4*maxChain))
		return r.stub(t.value)
	}
	r.open = append(r.open, ref)
	put := r.schema(t.value, t.at, depth)
	r.open = r.open[:len(r.open)-1]
	if len(beside.Members) == 0 {
		return put
	}
	return r.over(put, r.finish(r.keywords(beside, at, depth), at))
}

// over returns base with the annotations of what stands beside its reference
// over its own, and the constraints of both.
func (r *resolver) over(base, beside qaoa.Value) qaoa.Value {
	if len(beside.Members) == 0 {
		return base
	}
	if merged, ok := merge(base, beside, true); ok {
		return merged
	}
	return object("allOf", qaoa.ArrayValue(base, beside))
}

// keywords returns v with the schemas in its keywords resolved.
func (r *resolver) keywords(v qaoa.Value, at *place, depth int) qaoa.Value {
	out := qaoa.ObjectValue()
	for _, m := range v.Members {
		if dropped[m.Name] || strings.HasPrefix(m.Name, "x-") {
			continue
		}
		r.left -= len(m.Name) + 4
		here := at.in(m.Name)
		switch m.Name {
		case "properties", "patternProperties", "dependentSchemas":
			m.Value = r.schemas(m.Value, here, depth)
		case "allOf", "anyOf", "oneOf", "prefixItems":
			m.Value = r.list(m.Value, here, depth)
		case "items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
			"contains", "propertyNames", "not", "if", "then", "else", "contentSchema":
			switch m.Value.Kind {
			case qaoa.Array: // items of old drafts
				m.Value = r.list(m.Value, here, depth)
			case qaoa.Bool: // additionalProperties: false says it best
			default:
				m.Value = r.schema(m.Value, here, depth+1)
			}
		default:
			n := size(m.Value, r.left)
			if n > r.left {
				r.d.log.add(TooLarge, here, fmt.Sprintf("want at most %d bytes of schemas in a tool, have more: cut here", r.d.opt.MaxSchema))
				continue
			}
			r.left -= n
		}
		out.Members = append(out.Members, m)
	}
	return r.writable(out)
}

// schemas resolves the members of v.
func (r *resolver) schemas(v qaoa.Value, at *place, depth int) qaoa.Value {
	if v.Kind != qaoa.Object {
		r.d.log.add(BadSchema, at, "want an object of schemas, have "+short(v)+": left empty")
		return qaoa.ObjectValue()
	}
	out := qaoa.ObjectValue()
	last := make(map[string]int, len(v.Members))
	for i, m := range v.Members {
		last[m.Name] = i // of members that repeat the last one counts
	}
	for i, m := range v.Members {
		if last[m.Name] != i {
			continue
		}
		r.left -= len(m.Name) + 4
		out.Members = append(out.Members, qaoa.Member{Name: m.Name, Value: r.schema(m.Value, at.in(m.Name), depth+1)})
	}
	return out
}

// list resolves the items of v.
func (r *resolver) list(v qaoa.Value, at *place, depth int) qaoa.Value {
	if v.Kind != qaoa.Array {
		r.d.log.add(BadSchema, at, "want a list of schemas, have "+short(v)+": left empty")
		return qaoa.ArrayValue()
	}
	out := qaoa.ArrayValue()
	for i, item := range v.Items {
		r.left -= 4
		out.Items = append(out.Items, r.schema(item, at.in(fmt.Sprint(i)), depth+1))
	}
	return out
}

// writable returns v without the properties that are read-only, which a client
// must not send, and so need not either.
func (r *resolver) writable(v qaoa.Value) qaoa.Value {
	properties, _ := v.Get("properties")
	gone := map[string]bool{}
	for _, p := range properties.Members {
		if is(p.Value, "readOnly") {
			gone[p.Name] = true
		}
	}
	if len(gone) == 0 {
		return v
	}
	properties.Members = slices.DeleteFunc(slices.Clone(properties.Members), func(m qaoa.Member) bool { return gone[m.Name] })
	v = set(v, "properties", properties)
	if required, ok := v.Get("required"); ok && required.Kind == qaoa.Array {
		required.Items = slices.DeleteFunc(slices.Clone(required.Items), func(name qaoa.Value) bool { return gone[name.Text] })
		v = set(v, "required", required)
	}
	return v
}

// finish merges the allOf of v and says in JSON Schema what OpenAPI 3.0 says
// otherwise.
func (r *resolver) finish(v qaoa.Value, at *place) qaoa.Value {
	if all, ok := v.Get("allOf"); ok {
		v = r.mergeAll(v, all, at)
	}
	if r.d.old {
		v = modern(v)
	}
	return v
}

// maxParts is how many parts of an allOf are merged: each is compared with what
// the others made.
const maxParts = 100

// mergeAll returns v with the parts of its allOf in it.
func (r *resolver) mergeAll(v, all qaoa.Value, at *place) qaoa.Value {
	rest := without(v, "allOf")
	merged := qaoa.ObjectValue()
	for i, part := range all.Items {
		var ok bool
		if merged, ok = merge(merged, part, false); !ok || i >= maxParts {
			r.d.log.add(Unmerged, at.in("allOf"), fmt.Sprintf("want at most %d parts that agree, have more or a contradiction: allOf stays", maxParts))
			return v
		}
	}
	merged, ok := merge(merged, rest, true)
	if !ok {
		r.d.log.add(Unmerged, at.in("allOf"), "want parts that agree with what stands beside allOf, have a contradiction: allOf stays")
		return v
	}
	return r.writable(merged)
}

// modern returns v, in OpenAPI 3.0, as a JSON Schema.
func modern(v qaoa.Value) qaoa.Value {
	for _, bound := range [...][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		exclusive, ok := v.Get(bound[1])
		if !ok || exclusive.Kind != qaoa.Bool {
			continue
		}
		limit, ok := v.Get(bound[0])
		v = without(v, bound[1])
		if ok && exclusive.Text == "true" {
			v = rename(v, bound[0], bound[1], limit)
		}
	}
	nullable := is(v, "nullable")
	v = without(v, "nullable")
	if !nullable {
		return v
	}
	if typ, ok := v.Get("type"); ok && typ.Kind == qaoa.String && typ.Text != "null" {
		return set(v, "type", qaoa.ArrayValue(typ, qaoa.StringValue("null")))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := v.Get(key); ok && list.Kind == qaoa.Array {
			list.Items = append(slices.Clone(list.Items), object("type", qaoa.StringValue("null")))
			return set(v, key, list)
		}
	}
	return v // without a type null is allowed anyway
}

// stub returns what is kept of a schema that is cut: what a reader of a call
// needs to know.
func (r *resolver) stub(v qaoa.Value) qaoa.Value {
	out := qaoa.ObjectValue()
	if typ, ok := r.typeOf(v, 0); ok {
		out.Members = append(out.Members, qaoa.Member{Name: "type", Value: typ})
	}
	for _, m := range v.Members {
		if (m.Name == "title" || m.Name == "description") && m.Value.Kind == qaoa.String && len(m.Value.Text) <= 4096 {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// typeOf returns the type of v, which may stand behind references and in the
// parts of an allOf.
func (r *resolver) typeOf(v qaoa.Value, depth int) (qaoa.Value, bool) {
	if typ, ok := v.Get("type"); ok && size(typ, 100) <= 100 {
		return typ, true
	}
	if _, ok := v.Get("properties"); ok {
		return qaoa.StringValue("object"), true
	}
	if depth >= 4 {
		return qaoa.Value{}, false
	}
	if t, ok := r.d.targets[text(v, "$ref")]; ok {
		return r.typeOf(t.value, depth+1)
	}
	all, _ := v.Get("allOf")
	for _, part := range all.Items[:min(len(all.Items), 8)] {
		if typ, ok := r.typeOf(part, depth+1); ok {
			return typ, true
		}
	}
	return qaoa.Value{}, false
}
