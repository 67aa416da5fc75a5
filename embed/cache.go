package embed

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

	"assay/internal/filelock"
)

// A cache file begins with a line of JSON, the header, so that "head -1" tells
// what it is. Entries of one length follow, with nothing between them:
//
//	SHA-256 of the text         32 bytes
//	the vector                  4 bytes a number, little-endian float32
//	XXH3 of both and the header  8 bytes, little-endian
//
// A process that is killed while it appends leaves a part of an entry at the
// end, which the next one cuts off. An entry whose sum is wrong (a disk that
// lost a block) counts as not there; the ones after it stay in step, since all
// have one length.
const (
	cacheFormat = "assay-vectors/1"
	sumSize     = 8
	maxHeader   = 4 << 10
	maxDim      = 1 << 20
)

// A header says whose vectors a cache file holds.
type header struct {
	Format string `json:"format"`
	Model  string `json:"model"`            // as [Source.Name] has it
	Digest string `json:"digest,omitempty"` // of the weights, "" if the server has none
	Dim    int    `json:"dim"`
}

// String names the model for a message.
func (h header) String() string {
	s := h.Model
	if h.Digest != "" {
		s += " (" + h.Digest + ")"
	}
	return fmt.Sprintf("%s, %d dimensions", s, h.Dim)
}

type key [sha256.Size]byte

// A cache is a cache file in use by this process. It keeps in memory where each
// text's vector is, about 60 bytes a text, and no vector.
type cache struct {
	path string
	lock *os.File
	file *os.File    // nil as long as there is no file
	info fs.FileInfo // of the file when it was closed, for the next cache

	header  header
	seed    uint64 // of the sums: a hash of the header's line
	end     int64  // where the next entry goes
	offsets map[key]int64
	buf     []byte
}

// openCache takes the lock of the cache at path and reads what is there, if
// anything is. What an earlier cache of this process read, nil if there is none,
// is not read again.
func openCache(path string, earlier *cache) (*cache, error) {
	lock, err := filelock.Take(path + ".lock")
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: another process is using this cache (%s.lock); wait for it, or give another file", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("the lock of the cache: %w", err)
	}
	c := &cache{path: path, lock: lock, offsets: map[key]int64{}}
	if err := c.load(earlier); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), c.Close())
	}
	return c, nil
}

// Close releases the file.
func (c *cache) Close() error {
	var err error
	if c.file != nil {
		c.info, err = c.file.Stat()
		err = errors.Join(err, c.file.Close())
	}
	return errors.Join(err, filelock.Release(c.lock))
}

// load reads header and entries.
func (c *cache) load(earlier *cache) error {
	f, err := os.OpenFile(c.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c.file = f
	if earlier != nil && earlier.header.Dim > 0 {
		if ok, err := c.resume(earlier); ok || err != nil {
			return err
		}
	}
	r := bufio.NewReaderSize(f, 1<<20)
	line, err := r.ReadSlice('\n')
	switch {
	case len(line) == 0 && errors.Is(err, io.EOF):
		return nil // an empty file, as of "touch"
	case err != nil && len(line) <= maxHeader && cutHeader(line):
		return nil // killed while it wrote the header: begin again
	case err != nil || len(line) > maxHeader:
		return errNoCache
	}
	if err := json.Unmarshal(line, &c.header); err != nil || c.header.Format != cacheFormat || c.header.Dim < 1 || c.header.Dim > maxDim {
		return errNoCache
	}
	c.begin(line)
	return c.scan(r)
}

// resume takes over what an earlier cache knows, if it is of the same file and
// the file has not become shorter, and reads what others have added since.
func (c *cache) resume(earlier *cache) (bool, error) {
	info, err := c.file.Stat()
	if err != nil {
		return false, err
	}
	if !os.SameFile(info, earlier.info) || info.Size() < earlier.end {
		return false, nil
	}
	c.header, c.seed, c.end = earlier.header, earlier.seed, earlier.end
	c.offsets, c.buf = earlier.offsets, earlier.buf
	if _, err := c.file.Seek(c.end, io.SeekStart); err != nil {
		return false, err
	}
	return true, c.scan(bufio.NewReaderSize(c.file, 1<<16))
}

var errNoCache = errors.New("this file is no cache of vectors (want a first line that begins with " + headerStart + "); give another file, which need not exist")

const headerStart = `{"format":"` + cacheFormat + `",`

// cutHeader reports whether a file that ends within its first line was to be a
// cache.
func cutHeader(line []byte) bool {
	n := min(len(line), len(headerStart))
	return string(line[:n]) == headerStart[:n]
}

// begin sets what follows from the line of the header.
func (c *cache) begin(line []byte) {
	c.seed = xxh3.Hash(line)
	c.end = int64(len(line))
	c.buf = make([]byte, c.entrySize())
}

func (c *cache) entrySize() int { return sha256.Size + 4*c.header.Dim + sumSize }

// scan reads the entries and notes where they are.
func (c *cache) scan(r io.Reader) error {
	for {
		_, err := io.ReadFull(r, c.buf)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the part of an entry is overwritten by the next one
		}
		if err != nil {
			return err
		}
		if c.good(c.buf) {
			c.offsets[key(c.buf[:sha256.Size])] = c.end
		}
		c.end += int64(len(c.buf))
	}
}

func (c *cache) sum(entry []byte) uint64 {
	return xxh3.HashSeed(entry[:len(entry)-sumSize], c.seed)
}

func (c *cache) good(entry []byte) bool {
	return binary.LittleEndian.Uint64(entry[len(entry)-sumSize:]) == c.sum(entry)
}

// accept returns an error if the cache holds vectors of another model than
// want. A dimension of 0 in want is any; a digest of "" too.
func (c *cache) accept(want header) error {
	have := c.header
	if have.Dim == 0 {
		return nil // empty
	}
	if have.Model == want.Model && (want.Digest == "" || have.Digest == want.Digest) && (want.Dim == 0 || have.Dim == want.Dim) {
		return nil
	}
	if want.Dim == 0 {
		want.Dim = have.Dim
	}
	return fmt.Errorf("%s: the cache holds vectors of %s, and these are asked of %s; give each model a file of its own, or delete this one", c.path, have, want)
}

// has reports whether the vector of a text is there.
func (c *cache) has(k key) bool {
	_, ok := c.offsets[k]
	return ok
}

// read fills row with the vector of a text that the cache has.
func (c *cache) read(k key, row []float32) error {
	at, ok := c.offsets[k]
	if !ok || len(row) != c.header.Dim {
		return fmt.Errorf("%s: no vector of %d dimensions for this text", c.path, len(row))
	}
	if _, err := c.file.ReadAt(c.buf, at); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	if !c.good(c.buf) || !bytes.Equal(c.buf[:sha256.Size], k[:]) {
		return fmt.Errorf("%s: the entry at byte %d changed while it was in use; has another program written to the file?", c.path, at)
	}
	for i := range row {
		row[i] = math.Float32frombits(binary.LittleEndian.Uint32(c.buf[sha256.Size+4*i:]))
	}
	return nil
}

// add appends the vectors of texts, which are of one dimension, in one write.
// The first one of all decides the header.
func (c *cache) add(want header, keys []key, vectors [][]float32) error {
	if len(keys) == 0 {
		return nil
	}
	var out []byte
	if c.header.Dim == 0 {
		line, err := c.create(want)
		if err != nil {
			return err
		}
		out, c.end = line, 0
	}
	at := c.end + int64(len(out))
	first := at
	for i, v := range vectors {
		from := len(out)
		out = append(out, keys[i][:]...)
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
		out = binary.LittleEndian.AppendUint64(out, xxh3.HashSeed(out[from:], c.seed))
	}
	// What a killed process left beyond the last whole entry goes first, so
	// that it cannot be taken for the end of a new one.
	if err := c.file.Truncate(c.end); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	if _, err := c.file.WriteAt(out, c.end); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	for i, k := range keys {
		c.offsets[k] = first + int64(i)*int64(c.entrySize())
	}
	c.end += int64(len(out))
	return nil
}

// create makes the file if there is none and returns the line of its header.
func (c *cache) create(h header) ([]byte, error) {
	if c.file == nil {
		f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		c.file = f
	}
	h.Format = cacheFormat
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	if len(line) > maxHeader {
		return nil, fmt.Errorf("%s: the name of the model is longer than a cache can say (%d bytes)", c.path, maxHeader)
	}
	c.header = h
	c.begin(line)
	return line, nil
}
