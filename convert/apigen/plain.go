package apigen

import (
	"strings"
	"unicode/utf8"

	"assay/qaoa"
)

// A plainRow reads an element in the form that nearly all have, in one pass and
// without a tree. Its buffers are used again for the next one.
type plainRow struct {
	answers, tools []byte // the texts of these columns
	rest           []byte // what is only checked
	// out has the query, the names and the arguments one behind the other.
	out   []byte
	calls []place
}

// A place says where in a buffer the name and the arguments of a call are: one
// behind the other.
type place struct{ name, arguments, end int }

// maxKept bounds the bytes of the buffers that are kept.
const maxKept = 1 << 20

// plain returns the record of an element, if it has the usual form and makes a
// record. Such an element is valid JSON. Anything else is read again by those who know what is wrong with it.
func (c *converter) plain(data []byte) (qaoa.Record, bool) {
	r, _ := c.rows.Get().(*plainRow)
	if r == nil {
		r = new(plainRow)
	}
	rec, ok := r.read(data)
	if ok {
		rec.Tools, ok = c.cache.PlainTools(r.tools)
	}
	if cap(r.answers)+cap(r.tools)+cap(r.rest)+cap(r.out) <= maxKept {
		c.rows.Put(r)
	}
	return rec, ok && c.check(rec) == nil
}

// read returns the record without its tools, whose text is in r.tools then.
func (r *plainRow) read(data []byte) (rec qaoa.Record, ok bool) {
	if !utf8.Valid(data) {
		return rec, false
	}
	r.answers, r.tools, r.out = r.answers[:0], r.tools[:0], r.out[:0]
	query := 0
	c := qaoa.CursorOf(data)
	for c.Open('{'); c.More('}'); {
		switch c.Key() {
		case "id":
			if rec.ID != "" || !readID(&c, &rec.ID) {
				return rec, false
			}
		case "query":
			if query > 0 {
				return rec, false
			}
			r.out = c.AppendText(r.out)
			query = len(r.out)
		case "answers":
			if len(r.answers) > 0 {
				return rec, false
			}
			r.answers = appendList(r.answers, &c)
		case "tools":
			if len(r.tools) > 0 {
				return rec, false
			}
			r.tools = appendList(r.tools, &c)
		case "origin": // is kept, but most files have none
			return rec, false
		default:
			r.rest = c.AppendValue(r.rest[:0])
		}
	}
	if !c.Done() || !r.readCalls() {
		return rec, false
	}
	text := string(r.out)
	if strings.TrimSpace(text[:query]) == "" {
		return rec, false
	}
	calls := make([]qaoa.Call, len(r.calls))
	for i, p := range r.calls {
		calls[i] = qaoa.Call{Name: text[p.name:p.arguments], Arguments: qaoa.JSON(text[p.arguments:p.end])}
	}
	rec.Turns = []qaoa.Turn{{Query: text[:query], Steps: []qaoa.Step{{Calls: calls}}}}
	return rec, true
}

// readID reads the id of an element, a number or a string.
func readID(c *qaoa.Cursor, id *string) bool {
	switch kind := c.Peek(); {
	case kind == '"':
		*id = strings.Clone(c.Text())
	case kind == '-', kind >= '0' && kind <= '9':
		*id = string(c.AppendValue(nil))
	default:
		return false
	}
	return true
}

// appendList appends the text of a list, which is a list itself or a string
// that holds one.
func appendList(dst []byte, c *qaoa.Cursor) []byte {
	if c.Peek() == '[' {
		return c.AppendValue(dst)
	}
	return c.AppendText(dst)
}

// readCalls reads the column answers: an array of objects of a name and
// arguments, which are an object. It reports whether it is one, with at least
// one call.
func (r *plainRow) readCalls() bool {
	r.calls = r.calls[:0]
	c := qaoa.CursorOf(r.answers)
	for c.Open('['); c.More(']'); {
		p := place{name: len(r.out)}
		for c.Open('{'); c.More('}'); {
			// In this order, so that the two are one behind the other.
			switch key := c.Key(); {
			case key == "name" && p.arguments == 0:
				r.out = c.AppendText(r.out)
				p.arguments = len(r.out)
			case key == "arguments" && p.arguments > 0 && p.end == 0 && c.Peek() == '{':
				r.out = c.AppendValue(r.out)
				p.end = len(r.out)
			default:
				return false
			}
		}
		if p.end == 0 || strings.TrimSpace(string(r.out[p.name:p.arguments])) == "" {
			return false
		}
		r.calls = append(r.calls, p)
	}
	return c.Done() && len(r.calls) > 0
}
