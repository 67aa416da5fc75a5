package train

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// A spool takes rows into plain files, one for each shard, and makes the
// shards of them: how many there are is only known at the end, and to compress
// all at once would take a window of memory for each.
type spool struct {
	opt    *ShardOptions
	folder *folder
	shards []*spooled
}

// spooled is a shard in the making.
type spooled struct {
	file *os.File
	buf  *bufio.Writer
	rows int
	// chain hashes the digests of the rows in order, to compare with what is
	// read back.
	chain xxh3.Hasher
}

func newSpool(opt *ShardOptions, f *folder) (*spool, error) {
	s := &spool{opt: opt, folder: f}
	for range opt.Shards {
		if err := s.open(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *spool) open() error {
	file, err := os.Create(s.spoolName(len(s.shards)))
	if err != nil {
		return err
	}
	s.shards = append(s.shards, &spooled{file: file, buf: bufio.NewWriterSize(file, 1<<16)})
	return nil
}

func (s *spool) spoolName(i int) string { return s.folder.temp(fmt.Sprintf("%d.spool", i)) }

// shardOf returns the shard of the next row, which has that id.
func (s *spool) shardOf(id string) (*spooled, error) {
	if s.opt.RowsPerShard == 0 {
		h := xxh3.HashString128Seed(id, s.opt.Seed)
		return s.shards[h.Lo%uint64(len(s.shards))], nil
	}
	if n := len(s.shards); n > 0 {
		last := s.shards[n-1]
		if last.rows < s.opt.RowsPerShard {
			return last, nil
		}
		if err := last.close(s.opt.Container == JSONL); err != nil {
			return nil, err
		}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.shards[len(s.shards)-1], nil
}

// write adds one row.
func (s *spool) write(id string, line []byte, digest [16]byte) error {
	sh, err := s.shardOf(id)
	if err != nil {
		return err
	}
	sh.rows++
	_, _ = sh.chain.Write(digest[:]) // never fails
	if _, err := sh.buf.Write(line); err != nil {
		return err
	}
	return sh.buf.WriteByte('\n')
}

// close flushes and closes the file of sh, once. It waits for the disk if the
// file is to be the shard itself.
func (sh *spooled) close(final bool) error {
	if sh.file == nil {
		return nil
	}
	err := sh.buf.Flush()
	if final {
		err = closeSynced(sh.file, err)
	} else {
		err = errors.Join(err, sh.file.Close())
	}
	sh.file, sh.buf = nil, nil
	return err
}

// close closes what is open, when there will be no shards.
func (s *spool) close() {
	for _, sh := range s.shards {
		_ = sh.close(false)
	}
}

// finish makes the shards and reads each back.
func (s *spool) finish(ctx context.Context) ([]File, error) {
	files := make([]File, len(s.shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.opt.Workers)
	for i, sh := range s.shards {
		if err := sh.close(s.opt.Container == JSONL); err != nil {
			s.close()
			return nil, errors.Join(err, g.Wait())
		}
		name := fmt.Sprintf("train-%05d-of-%05d.%s", i, len(s.shards), s.opt.Container)
		g.Go(func() (err error) {
			path := s.folder.temp(dataFolder, name)
			if err := pack(s.spoolName(i), path, s.opt); err != nil {
				return err
			}
			files[i], err = sh.readBack(ctx, path, s.opt)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			files[i].Name = dataFolder + "/" + name
			return nil
		})
	}
	return files, g.Wait()
}

// pack turns a spool file into a shard.
func pack(from, to string, opt *ShardOptions) (err error) {
	if opt.Container == JSONL {
		return os.Rename(from, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(), os.Remove(from)) }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if opt.Container == Parquet {
		return closeSynced(out, opt.codec().columns(out, in))
	}
	return closeSynced(out, compress(out, in, opt.Container))
}

// compress uses one goroutine a stream, for its bytes not to depend on how
// many there are.
func compress(out io.Writer, in io.Reader, c Container) error {
	var w io.WriteCloser = gzip.NewWriter(out)
	if c == Zstd {
		enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
		if err != nil {
			return err
		}
		w = enc
	}
	if _, err := io.Copy(w, in); err != nil {
		_ = w.Close()
		return err
	}
	return w.Close()
}

// readBack reads the shard at path from the disk and compares each row with
// the record it was made of, by their digests in order.
func (sh *spooled) readBack(ctx context.Context, path string, opt *ShardOptions) (File, error) {
	var chain xxh3.Hasher
	got, err := readShard(ctx, path, opt.Format, opt.Container, opt.PlainAnswers, func(r row) {
		d := r.digest()
		_, _ = chain.Write(d[:]) // never fails
	})
	if err != nil {
		return File{}, err
	}
	if got.Rows != sh.rows || chain.Sum128() != sh.chain.Sum128() {
		return File{}, fmt.Errorf("what was read back (%d rows) is not what was written (%d rows): the disk or the memory of this machine is at fault", got.Rows, sh.rows)
	}
	return got, nil
}

// readShard reads a shard, calls f with each row and returns what the manifest
// is to say of the file, without its name.
func readShard(ctx context.Context, path string, format Format, c Container, plain bool, f func(row)) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = file.Close() }() // only read
	sum := sha256.New()
	counter := &counting{r: io.TeeReader(file, sum)}
	var src io.Reader = counter
	if c == Parquet {
		// Its index is at the end, so it is not read from front to back.
		if _, err := io.Copy(io.Discard, counter); err != nil {
			return File{}, err
		}
		src = file
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return File{}, err
		}
	}
	parse := codecOf(format, c).parse
	rows := 0
	err = eachRow(ctx, src, filepath.Base(path), c, func(line []byte) error {
		r, err := parse(line, plain)
		if err != nil {
			return err
		}
		rows++
		f(r)
		return nil
	})
	if err != nil {
		return File{}, fmt.Errorf("row %d: reading back: %w", rows, err)
	}
	if _, err := io.Copy(io.Discard, counter); err != nil {
		return File{}, err
	}
	return File{Rows: rows, Bytes: counter.n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// decompress tells by content how r is stored.
func decompress(r *bufio.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	switch head, _ := r.Peek(4); { // a shard without rows may be shorter
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		z, err := gzip.NewReader(r)
		return z, nothing, err
	case string(head) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nothing, err
		}
		return z, z.Close, nil
	}
	return r, nothing, nil
}

// counting counts the bytes that were read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
