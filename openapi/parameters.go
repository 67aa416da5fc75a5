package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/qaoa"
)

// A signature gathers the properties of a tool.
type signature struct {
	d          *document
	r          *resolver
	properties qaoa.Value
	required   []qaoa.Value
	rest       []qaoa.Member // what the body says about properties that have no name
	taken      map[string]bool
}

// parameters returns the schema of the parameters and the body of o.
func (d *document) parameters(o operation) qaoa.Value {
	s := signature{
		d: d, r: &resolver{d: d, left: d.opt.MaxSchema},
		properties: qaoa.ObjectValue(), taken: map[string]bool{},
	}
	declared := d.declared(o)
	for _, p := range declared {
		s.parameter(p)
	}
	s.undeclared(o, declared)
	if body, ok := o.op.Get("requestBody"); ok {
		if body, at, ok := d.follow(body, o.at.in("requestBody")); ok {
			s.body(body, at)
		}
	}
	d.left -= 64 + d.opt.MaxSchema - max(s.r.left, 0)
	schema := qaoa.ObjectValue(
		qaoa.Member{Name: "type", Value: qaoa.StringValue("object")},
		qaoa.Member{Name: "properties", Value: s.properties},
	)
	if len(s.required) > 0 {
		schema.Members = append(schema.Members, qaoa.Member{Name: "required", Value: qaoa.ArrayValue(s.required...)})
	}
	schema.Members = append(schema.Members, s.rest...)
	return schema
}

// A parameter is one parameter of an operation.
type parameter struct {
	v        qaoa.Value
	at       *place
	name, in string
}

// declared returns the parameters of the path, replaced by those of the
// operation that have the same place and name, and then the others of the
// operation.
func (d *document) declared(o operation) []parameter {
	var all []parameter
	index := map[[2]string]int{}
	for _, from := range []struct {
		v  qaoa.Value
		at *place
	}{{o.item, o.itemAt}, {o.op, o.at}} {
		list, _ := from.v.Get("parameters")
		at := from.at.in("parameters")
		if list.Kind != qaoa.Array && list.Kind != qaoa.Invalid {
			d.log.add(BadParameter, at, "want a list of parameters, have "+short(list)+": left out")
		}
		d.left -= 32 * len(list.Items) // shared lists are looked at again and again
		for i, v := range list.Items {
			v, here, ok := d.follow(v, at.in(strconv.Itoa(i)))
			if !ok {
				continue
			}
			p := parameter{v: v, at: here, name: text(v, "name"), in: text(v, "in")}
			if p.name == "" || p.in != "path" && p.in != "query" && p.in != "header" && p.in != "cookie" {
				d.log.add(BadParameter, here, fmt.Sprintf("want a parameter with a name, in path, query, header or cookie, have name %.60q in %.60q: left out", p.name, p.in))
				continue
			}
			if j, ok := index[[2]string{p.in, p.name}]; ok {
				all[j] = p
				continue
			}
			index[[2]string{p.in, p.name}] = len(all)
			all = append(all, p)
		}
	}
	return all
}

// parameter adds a parameter.
func (s *signature) parameter(p parameter) {
	switch {
	case s.d.keys[[2]string{p.in, strings.ToLower(p.name)}]:
		s.d.log.add(Security, p.at, fmt.Sprintf("%.60q in %s holds the key of a security scheme: left out", p.name, p.in))
		return
	case p.in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.name)):
		return
	case s.d.opt.SkipDeprecated && is(p.v, "deprecated") && !is(p.v, "required"):
		return
	}
	schema := qaoa.ObjectValue()
	if v, ok := p.v.Get("schema"); ok {
		schema = s.r.schema(v, p.at.in("schema"), 0)
	} else if media, name, ok := pick(p.v); ok {
		at := p.at.in("content").in(name)
		if v, ok := media.Get("schema"); ok {
			schema = s.r.schema(v, at.in("schema"), 0)
		}
	}
	if description := text(p.v, "description"); description != "" {
		schema = set(schema, "description", qaoa.StringValue(description))
		s.r.left -= len(description)
	}
	if is(p.v, "deprecated") {
		schema = set(schema, "deprecated", qaoa.BoolValue(true))
	}
	s.add(p.name, p.in, schema, is(p.v, "required") || p.in == "path", p.at)
}

// undeclared adds the variables of the path that no parameter describes: without
// them the operation cannot be called.
func (s *signature) undeclared(o operation, declared []parameter) {
	for _, part := range strings.Split(o.path, "{")[1:] {
		name, _, ok := strings.Cut(part, "}")
		known := func(p parameter) bool { return p.in == "path" && p.name == name }
		if !ok || name == "" || slices.ContainsFunc(declared, known) {
			continue
		}
		s.d.log.add(Undeclared, o.at, fmt.Sprintf("want a parameter for {%.60s} of the path, have none: added as a string", name))
		s.add(name, "path", object("type", qaoa.StringValue("string")), true, o.at)
		declared = append(declared, parameter{name: name, in: "path"})
	}
}

// add adds a property.
func (s *signature) add(name, in string, schema qaoa.Value, required bool, at *place) {
	if s.r.left <= 0 {
		s.d.log.add(TooLarge, at, fmt.Sprintf("want at most %d bytes of schemas in a tool, have more: %.60q is left out", s.d.opt.MaxSchema, name))
		return
	}
	s.r.left -= len(name) + 4
	free := name
	if s.taken[free] {
		free = in + "_" + name
		for n := 2; s.taken[free]; n++ {
			free = in + "_" + name + "_" + strconv.Itoa(n)
		}
		s.d.log.add(RenamedArgument, at, fmt.Sprintf("want names that differ, have %.60q again in %s: called %.80q", name, in, free))
	}
	s.taken[free] = true
	s.properties.Members = append(s.properties.Members, qaoa.Member{Name: free, Value: schema})
	if required {
		s.required = append(s.required, qaoa.StringValue(free))
	}
}

// body adds the members of a request body, or the body as a whole.
func (s *signature) body(body qaoa.Value, at *place) {
	media, name, ok := pick(body)
	if !ok {
		if body.Kind != qaoa.Object {
			s.d.log.add(BadParameter, at, "want a request body as an object, have "+short(body)+": left out")
		}
		return
	}
	here := at.in("content").in(name)
	if !isJSON(name) {
		s.d.log.add(OtherBody, here, fmt.Sprintf("want a body of application/json, have %.60q only: its schema is taken", name))
	}
	schema := qaoa.ObjectValue()
	if v, ok := media.Get("schema"); ok {
		schema = s.r.schema(v, here.in("schema"), 0)
	} else if !isJSON(name) {
		schema = object("type", qaoa.StringValue("string"))
	}
	required := is(body, "required")
	properties, whole := members(schema)
	if whole {
		if description := text(body, "description"); description != "" && text(schema, "description") == "" {
			schema.Members = append(schema.Members, qaoa.Member{Name: "description", Value: qaoa.StringValue(description)})
		}
		s.add("body", "body", schema, required, here)
		return
	}
	needs, _ := schema.Get("required")
	for _, p := range properties.Members {
		must := required && contains(needs.Items, qaoa.StringValue(p.Name))
		if s.d.opt.SkipDeprecated && !must && is(p.Value, "deprecated") {
			continue
		}
		s.add(p.Name, "body", p.Value, must, here.in("schema").in("properties").in(p.Name))
	}
	if more, ok := schema.Get("additionalProperties"); ok {
		s.rest = append(s.rest, qaoa.Member{Name: "additionalProperties", Value: more})
	}
}

// members returns the properties of a body, or says that it is one value as a
// whole: no object, or one that is more than its properties.
func members(schema qaoa.Value) (properties qaoa.Value, whole bool) {
	properties, ok := schema.Get("properties")
	if !ok || properties.Kind != qaoa.Object {
		return qaoa.Value{}, true
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf", "not", "if", "patternProperties", "dependentSchemas"} {
		if _, more := schema.Get(key); more {
			return qaoa.Value{}, true
		}
	}
	typ, typed := schema.Get("type")
	return properties, typed && !contains(words(typ), qaoa.StringValue("object"))
}

// pick returns the media type of a content that says most about its values.
func pick(v qaoa.Value) (media qaoa.Value, name string, ok bool) {
	content, _ := v.Get("content")
	best := len(ranks) + 1
	for _, m := range content.Members {
		if r := rank(m.Name); r < best {
			media, name, best = m.Value, m.Name, r
		}
	}
	return media, name, best <= len(ranks)
}

// ranks are media types, the best first.
var ranks = [...]string{"application/json", "+json", "*/*", "application/x-www-form-urlencoded", "multipart/form-data"}

// rank returns the place of a media type in ranks.
func rank(media string) int {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	media = strings.TrimSpace(media)
	for i, want := range ranks {
		if media == want || want == "+json" && strings.HasSuffix(media, want) {
			return i
		}
	}
	return len(ranks)
}

// isJSON reports whether a media type is JSON, or any.
func isJSON(media string) bool { return rank(media) < 3 }
