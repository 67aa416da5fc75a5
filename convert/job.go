package convert

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	json "github.com/goccy/go-json"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"assay/qaoa"
)

// A Job is a conversion into files that can be stopped and resumed. While it
// runs, its files have the name .NAME.part, with a list of checkpoints in
// .NAME.part.state; when it is complete they get their names. After an
// interrupt, or a kill at any moment, the same Job goes on at the last
// checkpoint whose bytes are all there, and writes the same bytes as one that
// was never stopped.
type Job struct {
	Source  Source
	Inputs  []Input
	Options RunOptions // Start is the job's own
	Output  string     // file of the records, compressed by its suffix
	Ledger  string     // file of the rejects, "" for none
	// Form names what Append writes; a job is resumed in the same form only.
	Form   string
	Append func(dst []byte, rec qaoa.Record) []byte
	// Category names the kind of a record for the summary; may be nil.
	Category func(qaoa.Record) string
	// OnReject is called for each reject of this session; may be nil.
	OnReject func(*Reject)
	// OnResume is called before a stopped job goes on; may be nil.
	OnResume func(elements int)
	Every    int // elements between checkpoints; 0 is 20,000
}

// defaultEvery is how many elements lie between two checkpoints: at most a
// second or two of work is done again.
const defaultEvery = 20_000

// stateFormat is the format of a list of checkpoints.
const stateFormat = "assay-convert/1"

// A checkpoint is a point at which a job can go on: all lines of so many
// elements, and nothing else, are in the first bytes of its files.
type checkpoint struct {
	Elements int     `json:"elements"`
	Records  int     `json:"records"`
	Output   int64   `json:"output"` // bytes, before compression
	Ledger   int64   `json:"ledger"` // likewise
	Broken   int     `json:"broken"`
	Summary  Summary `json:"summary"`
}

// Run does the job, or what is left of it, and returns the balance of all of
// it. If the input breaks off (a cut file), what was good is kept under the
// final names, and the error is returned with the balance. If ctx ends, the job
// can be resumed.
func (j Job) Run(ctx context.Context) (Summary, error) {
	head, err := j.head()
	if err != nil {
		return Summary{}, err
	}
	w, err := j.open(head)
	if err != nil {
		return Summary{}, err
	}
	err = w.convert(ctx)
	if ferr := w.flush(); ferr != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", errWrite, ferr))
	}
	switch {
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, errWrite)):
		return w.at.Summary, errors.Join(err, w.suspend())
	default:
		return w.at.Summary, errors.Join(err, w.complete())
	}
}

// errWrite marks an error of the output, after which a job can be resumed.
var errWrite = errors.New("write")

// head describes the job: one line that is equal for equal jobs.
func (j Job) head() ([]byte, error) {
	type file struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
		Time int64  `json:"time"` // of the last change, in nanoseconds
	}
	h := struct {
		Format string  `json:"format"`
		Source string  `json:"source"`
		Form   string  `json:"form"`
		Ledger bool    `json:"ledger"`
		Opt    Options `json:"options"`
		Limit  int     `json:"limit"`
		MaxBad int     `json:"max_bad"`
		Max    int64   `json:"max_element"`
		Files  []file  `json:"files"`
	}{stateFormat, j.Source.Name, j.Form, j.Ledger != "", j.Options.Options, j.Options.Limit, j.Options.MaxBad, j.Options.MaxElement, nil}
	for _, in := range j.Inputs {
		for _, name := range in.Files {
			info, err := fs.Stat(in.FS, name)
			if err != nil {
				return nil, err
			}
			h.Files = append(h.Files, file{name, info.Size(), info.ModTime().UnixNano()})
		}
	}
	return marshal(h)
}

// partOf returns the name that a file has until it is complete.
func partOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
}

// A work is a job under way.
type work struct {
	job    Job
	out    *Output
	ledger *Output // nil for none
	ids    *os.File
	idBuf  *bufio.Writer
	state  *os.File
	start  Start
	at     checkpoint // after the last element
	saved  int        // elements at the last checkpoint written
	lines  []byte     // of records, not yet given to out
	line   []byte     // of the ledger
}

// flushSize is how many bytes of records are written together.
const flushSize = 256 << 10

func (j Job) statePath() string { return partOf(j.Output) + ".state" }
func (j Job) idsPath() string   { return partOf(j.Output) + ".ids" }

// open begins the files of the job, with what an earlier run left if that was
// the same job.
func (j Job) open(head []byte) (w *work, err error) {
	if j.Every <= 0 {
		j.Every = defaultEvery
	}
	w = &work{job: j}
	w.at.Summary.Source = j.Source.Name
	from, ids := j.resumable(head)
	if from != nil {
		w.at, w.saved = *from, from.Elements
		w.start = Start{Elements: from.Elements, Broken: from.Broken, IDs: ids}
	}
	defer func() {
		if err != nil {
			w.abort()
		}
	}()
	if w.out, err = reopen(j.Output, w.at.Output); err != nil {
		return w, err
	}
	if j.Ledger != "" {
		if w.ledger, err = reopen(j.Ledger, w.at.Ledger); err != nil {
			return w, err
		}
	}
	if w.ids, err = os.Create(j.idsPath()); err != nil {
		return w, err
	}
	w.idBuf = bufio.NewWriter(w.ids)
	for _, h := range ids {
		w.putID(h)
	}
	if w.state, err = os.Create(j.statePath()); err != nil {
		return w, err
	}
	if _, err = w.state.Write(append(bytes.Clone(head), '\n')); err != nil {
		return w, err
	}
	if from != nil {
		if j.OnResume != nil {
			j.OnResume(from.Elements)
		}
		err = w.checkpoint()
	}
	return w, err
}

// resumable returns the last checkpoint that an earlier run of the same job
// left whole, and the IDs up to it; nil if there is none. Whatever is not as it
// should be means to begin again, for that is always right.
func (j Job) resumable(head []byte) (*checkpoint, []uint64) {
	data, err := os.ReadFile(j.statePath())
	if err != nil {
		return nil, nil
	}
	lines := bytes.Split(data, []byte{'\n'})
	if !bytes.Equal(lines[0], head) {
		return nil, nil
	}
	haveOut := readable(partOf(j.Output), j.Output)
	haveLedger := int64(0)
	if j.Ledger != "" {
		haveLedger = readable(partOf(j.Ledger), j.Ledger)
	}
	idBytes, err := os.ReadFile(j.idsPath())
	if err != nil {
		return nil, nil
	}
	for i := len(lines) - 1; i > 0; i-- {
		var c checkpoint
		if json.Unmarshal(lines[i], &c) != nil || c.Elements == 0 {
			continue // the last line may be cut
		}
		if c.Output > haveOut || c.Ledger > haveLedger || 8*c.Records > len(idBytes) {
			continue
		}
		ids := make([]uint64, c.Records)
		for k := range ids {
			ids[k] = binary.BigEndian.Uint64(idBytes[8*k:])
		}
		return &c, ids
	}
	return nil, nil
}

// decompress returns the text of r, which is compressed as the suffix of name
// says.
func decompress(r io.Reader, name string) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewReader(r)
	case strings.HasSuffix(name, ".zst"):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

// readable returns how many bytes of text can be read from the file part, which
// may break off anywhere.
func readable(part, name string) int64 {
	f, err := os.Open(part)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // it was only read
	r, err := decompress(bufio.NewReaderSize(f, 256<<10), name)
	if err != nil {
		return 0
	}
	defer func() { _ = r.Close() }()
	// Only Read, as reopen does: a decoder may hand out more by WriteTo. Where
	// it breaks off is the answer.
	n, _ := io.Copy(io.Discard, struct{ io.Reader }{r})
	return n
}

// reopen begins the file path with the first n bytes of text of its part.
func reopen(path string, n int64) (*Output, error) {
	part := partOf(path)
	old := part + ".old"
	if n > 0 {
		if err := os.Rename(part, old); err != nil {
			return nil, err
		}
		defer func() { _ = os.Remove(old) }() // what is needed of it is copied
	}
	f, err := os.Create(part)
	if err != nil {
		return nil, err
	}
	o, err := outputTo(f, path)
	if err != nil || n == 0 {
		return o, err
	}
	src, err := os.Open(old)
	if err != nil {
		return o, err
	}
	defer func() { _ = src.Close() }()
	r, err := decompress(bufio.NewReaderSize(src, 256<<10), path)
	if err != nil {
		return o, err
	}
	defer func() { _ = r.Close() }()
	_, err = io.CopyN(o, r, n)
	return o, err
}

// convert runs what is left of the job.
func (w *work) convert(ctx context.Context) error {
	opt := w.job.Options
	opt.Start = w.start
	for o, err := range Run(ctx, w.job.Source, w.job.Inputs, opt) {
		if err != nil {
			return err
		}
		if err := w.take(o); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
		if w.at.Elements-w.saved >= w.job.Every {
			if err := w.checkpoint(); err != nil {
				return fmt.Errorf("%w: %w", errWrite, err)
			}
		}
	}
	return nil
}

// take writes what became of one element.
func (w *work) take(o Outcome) error {
	w.at.Summary.AddRead(o.Read)
	for _, rec := range o.Records {
		before := len(w.lines)
		w.lines = append(w.job.Append(w.lines, rec), '\n')
		w.at.Output += int64(len(w.lines) - before)
		if len(w.lines) >= flushSize {
			if err := w.flush(); err != nil {
				return err
			}
		}
		category := ""
		if w.job.Category != nil {
			category = w.job.Category(rec)
		}
		w.at.Summary.AddRecord(rec, category)
		w.putID(xxh3.HashString(rec.ID))
		w.at.Records++
	}
	for _, rej := range o.Rejects {
		w.at.Summary.AddReject(rej)
		if rej.Code.Broken() {
			w.at.Broken++
		}
		if w.job.OnReject != nil {
			w.job.OnReject(rej)
		}
		if w.ledger == nil {
			continue
		}
		w.line = append(AppendLedger(w.line[:0], rej), '\n')
		if _, err := w.ledger.Write(w.line); err != nil {
			return err
		}
		w.at.Ledger += int64(len(w.line))
	}
	w.at.Elements++
	return nil
}

// flush writes the lines of records that wait.
func (w *work) flush() error {
	_, err := w.out.Write(w.lines)
	w.lines = w.lines[:0]
	return err
}

func (w *work) putID(h uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], h)
	_, _ = w.idBuf.Write(b[:]) // checkpoint tells of an error
}

// checkpoint notes that all elements so far are written. The bytes may still be
// in buffers: a checkpoint whose bytes never arrive is not used.
func (w *work) checkpoint() error {
	if err := w.idBuf.Flush(); err != nil {
		return err
	}
	line, err := json.Marshal(w.at)
	if err != nil {
		return err
	}
	w.saved = w.at.Elements
	_, err = w.state.Write(append(line, '\n'))
	return err
}

// suspend leaves the job to be resumed.
func (w *work) suspend() error {
	err := w.checkpoint()
	err = errors.Join(err, w.out.suspend())
	if w.ledger != nil {
		err = errors.Join(err, w.ledger.suspend())
	}
	return errors.Join(err, w.ids.Close(), w.state.Close())
}

// complete gives the files their names and removes what resuming needs.
func (w *work) complete() error {
	err := w.out.Close()
	if w.ledger != nil {
		err = errors.Join(err, w.ledger.Close())
	}
	err = errors.Join(err, w.ids.Close(), w.state.Close())
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(w.job.idsPath()), os.Remove(w.job.statePath()))
}

// abort closes what is open after an error of opening.
func (w *work) abort() {
	for _, o := range []*Output{w.out, w.ledger} {
		if o != nil {
			o.Abort()
		}
	}
	for _, f := range []*os.File{w.ids, w.state} {
		if f != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}
}
