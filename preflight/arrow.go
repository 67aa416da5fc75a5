package preflight

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// maxNodes bounds the tree of types: 1 << 18 places, about 40 MB.
const maxNodes = 1 << 18

// maxDepth is how deep types are looked at.
const maxDepth = 64

// A place is a place in the rows, for an Arrow column has one type at each.
type place struct {
	kinds   [8]bool // by qaoa.Kind
	first   [8]string
	members map[string]*place
	items   *place
}

// A schema is the type that Arrow gives to all rows together.
type schema struct {
	root  place
	nodes int
	full  bool // places beyond maxNodes were left out
}

// add unites the type of a row with that of the rows before.
func (s *schema) add(id string, v qaoa.Value) { s.unite(&s.root, id, v, 0) }

func (s *schema) unite(p *place, id string, v qaoa.Value, depth int) {
	if depth > maxDepth || int(v.Kind) >= len(p.kinds) {
		return
	}
	if !p.kinds[v.Kind] {
		p.kinds[v.Kind], p.first[v.Kind] = true, id
	}
	switch v.Kind {
	case qaoa.Array:
		for _, item := range v.Items {
			if p.items == nil {
				if p.items = s.place(); p.items == nil {
					return
				}
			}
			s.unite(p.items, id, item, depth+1)
		}
	case qaoa.Object:
		for _, m := range v.Members {
			child := p.members[m.Name]
			if child == nil {
				if child = s.place(); child == nil {
					return
				}
				if p.members == nil {
					p.members = map[string]*place{}
				}
				p.members[m.Name] = child
			}
			s.unite(child, id, m.Value, depth+1)
		}
	}
}

func (s *schema) place() *place {
	if s.nodes >= maxNodes {
		s.full = true
		return nil
	}
	s.nodes++
	return &place{}
}

// A clash is a place with two types.
type clash struct{ path, detail, row string }

// clashes returns the places where Arrow finds no type: null goes with any, and
// nothing else with another. Objects of TRL's arguments and texts are the usual
// pair.
func (s *schema) clashes() []clash {
	var out []clash
	var walk func(p *place, at string)
	walk = func(p *place, at string) {
		var kinds []string
		row := ""
		for k := range p.kinds {
			if kind := qaoa.Kind(k); p.kinds[k] && kind != qaoa.Null && kind != qaoa.Invalid {
				kinds = append(kinds, fmt.Sprintf("%s in %s", kind, p.first[k]))
				row = p.first[k]
			}
		}
		if len(kinds) > 1 {
			out = append(out, clash{at, "want one type, have " + strings.Join(kinds, ", "), row})
		}
		if p.items != nil {
			walk(p.items, at+"/*")
		}
		names := make([]string, 0, len(p.members))
		for name := range p.members {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walk(p.members[name], at+"/"+name)
		}
	}
	walk(&s.root, "")
	return out
}

// padded returns the path of the first object in the arguments or parameters of
// a row that lacks a member which its place has in other rows; "" if none does.
func padded(p *place, v qaoa.Value, at string, inside bool) string {
	switch v.Kind {
	case qaoa.Array:
		for i, item := range v.Items {
			if p.items == nil {
				return ""
			}
			if found := padded(p.items, item, fmt.Sprintf("%s/%d", at, i), inside); found != "" {
				return found
			}
		}
	case qaoa.Object:
		if inside && missing(p, v) {
			return at
		}
		for _, m := range v.Members {
			child := p.members[m.Name]
			if child == nil {
				continue
			}
			within := inside || m.Name == "arguments" || m.Name == "parameters"
			if found := padded(child, m.Value, at+"/"+m.Name, within); found != "" {
				return found
			}
		}
	}
	return ""
}

// missing reports whether an object lacks a member that its place has.
func missing(p *place, v qaoa.Value) bool {
	have := map[string]bool{}
	for _, m := range v.Members {
		have[m.Name] = true
	}
	return len(have) < len(p.members)
}

// nullsIn returns where nulls stand in a conversation as Arrow leaves them: in a
// call, for an argument that its tool does not have; in parameters, for a
// keyword that is never null.
func nullsIn(in ingested) string {
	properties := map[string]qaoa.Value{}
	for i, t := range in.conv.Tools {
		params, err := t.Parameters.Value()
		if err != nil {
			continue
		}
		if at := nullSchema(params, fmt.Sprintf("tool %d (%s)", i, t.Name), 0); at != "" {
			return at
		}
		props, _ := params.Get("properties")
		properties[t.Name] = props
	}
	for i, m := range in.conv.Messages {
		for _, c := range m.Calls {
			args, err := c.Arguments.Value()
			if err != nil {
				continue
			}
			for _, a := range args.Members {
				props, known := properties[c.Name]
				_, has := props.Get(a.Name)
				if a.Value.Kind == qaoa.Null && known && !has {
					return fmt.Sprintf("message %d: %s has the argument %s: null, which its tool does not have", i, c.Name, a.Name)
				}
			}
		}
	}
	return ""
}

// schemaWords are the keywords of a JSON Schema whose value is never null.
var schemaWords = []string{"type", "description", "properties", "required", "items", "title", "format", "additionalProperties", "minimum", "maximum"}

// nullSchema returns where a schema has a null that no schema has.
func nullSchema(v qaoa.Value, at string, depth int) string {
	if depth > maxDepth {
		return ""
	}
	for _, m := range v.Members {
		switch {
		case m.Name == "enum" || m.Name == "default" || m.Name == "const" || m.Name == "examples":
			if m.Name == "enum" && m.Value.Kind == qaoa.Null {
				return at + ": enum is null"
			}
		case m.Name == "properties" && m.Value.Kind == qaoa.Object:
			for _, prop := range m.Value.Members {
				if prop.Value.Kind == qaoa.Null {
					return at + ": property " + prop.Name + " is null"
				}
				if found := nullSchema(prop.Value, at+"/"+prop.Name, depth+1); found != "" {
					return found
				}
			}
		case m.Value.Kind == qaoa.Null && slices.Contains(schemaWords, m.Name):
			return at + ": " + m.Name + " is null"
		case m.Value.Kind == qaoa.Object:
			if found := nullSchema(m.Value, at+"/"+m.Name, depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}
