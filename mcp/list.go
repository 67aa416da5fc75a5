package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"assay/qaoa"
)

// A Reject is why one element of a list of tools is no tool. The others of the
// list are not touched by it.
type Reject struct {
	Path   string // JSON Pointer to the culprit
	Name   string // of the tool, as far as it has one
	Detail string // what was wanted and what is there
}

// Error returns path, tool and fault.
func (r *Reject) Error() string {
	if r.Name == "" {
		return fmt.Sprintf("%s: %s", r.Path, r.Detail)
	}
	return fmt.Sprintf("%s: tool %.60q: %s", r.Path, r.Name, r.Detail)
}

// schemaKeys are the names of the member that holds the schema, the one of the
// protocol first.
var schemaKeys = [...]string{"inputSchema", "input_schema", "parameters"}

// toolOf returns the tool that v is, at path.
func toolOf(v qaoa.Value, path string) (qaoa.Tool, *Reject) {
	if v.Kind != qaoa.Object {
		return qaoa.Tool{}, &Reject{Path: path, Detail: "want a tool as an object, have " + short(v)}
	}
	name, ok := v.Get("name")
	if !ok || name.Kind != qaoa.String || strings.TrimSpace(name.Text) == "" {
		return qaoa.Tool{}, &Reject{Path: path + "/name", Detail: "want a tool with a name, have " + short(name)}
	}
	t := qaoa.Tool{Name: name.Text, Description: textOf(v, "description"), Category: textOf(v, "category"), Domain: textOf(v, "domain")}
	for _, key := range schemaKeys {
		schema, ok := v.Get(key)
		switch {
		case !ok || schema.Kind == qaoa.Null:
			continue
		case schema.Kind == qaoa.Object:
			t.Parameters = schema.JSON()
		case schema.Kind == qaoa.Array && key == "parameters":
			listed, rej := schemaOfList(schema, path+"/parameters", t.Name)
			if rej != nil {
				return qaoa.Tool{}, rej
			}
			t.Parameters = listed.JSON()
		default:
			return qaoa.Tool{}, &Reject{Path: path + "/" + key, Name: t.Name, Detail: "want the schema as an object, have " + short(schema)}
		}
		break
	}
	return t, nil
}

// textOf returns the text that the member of v with that name is, "" if it is
// none.
func textOf(v qaoa.Value, name string) string {
	if m, ok := v.Get(name); ok && m.Kind == qaoa.String {
		return m.Text
	}
	return ""
}

// listedKeys maps the attributes of a listed parameter to the keywords of its
// schema, in the order that they are written in.
var listedKeys = [...][2]string{
	{"param_type", "type"},
	{"type", "type"},
	{"description", "description"},
	{"enum", "enum"},
	{"min_value", "minimum"},
	{"max_value", "maximum"},
	{"default", "default"},
}

// schemaOfList returns the object schema of a list of parameters.
func schemaOfList(v qaoa.Value, path, tool string) (qaoa.Value, *Reject) {
	properties := qaoa.ObjectValue()
	var required []qaoa.Value
	for i, p := range v.Items {
		name, ok := p.Get("name")
		if !ok || name.Kind != qaoa.String || name.Text == "" {
			return qaoa.Value{}, &Reject{Path: path + "/" + strconv.Itoa(i) + "/name", Name: tool, Detail: "want a parameter with a name, have " + short(name)}
		}
		schema := qaoa.ObjectValue()
		for _, key := range listedKeys {
			attr, ok := p.Get(key[0])
			if _, twice := schema.Get(key[1]); !ok || twice || attr.Kind == qaoa.Null {
				continue
			}
			schema.Members = append(schema.Members, qaoa.Member{Name: key[1], Value: attr})
		}
		properties.Members = append(properties.Members, qaoa.Member{Name: name.Text, Value: schema})
		if req, ok := p.Get("required"); ok && req.Kind == qaoa.Bool && req.Text == "true" {
			required = append(required, name)
		}
	}
	schema := qaoa.ObjectValue(
		qaoa.Member{Name: "type", Value: qaoa.StringValue("object")},
		qaoa.Member{Name: "properties", Value: properties},
	)
	if len(required) > 0 {
		schema.Members = append(schema.Members, qaoa.Member{Name: "required", Value: qaoa.ArrayValue(required...)})
	}
	return schema, nil
}

// short returns v as an error message shows it.
func short(v qaoa.Value) string {
	if v.Kind == qaoa.Invalid {
		return "none"
	}
	return fmt.Sprintf("%v %.60s", v.Kind, v.JSON())
}
