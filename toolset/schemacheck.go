package toolset

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// A ProblemCode says what is amiss with a tool.
type ProblemCode string

// What [CheckTool] finds, and SameName, which takes a pool.
const (
	BadName        ProblemCode = "bad_name"         // servers with native tool calls refuse it
	SameName       ProblemCode = "same_name"        // an earlier tool has exactly that name
	NoDescription  ProblemCode = "no_description"   // blank
	BadSchema      ProblemCode = "bad_schema"       // no JSON object, or a keyword of the wrong kind
	NoParameters   ProblemCode = "no_parameters"    // none at all
	UnknownType    ProblemCode = "unknown_type"     // a word that JSON Schema does not have
	Untyped        ProblemCode = "untyped"          // a parameter that says nothing of its values
	Undescribed    ProblemCode = "undescribed"      // a parameter of the first level without a description
	NotAnObject    ProblemCode = "not_an_object"    // properties under another type than object
	NoItems        ProblemCode = "no_items"         // an array that does not say of what
	RequiredGhost  ProblemCode = "required_ghost"   // required, but no parameter
	TwiceDefined   ProblemCode = "twice_defined"    // two parameters with one name
	EnumMismatch   ProblemCode = "enum_mismatch"    // a value of another type, or no values
	DefaultsOff    ProblemCode = "default_mismatch" // a default of another type
	DanglingTarget ProblemCode = "dangling_ref"     // a reference to nothing
)

// Problems returns all codes, in the order of reports.
func Problems() []ProblemCode {
	return []ProblemCode{
		BadName, SameName, NoDescription, BadSchema, NoParameters, UnknownType, Untyped, Undescribed, NotAnObject, NoItems,
		RequiredGhost, TwiceDefined, EnumMismatch, DefaultsOff, DanglingTarget,
	}
}

// A ToolProblem is one problem of one tool.
type ToolProblem struct {
	Code   ProblemCode
	Path   string // JSON Pointer into the parameters; "" is the tool
	Detail string
}

// callable reports whether servers with native tool calls take name: 1 to 64
// letters, digits, _ and - of ASCII.
func callable(name string) bool {
	outside := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, outside)
}

// CheckTool returns what is amiss with a tool, in the order of its parts. None
// of it keeps the tool out of a pool.
func CheckTool(t qaoa.Tool) []ToolProblem {
	c := checker{}
	if !callable(t.Name) {
		c.add(BadName, "", "want 1 to 64 of A-Z, a-z, 0-9, _ and -, have %.80q", t.Name)
	}
	if strings.TrimSpace(t.Description) == "" {
		c.add(NoDescription, "", "want a description, have none")
	}
	v, err := t.Parameters.Value()
	switch {
	case err != nil || t.Parameters != "" && v.Kind != qaoa.Object:
		c.add(BadSchema, "", "want parameters as an object, have %.60s", t.Parameters)
		return c.found
	case t.Parameters == "":
		c.add(NoParameters, "", "want parameters, have none")
		return c.found
	}
	c.root = v
	if props, _ := v.Get("properties"); len(props.Members) == 0 && !composed(t.Parameters) {
		c.add(NoParameters, "", "want parameters, have none")
	}
	c.schema(v, "", 0)
	return c.found
}

type checker struct {
	root  qaoa.Value
	found []ToolProblem
}

// maxProblems bounds what one tool can have: a hostile schema has thousands.
const maxProblems = 1000

func (c *checker) add(code ProblemCode, path, format string, args ...any) {
	if len(c.found) < maxProblems {
		c.found = append(c.found, ToolProblem{code, path, fmt.Sprintf(format, args...)})
	}
}

// maxSchemaDepth is how deep schemas are looked at.
const maxSchemaDepth = 64

// schema looks at a schema. Depth 0 is that of the parameters themselves.
func (c *checker) schema(v qaoa.Value, path string, depth int) {
	if v.Kind != qaoa.Object || depth > maxSchemaDepth {
		return
	}
	types := c.types(v, path)
	c.kinds(v, path)
	c.properties(v, path, types, depth)
	c.values(v, path, types)
	for _, m := range v.Members {
		at := path + "/" + pointer(m.Name)
		switch m.Name {
		case "items", "additionalProperties", "not":
			c.schema(m.Value, at, depth+1)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for i, item := range m.Value.Items {
				c.schema(item, fmt.Sprintf("%s/%d", at, i), depth+1)
			}
		case "$defs", "definitions", "patternProperties":
			for _, d := range m.Value.Members {
				c.schema(d.Value, at+"/"+pointer(d.Name), depth+1)
			}
		case "$ref":
			if !c.resolves(m.Value.Text) {
				c.add(DanglingTarget, at, "%.80q is not in the schema", m.Value.Text)
			}
		}
	}
	_, hasItems := v.Get("items")
	_, hasPrefix := v.Get("prefixItems")
	if slices.Contains(types, "array") && !hasItems && !hasPrefix {
		c.add(NoItems, path, "want items, have an array of anything")
	}
}

// types returns the types of a schema that JSON Schema has, and notes others.
func (c *checker) types(v qaoa.Value, path string) []string {
	typ, ok := v.Get("type")
	words := typ.Items
	switch {
	case !ok:
		return nil
	case typ.Kind == qaoa.String:
		words = []qaoa.Value{typ}
	case typ.Kind != qaoa.Array:
		c.add(BadSchema, path+"/type", "want a word or a list of words, have %s", typ.Kind)
		return nil
	}
	var out []string
	for _, w := range words {
		switch w.Text {
		case "string", "integer", "number", "boolean", "object", "array", "null":
			out = append(out, w.Text)
		default:
			c.add(UnknownType, path+"/type", "want a type of JSON Schema, have %.40s", w.JSON())
		}
	}
	return out
}

// kinds notes keywords whose values are of the wrong kind.
func (c *checker) kinds(v qaoa.Value, path string) {
	for _, m := range v.Members {
		var ok bool
		switch m.Name {
		case "properties", "$defs", "definitions", "patternProperties":
			ok = m.Value.Kind == qaoa.Object
		case "required", "anyOf", "oneOf", "allOf", "enum":
			ok = m.Value.Kind == qaoa.Array
		case "items", "not", "additionalProperties":
			ok = m.Value.Kind == qaoa.Object || m.Value.Kind == qaoa.Bool || m.Value.Kind == qaoa.Array && m.Name == "items"
		case "description", "title", "$ref", "format":
			ok = m.Value.Kind == qaoa.String
		default:
			continue
		}
		if !ok {
			c.add(BadSchema, path+"/"+pointer(m.Name), "the value is of the wrong kind: %s", m.Value.Kind)
		}
	}
}

// properties looks at the parameters of an object.
func (c *checker) properties(v qaoa.Value, path string, types []string, depth int) {
	props, has := v.Get("properties")
	if has && len(types) > 0 && !slices.Contains(types, "object") {
		c.add(NotAnObject, path, "want type object beside properties, have %s", strings.Join(types, " or "))
	}
	seen := map[string]bool{}
	for _, p := range props.Members {
		at := path + "/properties/" + pointer(p.Name)
		if seen[p.Name] {
			c.add(TwiceDefined, at, "a parameter has this name already")
		}
		seen[p.Name] = true
		if typeName(p.Value) == "any" && p.Value.Kind == qaoa.Object {
			c.add(Untyped, at, "want a type, have none")
		}
		if d, _ := p.Value.Get("description"); depth == 0 && strings.TrimSpace(d.Text) == "" {
			c.add(Undescribed, at, "want a description, have none")
		}
		c.schema(p.Value, at, depth+1)
	}
	required, _ := v.Get("required")
	for i, r := range required.Items {
		if r.Kind != qaoa.String || has && !seen[r.Text] {
			c.add(RequiredGhost, fmt.Sprintf("%s/required/%d", path, i), "%.60s is no parameter", r.JSON())
		}
	}
}

// values looks at the values that a schema names.
func (c *checker) values(v qaoa.Value, path string, types []string) {
	if enum, ok := v.Get("enum"); ok && enum.Kind == qaoa.Array {
		if len(enum.Items) == 0 {
			c.add(EnumMismatch, path+"/enum", "want values to choose from, have none")
		}
		for i, item := range enum.Items {
			if !fits(item, types) {
				c.add(EnumMismatch, fmt.Sprintf("%s/enum/%d", path, i), "want %s, have %.60s", strings.Join(types, " or "), item.JSON())
				break // one tells it all
			}
		}
	}
	// A default of null says that there is none.
	if def, ok := v.Get("default"); ok && def.Kind != qaoa.Null && !fits(def, types) {
		c.add(DefaultsOff, path+"/default", "want %s, have %.60s", strings.Join(types, " or "), def.JSON())
	}
}

// fits reports whether a value is of one of the types; any is if there are none.
func fits(v qaoa.Value, types []string) bool {
	if len(types) == 0 {
		return true
	}
	kind := v.Kind.String()
	return slices.ContainsFunc(types, func(t string) bool {
		return t == kind || t == "integer" && v.Kind == qaoa.Number && whole(v.Text)
	})
}

// whole reports whether the number with that text is an integer, as 1.0 is.
func whole(text string) bool {
	before, after, _ := strings.Cut(text, ".")
	return strings.Trim(after, "0") == "" && !strings.ContainsAny(before+after, "eE")
}

// resolves reports whether a reference is to a place in the schema.
func (c *checker) resolves(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return false
	}
	v := c.root
	if rest == "" {
		return true
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if v.Kind == qaoa.Array {
			var i int
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(v.Items) {
				return false
			}
			v = v.Items[i]
			continue
		}
		if v, ok = v.Get(token); !ok {
			return false
		}
	}
	return true
}
