package toolcall

import (
	"slices"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

// Arguments in tags of their own, one by one.
const (
	parameterOpen  = "<parameter" // <parameter=city>Oslo</parameter>, <parameter name="city">…
	parameterClose = "</parameter>"
	argKeyOpen     = "<arg_key>" // <arg_key>city</arg_key><arg_value>Oslo</arg_value>
	argKeyClose    = "</arg_key>"
	argValueOpen   = "<arg_value>"
	argValueClose  = "</arg_value>"
)

// parameters returns the arguments in body, which consists of <parameter> tags.
// A tag that is not closed, or anything between the tags, is a failure: a value
// cut in the middle is not guessed.
func (p *parser) parameters(tool, body string) (args []qaoa.Member, ok bool) {
	types := p.typesOf(tool)
	for body != "" {
		rest, ok := strings.CutPrefix(body, parameterOpen)
		if !ok {
			return nil, false
		}
		key, ok := cutName(rest)
		if !ok {
			return nil, false
		}
		text, after, ok := strings.Cut(rest[len(key)+1:], parameterClose)
		if !ok {
			return nil, false
		}
		if key = parameterName(key); key == "" {
			return nil, false
		}
		args = append(args, qaoa.Member{Name: key, Value: types.read(key, text)})
		body = strings.TrimLeft(after, " \t\r\n")
	}
	return args, true
}

// parameterName returns the name in what stands between <parameter and >, "" if
// there is none.
func parameterName(s string) string {
	if rest, ok := strings.CutPrefix(s, "="); ok {
		return strings.Trim(rest, " \t\"'")
	}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t"), "name="); ok && s[0] <= ' ' {
		return strings.Trim(rest, " \t\"'")
	}
	return ""
}

// keyed returns the call in body, which consists of a name and then of pairs of
// <arg_key> and <arg_value> tags. Without any pair the name must be on offer,
// since the text of a block may also be anything else.
func (p *parser) keyed(body string) (c qaoa.Call, ok bool) {
	name, pairs := body, ""
	if i := strings.Index(body, argKeyOpen); i >= 0 {
		name, pairs = strings.TrimSpace(body[:i]), body[i:]
	}
	if pairs == "" {
		return qaoa.Call{Name: name}, p.offered(name)
	}
	if name == "" || strings.ContainsAny(name, "\n<{") {
		return qaoa.Call{}, false
	}
	types := p.typesOf(name)
	var args []qaoa.Member
	for pairs != "" {
		rest, opened := strings.CutPrefix(pairs, argKeyOpen)
		key, rest, closed := strings.Cut(rest, argKeyClose)
		rest, valued := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), argValueOpen)
		text, rest, done := strings.Cut(rest, argValueClose)
		if key = strings.TrimSpace(key); !opened || !closed || !valued || !done || key == "" {
			return qaoa.Call{}, false
		}
		args = append(args, qaoa.Member{Name: key, Value: types.read(key, text)})
		pairs = strings.TrimLeft(rest, " \t\r\n")
	}
	return qaoa.Call{Name: name, Arguments: qaoa.ObjectValue(args...).JSON()}, true
}

// parameterTypes tell the parameters of a tool whose tagged values are no text.
type parameterTypes struct{ properties qaoa.Value }

// typesOf returns the types of the first tool of that name. They are looked up
// once for each call of a text, whose number is bounded.
func (p *parser) typesOf(tool string) parameterTypes {
	for i := range p.opt.Tools {
		if p.opt.Tools[i].Name != tool {
			continue
		}
		if schema, err := p.opt.Tools[i].Parameters.Value(); err == nil {
			props, _ := schema.Get("properties")
			return parameterTypes{props}
		}
		break
	}
	return parameterTypes{}
}

// read returns the value that the text of a tag stands for. Tags have no
// quotes, so only the schema tells "5" from 5: the text is read as JSON or as a
// Python literal if the schema has a type for it and no type of text. What
// cannot be read stays text. One line break at each end is layout.
func (t parameterTypes) read(key, text string) qaoa.Value {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	prop, _ := t.properties.Get(key)
	if names := typeNames(prop); len(names) > 0 && !slices.ContainsFunc(names, isTextType) {
		trimmed := strings.TrimSpace(text)
		if v, err := qaoa.ParseValue(trimmed); err == nil {
			return v
		}
		if v, err := pylit.Parse(trimmed); err == nil && v.Kind != qaoa.String {
			return v
		}
	}
	return qaoa.StringValue(text)
}

// typeNames returns the types that a schema names, those of its alternatives
// included.
func typeNames(schema qaoa.Value) []string {
	var names []string
	types, _ := schema.Get("type")
	for _, v := range append([]qaoa.Value{types}, types.Items...) {
		if v.Kind == qaoa.String {
			names = append(names, v.Text)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		alternatives, _ := schema.Get(key)
		for _, v := range alternatives.Items {
			if one, _ := v.Get("type"); one.Kind == qaoa.String {
				names = append(names, one.Text)
			}
		}
	}
	return names
}

func isTextType(name string) bool {
	switch strings.ToLower(name) {
	case "string", "str", "text", "any", "enum", "char", "varchar":
		return true
	}
	return false
}
