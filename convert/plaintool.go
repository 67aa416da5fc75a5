package convert

import (
	"strings"

	"assay/qaoa"
)

// A plainReader makes the tools of a text in one pass and without a tree, where
// they have the form that nearly all have. It gives up wherever [NormalizeTool]
// would have to think, and is tested to agree with it. What it makes of all
// tools of a list goes one behind the other into one buffer, which becomes one
// string.
type plainReader struct {
	c   qaoa.Cursor
	out []byte
	// flat says that parameters may also be a flat map of
	// {"type","description","default"}, where what is not optional is
	// required. Else they must be a JSON Schema that needs no change.
	flat  bool
	tools []plainPlace
	types map[string]typeText // what parameters of a flat map have as type
}

// A plainPlace says where in the buffer the pieces of a tool are.
type plainPlace struct{ name, description, parameters span }

// A span is a piece of a buffer.
type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

// tool returns the tool whose pieces are in text, the buffer as a string.
func (p plainPlace) tool(text string) qaoa.Tool {
	return qaoa.Tool{
		Name:        p.name.of(text),
		Description: p.description.of(text),
		Parameters:  qaoa.JSON(p.parameters.of(text)),
	}
}

// text reads a string into the buffer.
func (r *plainReader) text() span {
	from := len(r.out)
	r.out = r.c.AppendText(r.out)
	return span{from, len(r.out)}
}

// tool reads {"name","description","parameters"}, in OpenAI's wrapper, which is
// depth 0, or without. It makes the cursor fail if that is not what comes.
func (r *plainReader) tool(depth int) (p plainPlace) {
	c := &r.c
	var name, description, parameters, wrapped bool
	for c.Open('{'); c.More('}'); {
		twice := wrapped
		switch c.Key() {
		case "type":
			mark := c.Mark()
			if c.Text(); c.Since(mark) != `"function"` {
				c.Fail()
			}
			twice = false
		case "function":
			twice = name || description || parameters || wrapped || depth > 0
			wrapped = true
			if !twice {
				p = r.tool(depth + 1)
			}
		case "name":
			twice = twice || name
			name = true
			p.name = r.text()
		case "description":
			twice = twice || description
			description = true
			p.description = r.text()
		case "parameters":
			twice = twice || parameters
			parameters = true
			p.parameters = r.parameters()
		default:
			c.Fail()
		}
		if twice { // or a wrapper with members of a tool beside it
			c.Fail()
		}
	}
	if !wrapped && (!parameters || blank(r.out[p.name.from:p.name.to])) {
		c.Fail()
	}
	return p
}

// blank reports whether text is empty but for blanks.
func blank(text []byte) bool {
	// Nearly all names begin with a letter, which takes no search.
	return len(text) == 0 || (text[0] <= ' ' || text[0] >= 0x80) && strings.TrimSpace(string(text)) == ""
}

// parameters reads the parameters of a tool.
func (r *plainReader) parameters() span {
	from, mark := len(r.out), r.c.Mark()
	if r.flat {
		if r.flatMap(); r.c.OK() {
			return span{from, len(r.out)}
		}
		r.out = r.out[:from]
		r.c.Reset(mark)
	}
	r.schema(0)
	return span{from, len(r.out)}
}

// maxPlainDepth bounds the recursion.
const maxPlainDepth = 12

// schema copies a schema that normalizeAny leaves as it is. At depth 0 it must
// be one of an object, and gets an empty list of required parameters if it has
// none.
func (r *plainReader) schema(depth int) {
	c := &r.c
	if depth > maxPlainDepth {
		c.Fail()
		return
	}
	var required bool
	types, properties := 0, 0
	r.open('{')
	for first := true; c.More('}'); first = false {
		name := r.member(first)
		mark := c.Mark()
		switch name {
		case "type":
			types++
			r.value()
			if typ := c.Since(mark); !canonicalType(typ) || depth == 0 && typ != `"object"` {
				c.Fail()
			}
		case "properties":
			properties++
			r.schemas(depth)
		case "$defs", "definitions", "patternProperties":
			r.schemas(depth)
		case "required":
			if required {
				c.Fail()
			}
			required = true
			r.open('[')
			for first := true; c.More(']'); first = false {
				r.comma(first)
				if c.Peek() != '"' {
					c.Fail()
				}
				r.value()
			}
			r.out = append(r.out, ']')
		case "description":
			r.value()
			if depth > 0 && !plainDescription(c.Since(mark)) {
				c.Fail()
			}
		case "items", "additionalProperties", "not":
			r.schemaOrBool(depth)
		case "anyOf", "oneOf", "allOf":
			r.open('[')
			for first := true; c.More(']'); first = false {
				r.comma(first)
				r.schema(depth + 1)
			}
			r.out = append(r.out, ']')
		default:
			r.value()
		}
	}
	if depth == 0 {
		if types != 1 || properties != 1 {
			c.Fail()
		}
		if !required {
			r.out = append(r.out, `,"required":[]`...)
		}
	}
	r.out = append(r.out, '}')
}

// schemas copies an object of schemas.
func (r *plainReader) schemas(depth int) {
	r.open('{')
	for first := true; r.c.More('}'); first = false {
		r.member(first)
		r.schema(depth + 1)
	}
	r.out = append(r.out, '}')
}

func (r *plainReader) schemaOrBool(depth int) {
	if next := r.c.Peek(); next == 't' || next == 'f' {
		r.value()
		return
	}
	r.schema(depth + 1)
}

// plainDescription reports whether the raw text of a description is surely none
// that says that its parameter is required.
func plainDescription(raw string) bool {
	return !strings.HasPrefix(raw, `"Required.`) && !strings.Contains(raw[:min(len(raw), 16)], `\u`)
}

// open copies the beginning of a container.
func (r *plainReader) open(bracket byte) {
	r.c.Open(bracket)
	r.out = append(r.out, bracket)
}

// comma appends what stands between two children.
func (r *plainReader) comma(first bool) {
	if !first {
		r.out = append(r.out, ',')
	}
}

// member copies the name of a member and returns it.
func (r *plainReader) member(first bool) (name string) {
	r.comma(first)
	r.out, name = r.c.AppendKey(r.out)
	return name
}

// value copies a value.
func (r *plainReader) value() { r.out = r.c.AppendValue(r.out) }

// canonicalType reports whether raw is a type of JSON Schema.
func canonicalType(raw string) bool {
	switch raw {
	case `"string"`, `"integer"`, `"number"`, `"boolean"`, `"object"`, `"array"`, `"null"`:
		return true
	}
	return false
}

// flatMap makes the schema of a flat map of parameters, at least one.
func (r *plainReader) flatMap() {
	c := &r.c
	var room [16]string
	required := room[:0]
	c.Open('{')
	r.out = append(r.out, `{"type":"object","properties":{`...)
	first := true
	for ; c.More('}'); first = false {
		name := r.member(first)
		switch name {
		case "type", "properties", "required", "items", "default", "example", "additionalProperties", "$defs", "definitions", "dependencies":
			c.Fail() // may be a schema
		}
		if optional := r.flatParameter(); !optional {
			required = append(required, name)
		}
	}
	if first {
		c.Fail()
		return
	}
	r.out = append(r.out, `},"required":[`...)
	for i, name := range required {
		r.comma(i == 0)
		r.out = qaoa.AppendQuote(r.out, name)
	}
	r.out = append(r.out, "]}"...)
}

// flatParameter makes the schema of one parameter of a flat map.
func (r *plainReader) flatParameter() (optional bool) {
	c := &r.c
	r.open('{')
	start := len(r.out)
	var typ, description, def bool
	for c.More('}') {
		name := c.Key()
		mark := c.Mark()
		first := len(r.out) == start
		switch name {
		case "description":
			r.comma(first)
			r.out = append(r.out, `"description":`...)
			r.value()
			if text := c.Since(mark); description || text == "" || text[0] != '"' || !plainDescription(text) {
				c.Fail()
			}
			description = true
		case "default":
			r.comma(first)
			r.out = append(r.out, `"default":`...)
			r.value()
			if def {
				c.Fail()
			}
			def, optional = true, true
		case "type":
			if typ {
				c.Fail()
			}
			typ = true
			t := r.typeOf(c.Text())
			optional = optional || t.optional
			if t.members != "" {
				r.comma(first)
				r.out = append(r.out, t.members...)
			}
		default:
			c.Fail()
		}
	}
	r.out = append(r.out, '}')
	return optional
}

// A typeText is a type of a flat map as members of a schema, without the braces
// around them.
type typeText struct {
	members  string
	optional bool
}

// Bounds of the types that a plainReader remembers: corpora have a few dozen.
const (
	maxTypes     = 256
	maxTypeBytes = 64
)

// typeOf returns what a type means, see parseType.
func (r *plainReader) typeOf(word string) typeText {
	if t, ok := r.types[word]; ok {
		return t
	}
	parsed := parseType(word)
	t := typeText{string(appendMembers(nil, parsed.members())), parsed.optional}
	if len(word) <= maxTypeBytes && len(r.types) < maxTypes {
		if r.types == nil {
			r.types = map[string]typeText{}
		}
		r.types[strings.Clone(word)] = t
	}
	return t
}

// appendMembers appends members without the braces around them.
func appendMembers(dst []byte, members []qaoa.Member) []byte {
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(qaoa.AppendQuote(dst, m.Name), ':')
		dst = m.Value.Append(dst)
	}
	return dst
}
