package qaoa

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/goccy/go-json/jsontext"
)

// DecodeRecord reads one record in native form. Wrong types, missing or
// unknown members and text after the object are errors, of type *[Error] with
// the path of the culprit; what a record means is checked by [Validate].
func DecodeRecord(data []byte) (Record, error) {
	c := newCursor(data)
	var rec Record
	seen := struct{ id, turns bool }{}
	err := c.object(func(name string) (err error) {
		switch name {
		case "schema":
			err = c.schemaVersion()
		case "id":
			seen.id = true
			if rec.ID, err = c.str(); err == nil && rec.ID == "" {
				err = c.errorf("want an id, have an empty string")
			}
		case "source":
			rec.Source, err = c.source()
		case "tools":
			rec.Tools, err = c.tools()
		case "turns":
			seen.turns = true
			rec.Turns, err = c.turns(false)
		case "system":
			rec.System, err = c.optStr()
		case "meta":
			rec.Meta, err = c.optObject()
		default:
			err = c.unknown("schema, id, source, tools, turns, system or meta")
		}
		return err
	})
	switch {
	case err != nil:
		return Record{}, err
	case !seen.id:
		return Record{}, &Error{Msg: `want a member "id", have none`}
	case !seen.turns:
		return Record{}, &Error{Msg: `want a member "turns", have none`}
	case len(rec.Turns) == 0:
		return Record{}, &Error{Path: "/turns", Msg: "want at least one turn, have none"}
	}
	return rec, c.end()
}

// DecodePrediction reads one prediction line: "id", "turns" and, if there are
// several runs, "repeat". Members beyond those are ignored. A call whose text
// did not parse is {"raw": "…"}; any other value that is no call, null
// included, becomes such a call with its JSON text. Instead of "turns" a line
// may have "calls": the calls of one step of one turn.
func DecodePrediction(data []byte) (Prediction, error) {
	c := newCursor(data)
	var p Prediction
	seen := struct{ id, turns bool }{}
	err := c.object(func(name string) (err error) {
		switch name {
		case "id":
			seen.id = true
			if p.ID, err = c.str(); err == nil && p.ID == "" {
				err = c.errorf("want the id of a record, have an empty string")
			}
		case "repeat":
			p.Repeat, err = c.number()
		case "turns":
			seen.turns = true
			p.Turns, err = c.turns(true)
		case "calls":
			seen.turns = true
			var calls []Call
			if calls, err = c.calls(true); err == nil {
				p.Turns = []Turn{{Steps: oneStep(calls)}}
			}
		default:
			err = c.skip()
		}
		return err
	})
	switch {
	case err != nil:
		return Prediction{}, err
	case !seen.id:
		return Prediction{}, &Error{Msg: `want a member "id", have none`}
	case !seen.turns:
		return Prediction{}, &Error{Msg: `want a member "turns" (or "calls"), have none`}
	}
	return p, c.end()
}

func oneStep(calls []Call) []Step {
	if len(calls) == 0 {
		return nil
	}
	return []Step{{Calls: calls}}
}

// DecodeTool reads one tool in native form. Unknown members are ignored,
// since tool lists of others carry many; "inputSchema" is read as
// "parameters".
func DecodeTool(data []byte) (Tool, error) {
	c := newCursor(data)
	t, err := c.tool(true)
	if err != nil {
		return Tool{}, err
	}
	return t, c.end()
}

// DecodeTools reads a JSON array of tools, as [DecodeTool] does.
func DecodeTools(data []byte) ([]Tool, error) {
	c := newCursor(data)
	var tools []Tool
	err := c.array(func() error {
		t, err := c.tool(true)
		tools = append(tools, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tools, c.end()
}

// A cursor walks over one JSON text and knows where it is.
type cursor struct {
	dec *jsontext.Decoder
}

func newCursor(data []byte) *cursor {
	return &cursor{dec: jsontext.NewDecoder(bytes.NewBuffer(data), formatOptions...)}
}

// errorf returns an error at the value that was read last.
func (c *cursor) errorf(format string, args ...any) error {
	return &Error{Path: string(c.dec.StackPointer()), Msg: fmt.Sprintf(format, args...)}
}

func (c *cursor) unknown(want string) error {
	path := string(c.dec.StackPointer())
	return &Error{Path: path, Msg: "unknown member; want " + want}
}

func (c *cursor) syntax(err error) error {
	return &Error{Path: string(c.dec.StackPointer()), Msg: syntaxError(err).Error()}
}

// kindOf names the kind of a token or value of the library.
func kindOf(k jsontext.Kind) Kind {
	switch k {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '0':
		return Number
	case '[', ']':
		return Array
	case '{', '}':
		return Object
	}
	return Invalid
}

// token reads the next token, which must be of the kind that article and want
// name.
func (c *cursor) token(kind jsontext.Kind, want string) (jsontext.Token, error) {
	tok, err := c.dec.ReadToken()
	if err != nil {
		return tok, c.syntax(err)
	}
	if tok.Kind() != kind {
		return tok, c.errorf("want %s, have %s", want, describe(tok))
	}
	return tok, nil
}

// describe says what a token is, with its text if that is short.
func describe(tok jsontext.Token) string {
	switch k := tok.Kind(); k {
	case '"':
		return fmt.Sprintf("the string %.40q", tok.String())
	case '0':
		return fmt.Sprintf("the number %.40s", tok.String())
	case 'n':
		return "null"
	case 't', 'f':
		return tok.String()
	default:
		return "an " + kindOf(k).String()
	}
}

func (c *cursor) str() (string, error) {
	tok, err := c.token('"', "a string")
	if err != nil {
		return "", err
	}
	return tok.String(), nil
}

// optStr reads a string, or null as "".
func (c *cursor) optStr() (string, error) {
	if c.dec.PeekKind() == 'n' {
		return "", c.skip()
	}
	return c.str()
}

func (c *cursor) number() (int, error) {
	tok, err := c.token('0', "a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(tok.String())
	if err != nil || n < 0 {
		return 0, c.errorf("want a whole number of at least 0, have %.40s", tok.String())
	}
	return n, nil
}

func (c *cursor) skip() error {
	if err := c.dec.SkipValue(); err != nil {
		return c.syntax(err)
	}
	return nil
}

// json reads any value, in the project's form.
func (c *cursor) json() (JSON, error) {
	v, err := c.dec.ReadValue()
	if err != nil {
		return "", c.syntax(err)
	}
	j, err := Compact(v)
	if err != nil {
		return "", c.errorf("%v", err)
	}
	return j, nil
}

// optObject reads an object, or null as absent.
func (c *cursor) optObject() (JSON, error) {
	j, err := c.json()
	switch {
	case err != nil:
		return "", err
	case j.Kind() == Null:
		return "", nil
	case j.Kind() != Object:
		return "", c.errorf("want an object, have %.40s", j)
	}
	return j, nil
}

// object calls member for each member of an object, with the cursor before
// its value.
func (c *cursor) object(member func(name string) error) error {
	if _, err := c.token('{', "an object"); err != nil {
		return err
	}
	for c.dec.PeekKind() != '}' {
		name, err := c.dec.ReadToken()
		if err != nil {
			return c.syntax(err)
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return c.syntax(err)
	}
	return nil
}

// array calls item with the cursor before each item of an array.
func (c *cursor) array(item func() error) error {
	if _, err := c.token('[', "an array"); err != nil {
		return err
	}
	for c.dec.PeekKind() != ']' {
		if err := item(); err != nil {
			return err
		}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return c.syntax(err)
	}
	return nil
}

// end checks that nothing follows.
func (c *cursor) end() error {
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &Error{Msg: "want the end of the element, have more text after it"}
	}
	return nil
}

func (c *cursor) schemaVersion() error {
	s, err := c.str()
	if err == nil && s != Schema {
		err = c.errorf("want %q, have %.40q; this build reads no other version", Schema, s)
	}
	return err
}

func (c *cursor) source() (Source, error) {
	var s Source
	err := c.object(func(name string) (err error) {
		switch name {
		case "name":
			s.Name, err = c.str()
		case "file":
			s.File, err = c.str()
		case "index":
			s.Index, err = c.number()
		case "split":
			s.Split, err = c.str()
		default:
			err = c.unknown("name, file, index or split")
		}
		return err
	})
	return s, err
}

func (c *cursor) tools() ([]Tool, error) {
	var tools []Tool
	err := c.array(func() error {
		t, err := c.tool(false)
		tools = append(tools, t)
		return err
	})
	return tools, err
}

func (c *cursor) tool(foreign bool) (Tool, error) {
	var t Tool
	err := c.object(func(name string) (err error) {
		switch name {
		case "name":
			t.Name, err = c.str()
		case "description":
			t.Description, err = c.optStr()
		case "parameters":
			t.Parameters, err = c.optObject()
		case "category":
			t.Category, err = c.optStr()
		case "domain":
			t.Domain, err = c.optStr()
		case "origin":
			t.Origin, err = c.optStr()
		case "inputSchema", "input_schema":
			t.Parameters, err = c.optObject()
		default:
			if foreign {
				err = c.skip()
			} else {
				err = c.unknown("name, description, parameters, category, domain or origin")
			}
		}
		return err
	})
	return t, err
}

func (c *cursor) turns(predicted bool) ([]Turn, error) {
	turns := []Turn{}
	err := c.array(func() error {
		var t Turn
		query := false
		err := c.object(func(name string) (err error) {
			switch name {
			case "query":
				query = true
				t.Query, err = c.str()
			case "steps":
				t.Steps, err = c.steps(predicted)
			case "answer":
				t.Answer, err = c.optStr()
			default:
				if predicted {
					err = c.skip()
				} else {
					err = c.unknown("query, steps or answer")
				}
			}
			return err
		})
		if err == nil && !query && !predicted {
			err = c.errorf(`want a member "query", have none`)
		}
		turns = append(turns, t)
		return err
	})
	return turns, err
}

func (c *cursor) steps(predicted bool) ([]Step, error) {
	var steps []Step
	err := c.array(func() error {
		var s Step
		err := c.object(func(name string) (err error) {
			switch name {
			case "calls":
				s.Calls, err = c.calls(predicted)
			case "observations":
				s.Observations, err = c.observations()
			default:
				if predicted {
					err = c.skip()
				} else {
					err = c.unknown("calls or observations")
				}
			}
			return err
		})
		if err == nil && len(s.Calls) == 0 && !predicted {
			err = c.errorf("want at least one call in a step, have none")
		}
		steps = append(steps, s)
		return err
	})
	return steps, err
}

// observations reads an array of strings; nil if all are empty.
func (c *cursor) observations() ([]string, error) {
	if c.dec.PeekKind() == 'n' {
		return nil, c.skip()
	}
	var obs []string
	any := false
	err := c.array(func() error {
		s, err := c.str()
		obs = append(obs, s)
		any = any || s != ""
		return err
	})
	if !any {
		return nil, err
	}
	return obs, err
}

func (c *cursor) calls(predicted bool) ([]Call, error) {
	var calls []Call
	err := c.array(func() error {
		if predicted {
			j, err := c.json()
			calls = append(calls, ReadCall(j))
			return err
		}
		call, err := c.call()
		calls = append(calls, call)
		return err
	})
	return calls, err
}

func (c *cursor) call() (Call, error) {
	var call Call
	named := false
	err := c.object(func(name string) (err error) {
		switch name {
		case "name":
			named = true
			call.Name, err = c.str()
		case "arguments":
			call.Arguments, err = c.json()
		default:
			err = c.unknown("name or arguments")
		}
		return err
	})
	if err == nil && !named {
		err = c.errorf(`want a member "name" in a call, have none`)
	}
	return call, err
}

// ReadCall returns the call in j, where j comes from a model or a prediction
// file: {"name": string, "arguments": any}, where "parameters" is read as
// "arguments" if there are none, or {"raw": string} for a text that did not
// parse. Anything else is a call that did not parse, with j as its
// text.
func ReadCall(j JSON) Call {
	if j.Kind() == Object {
		v, err := j.Value()
		if err == nil {
			if raw, ok := v.Get("raw"); ok && raw.Kind == String {
				return Call{Raw: raw.Text}
			}
			if name, ok := v.Get("name"); ok && name.Kind == String {
				args, ok := v.Get("arguments")
				if !ok {
					args, _ = v.Get("parameters")
				}
				return Call{Name: name.Text, Arguments: args.JSON()}
			}
		}
	}
	return Call{Raw: string(j)}
}
