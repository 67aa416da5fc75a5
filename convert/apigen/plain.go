package apigen

import (
	"strings"
	"unicode/utf8"

	"assay/convert"
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
// record. Such an element is valid JSON. Anything else is read again by those
// who know what is wrong with it.
func (c *converter) plain(el convert.Element) (qaoa.Record, bool) {
	r, _ := c.rows.Get().(*plainRow)
	if r == nil {
		r = new(plainRow)
	}
	r.answers, r.tools, r.out = r.answers[:0], r.tools[:0], r.out[:0]
	var rec qaoa.Record
	ok := false
	if el.Cells != nil {
		ok = r.cells(el.Cells, &rec)
	} else {
		ok = r.read(el.Data, &rec)
	}
	if ok = ok && r.record(&rec); ok {
		rec.Tools, ok = c.cache.PlainTools(r.tools)
	}
	if cap(r.answers)+cap(r.tools)+cap(r.rest)+cap(r.out) <= maxKept {
		c.rows.Put(r)
	}
	return rec, ok && c.terms.Check(rec) == nil
}

// cells reads the columns of a row of a table: the ID into rec, the query into
// r.out.
func (r *plainRow) cells(cells []convert.Cell, rec *qaoa.Record) bool {
	for _, f := range cells {
		null := !f.Text && string(f.Value) == "null"
		if !utf8.Valid(f.Value) {
			return false
		}
		switch f.Name {
		case "id":
			if rec.ID != "" || null {
				return false
			}
			rec.ID = string(f.Value)
		case "query":
			if len(r.out) > 0 || !f.Text {
				return false
			}
			r.out = append(r.out, f.Value...)
		case "answers":
			if len(r.answers) > 0 || !f.Text {
				return false
			}
			r.answers = append(r.answers, f.Value...)
		case "tools":
			if len(r.tools) > 0 || !f.Text {
				return false
			}
			r.tools = append(r.tools, f.Value...)
		case "origin": // is kept, but most files have none
			return false
		}
	}
	return true
}

// read reads the columns of an object, as cells does.
func (r *plainRow) read(data []byte, rec *qaoa.Record) bool {
	if !utf8.Valid(data) {
		return false
	}
	c := qaoa.CursorOf(data)
	for c.Open('{'); c.More('}'); {
		switch c.Key() {
		case "id":
			if rec.ID != "" || !readID(&c, &rec.ID) {
				return false
			}
		case "query":
			if len(r.out) > 0 {
				return false
			}
			r.out = c.AppendText(r.out)
		case "answers":
			if len(r.answers) > 0 {
				return false
			}
			r.answers = appendList(r.answers, &c)
		case "tools":
			if len(r.tools) > 0 {
				return false
			}
			r.tools = appendList(r.tools, &c)
		case "origin":
			return false
		default:
			r.rest = c.AppendValue(r.rest[:0])
		}
	}
	return c.Done()
}

// record completes the record of a row that was read, but for its tools, whose
// text is in r.tools.
func (r *plainRow) record(rec *qaoa.Record) bool {
	query := len(r.out)
	if !r.readCalls() {
		return false
	}
	text := string(r.out)
	if strings.TrimSpace(text[:query]) == "" {
		return false
	}
	calls := make([]qaoa.Call, len(r.calls))
	for i, p := range r.calls {
		calls[i] = qaoa.Call{Name: text[p.name:p.arguments], Arguments: qaoa.JSON(text[p.arguments:p.end])}
	}
	rec.Turns = []qaoa.Turn{{Query: text[:query], Steps: []qaoa.Step{{Calls: calls}}}}
	return true
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
