package toolset

import (
	"fmt"
	"slices"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// schemaWords are the keywords of JSON Schema that say nothing when they are
// null. The values of default and const may well be null.
var schemaWords = map[string]bool{
	"type": true, "description": true, "title": true, "properties": true, "required": true, "items": true, "enum": true,
	"format": true, "pattern": true, "minimum": true, "maximum": true, "minLength": true, "maxLength": true,
	"minItems": true, "maxItems": true, "additionalProperties": true, "anyOf": true, "oneOf": true, "allOf": true,
	"examples": true, "example": true, "optional": true, "nullable": true, "$ref": true, "$defs": true, "definitions": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "uniqueItems": true, "deprecated": true,
}

// parameterWords are the members of a tool that hold its parameters, in the
// order in which they are looked for.
var parameterWords = []string{"parameters", "inputSchema", "input_schema", "input_parameters", "arguments"}

// Normalize returns the tool that v describes, in any dialect that
// [convert.NormalizeTool] reads, and besides
//
//   - parameters as a list of {"name","type" or "param_type",…}, as directories
//     of MCP servers have them, where required is a mark of each parameter, and
//     min_value and max_value become minimum and maximum;
//   - the two lists required_parameters and optional_parameters, of which the
//     first is required (ToolBench, ToolRet);
//   - schemas that come from tables, where a keyword that a parameter does not
//     have is null or an empty list of values: such a keyword is left out.
//     Defaults and lists of required parameters stay, whatever they are.
//
// Words for types are mapped as [convert.NormalizeSchema] says, at every depth;
// a word that nobody knows makes no type, and never string.
func Normalize(v qaoa.Value) (qaoa.Tool, error) {
	v, err := listsToSchema(unwrap(v))
	if err != nil {
		return qaoa.Tool{}, err
	}
	return convert.NormalizeTool(v)
}

// asWritten returns the tool that v describes with its parameters as they are.
func asWritten(v qaoa.Value) (qaoa.Tool, error) {
	t, err := Normalize(v)
	if err != nil {
		return qaoa.Tool{}, err
	}
	v = unwrap(v)
	for _, key := range parameterWords {
		p, _ := v.Get(key)
		if p = unwrapText(p); p.Kind == qaoa.Object {
			t.Parameters = p.JSON()
			break
		}
	}
	return t, nil
}

// unwrap returns the object of a tool without what is around it: JSON text, and
// OpenAI's {"type":"function","function":{…}}.
func unwrap(v qaoa.Value) qaoa.Value {
	v = unwrapText(v)
	if f, ok := v.Get("function"); ok {
		if f = unwrapText(f); f.Kind == qaoa.Object {
			return f
		}
	}
	return v
}

// maxWraps is how often a JSON text may be quoted.
const maxWraps = 3

// unwrapText returns what the JSON text in v holds, if v is a string of an
// object or array; else v.
func unwrapText(v qaoa.Value) qaoa.Value {
	for range maxWraps {
		text := strings.TrimSpace(v.Text)
		if v.Kind != qaoa.String || text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
			break
		}
		inner, err := qaoa.ParseValue(text)
		if err != nil {
			break
		}
		v = inner
	}
	return v
}

// listsToSchema returns the tool v with parameters that are lists as a schema.
func listsToSchema(v qaoa.Value) (qaoa.Value, error) {
	if v.Kind != qaoa.Object {
		return v, nil // which convert has words for
	}
	v.Members = slices.Clone(v.Members)
	for i, m := range v.Members {
		if !slices.Contains(parameterWords, m.Name) {
			continue
		}
		switch p := unwrapText(m.Value); p.Kind {
		case qaoa.Array:
			schema, err := listed(m.Name, p.Items, nil)
			if err != nil {
				return v, err
			}
			v.Members[i].Value = schema
		case qaoa.Object:
			v.Members[i].Value = withoutNulls(p, false)
		}
	}
	return twoLists(v)
}

// twoLists returns the tool v with required_parameters and optional_parameters
// as one schema, unless it has parameters already.
func twoLists(v qaoa.Value) (qaoa.Value, error) {
	required, first := v.Get("required_parameters")
	optional, second := v.Get("optional_parameters")
	required, optional = unwrapText(required), unwrapText(optional)
	if required.Kind != qaoa.Array && optional.Kind != qaoa.Array || !first && !second {
		return v, nil
	}
	for _, key := range parameterWords {
		if p, _ := v.Get(key); p.Kind == qaoa.Object {
			return v, nil
		}
	}
	names := make([]qaoa.Value, 0, len(required.Items))
	for _, p := range required.Items {
		if name, _ := p.Get("name"); name.Kind == qaoa.String {
			names = append(names, name)
		}
	}
	list := qaoa.ArrayValue(names...)
	schema, err := listed("required_parameters and optional_parameters", slices.Concat(required.Items, optional.Items), &list)
	if err != nil {
		return v, err
	}
	v.Members = append(v.Members, qaoa.Member{Name: "parameters", Value: schema})
	return v, nil
}

// listed returns a list of parameters as a schema. A nil required takes the
// marks of the parameters. Of two with one name the first counts.
func listed(where string, items []qaoa.Value, required *qaoa.Value) (qaoa.Value, error) {
	props := qaoa.ObjectValue()
	marked := qaoa.ArrayValue()
	for i, item := range items {
		name, _ := item.Get("name")
		if name.Kind != qaoa.String || name.Text == "" {
			return qaoa.Value{}, fmt.Errorf(`want %s as objects with a text "name", have %.60s at place %d`, where, item.JSON(), i)
		}
		if _, twice := props.Get(name.Text); twice {
			continue
		}
		p, needed := parameter(item)
		if needed {
			marked.Items = append(marked.Items, name)
		}
		props.Members = append(props.Members, qaoa.Member{Name: name.Text, Value: p})
	}
	if required == nil {
		required = &marked
	}
	return qaoa.ObjectValue(
		qaoa.Member{Name: "type", Value: qaoa.StringValue("object")},
		qaoa.Member{Name: "properties", Value: props},
		qaoa.Member{Name: "required", Value: *required},
	), nil
}

// parameter returns the schema of one parameter of a list, and whether it is
// marked as required.
func parameter(item qaoa.Value) (schema qaoa.Value, required bool) {
	schema = qaoa.ObjectValue()
	renamed := map[string]string{"param_type": "type", "min_value": "minimum", "max_value": "maximum"}
	for _, m := range item.Members {
		if to, ok := renamed[m.Name]; ok {
			if _, taken := item.Get(to); taken {
				continue
			}
			m.Name = to
		}
		switch {
		case m.Name == "name":
		case m.Name == "required" && m.Value.Kind == qaoa.Bool:
			required = m.Value.Text == "true"
		default:
			schema.Members = append(schema.Members, m)
		}
	}
	return withoutNulls(schema, false), required
}

// withoutNulls returns a schema without the keywords that a table fills with
// nothing: null, and an empty list of values. With names set, v is no schema
// but a map from names to schemas.
func withoutNulls(v qaoa.Value, names bool) qaoa.Value {
	switch v.Kind {
	case qaoa.Array:
		out := qaoa.ArrayValue()
		for _, item := range v.Items {
			out.Items = append(out.Items, withoutNulls(item, false))
		}
		return out
	case qaoa.Object:
	default:
		return v
	}
	out := qaoa.ObjectValue()
	for _, m := range v.Members {
		if !names {
			if schemaWords[m.Name] && m.Value.Kind == qaoa.Null || m.Name == "enum" && m.Value.Kind == qaoa.Array && len(m.Value.Items) == 0 {
				continue
			}
			switch m.Name {
			case "default", "const", "enum", "examples", "example", "required":
				out.Members = append(out.Members, m) // values, not schemas
				continue
			}
		}
		m.Value = withoutNulls(m.Value, !names && isNames(m))
		out.Members = append(out.Members, m)
	}
	return out
}

// isNames reports whether a member of a schema is a map from names to schemas.
func isNames(m qaoa.Member) bool {
	switch m.Name {
	case "properties", "$defs", "definitions", "patternProperties":
		return m.Value.Kind == qaoa.Object
	}
	return false
}
