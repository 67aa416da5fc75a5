package convert

import (
	"context"
	"slices"

	"assay/internal/raw"
)

// A batch is a piece of work. The reader fills the first fields, a worker the
// outcomes, then done is closed.
type batch struct {
	elements  []pending
	data      *[]byte // of the elements, if the source copies what it needs
	size      int
	convert   Func
	file      string
	bytesRead int64
	err       error // what ended the reading after these elements

	outcomes []Outcome
	done     chan struct{}
}

// batches puts the elements of inputs into the queue, and what ended the
// reading into the last batch.
func (r *run) batches(ctx context.Context, inputs []Input) {
	defer close(r.queue)
	defer close(r.jobs)
	var b *batch // of one file
	for p := range r.pieces(ctx, inputs) {
		if b == nil {
			b = r.fresh(p.convert, p.file)
		}
		if b.err = p.fatal; p.fatal == nil && !p.fileEnd {
			b.add(p.pending)
		}
		if p.fileEnd || p.fatal != nil || len(b.elements) >= batchElements || b.size >= batchBytes {
			if !r.send(ctx, b) {
				return
			}
			b = nil
		}
	}
	if b != nil {
		r.send(ctx, b) // what was read when the limit was reached
	}
}

// fresh returns an empty batch.
func (r *run) fresh(convert Func, file string) *batch {
	b := &batch{convert: convert, file: file}
	if r.src.Copies {
		if b.data, _ = r.free.Get().(*[]byte); b.data == nil {
			b.data = new([]byte)
		}
	}
	return b
}

// recycle takes back the memory of the elements of b.
func (r *run) recycle(b *batch) {
	if b.data != nil && cap(*b.data) <= 4*batchBytes {
		*b.data = (*b.data)[:0]
		r.free.Put(b.data)
	}
}

// add adds an element to b.
func (b *batch) add(p pending) {
	if p.el.Cells != nil {
		p.el.Cells = b.copied(p.el.Cells)
	} else if b.data != nil && len(p.el.Data) <= raw.MaxReused {
		// Elements from before stay where they were when there is no room.
		start := len(*b.data)
		*b.data = append(*b.data, p.el.Data...)
		p.el.Data = (*b.data)[start:len(*b.data):len(*b.data)]
	}
	b.elements = append(b.elements, p)
	b.size += len(p.el.Data)
}

// copied returns cells that last as long as the batch.
func (b *batch) copied(cells []raw.Cell) []raw.Cell {
	out := slices.Clone(cells)
	for i, f := range cells {
		start := len(*b.data)
		*b.data = append(*b.data, f.Value...)
		out[i].Value = (*b.data)[start:len(*b.data):len(*b.data)]
		b.size += len(f.Value)
	}
	return out
}

// send hands a batch over and reports whether anybody still wants it. A batch
// with an error is handed over even if ctx is done, as long as there is room:
// then the error is seen.
func (r *run) send(ctx context.Context, b *batch) bool {
	b.bytesRead = r.bytes.Load()
	b.done = make(chan struct{})
	select {
	case r.queue <- b:
	case <-ctx.Done():
		return false
	}
	select {
	case r.jobs <- b:
		return true
	case <-ctx.Done():
		close(b.done) // nobody converts it; the consumer may wait for it
		return false
	}
}

// work converts batches until there are no more.
func (r *run) work() {
	var scratch []byte
	for b := range r.jobs {
		b.outcomes = make([]Outcome, len(b.elements))
		for i, p := range b.elements {
			b.outcomes[i], scratch = r.outcome(p, b.convert, scratch)
		}
		b.elements = nil
		close(b.done)
	}
}
