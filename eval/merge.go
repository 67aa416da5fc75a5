package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"assay/internal/filelock"
)

// sign writes into a lock who holds it, for the message to the next one.
func sign(lock *os.File) {
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	if lock.Truncate(0) == nil {
		_, _ = fmt.Fprintf(lock, "process %d on %s\n", os.Getpid(), host) // the lock holds without it
	}
}

// Holder returns who took the lock of dir last: a process and a machine, or "".
func Holder(dir string) string {
	const longest = 300
	data, err := os.ReadFile(filepath.Join(dir, LockFile))
	if who := bytes.TrimSpace(data); err == nil && len(who) > 0 && len(who) < longest {
		return string(bytes.ToValidUTF8(who, nil))
	}
	return ""
}

// inBrackets returns the holder for the end of a message.
func inBrackets(dir string) string {
	if who := Holder(dir); who != "" {
		return " (" + who + ")"
	}
	return ""
}

// Busy reports whether a process works on the run folder dir.
func Busy(dir string) bool { return filelock.Held(filepath.Join(dir, LockFile)) }

// ownFiles are what a run folder may hold, with what score, report and
// resuming put there.
var ownFiles = map[string]bool{
	RunFile: true, PredictionsFile: true, JournalFile: true, LockFile: true, CutFile: true, ScoresDir: true, "report.html": true,
	RunFile + tempSuffix: true, PredictionsFile + tempSuffix: true,
}

// Remove deletes the run folder dir with all that a run and its scores left in
// it. A folder that is no run folder, that a process works on, or that holds
// files of somebody else is refused and left as it is, and so is a symbolic
// link to a run folder.
func Remove(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: want a run folder, have a file or a link", dir)
	}
	if _, err := ReadRun(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s holds no run (no %s); it is left as it is", dir, RunFile)
		}
		return err
	}
	lock, err := filelock.Take(filepath.Join(dir, LockFile))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w%s", dir, ErrLocked, inBrackets(dir))
	}
	if err != nil {
		return err
	}
	err = removable(dir)
	if err == nil {
		// Without run.json it is no run any more, and nobody begins one in it.
		err = os.Remove(filepath.Join(dir, RunFile))
	}
	if err := errors.Join(err, filelock.Release(lock)); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// removable returns an error if dir holds a file that no run wrote.
func removable(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !ownFiles[f.Name()] {
			return fmt.Errorf("%s holds %s, which no run wrote; take it away first", dir, f.Name())
		}
	}
	return nil
}

// Absorb takes in what the journal of another run folder holds, as it is. The
// caller sees to it that both are parts of one run. A pair that f has answered
// already is an error: it was asked twice, and nobody could say which answer
// counts. The other folder is locked meanwhile, and not changed.
func (f *Folder) Absorb(dir string) (err error) {
	lock, err := filelock.Take(filepath.Join(dir, LockFile))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w%s", dir, ErrLocked, inBrackets(dir))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, filelock.Release(lock)) }()
	path := filepath.Join(dir, JournalFile)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	from := &journal{file: readOnly{file}}
	own := map[string]bool{} // pairs of this journal, which may hold failures first
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = from.scan(path, func(e entry) error {
		if have, ok := f.pairs[e.Key]; ok && !own[e.Key] {
			return fmt.Errorf("%s: pair %d has an answer in an earlier folder too (content key %s): the folders overlap; leave one of them out", path, have.Index, e.Key)
		}
		e, err := f.journal.copy(file, e)
		if err != nil {
			return err
		}
		own[e.Key] = e.Fail == nil || own[e.Key]
		return f.keep(e)
	})
	return err
}

// readOnly is a file that nobody means to write to.
type readOnly struct{ *os.File }

var errReadOnly = errors.New("the journal was opened for reading")

func (readOnly) Write([]byte) (int, error) { return 0, errReadOnly }
func (readOnly) Truncate(int64) error      { return errReadOnly }

var _ io.ReaderAt = readOnly{}

// Differences lists what differs between s and other, a line each, but for
// what only says where a run happened. Runs are one only if there is nothing.
func (s Settings) Differences(other Settings) []string { return s.diff(other) }
