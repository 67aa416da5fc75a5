package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"assay/qaoa"
)

const (
	// maxYAMLNesting is how deep a YAML text may nest. The parser calls itself
	// for each level and keeps the path of each node, and a document of an
	// interface has some twenty levels.
	maxYAMLNesting = 500
	// maxYAML is how many bytes a document may have as YAML: the parser takes
	// some forty times as much memory, and a second for each megabyte.
	maxYAML = 24 << 20
	// maxFlow is how many bytes it may have if it begins like JSON and is none.
	maxFlow = 1 << 20
	// maxAliased is how many values aliases may bring into a document. Nine
	// aliases of nine aliases of nine … bring more.
	maxAliased = 300_000
)

// parse returns the tree of a document in JSON or YAML.
func parse(data []byte) (qaoa.Value, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		v, err := qaoa.ParseValue(data)
		if err == nil {
			return v, nil
		}
		// A flow mapping of YAML begins alike, but nobody writes a whole
		// document as one: the fault in the JSON is what the user wants.
		if len(data) <= maxFlow {
			if v, yerr := parseYAML(data); yerr == nil {
				return v, nil
			}
		}
		return qaoa.Value{}, fmt.Errorf("no JSON: %w", err)
	}
	if len(data) > maxYAML {
		return qaoa.Value{}, fmt.Errorf("want at most %d bytes of YAML, have %d: convert it to JSON first", maxYAML, len(data))
	}
	v, err := parseYAML(data)
	if err != nil {
		return qaoa.Value{}, fmt.Errorf("no YAML: %w", err)
	}
	return v, nil
}

// parseYAML returns the tree of the first document in data that is not empty.
func parseYAML(data []byte) (v qaoa.Value, err error) {
	if err := checkNesting(data); err != nil {
		return qaoa.Value{}, err
	}
	defer func() {
		// The parser of the library is written for the files of friends, and
		// some texts of strangers make it panic.
		if fault := recover(); fault != nil {
			v, err = qaoa.Value{}, fmt.Errorf("the parser gave up: %v", fault)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return qaoa.Value{}, errors.New(firstLine(err.Error()))
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		c := yamlConverter{anchors: map[string]ast.Node{}, open: map[ast.Node]bool{}}
		v := c.value(doc.Body, 0)
		return v, c.err
	}
	return qaoa.Value{}, errors.New("want a document, have none")
}

// checkNesting looks for texts that nest deeper than the parser can take. It
// counts brackets, those in strings too, and the signs of collections that
// begin on one line: what it finds may be less deep, but never deeper.
func checkNesting(data []byte) error {
	depth, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
		signs := 0
		for i, b := range line {
			switch b {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			case '-', '?', ':', '&', '!', '*', '|', '>':
				if i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t' || line[i+1] == '\n' {
					signs++
				}
			}
			if depth > maxYAMLNesting {
				return fmt.Errorf("line %d: want at most %d levels of brackets, have more", number, maxYAMLNesting)
			}
		}
		lead := bytes.TrimLeft(line, " \t-?!&")
		if indent := len(line) - len(lead); indent > 4*maxYAMLNesting || signs > 2*maxYAMLNesting {
			return fmt.Errorf("line %d: want at most %d levels of indentation and collections, have more", number, maxYAMLNesting)
		}
	}
	return nil
}

// A yamlConverter makes the tree of a YAML document.
type yamlConverter struct {
	anchors map[string]ast.Node
	open    map[ast.Node]bool // anchors whose aliases are being put in place
	aliased int               // values that aliases brought
	err     error
}

// fail keeps the first fault.
func (c *yamlConverter) fail(n ast.Node, format string, args ...any) qaoa.Value {
	if c.err == nil {
		line := 0
		if tok := n.GetToken(); tok != nil && tok.Position != nil {
			line = tok.Position.Line
		}
		c.err = fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
	return qaoa.NullValue()
}

// value returns the tree of n.
func (c *yamlConverter) value(n ast.Node, depth int) qaoa.Value {
	if len(c.open) > 0 {
		c.aliased++
	}
	switch {
	case c.err != nil:
		return qaoa.NullValue()
	case n == nil:
		return qaoa.NullValue()
	case c.aliased > maxAliased:
		return c.fail(n, "want at most %d values from aliases, have more", maxAliased)
	case depth > 2*maxYAMLNesting:
		return c.fail(n, "want at most %d levels with all aliases in place, have more", 2*maxYAMLNesting)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		v := qaoa.ArrayValue()
		for _, item := range n.Values {
			v.Items = append(v.Items, c.value(item, depth+1))
		}
		return v
	case *ast.AnchorNode:
		if n.Name != nil {
			c.anchors[n.Name.GetToken().Value] = n.Value
		}
		return c.value(n.Value, depth)
	case *ast.AliasNode:
		return c.alias(n, depth)
	case *ast.TagNode:
		if n.Start != nil && n.Start.Value == "!!str" && n.Value != nil {
			if tok := n.Value.GetToken(); tok != nil {
				return qaoa.StringValue(tok.Value)
			}
		}
		return c.value(n.Value, depth)
	case *ast.StringNode:
		if n.Token != nil && n.Token.Type == token.StringType && isNumber(n.Value) {
			return qaoa.NumberValue(n.Value) // 1e3, which the parser takes for a text
		}
		return qaoa.StringValue(n.Value)
	case *ast.LiteralNode:
		if n.Value == nil {
			return qaoa.StringValue("")
		}
		return qaoa.StringValue(n.Value.Value)
	case *ast.BoolNode:
		return qaoa.BoolValue(n.Value)
	case *ast.IntegerNode:
		return integer(n)
	case *ast.FloatNode:
		return float(n)
	case *ast.NullNode:
		return qaoa.NullValue()
	default: // infinity and NaN: JSON has none
		return qaoa.StringValue(n.GetToken().Value)
	}
}

// mapping returns the object of members. What a merge key (<<) brings comes
// first, and the members of the mapping itself replace it.
func (c *yamlConverter) mapping(members []*ast.MappingValueNode, depth int) qaoa.Value {
	v := qaoa.ObjectValue()
	merged := 0 // how many members come from merge keys
	for _, m := range members {
		if m.Key != nil && m.Key.IsMergeKey() {
			for _, from := range sources(c.value(m.Value, depth+1)) {
				for _, member := range from.Members {
					if _, there := v.Get(member.Name); !there {
						v.Members = append(v.Members, member)
					}
				}
			}
			merged = len(v.Members)
			continue
		}
		name := c.key(m.Key)
		value := c.value(m.Value, depth+1)
		if merged > 0 {
			if i := indexOf(v.Members[:merged], name); i >= 0 {
				v.Members[i].Value = value
				continue
			}
		}
		v.Members = append(v.Members, qaoa.Member{Name: name, Value: value})
	}
	return v
}

// sources returns the mappings that a merge key names.
func sources(v qaoa.Value) []qaoa.Value {
	if v.Kind == qaoa.Array {
		return v.Items
	}
	return []qaoa.Value{v}
}

// key returns the name that a key is in JSON: the text of a scalar, so that the
// code of a response, 200, is "200".
func (c *yamlConverter) key(n ast.MapKeyNode) string {
	switch n := n.(type) {
	case nil:
		return ""
	case *ast.StringNode:
		return n.Value
	case *ast.MappingKeyNode:
		return c.value(n.Value, 0).JSON().Text()
	}
	if tok := n.GetToken(); tok != nil {
		return tok.Value
	}
	return ""
}

// alias returns what the anchor of n stands at.
func (c *yamlConverter) alias(n *ast.AliasNode, depth int) qaoa.Value {
	name := ""
	if n.Value != nil {
		name = n.Value.GetToken().Value
	}
	target, ok := c.anchors[name]
	switch {
	case !ok:
		return c.fail(n, "want an anchor &%.60s before its alias, have none", name)
	case c.open[target]:
		return c.fail(n, "want an alias of something else, have *%.60s inside of its own anchor", name)
	}
	c.open[target] = true
	v := c.value(target, depth)
	delete(c.open, target)
	return v
}

// integer returns the JSON number of n: its text if that is one.
func integer(n *ast.IntegerNode) qaoa.Value {
	text := n.Token.Value
	if isNumber(text) {
		return qaoa.NumberValue(text)
	}
	if i, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+"), 0); ok {
		return qaoa.NumberValue(i.String())
	}
	return qaoa.StringValue(text)
}

// float returns the JSON number of n: its text if that is one.
func float(n *ast.FloatNode) qaoa.Value {
	text := n.Token.Value
	if isNumber(text) {
		return qaoa.NumberValue(text)
	}
	if short := strconv.FormatFloat(n.Value, 'g', -1, 64); isNumber(short) {
		return qaoa.NumberValue(short)
	}
	return qaoa.StringValue(text)
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	v, err := qaoa.ParseValue(text)
	return err == nil && v.Kind == qaoa.Number && v.Text == text
}

// indexOf returns the index of the last member with that name, -1 if there is
// none.
func indexOf(members []qaoa.Member, name string) int {
	for i, m := range slices.Backward(members) {
		if m.Name == name {
			return i
		}
	}
	return -1
}

// firstLine returns the first line of text: behind it the parser shows a piece
// of the document.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
