package raw

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// batchValues is how many values of a column are looked at together. They
// point into the page, so they cost only 24 bytes each.
const batchValues = 128

// A column reads the values of one column in a row group.
type column struct {
	index  int // in the file
	name   string
	maxDef byte // definition level of a value that is not null

	guard  pageGuard
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    []parquet.Value
	pos    int
	err    error // why there are no more values, io.EOF at the end
}

// open begins a row group.
func (c *column) open(chunk parquet.ColumnChunk, guard pageGuard) {
	c.close()
	c.guard = guard
	if c.buf == nil {
		c.buf = make([]parquet.Value, 0, batchValues)
	}
	c.pages, c.err = chunk.Pages(), nil
}

// close gives back what is held.
func (c *column) close() {
	c.release()
	if c.pages != nil {
		_ = c.pages.Close() // it was only read
	}
	c.pages, c.buf, c.pos = nil, c.buf[:0], 0
}

func (c *column) release() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.values = nil, nil
}

// peek returns the next value, or nil if there is none.
func (c *column) peek() *parquet.Value {
	if c.pos == len(c.buf) && !c.fill() {
		return nil
	}
	return &c.buf[c.pos]
}

// fill reads more values.
func (c *column) fill() bool {
	for c.err == nil {
		if c.values != nil {
			n, err := c.values.ReadValues(c.buf[:cap(c.buf)])
			c.buf, c.pos = c.buf[:n], 0
			if err != nil && !errors.Is(err, io.EOF) {
				c.err = err
			}
			if n > 0 {
				return true
			}
			if err == nil {
				c.err = io.ErrNoProgress
				break
			}
			if c.err != nil {
				break
			}
			c.release()
		}
		if c.err = c.guard.next(); c.err != nil {
			break
		}
		if c.page, c.err = c.pages.ReadPage(); c.err == nil {
			c.values = c.page.Values()
		}
	}
	c.buf, c.pos = c.buf[:0], 0
	return false
}

// A columnError says what is wrong with a column.
type columnError struct {
	column string
	msg    string
	err    error
}

func (e *columnError) Error() string {
	s := fmt.Sprintf("column %q %s", e.column, e.msg)
	if e.err != nil {
		s += ": " + e.err.Error()
	}
	return s
}

func (e *columnError) Unwrap() error { return e.err }

// ended returns why a value that must be there is not.
func (c *column) ended() error {
	if errors.Is(c.err, io.EOF) {
		return &columnError{column: c.name, msg: "ends before its last row"}
	}
	return &columnError{column: c.name, msg: "cannot be read", err: c.err}
}

// A rowWriter writes rows as JSON. Once a row is larger than the limit, its
// text is thrown away as it is made, and only its size is counted.
type rowWriter struct {
	buf     []byte
	dropped int64 // bytes of the row that were thrown away
	limit   int64
	// cells hold the row instead, where that is wanted and it fits.
	cells   []Cell
	asCells bool
}

// fits reports whether the text of the next row, in which there are only single
// values, is not longer than the limit.
func (w *rowWriter) fits(root *node) bool {
	size := int64(0)
	for _, n := range root.children {
		if v := n.columns[0].peek(); v != nil && n.text && v.Kind() == n.kind {
			size += int64(len(v.ByteArray()))
		}
	}
	return size <= w.limit
}

// values sets the cells to the next row.
func (w *rowWriter) values(root *node) error {
	for i, n := range root.children {
		f, c := &w.cells[i], n.columns[0]
		v := c.peek()
		switch {
		case v == nil:
			return c.ended()
		case !v.IsNull() && v.Kind() != n.kind:
			return n.wrongKind(v)
		}
		if f.Text = n.text && !v.IsNull(); f.Text {
			f.Value = v.ByteArray()
		} else {
			from := len(w.buf)
			if v.IsNull() {
				w.buf = append(w.buf, "null"...)
			} else {
				w.buf = n.write(w.buf, v)
			}
			// It stays where it is when the buffer grows.
			f.Value = w.buf[from:len(w.buf):len(w.buf)]
		}
		c.pos++
	}
	return nil
}

// wrongKind returns the fault of a hostile annotation.
func (n *node) wrongKind(v *parquet.Value) error {
	return &columnError{column: n.columns[0].name, msg: fmt.Sprintf("holds values of type %v, want %v", v.Kind(), n.kind)}
}

// row appends the next row.
func (w *rowWriter) row(root *node) error {
	w.buf, w.dropped = w.buf[:0], 0
	if w.asCells = w.cells != nil && w.fits(root); w.asCells {
		return w.values(root)
	}
	for _, c := range root.columns {
		if v := c.peek(); v != nil && v.RepetitionLevel() != 0 {
			return &columnError{column: c.name, msg: "begins a row in the middle of a list"}
		}
	}
	if err := w.members(root); err != nil {
		return err
	}
	for _, c := range root.columns {
		if v := c.peek(); v != nil && v.RepetitionLevel() != 0 {
			return &columnError{column: c.name, msg: "has more elements than its neighbours"}
		}
	}
	return nil
}

// size returns the bytes of the row.
func (w *rowWriter) size() int64 { return w.dropped + int64(len(w.buf)) }

// bound throws the text away if it is too large.
func (w *rowWriter) bound() {
	if w.dropped > 0 || int64(len(w.buf)) > w.limit {
		w.dropped += int64(len(w.buf))
		w.buf = w.buf[:0]
	}
}

// node writes the next value of n.
func (w *rowWriter) node(n *node) error {
	first := n.columns[0]
	v := first.peek()
	if v == nil {
		return first.ended()
	}
	def := byte(v.DefinitionLevel())
	if n.optional && def < n.def {
		w.buf = append(w.buf, "null"...)
		return skip(n)
	}
	switch n.shape {
	case object:
		return w.members(n)
	case list, dictionary:
		if def < n.repDef {
			if n.shape == list {
				w.buf = append(w.buf, "[]"...)
			} else {
				w.buf = append(w.buf, "{}"...)
			}
			return skip(n)
		}
		return w.repeated(n)
	}
	switch {
	case v.IsNull():
		w.buf = append(w.buf, "null"...)
	case v.Kind() != n.kind:
		return n.wrongKind(v)
	default:
		w.buf = n.write(w.buf, v)
	}
	first.pos++
	w.bound()
	return nil
}

// members writes the members of a struct.
func (w *rowWriter) members(n *node) error {
	w.buf = append(w.buf, '{')
	for i, child := range n.children {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, child.key...)
		if err := w.node(child); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, '}')
	return nil
}

// repeated writes a list or map that is not empty.
func (w *rowWriter) repeated(n *node) error {
	brackets := "[]"
	if n.shape == dictionary {
		brackets = "{}"
	}
	w.buf = append(w.buf, brackets[0])
	for first := true; ; first = false {
		if !first {
			w.buf = append(w.buf, ',')
		}
		if err := w.element(n); err != nil {
			return err
		}
		v := n.columns[0].peek()
		if v == nil && !errors.Is(n.columns[0].err, io.EOF) {
			return n.columns[0].ended()
		}
		if v == nil || byte(v.RepetitionLevel()) != n.rep {
			break
		}
	}
	w.buf = append(w.buf, brackets[1])
	return nil
}

// element writes one element of a list, or one member of a map.
func (w *rowWriter) element(n *node) error {
	if n.shape == list {
		return w.node(n.children[0])
	}
	if err := w.name(n.children[0]); err != nil {
		return err
	}
	w.buf = append(w.buf, ':')
	return w.node(n.children[1])
}

// name writes the next value of n as the name of a member: the value itself
// where it is text, else its JSON as text.
func (w *rowWriter) name(n *node) error {
	sub := rowWriter{limit: w.limit}
	if err := sub.node(n); err != nil {
		return err
	}
	if len(sub.buf) > 0 && sub.buf[0] == '"' {
		w.buf = append(w.buf, sub.buf...)
	} else {
		w.buf = appendText(w.buf, sub.buf)
	}
	w.dropped += sub.dropped
	w.bound()
	return nil
}

// skip passes over the placeholders of a node that is missing.
func skip(n *node) error {
	for _, c := range n.columns {
		if c.peek() == nil {
			return c.ended()
		}
		c.pos++
	}
	return nil
}
