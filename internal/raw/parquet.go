package raw

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"assay/qaoa"

	"github.com/parquet-go/parquet-go"
)

// maxReadBuffer and minReadBuffer bound the bytes that are read ahead of each
// column, allReadBuffers those of all together where the columns are few.
const (
	maxReadBuffer  = 128 << 10
	minReadBuffer  = 4 << 10
	allReadBuffers = 4 << 20
)

// minParquet is the size of the magic at both ends and the length of the index.
const minParquet = 12

// A parquetFile is an open Parquet file with the rows of one row group.
type parquetFile struct {
	src    *countedAt
	file   *parquet.File
	root   *node
	groups []parquet.RowGroup
	group  int   // of groups, whose rows are read next
	left   int64 // rows of the group that are not read yet
	begun  bool  // the columns of the group are open
	w      rowWriter
}

// parquet yields the rows of the Parquet file that head begins.
func (rd *reader) parquet(ctx context.Context, head []byte) bool {
	src, done, err := rd.readerAt(ctx, head)
	if err != nil {
		if rd.err != nil && !errors.Is(rd.err, io.EOF) {
			return rd.finish(rd.pos0(), "")
		}
		rd.yield(Element{}, fmt.Errorf("%s: Parquet from a stream needs room for a temporary file (set TMPDIR, or give the file itself by its path): %w", rd.name, err))
		return false
	}
	defer done()
	pf, err := openParquet(src, rd.opt)
	if err != nil {
		return rd.failParquet(src, "the Parquet file cannot be opened", err)
	}
	defer pf.close()
	for {
		if err := ctx.Err(); err != nil {
			rd.yield(Element{}, err)
			return false
		}
		ok, err := pf.next()
		switch {
		case err != nil:
			return rd.failParquet(src, fmt.Sprintf("row group %d: the Parquet file is cut off or corrupt; fetch it again", pf.group), err)
		case !ok:
			return true
		}
		pos := qaoa.Pos{File: rd.name, Index: rd.index}
		rd.index++
		if pf.w.dropped > 0 {
			if !rd.yield(Element{Pos: pos}, &TooLargeError{Pos: pos, Size: pf.w.size(), Limit: rd.opt.MaxElement}) {
				return false
			}
			continue
		}
		if pf.w.asCells {
			if !rd.yield(Element{Pos: pos, Cells: pf.w.cells}, nil) {
				return false
			}
			continue
		}
		data := pf.w.buf
		if !rd.opt.Reuse || len(data) > MaxReused {
			data = bytes.Clone(data)
		}
		if !rd.yield(Element{Pos: pos, Data: data}, nil) {
			return false
		}
	}
}

// failParquet ends the stream with the fault of the file, or of the disk.
func (rd *reader) failParquet(src *countedAt, msg string, err error) bool {
	if src.err != nil {
		rd.yield(Element{}, fmt.Errorf("%s: %w", rd.name, src.err))
		return false
	}
	pos := qaoa.Pos{File: rd.name, Index: rd.index}
	rd.yield(Element{}, &ContainerError{Pos: pos, Offset: -1, Compressed: -1, Msg: msg, Err: err})
	return false
}

// readerAt returns the file for reading anywhere, and what to call after. A
// Parquet file has its index at the end, so one that comes as a stream, or
// compressed, is copied to a temporary file first.
func (rd *reader) readerAt(ctx context.Context, head []byte) (src *countedAt, done func(), err error) {
	if at, size, ok := seekable(rd.file.r); ok && len(rd.layers) == 0 {
		if rd.opt.Bytes != nil {
			rd.opt.Bytes.Add(-rd.file.n) // the head is read again
		}
		return &countedAt{r: at, size: size, n: rd.opt.Bytes}, func() {}, nil
	}
	tmp, err := os.CreateTemp("", "assay-*.parquet")
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		_ = tmp.Close() // what is left of it is of no use to anybody
		_ = os.Remove(tmp.Name())
	}
	size, err := rd.spool(ctx, tmp, head)
	if err != nil {
		done()
		return nil, nil, err
	}
	return &countedAt{r: tmp, size: size}, done, nil
}

// spool copies the whole text to w, which begins with head, and returns its
// size.
func (rd *reader) spool(ctx context.Context, w io.Writer, head []byte) (int64, error) {
	size := int64(len(head))
	if _, err := w.Write(head); err != nil {
		return 0, err
	}
	rd.pos = rd.end // the head is written
	for rd.more(ctx) {
		n, err := w.Write(rd.buf[rd.pos:rd.end])
		if err != nil {
			return 0, err
		}
		rd.pos = rd.end
		size += int64(n)
	}
	if !errors.Is(rd.err, io.EOF) {
		return 0, rd.err
	}
	return size, nil
}

// seekable returns r for reading anywhere and its size, if it is a file or
// text in memory.
func seekable(r io.Reader) (at io.ReaderAt, size int64, ok bool) {
	at, ok = r.(io.ReaderAt)
	if !ok {
		return nil, 0, false
	}
	switch f := r.(type) {
	case interface{ Size() int64 }:
		return at, f.Size(), true
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return nil, 0, false
		}
		return at, info.Size(), true
	}
	return nil, 0, false
}

// openParquet opens a file and checks that it has the wanted columns.
func openParquet(src *countedAt, opt Options) (pf *parquetFile, err error) {
	defer recovered(&err)
	if err := checkFooter(src); err != nil {
		return nil, err
	}
	// The footer says how many columns there are, so it is read twice: the
	// size of the buffers must be known when the file is opened.
	file, err := parquet.OpenFile(src, src.size, openOptions(minReadBuffer)...)
	if err != nil {
		return nil, err
	}
	root, _ := readSchema(file.Metadata().Schema)
	if err := root.project(opt.Columns); err != nil {
		return nil, err
	}
	if len(root.columns) == 0 {
		return nil, errors.New("it has no columns")
	}
	if size := min(allReadBuffers/len(root.columns), maxReadBuffer); size > minReadBuffer {
		if file, err = parquet.OpenFile(src, src.size, openOptions(size)...); err != nil {
			return nil, err
		}
	}
	w := rowWriter{limit: opt.MaxElement}
	if opt.Cells && root.flat() {
		w.cells = make([]Cell, len(root.children))
		for i, c := range root.children {
			w.cells[i].Name = c.columns[0].name
		}
	}
	return &parquetFile{src: src, file: file, root: root, groups: file.RowGroups(), w: w}, nil
}

// checkFooter checks the length of the index, for which the library would get
// memory whatever it is.
func checkFooter(src *countedAt) error {
	if src.size < minParquet {
		return fmt.Errorf("it is cut off after %d bytes; fetch it again", src.size)
	}
	var footer [8]byte
	if _, err := src.ReadAt(footer[:], src.size-int64(len(footer))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if magic := string(footer[4:]); magic != "PAR1" {
		return fmt.Errorf("want PAR1 at its end, have %q: it is cut off or encrypted; fetch it again", magic)
	}
	if n, most := int64(binary.LittleEndian.Uint32(footer[:])), src.size-minParquet; n > most {
		return fmt.Errorf("its index of %d bytes is larger than the file, which has room for %d; fetch it again", n, most)
	}
	return nil
}

// openOptions returns how files are opened: only what is needed is read, and no
// goroutine is started.
func openOptions(readBuffer int) []parquet.FileOption {
	return []parquet.FileOption{
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer),
		parquet.FileReadMode(parquet.ReadModeSync),
	}
}

// next makes the next row, and reports whether there is one.
func (pf *parquetFile) next() (ok bool, err error) {
	defer recovered(&err)
	for pf.left == 0 {
		if pf.begun {
			if err := pf.endGroup(); err != nil {
				return false, err
			}
		}
		if pf.group == len(pf.groups) {
			return false, nil
		}
		pf.beginGroup()
	}
	if err := pf.w.row(pf.root); err != nil {
		return false, err
	}
	pf.left--
	return true, nil
}

func (pf *parquetFile) beginGroup() {
	g := pf.groups[pf.group]
	chunks, meta := g.ColumnChunks(), pf.file.Metadata().RowGroups[pf.group].Columns
	for _, c := range pf.root.columns {
		c.open(chunks[c.index], newPageGuard(pf.src, &meta[c.index].MetaData, c.guard.buf))
	}
	pf.left, pf.begun = max(g.NumRows(), 0), true
}

// endGroup checks that the columns end with their last row: a row more would be
// lost without a word.
func (pf *parquetFile) endGroup() error {
	for _, c := range pf.root.columns {
		if c.peek() != nil {
			return &columnError{column: c.name, msg: fmt.Sprintf("goes on after the %d rows of the group", pf.groups[pf.group].NumRows())}
		}
		if !errors.Is(c.err, io.EOF) {
			return c.ended()
		}
		c.close()
	}
	pf.begun = false
	pf.group++
	return nil
}

// close gives back what is held.
func (pf *parquetFile) close() {
	defer func() { _ = recover() }() // after a panic of the library anything may fail
	for _, c := range pf.root.columns {
		c.close()
	}
}

// recovered makes an error of a panic. The library checks much of what a file
// says, but not everything.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file breaks the format: %.200v", p)
	}
}
