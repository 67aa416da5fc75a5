package match

import (
	"cmp"
	"slices"
	"strings"

	"assay/qaoa"
)

// A schema holds the parameters of one tool, in the order of its properties.
type schema []property

// A property is one parameter.
type property struct {
	raw, key string
	has      bool    // there is a default that is not null
	value    Canon   // the default
	tokens   []int32 // of the default
}

// lookup returns the default for an argument that one side lacks, nil if there
// is none. Of properties with one canonical key, the one that is written like
// the argument counts, else the first.
func (s schema) lookup(arg *Member) *property {
	first := -1
	for i := range s {
		if s[i].raw == arg.Raw {
			first = i
			break
		}
		if first < 0 && s[i].key == arg.Key {
			first = i
		}
	}
	if first < 0 || !s[first].has {
		return nil
	}
	return &s[first]
}

// newSchema reads the properties of a JSON Schema. What is not a schema has
// none.
func (c canoniser) newSchema(parameters qaoa.JSON) schema {
	// Most schemas have no default. Our JSON form escapes no letter, so the
	// word must be there.
	if c.opt.Defaults == Off || !strings.Contains(string(parameters), `"default"`) {
		return nil
	}
	v, err := parameters.Value()
	if err != nil {
		return nil
	}
	properties, _ := v.Get("properties")
	var s schema
	seen := make(map[string]int, len(properties.Members))
	for _, m := range properties.Members {
		p := property{raw: m.Name, key: c.opt.Keys.form(m.Name)}
		if def, ok := m.Value.Get("default"); ok {
			p.value = c.value(def, 0)
			p.has = p.value.Kind != Null
		}
		if i, ok := seen[m.Name]; ok { // of repeated keys the last counts
			s[i] = p
			continue
		}
		seen[m.Name] = len(s)
		s = append(s, p)
	}
	return s
}

// A nameIndex finds the tool that a gold call means.
type nameIndex struct {
	tools []qaoa.Tool
	rule  NameRule
	forms []string // of the names, made when they are needed
}

// find returns the first tool whose name is exactly the call's, else the first
// whose form is.
func (x *nameIndex) find(name, form string) (int, bool) {
	for i := range x.tools {
		if x.tools[i].Name == name {
			return i, true
		}
	}
	if x.forms == nil {
		for i := range x.tools {
			x.forms = append(x.forms, x.rule.form(x.tools[i].Name))
		}
	}
	i := slices.Index(x.forms, form)
	return i, i >= 0
}

// NameCollisions returns the groups of tool names that differ and yet are one
// name under opt, such as add_mapping1 and add_mapping2. Calls of such tools
// cannot be told apart. Groups and names are sorted.
func NameCollisions(tools []qaoa.Tool, opt Options) [][]string {
	rule := opt.Resolved().Names
	byForm := make(map[string][]string)
	for _, t := range tools {
		form := rule.form(t.Name)
		if !slices.Contains(byForm[form], t.Name) {
			byForm[form] = append(byForm[form], t.Name)
		}
	}
	var groups [][]string
	for _, names := range byForm {
		if len(names) > 1 {
			slices.Sort(names)
			groups = append(groups, names)
		}
	}
	slices.SortFunc(groups, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return groups
}
