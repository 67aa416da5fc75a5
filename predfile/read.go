package predfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"assay/internal/raw"
	"assay/qaoa"
	"assay/toolcall"
)

// DefaultMaxElement is the size of the largest element that is read unless
// [Options] say otherwise: 256 MiB.
const DefaultMaxElement = 256 << 20

// Options are the choices of [Read]. The zero value tells the form by content
// and takes ids as they are.
type Options struct {
	// Format forces a form for all files; "" tells it for each.
	Format Format
	// IDs are those of the gold records; nil leaves ids as they are.
	IDs *IDs
	// Prefix and a slash are put before ids that do not have it: "bfcl" makes
	// bfcl/simple_0 of simple_0.
	Prefix string
	// Tools, if not nil, returns the tools on offer in the record with an id,
	// after joining. They name positional arguments of calls in text.
	Tools func(id string) []qaoa.Tool
	// MaxElement bounds the bytes of one element; 0 is DefaultMaxElement.
	MaxElement int64
	// Note, if not nil, is called after each file, from the goroutine that
	// ranges over the result.
	Note func(FileNote)
}

// A FileNote says what a file turned out to hold.
type FileNote struct {
	File        string // as in positions
	Format      Format // "" if none was recognised
	Skipped     string // what the file is instead, if it is known to hold no predictions
	Predictions int
	Bad         int // elements that are no prediction
	Unanswered  int // see [UnansweredError]
	Joined      int // predictions whose id is not as the file has it
	// Examples are the first ten of Joined, as the file has them and as joined.
	Examples [][2]string
}

// maxExamples bounds the examples of a FileNote.
const maxExamples = 10

// An UnansweredError stands for an element that records a failure of the
// infrastructure (a timeout, a refused request) in place of an answer. It is
// neither a prediction nor a broken element: the pair was attempted, and is
// missing.
type UnansweredError struct {
	Pos    qaoa.Pos
	ID     string // of the record, joined
	Repeat int    // 0-based
	Path   string // JSON Pointer to what says so
	Msg    string // in the words of the file, cut to 200 bytes
}

// Error returns place, id, path and message.
func (e *UnansweredError) Error() string {
	return fmt.Sprintf("%s: record %d: %s: no answer of %.80q, repeat %d: %s", e.Pos, e.Pos.Index, e.Path, e.ID, e.Repeat, e.Msg)
}

// Skippable reports whether the stream of [Read] goes on after err: a
// *[qaoa.Error] or an *[UnansweredError].
func Skippable(err error) bool {
	if _, ok := errors.AsType[*qaoa.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[*UnansweredError](err)
	return ok
}

// Read yields the predictions in the files that paths name: files, folders (all
// files below, in the order of their names), patterns, and "-" for standard
// input, from any container that package convert reads, in file order.
//
// An element that is no prediction is yielded as a *[qaoa.Error] with its
// place, and so is a file without a known form; a recorded failure is an
// *[UnansweredError]; the stream goes on after both. Any other error comes last:
// a path that does not exist, a container that is cut off, the end of ctx.
//
// Memory is bounded by the largest element, and for EvalScope by the number of
// ids, which count repeats there. A log of Inspect is read sample by sample if
// it is not compressed.
func Read(ctx context.Context, paths []string, opt Options) iter.Seq2[qaoa.Prediction, error] {
	return func(yield func(qaoa.Prediction, error) bool) {
		files, err := raw.Expand(paths)
		if err != nil {
			yield(qaoa.Prediction{}, err)
			return
		}
		first := firstRun(files)
		for _, f := range files {
			r, err := f.Open()
			if err != nil {
				yield(qaoa.Prediction{}, err)
				return
			}
			d := newDecoder(opt, f.Name, first, yield)
			d.file(ctx, r)
			_ = r.Close() // it was only read
			if opt.Note != nil && !d.broken {
				opt.Note(d.note)
			}
			if d.stopped {
				return
			}
		}
	}
}

// ReadFrom is [Read] for one file that is open. The name stands in positions,
// and may name a run.
func ReadFrom(ctx context.Context, r io.Reader, name string, opt Options) iter.Seq2[qaoa.Prediction, error] {
	return func(yield func(qaoa.Prediction, error) bool) {
		d := newDecoder(opt, name, firstRun([]raw.InputFile{{Name: name}}), yield)
		d.file(ctx, r)
		if opt.Note != nil && !d.broken {
			opt.Note(d.note)
		}
	}
}

// firstRun returns the number that runs in file names are counted from.
func firstRun(files []raw.InputFile) int {
	for _, f := range files {
		if _, n, ok := cutRun(stem(f.Name)); ok && n == 0 {
			return 0
		}
	}
	return 1
}

// stem returns the last part of a path without the extensions of prediction
// files.
func stem(name string) string {
	name = path.Base(name)
	for {
		switch ext := path.Ext(name); ext {
		case ".json", ".jsonl", ".ndjson", ".gz", ".zst", ".txt", ".parquet", ".csv":
			name = strings.TrimSuffix(name, ext)
		default:
			return name
		}
	}
}

// A decoder reads one file. Once stopped is set nothing more may be yielded.
type decoder struct {
	opt     Options
	name    string
	yield   func(qaoa.Prediction, error) bool
	note    FileNote
	run     int  // the repeat that the name of the file says, or 0
	first   int  // the number of the first run
	stopped bool // by the caller, or by an error that ends the stream
	broken  bool // by the caller
	// Of EvalScope: the repeat of an id and index, and the next one of an id.
	seen  map[[2]string]int
	count map[string]int
}

func newDecoder(opt Options, name string, first int, yield func(qaoa.Prediction, error) bool) *decoder {
	opt.MaxElement = cmp.Or(max(opt.MaxElement, 0), DefaultMaxElement)
	d := &decoder{opt: opt, name: name, yield: yield, first: first, note: FileNote{File: name, Format: opt.Format}}
	if _, n, ok := cutRun(stem(name)); ok {
		d.run = n - first
	}
	return d
}

// emit yields a prediction or an error of the element at pos. It returns false
// when nothing more must be yielded.
func (d *decoder) emit(pos qaoa.Pos, p qaoa.Prediction, err error) bool {
	if d.stopped {
		return false
	}
	switch e := err.(type) { //nolint:errorlint // errors of this package, not wrapped yet
	case nil:
		d.note.Predictions++
	case *UnansweredError:
		d.note.Unanswered++
		e.Pos = pos
	case *qaoa.Error:
		d.note.Bad++
		at := *e
		at.Pos = pos
		err = &at
	default:
		d.note.Bad++
		err = &qaoa.Error{Pos: pos, Msg: err.Error()}
	}
	if err != nil {
		p = qaoa.Prediction{}
	}
	if !d.yield(p, err) {
		d.stopped, d.broken = true, true
	}
	return !d.stopped
}

// fail yields an error that ends the stream.
func (d *decoder) fail(err error) {
	if !d.stopped {
		d.broken = !d.yield(qaoa.Prediction{}, err)
		d.stopped = true
	}
}

// headSize is how many bytes at the beginning of a file tell a log of Inspect.
const headSize = 64 << 10

// file reads the predictions of r.
func (d *decoder) file(ctx context.Context, r io.Reader) {
	if d.opt.Format == "" || d.opt.Format == Inspect {
		head := make([]byte, headSize)
		n, err := io.ReadFull(r, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			d.fail(fmt.Errorf("%s: %w", d.name, err))
			return
		}
		r = rewind(r, head[:n])
		if isInspectLog(head[:n]) {
			d.note.Format = Inspect
			d.inspectLog(ctx, r)
			return
		}
	}
	d.elements(ctx, r)
}

// rewind returns a reader of what r held before head was read from it. A file
// is wound back, since a Parquet file is read in place.
func rewind(r io.Reader, head []byte) io.Reader {
	if s, ok := r.(io.Seeker); ok {
		if _, err := s.Seek(-int64(len(head)), io.SeekCurrent); err == nil {
			return r
		}
	}
	return io.MultiReader(bytes.NewReader(head), r)
}

// A piece is an element, or what is yielded in its place.
type piece struct {
	pos  qaoa.Pos
	key  string // name of the member in an object map
	data []byte
	err  error
}

// maxSniff is how many elements are looked at to tell the form of a file.
const maxSniff = 16

// elements reads the elements of r, once a form is known.
func (d *decoder) elements(ctx context.Context, r io.Reader) {
	var waiting []piece // for the form
	readable := false   // whether one of them is JSON
	size := int64(0)
	settle := func() bool {
		if d.note.Format == "" && readable {
			d.unknown(waiting)
			return false
		}
		for _, p := range waiting {
			if !d.piece(p) {
				return false
			}
		}
		waiting = waiting[:0]
		return true
	}
	for el, err := range raw.Read(ctx, r, d.name, raw.Options{MaxElement: d.opt.MaxElement}) {
		p := piece{pos: el.Pos, key: el.Key, data: el.Data}
		size += int64(len(el.Data))
		if err != nil {
			pos, ok := raw.Skippable(err)
			if !ok {
				settle()
				d.fail(err)
				return
			}
			p = piece{pos: pos, err: &qaoa.Error{Msg: err.Error()}}
		}
		if d.note.Format != "" {
			if !d.piece(p) {
				return
			}
			continue
		}
		waiting = append(waiting, p)
		if p.err == nil {
			if v, err := qaoa.ParseValue(p.data); err == nil {
				if what, ok := noPredictions(v); ok && !readable && formatOf(v) == "" {
					d.note.Skipped = what
					return
				}
				readable = true
				d.note.Format = formatOf(v)
			}
		}
		if (d.note.Format != "" || len(waiting) == maxSniff || size > d.opt.MaxElement) && !settle() {
			return
		}
	}
	settle()
}

// unknown reports that none of the elements has a known form.
func (d *decoder) unknown(waiting []piece) {
	names := make([]string, 0, 8)
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	for _, p := range waiting {
		v, err := qaoa.ParseValue(p.data)
		if p.err != nil || err != nil {
			continue
		}
		d.emit(p.pos, qaoa.Prediction{}, &qaoa.Error{Msg: fmt.Sprintf(
			"the file has no known form of predictions (%s): its first element is %s; the file is left out", strings.Join(names, ", "), describe(v))})
		return
	}
}

// describe names the kind of v, and its first members if it is an object.
func describe(v qaoa.Value) string {
	if v.Kind != qaoa.Object {
		return "of the kind " + v.Kind.String()
	}
	var names []string
	for _, m := range v.Members {
		if len(names) == 8 {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%.40q", m.Name))
	}
	return "an object with " + cmp.Or(strings.Join(names, ", "), "no member")
}

// piece reads one element in the form of the file.
func (d *decoder) piece(p piece) bool {
	if p.err != nil {
		return d.emit(p.pos, qaoa.Prediction{}, p.err)
	}
	if p.key != "" {
		p.data = named(p.data, p.key)
	}
	if d.note.Format == Assay || d.note.Format == Plain {
		if done, more := d.native(p); done {
			return more
		}
	}
	v, err := qaoa.ParseValue(p.data)
	if err != nil {
		return d.emit(p.pos, qaoa.Prediction{}, &qaoa.Error{Msg: err.Error()})
	}
	if v.Kind != qaoa.Object {
		return d.emit(p.pos, qaoa.Prediction{}, &qaoa.Error{Msg: fmt.Sprintf("want an object, have %s: %.60s", v.Kind, v.JSON())})
	}
	switch d.note.Format {
	case BFCL:
		return d.bfcl(p.pos, v)
	case Batch:
		return d.batch(p.pos, v)
	case Chat:
		return d.chat(p.pos, v)
	case EvalScope:
		return d.evalScope(p.pos, v)
	case Inspect:
		return d.inspect(p.pos, v)
	case Text:
		return d.text(p.pos, v)
	}
	return d.plain(p.pos, v)
}

// named returns an object with its name in a map as the id, if it has none.
func named(data []byte, key string) []byte {
	v, err := qaoa.ParseValue(data)
	if _, ok := v.Get("id"); ok || err != nil || v.Kind != qaoa.Object {
		return data
	}
	v.Members = append(v.Members, qaoa.Member{Name: "id", Value: qaoa.StringValue(key)})
	return v.Append(nil)
}

// tools returns the tools on offer in the record with that id.
func (d *decoder) tools(id string) toolcall.Options {
	if d.opt.Tools == nil {
		return toolcall.Options{}
	}
	return toolcall.Options{Tools: d.opt.Tools(id)}
}
