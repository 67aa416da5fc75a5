package raw

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assay/qaoa"
)

const (
	// sniffRows is how many rows after the header tell whether text is CSV.
	sniffRows = 8
	// maxName bounds the bytes of the name of a column where CSV is only
	// supposed: prose has longer pieces between its commas.
	maxName = 100
)

// separators are those that are tried, the usual one first.
const separators = ",\t;"

// A RaggedError is yielded in the place of a row of CSV that does not fit its
// header or that no text can hold. The stream goes on after it.
type RaggedError struct {
	Pos    qaoa.Pos
	Fields int // of the row
	Want   int // columns of the header
	// NUL is set if the row is rejected because it has a byte 0 in it.
	NUL bool
}

// Error returns the place and what is wrong.
func (e *RaggedError) Error() string {
	if e.NUL {
		return fmt.Sprintf("%s: the row holds a NUL byte, which no text has", e.Pos)
	}
	return fmt.Sprintf("%s: the row has %d fields, want %d as in the header", e.Pos, e.Fields, e.Want)
}

// A rowScanner finds where a record of CSV ends. The zero value but for the
// separator waits for the first byte of a record.
type rowScanner struct {
	sep   byte
	state rowState
}

// A rowState is what the byte before was.
type rowState uint8

const (
	fieldStart rowState = iota
	inField
	inQuotes
	afterQuote  // inside of quotes; the quote may end the field
	afterReturn // after such a quote and a carriage return
)

// scan reads p and returns how many of its bytes belong to the record, without
// the line break at its end, and whether it ends there.
func (s *rowScanner) scan(p []byte) (n int, done bool) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch s.state {
		case fieldStart, inField:
			switch {
			case c == '\n':
				return i, true
			case c == s.sep:
				s.state = fieldStart
			case c == '"' && s.state == fieldStart:
				s.state = inQuotes
			default:
				s.state = inField
			}
		case inQuotes:
			jump := bytes.IndexByte(p[i:], '"')
			if jump < 0 {
				return len(p), false
			}
			i += jump
			s.state = afterQuote
		case afterQuote:
			switch c {
			case '\n':
				return i, true
			case '\r':
				s.state = afterReturn
			case s.sep:
				s.state = fieldStart
			default: // an escaped quote, or one that stands in the text
				s.state = inQuotes
			}
		case afterReturn:
			if c == '\n' {
				return i, true
			}
			s.state = inQuotes
			i-- // the byte may be a quote
		}
	}
	return len(p), false
}

// open reports whether the record ends inside of quotes.
func (s *rowScanner) open() bool { return s.state == inQuotes }

// fields calls yield with each field of a record, which is valid until the
// next one. A quoted field may hold anything, "" in it is one quote, and a
// quote that neither ends it nor is escaped is taken as it is.
func fields(record []byte, sep byte, scratch []byte, yield func(field []byte)) []byte {
	record = bytes.TrimSuffix(record, []byte{'\r'})
	for {
		if len(record) == 0 || record[0] != '"' {
			field, rest, more := bytes.Cut(record, []byte{sep})
			yield(field)
			if !more {
				return scratch
			}
			record = rest
			continue
		}
		scratch = scratch[:0]
		record = record[1:]
		for ended := false; !ended; {
			at := bytes.IndexByte(record, '"')
			if at < 0 { // cut off
				yield(append(scratch, record...))
				return scratch
			}
			scratch = append(scratch, record[:at]...)
			record = record[at+1:]
			switch {
			case len(record) == 0 || record[0] == sep:
				ended = true
			case record[0] == '"':
				record = record[1:]
				fallthrough
			default:
				scratch = append(scratch, '"')
			}
		}
		yield(scratch)
		if len(record) == 0 {
			return scratch
		}
		record = record[1:]
	}
}

// sniff returns the separator of the CSV that text begins, if it is one by the
// rules of [Auto]; whole says that text is all there is.
func sniff(text []byte, whole bool) (sep byte, ok bool) {
	// What Markdown, a web page or JSON begins with begins no name of a column.
	if first := trimSpace(text); len(first) == 0 || strings.IndexByte("#-*>|`<{[", first[0]) >= 0 || bytes.IndexByte(text, 0) >= 0 {
		return 0, false
	}
	best, columns := 0, 0
	for i := range len(separators) {
		fit, n := fits(text, separators[i], whole)
		if fit > best || fit == best && n > columns {
			best, columns, sep, ok = fit, n, separators[i], true
		}
	}
	return sep, ok && best > 0
}

// fits returns how many of the first rows have as many fields as the header,
// or 0 if they are under a half or the header is none; and how many fields. A
// row that is too long to be seen whole fits.
func fits(text []byte, sep byte, whole bool) (fit, columns int) {
	rows := 0
	for rows <= sniffRows && len(text) > 0 {
		s := rowScanner{sep: sep}
		n, done := s.scan(text)
		record := text[:n]
		text = text[min(n+1, len(text)):]
		if len(bytes.TrimSuffix(record, []byte{'\r'})) == 0 {
			continue
		}
		if !done && !whole {
			if columns > 0 && rows <= 1 {
				fit++
			}
			break
		}
		count, good := 0, true
		fields(record, sep, nil, func(field []byte) {
			count++
			good = good && len(field) <= maxName && !bytes.ContainsAny(field, "{}[]\"\n\t")
		})
		switch {
		case rows == 0 && (!good || count < 2 || !utf8.Valid(record)):
			return 0, 0
		case rows == 0:
			columns = count
		case count == columns:
			fit++
		}
		rows++
	}
	if 2*fit < rows-1 {
		return 0, 0
	}
	return fit, columns
}

// A table makes elements of the records of CSV.
type table struct {
	sep     byte
	keys    [][]byte // the names of the columns as JSON with a colon, nil before the header
	buf     []byte
	scratch []byte
}

// header takes the names of the columns: without blanks around them, column_N
// for the N-th if it has none, and with _2, _3 … where a name was there before.
func (t *table) header(record []byte) {
	taken := map[string]bool{}
	t.scratch = fields(record, t.sep, t.scratch, func(field []byte) {
		name := strings.TrimSpace(string(field))
		if name == "" {
			name = fmt.Sprintf("column_%d", len(t.keys)+1)
		}
		unique := string(key(name))
		for n := 2; taken[unique]; n++ {
			unique = string(key(fmt.Sprintf("%s_%d", name, n)))
		}
		taken[unique] = true
		t.keys = append(t.keys, []byte(unique))
	})
}

// row makes the object of a record, and returns how many fields it has.
func (t *table) row(record []byte) int {
	n := 0
	t.buf = append(t.buf[:0], '{')
	t.scratch = fields(record, t.sep, t.scratch, func(field []byte) {
		if n++; n > len(t.keys) {
			return
		}
		if n > 1 {
			t.buf = append(t.buf, ',')
		}
		t.buf = appendText(append(t.buf, t.keys[n-1]...), field)
	})
	t.buf = append(t.buf, '}')
	return n
}

// csv yields the rows of the CSV at the cursor.
func (rd *reader) csv(ctx context.Context, sep byte) bool {
	t := &table{sep: sep}
	for rd.skipLineBreaks(ctx) {
		pos := rd.here()
		record, ended := rd.record(ctx, sep)
		switch {
		case !ended:
			return rd.finish(pos, "a field of this row opens with a quote that never closes")
		case t.keys != nil:
			if !rd.emitRow(ctx, t, pos, record) {
				return false
			}
		case record.tooLarge(rd.opt.MaxElement):
			return rd.fail(pos, fmt.Sprintf("the header has %d bytes, more than the limit of %d; is this CSV?", record.size, rd.opt.MaxElement), nil)
		case bytes.IndexByte(record.data, 0) >= 0:
			return rd.fail(pos, "the header holds a NUL byte, so the file is no text in UTF-8; convert it", nil)
		default:
			t.header(record.data)
		}
	}
	return rd.finish(rd.here(), "")
}

// sniff returns the separator of the CSV at that offset, or 0 if what is in the
// block is none. Blanks that were skipped from there to see what the text is
// may be empty fields of its header.
func (rd *reader) sniff(start int64) byte {
	sep, ok := sniff(rd.buf[max(start-rd.base, 0):rd.end], errors.Is(rd.err, io.EOF))
	if !ok {
		return 0
	}
	return sep
}

// csvFrom yields the rows of the CSV at that offset, where the text begins.
func (rd *reader) csvFrom(ctx context.Context, start int64) bool {
	rd.peek(ctx, func([]byte) bool { return false })
	sep := cmp.Or(rd.sniff(start), separators[0])
	if start >= rd.base {
		rd.pos, rd.line = int(start-rd.base), 1
	}
	return rd.csv(ctx, sep)
}

// skipLineBreaks moves the cursor over blank lines, and reports whether there
// is something after them. Other blanks may belong to a field.
func (rd *reader) skipLineBreaks(ctx context.Context) bool {
	for rd.more(ctx) {
		if c := rd.buf[rd.pos]; c != '\n' && c != '\r' {
			return true
		}
		rd.take(1)
	}
	return false
}

// record collects the record at the cursor, which is valid until the next one,
// and reports whether it is whole.
func (rd *reader) record(ctx context.Context, sep byte) (rec element, ended bool) {
	s := rowScanner{sep: sep}
	n, done := s.scan(rd.buf[rd.pos:rd.end])
	if done { // nothing need be copied
		if rec.size = int64(n); !rec.tooLarge(rd.opt.MaxElement) {
			rec.data = rd.buf[rd.pos : rd.pos+n]
		}
		rd.take(n)
		return rec, true
	}
	rec.add(rd.take(n), rd.opt.MaxElement)
	for rd.more(ctx) {
		n, done := s.scan(rd.buf[rd.pos:rd.end])
		rec.add(rd.take(n), rd.opt.MaxElement)
		if done {
			return rec, true
		}
	}
	return rec, !s.open() && errors.Is(rd.err, io.EOF)
}

// emitRow yields the row of a record, or why there is none.
func (rd *reader) emitRow(ctx context.Context, t *table, pos qaoa.Pos, record element) bool {
	if err := ctx.Err(); err != nil {
		rd.yield(Element{}, err)
		return false
	}
	rd.index++
	switch {
	case record.tooLarge(rd.opt.MaxElement):
		return rd.yield(Element{Pos: pos}, &TooLargeError{Pos: pos, Size: record.size, Limit: rd.opt.MaxElement})
	case bytes.IndexByte(record.data, 0) >= 0:
		return rd.yield(Element{Pos: pos}, &RaggedError{Pos: pos, Want: len(t.keys), NUL: true})
	}
	if n := t.row(record.data); n != len(t.keys) {
		return rd.yield(Element{Pos: pos}, &RaggedError{Pos: pos, Fields: n, Want: len(t.keys)})
	}
	return rd.yield(Element{Pos: pos, Data: bytes.Clone(t.buf)}, nil)
}
