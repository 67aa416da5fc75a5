package raw

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A shape is how a node of a Parquet schema becomes JSON.
type shape int

const (
	scalar shape = iota
	object       // a struct
	list
	dictionary // a map; the name is that of JSON libraries
)

// A node is a value of a row: a column, or what holds columns together.
//
// Rows are stored as columns of values with two levels each. The definition
// level says how many of the optional and repeated nodes on the way to the
// column are there; the repetition level says which list the value goes on, 0
// being a new row. A node that is missing has one placeholder in every column
// below it.
type node struct {
	shape    shape
	key      []byte // the name as a JSON string with a colon
	optional bool
	def      byte // level from which on the node is there
	// repDef and rep are, for lists and maps, the definition level of a list
	// that is not empty and the repetition level of its further elements.
	repDef, rep byte
	children    []*node      // members; the element of a list; key and value of a map
	columns     []*column    // below the node, at least one
	kind        parquet.Kind // of a scalar
	write       writer       // of a scalar
	text        bool         // a scalar that is annotated as text
}

// A schemaReader walks the elements of a schema, which list the tree depth
// first.
type schemaReader struct {
	elements []format.SchemaElement
	next     int
	columns  []*column // made so far, in the order of the file
}

// readSchema returns the root of the rows of a file with those elements, and
// its columns in the order of the file. The library has checked that the
// elements are a tree.
func readSchema(elements []format.SchemaElement) (*node, []*column) {
	s := &schemaReader{elements: elements}
	root := s.take()
	return s.group(root, 0, 0), s.columns
}

func (s *schemaReader) take() *format.SchemaElement {
	e := &s.elements[s.next]
	s.next++
	return e
}

// node reads a node below one with those levels.
func (s *schemaReader) node(rep, def byte) *node {
	e := s.take()
	switch e.RepetitionType.V {
	case format.Optional:
		n := s.body(e, rep, def+1)
		n.optional, n.def = true, def+1
		return n
	case format.Repeated:
		// A repeated node that no list holds is a list of its own.
		n := &node{shape: list, key: key(e.Name), def: def, repDef: def + 1, rep: rep + 1}
		return n.with(s.body(e, rep+1, def+1))
	}
	return s.body(e, rep, def)
}

// body reads what e holds, e itself having been counted in the levels.
func (s *schemaReader) body(e *format.SchemaElement, rep, def byte) *node {
	if e.Type.Valid {
		c := &column{index: len(s.columns), name: e.Name, maxDef: def}
		s.columns = append(s.columns, c)
		return &node{key: key(e.Name), def: def, columns: []*column{c}, kind: parquet.Kind(e.Type.V), write: writerOf(e), text: isText(e)}
	}
	if e.NumChildren.V == 1 && s.next < len(s.elements) && s.elements[s.next].RepetitionType.V == format.Repeated {
		switch {
		case isList(e):
			return s.list(e, rep, def)
		case isMap(e):
			return s.mapping(e, rep, def)
		}
	}
	return s.group(e, rep, def)
}

// group reads a struct.
func (s *schemaReader) group(e *format.SchemaElement, rep, def byte) *node {
	n := &node{shape: object, key: key(e.Name), def: def}
	for range e.NumChildren.V {
		n.with(s.node(rep, def))
	}
	return n
}

// list reads what is below e, which is annotated as a list. The usual list has
// three levels: e, a repeated group, and the element in it, whatever the two
// are called. In lists of two levels, which old writers make, the repeated node
// is the element itself: one that is no group, has several members or is a list
// or map again, or is called array or <list>_tuple.
func (s *schemaReader) list(e *format.SchemaElement, rep, def byte) *node {
	n := &node{shape: list, key: key(e.Name), def: def, repDef: def + 1, rep: rep + 1}
	r := s.take()
	if r.Type.Valid || r.NumChildren.V != 1 || isList(r) || isMap(r) || r.Name == "array" || r.Name == e.Name+"_tuple" {
		return n.with(s.body(r, rep+1, def+1))
	}
	return n.with(s.node(rep+1, def+1))
}

// mapping reads what is below e, which is annotated as a map: a repeated group
// of key and value. Anything else becomes a list of what is repeated.
func (s *schemaReader) mapping(e *format.SchemaElement, rep, def byte) *node {
	n := &node{shape: list, key: key(e.Name), def: def, repDef: def + 1, rep: rep + 1}
	r := s.take()
	if r.Type.Valid || r.NumChildren.V != 2 {
		return n.with(s.body(r, rep+1, def+1))
	}
	n.shape = dictionary
	n.with(s.node(rep+1, def+1))
	return n.with(s.node(rep+1, def+1))
}

// with adds a child. One without any column, which the format forbids, holds
// nothing and is left out.
func (n *node) with(child *node) *node {
	if len(child.columns) == 0 {
		return n
	}
	n.children = append(n.children, child)
	n.columns = append(n.columns, child.columns...)
	return n
}

// key returns name as the beginning of a member of an object.
func key(name string) []byte { return append(qaoa.AppendQuote(nil, name), ':') }

// isText reports whether e holds text and says so.
func isText(e *format.SchemaElement) bool {
	switch e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return parquet.Kind(e.Type.V) == parquet.ByteArray
	case nil:
		return e.ConvertedType.Valid && e.ConvertedType.V == deprecated.UTF8 && parquet.Kind(e.Type.V) == parquet.ByteArray
	}
	return false
}

// flat reports whether all children of n hold single values.
func (n *node) flat() bool {
	return !slices.ContainsFunc(n.children, func(c *node) bool { return c.shape != scalar })
}

func isList(e *format.SchemaElement) bool {
	if _, ok := e.LogicalType.Value.(*format.ListType); ok {
		return true
	}
	return e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

func isMap(e *format.SchemaElement) bool {
	if _, ok := e.LogicalType.Value.(*format.MapType); ok {
		return true
	}
	return e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

// project leaves only those children of the root that want names, in the order
// of the file; see Options.Columns for its form. All are left if want is empty.
func (n *node) project(want []string) error {
	if len(want) == 0 {
		return nil
	}
	var have []string
	byKey := map[string]bool{}
	for _, c := range n.children {
		byKey[string(c.key)] = true
		have = append(have, strings.TrimSuffix(string(c.key), ":"))
	}
	keep := map[string]bool{}
	for _, entry := range want {
		names, optional := strings.CutSuffix(entry, "?")
		found := false
		for name := range strings.SplitSeq(names, "|") {
			if k := string(key(name)); byKey[k] {
				keep[k], found = true, true
			}
		}
		if !found && !optional {
			return fmt.Errorf("want a column %s, have only the columns %s; is this a file of that source?",
				strings.Join(strings.Split(names, "|"), " or "), shorten(have))
		}
	}
	n.children = slices.DeleteFunc(n.children, func(c *node) bool { return !keep[string(c.key)] })
	n.columns = nil
	for _, c := range n.children {
		n.columns = append(n.columns, c.columns...)
	}
	return nil
}

// shorten joins names, at most twenty.
func shorten(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
