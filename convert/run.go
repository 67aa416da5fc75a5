package convert

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"assay/internal/raw"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// RunOptions are the choices of a run. The zero value converts everything on
// all processors.
type RunOptions struct {
	Options // are given to the source

	Workers int // goroutines that convert; 0 is one per processor
	Limit   int // elements to read at most; 0 is no limit
	// MaxBad is how many elements may be broken (see [Code.Broken]) before
	// the run ends with a *[TooManyBadError]; 0 is any number, and a negative
	// number means none.
	MaxBad     int
	MaxElement int64 // bytes of one element at most; 0 is 1 GiB
	// Start is where an earlier run of the same inputs stopped; zero is the
	// beginning.
	Start Start
	// Progress, if not nil, is called now and then, and at the end of a run
	// that was not broken off, from the goroutine of the caller.
	Progress func(Progress)
}

// A Start says what of the inputs has been converted before. The elements are
// read again, which is fast, but neither converted nor yielded.
type Start struct {
	Elements int      // whose outcome an earlier run yielded
	Broken   int      // of their rejects, for MaxBad
	IDs      []uint64 // hashes of the IDs of their records
}

// A Progress is how far a run is.
type Progress struct {
	File       string // that was read last, relative to its root
	Bytes      int64  // read of all files, as they are on disk
	TotalBytes int64  // of all files, -1 if not known
	Elements   int    // read
	Records    int    // made
	Rejects    int    // made
}

// An Outcome is what became of one raw element.
type Outcome struct {
	Pos     qaoa.Pos
	Read    int // instances in the element: 1, or more if it holds several
	Records []qaoa.Record
	Rejects []*Reject
}

// A TooManyBadError ends a run with more broken elements than allowed.
type TooManyBadError struct {
	Max  int     // allowed
	Last *Reject // the one too many
}

// Error returns the bound and the last reject.
func (e *TooManyBadError) Error() string {
	return fmt.Sprintf("more than %d broken elements, the last one is %v", e.Max, e.Last)
}

// Unwrap returns the last reject.
func (e *TooManyBadError) Unwrap() error { return e.Last }

// Broken reports whether c says that the data are damaged, and not only
// unwanted.
func (c Code) Broken() bool {
	switch c {
	case ParseError, BadCallJSON, BadArgsJSON, TooLarge:
		return true
	}
	return false
}

// Bounds of the work in flight: a batch is handed to a worker when it has this
// many elements or bytes, and each worker has at most batchesPerWorker.
const (
	batchElements    = 64
	batchBytes       = 128 << 10
	batchesPerWorker = 3
)

// Run converts the files of inputs and yields an outcome for every element, in
// the order of files and elements, whatever the number of workers.
//
// Records come complete: Source is filled in and the ID is unique in the run
// (<source>/<ID of the source>, or <source>/<file without extension>#<index>
// where that is empty or was there before, and if that was there too, the same
// followed by ~2, ~3 …). Rejects have Source, Pos and Stage. An element that is
// no JSON, a row that does not fit its header, and an element that is too large,
// makes the source panic or makes nothing are rejects with [ParseError] or
// [TooLarge]; the run goes on.
//
// An error comes last, after the outcome of all that was read before it: a
// file that cannot be opened or is cut off, a source that cannot be opened, too
// many broken elements, or the end of ctx. When the loop over the result ends,
// no goroutine of it is left; a read from a pipe is waited for.
//
// Memory holds a few batches of about 128 KiB for each worker, the largest
// element, and 21 to 43 bytes for every ID.
func Run(ctx context.Context, src Source, inputs []Input, opt RunOptions) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		if opt.Workers <= 0 {
			opt.Workers = runtime.GOMAXPROCS(0)
		}
		r := &run{src: src, opt: opt, left: opt.Limit, skip: opt.Start.Elements}
		t := newTaker(src.Name, inputs, opt, yield)
		parent := ctx
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if opt.Workers == 1 {
			r.alone(ctx, inputs, t)
			return
		}
		r.jobs = make(chan *batch)
		r.queue = make(chan *batch, opt.Workers*batchesPerWorker)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel() // before the wait
		wg.Go(func() { r.batches(ctx, inputs) })
		for range opt.Workers {
			wg.Go(r.work)
		}
		for b := range r.queue {
			<-b.done
			for i := range b.outcomes {
				if !t.take(&b.outcomes[i]) {
					return
				}
			}
			if b.err == nil && parent.Err() != nil {
				b.err = parent.Err() // the reader may have missed it
			}
			if b.err != nil {
				yield(Outcome{}, b.err)
				return
			}
			t.tell(b.file, b.bytesRead)
			r.recycle(b)
		}
		if err := parent.Err(); err != nil {
			yield(Outcome{}, err)
		}
	}
}

// A taker yields outcomes, in their order, and knows what a run has to know of
// all that were before: it is used from one goroutine.
type taker struct {
	name  string // of the source
	opt   RunOptions
	yield func(Outcome, error) bool
	ids   idSet
	prog  Progress
	bad   int // broken elements so far
}

func newTaker(name string, inputs []Input, opt RunOptions, yield func(Outcome, error) bool) *taker {
	t := &taker{
		name: name, opt: opt, yield: yield, bad: opt.Start.Broken,
		prog: Progress{TotalBytes: totalBytes(inputs), Elements: opt.Start.Elements},
	}
	for _, h := range opt.Start.IDs {
		t.ids.add(h)
	}
	return t
}

// take yields o, whose records get their IDs, and reports whether the run goes
// on.
func (t *taker) take(o *Outcome) bool {
	for j := range o.Records {
		o.Records[j].ID = t.ids.unique(o.Records[j], t.name)
	}
	t.prog.Elements++
	t.prog.Records += len(o.Records)
	t.prog.Rejects += len(o.Rejects)
	if !t.yield(*o, nil) {
		return false
	}
	if t.opt.MaxBad == 0 {
		return true
	}
	for _, rej := range o.Rejects {
		if !rej.Code.Broken() {
			continue
		}
		if t.bad++; t.bad > max(t.opt.MaxBad, 0) {
			t.yield(Outcome{}, &TooManyBadError{Max: max(t.opt.MaxBad, 0), Last: rej})
			return false
		}
	}
	return true
}

// tell reports how far the run is.
func (t *taker) tell(file string, bytes int64) {
	if t.opt.Progress != nil {
		t.prog.File, t.prog.Bytes = file, bytes
		t.opt.Progress(t.prog)
	}
}

// totalBytes returns the size of all files, or -1.
func totalBytes(inputs []Input) int64 {
	var total int64
	for _, in := range inputs {
		for _, name := range in.Files {
			n := fileSize(in.FS, name)
			if n < 0 {
				return -1
			}
			total += n
		}
	}
	return total
}

// A run is the state that its goroutines share. The queue is the order and the
// bound: each batch is put there before it is given to a worker.
type run struct {
	src   Source
	opt   RunOptions
	left  int          // elements that may still be read, if there is a limit; the reader's
	skip  int          // elements that are still to be passed over; the reader's
	bytes atomic.Int64 // read of all files, as they are on disk

	// Of several workers:
	jobs  chan *batch
	queue chan *batch
	free  sync.Pool // of *[]byte, for the data of batches
}

// A piece is what the reader comes to: an element, why an element could not be
// read (an error that raw.Skippable knows), the end of a file, or what ended
// the reading.
type piece struct {
	pending
	convert Func
	file    string
	fileEnd bool
	fatal   error
}

// pieces yields what is in inputs, in order, as far as the limit goes. What is
// in a piece is valid until the next one.
func (r *run) pieces(ctx context.Context, inputs []Input) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for _, in := range inputs {
			in.Options = r.opt.Options
			convert, err := r.src.Open(ctx, in)
			if err != nil {
				yield(piece{fatal: fmt.Errorf("%s: %w", r.src.Name, err)})
				return
			}
			for _, name := range in.Files {
				if !r.piecesOf(ctx, in, name, convert, yield) {
					return
				}
			}
		}
	}
}

// piecesOf yields what is in one file, and reports whether the next one may
// follow.
func (r *run) piecesOf(ctx context.Context, in Input, name string, convert Func, yield func(piece) bool) bool {
	p := piece{convert: convert, file: name}
	f, err := in.FS.Open(name)
	if err != nil {
		p.fatal = err
		yield(p)
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	known, _ := r.src.match(name)
	opt := raw.Options{Layout: known.Layout, MaxElement: r.opt.MaxElement, Columns: known.Columns, Reuse: r.src.Copies, Cells: r.src.Cells, Bytes: &r.bytes}
	for el, err := range raw.Read(ctx, f, name, opt) {
		if _, ok := raw.Skippable(err); err != nil && !ok {
			p.fatal = err
			yield(p)
			return false
		}
		if r.skip > 0 {
			r.skip--
		} else {
			p.pending = pending{el: el, err: err}
			if !yield(p) {
				return false
			}
		}
		if r.left--; r.left == 0 {
			return false
		}
	}
	return yield(piece{convert: convert, file: name, fileEnd: true})
}

// alone is the run of one worker, which does everything itself: to hand work to
// another goroutine costs an eighth of it.
func (r *run) alone(ctx context.Context, inputs []Input, t *taker) {
	var scratch []byte
	var o Outcome
	untold, file := 0, ""
	for p := range r.pieces(ctx, inputs) {
		if p.fatal == nil {
			p.fatal = ctx.Err()
		}
		if p.fatal != nil {
			t.yield(Outcome{}, p.fatal)
			return
		}
		file = p.file
		if !p.fileEnd {
			if o, scratch = r.outcome(p.pending, p.convert, scratch); !t.take(&o) {
				return
			}
			untold++
		}
		if untold >= batchElements {
			t.tell(file, r.bytes.Load())
			untold = 0
		}
	}
	if err := ctx.Err(); err != nil {
		t.yield(Outcome{}, err)
		return
	}
	t.tell(file, r.bytes.Load())
}

// A pending is an element, or why it could not be read.
type pending struct {
	el  Element
	err error // one that raw.Skippable knows
}

// outcome converts one element.
func (r *run) outcome(p pending, convert Func, scratch []byte) (Outcome, []byte) {
	o := Outcome{Pos: p.el.Pos}
	stage := StageRead
	var rej *Reject
	if p.err != nil {
		rej = unread(p.err)
	} else if r.src.Vouches && convertInto(&o, convert, p.el) {
		stage = StageConvert
	} else if scratch, rej = check(whole(&p.el), scratch); rej == nil {
		stage = StageConvert
		if p.el.Valid = true; !convertInto(&o, convert, p.el) {
			rej = Rejectf(ParseError, "", "the source made neither a record nor a reject of this element")
		}
	}
	if rej != nil {
		o.Rejects = []*Reject{rej}
	}
	o.Read = len(o.Records) + len(o.Rejects)
	for i := range o.Records {
		o.Records[i].Source = qaoa.Source{
			Name: r.src.Name, File: o.Pos.File, Index: o.Pos.Index, Split: string(r.src.Kind),
		}
	}
	for _, rej := range o.Rejects {
		rej.Source, rej.Pos = r.src.Name, o.Pos
		if rej.Stage == "" {
			rej.Stage = stage
		}
	}
	return o, scratch
}

// convertInto puts what convert makes of el into o, and reports whether that is
// anything.
func convertInto(o *Outcome, convert Func, el Element) bool {
	o.Records, o.Rejects = guarded(convert, el)
	return len(o.Records)+len(o.Rejects) > 0
}

// unread returns the reject of an element that could not be read.
func unread(err error) *Reject {
	if e, ok := errors.AsType[*raw.TooLargeError](err); ok {
		return Rejectf(TooLarge, "", "want at most %d bytes, have %d", e.Limit, e.Size)
	}
	if e, ok := errors.AsType[*raw.RaggedError](err); ok && !e.NUL {
		return Rejectf(ParseError, "", "want %d fields as in the header, have %d", e.Want, e.Fields)
	}
	return Rejectf(ParseError, "", "want a row of text, have a NUL byte in it")
}

// whole returns el with its Data, if it had only cells.
func whole(el *Element) *Element {
	if el.Cells != nil {
		el.Data, el.Cells = raw.Row(el.Cells), nil
	}
	return el
}

// check makes sure that the element is valid JSON that is not nested too deep,
// or says why it is not. Invalid UTF-8 alone is mended, as U+FFFD.
func check(el *Element, scratch []byte) ([]byte, *Reject) {
	// The check of the decoder is several times as fast as our own pass,
	// which is needed only to say where the fault is.
	if json.Valid(el.Data) {
		return scratch, nil
	}
	scratch, err := qaoa.AppendCompact(scratch[:0], el.Data)
	if err != nil {
		return scratch, Rejectf(ParseError, "", "%v; the element begins with %.60q", err, el.Data)
	}
	el.Data = append([]byte(nil), scratch...)
	return scratch, nil
}

// guarded calls convert. What it panics with is a reject: one hostile element
// must not end the run.
func guarded(convert Func, el Element) (recs []qaoa.Record, rejects []*Reject) {
	defer func() {
		if p := recover(); p != nil {
			recs, rejects = nil, []*Reject{Rejectf(ParseError, "",
				"the source failed on this element, which is a fault of the source: %.200v", p)}
		}
	}()
	return convert(el)
}
