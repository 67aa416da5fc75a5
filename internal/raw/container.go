package raw

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxLayers is how often a file may be compressed: a .gz inside of a .zst
	// happens, more is an attack or an accident.
	maxLayers = 2

	// maxWindow bounds the memory of the zstd decoder. It is what the command
	// line tool uses with --ultra -22 or --long: 128 MiB.
	maxWindow = 128 << 20

	// headSize is how many bytes tell a container.
	headSize = 64
)

// A container is a kind of file that is told by its first bytes. JSON text is
// what remains when none fits. To support one more kind is to add a decoder
// here, or, for a kind whose elements are no text, a way to list them.
type container struct {
	name  string
	match func(head []byte) bool
	// open decodes a compressed stream; nil if the kind is not supported.
	open func(io.Reader) (io.ReadCloser, error)
	// table is set for a kind whose elements are no text: Parquet.
	table bool
	// advice tells what to do with a kind that is not supported.
	advice string
}

// containers returns the kinds that are known, in the order they are tried.
func containers() []container {
	prefix := func(magic string) func([]byte) bool {
		return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
	}
	const convertIt = "convert it to JSON lines first"
	return []container{
		{name: "gzip", match: prefix("\x1f\x8b"), open: openGzip},
		{name: "zstd", match: isZstd, open: openZstd},
		{
			name: "a Git LFS pointer", match: prefix("version https://git-lfs"),
			advice: `this is not the data but a note where it lies; run "git lfs pull" in its repository, or download the file itself`,
		},
		{name: "Parquet", match: prefix("PAR1"), table: true},
		{name: "Arrow", match: prefix("ARROW1"), advice: convertIt},
		{name: "SQLite", match: prefix("SQLite format 3"), advice: convertIt},
		{name: "bzip2", match: prefix("BZh"), advice: "decompress it first"},
		{name: "xz", match: prefix("\xfd7zXZ\x00"), advice: "decompress it first"},
		{name: "zip", match: prefix("PK\x03\x04"), advice: "unpack it and give the folder"},
		{name: "UTF-16 text", match: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
		}, advice: "convert it to UTF-8 first"},
		{
			name: "a web page", match: func(head []byte) bool { return bytes.HasPrefix(trimSpace(head), []byte("<")) },
			advice: "the download went wrong; fetch the file itself",
		},
	}
}

// containerOf returns the kind of the file that begins with head.
func containerOf(head []byte) (container, bool) {
	for _, c := range containers() {
		if c.match(head) {
			return c, true
		}
	}
	return container{}, false
}

// isZstd reports whether head begins a zstd frame, or one of the skippable
// frames that parallel compressors write first.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18"))
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func openZstd(r io.Reader) (io.ReadCloser, error) {
	// With a concurrency of 1 the decoder starts no goroutine.
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return dec.IOReadCloser(), nil
}

// A counter counts what is read from a file and keeps the error of the file
// apart from those of the decoders above it.
type counter struct {
	r   io.Reader
	n   int64
	sum *atomic.Int64 // counts what is read of all files; may be nil
	err error         // other than io.EOF
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.sum != nil {
		c.sum.Add(int64(n))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// A countedAt reads a file anywhere, and keeps its error apart from those of
// the decoders above it.
type countedAt struct {
	r    io.ReaderAt
	size int64
	n    *atomic.Int64 // counts what is read; may be nil
	err  error         // other than io.EOF
}

// ReadAt is that of io.ReaderAt.
func (c *countedAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	if c.n != nil {
		c.n.Add(int64(n))
	}
	if err != nil && !errors.Is(err, io.EOF) && off >= 0 {
		c.err = err
	}
	return n, err
}
