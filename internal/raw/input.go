package raw

import (
	"bytes"
	"context"
	"io"
)

// blockSize is how much is read at a time, and how much of a file is looked at
// to tell its layout.
const blockSize = 256 << 10

// An input is decompressed text with a cursor. It holds one block.
type input struct {
	r        io.Reader
	buf      []byte
	pos, end int   // the cursor and the end of what is in buf
	base     int64 // offset of buf[0]
	line     int   // 1-based line of the cursor
	err      error // why no more can be read, io.EOF at the end
}

// offset returns the offset of the cursor.
func (in *input) offset() int64 { return in.base + int64(in.pos) }

// more makes sure that there is a byte at the cursor, and reports whether
// there is.
func (in *input) more(ctx context.Context) bool {
	if in.pos < in.end {
		return true
	}
	if in.err != nil {
		return false
	}
	in.base += int64(in.end)
	in.pos, in.end = 0, 0
	in.read(ctx)
	return in.pos < in.end
}

// read appends to the block, which must have room.
func (in *input) read(ctx context.Context) {
	for range 100 {
		if err := ctx.Err(); err != nil {
			in.err = err
			return
		}
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		if err != nil {
			in.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// peek returns what follows the cursor in the first block: at least until
// enough returns true for it, unless the block or the text ends before.
func (in *input) peek(ctx context.Context, enough func(text []byte) bool) []byte {
	for in.err == nil && in.end < len(in.buf) && !enough(in.buf[in.pos:in.end]) {
		in.read(ctx)
	}
	return in.buf[in.pos:in.end]
}

// take moves the cursor by n bytes, which must be in the block, and returns
// them. They are valid until the next call of more.
func (in *input) take(n int) []byte {
	p := in.buf[in.pos : in.pos+n]
	in.pos += n
	in.line += bytes.Count(p, []byte{'\n'})
	return p
}

// skipSpace moves the cursor to the next byte that is no blank, and reports
// whether there is one.
func (in *input) skipSpace(ctx context.Context) bool {
	for in.more(ctx) {
		for in.pos < in.end {
			c := in.buf[in.pos]
			if !isSpace(c) {
				return true
			}
			if c == '\n' {
				in.line++
			}
			in.pos++
		}
	}
	return false
}
