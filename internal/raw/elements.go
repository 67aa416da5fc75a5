package raw

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"assay/qaoa"
)

// A Layout is how the elements of a file are held together.
type Layout int

const (
	// Auto tells the layout by content:
	//
	//   - [ begins an array of elements; or JSON lines that are arrays, when
	//     the first line is a whole array and a second one follows (as far as
	//     the first 256 KiB show).
	//   - { begins JSON lines when the first line is a whole object, or when
	//     at least half of the first eight lines are, so that a broken first
	//     line costs only itself. Else objects follow each other with or
	//     without blanks between them, each on any number of lines.
	//   - A single object is an object map when it has at least two members,
	//     all of them objects and none called as the fields of records are
	//     (id, query, messages …); else it is one element.
	//   - Anything else is CSV when its first record has at least two fields
	//     for one of the separators comma, tab and semicolon, none of them
	//     longer than a name, and at least half of the eight rows after it
	//     have as many.
	Auto Layout = iota
	// Lines takes each line as an element.
	Lines
	// ObjectMap takes each member of the one object as an element, with its
	// name as Key.
	ObjectMap
	// Single takes each object of the file as an element, never as a map.
	Single
	// CSV takes each record after the first as an element, an object with a
	// member for each column, whose values are strings. The separator is told
	// as for Auto, and is the comma if none fits. Names of columns lose blanks
	// around them; an empty one is column_N, and one that was there before
	// gets _2, _3 …
	//
	// Records are those of RFC 4180: a field in quotes may hold separators,
	// line breaks, which are kept as they are, and quotes that are doubled.
	// Quotes elsewhere are taken as text. A row that has not as many fields as
	// the header, or holds a NUL byte, is a *[RaggedError]. A quote that never
	// closes takes all that follows, and is a *[ContainerError].
	CSV
)

// DefaultMaxElement is the size of the largest element that is read unless
// Options say otherwise: 1 GiB.
const DefaultMaxElement = 1 << 30

// MaxReused is the size of the largest element that [Options] may let be
// overwritten by the next one: a block.
const MaxReused = blockSize

// Options are choices of reading. The zero value is what [Elements] uses.
type Options struct {
	Layout Layout
	// MaxElement bounds the bytes of one element; 0 is DefaultMaxElement. A
	// larger one is yielded as a *TooLargeError.
	MaxElement int64
	// Columns are the columns of a Parquet file that are read, all if empty.
	// An entry is the name of a column of the first level; names joined with |
	// are alternatives, of which at least one must be there and all that are
	// there are read; an entry that ends in ? may be absent. Other containers
	// hold whole elements and ignore it.
	Columns []string
	// Reuse says that data of at most [MaxReused] bytes are needed only until
	// the next element is asked for, so that they need not be copied.
	Reuse bool
	// Cells says that the rows of a Parquet file whose columns hold single
	// values may come as [Element.Cells] without Data. They are needed only
	// until the next element is asked for, and a text in them may be invalid
	// UTF-8.
	Cells bool
	// Bytes, if not nil, counts the bytes that are read of the file.
	Bytes *atomic.Int64
}

// Elements yields the elements of a file, in file order, as it reads r. The
// name stands in the positions. Compression and layout are told by content,
// see [Auto]; a byte order mark, CRLF, blank lines and a missing line break at
// the end mean nothing. A file without any element is no error.
//
// An element larger than the limit is yielded as a *[TooLargeError], a row of
// CSV that does not fit its header as a *[RaggedError], and the stream goes on.
// Any other error comes last: a *[ContainerError], after every
// element that was complete before the break; the error of r itself; or that
// of ctx, which is looked at between reads.
//
// Memory is a block (256 KiB), the decoder's window and the largest element,
// which for Auto includes a single object that turns out to be a map. No
// goroutine is started.
func Elements(ctx context.Context, r io.Reader, name string) iter.Seq2[Element, error] {
	return Read(ctx, r, name, Options{})
}

// Read is [Elements] with options.
func Read(ctx context.Context, r io.Reader, name string, opt Options) iter.Seq2[Element, error] {
	return func(yield func(Element, error) bool) {
		if opt.MaxElement <= 0 {
			opt.MaxElement = DefaultMaxElement
		}
		rd := &reader{name: name, opt: opt, yield: yield, file: &counter{r: r, sum: opt.Bytes}}
		rd.buf = make([]byte, blockSize)
		rd.line = 1
		defer rd.close()
		switch kind, ok := rd.decode(ctx); {
		case ok && kind.table:
			rd.parquet(ctx, bytes.Clone(rd.buf[rd.pos:rd.end]))
		case ok:
			rd.elements(ctx)
		}
	}
}

// A reader yields the elements of one input. Its methods that return a bool
// return false when nothing more must be yielded.
type reader struct {
	input
	name    string
	opt     Options
	yield   func(Element, error) bool
	file    *counter
	layers  []io.ReadCloser // decoders, outermost first
	index   int             // of the next element
	compact bool            // elements share lines, so that lines tell nothing
}

func (rd *reader) close() {
	for _, layer := range slices.Backward(rd.layers) {
		_ = layer.Close() // the text has been read, or given up
	}
}

// decode looks at the first bytes and removes compression. It returns the kind
// of what is inside, the zero one for text, and whether it can be read.
func (rd *reader) decode(ctx context.Context) (kind container, ok bool) {
	rd.r = rd.file
	for {
		head := rd.peek(ctx, func(p []byte) bool { return len(p) >= headSize })
		kind, ok := containerOf(head)
		switch {
		case !ok, kind.table:
			return kind, true
		case kind.open == nil:
			return kind, rd.fail(rd.pos0(), "the file is "+kind.name+", which cannot be read: "+kind.advice, nil)
		case len(rd.layers) == maxLayers:
			return kind, rd.fail(rd.pos0(), fmt.Sprintf("the file is compressed more than %d times", maxLayers), nil)
		}
		// What was peeked is read again by the decoder.
		src := io.Reader(bytes.NewReader(bytes.Clone(head)))
		switch {
		case rd.err == nil:
			src = io.MultiReader(src, rd.r)
		case !errors.Is(rd.err, io.EOF):
			return kind, rd.finish(rd.pos0(), "")
		}
		dec, err := kind.open(src)
		if err != nil {
			if rd.file.err != nil {
				return kind, rd.finish(rd.pos0(), "")
			}
			return kind, rd.fail(rd.pos0(), "the "+kind.name+" stream is cut off or corrupt; fetch the file again", err)
		}
		rd.layers = append(rd.layers, dec)
		rd.input = input{r: dec, buf: rd.buf, line: 1}
	}
}

// elements tells the layout and yields the elements.
func (rd *reader) elements(ctx context.Context) bool {
	rd.peek(ctx, func(p []byte) bool { return len(p) >= len(bom) })
	if bytes.HasPrefix(rd.buf[rd.pos:rd.end], bom) {
		rd.pos += len(bom)
	}
	start := rd.here().Offset
	if !rd.skipSpace(ctx) {
		return rd.finish(rd.here(), "")
	}
	switch first := rd.buf[rd.pos]; {
	case rd.opt.Layout == CSV:
		return rd.csvFrom(ctx, start)
	case rd.opt.Layout == Lines:
		return rd.lines(ctx)
	case rd.opt.Layout == ObjectMap:
		return rd.objectMap(ctx)
	case first == '[':
		text := rd.peek(ctx, func([]byte) bool { return false })
		if arrayLines(text) {
			return rd.lines(ctx)
		}
		rd.compact = sharesLine(text[1:])
		return rd.array(ctx)
	}
	text := rd.peek(ctx, func(p []byte) bool { return bytes.IndexByte(p, '\n') >= 0 })
	if wholeFirstLine(text) {
		return rd.objects(ctx) // which goes over to lines if there are more
	}
	text = rd.peek(ctx, func([]byte) bool { return false })
	switch {
	case rd.sniff(start) != 0:
		return rd.csvFrom(ctx, start)
	case mostlyLines(text):
		return rd.lines(ctx)
	case text[0] != '{':
		return rd.fail(rd.here(), fmt.Sprintf(
			"the file holds no JSON lines, JSON array, JSON object or CSV with a header that could be read: it begins with %.40q", text), nil)
	}
	rd.compact = sharesLine(text)
	return rd.objects(ctx)
}

// bom is the byte order mark of UTF-8.
var bom = []byte("\xef\xbb\xbf")

// wholeFirstLine reports whether the first line of text is one whole object.
func wholeFirstLine(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return whole(line)
}

// mostlyLines reports whether at least half of the first eight lines of text
// are whole objects.
func mostlyLines(text []byte) bool {
	lines, good := 0, 0
	for len(text) > 0 && lines < 8 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if line = trimSpace(line); len(line) == 0 {
			continue
		}
		lines++
		if line[0] == '{' && whole(line) {
			good++
		}
	}
	return good > 0 && 2*good >= lines
}

// arrayLines reports whether text, which begins with an array, is JSON lines
// that are arrays.
func arrayLines(text []byte) bool {
	line, rest, _ := bytes.Cut(text, []byte{'\n'})
	return whole(line) && bytes.HasPrefix(trimSpace(rest), []byte{'['})
}

// sharesLine reports whether the second value of text begins on the line of
// the first, as far as text shows.
func sharesLine(text []byte) bool {
	start := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	var s splitter
	n, done := s.scan(text[start:])
	if !done {
		return !bytes.Contains(text, []byte{'\n'})
	}
	rest := text[start+n:]
	next := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
	return next < len(rest) && rest[next] != ']' && !bytes.Contains(text[start:start+n+next], []byte{'\n'})
}

// lines yields each line from the cursor on.
func (rd *reader) lines(ctx context.Context) bool {
	for {
		if !rd.skipSpace(ctx) {
			return rd.finish(rd.here(), "")
		}
		if !rd.restOfLine(ctx) {
			return false
		}
	}
}

// restOfLine yields what is between the cursor and the end of its line.
func (rd *reader) restOfLine(ctx context.Context) bool {
	pos := rd.here()
	var acc element
	for {
		chunk := rd.buf[rd.pos:rd.end]
		br := bytes.IndexByte(chunk, '\n')
		if br < 0 {
			acc.add(rd.take(len(chunk)), rd.opt.MaxElement)
			if rd.more(ctx) {
				continue
			}
			// The text ends here, on purpose or not.
			if !acc.tooLarge(rd.opt.MaxElement) {
				data := bytes.TrimPrefix(trimSpace(acc.data), bom)
				opens := len(data) > 0 && (data[0] == '{' || data[0] == '[')
				if opens && !closes(data) || !errors.Is(rd.err, io.EOF) && !whole(data) {
					return rd.finish(pos, "the file ends inside this element")
				}
			}
			return rd.emit(ctx, pos, "", &acc) && rd.finish(rd.here(), "")
		}
		if rd.opt.Reuse && acc.size == 0 && int64(br) <= rd.opt.MaxElement {
			acc = element{data: rd.take(br), size: int64(br)}
		} else {
			acc.add(rd.take(br), rd.opt.MaxElement)
		}
		return rd.emit(ctx, pos, "", &acc)
	}
}

// closes reports whether the object or array that text begins with ends in it.
func closes(text []byte) bool {
	var s splitter
	_, done := s.scan(text)
	return done
}

// array yields the elements of the array at the cursor.
func (rd *reader) array(ctx context.Context) bool {
	rd.take(1)
	for {
		if !rd.skipSpace(ctx) {
			return rd.finish(rd.here(), "the array never closes")
		}
		switch rd.buf[rd.pos] {
		case ',':
			rd.take(1)
			continue
		case ']':
			rd.take(1)
			if rd.skipSpace(ctx) {
				return rd.fail(rd.here(), fmt.Sprintf("after the end of the array comes %.40q; want one array, or one element a line", rd.buf[rd.pos:rd.end]), nil)
			}
			return rd.finish(rd.here(), "")
		}
		pos := rd.here()
		acc, ended := rd.value(ctx, &splitter{})
		if !ended {
			return rd.finish(pos, "the file ends inside this element")
		}
		if !rd.emit(ctx, pos, "", acc) {
			return false
		}
	}
}

// objectMap yields the members of the object at the cursor.
func (rd *reader) objectMap(ctx context.Context) bool {
	if rd.buf[rd.pos] != '{' {
		return rd.fail(rd.here(), fmt.Sprintf("want one object with an element in each member, have %.40q", rd.buf[rd.pos:rd.end]), nil)
	}
	rd.take(1)
	for {
		if !rd.skipSpace(ctx) {
			return rd.finish(rd.here(), "the object never closes")
		}
		switch rd.buf[rd.pos] {
		case ',':
			rd.take(1)
			continue
		case '}':
			rd.take(1)
			if rd.skipSpace(ctx) {
				return rd.fail(rd.here(), fmt.Sprintf("after the end of the object comes %.40q; want one object", rd.buf[rd.pos:rd.end]), nil)
			}
			return rd.finish(rd.here(), "")
		case '"':
		default:
			return rd.fail(rd.here(), fmt.Sprintf("want the name of a member, have %.40q", rd.buf[rd.pos:rd.end]), nil)
		}
		pos := rd.here()
		key, ended := rd.value(ctx, &splitter{})
		if !ended || !rd.skipSpace(ctx) {
			return rd.finish(pos, "the file ends inside this member")
		}
		if rd.buf[rd.pos] != ':' {
			return rd.fail(rd.here(), fmt.Sprintf("want a colon after the name of a member, have %.40q", rd.buf[rd.pos:rd.end]), nil)
		}
		rd.take(1)
		if !rd.skipSpace(ctx) {
			return rd.finish(pos, "the file ends inside this member")
		}
		pos = rd.here()
		acc, ended := rd.value(ctx, &splitter{})
		if !ended {
			return rd.finish(pos, "the file ends inside this member")
		}
		if !rd.emit(ctx, pos, qaoa.JSON(key.data).Text(), acc) {
			return false
		}
	}
}

// objects yields objects that follow each other, or the members of a single
// one that is a map. It goes over to lines as soon as an object fills one.
func (rd *reader) objects(ctx context.Context) bool {
	for first := true; ; first = false {
		if !rd.skipSpace(ctx) {
			return rd.finish(rd.here(), "")
		}
		if c := rd.buf[rd.pos]; c != '{' && c != '[' {
			if !rd.restOfLine(ctx) {
				return false
			}
			continue
		}
		pos := rd.here()
		s := splitter{oneLine: true}
		acc, ended := rd.value(ctx, &s)
		if !ended {
			return rd.finish(pos, "the file ends inside this element")
		}
		line := rd.line
		more := rd.skipSpace(ctx)
		if first && !more && errors.Is(rd.err, io.EOF) && rd.opt.Layout == Auto && !acc.tooLarge(rd.opt.MaxElement) {
			if ok, done := rd.members(ctx, pos, acc.data); ok {
				return done
			}
		}
		if !rd.emit(ctx, pos, "", acc) {
			return false
		}
		// Neither the value nor what is before the next one may span lines,
		// but for the line break between them.
		if more && s.oneLine && line == pos.Line && rd.line > line {
			return rd.lines(ctx)
		}
	}
}

// members yields the members of the whole object in data, if it is a map of
// elements by the rule of [Auto], and reports whether it is.
func (rd *reader) members(ctx context.Context, pos qaoa.Pos, data []byte) (ok, done bool) {
	sub := func(yield func(Element, error) bool) *reader {
		return &reader{
			input: input{buf: data, end: len(data), base: pos.Offset, line: cmp.Or(pos.Line, 1), err: io.EOF},
			name:  rd.name, opt: rd.opt, yield: yield, file: rd.file, layers: rd.layers,
		}
	}
	n, isMap := 0, true
	sub(func(el Element, err error) bool {
		n++
		isMap = err == nil && el.Data[0] == '{' && !recordKey(el.Key)
		return isMap
	}).objectMap(ctx)
	if n < 2 || !isMap {
		return false, true
	}
	return true, sub(rd.yield).objectMap(ctx)
}

// recordKey reports whether a member with that name makes an object a record
// and not a map of records.
func recordKey(name string) bool {
	switch name {
	case "id", "query", "question", "answer", "answers", "input", "output", "source", "meta", "metadata",
		"messages", "conversation", "conversations", "turns", "tools", "function", "functions", "schema",
		"name", "arguments", "parameters", "properties", "ground_truth":
		return true
	}
	return false
}

// An element collects the pieces of one.
type element struct {
	data []byte
	size int64
}

// add appends p, or only counts it when the limit is passed.
func (e *element) add(p []byte, limit int64) {
	e.size += int64(len(p))
	if e.size > limit {
		e.data = nil
		return
	}
	if len(e.data) > blockSize && len(e.data)+len(p) > cap(e.data) {
		// append alone would grow by a quarter, and copy a large element five
		// times over.
		e.data = slices.Grow(e.data, len(e.data))
	}
	e.data = append(e.data, p...)
}

func (e *element) tooLarge(limit int64) bool { return e.size > limit }

// value collects the value at the cursor: to the end of its bracket or quote,
// or, if it has none, to the next byte that cannot belong to a bare word. It
// reports whether the value ends before the text does.
func (rd *reader) value(ctx context.Context, s *splitter) (acc *element, ended bool) {
	acc = new(element)
	if c := rd.buf[rd.pos]; c != '{' && c != '[' && c != '"' {
		return acc, rd.word(ctx, acc)
	}
	for rd.more(ctx) {
		n, done := s.scan(rd.buf[rd.pos:rd.end])
		acc.add(rd.take(n), rd.opt.MaxElement)
		if done {
			return acc, true
		}
	}
	return acc, false
}

// word collects a bare word, of at least one byte. At the end of the text it
// may be cut off, so it counts as ended only before another byte.
func (rd *reader) word(ctx context.Context, acc *element) (ended bool) {
	acc.add(rd.take(1), rd.opt.MaxElement)
	for rd.more(ctx) {
		chunk := rd.buf[rd.pos:rd.end]
		n := bytes.IndexAny(chunk, " \t\r\n,]}[{\"")
		if n >= 0 {
			acc.add(rd.take(n), rd.opt.MaxElement)
			return true
		}
		acc.add(rd.take(len(chunk)), rd.opt.MaxElement)
	}
	return false
}

// emit yields an element.
func (rd *reader) emit(ctx context.Context, pos qaoa.Pos, key string, acc *element) bool {
	if err := ctx.Err(); err != nil {
		rd.yield(Element{}, err)
		return false
	}
	if acc.tooLarge(rd.opt.MaxElement) {
		rd.index++
		return rd.yield(Element{Pos: pos, Key: key}, &TooLargeError{Pos: pos, Size: acc.size, Limit: rd.opt.MaxElement})
	}
	data := trimSpace(acc.data)
	if bytes.HasPrefix(data, bom) { // files that were joined
		data = trimSpace(data[len(bom):])
		pos.Offset += int64(len(bom))
	}
	if len(data) == 0 {
		return true
	}
	rd.index++
	return rd.yield(Element{Pos: pos, Key: key, Data: data}, nil)
}

// pos0 returns the place of the beginning of the file.
func (rd *reader) pos0() qaoa.Pos { return qaoa.Pos{File: rd.name, Line: 1} }

// here returns the place of the cursor.
func (rd *reader) here() qaoa.Pos {
	pos := qaoa.Pos{File: rd.name, Line: rd.line, Index: rd.index, Offset: rd.offset()}
	if rd.compact {
		pos.Line = 0
	}
	return pos
}

// finish ends the stream after the last byte. If the text did not end by
// itself, or cut says that it ended too early, the error is yielded; pos is
// the place of what is cut off.
func (rd *reader) finish(pos qaoa.Pos, cut string) bool {
	switch err := rd.err; {
	case errors.Is(err, io.EOF) && cut == "":
		return true
	case errors.Is(err, io.EOF):
		return rd.fail(pos, cut+"; the file was cut off or is incomplete", nil)
	case rd.file.err != nil:
		rd.yield(Element{}, fmt.Errorf("%s: after %d bytes: %w", rd.name, rd.file.n, rd.file.err))
		return false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		rd.yield(Element{}, err)
		return false
	case len(rd.layers) == 0: // a reader that returns nothing
		rd.yield(Element{}, fmt.Errorf("%s: after %d bytes: %w", rd.name, rd.file.n, err))
		return false
	case errors.Is(err, io.ErrUnexpectedEOF):
		return rd.fail(pos, "the compressed file is cut off; fetch it again", err)
	default:
		return rd.fail(pos, "the compressed file is corrupt; fetch it again", err)
	}
}

// fail ends the stream with a ContainerError whose break is at the cursor.
func (rd *reader) fail(pos qaoa.Pos, msg string, err error) bool {
	ce := &ContainerError{Pos: pos, Offset: rd.offset(), Compressed: -1, Msg: msg, Err: err}
	if len(rd.layers) > 0 {
		ce.Compressed = rd.file.n
	}
	rd.yield(Element{}, ce)
	return false
}
