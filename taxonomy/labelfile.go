package taxonomy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"assay/internal/filelock"
	"assay/qaoa"
)

// A LabelFile keeps labels as lines of JSON, so that work that was stopped goes
// on where it was:
//
//	{"tool":"sha256 of name and description","name":"…","category":"…","domain":"…","by":"ollama/qwen3:8b"}
//
// Only complete labels are in it. It is appended to, one line in one write; a
// line that a killed process cut is taken off at the next opening. Labels by
// several models may stand in one file. Its methods are safe for concurrent use.
type LabelFile struct {
	path string
	file *os.File
	lock *os.File

	mu    sync.Mutex
	known map[string]Label // by the maker and the hash
}

// OpenLabels opens the label file at path, which need not exist, and keeps
// other processes from it until Close.
func OpenLabels(path string) (*LabelFile, error) {
	lock, err := filelock.Take(path + ".lock")
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: another process is using this label file; wait for it, or give another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the lock of the label file: %w", err)
	}
	f := &LabelFile{path: path, lock: lock, known: map[string]Label{}}
	if f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
		err = f.load()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close releases the file.
func (f *LabelFile) Close() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
	}
	return errors.Join(err, filelock.Release(f.lock))
}

// Len returns how many labels the file holds.
func (f *LabelFile) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.known)
}

// load reads the lines and leaves the file at the end of the last whole one.
func (f *LabelFile) load() error {
	r := bufio.NewReader(f.file)
	end := int64(0)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // with a cut line or none
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		end += int64(len(line))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := f.line(line); err != nil {
			return fmt.Errorf("%s:%d: %w; delete the line, or give another file", f.path, n, err)
		}
	}
	if info, err := f.file.Stat(); err != nil {
		return err
	} else if tail := info.Size() - end; tail > 0 {
		start := make([]byte, min(tail, int64(len(lineStart))))
		if _, err := f.file.ReadAt(start, end); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if string(start) != lineStart[:len(start)] {
			return fmt.Errorf("%s: what stands behind the last line break is no label; is this a label file?", f.path)
		}
		if err := f.file.Truncate(end); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	_, err := f.file.Seek(end, io.SeekStart)
	return err
}

const lineStart = `{"tool":"`

// line reads one line.
func (f *LabelFile) line(data []byte) error {
	v, err := qaoa.ParseValue(data)
	if err != nil {
		return err
	}
	text := func(name string) string {
		s, _ := v.Get(name)
		if s.Kind != qaoa.String {
			return ""
		}
		return s.Text
	}
	l, err := label(v)
	if err != nil {
		return err
	}
	l.By = text("by")
	if l.By == "" || len(text("tool")) != 2*sha256.Size {
		return errors.New("want a label with the members tool (a hash) and by")
	}
	f.known[l.By+"\n"+text("tool")] = l
	return nil
}

func hash(t qaoa.Tool) string {
	sum := sha256.Sum256([]byte(t.Name + "\n" + t.Description))
	return hex.EncodeToString(sum[:])
}

// find returns the label that by made of t. A nil file has none.
func (f *LabelFile) find(by string, t qaoa.Tool) (Label, bool) {
	if f == nil {
		return Label{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.known[by+"\n"+hash(t)]
	return l, ok
}

// add appends a label.
func (f *LabelFile) add(t qaoa.Tool, l Label) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := hash(t)
	member := func(name, text string) qaoa.Member {
		return qaoa.Member{Name: name, Value: qaoa.StringValue(text)}
	}
	line := qaoa.ObjectValue(member("tool", h), member("name", t.Name), member("category", string(l.Category)),
		member("domain", string(l.Domain)), member("by", l.By)).JSON()
	if _, err := f.file.Write(append([]byte(line), '\n')); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.known[l.By+"\n"+h] = l
	return nil
}
