package mcp

import (
	"errors"
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

// Rejects is the error of a list of which some elements are no tools: never
// empty, in the order of the list.
type Rejects []*Reject

// Error returns the first reject and how many there are.
func (r Rejects) Error() string {
	if len(r) == 1 {
		return r[0].Error()
	}
	return fmt.Sprintf("%v (and %d more that are no tools)", r[0], len(r)-1)
}

// ErrNoList is the error of a text that is JSON, but holds no list of tools.
var ErrNoList = errors.New("no list of MCP tools: want a tools/list result, a JSON-RPC response to tools/list, or an array of tools")

// maxNesting is how many levels of containers a list may stand in: a map of
// servers of pages of responses has four.
const maxNesting = 8

// ParseToolsList returns the tools of a dump of MCP tools, in order, repeated
// names included. data holds one or more JSON texts, one after the other, as
// in a log of messages; each is
//
//   - a result of tools/list, {"tools":[…],"nextCursor"?},
//   - a JSON-RPC response to it, {"jsonrpc":"2.0","id":1,"result":{"tools":[…]}};
//     requests, notifications and responses to other methods are passed over,
//   - an array of tools, or one tool,
//   - an array of any of these, such as pages or entries of a list of servers,
//     or a map from a server to any of these.
//
// The schema of a tool is its inputSchema (or input_schema, or parameters), an
// object, kept as it is: the order of members and the text of numbers do not
// change, and words of other dialects stay. Directories of servers list their
// parameters instead, [{"name","param_type","description","default","enum",
// "min_value","max_value","required"}…]: these become an object schema with
// minimum and maximum, in which attributes that are null are left out.
//
// Elements that are no tools are left out, and the error is then of type
// [Rejects], with all other tools returned beside it. Any other error comes
// without tools: text that is no JSON, a response that is an error, or
// [ErrNoList].
func ParseToolsList(data []byte) ([]qaoa.Tool, error) {
	var l list
	cur := qaoa.CursorOf(data)
	for doc := 0; !cur.Done(); doc++ {
		mark := cur.Mark()
		raw := cur.Raw()
		if !cur.OK() {
			raw = string(data[mark:]) // for its fault
		}
		v, err := qaoa.ParseValue(raw)
		if err == nil && !cur.OK() {
			err = errors.New("nothing ends it")
		}
		if err != nil {
			return nil, fmt.Errorf("text %d at byte %d: no JSON: %w", doc, mark, err)
		}
		path := ""
		if doc > 0 {
			path = "#" + strconv.Itoa(doc)
		}
		if err := l.collect(v, path, 0); err != nil {
			return nil, err
		}
	}
	if !l.found {
		return nil, ErrNoList
	}
	if len(l.rejects) > 0 {
		return l.tools, l.rejects
	}
	return l.tools, nil
}

// A list gathers tools.
type list struct {
	tools   []qaoa.Tool
	rejects Rejects
	found   bool // something that is a list of tools was there
}

// collect gathers the tools in v, whatever stands around them.
func (l *list) collect(v qaoa.Value, path string, depth int) error {
	switch {
	case depth > maxNesting:
		return fmt.Errorf("%s: want a list of tools within %d levels, have none", path, maxNesting)
	case v.Kind == qaoa.Array:
		return l.array(v, path, depth)
	case v.Kind != qaoa.Object:
		return nil
	}
	if tools, ok := v.Get("tools"); ok {
		return l.toolsOf(tools, path+"/tools", depth)
	}
	if isMessage(v) {
		if fault, ok := v.Get("error"); ok {
			return fmt.Errorf("%s/error: want the answer to tools/list, have an error: %.200s", path, fault.JSON())
		}
		result, _ := v.Get("result")
		return l.collect(result, path+"/result", depth+1)
	}
	if result, ok := v.Get("result"); ok && result.Kind == qaoa.Object {
		return l.collect(result, path+"/result", depth+1)
	}
	if isTool(v) {
		l.add(v, path)
		return nil
	}
	for _, m := range v.Members {
		if err := l.collect(m.Value, path+"/"+escape(m.Name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// toolsOf gathers the tools of a member called tools.
func (l *list) toolsOf(v qaoa.Value, path string, depth int) error {
	switch v.Kind {
	case qaoa.Array:
		l.found = true
		for i, item := range v.Items {
			l.add(item, path+"/"+strconv.Itoa(i))
		}
		return nil
	case qaoa.Object: // a map from name to tool, or the capability of a server
		return l.collect(v, path, depth+1)
	}
	return nil
}

// array gathers the tools of an array, of tools or of what holds tools.
func (l *list) array(v qaoa.Value, path string, depth int) error {
	if len(v.Items) == 0 {
		l.found = true
	}
	for i, item := range v.Items {
		at := path + "/" + strconv.Itoa(i)
		if broken(item) {
			l.add(item, at)
			continue
		}
		before, rejected, found := len(l.tools), len(l.rejects), l.found
		l.found = false
		if err := l.collect(item, at, depth+1); err != nil {
			return err
		}
		nothing := !l.found && len(l.tools) == before && len(l.rejects) == rejected
		l.found = l.found || found
		if nothing && !isMessage(item) {
			// Among tools it is a tool that went wrong, and to pass over it
			// would be to lose it without a word.
			l.rejects = append(l.rejects, &Reject{Path: at, Detail: "want a tool with a name, have " + short(item)})
		}
	}
	return nil
}

// add gathers one tool, or why it is none.
func (l *list) add(v qaoa.Value, path string) {
	t, rej := toolOf(v, path)
	if rej != nil {
		l.rejects = append(l.rejects, rej)
		return
	}
	l.found = true
	l.tools = append(l.tools, t)
}

// isMessage reports whether v is a JSON-RPC message.
func isMessage(v qaoa.Value) bool {
	_, ok := v.Get("jsonrpc")
	return ok
}

// isTool reports whether v looks like a tool, sound or not.
func isTool(v qaoa.Value) bool {
	name, ok := v.Get("name")
	if !ok || name.Kind != qaoa.String {
		return false
	}
	for _, key := range append([]string{"description", "title"}, schemaKeys[:]...) {
		if _, ok := v.Get(key); ok {
			return true
		}
	}
	return len(v.Members) == 1
}

// broken reports whether v is a tool by its schema, but without a name.
func broken(v qaoa.Value) bool {
	if name, ok := v.Get("name"); ok && name.Kind == qaoa.String {
		return false
	}
	for _, key := range schemaKeys[:2] {
		if _, ok := v.Get(key); ok {
			return true
		}
	}
	return false
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

// escape returns name as a part of a JSON Pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
