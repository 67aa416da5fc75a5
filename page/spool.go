package page

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/klauspost/compress/gzip"
)

// A span is where an entry of a [spool] or a line of a file is. The zero span
// is nowhere.
type span struct {
	off int64
	n   int
}

// A spool keeps entries in a temporary file, so that memory holds only where
// they are.
type spool struct {
	file *os.File
	end  int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "assay-report-*")
	if err != nil {
		return nil, fmt.Errorf("%w; a report needs room for temporary files, set TMPDIR to where there is some", err)
	}
	return &spool{file: f}, nil
}

// add appends an entry.
func (s *spool) add(data []byte) (span, error) {
	if _, err := s.file.Write(data); err != nil {
		return span{}, fmt.Errorf("%w; a report needs room for temporary files, set TMPDIR to where there is some", err)
	}
	at := span{s.end, len(data)}
	s.end += int64(len(data))
	return at, nil
}

func (s *spool) read(at span) ([]byte, error) { return readSpan(s.file, at) }

func readSpan(f *os.File, at span) ([]byte, error) {
	data := make([]byte, at.n)
	if _, err := f.ReadAt(data, at.off); err != nil {
		return nil, fmt.Errorf("%s: %d bytes at %d: %w", f.Name(), at.n, at.off, err)
	}
	return data, nil
}

func (s *spool) close() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// blobs are compressed entries, numbered from 0.
type blobs struct {
	spool *spool
	at    []span
	buf   bytes.Buffer
	zip   *gzip.Writer
}

func newBlobs() (*blobs, error) {
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	b := &blobs{spool: s}
	b.zip = gzip.NewWriter(&b.buf)
	return b, nil
}

// add compresses data and returns its number.
func (b *blobs) add(data []byte) (int, error) {
	b.buf.Reset()
	b.zip.Reset(&b.buf)
	if _, err := b.zip.Write(data); err != nil {
		return 0, err
	}
	if err := b.zip.Close(); err != nil {
		return 0, err
	}
	at, err := b.spool.add(b.buf.Bytes())
	if err != nil {
		return 0, err
	}
	b.at = append(b.at, at)
	return len(b.at) - 1, nil
}

// A blobList collects JSON values into blobs of about size bytes, each an
// array.
type blobList struct {
	to   *blobs
	size int
	most int // values in a blob
	buf  []byte
	n    int
	nums []int // of the blobs so far
}

// add appends a value and returns the place of its blob in nums, and its place
// in the blob.
func (l *blobList) add(value []byte) (blob, place int, err error) {
	if l.n > 0 {
		l.buf = append(l.buf, ',')
	} else {
		l.buf = append(l.buf[:0], '[')
	}
	l.buf = append(l.buf, value...)
	blob, place = len(l.nums), l.n
	l.n++
	if len(l.buf) >= l.size || l.n == l.most {
		err = l.flush()
	}
	return blob, place, err
}

func (l *blobList) flush() error {
	if l.n == 0 {
		return nil
	}
	num, err := l.to.add(append(l.buf, ']'))
	l.nums = append(l.nums, num)
	l.n = 0
	return err
}
