package eval

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

	"assay/model"
	"assay/qaoa"
)

// A journal is an append-only file of results, one JSON object a line:
//
//	{"sum":"16 digits","key":…,"index":…,"attempts":[…],"latency_ms":[…],"prediction":{…}}
//	{"sum":"16 digits","key":…,"index":…,"id":…,"repeat":…,"fail":{…}}
//
// where sum is the XXH3 hash of everything after its comma. Each line is one
// write, so a process that is killed leaves at most one cut line, the last.
type journal struct {
	file   journalFile
	end    int64 // offset after the last good line
	buf    []byte
	policy SyncPolicy

	unsynced int
	synced   time.Time

	// A flush under SyncInterval runs beside the run, which does not wait for
	// the disk. Its error is that of the next line.
	flushing sync.WaitGroup
	mu       sync.Mutex // guards the rest
	busy     bool
	flushErr error
}

// A journalFile is what a journal needs of an [os.File].
type journalFile interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	Truncate(size int64) error
	Sync() error
	Name() string
}

// A SyncPolicy says when the journal is flushed to the disk. A process that is
// killed loses nothing whatever the policy; a machine that dies may lose what
// was not flushed.
type SyncPolicy string

// The policies. SyncInterval flushes every 64 lines, and the first line that
// comes 2 seconds or more after the last flush; SyncAlways each line; SyncNever
// leaves it to the system, but for the end of a run.
const (
	SyncInterval SyncPolicy = "interval"
	SyncAlways   SyncPolicy = "always"
	SyncNever    SyncPolicy = "never"
)

// ParseSyncPolicy returns the policy of that name; "" is [SyncInterval].
func ParseSyncPolicy(s string) (SyncPolicy, error) {
	switch p := SyncPolicy(s); p {
	case "":
		return SyncInterval, nil
	case SyncInterval, SyncAlways, SyncNever:
		return p, nil
	}
	return "", fmt.Errorf("--fsync %q: want interval, always or never", s)
}

const (
	syncLines = 64
	syncAfter = 2 * time.Second
)

// CutFile is where bytes at the end of a journal are put that are no good line.
const CutFile = "journal.cut"

// journalStart is how each line of a journal begins.
const journalStart = `{"sum":"`

const sumPrefix = len(`{"sum":"0123456789abcdef",`)

// An entry is what a line says, without the prediction itself.
type entry struct {
	Key   string
	Index int
	// Line is the place of the whole line, without its line break.
	Offset int64
	Length int

	ID     string // of a failure
	Repeat int
	Fail   *Failure
}

// createJournal opens or makes the file of a journal.
func createJournal(path string) (journalFile, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// openJournal opens or makes the journal at path by create, calls each for
// every good line, and cuts off what a kill left of the last one; cut is how
// many bytes that was. They are kept in [CutFile]. A bad line before a good one
// is an error, and so is a file that does not begin as a journal: no kill does
// that.
func openJournal(path string, create func(string) (journalFile, error), each func(entry) error) (j *journal, cut int64, err error) {
	f, err := create(path)
	if err != nil {
		return nil, 0, err
	}
	j = &journal{file: f, policy: SyncInterval, synced: time.Now()}
	size, err := j.scan(path, each)
	if err == nil && size > j.end {
		err = j.cutTail(path, size)
	}
	if err == nil {
		_, err = f.Seek(j.end, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return j, size - j.end, nil
}

// cutTail cuts off what comes after the last good line, and keeps it.
func (j *journal) cutTail(path string, size int64) error {
	kept, err := os.OpenFile(filepath.Join(filepath.Dir(path), CutFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(kept, io.NewSectionReader(j.file, j.end, size-j.end))
	if err := errors.Join(err, kept.Close()); err != nil {
		return err
	}
	return j.file.Truncate(j.end)
}

// scan reads all lines, sets j.end and returns the size of the file.
func (j *journal) scan(path string, each func(entry) error) (size int64, err error) {
	r := bufio.NewReaderSize(j.file, 1<<16)
	bad := 0 // number of the first bad line
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, err
		}
		if len(line) > 0 {
			e, ok := readLine(line)
			if !ok && n == 1 && !strings.HasPrefix(journalStart, string(line[:min(len(line), len(journalStart))])) {
				return 0, fmt.Errorf("%s: want a journal of this program (lines that begin with %s), have %.40q; it is left as it is: resume the run with the version that wrote it, or give another folder", path, journalStart, line)
			}
			if ok && bad > 0 {
				return 0, fmt.Errorf("%s:%d: the checksum of the line does not hold, but later ones do: the file was edited or the disk is failing; delete that line to have its record asked again", path, bad)
			}
			if ok {
				e.Offset = size
				if err := each(e); err != nil {
					return 0, err
				}
				j.end = size + int64(len(line))
			} else if bad == 0 {
				bad = n
			}
			size += int64(len(line))
		}
		if err == io.EOF {
			return size, nil
		}
	}
}

// readLine checks and reads a line with its line break.
func readLine(line []byte) (entry, bool) {
	body, ok := bytes.CutSuffix(line, []byte("\n"))
	if !ok || len(body) <= sumPrefix || !bytes.Equal(appendSum(nil, body[sumPrefix:]), body[:sumPrefix]) {
		return entry{}, false
	}
	head := body
	if at := bytes.Index(body, []byte(predictionMark)); at >= 0 {
		head = append(append(make([]byte, 0, at+1), body[:at]...), '}')
	}
	var l struct {
		Key    string `json:"key"`
		Index  int    `json:"index"`
		ID     string `json:"id"`
		Repeat int    `json:"repeat"`
		Fail   *struct {
			Class    model.Class `json:"class"`
			Msg      string      `json:"msg"`
			Turn     int         `json:"turn"`
			Attempts int         `json:"attempts"`
		} `json:"fail"`
	}
	if err := json.Unmarshal(head, &l); err != nil {
		return entry{}, false
	}
	e := entry{Key: l.Key, Index: l.Index, Length: len(body), ID: l.ID, Repeat: l.Repeat}
	if l.Fail != nil {
		e.Fail = &Failure{l.Fail.Class, l.Fail.Msg, l.Fail.Turn, l.Fail.Attempts}
	}
	return e, true
}

// predictionMark comes before the prediction, the last member of a line.
const predictionMark = `,"prediction":`

// prediction reads the prediction line of an entry, and what stands before it
// in the journal: a JSON object that is not closed.
func (j *journal) prediction(e entry) (prediction, head []byte, err error) {
	line := make([]byte, e.Length)
	if _, err := j.file.ReadAt(line, e.Offset); err != nil {
		return nil, nil, err
	}
	head, after, ok := bytes.Cut(line, []byte(predictionMark))
	if !ok || len(after) == 0 {
		return nil, nil, fmt.Errorf("%s: no prediction at byte %d", j.file.Name(), e.Offset)
	}
	return after[:len(after)-1], head, nil
}

// append writes one result.
func (j *journal) append(res Result) (entry, error) {
	b := append(j.buf[:0], `{"sum":"0123456789abcdef","key":`...)
	b = qaoa.AppendQuote(b, res.Key)
	b = append(b, `,"index":`...)
	b = strconv.AppendInt(b, int64(res.Index), 10)
	if f := res.Fail; f != nil {
		b = append(b, `,"id":`...)
		b = qaoa.AppendQuote(b, res.ID)
		b = append(b, `,"repeat":`...)
		b = strconv.AppendInt(b, int64(res.Repeat), 10)
		b = append(b, `,"fail":{"class":`...)
		b = qaoa.AppendQuote(b, string(f.Class))
		b = append(b, `,"msg":`...)
		b = qaoa.AppendQuote(b, f.Msg)
		b = append(b, `,"turn":`...)
		b = strconv.AppendInt(b, int64(f.Turn), 10)
		b = append(b, `,"attempts":`...)
		b = strconv.AppendInt(b, int64(f.Attempts), 10)
		b = append(b, '}', '}')
	} else {
		b = append(b, `,"attempts":[`...)
		for i, x := range res.Requests {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(x.Attempts), 10)
		}
		b = append(b, `],"latency_ms":[`...)
		for i, x := range res.Requests {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(x.Latency.Microseconds())/1000, 'f', -1, 64)
		}
		b = append(b, ']')
		b = append(b, predictionMark...)
		b = AppendResult(b, res)
		b = append(b, '}')
	}
	appendSum(b[:0], b[sumPrefix:])
	e := entry{Key: res.Key, Index: res.Index, Offset: j.end, Length: len(b), ID: res.ID, Repeat: res.Repeat, Fail: res.Fail}
	b = append(b, '\n')
	j.buf = b
	if err := j.write(b); err != nil {
		return entry{}, err
	}
	switch j.policy {
	case SyncAlways:
		return e, j.sync()
	case SyncInterval:
		if j.unsynced >= syncLines || time.Since(j.synced) >= syncAfter {
			return e, j.syncBeside()
		}
	}
	return e, nil
}

// syncBeside starts a flush, unless one is under way. It returns the error of
// an earlier one.
func (j *journal) syncBeside() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.busy || j.flushErr != nil {
		return j.flushErr
	}
	j.busy, j.unsynced, j.synced = true, 0, time.Now()
	j.flushing.Go(func() {
		err := j.file.Sync()
		j.mu.Lock()
		defer j.mu.Unlock()
		j.busy, j.flushErr = false, err
	})
	return nil
}

// copy appends the line of an entry of another journal as it is.
func (j *journal) copy(from io.ReaderAt, e entry) (entry, error) {
	line := make([]byte, e.Length+1)
	if _, err := from.ReadAt(line, e.Offset); err != nil {
		return entry{}, err
	}
	if err := j.write(line); err != nil {
		return entry{}, err
	}
	e.Offset = j.end - int64(len(line))
	return e, nil
}

// write appends a line with its line break, or nothing.
func (j *journal) write(line []byte) error {
	if _, err := j.file.Write(line); err != nil {
		// A line cut by a full disk must not come to stand before a good one.
		_, seekErr := j.file.Seek(j.end, io.SeekStart)
		return errors.Join(err, j.file.Truncate(j.end), seekErr)
	}
	j.end += int64(len(line))
	j.unsynced++
	return nil
}

// appendSum appends the first member of a line, up to its comma.
func appendSum(dst, rest []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, `{"sum":"`...)
	sum := xxh3.Hash(rest)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, hex[sum>>shift&15])
	}
	return append(dst, '"', ',')
}

func (j *journal) sync() error {
	j.flushing.Wait()
	if j.flushErr != nil || j.unsynced == 0 {
		return j.flushErr
	}
	j.unsynced, j.synced = 0, time.Now()
	return j.file.Sync()
}

func (j *journal) close() error { return errors.Join(j.sync(), j.file.Close()) }
