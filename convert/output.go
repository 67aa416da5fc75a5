package convert

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An Output is a file in the making. It appears under its name, whole, when it
// is closed, and not at all when it is aborted: until then it has a temporary
// name in the same folder. The same bytes written make the same file.
type Output struct {
	path string
	file *os.File
	buf  *bufio.Writer
	comp io.WriteCloser // nil if the file is plain
	w    io.Writer      // comp or buf
	done bool
	// inPlace is set where the path is no regular file: a device, a pipe. It
	// is written to as it is, and never replaced or removed.
	inPlace bool
}

// Special reports whether path exists and is no regular file, such as
// /dev/null or a named pipe: it can be written to, but not be replaced.
func Special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// NewOutput begins a file, compressed if path ends in .gz or .zst. The folder
// must exist. A path that is [Special] is written to at once.
func NewOutput(path string) (*Output, error) {
	if Special(path) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return outputTo(f, path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return outputTo(f, path)
}

// outputTo begins the file path, which has the name of f until it is closed.
func outputTo(f *os.File, path string) (o *Output, err error) {
	o = &Output{path: path, file: f, buf: bufio.NewWriterSize(f, 256<<10), inPlace: f.Name() == path}
	o.w = o.buf
	switch {
	case strings.HasSuffix(path, ".gz"):
		o.comp = gzip.NewWriter(o.buf)
	case strings.HasSuffix(path, ".zst"):
		// More goroutines would cut the blocks by chance. The fastest level,
		// since records are read again soon: it saves a fifth of the time of a
		// conversion and costs a fifth of the size, which is still that of zstd -1.
		o.comp, err = zstd.NewWriter(o.buf, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(2<<20))
	}
	if err != nil {
		o.Abort()
		return nil, err
	}
	if o.comp != nil {
		o.w = o.comp
	}
	return o, nil
}

// Write adds p to the file.
func (o *Output) Write(p []byte) (int, error) { return o.w.Write(p) }

// Close completes the file and gives it its name. After an error the file is
// gone, and what was at the path before is still there.
func (o *Output) Close() error {
	if o.done {
		return os.ErrClosed
	}
	var err error
	if o.comp != nil {
		err = o.comp.Close()
	}
	err = errors.Join(err, o.buf.Flush())
	if err == nil && !o.inPlace {
		err = o.file.Chmod(0o644)
	}
	if err != nil {
		o.Abort()
		return err
	}
	o.done = true
	if err = o.file.Close(); err == nil && !o.inPlace {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		o.remove() // the first error is the one to tell
	}
	return err
}

// Abort drops the file. It does nothing after Close, so it can be deferred.
func (o *Output) Abort() {
	if o.done {
		return
	}
	o.done = true
	if o.comp != nil {
		_ = o.comp.Close() // its memory is freed; the file goes anyway
	}
	_ = o.file.Close()
	o.remove()
}

// remove removes a file that will not be completed.
func (o *Output) remove() {
	if !o.inPlace {
		_ = os.Remove(o.file.Name())
	}
}

// suspend completes the compressed stream and leaves the file under its
// temporary name.
func (o *Output) suspend() error {
	if o.done {
		return os.ErrClosed
	}
	o.done = true
	var err error
	if o.comp != nil {
		err = o.comp.Close()
	}
	return errors.Join(err, o.buf.Flush(), o.file.Close())
}
